"""Parts of `make_base_model.py`: tokenizer, network, demonstrators and training stages of `models/tiny`.

The embedded base policy is made from scratch by ordinary SFT on built-in demonstrations. They come from worlds with
seeds of their own, which no shipped config builds a pool from. A pool that a user builds with such a seed holds samples
that the base was trained on.
"""

from __future__ import annotations

import hashlib
import multiprocessing
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal

import msgspec
import numpy as np
import torch
from msgspec.structs import replace
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from askgate_env.types import Lang, Sample, Turn
from askgate_env.user_simulator import reply
from src.agents.render import END, MARKS, PAD, TagRenderer
from src.core.defaults import MIX, TEMPLATES
from src.data.collate import demo_tokens
from src.data.pool.build import build_pool
from src.data.pool.plan import BuildPlan
from src.data.pool.templates import pack_fingerprints
from src.data.pool.voice import voice_fingerprints
from src.data.worlds.texts import text_fingerprints
from src.engines.models import compile_layers
from src.engines.sft import BETAS, WEIGHT_DECAY, Demo, SftPlan, fine_tune
from src.utils.processes import usable_cores

TOKENIZER_SAMPLES = 12_000
CHUNK = 2_000
WORD = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
"""Qwen2's pattern for words: every digit is a token, and llama.cpp knows it by the name `qwen2`."""

Log = Callable[[str], None]

VAGUE: dict[Lang, tuple[str, ...]] = {
    "en": (
        "Could you clarify?",
        "What do you mean?",
        "Please clarify.",
        "Could you explain that?",
        "Can you be clearer?",
    ),
    "zh": ("请说清楚？", "能讲清楚些吗？", "什么意思？", "请再说明一下？", "可以具体一点吗？"),
}
WORDY: dict[Lang, tuple[str, ...]] = {
    "en": ("The answer is {}.", "I think it is {}.", "It must be {}."),
    "zh": ("答案是{}。", "我想是{}。", "应该是{}。"),
}


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
class Habits:
    """Bad habits of the demonstrators, which RL has to remove again."""

    vague: float = 0.0
    """Share of the incomplete samples' demonstrations in which the ask does not say what is wanted."""
    early: float = 0.0
    """Share of the other demonstrations that begin with such an ask, whether or not something is missing."""
    wordy: float = 0.0
    """Share of all demonstrations that answer in a sentence, where the answer alone is wanted."""

    def apply(self, sample: Sample, random: Random) -> Sample:
        vague, early, wordy = (random.random() < share for share in (self.vague, self.early, self.wordy))
        if wordy:
            sample = answer_in_sentence(sample, random)
        if vague and sample.needs_clarification:
            return ask_vaguely(sample, random)
        return ask_early(sample, random) if early else sample


NONE = Habits()


@dataclass(frozen=True)
class Stage:
    """One stage of training: demonstrations from a world of their own, and how long to train on them."""

    demos: int
    seed: int
    epochs: float
    clarify_rate: float
    lr: float
    batch_tokens: int
    habits: Habits = NONE


STAGES = (
    Stage(400_000, 4242, 8.0, clarify_rate=0.5, lr=5e-3, batch_tokens=65_536),
    Stage(24_000, 4343, 0.4, clarify_rate=0.5, lr=5e-4, batch_tokens=16_384, habits=Habits(0.7, 0.2, 0.2)),
)
"""Stages of the shipped base. First it learns the acts, from demonstrations half of which lack something. Then it sees
demonstrators with bad habits: they ask without saying for what, they ask before they have read, and they answer in
sentences. So the base can do everything, but often does not: that is what reinforcement learning is for."""


def make_base(shape: Shape, stages: Sequence[Stage], work: Path, device: torch.device, log: Log) -> tuple[Any, Any]:
    """Trains model and tokenizer and returns them. Finished stages are kept in `work`, where a later call resumes."""
    model: Any = None
    for number, stage in enumerate(stages, 1):
        folder = work / stage_name(shape, stages[:number])
        if folder.exists():
            log(f"stage {number}: done before, in {folder}")
            model = _ready(AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32), device)
            tokenizer = AutoTokenizer.from_pretrained(folder)
            continue
        lines = demonstrations(stage, work, log)
        if model is None:
            decoder = msgspec.json.Decoder(Sample)
            tokenizer = make_tokenizer(map(decoder.decode, lines[:TOKENIZER_SAMPLES]), shape.vocab)
            model = _ready(make_network(shape, tokenizer, stage.seed), device)
        unfinished = folder.with_name(f".{folder.name}")
        tokenizer.save_pretrained(unfinished)
        log(f"stage {number}")
        train(model, encode(lines, unfinished, stage), stage, log)
        model.save_pretrained(unfinished)
        unfinished.rename(folder)
    return model, tokenizer


def _ready(model: Any, device: torch.device) -> Any:
    """The model on its device, with compiled layers on a GPU."""
    model.to(device)
    if device.type == "cuda":
        compile_layers(model)
    return model


def stage_name(shape: Shape, stages: Sequence[Stage]) -> str:
    """Folder name of the last stage, with a hash of shape, stages and texts, so that a changed recipe starts anew."""
    recipe = msgspec.json.encode([shape, *stages, texts_sha256()])
    return f"stage_{len(stages)}_{hashlib.sha256(recipe).hexdigest()[:12]}"


def texts_sha256() -> str:
    """SHA-256 of all texts that samples are made of."""
    texts = text_fingerprints() | pack_fingerprints(TEMPLATES) | voice_fingerprints()
    return hashlib.sha256(msgspec.json.encode(sorted(texts.items()))).hexdigest()


def demonstrations(stage: Stage, work: Path, log: Log) -> list[bytes]:
    """The demonstrations of a stage, as lines of a pool."""
    pool = work / f"demos_{stage.seed}_{stage.demos}_{stage.clarify_rate}_{texts_sha256()[:12]}.jsonl"
    if not pool.exists():
        log(f"building {stage.demos} demonstrations")
        build_pool(build_plan(stage.demos, stage.seed, stage.clarify_rate, "train"), pool)
    return pool.read_bytes().splitlines()


def train(model: Any, demos: Sequence[Demo], stage: Stage, log: Log) -> None:
    total = sum(len(demo.tokens) for demo in demos)
    log(f"training on {stage.epochs:g} x {total / 1e6:.1f}M tokens")
    plan = SftPlan(int(stage.epochs * total), stage.lr, stage.batch_tokens, stage.seed)
    done = fine_tune(model, demos, plan, optimizers(model, stage.lr))
    log(f"loss {done['loss']:.4f} after {done['updates']:.0f} updates")


def optimizers(model: Any, lr: float) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, AdamW for embeddings and norms. After 120M tokens the loss on held-out
    demonstrations is 0.109 instead of 0.122 with AdamW alone."""
    matrices = [weight for weight in model.get_decoder().layers.parameters() if weight.ndim == 2]
    chosen = {id(weight) for weight in matrices}
    others = [weight for weight in model.parameters() if id(weight) not in chosen]
    return [
        torch.optim.Muon(matrices, lr=lr, weight_decay=WEIGHT_DECAY, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(others, lr=lr, betas=BETAS, weight_decay=0.0),
    ]


def build_plan(n: int, seed: int, clarify_rate: float, split: Literal["train", "shadow"]) -> BuildPlan:
    return BuildPlan(n=n, mix=MIX, seed=seed, langs=(), templates_dir=TEMPLATES, clarify_rate=clarify_rate, split=split)


def encode(lines: Sequence[bytes], tokenizer: Path, stage: Stage) -> list[Demo]:
    """Tokenizes on all cores, because a tokenizer that is given one short text at a time is slow."""
    chunks = [(lines[at : at + CHUNK], tokenizer, stage, at) for at in range(0, len(lines), CHUNK)]
    if len(chunks) == 1:  # a process takes seconds to start
        return _encode(chunks[0])
    # Spawned, not forked: torch has started threads by now.
    with ProcessPoolExecutor(usable_cores(most=16), mp_context=multiprocessing.get_context("spawn")) as workers:
        return [demo for part in workers.map(_encode, chunks) for demo in part]


def _encode(chunk: tuple[Sequence[bytes], Path, Stage, int]) -> list[Demo]:
    lines, folder, stage, first = chunk
    renderer = TagRenderer(AutoTokenizer.from_pretrained(folder))
    random = Random(f"vague:{stage.seed}:{first}")
    samples = map(msgspec.json.Decoder(Sample).decode, lines)
    shown = (stage.habits.apply(sample, random) for sample in samples)
    pairs = (demo_tokens(sample, renderer, thoughts=False) for sample in shown)
    return [Demo(np.array(tokens, np.int32), np.array(policy, np.bool_)) for tokens, policy in pairs]


def make_network(shape: Shape, tokenizer: Any, seed: int) -> Any:
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


def make_tokenizer(samples: Iterable[Sample], vocab: int) -> PreTrainedTokenizerFast:
    """Trains a byte-level BPE with single digits, which llama.cpp can read. Every tag of the layout is one token."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORD), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab,
        special_tokens=list(MARKS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(_texts(samples), trainer)
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=raw, pad_token=PAD, eos_token=END, clean_up_tokenization_spaces=False
    )


def _texts(samples: Iterable[Sample]) -> Iterable[str]:
    for sample in samples:
        yield sample.prompt
        for turn in sample.dialogue[1:]:
            yield turn.text
        for article in sample.context:
            yield article.text


def ask_vaguely(sample: Sample, random: Random) -> Sample:
    """The demonstration of one who asks without saying for what, learns nothing, and guesses."""
    turns = list(sample.dialogue)
    for at, turn in enumerate(sample.dialogue):
        if turn.act == "ask":
            asked, answered = _exchange(sample, random)
            turns[at] = replace(turn, text=asked.text)
            turns[at + 1] = replace(turns[at + 1], text=answered.text)
    return replace(sample, dialogue=tuple(turns))


def ask_early(sample: Sample, random: Random) -> Sample:
    """The demonstration of one who asks vaguely before reading, is asked back what for, and then does everything
    right."""
    first, *rest = sample.dialogue
    return replace(sample, dialogue=(first, *_exchange(sample, random), *rest))


def answer_in_sentence(sample: Sample, random: Random) -> Sample:
    """The demonstration of one who answers in a sentence instead of with the bare answer.

    For gsm8k the number in it still counts.
    """
    *before, answer = sample.dialogue
    said = random.choice(WORDY[sample.lang]).format(answer.text)
    return replace(sample, dialogue=(*before, replace(answer, text=said)))


def _exchange(sample: Sample, random: Random) -> tuple[Turn, Turn]:
    """A vague ask and the user's reply to it."""
    ask = random.choice(VAGUE[sample.lang])
    return Turn("assistant", "ask", ask), Turn("user", "say", reply(sample, ask))
