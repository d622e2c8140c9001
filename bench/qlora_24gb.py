"""QLoRA at the shape of Qwen3-4B in the memory of a 24 GB card: rollouts with thoughts, updates, save, resume, merge.

    python bench/qlora_24gb.py --out qlora.json                         needs CUDA and bitsandbytes
    python bench/qlora_24gb.py --shape tiny --device cpu --think 20     a dry run (bitsandbytes on the CPU)

The settings are those of configs/ppo_scale.yaml, with random weights in NF4. Each phase is a process of its own:

- *make* writes the random weights and a tokenizer whose template opens a thought, as Qwen3-4B-Thinking's does;
- *train* makes a warm start and two iterations of PPO, and saves a checkpoint;
- *resume* loads it, compares the weights, makes a third iteration and saves the adapters;
- *merge* merges the adapters into the base, and writes that as a GGUF file.

*train* and *resume* may use 24 * 10^9 bytes, CUDA context included: the allocator of torch is held to the rest, and
nvidia-smi is read ten times a second. Slots and pack size are those that `src/training/forecast.py` fits to the card.
Rewards are random, because episodes of random weights would all have the same one and would teach nothing. The critic
does not warm up, so that every iteration updates the adapters. `--waves` sets the batch to so many times the slots.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]
sys.path += filter(None, [os.environ.get("EXTRA_SITE")])

from decode_cuda import TARGETS, random_model  # noqa: E402
from iteration_cuda import Fixed, tell  # noqa: E402

from askgate_env.actions import TOOLS  # noqa: E402
from rollout import TINY, pool  # noqa: E402
from src.config.loader import load_train_config  # noqa: E402
from src.config.train_config import TrainConfig  # noqa: E402
from src.runtime.device import GB  # noqa: E402
from src.training.forecast import Memory, Shape, fit_memory  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
CONTEXT = GB
"""Part of the card that the allocator of torch may not have: CUDA context, libraries and kernels."""
WARM, ITERATIONS = 1, 3
LIMITS = {"make": 150, "train": 240, "resume": 180, "merge": 240}
TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n<think>\\n' }}{% endif %}"
)
OUT_OF_MEMORY = 3


class RandomReward:
    """0 or 1 by the text of the episode."""

    dimensions = None

    def __call__(self, episode: Any, sample: Any, scores: Any = None) -> dict[str, float]:
        return {"outcome": float(hashlib.sha256(repr(episode).encode()).digest()[0] % 2)}


def make(given: argparse.Namespace) -> dict[str, Any]:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(TINY)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    tokenizer.chat_template, tokenizer.eos_token = TEMPLATE, "<|im_end|>"
    tokenizer.save_pretrained(given.model)
    model = random_model(given.shape, torch.device(given.device), dtype_of(given), lora=False)
    if given.shape == "tiny":
        model.resize_token_embeddings(len(tokenizer))
    model.save_pretrained(given.model)
    return {"parameters": sum(weight.numel() for weight in model.parameters())}


def dtype_of(given: argparse.Namespace) -> torch.dtype:
    return torch.bfloat16 if given.device == "cuda" else torch.float32


def settings(given: argparse.Namespace) -> tuple[TrainConfig, Memory]:
    """The config of the run, and the slots, the pack size and the memory that are forecast for it."""
    from transformers import AutoConfig

    overrides = ["optimizer.critic_warmup_steps=0"]
    if given.think:  # a dry run
        overrides += [
            f"rollout.think_tokens={given.think}",
            "rollout_len=8",
            "rollout.max_tokens=1024",
            "rollout.backend=cuda",
        ]
    config = load_train_config(ROOT / "configs/ppo_scale.yaml", overrides)
    shape, device = Shape.of(AutoConfig.from_pretrained(given.model)), torch.device(given.device)
    for _ in range(3):  # the batch follows the slots, and the memory of the critic's inputs follows the batch
        memory = fit_memory(config, shape, device, dtype_of(given), TARGETS, given.gigabytes * 1e9)
        slots = given.slots or memory.slots
        batch = slots * given.waves if given.waves else config.batch_size
        config = config.model_copy(update={"batch_size": batch})
    if given.slots:
        from src.training.forecast import forecast_memory

        memory = forecast_memory(config, shape, device, dtype_of(given), TARGETS, given.slots, memory.pack_tokens)
    return config, memory


def make_engine(given: argparse.Namespace, config: TrainConfig, memory: Memory) -> Any:
    import src.engines.models as models
    from src.data.collate import demo_tokens
    from src.engines.job import TrainJob, WarmStart
    from src.engines.pure_pt import PurePT
    from src.engines.sft import Demo, SftPlan
    from src.strategies.ppo import PPO
    from src.training.components import open_renderer

    if given.device != "cuda":
        models.require_four_bits = lambda device: None  # bitsandbytes can do it, slowly
    renderer = open_renderer(str(given.model))
    samples = pool()[: config.batch_size]
    import numpy as np

    def demonstrations() -> list[Demo]:
        pairs = [demo_tokens(one, renderer, thoughts=True) for one in samples]
        return [Demo(np.array(tokens, np.int32), np.array(said, np.bool_)) for tokens, said in pairs]

    warm = config.warm_start
    assert warm is not None
    engine = PurePT(
        TrainJob(
            model=str(given.model),
            renderer=renderer,
            strategy=PPO(),
            sampler=Fixed(samples),
            reward=RandomReward(),  # type: ignore[arg-type]
            seed=0,
            max_steps=WARM + ITERATIONS,
            batch_size=config.batch_size,
            device=torch.device(given.device),
            dtype=dtype_of(given),
            finetune=config.finetune,
            lora_targets=TARGETS,
            rollout=config.rollout_limits(TOOLS).model_copy(update={"slots": memory.slots}),
            optimizer=config.optimizer.model_copy(update={"pack_tokens": memory.pack_tokens}),
            lr=config.lr,
            warm_start=WarmStart(WARM, SftPlan(2 * warm.batch_tokens, warm.lr, warm.batch_tokens, 0), demonstrations),
        )
    )
    for module in engine.policy.modules():
        if given.device != "cuda" and hasattr(module, "support_avx512bf16_for_cpu"):
            module.support_avx512bf16_for_cpu = False  # another layout, which cannot be read back
    return engine


@contextmanager
def held(given: argparse.Namespace) -> Iterator[dict[str, float]]:
    """Holds the process to its memory; the peaks are in what it gives."""
    peaks: dict[str, float] = {}
    if given.device != "cuda":
        yield peaks
        return
    free, total = torch.cuda.mem_get_info()
    torch.cuda.set_per_process_memory_fraction((given.gigabytes * 1e9 - CONTEXT) / total)
    yield peaks
    free, _ = torch.cuda.mem_get_info()
    peaks["context_gib"] = (total - free - torch.cuda.memory_reserved()) / GB
    peaks["reserved_gib"] = max(RESERVED) / GB


RESERVED: list[int] = [0]
"""Peak of each step: `StepTimer` resets the counters of torch."""


def iterate(engine: Any, steps: int) -> list[dict[str, float]]:
    found = []
    for _ in range(steps):
        metrics = dict(engine.take_step().metrics)
        if torch.cuda.is_available():
            RESERVED.append(torch.cuda.max_memory_reserved())
        tell(f"step {engine.step}: " + ", ".join(f"{k} {v:.3f}" for k, v in metrics.items() if k.startswith(SHOWN)))
        found.append(metrics)
    return found


SHOWN = ("time/", "memory", "tokens", "policy_tokens", "turns", "cut_thought", "loss", "grad_norm", "logp_gap")


def checksum(engine: Any) -> str:
    from src.engines.base import trained_weights

    digest = hashlib.sha256()
    for name, weight in sorted(trained_weights(engine.learner).items()):
        digest.update(name.encode() + weight.float().cpu().numpy().tobytes())
    return digest.hexdigest()


def train(given: argparse.Namespace) -> dict[str, Any]:
    with held(given) as peaks:
        config, memory = settings(given)
        tell(f"{memory.slots} slots, packs of {memory.pack_tokens}, {config.batch_size} episodes an iteration")
        start = time.perf_counter()
        engine = make_engine(given, config, memory)
        loaded_s = time.perf_counter() - start
        weights_gib = torch.cuda.memory_allocated() / GB if given.device == "cuda" else 0.0
        tell(f"engine ready, {weights_gib:.2f} GiB")
        before = checksum(engine)
        steps = iterate(engine, WARM + ITERATIONS - 1)
        folder = given.work / "checkpoint"
        folder.mkdir()
        engine.save(folder)
        after = checksum(engine)
    return {
        "loaded_s": loaded_s, "weights_gib": weights_gib, "steps": steps, "changed": before != after,
        "checksum": after, "peaks": peaks, **facts(config, memory), "speed": speed(given),
    }  # fmt: skip


def facts(config: TrainConfig, memory: Memory) -> dict[str, Any]:
    parts = {**memory.parts, "rollout only": memory.rollout, "update only": memory.update}
    return {
        "slots": memory.slots, "pack_tokens": memory.pack_tokens, "batch_size": config.batch_size,
        "think_tokens": config.rollout.think_tokens, "max_tokens": config.rollout.max_tokens,
        "forecast_gib": {**{name: value / GB for name, value in parts.items()}, "peak": memory.peak / GB},
    }  # fmt: skip


def speed(given: argparse.Namespace) -> dict[str, float]:
    """Speed of a plain copy and of a plain matrix product: what the forecast's constants are relative to."""
    if given.device != "cuda":
        return {}
    from src.runtime.device import measure_speed

    copy, product = measure_speed(torch.device("cuda"), torch.bfloat16)
    return {"copy_bytes_s": copy, "matmul_flop_s": product}


def resume(given: argparse.Namespace) -> dict[str, Any]:
    with held(given) as peaks:
        config, memory = settings(given)
        engine = make_engine(given, config, memory)
        engine.load(given.work / "checkpoint")
        loaded = checksum(engine)
        steps = iterate(engine, 1)
        engine.save_model(given.work / "adapters")
    return {"checksum": loaded, "steps": steps, "peaks": peaks}


def merge(given: argparse.Namespace) -> dict[str, Any]:
    from safetensors import safe_open

    from src.release.gguf_export import load_merged, load_tokenizer, write_gguf

    start = time.perf_counter()
    merged = load_merged(given.model, given.work / "adapters")
    merge_s = time.perf_counter() - start
    config = json.loads((given.work / "adapters/adapter_config.json").read_text())
    scale, worst, moved = config["lora_alpha"] / config["r"], 0.0, 0.0
    base = {
        name: file for file in given.model.glob("*.safetensors") for name in safe_open(file, "pt").keys()  # noqa: SIM118
    }  # fmt: skip
    with safe_open(given.work / "adapters/adapter_model.safetensors", "pt") as adapters:
        for name in ("layers.0.self_attn.q_proj", "layers.1.mlp.down_proj"):
            before = safe_open(base[f"model.{name}.weight"], "pt").get_tensor(f"model.{name}.weight").float()
            a, b = (adapters.get_tensor(f"base_model.model.model.{name}.lora_{x}.weight").float() for x in "AB")
            now = merged.get_submodule(f"model.{name}").weight
            worst = max(worst, float((now - before - scale * (b @ a)).abs().max()))
            moved = max(moved, float((now - before).abs().max()))
    merged.to(torch.bfloat16).save_pretrained(given.work / "merged")
    size = sum(file.stat().st_size for file in (given.work / "merged").glob("*.safetensors"))
    start = time.perf_counter()
    write_gguf(merged, load_tokenizer(given.model), given.work / "merged.gguf", "f16", "merged")
    return {
        "merge_s": merge_s, "largest_change": moved, "largest_error": worst, "bytes": size,
        "gguf_s": time.perf_counter() - start, "gguf_bytes": (given.work / "merged.gguf").stat().st_size,
    }  # fmt: skip


@contextmanager
def nvidia_smi() -> Iterator[list[int]]:
    """The used memory of the card in MiB, ten times a second."""
    found: list[int] = []
    try:
        process = subprocess.Popen(
            ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "-lms", "100"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
    except OSError:
        yield found
        return

    def read() -> None:
        assert process.stdout is not None
        found.extend(int(line) for line in process.stdout if line.strip().isdigit())

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        process.terminate()
        process.wait(10)
        thread.join(10)


def run_phase(name: str, given: argparse.Namespace, *more: str) -> dict[str, Any]:
    out = given.work / f"{name}.json"
    words = [sys.executable, __file__, "--phase", name, "--work", str(given.work), "--shape", given.shape,
             "--device", given.device, "--gigabytes", str(given.gigabytes), "--waves", str(given.waves),
             "--think", str(given.think), "--out", str(out), *more]  # fmt: skip
    start = time.perf_counter()
    with nvidia_smi() as used:
        try:
            limit = LIMITS[name] * (1 if given.device == "cuda" else 5)
            code = subprocess.run(words, timeout=limit, check=False).returncode
        except subprocess.TimeoutExpired:
            code = 124
    found: dict[str, Any] = json.loads(out.read_text()) if out.exists() else {}
    found |= {"exit": code, "seconds": time.perf_counter() - start}
    if used:
        found["nvidia_smi_gib"] = {"first": used[0] / 1024, "peak": max(used) / 1024, "readings": len(used)}
    return found


def check(found: Mapping[str, Any]) -> dict[str, bool]:
    train, resume = found["train"], found["resume"]
    peak = max(one.get("nvidia_smi_gib", {}).get("peak", 0.0) for one in (train, resume))
    forecast = train["forecast_gib"]["peak"]
    iterations = [*train["steps"], *resume["steps"]][WARM:]
    return {
        "three iterations": len(iterations) == ITERATIONS and all("grad_norm" in one for one in iterations),
        "adapters changed": train["changed"],
        "resumed with the same weights": train["checksum"] == resume["checksum"],
        "merged": found["merge"].get("largest_error", 1.0) < 1e-5,
        "GGUF written": found["merge"].get("gguf_bytes", 0) > 0,
        "peak under the limit": 0 < peak * GB < found["gigabytes"] * 1e9,
        "peak within 15% of the forecast": abs(peak / forecast - 1) <= 0.15,
    }


def show(found: Mapping[str, Any]) -> None:
    train, resume = found["train"], found["resume"]
    for name, value in train["forecast_gib"].items():
        print(f"{'forecast, ' + name:45}{value:8.2f} GiB")
    for name, phase in (("train", train), ("resume", resume)):
        allocated = max(one["memory/peak_mb"] for one in phase["steps"]) / 1024
        smi = phase.get("nvidia_smi_gib", {}).get("peak", 0.0)
        print(f"{name + ', allocated by torch':45}{allocated:8.2f} GiB")
        print(f"{name + ', reserved by torch':45}{phase['peaks'].get('reserved_gib', 0.0):8.2f} GiB")
        print(f"{name + ', nvidia-smi':45}{smi:8.2f} GiB of {found['gigabytes'] * 1e9 / GB:.2f}")
    for name, holds in found["checks"].items():
        print(f"{name:45}{'yes' if holds else 'NO'}")


def main() -> None:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--shape", choices=["4B", "0.6B", "tiny"], default="4B")
    flags.add_argument("--device", default="cuda")
    flags.add_argument("--gigabytes", type=float, default=24.0, help="memory of the card, in 10^9 bytes")
    flags.add_argument("--waves", type=int, default=0, help="batch as a multiple of the slots; 0: that of the config")
    flags.add_argument("--slots", type=int, default=0, help="instead of those that fit")
    flags.add_argument("--think", type=int, default=0, help="a short dry run: tokens of a thought")
    flags.add_argument("--out", type=Path, default=Path("qlora_24gb.json"))
    flags.add_argument("--work", type=Path, help="folder for weights, 26 GB at 4B; default: a temporary one")
    flags.add_argument("--phase", choices=[*LIMITS], help=argparse.SUPPRESS)
    flags.add_argument("--phases", nargs="+", choices=[*LIMITS], default=[*LIMITS])
    given = flags.parse_args()
    if given.phase:
        given.model = given.work / "model"
        try:
            found = {"make": make, "train": train, "resume": resume, "merge": merge}[given.phase](given)
        except torch.OutOfMemoryError:
            print(torch.cuda.memory_summary(abbreviated=True), file=sys.stderr)
            given.out.write_text(json.dumps({"out_of_memory": True}))
            raise SystemExit(OUT_OF_MEMORY) from None
        given.out.write_text(json.dumps(found))
        return
    with tempfile.TemporaryDirectory() as temporary:
        given.work = given.work or Path(temporary)
        given.work.mkdir(parents=True, exist_ok=True)
        name = torch.cuda.get_device_name() if given.device == "cuda" else "CPU"
        found: dict[str, Any] = {"machine": name, "torch": torch.__version__, "gigabytes": given.gigabytes}
        earlier = json.loads(given.out.read_text()) if given.out.exists() else {}
        found = {**earlier, **found}
        for phase in given.phases:
            slots = ["--slots", str(given.slots or found.get("train", {}).get("slots", 0))]
            found[phase] = run_phase(phase, given, *slots)
            if found[phase]["exit"] == OUT_OF_MEMORY and phase == "train":
                found["out_of_memory"] = found[phase]
                fewer = max(1, 8 if not given.slots else given.slots - 3)
                found[phase] = run_phase(phase, given, "--slots", str(fewer))
            given.out.write_text(json.dumps(found, indent=1))
            tell(f"{phase}: exit {found[phase]['exit']}, {found[phase]['seconds']:.0f} s")
            if found[phase]["exit"]:
                sys.exit(1)
    if {"train", "resume", "merge"} <= found.keys():
        found["checks"] = check(found)
        given.out.write_text(json.dumps(found, indent=1))
        show(found)
        sys.exit(not all(found["checks"].values()))


if __name__ == "__main__":
    main()
