"""Poisons for the gate `judge`: judges that do not read what they score, under the thresholds of profile rc1."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import pytest
from msgspec.structs import replace

from src.core.defaults import SEED
from src.core.jsonl import read_records, write_records
from src.gates.checks.judge import judge_findings, noise, score_exam
from src.gates.gate import INTEGRITY
from src.reward.recorded_episodes import RecordedEpisode
from src.scoring.prompt import DIMENSIONS
from src.scoring.scores import Score
from tests.gates.run_folder import current_context, discerning_scores, edit_profile, judged, judging
from tests.rc1 import THRESHOLDS
from tests.scoring.server import JudgeServer, Scores, steady_scores
from tests.scoring.workspace import uneven_latency

from .table import poison, twin


def any_of_5_to_8(body: dict[str, Any]) -> dict[str, Any]:
    random = Random(json.dumps([body["messages"], body["seed"]]))
    return {name: random.randint(5, 8) for name in DIMENSIONS}


def always_7(body: dict[str, Any]) -> dict[str, Any]:
    return dict.fromkeys(DIMENSIONS, 7)


def once_in_twenty_an_8(body: dict[str, Any]) -> dict[str, Any]:
    random = Random(json.dumps([body["messages"], body["seed"]]))
    return always_7(body) | ({"logic": 8} if random.random() < 0.05 else {})


def as_in_rc1() -> None:
    """Gives the small run the judge's thresholds of profile rc1."""

    def change(found: dict[str, Any]) -> None:
        found["thresholds"]["judge"] = THRESHOLDS.judge.model_dump()
        found["thresholds"]["counts"]["judge_samples"] = THRESHOLDS.counts.judge_samples

    edit_profile(change)


def failed_with(scores: Scores, stages: bool = True) -> set[str]:
    """Failed checks after this judge scored the stages' episodes (`stages`) and the exam."""
    as_in_rc1()
    context = current_context()
    with judging(scores) as environment:
        for episodes, seed in (
            (context.profile.paths.calibration_episodes, context.profile.thresholds.calibration.seed),
            (context.profile.paths.shadow_episodes, SEED),
        ):
            if stages:
                judged(list(read_records(episodes, RecordedEpisode)), episodes, environment, seed)
        score_exam(context, environment, print, lambda done: None)
    return {one.name for one in judge_findings(context) if not one.passed}


@twin("judge")
def test_a_judge_that_reads_is_accepted(run: Path) -> None:
    assert failed_with(discerning_scores) == set()


@poison("judge/*")
@pytest.mark.parametrize(
    ("scores", "named"),
    [
        pytest.param(any_of_5_to_8, {"judge_noise", "canaries_fooled"}, id="random 5 to 8"),
        pytest.param(always_7, {"judge_noise", "canaries_fooled"}, id="always 7"),
        pytest.param(once_in_twenty_an_8, {"judge_noise", "canaries_fooled"}, id="7 with one 8 in twenty"),
        pytest.param(steady_scores, {"canaries_fooled"}, id="a hash of the dialogue"),
    ],
)
def test_a_judge_that_does_not_read(run: Path, scores: Scores, named: set[str]) -> None:
    assert failed_with(scores) == named
    assert "judge" in INTEGRITY


@poison("judge/judge_noise")
def test_a_judge_that_reads_only_in_the_rounds(run: Path) -> None:
    """A stub scored the episodes that weights follow from; the real judge answers when the round asks."""
    failed_with(any_of_5_to_8)
    assert failed_with(discerning_scores, stages=False) == {"judge_noise"}


@poison("judge/judge_scored")
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda lines: [replace(one, scoring=f"{one.scoring}x") for one in lines], id="no ledger line"),
        pytest.param(lambda lines: lines[:-1], id="one left out"),
        pytest.param(lambda lines: [*lines, replace(lines[0], id="made-up-canary-1", overall=0.0)], id="one made up"),
        pytest.param(lambda lines: [replace(lines[0], overall=0.99), *lines[1:]], id="a score raised"),
    ],
)
def test_judge_scores_that_were_edited(run: Path, change: Callable[[list[Score]], list[Score]]) -> None:
    path = current_context().exam
    lines = list(read_records(path, Score))
    with open(path, "wb") as handle:
        write_records(handle, change(lines))
    assert {one.name for one in judge_findings(current_context()) if not one.passed} == {"judge_scored"}


def test_a_repeated_round_pays_no_exam_vote_twice(run: Path) -> None:
    context = current_context()
    with judging() as environment, JudgeServer(uneven_latency, latency_s=0.025, scores=discerning_scores) as server:
        there = {**environment, "SCORER_BASE_URL": server.url}
        score_exam(context, there, print, lambda done: None)
        paid = server.asked
        assert paid >= 3 * 3 * context.profile.thresholds.counts.judge_samples
        score_exam(context, there, print, lambda done: None)
        assert server.asked == paid
    assert [one.name for one in judge_findings(context) if not one.passed] == []


def test_random_judges_rarely_pass() -> None:
    """Of 2,000 judges that give each dimension 5 to 8 at random, hardly one passes both checks."""
    random, n = Random(1), THRESHOLDS.counts.judge_samples

    def score() -> float:
        return sum(median(random.randint(5, 8) for _ in range(3)) for _ in DIMENSIONS) / len(DIMENSIONS)

    passed = 0
    for _ in range(2_000):
        share = noise([(score(), score()) for _ in range(n)])
        fooled = sum(score() <= score() for _ in range(n)) / n
        passed += share is not None and share < THRESHOLDS.judge.noise_max and fooled <= 0.25
    assert passed <= 3, passed
