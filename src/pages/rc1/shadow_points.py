"""The dots of the shadow picture: every recorded episode under the old score and under the new one."""

from __future__ import annotations

from pathlib import Path

from ...reward.scored import columns, read_scored
from ...reward.shadow_run import weights_over
from ...reward.unasked import measurable
from ...reward.weights import read_baseline, read_weights
from .contents import ShadowPoint

DIGITS = 4


def shadow_points(scored: Path, baseline: Path, weights: Path) -> list[ShadowPoint]:
    """As the shadow run computes them."""
    known, chosen, episodes = read_baseline(baseline), read_weights(weights), read_scored(scored)
    names = measurable(episodes, known.names, chosen.stand_in)
    scores = columns(episodes, names, str(scored), chosen.stand_in)
    old = scores.matrix_ND @ known.only(names).old_D
    new = scores.matrix_ND @ weights_over(names, known, chosen, str(weights))
    return [
        ShadowPoint(round(float(x), DIGITS), round(float(y), DIGITS), bool(won), bool(live))
        for x, y, won, live in zip(old, new, scores.success_N, scores.live_N, strict=True)
    ]
