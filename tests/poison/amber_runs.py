"""Runs and comparisons that have an amber."""

from __future__ import annotations

from typing import Any

from src.config.profile import Profile, load_profile
from src.eval.trial import Compared, SeedRun, compare_policies
from src.gates.rounds import run_round
from src.gates.ticket import Round
from src.scoring.prompt import DIMENSIONS
from tests.eval.episodes import episode
from tests.gates.run_folder import PROFILE, discerning_scores, is_canary, judging
from tests.release.packing import trained
from tests.scoring.server import Scores


def profile() -> Profile:
    return load_profile(PROFILE)


def against_control(trained: float, control: float) -> Compared:
    """A run whose policies achieve these shares of 100 samples that need an ask."""

    def policy(share: float) -> list[Any]:
        return [episode(f"s{one}", needs=True, asks=1, success=one < 100 * share) for one in range(100)]

    return compare_policies(SeedRun(1, 10, policy(0.1), policy(trained), policy(control)))


def round_again(scores: Scores) -> Round:
    """Round 2 once more, with another judge."""
    with judging(scores) as environment:
        return run_round(2, PROFILE, environment, print, lambda done: None, replaces=PROFILE)[0]


def gullible(body: dict[str, Any]) -> dict[str, Any]:
    """Scores of a judge that likes short dialogues."""
    return dict.fromkeys(DIMENSIONS, 10) if is_canary(body) else discerning_scores(body)


def amber_run() -> None:
    """A finished run whose judge was fooled by every canary."""
    assert round_again(gullible).exit_code == 0
    trained()
