"""How good the embedded base is, and the model card that tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ..agents.render import TagRenderer
from ..agents.trajectory import Job
from ..core.episode import Episode
from ..core.types import TASKS, Sample
from ..rollout.limits import Talk
from ..rollout.scheduler import rollout
from .base_model import Shape, Stage

SHOWN = ("success", "need_ask_success", "overclar_rate", "ask_precision", "ask_recall", "avg_turns")


def play(model: Any, tokenizer: Any, samples: Sequence[Sample], greedy: bool, device: torch.device) -> list[Episode]:
    made = rollout(
        model,
        TagRenderer(tokenizer),
        [Job(sample, None, place, place) for place, sample in enumerate(samples)],
        Talk(max_turns=6, max_new_tokens=64, max_tokens=512, slots=128),
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
    """Markdown. `held_out` and `machine` are the lines that say what it was measured on and trained on."""
    rows = [f"| {name} | {greedy[name]:.3f} | {sampled[name]:.3f} |" for name in _names()]
    lines = [
        "# models/tiny",
        "",
        "The embedded base policy of AskGate: small enough for two cores, good enough to learn from, far from done.",
        "It knows AskGate's generated worlds and nothing else; it is no assistant.",
        "",
        "    python scripts/make_base_model.py --out models/tiny",
        "",
        f"- Qwen3 architecture from random weights, {parameters / 1e6:.2f}M parameters: {shape.layers} layers, "
        f"{shape.width} wide, {shape.heads} heads ({shape.kv_heads} for keys and values), embeddings tied.",
        f"- Byte-level BPE of {shape.vocab} tokens, made from the first demonstrations; each digit is a token.",
        "- Ordinary SFT on built-in demonstrations in English and Chinese (template pack v2), loss on the policy's",
        "  words only, thoughts left out, AdamW with warm-up and cosine.",
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


def _names() -> list[str]:
    return [*SHOWN, *(f"{name}_{task}" for task in TASKS for name in ("success", "need_ask_success", "overclar_rate"))]


def _stage(number: int, stage: Stage) -> str:
    habits = stage.habits
    shown = [
        f"{habits.vague:.0%} of those ask without saying for what, and guess" if habits.vague else "",
        f"{habits.early:.0%} of the others begin with such an ask" if habits.early else "",
        f"{habits.wordy:.0%} of all answer in a sentence" if habits.wordy else "",
    ]
    lacking = "; ".join([f"{stage.clarify_rate:.0%} lack something", *filter(None, shown)])
    return (
        f"Stage {number}: {stage.demos:,} demonstrations (seed {stage.seed}), {lacking}; "
        f"{stage.epochs:g} epochs, learning rate {stage.lr:g}, {stage.batch_tokens:,} tokens a batch."
    )
