"""Makes `models/tiny`, the embedded base policy: tokenizer, SFT on built-in demonstrations, figures, model card.

    python scripts/make_base_model.py --out models/tiny

It takes minutes on a GPU and hours on two cores, and resumes where it was interrupted. The same device gives the same
policy up to rounding.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "packages/askgate-env/src")]

import torch

from askgate_env.types import TASKS, Episode, Sample
from scripts.base_model import STAGES, Shape, Stage, build_plan, make_base, texts_sha256
from src.agents.render import TagRenderer
from src.agents.trajectory import Job
from src.chat.evaluate import HEADLINE
from src.config.train_config import RolloutLimits
from src.core.jsonl import read_records
from src.data.pool.build import build_pool
from src.eval.metrics import figures, flat
from src.rollout.scheduler import generate


def main() -> None:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--out", type=Path, default=Path("models/tiny"))
    flags.add_argument("--work", type=Path, default=Path("data/base_model"), help="Folder for finished stages.")
    flags.add_argument("--held_out", type=int, default=1000, help="Number of samples to evaluate on.")
    flags.add_argument("--held_out_seed", type=int, default=4444)
    flags.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    flags.add_argument("--machine", default="", help="A line for the model card about the hardware.")
    given = flags.parse_args()

    device = torch.device(given.device)
    shape = Shape()
    model, tokenizer = make_base(shape, STAGES, given.work, device, lambda text: print(text, file=sys.stderr))
    model.half().float()  # in place: the figures are those of the weights as they are saved
    shadow = given.work / f"held_out_{given.held_out_seed}_{given.held_out}_{texts_sha256()[:12]}.jsonl"
    if not shadow.exists():
        build_pool(build_plan(given.held_out, given.held_out_seed, 0.30, "shadow"), shadow)
    samples = list(read_records(shadow, Sample))
    greedy, sampled = (flat(figures(roll_out(model, tokenizer, samples, way, device))) for way in (True, False))
    seed = given.held_out_seed
    held_out = f"On {len(samples):,} held-out samples of other worlds (seed {seed}), 30% of which lack something:"
    machine = given.machine or f"Trained with torch {torch.__version__} on {device.type}, {platform.machine()}."
    parameters = sum(weight.numel() for weight in model.parameters())
    model.cpu().half().save_pretrained(given.out)
    tokenizer.save_pretrained(given.out)
    text = card(shape, STAGES, parameters, greedy, sampled, held_out, machine)
    (given.out / "README.md").write_text(text, encoding="utf-8")
    print(text)


def roll_out(
    model: Any, tokenizer: Any, samples: Sequence[Sample], greedy: bool, device: torch.device
) -> list[Episode]:
    """Episodes of the model on these samples."""
    made = generate(
        model,
        TagRenderer(tokenizer),
        [Job(sample, None, place) for place, sample in enumerate(samples)],
        RolloutLimits(max_turns=6, max_new_tokens=64, max_tokens=640, slots=128),
        device=device,
        generator=torch.Generator(device).manual_seed(0),
        greedy=greedy,
    )
    return [one.episode for one in made]


def card(
    shape: Shape,
    stages: Sequence[Stage],
    parameters: int,
    greedy: Mapping[str, float],
    sampled: Mapping[str, float],
    held_out: str,
    machine: str,
) -> str:
    """The model card in Markdown. `held_out` and `machine` are the lines about the evaluation set and the hardware."""
    rows = [f"| {name} | {greedy[name]:.3f} | {sampled[name]:.3f} |" for name in _metric_names()]
    lines = [
        "# models/tiny",
        "",
        "The base policy that AskGate ships, small enough to train on two cores. Stage 2 below gives it bad habits on",
        "purpose, so that training has something to remove.",
        "It knows AskGate's generated worlds and nothing else; it is not an assistant.",
        "",
        "    python scripts/make_base_model.py --out models/tiny",
        "",
        f"- Qwen3 architecture from random weights, {parameters / 1e6:.2f}M parameters: {shape.layers} layers, "
        f"{shape.width} wide, {shape.heads} heads ({shape.kv_heads} for keys and values), embeddings tied.",
        "- Weights rounded to float16; the figures below are of the rounded ones.",
        f"- Byte-level BPE of {shape.vocab} tokens, made from the first demonstrations; each digit is a token.",
        "- SFT on built-in demonstrations in English and Chinese (template pack v2), loss on the policy's",
        "  words only, thoughts left out; Muon for the matrices of the layers, AdamW for the rest, warm-up and cosine.",
        *(f"- {_stage(number, stage)}" for number, stage in enumerate(stages, 1)),
        f"- {machine}",
        "",
        held_out,
        "",
        "| | greedy | sampled, temperature 1 |",
        "|---|---|---|",
        *rows,
        "",
        "License: Apache-2.0, like the rest of the repository.",
        "",
    ]
    return "\n".join(lines)


def _metric_names() -> list[str]:
    by_task = ("success", "need_ask_success", "overclar_rate")
    return [*HEADLINE, *(f"{name}_{task}" for task in TASKS for name in by_task)]


def _stage(number: int, stage: Stage) -> str:
    habits = stage.habits
    shown = [
        f"in {habits.vague:.0%} of those the policy asks vaguely and then guesses" if habits.vague else "",
        f"{habits.early:.0%} of the others begin with a vague ask" if habits.early else "",
        f"{habits.wordy:.0%} of all answers are whole sentences" if habits.wordy else "",
    ]
    lacking = "; ".join([f"{stage.clarify_rate:.0%} lack something", *filter(None, shown)])
    return (
        f"Stage {number}: {stage.demos:,} demonstrations (seed {stage.seed}), {lacking}; "
        f"{stage.epochs:g} epochs, learning rate {stage.lr:g}, {stage.batch_tokens:,} tokens a batch."
    )


if __name__ == "__main__":
    main()
