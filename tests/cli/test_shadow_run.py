"""`askgate shadow_run` and `weight_calib` end to end, with the built-in base and a judge on this machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from src.cli import main
from src.core.files import HOME, sha256_file
from src.core.jsonl import read_records, read_unique
from src.core.model_files import model_sha256
from src.reward.recorded_episodes import RecordedEpisode
from src.reward.scored_episodes import ScoredEpisode
from src.scoring.scores import Score
from tests.conftest import Askgate
from tests.scoring.server import JudgeServer

CONFIG = """
profile: local
base_model: models/tiny
seed_pool: data/pool.jsonl
shadow_set: data/shadow.jsonl
steps: 1
seeds: [1]
rollout_len: 32
rollout: {max_turns: 3, max_tokens: 384}
device_pref: [cpu]
"""
SHADOW = ("shadow_run", "--n", "40", "--seed", "7", "--stratify", "--config", "tiny.yaml", "--live_n", "30")
CALIB = ("weight_calib", "--n", "40", "--pool", "data/pool.jsonl", "--config", "tiny.yaml", "--boot", "10", "--cv", "2")
LIVE_MODE = {"REWARD_LIVE_MODE": "1", "SCORER_PROVIDER": "custom", "SCORER_MODEL": "tiny", "SCORER_API_KEY": "k"}


def ended(*arguments: str) -> object:
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    return left.value.code


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int]]:
    """Result of running both commands once in a fresh folder, and the number of judge calls of each."""
    folder = tmp_path_factory.mktemp("done")
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch, JudgeServer() as judge:
        patch.chdir(folder)
        for name, value in {**LIVE_MODE, "SCORER_BASE_URL": judge.url}.items():
            patch.setenv(name, value)
        Path("tiny.yaml").write_text(CONFIG)
        assert ended("build_rollout_pool", "--n", "60", "--out", "data/pool.jsonl") == 0
        codes = {"weight_calib": ended(*CALIB)}
        asked = {"weight_calib": judge.asked}
        codes["shadow_run"] = ended(*SHADOW, "--tag", "first")
        asked["shadow_run"] = judge.asked - asked["weight_calib"]
    assert set(codes.values()) <= {0, 1}
    return folder, asked


@pytest.fixture
def again(done: tuple[Path, dict[str, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder, without a judge."""
    shutil.copytree(done[0], tmp_path / "again")
    monkeypatch.chdir(tmp_path / "again")
    monkeypatch.delenv("REWARD_LIVE_MODE", raising=False)
    return tmp_path / "again"


def read(path: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(path).read_bytes())
    return found


def test_the_base_is_recorded_and_a_share_scored_live(done: tuple[Path, dict[str, int]]) -> None:
    folder, asked = done
    recorded = list(read_unique(folder / "data/episodes/shadow.jsonl", RecordedEpisode))
    assert len({one.episode.sample_id for one in recorded}) == 40
    assert {one.split for one in recorded} == {"shadow"}
    assert {one.model for one in recorded} == {model_sha256(HOME / "models/tiny")}
    assert sum(one.live for one in read_unique(folder / "data/episodes/shadow.scored.jsonl", ScoredEpisode)) == 30
    assert asked["shadow_run"] >= 3 * 30
    assert asked["weight_calib"] >= 3 * 40
    assert (folder / "data/episodes/shadow.unstable_samples.jsonl").exists()
    assert (folder / "data/episodes/calibration.unstable_samples.jsonl").exists()


def test_no_sample_is_on_both_sides(done: tuple[Path, dict[str, int]]) -> None:
    shadow, calibration = (
        list(read_unique(done[0] / f"data/episodes/{name}.jsonl", RecordedEpisode))
        for name in ("shadow", "calibration")
    )
    assert {one.source_id for one in shadow}.isdisjoint(one.source_id for one in calibration)


def test_the_report_has_the_policy_figures_and_its_inputs(done: tuple[Path, dict[str, int]]) -> None:
    folder, _ = done
    report = json.loads((folder / "reports/shadow_run_first.json").read_bytes())
    figures, inputs = report["figures"], report["evidence"]["inputs"]
    for measure in ("success", "overclar_rate", "avg_turns"):
        for level in ("easy", "medium", "hard"):
            assert f"{measure}_{level}" in figures["policy"]
    assert figures["live_episodes"] == 30
    assert figures["weights"] == "configs/weights.json"
    for name in (
        "configs/weights.json", "data/shadow_eval_40.jsonl", "data/episodes/shadow.jsonl",
        "data/episodes/shadow.scores.jsonl", "data/episodes/shadow.scored.jsonl",
    ):  # fmt: skip
        assert inputs[name] == sha256_file(folder / name)
    assert [check["name"] for check in report["checks"]][-1] == "not_live"
    assert report["checks"][-1]["passed"]


def test_episodes_are_recorded_again_for_another_seed_set_or_model(again: Path, askgate: Askgate) -> None:
    before = sha256_file(Path("data/episodes/shadow.jsonl"))
    assert "are not made again" in askgate(*SHADOW).err
    assert sha256_file(Path("data/episodes/shadow.jsonl")) == before
    assert "made data/episodes/shadow.jsonl" in askgate(*SHADOW, "--seed", "8").err
    assert sha256_file(Path("data/episodes/shadow.jsonl")) != before


def test_without_a_judge_no_gate_passes(again: Path, askgate: Askgate) -> None:
    done = askgate(*SHADOW, "--tag", "off")
    assert done.code == 1
    assert "FAILED not_live: 30, must be == 0" in done.out
    assert not read("reports/shadow_run_off.json")["figures"]["live"]
    assert not any(one.live for one in read_unique(Path("data/episodes/shadow.scored.jsonl"), ScoredEpisode))


def test_stored_judge_scores_are_not_requested_again(
    again: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    with JudgeServer() as judge:
        for name, value in {**LIVE_MODE, "SCORER_BASE_URL": judge.url}.items():
            monkeypatch.setenv(name, value)
        askgate(*SHADOW, "--tag", "second")
        asked = judge.asked
        askgate(*SHADOW, "--tag", "third")
        assert judge.asked == asked > 0
        assert read("reports/shadow_run_third.json")["figures"] == read("reports/shadow_run_second.json")["figures"]


def test_a_damaged_record_of_episodes_is_made_again(again: Path, askgate: Askgate) -> None:
    path = Path("data/episodes/shadow.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    assert "made data/episodes/shadow.jsonl" in askgate(*SHADOW).err
    assert path.read_bytes().splitlines(keepends=True) == lines


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("shadow_run", "--n", "29"), "fewer than 30 samples"),
        (("shadow_run", "--n", "50", "--shadow_set", "data/shadow_eval_40.jsonl"), "has 40 samples, not 50"),
        (("shadow_run", "--n", "40", "--shadow_set", "data/pool.jsonl"), "this is a pool, not a shadow set"),
        (("shadow_run", "--n", "40", "--dump-manifest", "m.json"), "--dump-manifest"),
        (("shadow_run", "--n", "40", "--tag", "../up"), "--tag"),
        ((*SHADOW, "--live_n", "41"), "there are 40 episodes, not 41"),
        (("weight_calib", "--pool", "data/shadow_eval_40.jsonl", "--n", "30"), "40 samples are of a shadow set"),
    ],
)
def test_episodes_that_cannot_be_compared_are_refused(
    arguments: tuple[str, ...], message: str, again: Path, askgate: Askgate
) -> None:
    reports = sorted(Path("reports").iterdir())
    done = askgate(*arguments)
    assert done.code == 2, done.err
    assert message in done.err
    assert sorted(Path("reports").iterdir()) == reports


def test_an_unscored_episode_of_the_judged_sample_is_named(
    again: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REWARD_LIVE_MODE", "1")
    kept = {one.id: one for one in read_records(Path("data/episodes/shadow.scores.jsonl"), Score)}
    lost, _ = kept.popitem()
    monkeypatch.setattr("src.training.record_episodes.score_dialogues", lambda *_: (kept, None))
    done = askgate(*SHADOW)
    assert done.code == 2, done.out
    assert f"scores are missing for 1 of 30 episodes: {lost}" in done.err


@pytest.mark.parametrize(
    ("arguments", "flag"),
    [
        ((*CALIB, "--episodes", "data/pool.jsonl"), "--episodes"),
        ((*CALIB, "--out", "data/pool.jsonl"), "--out"),
        ((*CALIB, "--out", "data/episodes/calibration.jsonl"), "--out"),
        ((*CALIB, "--out", "data/episodes/calibration.meta.json"), "--out"),
        ((*SHADOW, "--episodes", "data/shadow_eval_40.jsonl"), "--episodes"),
    ],
)
def test_inputs_are_never_overwritten(arguments: tuple[str, ...], flag: str, again: Path, askgate: Askgate) -> None:
    kept = {
        path: path.read_bytes() for path in Path("data").rglob("*") if path.is_file() and ".scored" not in path.name
    }
    done = askgate(*arguments)
    assert done.code == 2, done.err
    assert f"{flag}: " in done.err
    assert "would overwrite a file of" in done.err
    assert {path: path.read_bytes() for path in kept} == kept


def test_a_policy_that_always_fails_is_refused(again: Path, askgate: Askgate) -> None:
    Path("short.yaml").write_text(CONFIG.replace("rollout_len: 32", "rollout_len: 1"))
    done = askgate(*SHADOW, "--config", "short.yaml", "--tag", "wrong")
    assert done.code == 2
    assert "all 40 episodes fail" in done.err
    assert not Path("reports/shadow_run_wrong.json").exists()
