"""A run that is killed at any moment and resumed ends with the same metrics and weights, bit by bit."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import signal
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from tests.checkpoint.lookup import damaged_in, newest_in
from tests.disk_faults import ERRORS, KILLS, Kind
from tests.fork_server import ForkServer
from tests.reproducible_metrics import reproducible_metrics
from tests.waiting import wait_for_work

RUN = Path("checkpoints/local")
STEPS = 7
EVERY = 2
"""The save of step 7 comes because the run is over."""
TARGET = 6
"""The step whose save is broken: two are kept, so by then there is an older one to drop."""
OPERATIONS_AT_LEAST = 25


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    one = ForkServer("tests.engines.killed", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", COLUMNS="200")
    yield one
    one.close()


@pytest.fixture(scope="module")
def furnished(fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("furnished")
    assert fork_server.run("furnish", place, steps=STEPS, every_steps=EVERY) == 0
    return place


@pytest.fixture(scope="module")
def whole_run(
    fork_server: ForkServer, furnished: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Any], float]:
    """The result of an uninterrupted run, and its CPU seconds."""
    place = copied(furnished, tmp_path_factory.mktemp("unbroken") / "run")
    child = fork_server.start("train", place)
    work = wait_for_work(child, until=math.inf)
    assert fork_server.wait(child) == 0, said(place)
    return outcome(place), work


@pytest.fixture(scope="module")
def unbroken(whole_run: tuple[dict[str, Any], float]) -> dict[str, Any]:
    return whole_run[0]


@pytest.fixture(scope="module")
def before_the_save(fork_server: ForkServer, furnished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run killed at the start of the save of step 6: steps 2 and 4 are saved."""
    place = copied(furnished, tmp_path_factory.mktemp("before") / "run")
    fault = {"kind": "kill before", "at": 1, "step": TARGET}
    assert fork_server.run("train", place, fault=fault) == -signal.SIGKILL, said(place)
    assert newest_in(place / RUN).step == TARGET - EVERY
    return place


def copied(place: Path, to: Path) -> Path:
    shutil.copytree(place, to, symlinks=True)
    (to / "said").unlink(missing_ok=True)
    return to


def said(place: Path) -> str:
    return (place / "said").read_text()


def outcome(place: Path) -> dict[str, Any]:
    """Everything that must be equal. Times and memory depend on the machine and are left out."""
    run = place / RUN
    episodes = {path.name: path.read_text() for path in sorted((place / "logs/episodes").glob("step_*"))}
    return {
        "metrics": [
            reproducible_metrics(json.loads(line)) for line in (place / "logs/metrics.jsonl").read_text().splitlines()
        ],
        "evaluations": (place / "logs/eval.jsonl").read_text(),
        "episodes": episodes,
        "checkpoints": sorted(path.name for path in run.glob("step_*")),
        "best": sorted(path.name for path in (run / "best").glob("*")),
        "latest": os.readlink(run / "latest"),
        "weights": hashlib.sha256((run / "final_model/model.safetensors").read_bytes()).hexdigest(),
        "state": hashlib.sha256((run / "latest/state.safetensors").read_bytes()).hexdigest(),
    }


def assert_ends_the_same(fork_server: ForkServer, place: Path, unbroken: dict[str, Any]) -> None:
    assert fork_server.run("train", place) == 0, said(place)
    ended = outcome(place)
    for what, value in unbroken.items():
        assert ended[what] == value, what
    assert not list((place / RUN).rglob(".saving*"))


def test_the_reference_run_is_complete(unbroken: dict[str, Any]) -> None:
    """If nothing were learned or all rewards were equal, equal results would prove little."""
    metrics = unbroken["metrics"]
    assert [line["step"] for line in metrics] == [*range(1, STEPS + 1)]
    assert len({line["reward"] for line in metrics}) > 1
    # The rewards of a batch of 8 episodes may be equal now and then.
    assert len({line["policy_loss"] for line in metrics} - {0.0}) > STEPS / 2
    assert unbroken["checkpoints"] == ["step_00006", "step_00007"]
    assert unbroken["best"]


def killed_at_every_operation(fork_server: ForkServer, furnished: Path, tmp_path: Path, kind: Kind) -> list[Path]:
    place, into = copied(furnished, tmp_path / "run"), tmp_path / "killed"
    assert fork_server.run("die_at_each", place, kind=kind, step=TARGET, into=str(into)) == 0, said(place)
    killed = sorted(into.iterdir(), key=lambda copy: int(copy.name))
    assert len(killed) > OPERATIONS_AT_LEAST
    assert {newest_in(copy / RUN).step for copy in killed[:-1]} == {TARGET - EVERY, TARGET}
    return killed


def test_killed_at_every_operation_of_a_checkpoint(
    fork_server: ForkServer, furnished: Path, tmp_path: Path, unbroken: dict[str, Any]
) -> None:
    """Of the copies with the same files only the first and the last are resumed; the slow test resumes all."""
    killed = killed_at_every_operation(fork_server, furnished, tmp_path, "kill amid")
    groups = [list(same) for _, same in groupby(killed, file_names)]
    for copy in dict.fromkeys(copy for same in groups for copy in (same[0], same[-1])):
        assert_ends_the_same(fork_server, copy, unbroken)


def file_names(copy: Path) -> list[str]:
    return sorted(str(path.relative_to(copy)) for path in (copy / RUN).rglob("*"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KILLS)
def test_killed_or_cut_off_at_every_operation_of_a_checkpoint(
    fork_server: ForkServer, furnished: Path, tmp_path: Path, unbroken: dict[str, Any], kind: Kind
) -> None:
    for copy in killed_at_every_operation(fork_server, furnished, tmp_path, kind):
        assert_ends_the_same(fork_server, copy, unbroken)


def assert_survives_random_kills(
    fork_server: ForkServer, furnished: Path, tmp_path: Path, whole_run: Any, moments: int, seed: int
) -> None:
    """Draws moments over the CPU time of the run, not the clock, so that a busy machine does not bunch them."""
    unbroken, all_work = whole_run
    random = Random(seed)
    killed = 0
    for moment in range(moments):
        place = copied(furnished, tmp_path / str(moment))
        child = fork_server.start("train", place)
        work = wait_for_work(child, until=random.random() * all_work)
        os.kill(child, signal.SIGKILL)
        code = fork_server.wait(child)
        assert code in (0, -signal.SIGKILL), said(place)
        killed += code != 0
        if code == 0:
            all_work = min(all_work, work)  # it took less than the run that was measured
        assert_ends_the_same(fork_server, place, unbroken)
        shutil.rmtree(place)
    assert killed > moments // 2, "too few were killed before they had ended"


def test_killed_at_three_random_moments(
    fork_server: ForkServer, furnished: Path, tmp_path: Path, whole_run: Any
) -> None:
    assert_survives_random_kills(fork_server, furnished, tmp_path, whole_run, moments=3, seed=1)


@pytest.mark.slow
def test_killed_at_twenty_random_moments(
    fork_server: ForkServer, furnished: Path, tmp_path: Path, whole_run: Any
) -> None:
    assert_survives_random_kills(fork_server, furnished, tmp_path, whole_run, moments=20, seed=2)


def test_a_run_killed_at_every_save_ends_the_same(
    fork_server: ForkServer, furnished: Path, tmp_path: Path, unbroken: dict[str, Any]
) -> None:
    place = copied(furnished, tmp_path / "run")
    for step, at in ((2, 5), (4, 17), (6, 12), (7, 3)):
        fault = {"kind": "kill amid", "at": at, "step": step}
        assert fork_server.run("train", place, fault=fault) == -signal.SIGKILL, said(place)
    assert_ends_the_same(fork_server, place, unbroken)


@pytest.mark.parametrize("file", ["state.safetensors", "state.json", "COMPLETE"])
def test_a_truncated_checkpoint_is_named_and_skipped(
    fork_server: ForkServer, before_the_save: Path, tmp_path: Path, unbroken: dict[str, Any], file: str
) -> None:
    place = copied(before_the_save, tmp_path / "run")
    newest = place / RUN / "step_00004" / file
    os.truncate(newest, newest.stat().st_size // 2)
    assert_ends_the_same(fork_server, place, unbroken)
    (warning,) = [line for line in said(place).splitlines() if "damaged_step_00004" in line]
    assert "checkpoints/local/step_00004: " in warning
    assert file in warning
    assert "the run resumes from step 2" in warning
    assert warning in (place / "logs/train.log").read_text()


def test_a_resumed_run_repeats_its_rollback(fork_server: ForkServer, furnished: Path, tmp_path: Path) -> None:
    """Every step exceeds the alert level, so no checkpoint is good and the run rolls back to its base."""
    place = copied(furnished, tmp_path / "whole")
    config = place / "own.yaml"
    config.write_text(yaml.safe_dump(yaml.safe_load(config.read_text()) | {"kl_alert": 1e-9, "steps": 10}))
    killed = copied(place, tmp_path / "killed")
    damaged = copied(place, tmp_path / "damaged")
    assert fork_server.run("train", place) == 0, said(place)
    assert "back to model" in said(place)
    unbroken = outcome(place)

    assert fork_server.run("train", killed, fault={"kind": "kill before", "at": 1, "step": 8}) == -signal.SIGKILL
    assert_ends_the_same(fork_server, killed, unbroken)
    assert said(killed).count("back to model") > said(place).count("back to model")

    assert fork_server.run("train", damaged, fault={"kind": "kill before", "at": 1, "step": 10}) == -signal.SIGKILL
    os.truncate(damaged / RUN / "step_00008" / "state.safetensors", 100)
    assert_ends_the_same(fork_server, damaged, unbroken)


def fail_at(fork_server: ForkServer, before: Path, place: Path, unbroken: dict[str, Any], kind: Kind, at: int) -> bool:
    copied(before, place)
    code = fork_server.run("train", place, fault={"kind": kind, "at": at, "step": TARGET})
    survived = (place / "survived").exists()
    if not survived:
        last = said(place).splitlines()[-1]
        assert code == 2, said(place)
        assert last.startswith("askgate: checkpoints/local/")
        assert ("No space left on device" if kind == "disk full" else "Input/output error") in last
        assert "the checkpoints saved before are whole" in last
    assert newest_in(place / RUN).step in (TARGET - EVERY, TARGET) or survived
    assert not damaged_in(place / RUN)
    assert_ends_the_same(fork_server, place, unbroken)
    shutil.rmtree(place)
    return survived


@pytest.mark.parametrize("at", [5, 16])
def test_a_run_resumes_after_a_full_disk_has_space(
    fork_server: ForkServer, before_the_save: Path, tmp_path: Path, unbroken: dict[str, Any], at: int
) -> None:
    assert not fail_at(fork_server, before_the_save, tmp_path / "run", unbroken, "disk full", at)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ERRORS)
def test_every_disk_error_of_a_save_is_reported(
    fork_server: ForkServer, before_the_save: Path, tmp_path: Path, unbroken: dict[str, Any], kind: Kind
) -> None:
    for at in range(1, 100):
        if fail_at(fork_server, before_the_save, tmp_path / str(at), unbroken, kind, at):
            break
    assert at > 20


def test_a_full_log_disk_ends_the_run_resumably(
    fork_server: ForkServer, before_the_save: Path, tmp_path: Path, unbroken: dict[str, Any]
) -> None:
    """The kernel refuses the bytes; the run's own log is one of the files that are full."""
    place = copied(before_the_save, tmp_path / "run")
    half = place / "logs" / "episodes" / ".step_00001.jsonl.a1b2c3d4"
    half.write_text("what a kill left of a file")
    room = (place / "logs" / "metrics.jsonl").stat().st_size // 2
    assert fork_server.run("train", place, room=room) == 2, said(place)
    assert not half.exists()
    assert "Traceback" not in said(place)
    assert said(place).splitlines()[-1].startswith("askgate: logs/")
    assert "File too large. What to do: free some space on that disk, then resume with --resume" in said(place)
    assert newest_in(place / RUN).step == TARGET - EVERY
    assert_ends_the_same(fork_server, place, unbroken)


def test_a_file_size_limit_is_reported(
    fork_server: ForkServer, furnished: Path, tmp_path: Path, unbroken: dict[str, Any]
) -> None:
    """Without the fault layer: the kernel refuses bytes beyond a limit."""
    place = copied(furnished, tmp_path / "run")
    assert fork_server.run("train", place, room=90_000) == 2, said(place)
    assert "askgate: checkpoints/local/step_00002: File too large. What to do: free some space" in said(place)
    assert not list((place / RUN).glob("*step*"))
    assert_ends_the_same(fork_server, place, unbroken)
