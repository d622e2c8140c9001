"""Calls and cost of the judge in the stages of a profile, before the first call (`askgate rc1 --plan`).

Tokens of a call are an estimate (`costs.yaml`); prices are those of the judge's row in `configs/default.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..config.profile import Profile, scoring_of
from ..core.errors import BadInput
from ..scoring.providers import settings_for
from .forecast import costs


def judge_calls(profile: Profile) -> dict[str, int]:
    """Dialogues that the judge scores, by stage; training has a forecast of its own."""
    sizes = profile.sizes
    return {
        "probe": sizes.probe,
        "score": sizes.scored,
        "calibration": sizes.calibration_live,
        "shadow": sizes.live,
        "round1 and round2": 2 * sizes.fresh,
    }


def priced(dialogues: int, environment: Mapping[str, str], profile: Profile) -> str:
    """Dialogues, calls and cost in words. The cost is left out where no judge is chosen or its prices are not known."""
    votes, tokens = scoring_of(profile).votes, costs()["judge"]
    calls, most = dialogues * votes.k, dialogues * votes.k_max
    told = f"{dialogues:,} dialogues, {calls:,} calls ({most:,} at most)"
    try:
        provider = settings_for({**environment, "SCORER_API_KEY": "not-read"}, scoring_of(profile)).provider
    except BadInput:
        return told
    usd, usd_most = (provider.cost(n * tokens["tokens_in"], n * tokens["tokens_out"]) for n in (calls, most))
    money = f"about ${usd:,.2f} (${usd_most:,.2f} at most)" if usd is not None else "cost not known"
    return f"{told}, {money} by {provider.name}"
