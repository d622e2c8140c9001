"""Rollouts on CUDA at the shapes of Qwen3: milliseconds of a decode step and tokens a second, beside `generate`.

    python bench/decode_cuda.py                                   0.6B and 4B, 64 and 256 slots, with and without LoRA
    python bench/decode_cuda.py --shapes tiny --slots 4 --device cpu      a dry run

Random weights in bf16; prompts of 256 random tokens, none shared; 128 tokens each. A decode step is timed from the
first step without prefill to the last token that the host has read. Hugging Face `generate` gets the same number of
prompts and says as many tokens; its time a step is that of the whole call, prefill included, over 128. The gap is the
difference between the log-probabilities of the rollout and those of the training forward on the same tokens; the last
column is the mean distance of either from the same weights in float32.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from transformers import Qwen3Config, Qwen3ForCausalLM

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

from rollout import pool  # noqa: E402
from src.agents.trajectory import Job, Trajectory  # noqa: E402
from src.config.train_config import FinetuneSection, RolloutLimits  # noqa: E402
from src.engines.models import with_adapters  # noqa: E402
from src.engines.packed import hidden_before, pack, score_tokens  # noqa: E402
from src.rollout.cuda import CudaBackend  # noqa: E402
from src.rollout.scheduler import generate  # noqa: E402

PROMPT, NEW = 256, 128
SHAPES: dict[str, dict[str, int]] = {
    "0.6B": {"hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16},
    "1.7B": {"hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 28, "num_attention_heads": 16},
    "4B": {"hidden_size": 2560, "intermediate_size": 9728, "num_hidden_layers": 36, "num_attention_heads": 32},
    "8B": {
        "hidden_size": 4096,
        "intermediate_size": 12288,
        "num_hidden_layers": 36,
        "num_attention_heads": 32,
        "tie_word_embeddings": False,
    },
    "tiny": {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 16},
}
TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


def random_model(shape: str, device: torch.device, dtype: torch.dtype, lora: bool) -> Any:
    torch.manual_seed(0)
    config = Qwen3Config(
        **{"tie_word_embeddings": True, **SHAPES[shape]},
        num_key_value_heads=8,
        head_dim=128 if shape != "tiny" else 16,
        vocab_size=151_936 if shape != "tiny" else 512,
        max_position_embeddings=40_960,
    )
    torch.set_default_dtype(dtype)
    with device:
        model: Any = Qwen3ForCausalLM(config)
    torch.set_default_dtype(torch.float32)
    if lora:
        model = with_adapters(model, FinetuneSection(method="lora"), TARGETS)
        for name, weight in model.named_parameters():
            if "lora_B" in name:
                weight.data.normal_(std=0.01)
    return model.eval()


class Prompts:
    """A renderer whose openings are random tokens, and whose turns end at their maximum length."""

    stop_ids: frozenset[int] = frozenset()
    closes = False

    def __init__(self, vocab: int) -> None:
        self.rng, self.vocab = np.random.default_rng(0), vocab

    def opening(self, prompt: str, system: str | None = None) -> list[int]:
        return self.rng.integers(0, self.vocab, PROMPT).tolist()

    def reply(self, by: str, text: str) -> list[int]:
        return []

    def policy(self, text: str) -> list[int]:
        return [0]

    def decode(self, ids: Sequence[int]) -> str:
        return "..."


class Watch:
    """Notes when the first step without prefill starts, and how many there are."""

    def __init__(self) -> None:
        self.began, self.steps = 0.0, 0
        start = CudaBackend.start

        def watched(backend: CudaBackend, pieces: Any, *rest: Any) -> Any:
            if all(len(tokens) <= 1 for _, tokens in pieces):
                if not self.steps:
                    wait_for(backend.device)
                    self.began = time.perf_counter()
                self.steps += 1
            else:
                self.steps = 0
            return start(backend, pieces, *rest)

        CudaBackend.start = watched  # type: ignore[method-assign]


def wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def roll_out(model: Any, slots: int, device: torch.device, dtype: torch.dtype, sample: Any) -> list[Trajectory]:
    limits = RolloutLimits(max_turns=1, max_new_tokens=NEW, max_tokens=512, slots=slots, backend="cuda")
    return generate(
        model,
        Prompts(model.config.vocab_size),
        [Job(sample) for _ in range(slots)],
        limits,
        device=device,
        generator=torch.Generator().manual_seed(0),
        dtype=dtype,
    )


def gap(model: Any, made: Sequence[Trajectory], device: torch.device, dtype: torch.dtype) -> np.ndarray:
    with torch.no_grad(), torch.autocast(device.type, dtype, enabled=dtype != torch.float32):
        scored = [
            score_tokens(model, hidden_before(model, one), one.label_N, 1.0, "none")[0]
            for one in pack(made, 8192, device)
        ]
    return np.abs(torch.cat(scored).cpu().numpy() - np.concatenate([one.logp[one.policy] for one in made]))


def exact_gaps(
    model: Any, made: Sequence[Trajectory], device: torch.device, dtype: torch.dtype
) -> tuple[np.ndarray, np.ndarray]:
    """How far rollout and training forward are from the same weights in float32. Converts the model."""
    streams = pack(made, 8192, device)

    def score(enabled: bool) -> np.ndarray:
        with torch.no_grad(), torch.autocast(device.type, dtype, enabled=enabled):
            parts = [score_tokens(model, hidden_before(model, one), one.label_N, 1.0, "none")[0] for one in streams]
        return torch.cat(parts).cpu().numpy()

    training = score(dtype != torch.float32)
    model.float()
    exact = score(False)
    return np.abs(np.concatenate([one.logp[one.policy] for one in made]) - exact), np.abs(training - exact)


def by_generate(model: Any, slots: int, device: torch.device, dtype: torch.dtype) -> float:
    """Seconds of Hugging Face `generate`."""
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    base.set_attn_implementation("sdpa")
    prompts = torch.randint(0, base.config.vocab_size, (slots, PROMPT), device=device)
    settings = {"do_sample": True, "top_k": 0, "attention_mask": torch.ones_like(prompts), "pad_token_id": 0}
    # Adapters are in float32 and need autocast; the plain model does not, and is faster without.
    with (
        torch.inference_mode(),
        torch.autocast(device.type, dtype, enabled=dtype != torch.float32 and base is not model),
    ):
        model.generate(input_ids=prompts, max_new_tokens=4, min_new_tokens=4, **settings)
        wait_for(device)
        start = time.perf_counter()
        out = model.generate(input_ids=prompts, max_new_tokens=NEW, min_new_tokens=NEW, **settings)
        wait_for(device)
    assert out.shape[1] == PROMPT + NEW
    return time.perf_counter() - start


def main() -> None:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--shapes", nargs="+", choices=[*SHAPES], default=["0.6B", "4B"])
    flags.add_argument("--slots", nargs="+", type=int, default=[64, 256])
    flags.add_argument("--lora", nargs="+", choices=["no", "yes"], default=["no", "yes"])
    flags.add_argument("--device", default="cuda")
    flags.add_argument("--no-generate", action="store_true", help="leave Hugging Face out")
    given = flags.parse_args()
    device = torch.device(given.device)
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    machine = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    print(f"{machine}, torch {torch.__version__}", flush=True)
    sample, watch = pool()[0], Watch()
    columns = (
        "shape",
        "LoRA",
        "slots",
        "first rollout s",
        "rollout s",
        "ms a step",
        "decode tokens/s",
        "generate ms a step",
    )
    table = Table(
        *columns, "gap mean", "p99", "max", "to fp32, rollout / training", title=f"{PROMPT} + {NEW} tokens, {dtype}"
    )
    for shape in given.shapes:
        for lora in given.lora:
            for slots in given.slots:
                model = random_model(shape, device, dtype, lora == "yes")
                seconds, made = [], []
                for _ in range(3):
                    wait_for(device)
                    start = time.perf_counter()
                    made = roll_out(model, slots, device, dtype, sample)
                    wait_for(device)
                    end = time.perf_counter()
                    seconds.append(end - start)
                step = (end - watch.began) / watch.steps
                gaps = gap(model, made, device, dtype)
                theirs, exact = "", ""
                if not given.no_generate and (lora == "no" or slots == given.slots[0]):
                    theirs = f"{1000 * by_generate(model, slots, device, dtype) / NEW:.1f}"
                if slots == given.slots[0]:
                    exact = " / ".join(f"{each.mean():.4f}" for each in exact_gaps(model, made, device, dtype))
                row = (
                    shape, lora, str(slots), f"{seconds[0]:.1f}", f"{min(seconds[1:]):.3f}", f"{1000 * step:.2f}",
                    f"{slots / step:,.0f}", theirs,
                    f"{gaps.mean():.4f}", f"{np.quantile(gaps, 0.99):.4f}", f"{gaps.max():.4f}",
                    exact,
                )  # fmt: skip
                print("  ".join(row), flush=True)
                table.add_row(*row)
                del model, made
                if device.type == "cuda":
                    torch.cuda.empty_cache()
    Console(width=170).print(table)


if __name__ == "__main__":
    main()
