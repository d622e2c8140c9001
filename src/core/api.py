"""TrainerAPI: the protocols of engine, strategy and callback.

An *engine* owns the model, rolls out episodes and takes training steps. A *strategy* computes advantages and a loss
from a batch of episodes, as flat tensors. A *callback* observes a run. An engine runs every strategy that it declares.
All can be classes in a user's own file, named in the config as `package.module:Class`.

Tensor names carry their shape: `N` policy tokens of all episodes concatenated, `E` episodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from askgate_env.types import Episode

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """One batch of episodes: the policy's tokens only, without user and tool tokens."""

    logp_N: Tensor
    """Log-probabilities under the policy that sampled the tokens, measured by the rollout."""
    episode_N: Tensor
    """Episode index of each token, ascending."""
    reward_E: Tensor
    group_E: Tensor
    """Group index: episodes of the same sample share one."""
    weight_E: Tensor
    """Weight of each episode: below 1 if its score is unstable."""
    turn_N: Tensor | None = None
    """Number of each token's turn, ascending over the batch; None: every episode is one turn."""
    early_N: Tensor | None = None
    """The part of `reward_E` that arrives at a token; the rest arrives with the last token. None: all of it does."""
    divisor: int | None = None
    """Number of tokens by which a mean over tokens divides, if episodes without signal were left out; None: all."""
    ref_logp_N: Tensor | None = None
    """Log-probabilities under the reference: the frozen warm start, or else the base."""
    value_N: Tensor | None = None
    """The critic's value before each token, from the rollout; None: no critic."""


Targets = Mapping[str, "Tensor"]
"""Result of `Strategy.targets`: tensors with one entry per policy token (`..._N`) or per episode (`..._E`).

`teaches_E` (optional) is False for episodes whose loss has no gradient: an engine may leave them out of the updates."""


class Strategy(Protocol):
    """Advantages and loss. Minibatches are whole groups, so a loss may compare episodes of the same sample."""

    critic: bool
    """Whether it needs a value for every policy token."""
    reference: bool
    """Whether it needs log-probabilities of the reference: the frozen warm start, or else the base."""
    group_size: int
    """Episodes per sample in a batch."""

    def targets(self, batch: Batch) -> Targets:
        """Targets such as advantages and returns, once per batch, before the first update."""
        ...

    def loss(
        self, logp_N: Tensor, entropy_N: Tensor, value_N: Tensor | None, part: Batch, targets: Targets
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss of a minibatch and its metrics. `part` and `targets` hold the rows of the minibatch only."""
        ...

    def after_step(self, metrics: Mapping[str, float]) -> None:
        """Called after the updates of a batch, to adapt e.g. the KL coefficient. Not called for steps that updated only
        the critic."""
        ...

    def metrics(self) -> dict[str, float]: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None: ...


class TokenTrace(Struct, frozen=True, omit_defaults=True):
    """Policy tokens of one episode, in order. `kl` and `value` are empty where there is no reference or no critic."""

    line: int
    """Line of the episode in its file, from 0."""
    turns: list[int]
    """For each token, the number of its turn, from 0."""
    text: list[str]
    logp: list[float]
    """Log-probability in the rollout."""
    kl: list[float] = []
    """`logp` minus the log-probability under the reference; its mean estimates the KL divergence."""
    value: list[float] = []
    """The critic's value before the token."""


@dataclass(frozen=True)
class StepResult:
    """Result of one training step: its episodes and metrics."""

    step: int
    metrics: dict[str, float]
    episodes: Sequence[Episode]
    tokens: Sequence[TokenTrace] = ()
    """Tokens of some of the episodes, for the token view of the board."""


class Stop(Exception):
    """Raised by a callback to end the run after a complete step. The message is for the user."""


class Callback(Protocol):
    """Observes a run. Callbacks are called in a fixed order: evaluation and watch, logging, the user's own in the order
    of the config, checkpoints."""

    def on_start(self, engine: Engine) -> None:
        return

    def on_step(self, engine: Engine, result: StepResult) -> None: ...

    def on_end(self, engine: Engine) -> None:
        return


class Engine(Protocol):
    """Owns the model, rolls out episodes and takes training steps."""

    strategies: frozenset[str]
    """Names of the built-in strategies that it runs. A user's own strategy is always tried."""
    step: int
    """Steps done so far, across resumes."""

    def fit(self, callbacks: Sequence[Callback]) -> None:
        """Trains from the current step to the last."""
        ...

    def save(self, folder: Any) -> None:
        """Writes everything that resuming needs into an empty folder."""
        ...

    def load(self, folder: Any) -> None: ...

    def save_model(self, folder: Any) -> None:
        """Writes the policy alone, in the format of `transformers`."""
        ...
