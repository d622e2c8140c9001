"""Triton kernels of the CUDA rollout. `cuda.py` has the same two steps in plain PyTorch, which say what they compute.

Rows of the stream are tokens of any slot at any position. The cache of a layer is [slots, heads, room, D], so that the
keys of a slot and head are contiguous.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor


def is_supported(head_dim: int) -> bool:
    return head_dim in (16, 32, 64, 128, 256)


def rotate_and_store(
    qkv_TW: Tensor, norms: tuple[Tensor, Tensor] | None, eps: float, cos: Tensor, sin: Tensor,
    keys: Tensor, values: Tensor, slot_T: Tensor, position_T: Tensor,
) -> None:  # fmt: skip
    """Norms and rotates queries and keys; queries stay in `qkv_TW`, keys and values go into the cache."""
    _, heads, room, width = keys.shape
    queries = qkv_TW.shape[1] // width - 2 * heads
    q_norm, k_norm = norms or (qkv_TW, qkv_TW)
    _rotate_and_store[(len(qkv_TW), queries + 2 * heads)](
        qkv_TW, q_norm, k_norm, eps, cos, sin, keys, values, slot_T, position_T, room,
        Q=queries, K=heads, D=width, HAS_NORM=norms is not None, num_warps=1,
    )  # fmt: skip


def attend(
    qkv_TW: Tensor, out_TQD: Tensor, keys: Tensor, values: Tensor, slot_T: Tensor, position_T: Tensor,
    first: int, tiles: int, tile: int, scale: float,
) -> None:  # fmt: skip
    """Attention of `tiles` x `tile` rows of the stream from row `first` on. A tile's rows are consecutive tokens of one
    slot, and each sees its slot up to its own position."""
    _, heads, room, width = keys.shape
    queries = out_TQD.shape[1]
    group = queries // heads
    rows = max(16, triton.next_power_of_2(tile * group))
    # Measured on an H200: few programs need more loads in flight.
    settings: dict[str, Any] = {"num_warps": 4, "num_stages": 2 if tiles * heads >= 512 else 3}
    _attend[(tiles, heads)](
        qkv_TW, out_TQD, keys, values, slot_T, position_T, first, room, scale * 1.4426950408889634,
        TILE=tile, GROUP=group, ROWS=rows, Q=queries, K=heads, D=width, BLOCK=64 if width <= 128 else 32,
        IEEE=qkv_TW.dtype == torch.float32, **settings,
    )  # fmt: skip


@triton.jit
def _rotate_and_store(
    qkv, q_norm, k_norm, eps, cos, sin, keys, values, slot_T, position_T, room,
    Q: tl.constexpr, K: tl.constexpr, D: tl.constexpr, HAS_NORM: tl.constexpr,
):  # fmt: skip
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    slot, position = tl.load(slot_T + row), tl.load(position_T + row)
    half = tl.arange(0, D // 2)
    source = qkv + row * ((Q + 2 * K) * D) + head * D + half
    low, high = tl.load(source), tl.load(source + D // 2)
    kind = low.dtype
    if head < Q + K:
        x, y = low.to(tl.float32), high.to(tl.float32)
        if HAS_NORM:
            scale = tl.rsqrt((tl.sum(x * x, 0) + tl.sum(y * y, 0)) / D + eps)
            norm = q_norm if head < Q else k_norm
            x = (x * scale).to(kind).to(tl.float32) * tl.load(norm + half).to(tl.float32)
            y = (y * scale).to(kind).to(tl.float32) * tl.load(norm + D // 2 + half).to(tl.float32)
        c = tl.load(cos + position * D + half).to(tl.float32)
        s = tl.load(sin + position * D + half).to(tl.float32)
        low, high = (x * c - y * s).to(kind), (y * c + x * s).to(kind)
    if head < Q:
        tl.store(source, low)
        tl.store(source + D // 2, high)
    elif head < Q + K:
        target = keys + ((slot * K + head - Q) * room + position) * D + half
        tl.store(target, low)
        tl.store(target + D // 2, high)
    else:
        target = values + ((slot * K + head - Q - K) * room + position) * D + half
        tl.store(target, low)
        tl.store(target + D // 2, high)


@triton.jit
def _attend(
    qkv, out, keys, values, slot_T, position_T, first, room, scale,
    TILE: tl.constexpr, GROUP: tl.constexpr, ROWS: tl.constexpr, Q: tl.constexpr, K: tl.constexpr, D: tl.constexpr,
    BLOCK: tl.constexpr, IEEE: tl.constexpr,
):  # fmt: skip
    start, head = first + tl.program_id(0).to(tl.int64) * TILE, tl.program_id(1)
    slot, position = tl.load(slot_T + start), tl.load(position_T + start)
    # Rows of the score matrix: the query heads of the tile's first token, then of its second, and so on.
    r = tl.arange(0, ROWS)
    token, query = r // GROUP, head * GROUP + r % GROUP
    used = token < TILE
    d, column = tl.arange(0, D), tl.arange(0, BLOCK)
    q = tl.load(qkv + (start + token)[:, None] * ((Q + 2 * K) * D) + query[:, None] * D + d[None, :],
                mask=used[:, None], other=0.0)  # fmt: skip
    base = (slot * K + head) * room * D
    top = tl.full([ROWS], -1e30, tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    sums = tl.zeros([ROWS, D], tl.float32)
    seen = tl.minimum(position + TILE, room)
    for at in range(0, seen, BLOCK):
        cells = base + (at + column)[:, None] * D + d[None, :]
        inside = (at + column < seen)[:, None]
        k = tl.load(keys + cells, mask=inside, other=0.0)
        v = tl.load(values + cells, mask=inside, other=0.0)
        score = tl.dot(q, tl.trans(k), input_precision="ieee" if IEEE else "tf32") * scale
        score = tl.where((at + column)[None, :] <= (position + token)[:, None], score, -1e30)
        new_top = tl.maximum(top, tl.max(score, 1))
        weight = tl.exp2(score - new_top[:, None])
        shrink = tl.exp2(top - new_top)
        total = total * shrink + tl.sum(weight, 1)
        sums = sums * shrink[:, None] + tl.dot(weight.to(v.dtype), v, input_precision="ieee" if IEEE else "tf32")
        top = new_top
    result = (sums / total[:, None]).to(out.dtype.element_ty)
    tl.store(out + ((start + token)[:, None] * Q + query[:, None]) * D + d[None, :], result, mask=used[:, None])
