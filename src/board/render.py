"""Rendering of the board's pages: its templates, its links, and what was searched for highlighted in text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment
from markupsafe import Markup

from askgate_env.types import Lang

from ..pages.render import environment
from .query import search_terms

TEMPLATES = Path(__file__).parent / "templates"


@cache
def _board_pages() -> Environment:
    made = environment(TEMPLATES)
    made.globals["address"] = address
    return made


def render(template: str, **context: Any) -> Markup:
    """A part of a page."""
    return Markup(_board_pages().get_template(template).render(**context))


def frame(title: str, body: Markup, here: str, runs: Sequence[str], run: str, languages: Mapping[Lang, str]) -> bytes:
    """A whole page around `body`. `here` is the current entry of the navigation, `languages` the page's addresses."""
    return render("frame.html", title=title, body=body, here=here, runs=runs, run=run, languages=languages).encode()


def address(where: str, /, **query: str) -> str:
    """A link of the board. Empty values are left out."""
    kept = {name: value for name, value in query.items() if value}
    return f"{where}?{urlencode(kept)}" if kept else where


_FILE = re.compile(r"\b(?:reports|logs|data|configs|runs)/[\w./-]*\w\.(?:html|jsonl?|ya?ml|log|md)\b")


def linked_text(text: str, readable: Callable[[str], bool]) -> Markup:
    """Text whose names of files of the run folder are links."""
    parts, end = [], 0
    for found in _FILE.finditer(text):
        path = found[0]
        if readable(path):
            page = "/report" if path.endswith(".html") else "/file"
            parts += [
                Markup.escape(text[end : found.start()]),
                Markup('<a href="{}">{}</a>').format(address(page, path=path), path),
            ]
            end = found.end()
    return Markup("").join([*parts, text[end:]])


def highlighter(typed: str) -> Callable[[str], Markup]:
    """A function that puts what was searched for in `<mark>`, and escapes all text.

    >>> str(highlighter("b")("a <b> B"))
    'a &lt;<mark>b</mark>&gt; <mark>B</mark>'
    """
    terms = [re.escape(term) for term in sorted(search_terms(typed), key=len, reverse=True)]
    if not terms:
        return Markup.escape
    pattern = re.compile(f"({'|'.join(terms)})", re.IGNORECASE)

    def highlight(text: str) -> Markup:
        pieces = pattern.split(text)
        return Markup("").join(
            Markup("<mark>{}</mark>").format(piece) if place % 2 else piece for place, piece in enumerate(pieces)
        )

    return highlight
