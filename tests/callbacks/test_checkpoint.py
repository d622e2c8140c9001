"""When a run saves, which checkpoints it marks good and best, and which files it leaves at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from src.callbacks.checkpoint import Checkpoints, Deferred, DeferredStop
from src.checkpoint.store import CheckpointStore
from src.core.api import Engine, StepResult, Stop
from tests.checkpoint.lookup import newest_in

from .fake_engine import EngineWithoutPolicy

LOCAL = {"gated": False, "profile": "local"}


@dataclass
class SavingEngine(EngineWithoutPolicy):
    """An engine that saves only its step number and reports the metrics that the test sets."""

    last: int = 7
    metrics: Mapping[int, dict[str, float]] = field(default_factory=dict)
    clock: float = 0.0
    minutes_a_step: float = 0.0

    def fit(self, callbacks: Any) -> None:
        for callback in callbacks:
            callback.on_start(self)
        while self.step < self.last:
            self.step += 1
            self.clock += self.minutes_a_step * 60
            for callback in callbacks:
                callback.on_step(self, StepResult(self.step, dict(self.metrics.get(self.step, {})), []))
        for callback in callbacks:
            callback.on_end(self)

    def save(self, folder: Any) -> None:
        (folder / "state.json").write_text(str(self.step))

    def load(self, folder: Any) -> None:
        self.step = int((folder / "state.json").read_text())

    def save_model(self, folder: Any) -> None:
        (folder / "model.safetensors").write_text(f"model {self.step}")


def fit(
    engine: SavingEngine,
    root: Path,
    every_steps: int = 3,
    keep: int = 9,
    valued_by: str = "",
) -> list[str]:
    with CheckpointStore(root, None, keep) as store:
        watching = [Checkpoints(store, every_steps, 30.0, LOCAL, valued_by, clock=lambda: engine.clock)]
        engine.fit(watching)
    return sorted(path.name for path in root.glob("step_*"))


def marks(root: Path, step: int) -> dict[str, Any]:
    with CheckpointStore(root, None, 9) as store:
        return store.marks(step)


def test_saves_every_n_steps_and_at_the_end(tmp_path: Path) -> None:
    assert fit(SavingEngine(), tmp_path) == ["step_00003", "step_00006", "step_00007"]
    assert (tmp_path / "final_model" / "model.safetensors").read_text() == "model 7"
    assert newest_in(tmp_path).marks.items() >= LOCAL.items()


def test_the_last_step_is_not_saved_twice(tmp_path: Path) -> None:
    assert fit(SavingEngine(last=6), tmp_path) == ["step_00003", "step_00006"]


def test_saves_every_n_minutes_since_the_last_save(tmp_path: Path) -> None:
    saved = fit(SavingEngine(last=9, minutes_a_step=10), tmp_path, every_steps=5)
    assert saved == ["step_00003", "step_00005", "step_00008", "step_00009"]
    assert [marks(tmp_path, step)["timed"] for step in (3, 5, 8, 9)] == [True, False, True, False]


def test_a_checkpoint_saved_during_alerts_is_not_good(tmp_path: Path) -> None:
    engine = SavingEngine(
        metrics={3: {"kl_alerts": 0.0}, 5: {"kl_alerts": 1.0}, 6: {"kl_alerts": 2.0}, 7: {"kl_alerts": 0.0}}
    )
    fit(engine, tmp_path, every_steps=1)
    assert [step for step in range(1, 8) if marks(tmp_path, step)["alert"]] == [5, 6]


def test_breaches_and_rollbacks_survive_a_resume(tmp_path: Path) -> None:
    alerts = {step: {"kl_alerts": float(step - 3), "rollbacks": 0.0} for step in (4, 5)}
    back = {6: {"kl_alerts": 0.0, "rollbacks": 1.0}, 7: {"rollbacks": 1.0}, 8: {"rollbacks": 1.0}}
    fit(SavingEngine(metrics=alerts | back), tmp_path, every_steps=1)
    assert [step for step in range(1, 8) if marks(tmp_path, step)["alert"]] == [4, 5, 6]
    with CheckpointStore(tmp_path, None, 9) as store:
        found = store.newest()
        engine = SavingEngine(last=8, metrics=back)
        engine.load(found.path)
        engine.fit([Checkpoints(store, 1, 30.0, LOCAL)])
        assert store.breached == {3, 4, 5}
        assert [store.latest_good(before).step for before in (9, 7)] == [8, 2]  # type: ignore[union-attr]


def test_evaluated_steps_are_saved_and_improvements_copied_to_best(tmp_path: Path) -> None:
    values = {2: {"eval/reward": 0.3}, 4: {"eval/reward": 0.2}, 5: {"eval/reward": 0.6}, 6: {"eval/other": 9.0}}
    saved = fit(SavingEngine(metrics=values), tmp_path)
    assert saved == ["step_00002", "step_00003", "step_00004", "step_00005", "step_00006", "step_00007"]
    assert sorted(path.name for path in (tmp_path / "best").iterdir()) == ["step_00002", "step_00005"]


def test_a_run_interrupted_before_best_copies_it_on_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken_off(self: CheckpointStore, step: int, value: float, by: str) -> None:
        raise KeyboardInterrupt

    values = {4: {"eval/reward": 0.3}}
    whole = CheckpointStore.best
    monkeypatch.setattr(CheckpointStore, "best", broken_off)
    with pytest.raises(KeyboardInterrupt):
        fit(SavingEngine(metrics=values), tmp_path)
    assert not (tmp_path / "best").exists()
    monkeypatch.setattr(CheckpointStore, "best", whole)
    engine = SavingEngine(metrics=values)
    engine.load(newest_in(tmp_path).path)
    fit(engine, tmp_path)
    assert [path.name for path in (tmp_path / "best").iterdir()] == ["step_00004"]


def test_resuming_a_finished_run_changes_nothing(tmp_path: Path) -> None:
    fit(SavingEngine(), tmp_path)
    before = {path: path.stat().st_ino for path in tmp_path.rglob("*") if path.name != ".lock"}
    engine = SavingEngine()
    engine.load(newest_in(tmp_path).path)
    fit(engine, tmp_path)
    assert {path: path.stat().st_ino for path in tmp_path.rglob("*") if path.name != ".lock"} == before


class StopAt:
    """A callback that stops the run at a step."""

    def __init__(self, at: int) -> None:
        self.at = at

    def on_start(self, engine: Engine) -> None: ...

    def on_step(self, engine: Engine, result: StepResult) -> None:
        if result.step == self.at:
            raise Stop(f"{self.at} will do")

    def on_end(self, engine: Engine) -> None: ...


@pytest.mark.parametrize(("at", "timed"), [(2, True), (3, False)])
def test_the_step_at_which_a_callback_stops_is_saved(tmp_path: Path, at: int, timed: bool) -> None:
    ending = DeferredStop()
    with CheckpointStore(tmp_path, None, 9) as store:
        saves = Checkpoints(store, 3, 30.0, LOCAL, ending=lambda: {"stopped": ending.reason})
        with pytest.raises(Stop, match=f"{at} will do"):
            SavingEngine().fit([Deferred(StopAt(at), ending), saves, ending])
    assert newest_in(tmp_path).step == at
    assert marks(tmp_path, at)["timed"] is timed, "a run that nobody ended would not have it, so none rolls back to it"
    assert not (tmp_path / "final_model").exists()


def test_values_measured_with_other_settings_are_not_compared(tmp_path: Path) -> None:
    def go_on(last: int, values: Mapping[int, float], valued_by: str) -> list[str]:
        engine = SavingEngine(last=last, metrics={step: {"eval/reward": value} for step, value in values.items()})
        if list(tmp_path.glob("step_*")):
            engine.load(newest_in(tmp_path).path)
        fit(engine, tmp_path, valued_by=valued_by)
        return sorted(path.name for path in (tmp_path / "best").iterdir())

    assert go_on(2, {1: 0.8, 2: 0.9}, "all samples") == ["step_00001", "step_00002"]
    # The same weights look worse on fewer samples; that is no reason to have no best of them.
    assert go_on(4, {3: 0.3, 4: 0.2}, "ten samples") == ["step_00001", "step_00002", "step_00003"]
    assert go_on(6, {5: 0.7, 6: 1.0}, "all samples") == ["step_00001", "step_00002", "step_00003", "step_00006"]
