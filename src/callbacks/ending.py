"""How a callback of the user's own ends a run.

    ending = Ending()
    callbacks = [..., Held(own, ending), ..., Checkpoints(..., ending=lambda: {STOPPED: ending.reason}), ending]

The step that it stops at is saved first, whether that was due or not, so that nothing of the run is lost.
"""

from __future__ import annotations

from ..core.api import Callback, Engine, StepResult, Stop


class Ending:
    """Stands last: by the time it ends the run, all others are done with the step."""

    def __init__(self) -> None:
        self._stop: Stop | None = None

    @property
    def reason(self) -> str:
        """Empty while nobody has asked."""
        return "" if self._stop is None else str(self._stop) or "a callback ended it"

    def ask(self, stop: Stop) -> None:
        """The first reason counts."""
        self._stop = self._stop or stop

    def on_start(self, engine: Engine) -> None:
        pass

    def on_step(self, engine: Engine, result: StepResult) -> None:
        if self._stop:
            raise self._stop

    def on_end(self, engine: Engine) -> None:
        pass


class Held:
    """A callback whose `Stop` waits for the others."""

    def __init__(self, own: Callback, ending: Ending) -> None:
        self.own, self.ending = own, ending

    def on_start(self, engine: Engine) -> None:
        self.own.on_start(engine)

    def on_step(self, engine: Engine, result: StepResult) -> None:
        try:
            self.own.on_step(engine, result)
        except Stop as stop:
            self.ending.ask(stop)

    def on_end(self, engine: Engine) -> None:
        self.own.on_end(engine)
