"""`overclar_penalty --ablation`: two real runs that differ only in the penalty, stored, compared, and not repeated."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from askgate_env.types import Episode
from src.config.loader import load_train_config, source_files
from src.core.errors import BadInput
from src.core.files import sha256_file
from src.core.jsonl import read_records
from src.eval.ablation import AblationPlan, is_sealed_as, read_seal_of, side_config
from src.loop.runner import verb
from src.runtime.lock import lock_folder
from src.training.ablation import CONFIG, drop_other_seeds, work_folder
from src.utils.processes import usable_cores
from tests.conftest import Askgate
from tests.in_process import run_here

from .tiny_run import write_config

ROOT = Path(__file__).resolve().parents[2]
COMMAND = ("overclar_penalty", "--alpha", "0.2", "--cap", "2", "--ablation", "--config", "own.yaml")
SMALL = ("--steps", "1", "--seeds", "1,2", "--n", "6")


@pytest.fixture
def place(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_config(place)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return place


def differences(one: Any, other: Any, path: str = "") -> dict[str, tuple[Any, Any]]:
    if isinstance(one, dict) and isinstance(other, dict):
        return {
            name: pair
            for key in {*one, *other}
            for name, pair in differences(one.get(key), other.get(key), f"{path}.{key}").items()
        }
    return {} if one == other else {path.lstrip("."): (one, other)}


def plan(seeds: tuple[int, ...], episodes: Path = Path("kept")) -> AblationPlan:
    return AblationPlan(Path("own.yaml"), 0.2, 2, 4, seeds, 6, episodes, "own")


def test_the_two_configs_differ_only_in_the_penalty(place: Path) -> None:
    config = load_train_config(Path("own.yaml"), ["warm_start={steps: 9, tokens: 100}"])
    made = [side_config(config, plan((1, 2)), penalty).model_dump(mode="json") for penalty in (False, True)]
    assert differences(*made) == {"use_overclar_penalty": (False, True)}
    assert made[1]["reward"]["alpha"] == 0.2
    changed = differences(config.model_dump(mode="json"), made[1])
    assert {name.split(".")[0] for name in changed} == {
        "base_model", "seed_pool", "shadow_set", "steps", "seeds", "reward", "eval", "watch", "warm_start",
    }  # fmt: skip


@pytest.mark.parametrize(("own", "steps", "every"), [(8, 24, 2), (1000, 200, 16), (10, 4, 1), (1, 200, 1)])
def test_ctrl_c_costs_a_twelfth_of_a_run_at_most(place: Path, own: int, steps: int, every: int) -> None:
    config = load_train_config(Path("own.yaml"), [f"checkpoint.every_steps={own}"])
    made = side_config(config, replace(plan((1,)), steps=steps), penalty=True)
    assert made.checkpoint.every_steps == every


def test_a_changed_base_or_pool_gets_another_work_folder(place: Path) -> None:
    def folder() -> Path:
        config = load_train_config(Path("own.yaml"))
        return work_folder(plan((1,)), "with", side_config(config, plan((1,)), penalty=True))

    first = folder()
    assert folder() == first
    for name in ("data/pool.jsonl", "model/model.safetensors"):
        before = folder()
        with open(place / name, "ab") as handle:
            handle.write(b"\n")
        assert folder() != before


@pytest.fixture
def trained_together(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The sides of each part of an ablation, which is trained in this process here, one side after the other."""
    parts: list[list[str]] = []

    def train(folders: Sequence[Path], environment: Mapping[str, str]) -> list[int]:
        parts.append([folder.name.partition("-")[0] for folder in folders])
        command = verb("train", "--config", CONFIG, "--json", "--resume")
        return [run_here(command, folder).returncode for folder in folders]

    monkeypatch.setattr("src.training.ablation._run", train)
    return parts


def test_an_ablation_writes_its_report_and_reuses_finished_runs(
    place: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch, trained_together: list[list[str]]
) -> None:
    monkeypatch.setattr("src.training.ablation.usable_cores", lambda most: 2)
    done = askgate(*COMMAND, *SMALL, "--json")
    assert done.code in (0, 1), done.err
    report = json.loads(done.out)
    assert done.code == (0 if report["passed"] else 1)
    assert report == json.loads((place / "reports/overclar_ablation_own.json").read_text())
    assert {one["name"].partition("_")[0] for one in report["checks"]} == {"overclar", "turns", "success"}
    kept = sorted(path.relative_to(place) for path in (place / "data/episodes/own_ablation").rglob("*.jsonl"))
    assert len(kept) == 4
    seals = [path.with_suffix(".seal.json") for path in kept]
    assert report["evidence"]["outputs"] == {str(path): sha256_file(path) for path in (*kept, *seals)}
    for path in kept:
        assert len(list(read_records(path, Episode))) == 6
    assert report["figures"]["seeds"][1]["seed"] == 2
    folders = sorted((place / ".askgate/ablation/own").iterdir())
    used = {
        folder.name.split("-")[0]: yaml.safe_load((folder / CONFIG).read_text())["use_overclar_penalty"]
        for folder in folders
    }
    assert used == {"with": True, "without": False}
    trained = [folder / "checkpoints/local/seed_1/final_model/model.safetensors" for folder in folders]
    assert all(path.exists() for path in trained)
    assert trained_together == [["without", "with"]]
    config = load_train_config(Path("own.yaml"))
    ours = AblationPlan(Path("own.yaml"), 0.2, 2, 1, (1, 2), 6, kept[0].parents[1], "own")
    for side, other in (("without", "with"), ("with", "without")):
        seal, sources = read_seal_of(ours.episodes, 2, side), source_files(config)
        assert is_sealed_as(seal, side_config(config, ours, side == "with"), sources)
        assert not is_sealed_as(seal, side_config(config, ours, other == "with"), sources)

    logs = [(folder / "logs/train.log").read_bytes() for folder in folders]
    again = askgate(*COMMAND, *SMALL, "--json")
    assert json.loads(again.out)["figures"] == report["figures"]
    assert [(folder / "logs/train.log").read_bytes() for folder in folders] == logs, "nothing was trained again"


@pytest.mark.parametrize("cores", [1, 2])
def test_a_run_that_fails_is_reported_with_its_folder(
    cores: int, place: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch, trained_together: list[list[str]]
) -> None:
    monkeypatch.setattr("src.training.ablation.usable_cores", lambda most: cores)
    write_config(place, strategy="nobody:Knows")
    done = askgate(*COMMAND, *SMALL)
    assert done.code == 2
    assert "the run did not complete (exit code 2)" in done.err
    assert not (place / "reports/overclar_ablation_own.json").exists()
    assert trained_together == [["without", "with"][:cores]]


def test_an_ablation_that_is_terminated_leaves_no_run_behind(place: Path) -> None:
    """A run that went on would take the cores, and the same command could not resume it. With two cores both train."""
    command = [sys.executable, "-m", "src.cli", *COMMAND, "--steps", "200", "--seeds", "1", "--n", "6"]
    ablation = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 300
    while len(begun := list(place.glob(".askgate/ablation/own/*/logs/metrics.jsonl"))) < usable_cores(2):
        assert ablation.poll() is None
        assert time.monotonic() < end
        time.sleep(0.1)
    ablation.terminate()
    assert ablation.wait(60) == 128 + signal.SIGTERM
    for metrics in begun:
        os.close(lock_folder(metrics.parent))


class TestRefused:
    def test_a_penalty_of_zero(self, place: Path, askgate: Askgate) -> None:
        done = askgate("overclar_penalty", "--alpha", "0", "--ablation", "--config", "own.yaml")
        assert done.code == 2
        assert "--alpha, --cap: the penalty is always 0" in done.err

    def test_more_samples_than_there_are(self, place: Path, askgate: Askgate) -> None:
        done = askgate(*COMMAND, "--n", "9")
        assert done.code == 2
        assert "--n: data/shadow.jsonl has 8 samples" in done.err

    def test_seeds_that_are_not_numbers(self, place: Path, askgate: Askgate) -> None:
        done = askgate(*COMMAND, "--seeds", "1,x")
        assert done.code == 2
        assert "--seeds: '1,x' is not a list of different whole numbers" in done.err

    def test_a_tag_with_a_path(self, place: Path, askgate: Askgate) -> None:
        done = askgate(*COMMAND, *SMALL, "--tag", "../../up")
        assert done.code == 2
        assert "--tag" in done.err


def test_only_ablation_episodes_of_other_seeds_are_removed(place: Path) -> None:
    folder = place / "kept"
    for path in ("seed_1/without.jsonl", "seed_7/with.jsonl"):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).touch()
    ours = plan((1,), folder)
    drop_other_seeds(ours)
    assert [path.name for path in folder.iterdir()] == ["seed_1"]

    checkpoint = folder / "seed_7/latest"
    checkpoint.mkdir(parents=True)
    with pytest.raises(BadInput, match="was not made by an ablation"):
        drop_other_seeds(ours)
    assert checkpoint.exists()


def test_without_ablation_the_penalties_are_shown(place: Path, askgate: Askgate) -> None:
    done = askgate("overclar_penalty", "--alpha", "0.07", "--cap", "3", "--json")
    assert done.code == 0
    prices = json.loads(done.out)["penalty"]
    assert prices == {"0": 0.0, "1": 0.07, "2": 0.14, "3": pytest.approx(0.21), "4": prices["3"], "5": prices["3"]}
