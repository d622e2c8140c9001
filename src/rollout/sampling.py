"""Sampling of tokens: one uniform number picks a token by the inverse of the cumulated probabilities.

Gumbel noise would take one random number per token of the vocabulary, which is half of the time of a small model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

BLOCK = 256
"""Words of the vocabulary whose probabilities `sample_blocks` sums up first."""


class Sampled(NamedTuple):
    """The tokens that a pass sampled, one per read."""

    tokens: Sequence[int]
    logps: Sequence[float]
    hidden_NH: Tensor
    """The hidden states that the tokens were predicted from."""


def exact_dtype(device: torch.device) -> torch.dtype:
    """The most exact floating-point type of a device: Metal has no 64-bit type."""
    return torch.float32 if device.type == "mps" else torch.float64


def sample_tokens(logits_NV: Tensor, temperature: float, uniform_N: np.ndarray | None) -> tuple[list[int], list[float]]:
    """One token per row and its log-probability; the likeliest where no uniform numbers are given."""
    exact = exact_dtype(logits_NV.device)
    logp_NV = torch.log_softmax(logits_NV.float() / temperature, dim=-1)
    if uniform_N is None:
        token_N1 = logp_NV.argmax(-1, keepdim=True)
    else:
        cumulated_NV = logp_NV.exp().cumsum(-1, dtype=exact)
        # In 32 bits a number just below 1 becomes 1, and would pick a token of probability 0.
        uniform = torch.from_numpy(uniform_N).to(exact).clamp_(max=1 - torch.finfo(exact).eps / 2)
        uniform = uniform.to(logits_NV.device, non_blocking=True)
        at_N1 = uniform[:, None] * cumulated_NV[:, -1:]
        token_N1 = torch.searchsorted(cumulated_NV, at_N1, right=True).clamp_(max=logp_NV.shape[-1] - 1)
    # One copy to the host for both: token numbers are exact, in 32 bits too (up to 16 million).
    tokens, logps = torch.cat((token_N1.to(exact), logp_NV.gather(-1, token_N1).to(exact)), 1).T.cpu().numpy()
    require_finite(logps)
    return tokens.astype(np.int64).tolist(), logps.tolist()


def sample_blocks(logits_NV: Tensor, temperature: float, uniform_N: Tensor) -> tuple[Tensor, Tensor]:
    """The same as `sample_tokens`, on tensors alone and without a sum over the vocabulary in memory.

    First the block in which the cumulated probability reaches the uniform number is found, then the token inside it.
    A negative number takes the likeliest token.
    """
    rows, words = logits_NV.shape
    scaled_NV = logits_NV.float() / temperature
    top_N1, best_N1 = scaled_NV.max(-1, keepdim=True)
    weight_NV = pad(torch.exp(scaled_NV - top_N1), (0, -words % BLOCK))
    sum_NB = weight_NV.view(rows, -1, BLOCK).sum(-1, dtype=torch.float64)
    cumulated_NB = sum_NB.cumsum(-1)
    total_N1 = cumulated_NB[:, -1:]
    at_N1 = uniform_N[:, None] * total_N1
    block_N1 = (cumulated_NB <= at_N1).sum(-1, keepdim=True).clamp(max=sum_NB.shape[1] - 1)
    before_N1 = cumulated_NB.gather(1, block_N1) - sum_NB.gather(1, block_N1)
    word_NW = block_N1 * BLOCK + torch.arange(BLOCK, device=logits_NV.device)
    inside_NW = torch.exp(scaled_NV.gather(1, word_NW.clamp(max=words - 1)) - top_N1).double()
    offset_N1 = (before_N1 + inside_NW.cumsum(-1) <= at_N1).sum(-1, keepdim=True).clamp(max=BLOCK - 1)
    token_N1 = torch.where(uniform_N[:, None] < 0, best_N1, (block_N1 * BLOCK + offset_N1).clamp(max=words - 1))
    logp_N1 = scaled_NV.gather(1, token_N1) - top_N1 - total_N1.log().float()
    return token_N1[:, 0], logp_N1[:, 0]


def require_finite(logps: np.ndarray) -> None:
    if not np.isfinite(logps).all():
        raise FloatingPointError("the model's logits are not finite: the policy has diverged")
