"""Ambers of an evaluation: the trained policy against its base, its warm start and its control."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from askgate_env.types import Task
from src.core.check import Evidence, remedies
from src.eval.trial import (
    Compared,
    SeedRun,
    TrialReport,
    compare_policies,
    control_ambers,
    recall_ambers,
    task_ambers,
    trial_ambers,
    trial_report,
    warm_start_ambers,
)
from src.loop.lights import Light, next_step
from tests.eval.episodes import episode
from tests.gates.run_folder import PROFILE
from tests.rc1 import THRESHOLDS

from .amber_runs import against_control
from .table import poison, twin


def against_warm_start(success: float, asked: float, needless: float) -> Compared:
    """A run after whose warm start 50 of 200 complete samples are solved and 20 get a needless question, and 100 of 200
    others are solved by asking; the trained policy has these shares."""

    def policy(success: float, asked: float, needless: float) -> list[Any]:
        lacking = [
            episode(f"n{one}", needs=True, asks=int(one < round(200 * asked)), success=one < round(200 * asked))
            for one in range(200)
        ]
        return lacking + [
            episode(f"c{one}", asks=int(one < 200 * needless), success=one < 200 * success) for one in range(200)
        ]

    base, trained = policy(0.0, 0.0, 0.3), policy(success, asked, needless)
    return compare_policies(SeedRun(1, 10, base, trained, None, warm_start=policy(0.25, 0.5, 0.1)))


def on_tasks(gsm8k: float, asks: float = 0.5) -> Compared:
    """A run that learns all tasks but perhaps gsm8k, of which base and trained solve 14 and this share of 100, and that
    asks in this share of the samples where it must; the base asks in half of them."""

    def policy(share: float, solved: float, asked: float) -> list[Any]:
        others = [
            episode(f"{task}{one}", task=task, needs=True, asks=int(one < 100 * asked), success=one < 100 * share)
            for task in ("hotpotqa", "strategyqa")
            for one in range(100)
        ]
        return others + [episode(f"g{one}", task="gsm8k", success=one < round(100 * solved)) for one in range(100)]

    return compare_policies(SeedRun(1, 10, policy(0.1, 0.14, 0.5), policy(0.6, gsm8k, asks), None))


@poison("amber/task_success")
@pytest.mark.parametrize("solved", [0.14, 0.16, 0.05])
def test_a_task_that_did_not_improve_is_an_amber(solved: float) -> None:
    (found,) = trial_ambers(on_tasks(gsm8k=solved))
    assert (found.name, found.passed) == ("task_success", False)
    assert f"gsm8k 14.0% -> {100 * solved:.1f}% (95% " in found.remedy
    assert "hotpotqa" not in found.remedy


@poison("amber/task_need_ask")
def test_a_task_without_better_need_ask_success_is_an_amber() -> None:
    def policy(hotpotqa: float, strategyqa: float) -> list[Any]:
        shares: dict[Task, float] = {"hotpotqa": hotpotqa, "strategyqa": strategyqa}
        return [
            episode(
                f"{task}{one}", task=task, needs=True, asks=int(one < 100 * share), success=one < 100 * (share + 0.3)
            )
            for task, share in shares.items()
            for one in range(100)
        ]

    # Success rises by as much in both, in one of them by guesses.
    trained = [
        replace(one, success=int(one.sample_id.removeprefix(one.task)) < 70)
        for one in policy(hotpotqa=0.4, strategyqa=0.12)
    ]
    (found,) = trial_ambers(compare_policies(SeedRun(1, 10, policy(0.1, 0.1), trained, None)))
    assert (found.name, found.passed) == ("task_need_ask", False)
    assert "strategyqa 10.0% -> 12.0% (95% " in found.remedy
    assert "hotpotqa" not in found.remedy


@poison("amber/task_recall")
def test_a_task_whose_question_recall_fell_is_an_amber() -> None:
    def policy(share: float, asked: dict[Any, float]) -> list[Any]:
        return [
            episode(f"{task}{one}", task=task, needs=True, asks=int(one < 100 * asked[task]), success=one < 100 * share)
            for task in asked
            for one in range(100)
        ]

    before = policy(0.1, {"hotpotqa": 0.3, "strategyqa": 0.8})
    (found,) = trial_ambers(
        compare_policies(SeedRun(1, 10, before, policy(0.9, {"hotpotqa": 0.9, "strategyqa": 0.6}), None))
    )
    assert (found.name, found.passed) == ("task_recall", False)
    assert "question_recall_strategyqa 80.0% -> 60.0% (95% " in found.remedy
    assert "hotpotqa" not in found.remedy


@poison("amber/worse_than_warm_start")
@pytest.mark.parametrize(
    ("trained", "told"),
    [
        ((0.05, 0.55, 0.1), "success 37.5% -> 30.0%"),
        ((0.6, 0.3, 0.1), "need_ask_success 50.0% -> 30.0%"),
        ((0.3, 0.55, 0.2), "overclar_rate 10.0% -> 20.0%"),
    ],
)
def test_a_policy_worse_than_its_warm_start_is_an_amber(trained: tuple[float, float, float], told: str) -> None:
    (found,) = [one for one in trial_ambers(against_warm_start(*trained)) if one.name == "worse_than_warm_start"]
    assert not found.passed
    assert found.value is not None
    assert found.value < 0
    assert told in found.remedy
    assert found.remedy.count("95%") == 1


@twin("amber")
def test_a_policy_within_chance_of_its_warm_start_is_accepted() -> None:
    assert warm_start_ambers(against_warm_start(0.25, 0.5, 0.1)) == []
    assert warm_start_ambers(against_warm_start(0.3, 0.6, 0.05)) == []
    assert warm_start_ambers(against_warm_start(0.25, 0.495, 0.105)) == []
    assert warm_start_ambers(on_tasks(gsm8k=0.5)) == [], "a run without a warm start"


@poison("amber/question_recall")
def test_a_policy_that_asks_too_little_is_an_amber() -> None:
    (found,) = trial_ambers(on_tasks(gsm8k=0.5, asks=0.49))
    assert (found.name, found.value) == ("question_recall", -1.0)
    by_task, found = trial_ambers(on_tasks(gsm8k=0.5, asks=0.45))
    assert (found.name, found.value) == ("question_recall", -5.0)
    assert by_task.name == "task_recall", "more than chance"


@twin("amber")
def test_a_run_that_improves_every_task_has_no_amber() -> None:
    honest = on_tasks(gsm8k=0.5, asks=0.5)
    assert task_ambers(honest) == recall_ambers(honest) == trial_ambers(honest) == []


@poison("amber/control_need_ask")
def test_a_control_that_beats_the_trained_policy() -> None:
    (found,) = control_ambers(against_control(trained=0.4, control=0.6))
    assert found.value == pytest.approx(-20.0)


def test_a_round_an_evaluation_and_a_light_list_their_ambers() -> None:
    fact = control_ambers(against_control(trained=0.4, control=0.6))[0]
    light = Light("evaluate", "Evaluate", "评测", "amber", fact.name, [fact], "")
    english, chinese = next_step([light], "askgate quickstart")
    assert "control_need_ask" in english
    assert "control_need_ask" in chinese
    about = {"ts": "", "profile": PROFILE, "gated": True, "ticket": None, "config": {}}
    run = SeedRun(1, 10, [], [], [])
    report: TrialReport = trial_report([run], about, THRESHOLDS, Evidence({}, {}, {}, "", "", ""))
    assert report.ambers == []
    assert set(remedies("ambers")) >= {fact.name}
