"""One PPO iteration at the shape of Qwen3-0.6B on CUDA: where its time goes, beside `generate` of transformers.

    python bench/iteration_cuda.py
    python bench/iteration_cuda.py --shape tiny --device cpu --dtype float32     a dry run

Random weights, LoRA, 64 episodes of 2 turns with 64 tokens each, the environment's replies between them. The first
iteration compiles, the second warms up, the third counts. `generate` says the same number of tokens after the same
prompts with the same adapters in the same numbers, and reads the dialogue again at its second turn. Each part is
printed as it ends, with the seconds since the start; after `--limit` seconds the run ends and shows where it was.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from transformers import AutoTokenizer, Qwen3Config, Qwen3ForCausalLM
from transformers.utils import logging as transformers_logging

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "packages/askgate-env/src"), str(ROOT / "bench")]

from askgate_env.reward import TrainingReward  # noqa: E402
from askgate_env.types import Level, Sample  # noqa: E402
from rollout import TINY, Endless, Workload, by_generate, pool  # noqa: E402
from src.agents.render import TagRenderer  # noqa: E402
from src.config.train_config import FinetuneSection, OptimizerSection, RolloutLimits  # noqa: E402
from src.core.api import StepResult  # noqa: E402
from src.engines.job import TrainJob  # noqa: E402
from src.engines.pure_pt import PurePT  # noqa: E402
from src.strategies.ppo import PPO  # noqa: E402

EPISODES, TURNS, NEW = 64, 2, 64
SAID = EPISODES * TURNS * NEW
SHAPES = {
    "qwen3-0.6b": {"hidden_size": 1024, "num_hidden_layers": 28, "num_attention_heads": 16, "vocab_size": 151_936},
    "tiny": {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 4096},
}
BEGAN = time.perf_counter()


def tell(what: str) -> None:
    print(f"[{time.perf_counter() - BEGAN:6.1f} s] {what}", flush=True)


class Mute(Endless):
    """Random weights say tokens that the small tokenizer does not have; the grammar need not see them."""

    def decode(self, ids: Sequence[int]) -> str:
        return "..."


@dataclass(frozen=True)
class Drawn:
    sample: Sample
    level: Level = "medium"
    weight: float = 1.0


class Fixed:
    """The same samples at every step."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self.samples = samples

    def draw(self, step: int, count: int) -> list[Drawn]:
        return [Drawn(sample) for sample in self.samples[:count]]

    def observe(self, episodes: Sequence[object]) -> None:
        pass

    def state_dict(self) -> dict[str, object]:
        return {}

    def load_state_dict(self, state: object) -> None:
        pass


def network(shape: dict[str, int], device: torch.device, dtype: torch.dtype, folder: Path) -> None:
    torch.manual_seed(0)
    config = Qwen3Config(
        **shape,
        intermediate_size=3 * shape["hidden_size"],
        num_key_value_heads=shape["num_attention_heads"] // 2,
        head_dim=128 if shape["hidden_size"] >= 1024 else 16,
        tie_word_embeddings=True,
        max_position_embeddings=4096,
    )
    with device:
        model = Qwen3ForCausalLM(config).to(dtype)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(TINY).save_pretrained(folder)
    tell(f"{sum(weight.numel() for weight in model.parameters()) / 1e6:.1f}M random parameters made and written")


def parts(result: StepResult) -> dict[str, float]:
    return {name.removeprefix("time/"): value for name, value in result.metrics.items() if name.startswith("time/")}


def iteration(engine: PurePT, label: str) -> StepResult:
    result = engine.take_step()
    said = round(result.metrics["policy_tokens"] * EPISODES)
    if said != SAID:
        sys.exit(f"the policy said {said} tokens and not {SAID}: an episode was cut short")
    tell(f"{label}: " + ", ".join(f"{name} {seconds:.3f} s" for name, seconds in parts(result).items()))
    return result


def timed_generate(model: Qwen3ForCausalLM, workload: Workload, device: torch.device, dtype: torch.dtype) -> float:
    model.set_attn_implementation("sdpa")
    half = dtype if dtype != torch.float32 else None
    with torch.inference_mode(), torch.autocast(device.type, half, enabled=half is not None):
        by_generate(model, replace(workload, new=4))
        tell("generate of transformers has warmed up")
        wait_for(device)
        start = time.perf_counter()
        said = by_generate(model, workload)
        wait_for(device)
    seconds = time.perf_counter() - start
    if said != SAID:
        sys.exit(f"generate said {said} tokens and not {SAID}")
    tell(f"generate of transformers: {seconds:.3f} s")
    return seconds


def wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def main() -> None:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--shape", choices=[*SHAPES], default="qwen3-0.6b")
    flags.add_argument("--device", default="cuda")
    flags.add_argument("--dtype", choices=["bfloat16", "float16", "float32"], default="bfloat16")
    flags.add_argument("--limit", type=int, default=120, help="seconds until the run is ended, wherever it is")
    given = flags.parse_args()
    device, dtype = torch.device(given.device), getattr(torch, given.dtype)
    if device.type == "cuda" and not torch.cuda.is_available():
        sys.exit("this machine has no CUDA device; for a dry run: --shape tiny --device cpu --dtype float32")
    faulthandler.dump_traceback_later(given.limit, exit=True)
    transformers_logging.disable_progress_bar()
    machine = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    tell(f"{machine}, torch {torch.__version__}")
    samples = pool()[:EPISODES]
    tell(f"{len(samples)} samples made")
    with tempfile.TemporaryDirectory() as folder:
        network(SHAPES[given.shape], device, dtype, Path(folder))
        renderer = Mute(TagRenderer(AutoTokenizer.from_pretrained(folder)))
        engine = PurePT(
            TrainJob(
                model=folder,
                renderer=renderer,
                strategy=PPO(),
                sampler=Fixed(samples),
                reward=TrainingReward(),
                seed=0,
                max_steps=3,
                batch_size=EPISODES,
                device=device,
                dtype=dtype,
                finetune=FinetuneSection(method="lora"),
                rollout=RolloutLimits(max_turns=TURNS, max_new_tokens=NEW, max_tokens=512, slots=EPISODES),
                optimizer=OptimizerSection(pack_tokens=32_768),
            )
        )
    tell("engine ready")
    iteration(engine, "first iteration, compiles")
    iteration(engine, "second iteration, warms up")
    result = iteration(engine, "third iteration, counts")
    workload = Workload("episodes", renderer, samples, TURNS, NEW, EPISODES)
    generate_s = timed_generate(engine.policy.get_base_model(), workload, device, dtype)
    faulthandler.cancel_dump_traceback_later()

    table = Table(title=f"one PPO iteration, {EPISODES} episodes x {TURNS} turns x {NEW} tokens, {given.dtype}")
    for column in ("part", "seconds", "policy tokens a second"):
        table.add_column(column, justify="right")
    for name, seconds in parts(result).items():
        table.add_row(name, f"{seconds:.3f}", f"{SAID / seconds:,.0f}" if name in ("rollout", "step") else "")
    table.add_section()
    table.add_row("generate of transformers, same tokens", f"{generate_s:.3f}", f"{SAID / generate_s:,.0f}")
    Console(width=110).print(table)
    gap = ", ".join(f"{name} {result.metrics[name]:.4f}" for name in ("logp_gap", "logp_gap_p99", "logp_gap_max"))
    print(gap, flush=True)
    print(f"{machine}, peak {result.metrics['memory/peak_mb'] / 1024:.1f} GiB in the third iteration", flush=True)


if __name__ == "__main__":
    main()
