"""Curves show every metric; after a resume no point appears twice; a tracker never ends a run."""

from __future__ import annotations

import gc
import json
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from accelerate import PartialState
from tensorboardX.proto.event_pb2 import Event, SessionLog

from src.callbacks.logging import Trackers
from src.core.errors import BadInput

from .fake_engine import FakeEngine


def events(folder: Path) -> Iterator[Event]:
    """The events of a file. Each record is a length, its checksum, the event, its checksum."""
    for file in sorted(folder.glob("events.*")):
        data = file.read_bytes()
        while data:
            (length,) = struct.unpack("<Q", data[:8])
            yield Event.FromString(data[12 : 12 + length])
            data = data[16 + length :]


def test_metrics_are_curves(tmp_path: Path) -> None:
    FakeEngine().fit([Trackers(["tensorboard"], tmp_path, "run")])
    points = {
        (value.tag, event.step): value.simple_value for event in events(tmp_path) for value in event.summary.value
    }
    assert points["train/loss", 4] == struct.unpack("f", struct.pack("f", 0.4))[0]
    assert {step for _, step in points} == {1, 2, 3, 4}


def test_a_full_disk_ends_the_run_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    monkeypatch.setattr("tensorboardX.record_writer.open_file", lambda path: open(full, "wb"))
    with pytest.raises(BadInput) as refused:
        FakeEngine().fit([Trackers(["tensorboard"], tmp_path / "curves", "run")])
    assert "No space left on device. What to do: free some space on that disk" in str(refused.value)
    assert refused.value.where == str(tmp_path / "curves")
    gc.collect()
    assert capfd.readouterr().err == ""


def test_a_resumed_run_hides_points_of_repeated_steps(tmp_path: Path) -> None:
    FakeEngine(step=2).fit([Trackers(["tensorboard"], tmp_path, "run")])
    starts = [event.step for event in events(tmp_path) if event.session_log.status == SessionLog.START]
    assert starts == [3]


WANDB = """
import json
calls = open("calls.jsonl", "a")

def note(**call):
    print(json.dumps(call), file=calls, flush=True)

class Run:
    def log(self, values, step=None, **more):
        note(step=step, **values)
        if step == FAILS_AT:
            raise RuntimeError("no network, key sk-planted/0123456789")

    def finish(self):
        note(finished=True)

def init(project, **settings):
    note(project=project, **settings)
    return Run()
"""
"""A stand-in for the package of W&B: what accelerate calls of it."""


@pytest.fixture
def wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Callable[[], list[dict[str, Any]]]]:
    def made(fails_at: int) -> Callable[[], list[dict[str, Any]]]:
        (tmp_path / "wandb.py").write_text(f"FAILS_AT = {fails_at}\n{WANDB}", encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.chdir(tmp_path)
        monkeypatch.delitem(sys.modules, "wandb", raising=False)
        monkeypatch.setattr(PartialState, "_shared_state", {})
        return lambda: [json.loads(line) for line in Path("calls.jsonl").read_text().splitlines()]

    return made


def test_wandb_gets_the_numbers_of_tensorboard(tmp_path: Path, wandb: Any) -> None:
    calls = wandb(0)
    FakeEngine().fit([Trackers(["tensorboard", "wandb"], tmp_path / "curves", "run seed 1")])
    first, *steps, last = calls()
    assert (first, last) == (
        {"project": "askgate", "name": "run seed 1", "settings": {"console": "off"}},
        {"finished": True},
    )
    points = {(value.tag, event.step) for event in events(tmp_path / "curves") for value in event.summary.value}
    assert {(name, step["step"]) for step in steps for name in step if name != "step"} == points
    assert all(isinstance(value, float | int) for step in steps for value in step.values())


def test_a_tracker_that_fails_is_left_out(
    tmp_path: Path, wandb: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "sk-planted/0123456789")
    calls = wandb(2)
    FakeEngine().fit([Trackers(["wandb"], tmp_path / "curves", "run")])
    assert [call.get("step") for call in calls()] == [None, 1, 2]
    [warned] = [record.getMessage() for record in caplog.records if "left out" in record.getMessage()]
    assert "no network" in warned
    assert "sk-planted" not in warned
    assert not (tmp_path / "curves").exists()


def test_a_tracker_that_is_not_installed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="pip install trackio"):
        Trackers(["trackio"], tmp_path, "run")
