"""The callbacks that save checkpoints, and that end a run after its checkpoint is saved.

stop = DeferredStop()
callbacks = [..., Deferred(callback, stop), ..., Checkpoints(..., ending=lambda: {STOPPED: stop.reason}), stop]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..checkpoint.seal import SEAL_FILE
from ..checkpoint.store import ALERT, BREACHED, TIMED, VALUE, VALUED_BY, CheckpointStore
from ..core.api import Callback, Engine, StepResult, Stop
from ..core.files import sha256_file
from ..core.paths import WARM_START

ROLLBACKS = "rollbacks"


@dataclass
class Checkpoints(Callback):
    """Saves a checkpoint every `every_steps` steps, every `every_minutes`, after an evaluation, after the warm start,
    and at the end.

    It comes after all callbacks that log, so that the logs of a saved step are complete, and before those that end the
    run (`DeferredStop`). A step whose metrics have `eval/reward` was evaluated: it is saved, and copied to `best/` if
    no other step that was evaluated in the same way (`valued_by`) is better. `ending` returns marks with the reason why
    the run ends with this step; all are empty while it does not end. The policy after `warm_steps` steps is also saved
    as a model; all later checkpoints and the final model have the checksum of its seal as a mark.
    """

    store: CheckpointStore
    every_steps: int
    every_minutes: float
    marks: Mapping[str, Any]
    valued_by: str = ""
    ending: Callable[[], Mapping[str, str]] = dict
    warm_steps: int = 0
    clock: Callable[[], float] = time.monotonic
    saved_step: int = 0
    saved_at: float = 0.0
    alert: bool = False
    rollbacks: float = 0.0

    def on_start(self, engine: Engine) -> None:
        self.saved_step, self.saved_at = engine.step, self.clock()
        if not engine.step:
            return
        marks = self.store.marks(engine.step)
        if WARM_START in marks:
            self.marks = {**self.marks, WARM_START: marks[WARM_START]}
            self.store.recover_model(WARM_START)
        self.store.breached, self.rollbacks = set(marks.get(BREACHED, ())), marks.get(ROLLBACKS, 0.0)
        # The run may have been interrupted after it saved an evaluated step and before it copied that to `best/`.
        if (value := marks.get(VALUE)) is not None:
            self.store.best(engine.step, value, marks.get(VALUED_BY, ""))

    def on_step(self, engine: Engine, result: StepResult) -> None:
        rollbacks = result.metrics.get(ROLLBACKS, 0.0)
        self.alert = result.metrics.get("kl_alerts", 0) > 0 or rollbacks > self.rollbacks
        self.rollbacks = rollbacks
        if self.alert:
            # The KL of a step is that of the weights which made its episodes: those after the previous step.
            self.store.breached.add(result.step - 1)
        value = result.metrics.get("eval/reward")
        warm = result.step == self.warm_steps
        if warm:
            # Before the checkpoint, so that a run that resumes from it has the model.
            path = self.store.final(result.step, engine.save_model, self.marks, WARM_START)
            self.marks = {**self.marks, WARM_START: sha256_file(path / SEAL_FILE)}
        if result.step % self.every_steps == 0 or value is not None or warm:
            self._save(engine, timed=False, value=value)
        elif any(self.ending().values()) or self.clock() - self.saved_at >= 60 * self.every_minutes:
            # Without an interruption the run would have no checkpoint here, so no run may roll back to it.
            self._save(engine, timed=True)
        if value is not None:
            self.store.best(result.step, value, self.valued_by)

    def on_end(self, engine: Engine) -> None:
        if engine.step > self.saved_step:
            self._save(engine, timed=False)
        self.store.final(engine.step, engine.save_model, self.marks)

    def _save(self, engine: Engine, timed: bool, value: float | None = None) -> None:
        marks = {**self.marks, ALERT: self.alert, TIMED: timed, VALUE: value, VALUED_BY: self.valued_by}
        marks |= {BREACHED: sorted(self.store.breached), ROLLBACKS: self.rollbacks, **self.ending()}
        self.store.save(engine.step, engine.save, marks)
        self.saved_step, self.saved_at = engine.step, self.clock()


class DeferredStop(Callback):
    """The last callback: ends the run at another callback's request, after all other callbacks."""

    def __init__(self) -> None:
        self._stop: Stop | None = None

    @property
    def reason(self) -> str:
        """The reason of the stop; empty while no callback has requested one."""
        return "" if self._stop is None else str(self._stop) or "a callback ended it"

    def request(self, stop: Stop) -> None:
        """Requests the end of the run. The first request counts."""
        self._stop = self._stop or stop

    def on_step(self, engine: Engine, result: StepResult) -> None:
        if self._stop:
            raise self._stop


class Deferred(Callback):
    """Wraps a callback so that its `Stop` waits for the other callbacks."""

    def __init__(self, callback: Callback, stop: DeferredStop) -> None:
        self.callback, self.stop = callback, stop

    def on_start(self, engine: Engine) -> None:
        self.callback.on_start(engine)

    def on_step(self, engine: Engine, result: StepResult) -> None:
        try:
            self.callback.on_step(engine, result)
        except Stop as stop:
            self.stop.request(stop)

    def on_end(self, engine: Engine) -> None:
        self.callback.on_end(engine)
