"""The shadow run compares two scores on the same held-out episodes: a report with every figure, or a refusal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from askgate_env.dimensions import LIVE
from src.core.defaults import BASELINE
from src.core.errors import BadInput
from src.core.files import sha256_file
from src.reward.scored_episodes import ScoredEpisode
from src.reward.shadow_run import shadow_run
from tests.rc1 import THRESHOLDS
from tests.reward.scored_episodes import scored, shipped_baseline, write

SHIPPED = shipped_baseline()
POLICY = {"success_easy": 0.5}
GOOD = {name: 0.75 * weight for name, weight in SHIPPED.weights.items()} | {"support": 0.15, "live_logic": 0.10}


def held_out(new_knows: float = 0.8) -> list[ScoredEpisode]:
    return [replace(one, split="shadow") for one in scored(245, baseline=SHIPPED, new_knows=new_knows)]


def without_judge(one: ScoredEpisode) -> ScoredEpisode:
    return replace(one, live=False, dims={name: value for name, value in one.dims.items() if name not in LIVE})


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("weights.json").write_text(json.dumps({"weights": GOOD}))
    return Path("scored.jsonl")


def run(path: Path, found: list[ScoredEpisode], live_n: int | None = None) -> dict[str, Any]:
    scored_lines, weights = write(path, found), Path("weights.json")
    report, out = shadow_run(
        scored_lines, BASELINE, weights, POLICY, seed=1, limits=THRESHOLDS, tag="try", live_n=live_n
    )
    assert out == Path("reports/shadow_run_try.json")
    read = json.loads(out.read_bytes())
    assert read["passed"] == report.passed
    return dict(read)


def test_the_report_has_intervals_by_task_and_difficulty(place: Path) -> None:
    report = run(place, held_out())
    figures = report["figures"]
    for name in (
        "spearman", "kendall_tau", "top10_overlap", "top20_overlap",
        "corr_to_success_old", "corr_to_success_new", "corr_improve_pct",
    ):  # fmt: skip
        low, high = figures["intervals"][name]
        assert low <= figures[name] <= high
    assert set(figures["task"]) == {"hotpotqa", "strategyqa", "gsm8k"}
    assert set(figures["difficulty"]) == {"easy", "medium", "hard"}
    assert figures["success_easy"] == 0.5
    assert figures["live"]
    assert figures["live_episodes"] == 245
    inputs = report["evidence"]["inputs"]
    assert inputs["scored.jsonl"] == sha256_file(place)
    assert inputs["weights.json"] == sha256_file(Path("weights.json"))


def test_only_scores_that_agree_and_predict_better_pass(place: Path) -> None:
    report = run(place, held_out())
    assert report["passed"], report["checks"]
    assert {check["name"] for check in report["checks"]} == {
        "spearman", "top10_overlap", "corr_improve_pct", "not_live",
    }  # fmt: skip
    Path("weights.json").write_text(json.dumps({"weights": {"economy": 0.5, "form": 0.5}}))
    report = run(place, held_out(new_knows=0.0))
    failed = {check["name"] for check in report["checks"] if not check["passed"]}
    assert failed == {"spearman", "top10_overlap", "corr_improve_pct"}


def test_without_a_judge_no_gate_passes(place: Path) -> None:
    report = run(place, [without_judge(one) for one in held_out()])
    assert not report["passed"]
    figures = report["figures"]
    assert not figures["live"]
    assert figures["spearman"] is not None
    assert figures["weights_without"] == sorted(LIVE)
    failed = [check["name"] for check in report["checks"] if not check["passed"]]
    assert "not_live" in failed


def test_a_judges_share_is_enough_where_it_was_asked_for(place: Path) -> None:
    found = [one if number < 50 else without_judge(one) for number, one in enumerate(held_out())]
    for wanted, enough in ((50, True), (51, False)):
        report = run(place, found, live_n=wanted)
        (live,) = [check for check in report["checks"] if check["name"] == "not_live"]
        assert live["passed"] == enough
    assert report["figures"]["judged"]["episodes"] == 50


def test_unstable_episodes_count_in_every_gate(place: Path) -> None:
    found = held_out()
    torn = [replace(one, weight=0.3) if number % 7 == 0 else one for number, one in enumerate(found)]
    report, calm = run(place, torn), run(place, found)
    assert report["figures"]["unstable_episodes"] == 35
    rest = run(place, [one for one in torn if one.weight == 1])["figures"]
    assert {name: rest[name] for name in report["figures"]["stable"]} == report["figures"]["stable"]
    assert report["checks"] == calm["checks"]
    assert calm["figures"]["unstable_episodes"] == 0


def test_before_any_calibration_the_new_score_has_the_prior(place: Path) -> None:
    report, _ = shadow_run(write(place, held_out()), BASELINE, None, POLICY, seed=1, limits=THRESHOLDS)
    assert report.figures["weights"] == "prior"
    assert report.figures["spearman"] > 0.5


def gap(found: list[ScoredEpisode]) -> list[ScoredEpisode]:
    found[3] = replace(found[3], dims={name: 0.5 for name in SHIPPED.names if name != "live_logic"})
    return found


def nan(found: list[ScoredEpisode]) -> list[ScoredEpisode]:
    found[3] = replace(found[3], dims={**found[3].dims, "support": float("nan")})
    return found


def unknown(found: list[ScoredEpisode]) -> list[ScoredEpisode]:
    return [replace(one, dims={**one.dims, "charm": 0.5}) for one in found]


def few(found: list[ScoredEpisode]) -> list[ScoredEpisode]:
    return found[:29]


def all_wrong(found: list[ScoredEpisode]) -> list[ScoredEpisode]:
    return [replace(one, success=False) for one in found]


def trained_on(found: list[ScoredEpisode]) -> list[ScoredEpisode]:
    return [replace(found[0], split="train"), *found[1:]]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (gap, "missing for 1 of 245 episodes: 'e3' lacks live_logic"),
        (nan, "scored.jsonl:4: "),
        (unknown, "does not know charm"),
        (few, "29 different samples"),
        (all_wrong, "all 245 episodes fail"),
        (trained_on, "1 episodes are not of a shadow set"),
    ],
)
def test_bad_episodes_are_refused_and_no_report_is_written(
    fault: Callable[[list[ScoredEpisode]], list[ScoredEpisode]], told: str, place: Path
) -> None:
    with pytest.raises(BadInput, match=told):
        run(place, fault(held_out()))
    assert not Path("reports").exists()


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ({"support": 0.5, "charm": 0.5}, "does not know charm"),
        ({"support": 0.5, "form": 0.4}, "sum to 0.9"),
        ({"support": 0.6, "form": 0.4}, "more than 0.5"),
        ({"support": 0.5, "form": 0.6, "economy": -0.1}, "below 0"),
    ],
)
def test_impossible_weights_are_refused(weights: dict[str, float], told: str, place: Path) -> None:
    Path("weights.json").write_text(json.dumps({"weights": weights}))
    with pytest.raises(BadInput, match=told):
        run(place, held_out())
    assert not Path("reports").exists()
