"""Which weights learn, what the frozen base computes, and which settings are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from src.config.train_config import FinetuneSection
from src.core.errors import BadInput
from src.engines.models import compile_layers, frozen_base, load_policy, load_trained, save_policy

CPU = torch.device("cpu")
ALL = ("q_proj", "v_proj")
IDS = torch.tensor([[3, 1, 4, 1, 5]])


def test_the_frozen_base_does_not_change_while_the_policy_learns(taught: Path) -> None:
    for method in ("full", "lora"):
        policy = load_policy(str(taught), FinetuneSection(method=method, rank=2), ("q_proj",), CPU, torch.float32)
        frozen = frozen_base(policy, torch.float32)
        with torch.no_grad():
            before = policy(input_ids=IDS).logits
            for weight in policy.parameters():
                if weight.requires_grad:
                    weight.add_(0.1)
            with frozen() as base:
                assert torch.equal(base(input_ids=IDS).logits, before)
            assert not torch.allclose(policy(input_ids=IDS).logits, before)


def test_adapters_cost_no_second_model(taught: Path) -> None:
    policy = load_policy(str(taught), FinetuneSection(method="lora", rank=2), ("q_proj",), CPU, torch.float32)
    with frozen_base(policy, torch.float32)() as base:
        assert base is policy
    learning = [name for name, weight in policy.named_parameters() if weight.requires_grad]
    assert learning
    assert all("lora_" in name and "q_proj" in name for name in learning)


def test_trained_weights_are_float32_and_frozen_ones_in_the_dtype(taught: Path) -> None:
    whole = load_policy(str(taught), FinetuneSection(), ALL, CPU, torch.bfloat16)
    assert {weight.dtype for weight in whole.parameters()} == {torch.float32}
    adapted = load_policy(str(taught), FinetuneSection(method="lora", rank=2), ALL, CPU, torch.bfloat16)
    kinds = {weight.requires_grad: weight.dtype for weight in adapted.parameters()}
    assert kinds == {True: torch.float32, False: torch.bfloat16}


@pytest.mark.parametrize("method", ["full", "lora"])
def test_a_saved_policy_computes_the_same_when_it_is_loaded(taught: Path, tmp_path: Path, method: Any) -> None:
    finetune = FinetuneSection(method=method, rank=2)
    policy = load_policy(str(taught), finetune, ("q_proj",), CPU, torch.float32)
    with torch.no_grad():
        for weight in policy.parameters():
            if weight.requires_grad:
                weight.add_(0.1)
        save_policy(policy, str(taught), tmp_path / "saved")
        again = load_trained(tmp_path / "saved", str(taught), finetune, CPU, torch.float32)
        assert torch.equal(again(input_ids=IDS).logits, policy(input_ids=IDS).logits)


@pytest.mark.parametrize(
    ("model", "method", "message"),
    [
        ("taught", "qlora", "4-bit weights need CUDA"),
        ("taught", "lora", "no module w_pack"),
        ("empty", "full", "has no weights: *.safetensors is missing"),
        ("damaged", "full", "no model can be loaded from there"),
    ],
)
def test_an_unloadable_model_is_refused_in_one_line(
    taught: Path, tmp_path: Path, model: str, method: Any, message: str
) -> None:
    folder = taught if model == "taught" else tmp_path
    if model == "damaged":
        (folder / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(BadInput) as refused:
        load_policy(str(folder), FinetuneSection(method=method), ("q_proj", "w_pack"), CPU, torch.float32)
    assert message in str(refused.value)
    assert "What to do" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_compiled_layers_stay_plain_outside_training(taught: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`generate` and rollouts over the cache pass other arguments than training; they must not be compiled."""

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("a compiled layer was called")

    policy = load_policy(str(taught), FinetuneSection(), (), CPU, torch.float32)
    before = policy.generate(IDS, max_new_tokens=4, do_sample=False)
    monkeypatch.setattr(torch, "compile", lambda function, **options: refuse)
    compile_layers(policy)
    assert torch.equal(policy.generate(IDS, max_new_tokens=4, do_sample=False), before)
