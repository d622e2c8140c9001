"""The forecast of a run: memory by part, what is fitted to the device, and what is refused."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, Qwen3Config

from src.config.loader import load_train_config
from src.config.profile import load_profile
from src.config.train_config import TARGETS, RolloutLimits, TrainConfig
from src.core.errors import BadInput
from src.runtime.device import GB
from src.training import forecast
from src.training.components import open_renderer
from src.training.forecast import (
    EpisodeTokens,
    Forecast,
    Memory,
    Shape,
    Speed,
    fit_memory,
    forecast_memory,
    forecast_run,
    priced,
)
from src.training.sft_control import demonstrations
from tests.training.tiny_run import make_model_and_data

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
    return fit_memory(config, QWEN3_4B, CUDA, BF16, ALL, gigabytes * 1e9)


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


def test_full_fine_tuning_keeps_the_weights_of_the_warm_start() -> None:
    weights = QWEN3_4B.linear + QWEN3_4B.embedding
    with_it, without = (
        forecast_memory(scale("finetune.method=full", *more), QWEN3_4B, CUDA, BF16, ALL).parts["reference"]
        for more in ((), ("warm_start=null",))
    )
    assert (without, with_it - without) == (2 * weights, 4 * weights)


def test_without_cuda_there_is_no_rollout_copy() -> None:
    parts: dict[str, Any] = forecast_memory(scale(), QWEN3_4B, torch.device("cpu"), torch.float32, ALL).parts
    assert "rollout copy" not in parts


H200 = Speed(copy=4.0e12, product=790e12)


def in_seconds(config: TrainConfig, shape: Shape, slots: int, episode: EpisodeTokens) -> Forecast:
    memory = forecast_memory(config, shape, CUDA, BF16, ALL, slots)
    return forecast_run(config, shape, memory, CUDA, BF16, 150e9, H200, 0.0, episode)


@pytest.mark.parametrize(("slots", "measured_ms"), [(64, 4.5), (256, 7.9)])
def test_a_decode_step_takes_as_long_as_measured(slots: int, measured_ms: float) -> None:
    """`bench/decode_cuda.py` on an H200, Qwen3-4B with LoRA: prompts of 256 tokens, 128 tokens each."""
    config = scale("finetune.method=lora", f"batch_size={slots}", "rollout_len=128", "rollout.think_tokens=null")
    found = in_seconds(config, QWEN3_4B, slots, EpisodeTokens(opening=256, turns=1, action=128, reply=0))
    prefill = in_seconds(config, QWEN3_4B, slots, EpisodeTokens(opening=256, turns=1, action=1e-3, reply=0)).rollout_s
    assert 1000 * (found.rollout_s - prefill) / 128 == pytest.approx(measured_ms, rel=0.25)


SMOLLM2 = Shape.of(
    LlamaConfig(
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        vocab_size=49_152,
        tie_word_embeddings=True,
    )
)


def smollm2(method: str = "full") -> TrainConfig:
    return load_train_config(
        Path("bench/smollm2.yaml"), (f"finetune.method={method}", "warm_start.tokens=16000000", "base_model=smollm2")
    )


def test_sft_of_a_small_model_takes_as_long_as_measured() -> None:
    """SFT on 16 million tokens on an H200, 95,670 tokens a second (bench/results/smollm2_price, sft_time)."""
    found = in_seconds(smollm2(), SMOLLM2, 288, EpisodeTokens.usual())
    assert 16e6 / found.warm_s == pytest.approx(95_670, rel=0.25)


def test_adapters_of_a_small_model_train_no_faster() -> None:
    full, lora = (in_seconds(smollm2(method), SMOLLM2, 288, EpisodeTokens.usual()) for method in ("full", "lora"))
    assert lora.warm_s >= full.warm_s
    assert lora.update_s >= full.update_s


@pytest.mark.parametrize(("device", "waits"), [(CUDA, True), (torch.device("cpu"), False)])
def test_only_a_gpu_waits_for_the_host(monkeypatch: pytest.MonkeyPatch, device: torch.device, waits: bool) -> None:
    def seconds() -> tuple[float, float]:
        memory = forecast_memory(smollm2(), SMOLLM2, device, BF16, ALL, 288)
        episode = EpisodeTokens.usual()
        found = forecast_run(smollm2(), SMOLLM2, memory, device, BF16, 150e9, H200, 0.0, episode)
        return found.rollout_s, found.update_s

    usual, constants = seconds(), forecast.costs()
    free = constants | {"seconds": constants["seconds"] | {"cuda_layer_us": 0, "cuda_episode_ms": 0}}
    monkeypatch.setattr(forecast, "costs", lambda: free)
    assert all((before > after) == waits for before, after in zip(usual, seconds(), strict=True))


@pytest.mark.parametrize(("device", "cheaper"), [(torch.device("cpu"), True), (CUDA, False)])
def test_groups_share_tokens_on_a_cpu(device: torch.device, cheaper: bool) -> None:
    def update_s(group_size: int) -> float:
        config = smollm2().model_copy(
            update={"strategy": "grpo", "strategy_options": {"group_size": group_size, "divide_by_std": False}}
        )
        memory = forecast_memory(config, SMOLLM2, device, BF16, ALL, 288)
        return forecast_run(config, SMOLLM2, memory, device, BF16, 150e9, H200, 0.0, EpisodeTokens.usual()).update_s

    assert (update_s(8) < update_s(4)) == cheaper


def test_longer_thoughts_take_longer_up_to_the_episode_length() -> None:
    seconds = [
        in_seconds(scale(f"rollout.think_tokens={think}"), QWEN3_4B, 32, EpisodeTokens.usual()).rollout_s
        for think in (50, 500, 1500, 3000)
    ]
    assert seconds[0] < seconds[1] < seconds[2]
    assert seconds[3] == pytest.approx(seconds[2], rel=0.15)


def test_fewer_slots_and_more_steps_take_longer() -> None:
    few, many = (in_seconds(scale(), QWEN3_4B, slots, EpisodeTokens.usual()) for slots in (4, 32))
    assert few.rollout_s > 3 * many.rollout_s
    assert many.steps == 3 * (50_000 - 200)
    assert many.seconds > many.steps * (many.rollout_s + many.update_s)
    assert many.judged == round(many.steps * 32 * 0.01)


def test_lengths_come_from_the_demonstrations_of_the_pool(tmp_path: Path) -> None:
    make_model_and_data(tmp_path)
    pool, renderer = tmp_path / "data/pool.jsonl", open_renderer(str(tmp_path / "model"))
    found = EpisodeTokens.of_pool(pool, renderer)
    lengths = [len(demo.tokens) for demo in demonstrations(pool, renderer, RolloutLimits(max_new_tokens=99))]
    assert found.opening + found.turns * (found.action + found.reply) == pytest.approx(fmean(lengths), rel=0.05)


@pytest.mark.parametrize(("calls", "words"), [(0, "0 dialogues, 0 calls"), (100, "100 dialogues, 300 calls")])
def test_the_cost_of_the_judge(calls: int, words: str) -> None:
    profile = load_profile("rc1")
    assert words in priced(calls, {"SCORER_PROVIDER": "gemini"}, profile)
    assert "by gemini" in priced(calls, {"SCORER_PROVIDER": "gemini"}, profile)
    assert "cost not known" in priced(calls, {"SCORER_PROVIDER": "qwen", "SCORER_MODEL": "qwen-max"}, profile)
    assert "about $0.00" in priced(calls, {}, profile)  # the judge on this machine
    assert priced(calls, {"SCORER_PROVIDER": "qwen"}, profile).endswith("at most)")
