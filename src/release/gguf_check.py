"""Whether a GGUF file is the model that it was made from: the same tokens for the same text, and the same likeliest
token after the same tokens.

llama.cpp goes on from a prompt by itself; PyTorch then reads prompt and continuation in one pass and says at every
place what it would have said there. Both say the same throughout exactly if both would have said the same by
themselves. Where they differ, the gap tells how much likelier PyTorch found its own token, in logits: a near tie is a
matter of rounding, a wide gap is another model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import torch
from msgspec import Struct

from ..agents.chat import ChatRenderer
from ..agents.render import TagRenderer
from ..core.defaults import MIX, SEED, TEMPLATES
from ..core.errors import BadInput
from ..core.jsonl import read_records
from ..core.types import Sample
from ..data.pool.build import build_pool
from ..data.pool.plan import BuildPlan
from .llamacpp import LlamaCpp

if TYPE_CHECKING:
    from ..agents.render import Renderer

PROMPTS = 50
NEW_TOKENS = 32
"""Of each continuation, most: a policy's turn ends sooner."""
ODD_TEXTS = (
    "", " ", "  \n\n\t x", "a  b   c\n\n  d\r\n", "1234567890", "3.14159, 1,000,000 and 12/03/2024; 50%-60%",
    "don't I'LL we've You'Re 'tis O'Neil's", "café naïve Ωμέγα Привет שלום مرحبا नमस्ते ภาษาไทย",
    "您说的是哪一位？那位画家出生于1899年，卒于1953年。", "第3题：（a）“多少钱”——￥12.50！",
    "한국어 テスト ｶﾀｶﾅ １２３", "👩‍👩‍👧 🙂🏽 ∑∫√ ½ ² ⅷ ①", "f(x)=x**2; // a_b-c{d}[e]<f>&amp;",
    "http://a.b/c?d=e#f", "\u00a0\u3000\u200b\ufeff end", "e\u0301 versus \u00e9", "ALLCAPS camelCase snake_case",
    "-1e-5 +7 ~8 ^9", "<ask>what?</ask> <think>x</think> <|end|>",
)  # fmt: skip
"""Blanks, digits, marks and scripts: where ways to cut text differ."""


class Difference(Struct, frozen=True):
    prompt: int
    place: int
    pytorch: int
    llamacpp: int
    gap: float
    """How much likelier PyTorch found its own token, in logits."""


class Agreement(Struct, frozen=True):
    prompts: int
    prompts_same: int
    """Whole continuations without a difference."""
    tokens: int
    same: int
    same_share: float
    """Of places where both say the same after the same tokens."""
    until_first_share: float
    """Of tokens before the first difference of their continuation."""
    differences: list[Difference]


def openings(renderer: Renderer, samples: Sequence[Sample]) -> list[list[int]]:
    return [renderer.opening(sample.prompt, None) for sample in samples]


def renderer_for(tokenizer: Any) -> Renderer:
    return ChatRenderer(tokenizer) if tokenizer.chat_template else TagRenderer(tokenizer)


def check_samples(n: int = PROMPTS) -> list[Sample]:
    """From the built-in worlds, in both languages; always the same."""
    with TemporaryDirectory() as folder:
        pool = Path(folder) / "pool.jsonl"
        build_pool(BuildPlan(n=n, mix=MIX, seed=SEED, langs=(), templates_dir=TEMPLATES, split="shadow"), pool)
        return list(read_records(pool, Sample))


def other_tokens(llama: LlamaCpp, tokenizer: Any, texts: Sequence[str]) -> list[str]:
    """Texts that llama.cpp reads as other tokens than the tokenizer of the model."""
    return [text for text in texts if llama.tokenize(text) != tokenizer.encode(text, add_special_tokens=False)]


def texts_of(samples: Sequence[Sample]) -> Iterator[str]:
    yield from ODD_TEXTS
    for sample in samples:
        yield from (turn.text for turn in sample.dialogue)
        yield from (article.text for article in sample.context)


def agreement(
    llama: LlamaCpp, model: Any, prompts: Sequence[Sequence[int]], progress: Callable[[int], None] | None = None
) -> Agreement:
    """`model` in the numbers that it is to be compared in; float32 unless there is no room."""
    found: list[Difference] = []
    tokens = 0
    first: list[int] = []
    for number, prompt in enumerate(prompts):
        said = llama.go_on(prompt, NEW_TOKENS, None)
        here = _differences(model, number, list(prompt), said)
        found += here
        tokens += len(said)
        first.append(here[0].place if here else len(said))
        if progress is not None:
            progress(1)
    if not tokens:
        raise BadInput("there was nothing to compare", where="prompts", remedy="give at least one prompt")
    same = tokens - len(found)
    whole = len(prompts) - len({one.prompt for one in found})
    return Agreement(len(prompts), whole, tokens, same, same / tokens, sum(first) / tokens, found)


def _differences(model: Any, number: int, prompt: list[int], said: list[int]) -> list[Difference]:
    with torch.inference_mode():
        read = torch.tensor([prompt + said], device=model.device)
        # One logit before each token that was said.
        logits_TV = model(read, logits_to_keep=len(said) + 1).logits[0, :-1].float()
    likeliest = logits_TV.argmax(-1).tolist()
    return [
        Difference(number, place, ours, theirs, float(logits_TV[place, ours] - logits_TV[place, theirs]))
        for place, (ours, theirs) in enumerate(zip(likeliest, said, strict=True))
        if ours != theirs
    ]
