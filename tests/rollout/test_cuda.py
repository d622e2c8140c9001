"""The CUDA backend gives the episodes of the model itself. On a machine without CUDA its step runs uncompiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from peft import LoraConfig, get_peft_model
from torch import nn
from transformers import PreTrainedModel, Qwen3Config, Qwen3ForCausalLM

from askgate_env.types import Sample
from src.agents.render import TagRenderer
from src.agents.trajectory import Trajectory
from src.core.errors import BadInput
from src.rollout import cuda
from src.rollout.cuda import CudaBackend, cuda_backend
from src.rollout.sampling import BLOCK, sample_blocks, sample_tokens
from tests.rollout.test_attention import SIZE, llama, made, qwen2, qwen3
from tests.rollout.test_scheduler import model, one_thread, renderer, roll_out

__all__ = ["model", "one_thread", "renderer"]
CPU = torch.device("cpu")
ON_CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no CUDA device")


def backend_of(model: nn.Module, slots: int = 6, room: int = 200, device: torch.device = CPU) -> CudaBackend:
    dtype = next(model.parameters()).dtype
    with torch.inference_mode():
        return cuda_backend(model, slots, room, device, dtype)


def assert_reads_like_forward(backend: CudaBackend, plain: Any, steps: int, tolerance: float, vocab: int = 512) -> None:
    """Reads random pieces, mostly one step late, and compares hidden states and tokens with a forward pass."""
    dice = Random(0)
    read: list[list[int]] = [[] for _ in range(backend.count)]
    device = backend.device
    for step in range(steps):
        who = range(backend.count) if step % 3 == 0 else sorted(dice.sample(range(backend.count), 2))
        sizes = [dice.choice([1, 1, 1, 2, 9, 37]) if step % 2 or not read[slot] else 1 for slot in who]
        pieces = [(s, dice.choices(range(vocab), k=size)) for s, size in zip(who, sizes, strict=True)]
        pieces = [(s, new) for s, new in pieces if len(read[s]) + len(new) <= backend.room]
        with torch.inference_mode():
            tokens, logps, hidden = backend.start(pieces, 1.0, None)()
        for (slot, new), token, logp, row in zip(pieces, tokens, logps, hidden, strict=True):
            read[slot] += new
            with torch.no_grad():
                out = plain(torch.tensor([read[slot]], device=device), output_hidden_states=True)
            expected = out.logits[0, -1].float().log_softmax(-1)
            assert abs(logp - float(expected[token])) < tolerance
            assert float(expected.max() - expected[token]) < tolerance
            torch.testing.assert_close(
                row.float(), out.hidden_states[-1][0, -1].float(), atol=tolerance, rtol=tolerance
            )
        assert backend.lengths == [len(tokens) for tokens in read]


@pytest.mark.parametrize("make", [qwen3, qwen2, llama])
def test_a_step_gives_the_logits_of_the_models_own_forward(make: Callable[[], PreTrainedModel]) -> None:
    assert_reads_like_forward(backend_of(made(make)), made(make), 24, 5e-5)


def test_a_token_unread_by_the_host_comes_from_the_device() -> None:
    model = made(qwen3)
    backend = backend_of(model, slots=3, room=64)
    with torch.inference_mode():
        prompts = [(2, [5, 6, 7]), (0, [9, 8]), (1, [3])]
        late = [backend.start(prompts, 1.0, None)]
        # Another order, and one slot less: rows of the two steps differ.
        late += [backend.start([(0, []), (2, [])], 1.0, None) for _ in range(1)]
        late += [backend.start([(2, [])], 1.0, None)]
        first, second, third = [wait() for wait in late]
    said = [first.tokens[0], second.tokens[1], third.tokens[0]]
    expected = made(qwen3).generate(torch.tensor([[5, 6, 7]]), max_new_tokens=3, do_sample=False)[0, 3:]
    assert said == expected.tolist()


@pytest.mark.parametrize("slots", [1, 3, 64])
@pytest.mark.parametrize("greedy", [True, False])
def test_episodes_equal_those_of_the_cpu_backend(model, renderer, pool, greedy: bool, slots: int) -> None:
    samples = [sample for sample in pool[:5] for _ in range(3)]
    assert_same(
        roll_out(model, renderer, samples, greedy=greedy, slots=slots, backend="cuda", keep_hidden=True),
        roll_out(model, renderer, samples, greedy=greedy, slots=4, keep_hidden=True),
    )


def test_an_episode_does_not_depend_on_the_episodes_beside_it(model, renderer, pool) -> None:
    """The first episodes are the same whatever follows: each has its own random stream."""
    few = roll_out(model, renderer, pool[:4], slots=2, backend="cuda")
    many = roll_out(model, renderer, [*pool[:4], *pool[20:30]], slots=7, backend="cuda")
    assert_same(few, many[:4])


def test_chunked_prefill_equals_one_prefill(model, renderer, pool, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = [sample for sample in pool[:6] for _ in range(2)]
    whole = roll_out(model, renderer, samples, slots=5, backend="cuda")
    monkeypatch.setattr(CudaBackend, "max_prefill", 2 * cuda.TILE)
    passes = []
    start = CudaBackend.start
    monkeypatch.setattr(
        CudaBackend, "start", lambda self, pieces, *rest: (passes.append(pieces), start(self, pieces, *rest))[1]
    )
    assert_same(roll_out(model, renderer, samples, slots=5, backend="cuda"), whole)
    sizes = [[len(tokens) for _, tokens in pieces if len(tokens) > 1] for pieces in passes]
    assert max(map(sum, sizes)) <= 2 * cuda.TILE
    assert max(len(renderer.opening(sample.prompt)) for sample in samples) > 2 * cuda.TILE


def test_prefixes_are_copied_between_slots(model, renderer, pool, monkeypatch: pytest.MonkeyPatch) -> None:
    copied = []
    copy = CudaBackend.copy_prefix
    monkeypatch.setattr(
        CudaBackend, "copy_prefix", lambda self, slot, source, start, end: (
            copied.append(end - start if source != slot else 0), copy(self, slot, source, start, end)
        )[1],
    )  # fmt: skip
    roll_out(model, renderer, [pool[0]] * 4, slots=4, backend="cuda")
    assert sum(size > cuda.TILE for size in copied) >= 3


def test_the_copy_merges_adapters_and_leaves_the_base_alone() -> None:
    torch.manual_seed(0)
    adapted = get_peft_model(
        made(qwen3), LoraConfig(r=4, target_modules=["q_proj", "v_proj", "down_proj"], init_lora_weights=False)
    )
    before = {name: weight.detach().clone() for name, weight in adapted.named_parameters()}
    backend = backend_of(adapted)
    assert_reads_like_forward(backend, adapted, 9, 5e-5)
    assert all(torch.equal(before[name], weight) for name, weight in adapted.named_parameters())

    places = [layer.qkv.data_ptr() for layer in backend.weights.layers]
    old = [layer.down.clone() for layer in backend.weights.layers]
    with torch.no_grad():
        for name, weight in adapted.named_parameters():
            if "lora_B" in name:
                weight.mul_(-2)
    again = backend_of(adapted)
    assert again is backend
    assert [layer.qkv.data_ptr() for layer in again.weights.layers] == places
    assert not any(torch.equal(layer.down, down) for layer, down in zip(again.weights.layers, old, strict=True))
    assert_reads_like_forward(again, adapted, 9, 5e-5)
    with adapted.disable_adapter():
        assert_reads_like_forward(backend_of(adapted), adapted, 3, 5e-5)


@pytest.mark.parametrize("words", [BLOCK, 3 * BLOCK, 700, 40])
def test_sampling_in_blocks_picks_the_same_tokens(words: int) -> None:
    logits = 3 * torch.randn(400, words, generator=torch.Generator().manual_seed(1))
    logits[:, -1] = -torch.inf
    uniform = np.random.default_rng(3).random(400)
    uniform[:2] = 0.0, 1 - 2**-53
    expected, logps = sample_tokens(logits, 0.7, uniform)
    token_N, logp_N = sample_blocks(logits, 0.7, torch.from_numpy(uniform))
    assert np.mean(token_N.numpy() == expected) > 0.99
    assert torch.isfinite(logp_N).all()
    same = token_N.numpy() == expected
    assert np.allclose(logp_N.numpy()[same], np.array(logps)[same], atol=1e-5)
    best, _ = sample_blocks(logits, 0.7, torch.full((400,), -1.0, dtype=torch.float64))
    assert torch.equal(best, logits.argmax(-1))


def test_models_that_the_step_does_not_compute_are_refused() -> None:
    window = Qwen3ForCausalLM(
        Qwen3Config(**SIZE, head_dim=16, use_sliding_window=True, sliding_window=4, max_window_layers=0)
    )
    with pytest.raises(BadInput, match="sliding window"):
        backend_of(window)
    embedded = get_peft_model(made(qwen3), LoraConfig(r=4, target_modules=["embed_tokens"]))
    with pytest.raises(BadInput, match="embedding has an adapter"):
        backend_of(embedded)


def test_a_diverged_policy_raises(model, renderer, pool) -> None:
    broken = Qwen3ForCausalLM(model.config)
    with torch.no_grad():
        broken.lm_head.weight.fill_(float("nan"))
    with pytest.raises(FloatingPointError, match="diverged"):
        roll_out(broken, renderer, pool[:2], backend="cuda")


def assert_same(one: Sequence[Trajectory], two: Sequence[Trajectory]) -> None:
    assert len(one) == len(two)
    for a, b in zip(one, two, strict=True):
        assert a.tokens.tolist() == b.tokens.tolist()
        assert a.policy.tolist() == b.policy.tolist()
        assert np.allclose(a.logp, b.logp, atol=2e-5)
        assert a.episode == b.episode
        if a.hidden_NH is not None and b.hidden_NH is not None:
            torch.testing.assert_close(a.hidden_NH, b.hidden_NH, atol=1e-4, rtol=1e-4)
            assert len(a.hidden_NH) == int(a.policy.sum())


# The rest runs where there is CUDA: kernels, compiler and graphs.


def on_cuda(make: Callable[[], PreTrainedModel], dtype: torch.dtype) -> PreTrainedModel:
    return made(make).to("cuda", dtype)  # type: ignore[no-any-return]


def grouped(heads: int, kv_heads: int, head_dim: int) -> Callable[[], PreTrainedModel]:
    size = {**SIZE, "num_attention_heads": heads, "num_key_value_heads": kv_heads}
    return lambda: Qwen3ForCausalLM(Qwen3Config(**size, head_dim=head_dim))


@ON_CUDA
@pytest.mark.parametrize(
    "make", [qwen3, qwen2, llama, grouped(6, 2, 32), grouped(8, 2, 128), grouped(4, 4, 64), grouped(4, 2, 8)]
)
def test_a_captured_step_gives_the_models_own_logits(make: Callable[[], PreTrainedModel]) -> None:
    torch.backends.cuda.matmul.allow_tf32 = False
    backend = backend_of(on_cuda(make, torch.float32), device=torch.device("cuda"))
    assert_reads_like_forward(backend, on_cuda(make, torch.float32), 15, 1e-3)


@ON_CUDA
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_a_captured_step_in_16_bits_is_close(dtype: torch.dtype) -> None:
    model = on_cuda(grouped(8, 2, 64), dtype)
    assert_reads_like_forward(
        backend_of(model, device=torch.device("cuda")), on_cuda(grouped(8, 2, 64), dtype), 15, 0.5
    )


@ON_CUDA
def test_episodes_on_cuda_repeat_and_match_the_cpu(model, renderer: TagRenderer, pool: list[Sample]) -> None:
    device = torch.device("cuda")
    there = Qwen3ForCausalLM(model.config).to(device)
    there.load_state_dict(model.state_dict())
    samples = [sample for sample in pool[:8] for _ in range(4)]

    def run(slots: int = 16, **settings: Any) -> list[Trajectory]:
        return roll_out(there, renderer, samples, device=device, slots=slots,
                    generator=torch.Generator().manual_seed(5), **settings)  # fmt: skip

    one, again = run(), run()
    assert [a.tokens.tolist() for a in one] == [b.tokens.tolist() for b in again]
    assert [a.logp.tolist() for a in one] == [b.logp.tolist() for b in again]
    reference = roll_out(model, renderer, samples, slots=16, generator=torch.Generator().manual_seed(5))
    same = [a.tokens.tolist() == b.tokens.tolist() for a, b in zip(one, reference, strict=True)]
    assert np.mean(same) > 0.9
    other_slots = run(slots=5)
    assert np.mean([a.tokens.tolist() == b.tokens.tolist() for a, b in zip(one, other_slots, strict=True)]) > 0.9


def test_a_card_with_little_memory_gets_fewer_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    model = made(qwen3)
    whole = backend_of(model, slots=6, room=50)
    copied = sum(x.numel() for layer in whole.weights.layers for x in (layer.qkv, layer.out, layer.gate_up, layer.down))
    per_slot = 4 * sum(cache[0].numel() for cache in (*whole.keys, *whole.values))
    free = (4 * copied + 4.5 * per_slot) / cuda.FREE_SHARE
    monkeypatch.setattr(cuda, "free_bytes", lambda device: int(free))
    fewer = backend_of(made(qwen3), slots=6, room=50)
    assert (fewer.count, fewer.requested) == (3, 6)
    monkeypatch.setattr(cuda, "free_bytes", lambda device: 4 * copied)
    with pytest.raises(BadInput, match="a copy of the weights and one dialogue of 50 tokens"):
        backend_of(made(qwen3), slots=6, room=50)


def test_a_backend_with_fewer_slots_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory that it takes is no longer free, and must not make the next one smaller."""
    model = made(qwen3)
    monkeypatch.setattr(cuda, "fitting_slots", lambda *given: 2)
    first = backend_of(model, slots=6, room=50)
    monkeypatch.setattr(cuda, "fitting_slots", lambda *given: 1)
    assert backend_of(model, slots=6, room=50) is first
