"""`models/tiny`: the embedded base policy, made from scratch by ordinary SFT on built-in demonstrations.

Its demonstrations come from worlds under seeds of their own, which no shipped config builds a pool from. Nobody stops a
user from building one with such a seed; its samples were then shown to the base.
"""

from __future__ import annotations

import hashlib
import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal, cast

import msgspec
import numpy as np
import torch

from ..agents.render import TagRenderer
from ..core.defaults import MIX, TEMPLATES
from ..core.types import Sample
from ..data.collate import demo_tokens
from ..data.pool.build import build_pool
from ..data.pool.plan import BuildPlan
from ..utils.cores import usable_cores
from .base_habits import NONE, Habits
from .base_tokenizer import make_tokenizer
from .sft import Demo, SftPlan, fine_tune

TOKENIZER_SAMPLES = 12_000
CHUNK = 2_000

Say = Callable[[str], None]


@dataclass(frozen=True)
class Shape:
    """The size of the network. At most 6M parameters: two cores must roll it out."""

    vocab: int = 4096
    width: int = 192
    layers: int = 5
    heads: int = 6
    kv_heads: int = 2
    head_width: int = 32
    inner: int = 512
    positions: int = 1024


@dataclass(frozen=True)
class Stage:
    """Demonstrations of a world of their own, and how long they are learned."""

    demos: int
    seed: int
    epochs: float
    clarify_rate: float
    lr: float
    batch_tokens: int
    habits: Habits = NONE


STAGES = (
    Stage(160_000, 4242, 4.0, clarify_rate=0.5, lr=2e-3, batch_tokens=32_768),
    Stage(160_000, 4545, 4.0, clarify_rate=0.5, lr=1e-3, batch_tokens=32_768),
    Stage(24_000, 4343, 0.4, clarify_rate=0.5, lr=5e-4, batch_tokens=16_384, habits=Habits(0.7, 0.2, 0.2)),
)
"""What the shipped base was made with. First it learns the acts, from demonstrations half of which lack something. Then
it sees demonstrators with habits: they ask without saying for what, they ask before they have read, and they answer in
sentences. So it can do everything to the point and often does not: that is what training is for."""


def make_base(shape: Shape, stages: Sequence[Stage], work: Path, device: torch.device, say: Say) -> tuple[Any, Any]:
    """Model and tokenizer. What is done lies in `work`, where a call that was cut short goes on."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model: Any = None
    for number, stage in enumerate(stages, 1):
        folder = work / stage_name(shape, stages[:number])
        if folder.exists():
            say(f"stage {number}: done before, in {folder}")
            model = cast(Any, AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)).to(device)
            tokenizer = AutoTokenizer.from_pretrained(folder)
            continue
        lines = demonstrations(stage, work, say)
        if model is None:
            decoder = msgspec.json.Decoder(Sample)
            tokenizer = make_tokenizer(map(decoder.decode, lines[:TOKENIZER_SAMPLES]), shape.vocab)
            model = make_network(shape, tokenizer, stage.seed).to(device)
        unfinished = folder.with_name(f".{folder.name}")
        tokenizer.save_pretrained(unfinished)
        say(f"stage {number}")
        learn(model, encode(lines, unfinished, stage), stage, say)
        model.save_pretrained(unfinished)
        unfinished.rename(folder)
    return model, tokenizer


def stage_name(shape: Shape, stages: Sequence[Stage]) -> str:
    """Of the last one's folder, by all that it is made with: what lies there is never the outcome of another recipe."""
    recipe = msgspec.json.encode([shape, *stages])
    return f"stage_{len(stages)}_{hashlib.sha256(recipe).hexdigest()[:12]}"


def demonstrations(stage: Stage, work: Path, say: Say) -> list[bytes]:
    """Lines of the pool."""
    pool = work / f"demos_{stage.seed}_{stage.demos}_{stage.clarify_rate}.jsonl"
    if not pool.exists():
        say(f"building {stage.demos} demonstrations")
        build_pool(build_plan(stage.demos, stage.seed, stage.clarify_rate, "train"), pool)
    return pool.read_bytes().splitlines()


def learn(model: Any, demos: Sequence[Demo], stage: Stage, say: Say) -> None:
    total = sum(len(demo.tokens) for demo in demos)
    say(f"training on {stage.epochs:g} x {total / 1e6:.1f}M tokens")
    done = fine_tune(model, demos, SftPlan(int(stage.epochs * total), stage.lr, stage.batch_tokens, stage.seed))
    say(f"loss {done['loss']:.4f} after {done['updates']:.0f} updates")


def build_plan(n: int, seed: int, clarify_rate: float, split: Literal["train", "shadow"]) -> BuildPlan:
    return BuildPlan(n=n, mix=MIX, seed=seed, langs=(), templates_dir=TEMPLATES, clarify_rate=clarify_rate, split=split)


def encode(lines: Sequence[bytes], tokenizer: Path, stage: Stage) -> list[Demo]:
    """By all cores: a tokenizer that is asked for one short text at a time is slow."""
    chunks = [(lines[at : at + CHUNK], tokenizer, stage, at) for at in range(0, len(lines), CHUNK)]
    # Not forked: torch has threads by now.
    with ProcessPoolExecutor(usable_cores(most=16), mp_context=multiprocessing.get_context("spawn")) as workers:
        return [demo for part in workers.map(_encode, chunks) for demo in part]


def _encode(chunk: tuple[Sequence[bytes], Path, Stage, int]) -> list[Demo]:
    from transformers import AutoTokenizer

    lines, folder, stage, first = chunk
    renderer = TagRenderer(AutoTokenizer.from_pretrained(folder))
    random = Random(f"vague:{stage.seed}:{first}")
    samples = map(msgspec.json.Decoder(Sample).decode, lines)
    shown = (stage.habits.shown(sample, random) for sample in samples)
    pairs = (demo_tokens(sample, renderer, thoughts=False) for sample in shown)
    return [Demo(np.array(tokens, np.int32), np.array(policy, np.bool_)) for tokens, policy in pairs]


def make_network(shape: Shape, tokenizer: Any, seed: int) -> Any:
    from transformers import Qwen3Config, Qwen3ForCausalLM

    config = Qwen3Config(
        vocab_size=shape.vocab,
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        head_dim=shape.head_width,
        intermediate_size=shape.inner,
        max_position_embeddings=shape.positions,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    torch.manual_seed(seed)
    return Qwen3ForCausalLM(config)  # type: ignore[no-untyped-call]
