"""Where a run stands, in every engine here: what it counts, what it saves and takes up, and when it goes back."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from .. import __version__
from ..checkpoint.state import pack_state, unpack_state
from ..core.api import StepResult
from ..core.defaults import RESUME
from ..core.errors import BadInput
from .clock import Clock
from .collect import Collected
from .job import TrainJob
from .rollback import Guard
from .state import finite, learned, machine, put_back

_log = logging.getLogger(__name__)
_UNSIGNED = "a version that did not put its number into checkpoints"
_KEPT = ("step", "tokens_seen", "weights", "optimizer", "scaler", "sampler", "strategy", "guard", "machine")


class Standing(ABC):
    """One run of one seed. Who inherits holds the model and takes the steps."""

    optimizer: Any

    def __init__(self, job: TrainJob) -> None:
        if job.batch_size % job.strategy.group_size:
            raise BadInput(
                f"{job.batch_size} episodes do not make whole groups of {job.strategy.group_size}",
                where="batch_size",
                remedy=f"give a multiple of {job.strategy.group_size}",
            )
        self.job, self.step = job, 0
        self.tokens_seen = 0
        """Of all episodes so far, the words of user and tools included."""
        self.guard = Guard(job.update.kl_alert)

    @property
    @abstractmethod
    def _learner(self) -> nn.Module:
        """All weights that learn are in it."""

    @property
    @abstractmethod
    def _scaler(self) -> Any:
        """Of gradients in fp16; None elsewhere."""

    @abstractmethod
    def _to_base(self) -> None:
        """Weights and optimizer as they are before the first step."""

    def _more_state(self) -> dict[str, Any]:
        """What else this engine remembers from step to step."""
        return {}

    @abstractmethod
    def _loaded(self, state: Mapping[str, Any]) -> None:
        """All of `_KEPT` was taken up; `state` has also what `_more_state` gave."""

    def _done(self, got: Collected, figures: dict[str, float], clock: Clock, adapts: bool = True) -> StepResult:
        """The updates of a step are made: the rest of what it means to have taken it."""
        self.step += 1
        self.tokens_seen += sum(len(one.tokens) for one in got.trajectories)
        if adapts:
            self.job.strategy.after_step(figures)
        self.job.sampler.observe(got.episodes)
        if self.guard.strayed(figures.get("kl", 0.0)):
            self._go_back(figures["kl"])
        figures["kl_alerts"], figures["rollbacks"] = float(self.guard.alerts), float(self.guard.rollbacks)
        return StepResult(self.step, {**figures, **clock.figures()}, got.episodes)

    def _go_back(self, kl: float) -> None:
        """The weights and the optimizer of the last good checkpoint; of the base where there is none yet."""
        folder = self.job.last_good(self.step - self.guard.most)
        _log.warning(
            "step %d: KL is %.4g, above %s for %d steps running; back to %s, learning rate times %g",
            self.step, kl, self.guard.level, self.guard.most, folder or self.job.model, self.guard.lr_factor,
        )  # fmt: skip
        if folder is None:
            self._to_base()
        else:
            self._take_up(unpack_state(folder), str(folder))

    def save(self, folder: Path) -> None:
        state = {
            "step": self.step,
            "tokens_seen": self.tokens_seen,
            "weights": finite(learned(self._learner), self.step),
            "optimizer": self.optimizer.state_dict(),
            "scaler": None if self._scaler is None else self._scaler.state_dict(),
            "sampler": self.job.sampler.state_dict(),
            "strategy": self.job.strategy.state_dict(),
            "guard": self.guard.state_dict(),
            "machine": machine(),
        }
        pack_state(folder, {"version": __version__, **state, **self._more_state()})

    def load(self, folder: Path) -> None:
        state = unpack_state(folder)
        _same_keys(state, (*_KEPT, *self._more_state()), str(folder))
        self._take_up(state, str(folder))
        self.step, self.tokens_seen = int(state["step"]), int(state["tokens_seen"])
        self.job.sampler.load_state_dict(state["sampler"])
        self.job.strategy.load_state_dict(state["strategy"])
        self.guard.load_state_dict(state["guard"])
        self._loaded(state)
        if (there := state["machine"]) != (here := machine()):
            _log.warning("%s was saved with %s; with %s the run goes on, but not bit by bit", folder, there, here)

    def _take_up(self, state: Mapping[str, Any], where: str) -> None:
        put_back(self._learner, state["weights"], where)
        self.optimizer.load_state_dict(state["optimizer"])
        if self._scaler is not None:
            self._scaler.load_state_dict(state["scaler"])


def _same_keys(found: Mapping[str, Any], wanted: Sequence[str], where: str) -> None:
    """Versions differ in what they keep. What is missing cannot be made up, or the run would not be the same one."""
    if missing := [name for name in wanted if name not in found]:
        raise BadInput(
            f"holds no {missing[0]}: it was saved by {found.get('version', _UNSIGNED)}, and this is {__version__}",
            where=where,
            remedy=f"go on with the version that saved it, or start anew without {RESUME}",
        )
