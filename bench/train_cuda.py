"""One PPO iteration at the shape of Qwen3-0.6B on CUDA: where its time goes, beside `generate` of transformers.

    python bench/train_cuda.py
    python bench/train_cuda.py --layers 2 --width 64 --heads 4 --vocab 4096 --device cpu --dtype float32     a dry run

Random weights, LoRA, 64 episodes of 2 turns with 64 tokens each, the environment's replies between them. The first
iteration warms up; the second counts. `generate` says the same number of tokens after the same prompts and reads the
dialogue again at its second turn.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from transformers import AutoTokenizer, Qwen3Config, Qwen3ForCausalLM

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

from rollout import TINY, Endless, Play, by_generate, pool  # noqa: E402

from src.agents.render import TagRenderer  # noqa: E402
from src.data.sampler import Drawn  # noqa: E402
from src.engines.job import Finetune, Talk, TrainJob, Update  # noqa: E402
from src.engines.pure_pt import PurePT  # noqa: E402
from src.evaluation.outcome import OutcomeReward  # noqa: E402
from src.strategies.ppo import PPO  # noqa: E402

EPISODES, TURNS, NEW = 64, 2, 64


class Mute(Endless):
    """Random weights say tokens that the small tokenizer does not have; the grammar need not see them."""

    def decode(self, ids: Sequence[int]) -> str:
        return "..."


class Fixed:
    """The same samples at every step."""

    def __init__(self, samples: Sequence[object]) -> None:
        self.samples = samples

    def draw(self, step: int, count: int) -> list[Drawn]:
        return [Drawn(sample, "medium", 1.0, "pool") for sample in self.samples[:count]]

    def observe(self, episodes: Sequence[object]) -> None:
        pass

    def metrics(self) -> dict[str, float]:
        return {}

    def state_dict(self) -> dict[str, object]:
        return {}

    def load_state_dict(self, state: object) -> None:
        pass


def network(given: argparse.Namespace, folder: Path) -> None:
    torch.manual_seed(0)
    head = 128 if given.width >= 1024 else given.width // given.heads
    config = Qwen3Config(
        vocab_size=given.vocab,
        hidden_size=given.width,
        intermediate_size=3 * given.width,
        num_hidden_layers=given.layers,
        num_attention_heads=given.heads,
        num_key_value_heads=given.heads // 2,
        head_dim=head,
        tie_word_embeddings=True,
        max_position_embeddings=4096,
    )
    with torch.device(given.device):
        model = Qwen3ForCausalLM(config).to(getattr(torch, given.dtype))
    print(f"{sum(weight.numel() for weight in model.parameters()) / 1e6:.0f}M parameters", flush=True)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(TINY).save_pretrained(folder)


def main() -> None:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--device", default="cuda")
    flags.add_argument("--dtype", default="bfloat16")
    for name, value in {"width": 1024, "layers": 28, "heads": 16, "vocab": 151_936}.items():
        flags.add_argument(f"--{name}", type=int, default=value)
    given = flags.parse_args()
    device, dtype = torch.device(given.device), getattr(torch, given.dtype)
    with tempfile.TemporaryDirectory() as folder:
        network(given, Path(folder))
        renderer = Mute(TagRenderer(AutoTokenizer.from_pretrained(folder)))
        samples = pool()[:EPISODES]
        engine = PurePT(
            TrainJob(
                model=folder,
                renderer=renderer,
                strategy=PPO(),
                sampler=Fixed(samples),
                reward=OutcomeReward(),
                seed=0,
                max_steps=2,
                batch_size=EPISODES,
                device=device,
                dtype=dtype,
                finetune=Finetune(method="lora"),
                talk=Talk(max_turns=TURNS, max_new_tokens=NEW, max_tokens=512, slots=EPISODES),
                update=Update(pack_tokens=32_768),
            )
        )
        engine.take_step()
        result = engine.take_step()
        said = result.metrics["policy_tokens"] * EPISODES
        times = {name: value for name, value in result.metrics.items() if name.startswith("time/")}
        model = engine.policy.get_base_model()
        model.set_attn_implementation("sdpa")
        play = Play("episodes", renderer, samples, TURNS, NEW, EPISODES)
        by_generate(model, play)
        if device.type == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        with torch.inference_mode():
            told = by_generate(model, play)
        if device.type == "cuda":
            torch.cuda.synchronize()
        generate_s = time.perf_counter() - start
    table = Table(title=f"one PPO iteration, {EPISODES} episodes x {TURNS} turns x {NEW} tokens, {given.dtype}")
    for column in ("part", "seconds", "policy tokens a second"):
        table.add_column(column)
    for name, seconds in times.items():
        table.add_row(name.removeprefix("time/"), f"{seconds:.3f}", f"{said / seconds:,.0f}" if "roll" in name else "")
    table.add_row("generate of transformers, same tokens", f"{generate_s:.3f}", f"{told / generate_s:,.0f}")
    Console(width=110).print(table)
    if device.type == "cuda":
        print(f"{torch.cuda.get_device_name()}, peak {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")


if __name__ == "__main__":
    main()
