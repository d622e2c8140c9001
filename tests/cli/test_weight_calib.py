"""`askgate weight_calib` writes weights and a report, or refuses and changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from askgate_env.dimensions import LIVE
from askgate_env.types import Sample
from src.cli import main
from src.core.files import sha256_file
from src.reward.scored_episodes import ScoredEpisode
from src.reward.weights import read_weights
from src.training import record_episodes
from src.training.record_episodes import RatedEpisodes
from tests.conftest import Askgate
from tests.reward.scored_episodes import scored, shipped_baseline, write

SHIPPED = shipped_baseline()


@pytest.fixture
def episodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(Path("scored.jsonl"), scored(245, baseline=SHIPPED))


SCORED = ("weight_calib", "--scored", "scored.jsonl")


def test_the_work_orders_flags_write_weights_and_a_report(episodes: Path, askgate: Askgate) -> None:
    done = askgate(*SCORED, "--cv", "5", "--boot", "200", "--l2", "0.1", "--seed", "42")
    assert done.code == 0, done.out
    weights = json.loads(Path("configs/weights.json").read_bytes())
    assert abs(sum(weights["weights"].values()) - 1) < 1e-6
    assert max(weights["weights"].values()) <= 0.5 + 1e-9
    assert min(weights["weights"].values()) >= 0
    assert set(weights["weights"]) == set(SHIPPED.names)
    path = Path("reports/calibration_report_calibration.json")
    report = json.loads(path.read_bytes())
    assert report["passed"]
    assert weights["calibrated"]["passed"]
    assert report["evidence"]["outputs"] == {"configs/weights.json": sha256_file(Path("configs/weights.json"))}
    assert (
        report["evidence"]["inputs"][str(episodes)] == weights["calibrated"]["episodes_sha256"] == sha256_file(episodes)
    )
    assert len(report["figures"]["folds"]) == 5
    for weight in report["figures"]["weights"].values():
        assert weight["low"] <= weight["high"]
    assert "support" in done.out
    assert f"wrote {path}" in done.out


def test_flags_left_out_have_the_work_orders_values(episodes: Path, askgate: Askgate) -> None:
    askgate(*SCORED, "--cv", "5", "--boot", "200", "--l2", "0.1", "--seed", "42", "--out", "one.json")
    askgate(*SCORED, "--out", "two.json")
    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()


def test_scored_episodes_need_no_config(episodes: Path, askgate: Askgate) -> None:
    done = askgate(*SCORED, "--boot", "10", "--config", "none.yaml")
    assert done.code == 0, done.err


def own_quickstart(**calibration: object) -> None:
    Path("configs/gates").mkdir(parents=True)
    own = {"extends": "rc1.yaml", "name": "quickstart", "thresholds": {"calibration": calibration}}
    Path("configs/gates/quickstart.yaml").write_text(json.dumps(own))


def test_settings_are_those_of_the_configs_profile(episodes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_quickstart(seed=7, cv=3)
    seeds: list[int] = []

    def no_samples(pool: Path, n: int, seed: int) -> list[Sample]:
        seeds.append(seed)
        return []

    monkeypatch.setattr(record_episodes, "calibration_samples", no_samples)
    monkeypatch.setattr(record_episodes, "rated_episodes", lambda *_, **__: RatedEpisodes([], episodes, []))
    with pytest.raises(SystemExit):
        main(["weight_calib", "--boot", "10"])
    report = json.loads(Path("reports/calibration_report_calibration.json").read_bytes())
    assert (seeds, len(report["figures"]["folds"])) == ([7], 3)


@pytest.mark.parametrize("verb", ["weight_calib", "shadow_run"])
def test_a_wrong_profile_is_refused_before_anything_is_done(episodes: Path, askgate: Askgate, verb: str) -> None:
    own_quickstart(cv=1)
    done = askgate(verb)
    assert done.code == 2
    assert "configs/gates/quickstart.yaml: thresholds.calibration.cv" in done.err
    assert not Path("data").exists()


def test_the_same_episodes_give_the_same_bytes(episodes: Path, askgate: Askgate) -> None:
    askgate(*SCORED, "--boot", "10", "--out", "one.json")
    askgate(*SCORED, "--boot", "10", "--out", "two.json")
    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()


def test_a_failed_gate_exits_with_1_and_marks_the_weights(episodes: Path, askgate: Askgate) -> None:
    write(episodes, scored(245, baseline=SHIPPED, live=False))
    done = askgate(*SCORED, "--boot", "10")
    assert done.code == 1
    assert "FAILED not_live: 245, must be == 0" in done.out
    assert not json.loads(Path("configs/weights.json").read_bytes())["calibrated"]["passed"]
    path = Path("reports/calibration_report_calibration.json")
    assert not json.loads(path.read_bytes())["passed"]


def lacking(found: list[ScoredEpisode]) -> list[ScoredEpisode]:
    found[3] = replace(found[3], dims=dict.fromkeys(SHIPPED.names[1:], 0.5))
    return found


def unknown(found: list[ScoredEpisode]) -> list[ScoredEpisode]:
    return [replace(one, dims={**one.dims, "charm": 0.5}) for one in found]


def nan(found: list[ScoredEpisode]) -> list[ScoredEpisode]:
    found[3] = replace(found[3], dims={**found[3].dims, "support": float("nan")})
    return found


def few(found: list[ScoredEpisode]) -> list[ScoredEpisode]:
    return found[:29]


def all_right(found: list[ScoredEpisode]) -> list[ScoredEpisode]:
    return [replace(one, success=True) for one in found]


def twice(found: list[ScoredEpisode]) -> list[ScoredEpisode]:
    return [*found, found[0]]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lacking, "scores are missing for 1 of 245 episodes: 'e3' lacks logic_rigor"),
        (unknown, "the weights file does not know charm"),
        (nan, "scored.jsonl:4: "),
        (few, "29 different samples"),
        (all_right, "all 245 episodes succeed"),
        (twice, "the id 'e0' occurs twice"),
    ],
)
def test_bad_episodes_are_refused(fault: object, message: str, episodes: Path, askgate: Askgate) -> None:
    assert callable(fault)
    write(episodes, fault(scored(245, baseline=SHIPPED)))
    done = askgate(*SCORED)
    assert done.code == 2
    assert message in done.err
    assert "What to do" in done.err
    assert not Path("configs/weights.json").exists()
    assert not Path("reports").exists()


def test_a_baseline_that_does_not_sum_to_1_is_refused(episodes: Path, askgate: Askgate) -> None:
    Path("baseline.json").write_text(json.dumps({"weights": {"a": 0.5, "b": 0.4}}))
    done = askgate(*SCORED, "--baseline", "baseline.json")
    assert done.code == 2
    assert "the weights sum to 0.9, not to 1" in done.err


def test_weights_do_not_overwrite_the_baseline(episodes: Path, askgate: Askgate) -> None:
    Path("baseline.json").write_text(json.dumps({"weights": SHIPPED.weights, "new": SHIPPED.new}))
    done = askgate(*SCORED, "--baseline", "baseline.json", "--out", "baseline.json")
    assert done.code == 2
    assert "would overwrite" in done.err


def test_a_requested_share_of_live_scores_is_enough(episodes: Path, askgate: Askgate) -> None:
    found = scored(245, baseline=SHIPPED)
    half = [
        one if place < 40 else replace(one, live=False, dims={k: v for k, v in one.dims.items() if k not in LIVE})
        for place, one in enumerate(found)
    ]
    write(episodes, half)
    assert askgate(*SCORED, "--boot", "10", "--live_n", "40", "--tag", "part").code == 0
    weights = json.loads(Path("configs/weights.json").read_bytes())
    mean = sum(one.dims["live_logic"] for one in found[:40]) / 40
    assert weights["stand_in"]["live_logic"] == pytest.approx(mean)
    assert json.loads(Path("reports/calibration_report_part.json").read_bytes())["figures"]["live_episodes"] == 40
    assert "FAILED not_live: 205" in askgate(*SCORED, "--boot", "10").out


@pytest.mark.parametrize("knows", [True, False])
def test_the_report_says_whether_the_judge_tells_successes_from_failures(
    episodes: Path, askgate: Askgate, knows: bool
) -> None:
    found = scored(60, baseline=SHIPPED)
    if not knows:
        blind = dict.fromkeys(LIVE, 0.5)
        found = [replace(one, dims=one.dims | blind) for one in found]
    write(episodes, found)
    done = askgate(*SCORED, "--boot", "10")
    auc, low, high = json.loads(Path("reports/calibration_report_calibration.json").read_bytes())["figures"][
        "judge_auc"
    ]["live_logic"]
    assert 0 <= low <= auc <= high <= 1
    assert (low > 0.5) == knows
    assert "AUC of the judge's scores against success, 60 episodes: live_logic" in " ".join(done.out.split())
    assert ("none is above chance" in done.out) != knows


def test_without_a_judge_rules_alone_are_weighted_and_fail(episodes: Path, askgate: Askgate) -> None:
    rules = [
        replace(one, live=False, dims={k: v for k, v in one.dims.items() if k not in LIVE})
        for one in scored(245, baseline=SHIPPED)
    ]
    write(episodes, rules)
    done = askgate(*SCORED, "--boot", "10")
    assert done.code == 1
    assert "FAILED weight_calib: 1 of 3 checks" in done.out
    weights = read_weights(Path("configs/weights.json"))
    assert set(weights.weights) == set(SHIPPED.names) - set(LIVE)


def test_a_missing_pool_is_refused_with_the_command(episodes: Path, askgate: Askgate) -> None:
    done = askgate("weight_calib")
    assert done.code == 2
    assert "data/rollouts/rc1_seed.balanced.jsonl is not there" in done.err
    assert "build-rollout-pool" in done.err


@pytest.mark.parametrize("l2", ["nan", "inf", "-0.1"])
def test_an_l2_that_is_no_number_is_refused(l2: str, episodes: Path, askgate: Askgate) -> None:
    done = askgate(*SCORED, "--boot", "10", "--l2", l2)
    assert done.code == 2
    assert "--l2" in done.err
    assert not Path("reports").exists()


@pytest.mark.parametrize("tag", ["../up", "a/b", "a b", "x" * 101])
def test_a_tag_with_a_path_is_refused(tag: str, episodes: Path, askgate: Askgate) -> None:
    assert askgate(*SCORED, "--tag", tag).code == 2
    assert not Path("reports").exists()
