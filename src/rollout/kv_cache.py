"""Key-value cache of many dialogues, of which a forward pass reads only the new tokens.

One pass reads all slots that have new tokens, whether that is the one token just sampled or a whole reply, packed into
a stream without padding (see `attention.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pad, scaled_dot_product_attention

from .attention import hidden_states, unwrap
from .sampling import SampledTokens, sample_tokens

ROUND = 64
"""On a GPU attention reads the cache up to a multiple of this depth, so that few shapes occur."""
INVARIANT_ROWS = 4
"""If the number of rows is a multiple of this, a matrix product on a CPU rounds each row the same whatever the other
rows are; remaining rows take another kernel. Measured with torch 2.13 in float32 (`bench/distributed.py rounding`)."""


class KVCache:
    """Keys and values of up to `count` dialogues of `room` tokens each, allocated once.

    The rollout backend `cpu`, which works on every device (see `scheduler.Backend`).
    """

    ahead = 0
    tile: int | None = None
    max_prefill = 16_384
    """More tokens in one pass would take more memory and save no time."""

    def __init__(
        self,
        model: nn.Module,
        count: int,
        room: int,
        device: torch.device,
        dtype: torch.dtype,
        batch_invariant: bool = False,
    ) -> None:
        base: Any = unwrap(model)
        self._base, config = base, base.config
        self.count, self.room = count, room
        self.row_multiple = INVARIANT_ROWS if batch_invariant and device.type == "cpu" else 1
        """Passes, logits and attention are computed for a multiple of this many rows; blank rows are discarded."""
        self.min_prefill = 2 if self.row_multiple > 1 else 1
        attention = base.get_decoder().layers[0].self_attn
        self.groups = int(attention.num_key_value_groups)
        depth = -(-room // self.row_multiple) * self.row_multiple
        shape = (config.num_hidden_layers, count, config.num_key_value_heads, depth, attention.head_dim)
        # Zeros, because masked entries are still multiplied.
        self.keys = torch.zeros(shape, dtype=dtype, device=device)
        self.values = torch.zeros(shape, dtype=dtype, device=device)
        self.lengths = [0] * count
        """Tokens read so far in each slot."""
        self.padded = device.type != "cpu"
        """On a GPU some padding in attention is faster than many small kernels."""

    def copy_prefix(self, slot: int, source: int, start: int, end: int) -> None:
        """Copies tokens `start` to `end` from `source`, which has read the same tokens."""
        if source != slot and start < end:
            self.keys[:, slot, :, start:end] = self.keys[:, source, :, start:end]
            self.values[:, slot, :, start:end] = self.values[:, source, :, start:end]
        self.lengths[slot] = end

    def start(
        self, pieces: Sequence[tuple[int, Sequence[int]]], temperature: float, uniform_N: np.ndarray | None
    ) -> Callable[[], SampledTokens]:
        logits_NV, hidden_NH = self.read(pieces)
        sampled = SampledTokens(*sample_tokens(logits_NV, temperature, uniform_N), hidden_NH)
        return lambda: sampled

    def read(self, pieces: Sequence[tuple[int, Sequence[int]]]) -> tuple[Tensor, Tensor]:
        """Reads new tokens, as pairs of slot and tokens. Returns logits and hidden states after each piece."""
        order = sorted(range(len(pieces)), key=lambda i: len(pieces[i][1]) > 1)
        plan = CachePlan(self, [(pieces[i][0], len(pieces[i][1])) for i in order])
        tokens = np.fromiter((token for i in order for token in pieces[i][1]), np.int64)
        last = np.empty(len(order), np.int64)
        last[order] = plan.ends - 1
        for slot, new in pieces:
            self.lengths[slot] += len(new)
        tokens, last = self.with_blanks(tokens), self.with_blanks(last)
        hidden = hidden_states(self._base, self.put(tokens), plan).index_select(0, self.put(last))
        return self._base.get_output_embeddings()(hidden)[: len(order)], hidden[: len(order)]

    def with_blanks(self, row_T: Any) -> Any:
        """Adds zeros up to a multiple of `row_multiple`."""
        blank = -len(row_T) % self.row_multiple
        return np.pad(row_T, (0, blank)) if blank else row_T

    def put(self, array: Any) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.keys.device, non_blocking=True)


class CachePlan:
    """The attention plan of a pass over the cache: slots that read a single token first, then those that read more.

    The slots with a single token are one batch. If they are at least half of all slots, the batch covers all slots: the
    cache is then read in place, and the results of the other slots are discarded.
    """

    def __init__(self, slots: KVCache, pieces: Sequence[tuple[int, int]]) -> None:
        self.slots, self.padded = slots, slots.padded
        heads, room = slots.keys.shape[2:4]
        slot_S, length_S = (np.array(column) for column in zip(*pieces, strict=True))
        start_S = np.array(slots.lengths)[slot_S]
        self.ends = np.array(list(accumulate(length_S)))
        position_T = np.arange(self.ends[-1]) + np.repeat(start_S - self.ends + length_S, length_S)
        cells = (np.repeat(slot_S, length_S) * heads * room + position_T)[:, None] + np.arange(heads) * room
        self.cells = slots.put(cells.ravel())
        self.positions_1T = slots.put(slots.with_blanks(position_T)[None])

        self.single = n = int((length_S == 1).sum())
        if n:
            self._plan_single(slot_S[:n], start_S[:n] + 1)
        self.long = list(zip(slot_S[n:].tolist(), start_S[n:].tolist(), length_S[n:].tolist(), strict=True))
        if self.long and not self.padded:
            self.blanks = [-m % slots.row_multiple for _, _, m in self.long]
            self.masks = [
                torch.ones(m + blank, start + m, dtype=torch.bool).tril(start)
                for (_, start, m), blank in zip(self.long, self.blanks, strict=True)
            ]
        elif self.long:
            self._plan_long(slot_S[n:], start_S[n:], length_S[n:])

    def _plan_single(self, slot: Any, seen: Any) -> None:
        count, heads = self.slots.keys.shape[1:3]
        self.all = 2 * len(slot) >= count
        self.slot = self.slots.put(slot)
        self.in_place = self.all and np.array_equal(slot, np.arange(count))
        if self.all:
            seen_by_slot = np.ones(count, np.int64)
            seen_by_slot[slot] = seen
            seen = seen_by_slot
        self.depth = self._depth(int(seen.max()))
        hidden = torch.arange(self.depth, device=self.slots.keys.device) >= self.slots.put(seen)[:, None]
        if not self.padded:
            additive = torch.zeros(hidden.shape).masked_fill_(hidden, -torch.inf)
            self.mask = additive[:, None, None].expand(-1, heads, self.slots.groups, -1).flatten(0, 1)
        else:
            self.mask = ~hidden[:, None, None]

    def _plan_long(self, slot: Any, start: Any, length: Any) -> None:
        """One row per slot, padded at the end; the padding is not read again."""
        put, longest = self.slots.put, int(length.max())
        self.long_slot, self.long_depth = put(slot), self._depth(int((start + length).max()))
        first = self.ends[self.single :] - length
        self.rows = put(np.minimum(first[:, None] + np.arange(longest), self.ends[-1] - 1))
        inside = np.arange(longest) < length[:, None]
        self.long_cells = put(np.flatnonzero(inside))
        position = put(start[:, None] + np.arange(longest))
        seen = torch.arange(self.long_depth, device=position.device) <= position[..., None]
        self.long_mask = seen.repeat(1, self.slots.groups, 1)[:, None]

    def _depth(self, length: int) -> int:
        """Depth to which attention reads the cache, for slots of at most this length."""
        step = ROUND if self.padded else self.slots.row_multiple
        return min(-(-length // step) * step, self.slots.keys.shape[3])

    def attend(self, module: Any, query: Tensor, key: Tensor, value: Tensor, scale: float, dropout: float) -> Tensor:
        keys, values = self.slots.keys[module.layer_idx], self.slots.values[module.layer_idx]
        for cache, new in ((keys, key), (values, value)):
            # Without the blank rows at the end of a padded pass.
            rows = new[0, :, : self.ends[-1]].transpose(0, 1).reshape(-1, cache.shape[-1])
            cache.view(-1, cache.shape[-1]).index_copy_(0, self.cells, rows.to(cache.dtype))
        query_THD = query[0].transpose(0, 1).to(keys.dtype)
        out = [self._single(query_THD[: self.single], keys, values, scale)] if self.single else []
        if self.long and not self.padded:
            end = self.single
            for (slot, start, length), blank, mask in zip(self.long, self.blanks, self.masks, strict=True):
                q = pad(query_THD[None, end : end + length].transpose(1, 2), (0, 0, 0, blank))
                k, v = (x[None, slot, :, : start + length] for x in (keys, values))
                seen = {"attn_mask": mask} if start else {"is_causal": True}
                read = scaled_dot_product_attention(q, k, v, scale=scale, enable_gqa=True, **seen)
                out.append(read[0, :, :length].transpose(0, 1))
                end += length
        elif self.long:
            out.append(self._long(query_THD, keys, values, scale))
        if blank := len(query_THD) - int(self.ends[-1]):
            out.append(query_THD.new_zeros((blank, *query_THD.shape[1:])))
        return torch.cat(out)[None]

    def _single(self, query: Tensor, keys: Tensor, values: Tensor, scale: float) -> Tensor:
        if self.all and not self.in_place:
            query = query.new_zeros((len(keys), *query.shape[1:])).index_copy_(0, self.slot, query)
        if not self.all:
            keys, values = keys[self.slot, :, : self.depth], values[self.slot, :, : self.depth]
        k, v = keys[:, :, : self.depth], values[:, :, : self.depth]
        # Query heads that share a key-value head are treated as tokens that see the same keys.
        q = query.view(len(query), k.shape[1], self.slots.groups, -1)
        if not self.padded:
            k, v, q = k.flatten(0, 1), v.flatten(0, 1), q.flatten(0, 1)
            weight = torch.baddbmm(self.mask, q, k.transpose(1, 2), alpha=scale).softmax(-1)
            out = torch.bmm(weight, v)
        else:
            out = scaled_dot_product_attention(q, k, v, attn_mask=self.mask, scale=scale)
        out = out.reshape(query.shape)
        return out if self.in_place or not self.all else out.index_select(0, self.slot)

    def _long(self, query_THD: Tensor, keys: Tensor, values: Tensor, scale: float) -> Tensor:
        k, v = (x[self.long_slot, :, : self.long_depth] for x in (keys, values))
        q = query_THD[self.rows].view(*self.rows.shape, k.shape[1], self.slots.groups, -1).permute(0, 2, 3, 1, 4)
        out = scaled_dot_product_attention(q.flatten(2, 3), k, v, attn_mask=self.long_mask, scale=scale)
        rows = out.view(q.shape).permute(0, 3, 1, 2, 4).flatten(0, 1).flatten(1, 2)
        return rows.index_select(0, self.long_cells)
