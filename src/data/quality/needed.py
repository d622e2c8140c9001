"""Whether an ask is needed: what is hidden cannot be found, and what is left is no complete problem of its own.

For questions of people over real articles and problems (sources `dir` and `hf`), where no construction guarantees it.
The builder vetoes such records by the annotations of the dataset; here only the finished sample is read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...agents.tools import search
from ...core.tokenize import words
from ...core.types import Article, Sample

REAL_SOURCES = ("dir", "hf")
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

    So it is if the calculations do not use the hidden number, or only add or subtract it while nothing in the prompt is
    compared with whom or what the hidden sentence is about.
    """
    hidden = sample.hidden
    if hidden is None or sample.provenance.source not in REAL_SOURCES or sample.task != "gsm8k":
        return False
    calls = [turn.text for turn in sample.dialogue if turn.act == "call" and turn.tool == "calc"]
    numbers = {float(one.replace(",", "")) for one in re.findall(r"\d[\d,]*(?:\.\d+)?", hidden.span)}
    if not numbers:
        return False  # a number in words: the calculations cannot be compared with it
    uses = [above for call in calls for value, above in _operands(call) if value in numbers]
    if any(isinstance(above, ast.Mult | ast.Div | ast.Mod | ast.Pow) for above in uses):
        return False
    names = re.findall(r"\b[A-Z][a-z]+\b", hidden.span)
    sentences = re.split(r"(?<=[.?!])\s", sample.prompt)
    return not (uses and any(_COMPARED.search(one) and name in one for one in sentences for name in names))


def _operands(expression: str) -> Iterator[tuple[float, ast.operator | None]]:
    """Numbers of an expression with the operation right above each."""
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError:
        return
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Constant) and isinstance(child.value, int | float):
                yield float(child.value), node.op if isinstance(node, ast.BinOp) else None
