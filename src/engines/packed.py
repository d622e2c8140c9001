"""Episodes packed end to end without padding, the scores of their policy tokens, and the gradient of a loss on them.

A stream is one forward pass. Logits are computed for policy tokens only: tokens of user and tools are read as context,
but nothing is predicted there, so nothing can be learned there.

On a CPU episodes that begin alike, such as those of one sample, share the tokens of their common beginning: these are
computed once, and gradients of all these episodes meet in them. A stream has a third fewer tokens for groups of 4 of
models/tiny, and 60% fewer for groups of 8 of models/tiny-trained (bench/RESULTS.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.linalg import vector_norm
from torch.nn.utils import clip_grads_with_norm_
from torch.utils.checkpoint import checkpoint

from ..agents.trajectory import Trajectory
from ..rollout.attention import SegmentPlan, hidden_states, unwrap, upload
from ..rollout.cuda import REPRODUCIBLE
from ..rollout.sampling import exact_dtype
from .models import Critic

if TYPE_CHECKING:
    from accelerate import Accelerator

    from .sft import Demo

MIN_SHARED = 32
"""Minimum number of tokens that episodes share. A shorter beginning is computed again for each episode, unless it is a
whole episode."""
MOST_READ = 4
"""Maximum number of tokens that the episodes of a stream read, as a multiple of `pack_tokens`. Keys and values are kept
for each episode, shared tokens included."""
MOST_COMPARED = 64
"""Earlier episodes that an episode is compared with, the newest ones. In groups of at most this size all others of the
sample are among them."""
LOGITS_AT_ONCE = 2**26
"""Logits kept in memory at a time (256 MB in float32). Where there are more, the backward pass recomputes them."""


@dataclass(frozen=True)
class Stream:
    """Whole episodes end to end: `T` tokens in all, from which `N` policy tokens are predicted."""

    tokens_T: Tensor
    lengths: tuple[int, ...]
    """Tokens of each episode, without those that it shares with an earlier one."""
    at_N: Tensor
    """Position in the stream at which each policy token is predicted: one before its own."""
    said_N: Tensor
    """The policy tokens."""
    shared: Shared | None = None
    """None where no episodes share tokens."""


@dataclass(frozen=True)
class Shared:
    """Positions and policy tokens of a stream whose episodes share tokens."""

    paths: tuple[NDArray[np.int64], ...]
    """Positions in the stream of all tokens of each episode."""
    first_U: Tensor
    """The first policy token that is predicted at each of the `U` distinct positions in `at_N`."""
    row_N: Tensor
    """Row in `first_U` of each policy token."""


class Scored(NamedTuple):
    """Scores of the policy tokens under the current weights."""

    logp_N: Tensor
    entropy_N: Tensor
    value_N: Tensor | None


Entropy = Literal["none", "reported", "trained"]
"""How the entropy is used: not at all (it is then 0), as a metric without a gradient, or in the loss."""
Loss = Callable[[Scored], tuple[Tensor, dict[str, Tensor]]]
"""A loss over all policy tokens of a minibatch, and its metrics."""


def pack(episodes: Sequence[Demo | Trajectory], pack_tokens: int, device: torch.device) -> list[Stream]:
    """Packs episodes, in order, into streams of at most `pack_tokens` tokens.

    Tokens after the last policy token are left out, and so are episodes without a policy token. An episode longer than
    `pack_tokens` gets a stream of its own. Segments of a trajectory do not see each other.
    """
    parts = [part for one in episodes for part in (one.segments() if isinstance(one, Trajectory) else [one])]
    shares = device.type == "cpu"
    packs = [_Pack(shares)]
    for episode in parts:
        if not episode.policy[1:].any():
            continue
        # Tokens that must be read to predict the last policy token.
        inputs = episode.tokens[: np.flatnonzero(episode.policy)[-1]]
        shared = packs[-1].shared_path(inputs)
        if packs[-1].episodes and not packs[-1].has_room(len(inputs), len(shared), pack_tokens):
            packs.append(_Pack(shares))
            shared = shared[:0]
        packs[-1].add(episode, inputs, shared)
    return [one.stream(device) for one in packs if one.episodes]


class _Pack:
    """The episodes of a stream in the making."""

    def __init__(self, shares: bool) -> None:
        self.shares = shares
        self.size = self.read = 0
        """Tokens of the stream so far, and tokens that its episodes read, shared ones counted for each."""
        self.episodes: list[Demo | Trajectory] = []
        self.inputs: list[NDArray[np.int32]] = []
        self.paths: list[NDArray[np.int64]] = []
        self.lengths: list[int] = []
        self._alike: dict[bytes, list[int]] = {}
        """Episodes by their first `MIN_SHARED` tokens."""

    def has_room(self, tokens: int, shared: int, pack_tokens: int) -> bool:
        return self.size + tokens - shared <= pack_tokens and self.read + tokens <= MOST_READ * pack_tokens

    def shared_path(self, inputs: NDArray[np.int32]) -> NDArray[np.int64]:
        """Positions of the longest beginning that an episode shares with an earlier one."""
        best = np.zeros(0, np.int64)
        for row in self._alike.get(inputs[:MIN_SHARED].tobytes(), [])[-MOST_COMPARED:]:
            most = min(len(inputs), len(self.inputs[row]))
            differs = np.flatnonzero(inputs[:most] != self.inputs[row][:most])
            shared = int(differs[0]) if len(differs) else most
            if shared > len(best):
                best = self.paths[row][:shared]
            if shared == len(inputs):
                break
        return best

    def add(self, episode: Demo | Trajectory, inputs: NDArray[np.int32], shared: NDArray[np.int64]) -> None:
        if self.shares:
            self._alike.setdefault(inputs[:MIN_SHARED].tobytes(), []).append(len(self.episodes))
        own = len(inputs) - len(shared)
        self.episodes.append(episode)
        self.inputs.append(inputs)
        self.paths.append(np.concatenate([shared, np.arange(self.size, self.size + own)]))
        self.lengths.append(own)
        self.size, self.read = self.size + own, self.read + len(inputs)

    def stream(self, device: torch.device) -> Stream:
        rows = list(zip(self.episodes, self.inputs, self.lengths, self.paths, strict=True))
        tokens = np.concatenate([inputs[len(inputs) - length :] for _, inputs, length, _ in rows])
        at_N = np.concatenate([path[np.flatnonzero(episode.policy) - 1] for episode, _, _, path in rows])
        said_N = np.concatenate([episode.tokens[episode.policy] for episode in self.episodes])
        shared = None
        if self.size < self.read:
            _, first_U, row_N = np.unique(at_N, return_index=True, return_inverse=True)
            shared = Shared(tuple(self.paths), torch.from_numpy(first_U), torch.from_numpy(row_N))
        return Stream(
            tokens_T=upload(torch.from_numpy(tokens.astype(np.int64)), device),
            lengths=tuple(self.lengths),
            at_N=upload(torch.from_numpy(at_N), device),
            said_N=upload(torch.from_numpy(said_N.astype(np.int64)), device),
            shared=shared,
        )


def hidden_before(policy: Any, stream: Stream) -> Tensor:
    """The last hidden state before each policy token, [N, H]."""
    paths = stream.shared.paths if stream.shared else None
    plan = SegmentPlan(stream.lengths, stream.tokens_T.device, paths=paths)
    hidden_TH = hidden_states(unwrap(policy), stream.tokens_T, plan)
    return hidden_TH.index_select(0, stream.at_N)


def score_tokens(
    policy: Any,
    hidden_NH: Tensor,
    said_N: Tensor,
    temperature: float,
    entropy: Entropy = "trained",
    shared: Shared | None = None,
) -> tuple[Tensor, Tensor]:
    """Log-probability and entropy of each policy token under the distribution that it was sampled from."""
    base: Any = unwrap(policy)
    head = base.get_output_embeddings()
    score = partial(_compiled_score() if hidden_NH.is_cuda else _score, head, temperature, entropy)
    rows = max(1, LOGITS_AT_ONCE // head.weight.shape[0])
    if len(hidden_NH if shared is None else shared.first_U) <= rows:
        return score(hidden_NH, said_N, shared)
    parts = [  # parts of the stream do not share logits
        checkpoint(score, hidden_CH, said_C, use_reentrant=False, preserve_rng_state=False)
        for hidden_CH, said_C in zip(torch.split(hidden_NH, rows), torch.split(said_N, rows), strict=True)
    ]
    return torch.cat([logp_C for logp_C, _ in parts]), torch.cat([entropy_C for _, entropy_C in parts])


def _score(
    head: Any, temperature: float, entropy: Entropy, hidden_CH: Tensor, said_C: Tensor, shared: Shared | None = None
) -> tuple[Tensor, Tensor]:
    logits_CV = head(hidden_CH if shared is None else hidden_CH.index_select(0, shared.first_U)).float()
    logp_CV = torch.log_softmax(logits_CV if temperature == 1 else logits_CV / temperature, dim=-1)
    logp_C = logp_CV.gather(-1, said_C[:, None]).squeeze(-1) if shared is None else logp_CV[shared.row_N, said_C]
    if entropy == "none":
        return logp_C, torch.zeros_like(logp_C)
    if entropy == "reported":
        logp_CV = logp_CV.detach()
    entropy_C = -(logp_CV.exp() * logp_CV).sum(-1)
    return logp_C, entropy_C if shared is None else entropy_C[shared.row_N]


@cache
def _compiled_score() -> Any:
    return torch.compile(_score, options=REPRODUCIBLE)


class Learner(nn.Module):
    """Policy and critic as one module, so that a wrapper (mixed precision, data parallel) wraps both."""

    def __init__(
        self,
        policy: Any,
        critic: Critic | None,
        temperature: float,
        *,
        entropy: Entropy = "trained",
    ) -> None:
        super().__init__()
        self.policy, self.critic = policy, critic
        self.temperature, self.entropy = temperature, entropy

    def forward(self, stream: Stream, critic_only: bool = False) -> Scored:
        """With `critic_only` no gradient reaches the policy."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and not critic_only):
            hidden_NH = hidden_before(self.policy, stream)
            logp_N, entropy_N = score_tokens(
                self.policy, hidden_NH, stream.said_N, self.temperature, self.entropy, stream.shared
            )
        # The value loss trains the critic alone: also training the policy's layers showed no gain (docs/results.md).
        return Scored(logp_N, entropy_N, None if self.critic is None else self.critic(hidden_NH.detach()))

    def call(self, function: Callable[..., Tensor], stream: Stream) -> Tensor:
        """Calls a function on the policy and a stream. A sharded policy has its weights only inside of this module."""
        return function(self.policy, stream)


def backward(
    accelerator: Accelerator,
    learner: Learner,
    streams: Sequence[Stream],
    loss: Loss,
    critic_only: bool = False,
    spread: Callable[[Scored], Scored] = lambda own: own,
) -> dict[str, Tensor]:
    """Adds the gradient of a minibatch's loss to the weights. Returns the loss (`loss`) and its metrics.

    Exact for every loss and every packing. A loss may couple all tokens of a minibatch (it divides by their number, or
    compares two episodes of a sample), so it is computed once, over all of them. All streams but the last are scored
    without a graph first; the loss then gives the gradient at each of their tokens, and a second forward pass carries
    it into the weights. A minibatch that fits into one stream takes one forward pass.

    Where several ranks share a minibatch, `streams` are those of this rank, and `spread` adds the scores of the others.
    """
    *others, last = streams
    with torch.no_grad():
        scored = [learner(stream, critic_only) for stream in others]
    leaves = [_leaf(part) for part in scored]
    value, metrics = loss(spread(_join([*leaves, learner(last, critic_only)])))
    if value.requires_grad:
        accelerator.backward(value)
        for stream, leaf in zip(others, leaves, strict=True):
            _carry_back(learner(stream, critic_only), leaf)
    return {"loss": value.detach(), **{name: metric.detach() for name, metric in metrics.items()}}


def _leaf(part: Scored) -> Scored:
    value_N = None if part.value_N is None else part.value_N.requires_grad_()
    return Scored(part.logp_N.requires_grad_(), part.entropy_N.requires_grad_(), value_N)


def _join(parts: Sequence[Scored]) -> Scored:
    """The scores of all streams, in order."""
    values = [part.value_N for part in parts if part.value_N is not None]
    return Scored(
        torch.cat([part.logp_N for part in parts]),
        torch.cat([part.entropy_N for part in parts]),
        torch.cat(values) if values else None,
    )


def _carry_back(again: Scored, leaf: Scored) -> None:
    """Carries the gradient at the tokens into the weights. A gradient scaler has scaled it already."""
    pairs = [
        (x, at.grad)
        for x, at in zip(again, leaf, strict=True)
        if x is not None and at is not None and x.requires_grad and at.grad is not None
    ]
    if pairs:
        torch.autograd.backward([x for x, _ in pairs], [grad for _, grad in pairs])


def clip_gradients(weights: Sequence[Tensor], most: float) -> Tensor:
    """Clips the norm of the gradients, which is returned.

    It is summed in float64 where the device has it: in float32 the norm of a large tensor depends on how the tensor is
    sharded.
    """
    grads = [weight.grad for weight in weights if weight.grad is not None]
    norms = [vector_norm(grad, dtype=exact_dtype(grad.device)) for grad in grads]
    norm = vector_norm(torch.stack(norms)).float() if norms else torch.zeros(())
    clip_grads_with_norm_(weights, most, norm)
    return norm
