"""Training forward and backward on CUDA at the shapes of Qwen3 with LoRA: tokens a second and peak memory.

    python bench/train_cuda.py
    python bench/train_cuda.py --shape tiny --device cpu --pack 256      a dry run

Random weights in bf16, adapters of rank 16 on all seven matrices, every token but the first of a sequence is trained
on. *packed 1k*: sequences of 1,024 tokens, `--pack` tokens a pass; *one 16k*: a single sequence of 16,384 tokens. Each
with and without gradient checkpointing, in the deterministic mode of a training run. Median of five passes.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

from decode_cuda import SHAPES, random_model, wait_for  # noqa: E402

from src.engines.models import compile_layers, recompute_layers  # noqa: E402
from src.engines.packed import Learner, Stream, pack  # noqa: E402
from src.engines.sft import Demo  # noqa: E402
from src.runtime.seeding import seed_all  # noqa: E402

PASSES = 5


def stream_of(lengths: list[int], vocab: int, device: torch.device) -> Stream:
    rng = np.random.default_rng(0)
    demos = []
    for length in lengths:
        policy = np.ones(length + 1, np.bool_)
        policy[0] = False
        demos.append(Demo(rng.integers(0, vocab, length + 1).astype(np.int32), policy))
    (stream,) = pack(demos, sum(lengths), device)
    return stream


def one_pass(learner: Learner, stream: Stream, device: torch.device, dtype: torch.dtype) -> None:
    with torch.autocast(device.type, dtype, enabled=dtype != torch.float32):
        scored = learner(stream)
    torch.autograd.backward(-scored.logp_N.mean())
    learner.zero_grad()


def measure(learner: Learner, stream: Stream, device: torch.device, dtype: torch.dtype) -> tuple[float, float]:
    """Seconds of a pass, and the peak of memory in GiB."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    seconds = []
    for index in range(PASSES + 1):
        wait_for(device)
        start = time.perf_counter()
        one_pass(learner, stream, device, dtype)
        wait_for(device)
        if index:
            seconds.append(time.perf_counter() - start)
    peak = torch.cuda.max_memory_allocated() / 2**30 if device.type == "cuda" else 0.0
    return statistics.median(seconds), peak


def main() -> None:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--shape", choices=[*SHAPES], default="4B")
    flags.add_argument("--pack", type=int, default=8192)
    flags.add_argument("--device", default="cuda")
    given = flags.parse_args()
    device = torch.device(given.device)
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    machine = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    print(f"{machine}, torch {torch.__version__}", flush=True)
    seed_all(0)
    short, long = (1024, 16_384) if device.type == "cuda" else (64, 256)
    table = Table("shape", "stream", "checkpointing", "seconds", "tokens/s", "peak GiB", title=f"LoRA, {dtype}")
    policy: Any = random_model(given.shape, device, dtype, lora=True)
    if device.type == "cuda":
        compile_layers(policy)
    learner = Learner(policy, None, 1.0, entropy="reported")
    for checkpointing in (False, True):
        if checkpointing:
            recompute_layers(policy)
        for name, lengths in (("packed 1k", [short] * (given.pack // short)), ("one 16k", [long])):
            stream = stream_of(lengths, policy.config.vocab_size, device)
            try:
                seconds, peak = measure(learner, stream, device, dtype)
                found = f"{seconds:.3f}", f"{sum(lengths) / seconds:,.0f}", f"{peak:.1f}"
            except torch.OutOfMemoryError:
                found = "", "out of memory", ""
            row = given.shape, f"{name}, {sum(lengths):,} tokens", "yes" if checkpointing else "no", *found
            print("  ".join(row), flush=True)
            table.add_row(*row)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
