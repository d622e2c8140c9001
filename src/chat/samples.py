"""Samples to talk about: one that a person types, those of a pool, and held-out ones of the built-in worlds."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from askgate_env.tokenize import CJK
from askgate_env.types import Article, Lang, Provenance, Sample

from ..core.errors import BadInput
from ..core.files import explain_read_errors
from ..core.jsonl import read_records
from ..data.pool.build import builtin_samples

DRAWN = 40  # samples of the built-in worlds that a chat draws from
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


class Page(Struct, frozen=True):
    """A line of a JSONL file of articles."""

    title: str
    text: str


def typed_sample(prompt: str, articles: tuple[Article, ...]) -> Sample:
    """The sample of a typed question. Its answer is unknown, so its task is `detect`, which has no success."""
    lang: Lang = "zh" if re.search(f"[{CJK}]", prompt) else "en"
    return Sample(
        id="typed",
        task="detect",
        lang=lang,
        prompt=prompt,
        premise="",
        clue="",
        question=prompt,
        original=prompt,
        context=articles,
        support=(),
        answer="",
        aliases=(),
        needs_clarification=False,
        dialogue=(),
        provenance=Provenance("typed", "shadow", "typed", "", "", "", 0),
    )


def read_articles(path: Path) -> tuple[Article, ...]:
    """Articles of a JSONL file with `title` and `text`, or one article from a text file, titled by the file's name."""
    if path.suffix == ".jsonl":
        pages = list(read_records(path, Page))
    else:
        with explain_read_errors(path):
            raw = path.read_bytes()
        try:
            pages = [Page(path.stem, raw.decode())]
        except UnicodeDecodeError:
            remedy = 'name a text file, or a .jsonl with {"title": ..., "text": ...} a line'
            raise BadInput("is not text in UTF-8", where=str(path), remedy=remedy) from None
    return tuple(Article(page.title, sentences(page.text) or ("",)) for page in pages)


def sentences(text: str) -> tuple[str, ...]:
    """Sentences of a text.

    >>> sentences("Lund is a city. It has a cathedral! 隆德是座城市。人口九万。")
    ('Lund is a city.', 'It has a cathedral!', '隆德是座城市。', '人口九万。')
    """
    return tuple(part.strip() for part in _SENTENCE.split(text) if part.strip())


def held_out_samples(n: int, lang: Lang, seed: int) -> list[Sample]:
    """Samples of the built-in worlds that no training pool contains; half of them lack something."""
    return builtin_samples(n, seed, langs=(lang,), clarify_rate=0.5, split="shadow")
