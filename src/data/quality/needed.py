"""Whether an ask is needed: what is hidden cannot be found, and what is left is no complete problem of its own.

For questions of people over real articles and problems (sources `dir` and `hf`), where no construction guarantees it.
The builder vetoes such records by the annotations of the dataset; here only the finished sample is read.
"""

from __future__ import annotations

import re
from fractions import Fraction

from askgate_env.tokenize import words
from askgate_env.tools import CalcError, evaluate, search
from askgate_env.types import Article, Sample

REAL_SOURCES = ("dir", "hf")
_NUMBER = re.compile(r"(?<![\w.])(?:\d+\.?\d*|\.\d+)(?![\w.])")
_COMPARED = re.compile(r"\b(?:than|as|of|half|twice|double|triple|times)\b", re.IGNORECASE)


def hidden_article_is_findable(sample: Sample) -> bool:
    """Whether the hidden article is the only one of its noun, or the first hit of a search for the noun."""
    hidden = sample.hidden
    if hidden is None or sample.provenance.source not in REAL_SOURCES or hidden.kind not in ("entity", "subject"):
        return False
    noun = hidden.about[0]
    meant = [page for page in sample.context if _is_named(page, hidden.span)]
    rivals = [
        page for page in sample.context if page not in meant and _is_a(page, noun) and page.title not in sample.prompt
    ]
    return not rivals or any(hit in meant for hit in search(sample.context, noun)[:1])


def _is_named(page: Article, span: str) -> bool:
    bare = re.sub(r"\s*\([^()]*\)$", "", page.title).lower()
    return span.lower() in (bare, bare.split(",")[0], bare.removeprefix("the "))


def _is_a(page: Article, noun: str) -> bool:
    """Whether title or definition of an article has the noun."""
    return not {noun, f"{noun}s"}.isdisjoint(words(f"{page.title} {page.sentences[0]}"))


def rest_is_complete(sample: Sample) -> bool:
    """Whether a word problem without its hidden sentence is another problem that lacks nothing.

    So it is if the calculations do not use the hidden number, or have a positive result with 0 in its place, while
    nothing in the prompt is compared with whom or what the hidden sentence is about.
    """
    hidden = sample.hidden
    if hidden is None or sample.provenance.source not in REAL_SOURCES or sample.task != "gsm8k":
        return False
    calls = [turn.text for turn in sample.dialogue if turn.act == "call" and turn.tool == "calc"]
    numbers = {Fraction(one.replace(",", "")) for one in re.findall(r"\d[\d,]*(?:\.\d+)?", hidden.span)}
    if not numbers:
        return False  # a number in words: the calculations cannot be compared with it
    used = {Fraction(one) for call in calls for one in _NUMBER.findall(call)} & numbers
    without = _result(calls, dict.fromkeys(numbers, Fraction(0)))
    if used and (without is None or without <= 0):
        return False
    names = set(re.findall(r"\b[A-Z][a-z]+\b", hidden.span))
    about = {word.removesuffix("s") for word in words(hidden.span) if len(word) > 3}
    compared = [one for one in re.split(r"(?<=[.?!])\s", sample.prompt) if _COMPARED.search(one)]
    return not used or not any(
        names & set(re.findall(r"\w+", one)) or len(about & {word.removesuffix("s") for word in words(one)}) > 1
        for one in compared
    )


def _result(calls: list[str], instead: dict[Fraction, Fraction]) -> Fraction | None:
    """The last result of some calculations with other numbers in place of some, also where a later one uses the result
    of an earlier one; `None` if it cannot be computed."""
    changed = dict(instead)
    result = None
    for call in calls:
        try:
            before = evaluate(call)
            after = evaluate(_NUMBER.sub(lambda one: f"({changed.get(Fraction(one[0]), one[0])})", call))
        except CalcError:
            return None
        if isinstance(before, bool) or isinstance(after, bool):
            return None
        changed.setdefault(before, after)
        result = after
    return result
