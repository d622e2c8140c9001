"""What a reward is made of: small pure functions from what a policy could see to a number in 0..1.

`RULES` need nothing but the episode; `LIVE` are scored by a judge, each under the judge's own name for it. No function
here takes a `Sample`: a `Seen` holds neither gold answer nor hidden span, so none can be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .asking import asking
from .calculation import calculation
from .economy import economy
from .form import form
from .grounding import grounding
from .seen import Seen, see
from .support import support

Dimension = Callable[[Seen], float]

RULES: Mapping[str, Dimension] = {
    "calculation": calculation,
    "grounding": grounding,
    "support": support,
    "asking": asking,
    "form": form,
    "economy": economy,
}
LIVE: Mapping[str, str] = {
    "live_logic": "logic",
    "live_clarity": "clarity",
    "live_naturalness": "naturalness",
    "live_educational": "educational",
}
"""Names of the live dimensions; naturalness and educational value are also rated by the old rules."""

__all__ = ["LIVE", "RULES", "Dimension", "Seen", "see"]
