"""The report of a run: each seed and all together, the control, and the gates over all seeds."""

from __future__ import annotations

import msgspec
import pytest

from askgate_env.types import Episode
from src.core.check import evidence, now
from src.eval.compare import compare
from src.eval.trial import SeedRun, TrialReport, trial_report
from tests.poison.test_trial_poisons import BASE, GOOD, run
from tests.rc1 import THRESHOLDS

ABOUT = {"ts": now(), "profile": "local", "gated": False, "ticket": None, "config": {"base_model": "models/tiny"}}
TRAINED = run(**GOOD)
CONTROL = run(asked=0.3, needless=0.4, right=0.5, hard_right=0.4, calls=3)


def reported(*runs: SeedRun) -> TrialReport:
    return trial_report(runs, ABOUT, THRESHOLDS, evidence([], [], {}, now()))


def one(seed: int = 1, trained: list[Episode] | None = None, control: list[Episode] | None = None) -> SeedRun:
    return SeedRun(seed, 40, BASE, TRAINED if trained is None else trained, control)


def test_with_one_seed_the_total_is_that_seed() -> None:
    report = reported(one(control=CONTROL))
    assert report.passed
    assert report.pooled.changes == report.seeds[0].changes == compare(BASE, TRAINED, 1)
    assert report.pooled.over_control == compare(CONTROL, TRAINED, 1)
    assert report.pooled.control_changes == compare(BASE, CONTROL, 1)
    assert report.figures["held_out"] == len(BASE)


def test_gates_use_all_seeds_together() -> None:
    worse = run(**{**GOOD, "needless": 0.4})
    report = reported(one(1), one(2), one(3, trained=worse))
    alone = [not reported(SeedRun(1, 40, BASE, trained, None)).passed for trained in (TRAINED, worse)]
    assert alone == [False, True]
    (check,) = [check for check in report.checks if check.name == "overclar_relative"]
    assert check.value == pytest.approx((0.2 + 0.2 + 0.4) / 3 / 0.4 - 1, abs=0.02)
    assert [compared.seed for compared in report.seeds] == [1, 2, 3]
    assert report.pooled.seed is None


def test_a_control_missing_for_one_seed_is_not_reported() -> None:
    report = reported(one(1, control=CONTROL), one(2))
    assert report.seeds[0].over_control is not None
    assert report.pooled.over_control is None


def test_a_policy_that_was_not_evaluated_has_not_passed() -> None:
    report = reported(SeedRun(1, 40, None, None, None))
    assert not report.passed
    assert all(check.value is None for check in report.checks)


def test_the_report_is_json_with_the_work_orders_names() -> None:
    found = msgspec.json.decode(msgspec.json.encode(reported(one())))
    changes = found["seeds"][0]["changes"]
    for name in ("success_easy", "success_medium", "success_hard", "overclar_rate_hard", "avg_turns_easy"):
        assert changes[name]["trained"]["n"] > 0
        assert "delta_pp" in changes[name]
    assert (found["stage"], found["gated"]) == ("ppo_eval", False)
