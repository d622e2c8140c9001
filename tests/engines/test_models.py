"""Which weights learn, what the frozen base says, and which settings are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from src.core.errors import BadInput
from src.engines.job import Finetune
from src.engines.models import frozen_base, load_policy

CPU = torch.device("cpu")
IDS = torch.tensor([[3, 1, 4, 1, 5]])


def test_the_frozen_base_stays_where_it_was_while_the_policy_learns(taught: Path) -> None:
    for finetune in (Finetune(), Finetune("lora", rank=2, targets=("q_proj",))):
        policy = load_policy(str(taught), finetune, CPU, torch.float32)
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
    policy = load_policy(str(taught), Finetune("lora", rank=2, targets=("q_proj",)), CPU, torch.float32)
    with frozen_base(policy, torch.float32)() as base:
        assert base is policy
    learning = [name for name, weight in policy.named_parameters() if weight.requires_grad]
    assert learning
    assert all("lora_" in name and "q_proj" in name for name in learning)


def test_what_learns_is_float32_and_what_is_frozen_lies_in_the_dtype_of_the_arithmetic(taught: Path) -> None:
    whole = load_policy(str(taught), Finetune(), CPU, torch.bfloat16)
    assert {weight.dtype for weight in whole.parameters()} == {torch.float32}
    adapted = load_policy(str(taught), Finetune("lora", rank=2), CPU, torch.bfloat16)
    kinds = {weight.requires_grad: weight.dtype for weight in adapted.parameters()}
    assert kinds == {True: torch.float32, False: torch.bfloat16}


@pytest.mark.parametrize(
    ("model", "finetune", "told"),
    [
        ("taught", Finetune("qlora"), "4-bit weights need CUDA"),
        ("taught", Finetune("lora", targets=("q_proj", "w_pack")), "no module w_pack"),
        ("empty", Finetune(), "no model can be read from there"),
    ],
)
def test_what_cannot_be_loaded_is_told_in_one_line(
    taught: Path, tmp_path: Path, model: str, finetune: Finetune, told: str
) -> None:
    with pytest.raises(BadInput) as refused:
        load_policy(str(taught if model == "taught" else tmp_path), finetune, CPU, torch.float32)
    assert told in str(refused.value)
    assert "What to do" in str(refused.value)
    assert "\n" not in str(refused.value)
