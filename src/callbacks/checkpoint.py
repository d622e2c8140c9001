"""When a run saves: every so many steps, every so many minutes, when it is the best so far, and when it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ..checkpoint.store import ALERT, BREACHED, TIMED, VALUE, VALUED_BY, CheckpointStore
from ..core.api import Engine, StepResult

ROLLBACKS = "rollbacks"


class Checkpoints:
    """Stands behind all that log: what a checkpoint says has happened is in the logs by then. Only those that end the
    run stand behind it (`Ending`, the watch's `Stopper`).

    A step whose metrics hold `best_by` was evaluated. It is saved, and added to `best/` when none there is better that
    was evaluated in the same way (`valued_by`). `ending` gives marks that say why the
    run ends with this step; all are empty while it does not.
    """

    def __init__(
        self,
        store: CheckpointStore,
        every_steps: int,
        every_minutes: float,
        marks: Mapping[str, Any],
        best_by: str | None = None,
        valued_by: str = "",
        ending: Callable[[], Mapping[str, str]] = dict,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.store, self.every_steps, self.every_seconds = store, every_steps, every_minutes * 60
        self.marks, self.best_by, self.valued_by = dict(marks), best_by, valued_by
        self.ending, self.clock = ending, clock
        self.saved_step = 0
        self.saved_at = 0.0
        self.alert = False
        self.rollbacks = 0.0

    def on_start(self, engine: Engine) -> None:
        self.saved_step, self.saved_at = engine.step, self.clock()
        if not engine.step:
            return
        marks = self.store.marks(engine.step)
        self.store.breached, self.rollbacks = set(marks.get(BREACHED, ())), marks.get(ROLLBACKS, 0.0)
        # The run may have been broken off after it saved an evaluated step and before that step came into `best/`.
        if (value := marks.get(VALUE)) is not None:
            self.store.best(engine.step, value, marks.get(VALUED_BY, ""))

    def on_step(self, engine: Engine, result: StepResult) -> None:
        rollbacks = result.metrics.get(ROLLBACKS, 0.0)
        self.alert = result.metrics.get("kl_alerts", 0) > 0 or rollbacks > self.rollbacks
        self.rollbacks = rollbacks
        if self.alert:
            # A step's KL is that of the weights that its episodes were made with: those the step before it left.
            self.store.breached.add(result.step - 1)
        value = result.metrics.get(self.best_by) if self.best_by else None
        if result.step % self.every_steps == 0 or value is not None:
            self._save(engine, timed=False, value=value)
        elif any(self.ending().values()) or self.clock() - self.saved_at >= self.every_seconds:
            # An equal run that nobody ends has no checkpoint there, so none may be rolled back to.
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
