"""TensorBoard curves show every metric and reward term; after a resume no point appears twice."""

from __future__ import annotations

import gc
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from tensorboardX.proto.event_pb2 import Event, SessionLog

from src.callbacks.logging import TensorBoard
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


def test_metrics_and_reward_terms_are_curves(tmp_path: Path) -> None:
    FakeEngine().fit([TensorBoard(tmp_path)])
    points = {
        (value.tag, event.step): value.simple_value for event in events(tmp_path) for value in event.summary.value
    }
    assert points["train/loss", 4] == struct.unpack("f", struct.pack("f", 0.4))[0]
    assert points["reward/overclar", 1] == struct.unpack("f", struct.pack("f", -0.035))[0]
    assert {step for _, step in points} == {1, 2, 3, 4}


def test_a_full_disk_ends_the_run_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    monkeypatch.setattr("tensorboardX.record_writer.open_file", lambda path: open(full, "wb"))
    with pytest.raises(BadInput) as refused:
        FakeEngine().fit([TensorBoard(tmp_path / "curves")])
    assert "No space left on device. What to do: free some space on that disk" in str(refused.value)
    assert refused.value.where == str(tmp_path / "curves")
    gc.collect()
    assert capfd.readouterr().err == ""


def test_a_resumed_run_hides_points_of_repeated_steps(tmp_path: Path) -> None:
    FakeEngine(step=2).fit([TensorBoard(tmp_path)])
    starts = [event.step for event in events(tmp_path) if event.session_log.status == SessionLog.START]
    assert starts == [3]
