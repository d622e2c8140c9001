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
MAX_READ_FACTOR = 4
"""Maximum total length of the episodes of a stream, as a multiple of `pack_tokens`. Shared tokens count for each
episode, because attention keeps their keys and values for each."""
MAX_COMPARED = 64
"""Maximum number of earlier episodes that an episode is compared with: the newest ones. In groups of at most this size
all others of the sample are among them."""
LOGITS_AT_ONCE = 2**26
"""Logits kept in memory at a time (256 MB in float32). Where there are more, the backward pass recomputes them."""


@dataclass(frozen=True)
class Stream:
    """Whole episodes end to end: `T` tokens in all, from which `N` policy tokens are predicted."""

    tokens_T: Tensor
    lengths: tuple[int, ...]
    """Tokens of each episode, without those that it shares with an earlier one."""
    position_N: Tensor
    """Position in the stream from which each policy token is predicted: that of the token before it."""
    label_N: Tensor
    """The policy tokens: the tokens to predict."""
    shared: SharedPrefixes | None = None
    """None where no episodes share tokens."""


@dataclass(frozen=True)
class SharedPrefixes:
    """Layout of a stream whose episodes share tokens at their beginnings."""

    paths: tuple[NDArray[np.int64], ...]
    """Positions in the stream of all tokens of each episode, shared ones included."""
    first_U: Tensor
    """Index of the first policy token at each of the `U` distinct positions in `position_N`: logits are computed once
    per position."""
    row_N: Tensor
    """Index into `first_U` of each policy token."""


class TokenScores(NamedTuple):
    """Scores of the policy tokens under the current weights."""

    logp_N: Tensor
    entropy_N: Tensor
    value_N: Tensor | None


Entropy = Literal["none", "reported", "trained"]
"""How the entropy is used: not at all (it is then 0), as a metric without a gradient, or in the loss."""
Loss = Callable[[TokenScores], tuple[Tensor, dict[str, Tensor]]]
"""Computes the loss over all policy tokens of a minibatch, and its metrics."""


def pack(episodes: Sequence[Demo | Trajectory], pack_tokens: int, device: torch.device) -> list[Stream]:
    """Packs episodes, in order, into streams of at most `pack_tokens` tokens.

    Tokens after the last policy token are left out, and so are episodes without a policy token. An episode longer than
    `pack_tokens` gets a stream of its own. Segments of a trajectory do not see each other.
    """
    segments = [
        segment
        for episode in episodes
        for segment in (episode.segments() if isinstance(episode, Trajectory) else [episode])
    ]
    shares = device.type == "cpu"
    builders = [_StreamBuilder(shares)]
    for segment in segments:
        if not segment.policy[1:].any():
            continue
        # Tokens that must be read to predict the last policy token.
        inputs = segment.tokens[: np.flatnonzero(segment.policy)[-1]]
        shared = builders[-1].shared_prefix(inputs)
        if builders[-1].episodes and not builders[-1].has_room(len(inputs), len(shared), pack_tokens):
            builders.append(_StreamBuilder(shares))
            shared = shared[:0]
        builders[-1].add(segment, inputs, shared)
    return [builder.build(device) for builder in builders if builder.episodes]


class _StreamBuilder:
    """Collects the episodes of one stream. An episode is a whole one or, of a trajectory, one segment."""

    def __init__(self, shares: bool) -> None:
        self.shares = shares
        self.size = self.read = 0
        """Length of the stream so far, and total length of its episodes, where shared tokens count once per episode."""
        self.episodes: list[Demo | Trajectory] = []
        self.inputs: list[NDArray[np.int32]] = []
        self.paths: list[NDArray[np.int64]] = []
        self.lengths: list[int] = []
        self._rows_by_prefix: dict[bytes, list[int]] = {}
        """Episodes by their first `MIN_SHARED` tokens."""

    def has_room(self, tokens: int, shared: int, pack_tokens: int) -> bool:
        return self.size + tokens - shared <= pack_tokens and self.read + tokens <= MAX_READ_FACTOR * pack_tokens

    def shared_prefix(self, inputs: NDArray[np.int32]) -> NDArray[np.int64]:
        """Positions in the stream of the longest beginning that an episode shares with an earlier one."""
        best = np.zeros(0, np.int64)
        for row in self._rows_by_prefix.get(inputs[:MIN_SHARED].tobytes(), [])[-MAX_COMPARED:]:
            length = min(len(inputs), len(self.inputs[row]))
            differs = np.flatnonzero(inputs[:length] != self.inputs[row][:length])
            shared = int(differs[0]) if len(differs) else length
            if shared > len(best):
                best = self.paths[row][:shared]
            if shared == len(inputs):
                break
        return best

    def add(self, episode: Demo | Trajectory, inputs: NDArray[np.int32], shared: NDArray[np.int64]) -> None:
        if self.shares:
            self._rows_by_prefix.setdefault(inputs[:MIN_SHARED].tobytes(), []).append(len(self.episodes))
        new = len(inputs) - len(shared)
        self.episodes.append(episode)
        self.inputs.append(inputs)
        self.paths.append(np.concatenate([shared, np.arange(self.size, self.size + new)]))
        self.lengths.append(new)
        self.size, self.read = self.size + new, self.read + len(inputs)

    def build(self, device: torch.device) -> Stream:
        rows = list(zip(self.episodes, self.inputs, self.lengths, self.paths, strict=True))
        tokens = np.concatenate([inputs[len(inputs) - length :] for _, inputs, length, _ in rows])
        position_N = np.concatenate([path[np.flatnonzero(episode.policy) - 1] for episode, _, _, path in rows])
        label_N = np.concatenate([episode.tokens[episode.policy] for episode in self.episodes])
        shared = None
        if self.size < self.read:
            _, first_U, row_N = np.unique(position_N, return_index=True, return_inverse=True)
            shared = SharedPrefixes(tuple(self.paths), torch.from_numpy(first_U), torch.from_numpy(row_N))
        return Stream(
            tokens_T=upload(torch.from_numpy(tokens.astype(np.int64)), device),
            lengths=tuple(self.lengths),
            position_N=upload(torch.from_numpy(position_N), device),
            label_N=upload(torch.from_numpy(label_N.astype(np.int64)), device),
            shared=shared,
        )


def hidden_before(policy: Any, stream: Stream) -> Tensor:
    """The last hidden state before each policy token, [N, H]."""
    paths = stream.shared.paths if stream.shared else None
    plan = SegmentPlan(stream.lengths, stream.tokens_T.device, paths=paths)
    hidden_TH = hidden_states(unwrap(policy), stream.tokens_T, plan)
    return hidden_TH.index_select(0, stream.position_N)


def score_tokens(
    policy: Any,
    hidden_NH: Tensor,
    label_N: Tensor,
    temperature: float,
    entropy: Entropy = "trained",
    shared: SharedPrefixes | None = None,
) -> tuple[Tensor, Tensor]:
    """Log-probability and entropy of each policy token under the distribution that it was sampled from."""
    base: Any = unwrap(policy)
    head = base.get_output_embeddings()
    score = partial(_compiled_score() if hidden_NH.is_cuda else _score, head, temperature, entropy)
    rows = max(1, LOGITS_AT_ONCE // head.weight.shape[0])
    if len(hidden_NH if shared is None else shared.first_U) <= rows:
        return score(hidden_NH, label_N, shared)
    parts = [  # in chunks of the stream shared logits are not reused
        checkpoint(score, hidden_CH, label_C, use_reentrant=False, preserve_rng_state=False)
        for hidden_CH, label_C in zip(torch.split(hidden_NH, rows), torch.split(label_N, rows), strict=True)
    ]
    return torch.cat([logp_C for logp_C, _ in parts]), torch.cat([entropy_C for _, entropy_C in parts])


def _score(
    head: Any,
    temperature: float,
    entropy: Entropy,
    hidden_CH: Tensor,
    label_C: Tensor,
    shared: SharedPrefixes | None = None,
) -> tuple[Tensor, Tensor]:
    logits_CV = head(hidden_CH if shared is None else hidden_CH.index_select(0, shared.first_U)).float()
    logp_CV = torch.log_softmax(logits_CV if temperature == 1 else logits_CV / temperature, dim=-1)
    logp_C = logp_CV.gather(-1, label_C[:, None]).squeeze(-1) if shared is None else logp_CV[shared.row_N, label_C]
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

    def __init__(self, policy: Any, critic: Critic | None, temperature: float, *, entropy: Entropy = "trained") -> None:
        super().__init__()
        self.policy, self.critic = policy, critic
        self.temperature, self.entropy = temperature, entropy

    def forward(self, stream: Stream, critic_only: bool = False) -> TokenScores:
        """With `critic_only` no gradient reaches the policy."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and not critic_only):
            hidden_NH = hidden_before(self.policy, stream)
            logp_N, entropy_N = score_tokens(
                self.policy, hidden_NH, stream.label_N, self.temperature, self.entropy, stream.shared
            )
        # The value loss trains the critic alone: also training the policy's layers showed no gain (docs/results.md).
        return TokenScores(logp_N, entropy_N, None if self.critic is None else self.critic(hidden_NH.detach()))

    def call(self, function: Callable[..., Tensor], stream: Stream) -> Tensor:
        """Calls `function(policy, stream)`. A sharded policy has its weights only inside `forward` and this method."""
        return function(self.policy, stream)


def backward(
    accelerator: Accelerator,
    learner: Learner,
    streams: Sequence[Stream],
    loss: Loss,
    critic_only: bool = False,
    gather: Callable[[TokenScores], TokenScores] = lambda scores: scores,
) -> dict[str, Tensor]:
    """Adds the gradient of a minibatch's loss to the weights. Returns the loss (`loss`) and its metrics.

    Exact for every loss and every packing. A loss may couple all tokens of a minibatch (it divides by their number, or
    compares two episodes of a sample), so it is computed once, over all of them. All streams but the last are scored
    without a graph first; the loss then gives the gradient at each of their tokens, and a second forward pass carries
    it into the weights. A minibatch that fits into one stream takes one forward pass.

    If several ranks share a minibatch, `streams` are those of this rank, and `gather` adds the scores of the others.
    """
    *others, last = streams
    with torch.no_grad():
        scored = [learner(stream, critic_only) for stream in others]
    leaves = [_as_leaves(scores) for scores in scored]
    value, metrics = loss(gather(_concatenate([*leaves, learner(last, critic_only)])))
    if value.requires_grad:
        accelerator.backward(value)
        for stream, leaf in zip(others, leaves, strict=True):
            _backpropagate(learner(stream, critic_only), leaf)
    return {"loss": value.detach(), **{name: metric.detach() for name, metric in metrics.items()}}


def _as_leaves(scores: TokenScores) -> TokenScores:
    """Marks scores that were computed without a graph, so that the loss leaves its gradient in their `grad`."""
    value_N = None if scores.value_N is None else scores.value_N.requires_grad_()
    return TokenScores(scores.logp_N.requires_grad_(), scores.entropy_N.requires_grad_(), value_N)


def _concatenate(parts: Sequence[TokenScores]) -> TokenScores:
    """The scores of all streams, in order."""
    values = [part.value_N for part in parts if part.value_N is not None]
    return TokenScores(
        torch.cat([part.logp_N for part in parts]),
        torch.cat([part.entropy_N for part in parts]),
        torch.cat(values) if values else None,
    )


def _backpropagate(scores: TokenScores, leaf: TokenScores) -> None:
    """Propagates the gradients of a stream's scores into the weights. `scores` have the graph, `leaf` the gradients,
    which a gradient scaler has scaled already."""
    pairs = [
        (x, at.grad)
        for x, at in zip(scores, leaf, strict=True)
        if x is not None and at is not None and x.requires_grad and at.grad is not None
    ]
    if pairs:
        torch.autograd.backward([x for x, _ in pairs], [grad for _, grad in pairs])


def clip_gradients(weights: Sequence[Tensor], max_norm: float) -> Tensor:
    """Clips the norm of the gradients. Returns the norm before clipping.

    It is summed in float64 where the device has it: in float32 the norm of a large tensor depends on how the tensor is
    sharded.
    """
    grads = [weight.grad for weight in weights if weight.grad is not None]
    norms = [vector_norm(grad, dtype=exact_dtype(grad.device)) for grad in grads]
    norm = vector_norm(torch.stack(norms)).float() if norms else torch.zeros(())
    clip_grads_with_norm_(weights, max_norm, norm)
    return norm
