"""A task with a known optimum, small enough to be learned in seconds.

`name amber` is answered with amber. `name something` is answered with a word that only the user knows: the policy must
ask first, and must not ask otherwise. The best mean reward is exactly 1. The base knows the grammar and a little of
the task: it asks half of the time, whatever the prompt, and says the right word half of the time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import AutoTokenizer, PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from askgate_env.reward import TrainingReward
from askgate_env.types import Episode, Hidden, Provenance, Sample, Turn
from src.agents.render import MARKS, PAD, TagRenderer
from src.config.train_config import OptimizerSection, RolloutLimits
from src.core.api import Engine, StepResult, Strategy
from src.engines.job import Drawn, TrainJob
from src.engines.sft import Demo, SftPlan, fine_tune

WORDS = ("amber", "birch", "cedar", "dune")
OPTIMUM = 1.0


def sample(word: str, shown: bool) -> Sample:
    prompt = f"name {word if shown else 'something'}"
    answer = Turn("assistant", "answer", word)
    asked = (Turn("assistant", "ask", "name"), Turn("user", "say", f"it is {word}"))
    return Sample(
        id=f"{word}-{shown}",
        task="hotpotqa",
        lang="en",
        prompt=prompt,
        premise="",
        clue="",
        question=prompt,
        original=f"name {word}",
        context=(),
        support=(),
        answer=word,
        aliases=(),
        needs_clarification=not shown,
        dialogue=(Turn("user", "say", prompt), *(() if shown else asked), answer),
        provenance=Provenance("toy", "train", word, "toy", "none", "plain", 0),
        hidden=None if shown else Hidden("entity", word, "name", ("name",)),
    )


SAMPLES = [sample(word, shown) for word in WORDS for shown in (True, False)]


@dataclass
class ToySampler:
    """Draws all samples equally often, and counts draws so that there is a state to save."""

    seed: int
    seen: int = 0
    calls: list[int] = field(default_factory=list)

    def draw(self, step: int, count: int) -> Sequence[Drawn]:
        self.calls.append(step)
        order = np.random.default_rng([self.seed, step, self.seen]).permutation(len(SAMPLES) * count)
        return [Drawn(SAMPLES[row % len(SAMPLES)]) for row in order[:count]]

    def observe(self, episodes: Sequence[Episode]) -> None:
        self.seen += len(episodes)

    def state_dict(self) -> dict[str, Any]:
        return {"seen": self.seen}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.seen = state["seen"]


def make_model(folder: Path, seed: int = 0, taught: bool = True, layers: int = 1) -> Path:
    """Tokenizer and a small Qwen3 in `folder`."""
    vocab = ["[UNK]", *MARKS, *"name something it is".split(), *WORDS]
    words = Tokenizer(WordLevel({word: number for number, word in enumerate(vocab)}, unk_token="[UNK]"))
    words.pre_tokenizer = WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]", pad_token=PAD)
    tokenizer.add_special_tokens({"additional_special_tokens": [*MARKS]})
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=len(vocab), hidden_size=32, intermediate_size=64, num_hidden_layers=layers, num_attention_heads=2,
        num_key_value_heads=1, head_dim=16, max_position_embeddings=64, tie_word_embeddings=True,
    )  # fmt: skip
    model = Qwen3ForCausalLM(config)
    if taught:
        fine_tune(model, demos(TagRenderer(tokenizer)), SftPlan(tokens=300_000, lr=1e-2, batch_tokens=2000, seed=seed))
    model.save_pretrained(folder)
    return folder


def demos(renderer: TagRenderer) -> list[Demo]:
    """Demonstrations of the grammar.

    Both actions and every word follow every prompt, the right word three times as often as another.
    """
    found = []
    for one in SAMPLES:
        for said in (*WORDS, one.answer, one.answer):
            for ask in (False, True):
                tokens, policy = renderer.opening(one.prompt), []
                policy = [False] * len(tokens)
                turns = ["<ask>name"] * ask + [f"<answer>{said}"]
                for number, text in enumerate(turns):
                    if number:
                        heard = renderer.reply("user", f"it is {one.answer}")
                        tokens, policy = tokens + heard, policy + [False] * len(heard)
                    more = renderer.policy(text)
                    tokens, policy = tokens + more, policy + [True] * len(more)
                found.append(Demo(np.array(tokens, dtype=np.int32), np.array(policy)))
    return found


def renderer_of(folder: Path) -> TagRenderer:
    return TagRenderer(AutoTokenizer.from_pretrained(folder))


def make_job(
    folder: Path,
    strategy: Strategy,
    *,
    seed: int = 0,
    steps: int,
    batch: int = 64,
    lr: float = 1e-5,
    kl_alert: float | None = None,
    **optimizer: Any,
) -> TrainJob:
    return TrainJob(
        model=str(folder),
        renderer=renderer_of(folder),
        strategy=strategy,
        sampler=ToySampler(seed),
        reward=TrainingReward(),
        seed=seed,
        max_steps=steps,
        batch_size=batch,
        device=torch.device("cpu"),
        dtype=torch.float32,
        lr=lr,
        kl_alert=kl_alert,
        rollout=RolloutLimits(max_turns=3, max_new_tokens=4, max_tokens=32, slots=192),
        optimizer=OptimizerSection(**optimizer),
    )


def fingerprint(module: torch.nn.Module) -> str:
    """SHA-256 over every weight."""
    digest = hashlib.sha256()
    for name, weight in sorted(module.state_dict().items()):
        digest.update(name.encode() + weight.detach().cpu().float().numpy().tobytes())
    return digest.hexdigest()


class StepRecorder:
    """A callback that records the results of all steps."""

    def __init__(self) -> None:
        self.results: list[StepResult] = []

    def on_start(self, engine: Engine) -> None: ...

    def on_step(self, engine: Engine, result: StepResult) -> None:
        self.results.append(result)

    def on_end(self, engine: Engine) -> None: ...
