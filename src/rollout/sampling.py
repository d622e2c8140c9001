"""Sampling of tokens: one uniform random number picks a token by inverting the cumulative distribution.

Gumbel noise would need a random number per token of the vocabulary, which takes half of the time of a small model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

BLOCK = 256
"""Number of tokens in a block of the vocabulary, whose probabilities `sample_blocks` sums first."""


class SampledTokens(NamedTuple):
    """The tokens that a pass sampled, one per `SlotRead`."""

    tokens: Sequence[int]
    logps: Sequence[float]
    hidden_NH: Tensor
    """The hidden states that the tokens were predicted from."""


def exact_dtype(device: torch.device) -> torch.dtype:
    """The most exact floating-point type of a device: Metal has no 64-bit type."""
    return torch.float32 if device.type == "mps" else torch.float64


def sample_tokens(logits_NV: Tensor, temperature: float, uniform_N: np.ndarray | None) -> tuple[list[int], list[float]]:
    """One token per row and its log-probability. Without uniform numbers the most likely token is taken."""
    exact = exact_dtype(logits_NV.device)
    logp_NV = torch.log_softmax(logits_NV.float() / temperature, dim=-1)
    if uniform_N is None:
        token_N1 = logp_NV.argmax(-1, keepdim=True)
    else:
        cumulative_NV = logp_NV.exp().cumsum(-1, dtype=exact)
        # In 32 bits a number just below 1 becomes 1, and would pick a token of probability 0.
        uniform = torch.from_numpy(uniform_N).to(exact).clamp_(max=1 - torch.finfo(exact).eps / 2)
        uniform = uniform.to(logits_NV.device, non_blocking=True)
        threshold_N1 = uniform[:, None] * cumulative_NV[:, -1:]
        token_N1 = torch.searchsorted(cumulative_NV, threshold_N1, right=True).clamp_(max=logp_NV.shape[-1] - 1)
    # One copy to the host for both: token numbers are exact, in 32 bits too (up to 16 million).
    tokens, logps = torch.cat((token_N1.to(exact), logp_NV.gather(-1, token_N1).to(exact)), 1).T.cpu().numpy()
    require_finite(logps)
    return tokens.astype(np.int64).tolist(), logps.tolist()


def sample_blocks(logits_NV: Tensor, temperature: float, uniform_N: Tensor) -> tuple[Tensor, Tensor]:
    """The same as `sample_tokens`, without transfers to the host and without cumulative sums of the whole vocabulary.

    Finds first the block in which the cumulative probability reaches the uniform number, then the token inside it. A
    negative number takes the most likely token.
    """
    rows, vocab = logits_NV.shape
    scaled_NV = logits_NV.float() / temperature
    top_N1, best_N1 = scaled_NV.max(-1, keepdim=True)
    weight_NV = pad(torch.exp(scaled_NV - top_N1), (0, -vocab % BLOCK))
    sum_NB = weight_NV.view(rows, -1, BLOCK).sum(-1, dtype=torch.float64)
    cumulative_NB = sum_NB.cumsum(-1)
    total_N1 = cumulative_NB[:, -1:]
    threshold_N1 = uniform_N[:, None] * total_N1
    block_N1 = (cumulative_NB <= threshold_N1).sum(-1, keepdim=True).clamp(max=sum_NB.shape[1] - 1)
    before_N1 = cumulative_NB.gather(1, block_N1) - sum_NB.gather(1, block_N1)
    token_NW = block_N1 * BLOCK + torch.arange(BLOCK, device=logits_NV.device)
    inside_NW = torch.exp(scaled_NV.gather(1, token_NW.clamp(max=vocab - 1)) - top_N1).double()
    offset_N1 = (before_N1 + inside_NW.cumsum(-1) <= threshold_N1).sum(-1, keepdim=True).clamp(max=BLOCK - 1)
    token_N1 = torch.where(uniform_N[:, None] < 0, best_N1, (block_N1 * BLOCK + offset_N1).clamp(max=vocab - 1))
    logp_N1 = scaled_NV.gather(1, token_N1) - top_N1 - total_N1.log().float()
    return token_N1[:, 0], logp_N1[:, 0]


def require_finite(logps: np.ndarray) -> None:
    if not np.isfinite(logps).all():
        raise FloatingPointError("the model's logits are not finite: the policy has diverged")
