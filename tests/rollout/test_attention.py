"""A packed forward pass equals the ordinary forward pass of each sequence, without padding."""

from __future__ import annotations

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from src.core.errors import BadInput
from tests.rollout.packed import packed_logits

torch.set_num_threads(1)
SIZE = {
    "vocab_size": 512,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "tie_word_embeddings": True,
}
LENGTHS = (5, 1, 17, 9)


def qwen3() -> PreTrainedModel:
    return Qwen3ForCausalLM(Qwen3Config(**SIZE, head_dim=16))


def qwen2() -> PreTrainedModel:
    return Qwen2ForCausalLM(Qwen2Config(**SIZE))


def llama() -> PreTrainedModel:
    return LlamaForCausalLM(LlamaConfig(**SIZE))


def made(make) -> PreTrainedModel:
    torch.manual_seed(0)
    model = make()
    # Fresh weights are so small that every token looks alike.
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(5)
    return model


def stream() -> torch.Tensor:
    return torch.randint(0, 512, (sum(LENGTHS),), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("make", [qwen3, qwen2, llama])
def test_packed_logits_and_gradients_equal_unpacked_ones(make) -> None:
    plain, packed = made(make), made(make)
    tokens = stream()

    alone = torch.cat([plain(part[None]).logits[0] for part in tokens.split(LENGTHS)])
    logits = packed_logits(packed, tokens, LENGTHS)
    assert logits.std() > 0.5
    torch.testing.assert_close(logits, alone, atol=1e-5, rtol=1e-5)

    weights = torch.linspace(-1, 1, alone.numel()).view_as(alone)
    (alone.log_softmax(-1) * weights).sum().backward()
    (logits.log_softmax(-1) * weights).sum().backward()
    for (name, one), two in zip(plain.named_parameters(), packed.parameters(), strict=True):
        scale = one.grad.abs().max()
        torch.testing.assert_close(two.grad / scale, one.grad / scale, atol=1e-5, rtol=0, msg=lambda m, n=name: n + m)


def test_a_model_that_ran_packed_still_runs_as_before() -> None:
    model, tokens = made(qwen3), stream()
    batch = tokens[:30].view(2, 15)
    mask = torch.ones_like(batch)
    mask[0, :6] = 0
    before = model(batch, attention_mask=mask).logits
    said = model.generate(tokens[None, :9], max_new_tokens=8, do_sample=False)
    packed_logits(model, tokens, LENGTHS)
    torch.testing.assert_close(model(batch, attention_mask=mask).logits, before)
    assert torch.equal(model.generate(tokens[None, :9], max_new_tokens=8, do_sample=False), said)


def test_adapters_take_part_and_get_gradients() -> None:
    tokens = stream()
    plain = packed_logits(made(qwen3), tokens, LENGTHS)
    model = get_peft_model(made(qwen3), LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False))
    adapted = packed_logits(model, tokens, LENGTHS)
    torch.testing.assert_close(adapted[:5], model(tokens[None, :5]).logits[0], atol=1e-5, rtol=1e-5)
    assert (adapted - plain).abs().max() > 1e-2
    with model.disable_adapter():
        torch.testing.assert_close(packed_logits(model, tokens, LENGTHS), plain, atol=1e-5, rtol=1e-5)
    adapted.square().mean().backward()
    grads = [weight.grad for weight in model.parameters() if weight.requires_grad]
    assert grads
    assert all(grad is not None and grad.abs().max() > 0 for grad in grads)


def test_gradient_checkpointing_changes_nothing() -> None:
    tokens = stream()
    grads = []
    for on in (False, True):
        model = made(qwen3).train()
        if on:
            model.gradient_checkpointing_enable()
        packed_logits(model, tokens, LENGTHS).square().mean().backward()
        grads.append(model.model.embed_tokens.weight.grad)
    torch.testing.assert_close(grads[0], grads[1])


def test_sliding_windows_and_foreign_models_are_refused() -> None:
    window = Qwen3ForCausalLM(
        Qwen3Config(**SIZE, head_dim=16, use_sliding_window=True, sliding_window=4, max_window_layers=0)
    )
    with pytest.raises(BadInput, match="sliding window"):
        packed_logits(window, stream(), LENGTHS)
    with pytest.raises(BadInput, match="Linear"):
        packed_logits(torch.nn.Linear(2, 2), stream(), LENGTHS)
    with pytest.raises(ValueError, match="the plan is for 7 tokens"):
        packed_logits(made(qwen3), stream(), (3, 4))
