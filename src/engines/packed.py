"""Episodes laid end to end in streams without padding, and what the policy makes of each token that it said.

A stream is one forward pass. Logits are computed only where the policy spoke: the words of user and tools are read, but
nothing is predicted there, so nothing can be learned there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from ..rollout.attention import Segments, hidden_states, inner
from .models import Critic

LOGITS_AT_ONCE = 2**26
"""Logits that may lie in memory at a time (256 MB in float32); with more, they are computed again on the way back."""


class Spoken(Protocol):
    """An episode as tokens."""

    @property
    def tokens(self) -> NDArray[np.int32]: ...

    @property
    def policy(self) -> NDArray[np.bool_]: ...


@dataclass(frozen=True)
class Stream:
    """Whole episodes, `T` tokens in all, `N` of them said by the policy."""

    tokens_T: Tensor
    lengths: tuple[int, ...]
    at_N: Tensor
    """Where in the stream each policy token is predicted: one place before its own."""
    said_N: Tensor


class Scored(NamedTuple):
    """One entry for each policy token."""

    logp_N: Tensor
    entropy_N: Tensor
    value_N: Tensor | None


def streams(episodes: Sequence[Spoken], pack_tokens: int, device: torch.device) -> list[Stream]:
    """In the order of the episodes, so that the streams' policy tokens, one stream after the other, are the batch's.

    What comes after the last policy token is left out, and so is an episode in which the policy said nothing.
    An episode longer than `pack_tokens` has a stream to itself.
    """
    packs: list[list[Spoken]] = [[]]
    room = pack_tokens
    for episode in episodes:
        length = _read(episode)
        if length == 0:
            continue
        if length > room and packs[-1]:
            packs.append([])
            room = pack_tokens
        packs[-1].append(episode)
        room -= length
    return [_stream(pack, device) for pack in packs if pack]


def _read(episode: Spoken) -> int:
    """Tokens that must be read to predict the last one that the policy said."""
    said = np.flatnonzero(episode.policy)
    return int(said[-1]) if len(said) else 0


def _stream(pack: list[Spoken], device: torch.device) -> Stream:
    lengths = [_read(episode) for episode in pack]
    starts = np.cumsum([0, *lengths[:-1]])
    at = [start + np.flatnonzero(e.policy) - 1 for start, e in zip(starts, pack, strict=True)]
    tokens = np.concatenate([e.tokens[:length] for e, length in zip(pack, lengths, strict=True)])
    said = np.concatenate([e.tokens[e.policy] for e in pack])
    return Stream(
        tokens_T=torch.from_numpy(tokens.astype(np.int64)).to(device, non_blocking=True),
        lengths=tuple(lengths),
        at_N=torch.from_numpy(np.concatenate(at)).to(device, non_blocking=True),
        said_N=torch.from_numpy(said.astype(np.int64)).to(device, non_blocking=True),
    )


def hidden(policy: Any, stream: Stream) -> Tensor:
    """The last hidden state before each policy token, [N, H]."""
    hidden_TH = hidden_states(inner(policy), stream.tokens_T, Segments(stream.lengths, stream.tokens_T.device))
    return hidden_TH.index_select(0, stream.at_N)


def spoken(policy: Any, hidden_NH: Tensor, said_N: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """Log-probability and entropy of each policy token under the distribution that it was sampled from."""
    base: Any = inner(policy)
    head = base.get_output_embeddings()

    def said(hidden_CH: Tensor, said_C: Tensor) -> tuple[Tensor, Tensor]:
        logp_CV = torch.log_softmax(head(hidden_CH).float() / temperature, dim=-1)
        entropy_C = -(logp_CV.exp() * logp_CV).sum(-1)
        return logp_CV.gather(-1, said_C[:, None]).squeeze(-1), entropy_C

    rows = max(1, LOGITS_AT_ONCE // head.weight.shape[0])
    if len(hidden_NH) <= rows:
        return said(hidden_NH, said_N)
    parts = [
        checkpoint(said, hidden_CH, said_C, use_reentrant=False, preserve_rng_state=False)
        for hidden_CH, said_C in zip(torch.split(hidden_NH, rows), torch.split(said_N, rows), strict=True)
    ]
    return torch.cat([logp_C for logp_C, _ in parts]), torch.cat([entropy_C for _, entropy_C in parts])


class Learner(nn.Module):
    """Policy and critic as one module, so that whatever wraps a module (mixed precision, data parallel) wraps both."""

    def __init__(self, policy: Any, critic: Critic | None, temperature: float, critic_reaches_trunk: bool) -> None:
        super().__init__()
        self.policy, self.critic = policy, critic
        self.temperature, self.critic_reaches_trunk = temperature, critic_reaches_trunk

    def forward(self, stream: Stream, critic_only: bool = False) -> Scored:
        """With `critic_only` no gradient reaches the policy."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and not critic_only):
            hidden_NH = hidden(self.policy, stream)
            logp_N, entropy_N = spoken(self.policy, hidden_NH, stream.said_N, self.temperature)
        if not self.critic_reaches_trunk:
            hidden_NH = hidden_NH.detach()
        return Scored(logp_N, entropy_N, None if self.critic is None else self.critic(hidden_NH))


def joined(parts: Sequence[Scored]) -> Scored:
    """The policy tokens of all streams, in order."""
    values = [part.value_N for part in parts if part.value_N is not None]
    return Scored(
        torch.cat([part.logp_N for part in parts]),
        torch.cat([part.entropy_N for part in parts]),
        torch.cat(values) if values else None,
    )
