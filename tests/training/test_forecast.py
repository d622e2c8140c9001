"""The forecast of a run: memory by part, what is fitted to the device, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import Qwen3Config

from src.config.loader import load_train_config
from src.config.train_config import TARGETS, TrainConfig
from src.core.errors import BadInput
from src.runtime.device import GB
from src.training.forecast import Memory, Shape, fit, forecast_memory

CUDA, BF16 = torch.device("cuda"), torch.bfloat16
QWEN3_4B = Shape.of(
    Qwen3Config(
        hidden_size=2560,
        intermediate_size=9728,
        num_hidden_layers=36,
        num_attention_heads=32,
        num_key_value_heads=8,
        head_dim=128,
        vocab_size=151_936,
        tie_word_embeddings=True,
    )
)
ALL = TARGETS[-1].modules


def scale(*changes: str) -> TrainConfig:
    return load_train_config(Path("configs/ppo_scale.yaml"), changes)


def fitted(config: TrainConfig, gigabytes: float) -> Memory:
    return fit(config, QWEN3_4B, CUDA, BF16, ALL, gigabytes * 1e9)


def test_weights_of_qwen3_4b() -> None:
    assert QWEN3_4B.linear + QWEN3_4B.embedding == pytest.approx(4.02e9, rel=0.01)
    assert QWEN3_4B.adapters(16, ALL) == 33_030_144


def test_a_token_of_the_cache_takes_144_kib() -> None:
    one, two = (forecast_memory(scale(), QWEN3_4B, CUDA, BF16, ALL, slots) for slots in (1, 2))
    per_token = (two.parts["key-value cache"] - one.parts["key-value cache"]) / 4096
    assert per_token == 144 * 1024


@pytest.mark.parametrize(
    ("pack", "checkpointing", "measured_gib"),
    [(8192, False, 38.8), (16_384, False, 69.8), (8192, True, 10.7), (16_384, True, 13.7)],
)
def test_activations_are_those_that_were_measured(pack: int, checkpointing: bool, measured_gib: float) -> None:
    """`bench/train_cuda.py` on an H200: LoRA without rollout, critic and context."""
    config = scale(
        "finetune.method=lora", f"optimizer.pack_tokens={pack}", f"optimizer.gradient_checkpointing={checkpointing}",
        "strategy=grpo", "warm_start=null",
    )  # fmt: skip
    found = forecast_memory(config, QWEN3_4B, CUDA, BF16, ALL)
    # That benchmark frees the gradients between passes and has no optimizer: 4 bytes a weight instead of 16.
    adapters = found.parts["trained weights and optimizer"] / 2
    assert (found.parts["weights"] + adapters + found.update) / GB == pytest.approx(measured_gib, rel=0.15)


def test_the_shipped_config_fits_a_card_with_24_gb() -> None:
    found = fitted(scale(), 24)
    assert 8 <= found.slots < 32
    assert found.pack_tokens == 4096
    assert found.peak < 24e9


def test_a_large_card_gets_what_the_config_says() -> None:
    config = scale()
    found = fitted(config, 150)
    assert (found.slots, found.pack_tokens) == (config.rollout.slots, config.optimizer.pack_tokens)


def test_more_memory_never_gives_fewer_slots() -> None:
    slots = [fitted(scale(), gigabytes).slots for gigabytes in (18, 20, 24, 32, 48)]
    assert slots == sorted(slots)
    assert slots[0] < slots[-1]


@pytest.mark.parametrize(
    ("changes", "remedy"),
    [
        (["finetune.method=full"], "finetune.method: lora"),
        (["finetune.method=lora"], "finetune.method: qlora"),
        (["optimizer.gradient_checkpointing=false"], "gradient_checkpointing: true"),
        (["rollout.max_tokens=65536"], "rollout.max_tokens"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_remedy(changes: list[str], remedy: str) -> None:
    with pytest.raises(BadInput, match=r"the run needs .* GiB with one rollout slot") as refused:
        fitted(scale(*changes), 16)
    assert remedy in str(refused.value.remedy)


def test_without_cuda_there_is_no_rollout_copy() -> None:
    parts: dict[str, Any] = forecast_memory(scale(), QWEN3_4B, torch.device("cpu"), torch.float32, ALL).parts
    assert "rollout copy" not in parts
