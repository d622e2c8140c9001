"""Rendering of the board's pages: its templates and its links."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment
from markupsafe import Markup

from ..pages.render import environment

TEMPLATES = Path(__file__).parent / "templates"


@cache
def _board_pages() -> Environment:
    made = environment(TEMPLATES)
    made.globals["address"] = address
    return made


def render(template: str, **context: Any) -> Markup:
    """A part of a page."""
    return Markup(_board_pages().get_template(template).render(**context))


def address(where: str, /, **query: str) -> str:
    """A link of the board. Empty values are left out."""
    kept = {name: value for name, value in query.items() if value}
    return f"{where}?{urlencode(kept)}" if kept else where


_FILE = re.compile(r"\b(?:reports|logs|data|configs|runs)/[\w./-]*\w\.(?:html|jsonl?|ya?ml|log|md)\b")


def linked_text(text: str, readable: Callable[[str], bool]) -> Markup:
    """Text whose names of files of the project folder are links."""

    def link(found: re.Match[str]) -> str:
        path = found[0]
        page = "/report" if path.endswith(".html") else "/file"
        return f'<a href="{address(page, path=path)}">{path}</a>' if readable(path) else path

    return Markup(_FILE.sub(link, str(Markup.escape(text))))
