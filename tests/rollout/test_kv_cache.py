"""A slot keeps what it has read: reading in parts gives the same result as reading all at once."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
import torch
from transformers import PreTrainedModel

from src.rollout.attention import SegmentPlan, hidden_states, unwrap
from src.rollout.kv_cache import KVCache
from tests.rollout.test_attention import LENGTHS, llama, made, qwen3, stream

CPU = torch.device("cpu")
WAYS = pytest.mark.parametrize("padded", [False, True], ids=["as on a CPU", "as on an accelerator"])


@WAYS
@pytest.mark.parametrize("make", [qwen3, llama])
def test_incremental_reads_equal_one_full_read(make: Callable[[], PreTrainedModel], padded: bool) -> None:
    model, plain = made(make), made(make)
    slots = KVCache(model, 6, 70, CPU, torch.float32)
    slots.padded = padded
    dice = Random(0)
    read: list[list[int]] = [[] for _ in range(6)]
    shapes = set()
    for step in range(24):
        # Now all slots, now some; now a token each, now a token here and a reply there.
        who = range(6) if step % 3 == 0 else sorted(dice.sample(range(6), dice.randint(1, 6)))
        pieces = [(s, dice.choices(range(512), k=dice.choice([1, 1, 1, 2, 9]) if step % 2 else 1)) for s in who]
        pieces = [(s, new) for s, new in pieces if len(read[s]) + len(new) <= 70]
        shapes.add((len(pieces) == 6, 2 * len(pieces) < 6, any(len(new) > 1 for _, new in pieces)))
        with torch.inference_mode():
            logits, _ = slots.read(pieces)
        for (slot, new), row in zip(pieces, logits, strict=True):
            read[slot] += new
            with torch.no_grad():
                torch.testing.assert_close(row, plain(torch.tensor([read[slot]])).logits[0, -1], atol=2e-5, rtol=1e-5)
        assert slots.lengths == [len(tokens) for tokens in read]
    assert len(shapes) >= 5


@WAYS
def test_a_slot_copies_a_prefix_from_another(padded: bool) -> None:
    model = made(qwen3)
    slots = KVCache(model, 3, 40, CPU, torch.float32)
    slots.padded = padded
    tokens = stream().tolist()
    with torch.inference_mode():
        slots.read([(2, tokens[:20]), (0, tokens[5:25])])
        slots.copy_prefix(0, 2, 0, 15)
        taken_over, _ = slots.read([(0, tokens[15:18])])
        read_anew, _ = slots.read([(1, tokens[:18])])
        slots.read([(0, tokens[18:19])])
        slots.read([(1, tokens[18:31])])
        slots.copy_prefix(0, 1, 19, 30)
        later, _ = slots.read([(0, tokens[30:31]), (2, tokens[20:31])])
    torch.testing.assert_close(taken_over, read_anew, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(later[0], later[1], atol=1e-5, rtol=1e-5)


def test_padded_attention_gives_the_same_result() -> None:
    grads = []
    for padded in (False, True):
        model = made(qwen3)
        hidden = hidden_states(unwrap(model), stream(), SegmentPlan(LENGTHS, CPU, padded))
        hidden.cumsum(-1).square().mean().backward()
        grads.append((hidden.detach(), model.model.embed_tokens.weight.grad))
    torch.testing.assert_close(grads[0][0], grads[1][0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(grads[0][1], grads[1][1], atol=1e-5, rtol=1e-4)
