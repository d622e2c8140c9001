"""The ablation of the penalty: its gates counted again from the held-out episodes of both arms.

The one place that knows how the ablation lays its files down.
"""

from __future__ import annotations

from ..core.errors import BadInput
from .finding import Finding
from .look import Look


def ablation_findings(look: Look) -> list[Finding]:
    folder = look.profile.paths.ablation_episodes
    raise BadInput("no ablation here", where=str(folder), remedy="run overclar_penalty --ablation")
