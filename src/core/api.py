"""TrainerAPI: what an engine, a strategy and a callback are.

An *engine* holds the model, makes episodes and takes steps. A *strategy* says what a batch of episodes teaches:
advantages and a loss, pure functions over flat tensors. A *callback* watches. Any strategy that an engine declares runs
on it. Both can live in a user's own file and are named in the config as `package.module:Class`.

Array names carry their shape: `N` policy tokens of all episodes laid end to end, `E` episodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from .episode import Episode

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """One batch of episodes: only the tokens that the policy said. User and tool tokens are not in it."""

    logp_N: Tensor
    """What the rollout measured while it sampled."""
    episode_N: Tensor
    """The episode of each token; never falls."""
    reward_E: Tensor
    group_E: Tensor
    """Episodes of the same sample have the same number."""
    weight_E: Tensor
    """How much an episode counts: less where its score is unstable."""
    ref_logp_N: Tensor | None = None
    value_N: Tensor | None = None


Targets = Mapping[str, "Tensor"]
"""What `Strategy.targets` found, one entry for each policy token (`..._N`) or each episode (`..._E`)."""


class Strategy(Protocol):
    """What a batch teaches. Minibatches are whole groups, so a loss may compare episodes of the same sample."""

    critic: bool
    """It wants a value for every policy token."""
    reference: bool
    """It wants the log-probabilities of the frozen base."""
    group_size: int
    """Episodes made of each sample in a batch."""

    def targets(self, batch: Batch) -> Targets:
        """Once a batch, before the first update."""
        ...

    def loss(
        self, logp_N: Tensor, entropy_N: Tensor, value_N: Tensor | None, part: Batch, targets: Targets
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss of a minibatch and its figures. `part` and `targets` hold the rows of the minibatch only."""
        ...

    def after_step(self, metrics: Mapping[str, float]) -> None:
        """After the updates of a batch: adapt what adapts (the weight of the KL penalty). Steps in which only the
        critic learned are left out."""
        ...

    def metrics(self) -> dict[str, float]: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None: ...


@dataclass(frozen=True)
class StepResult:
    """One step: a batch of episodes and the updates made from it."""

    step: int
    metrics: dict[str, float]
    episodes: Sequence[Episode]


class Stop(Exception):
    """A callback ends the run: the step is complete, the reason is for the user."""


class Callback(Protocol):
    """Watches a run. Called in the order of the config."""

    def on_start(self, engine: Engine) -> None: ...

    def on_step(self, engine: Engine, result: StepResult) -> None: ...

    def on_end(self, engine: Engine) -> None: ...


class Engine(Protocol):
    """Holds the model, makes episodes, takes steps."""

    strategies: frozenset[str]
    """Names of the built-in strategies that it runs; one named as `package.module:Class` is always tried."""
    step: int
    """Steps done so far, counted over resumes."""

    def fit(self, callbacks: Sequence[Callback]) -> None:
        """From where it is to the last step."""
        ...

    def save(self, folder: Any) -> None:
        """All that resuming needs, as files in an empty folder."""
        ...

    def load(self, folder: Any) -> None: ...

    def save_model(self, folder: Any) -> None:
        """The policy alone, in the format that `transformers` reads."""
        ...
