"""What every page of the board shares: head, way around, and how text gets into HTML. Whatever comes from a file, a
model or an address is escaped here or by whoever puts it in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from urllib.parse import urlencode

from ..loop.lights import WORDS, Colour
from .search import parts_of

PAGES = {
    "overview": ("/", "Lights", "看灯"),
    "episodes": ("/episodes", "Episodes", "对话"),
    "compare": ("/compare", "Compare", "对比"),
}


def page(title: str, body: str, here: str, runs: Sequence[str], run: str) -> bytes:
    links = "".join(_link(name, name == here, run if run != runs[0] else "") for name in PAGES)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>"
        '<link rel="icon" href="/icon.svg"><link rel="stylesheet" href="/board.css">'
        '<script src="/board.js" defer></script></head><body>'
        f'<nav class="top"><div><a class="brand" href="/">AskGate</a>{links}{_runs(runs, run, here)}</div></nav>'
        f"<main>{body}</main></body></html>\n"
    ).encode()


def _link(name: str, current: bool, run: str) -> str:
    path, english, chinese = PAGES[name]
    mark = ' aria-current="page"' if current else ""
    return f'<a href="{address(path, run=run)}"{mark}>{both(english, chinese)}</a>'


def _runs(runs: Sequence[str], run: str, here: str) -> str:
    """Which run folder is shown, where there are several."""
    if len(runs) < 2 or here != "episodes":
        return f'<span class="run">{escape(run)}</span>'
    links = "".join(_run_link(one, one == run) for one in runs)
    return f'<span class="runs">{links}</span>'


def _run_link(name: str, current: bool) -> str:
    mark = ' aria-current="page"' if current else ""
    return f'<a class="run" href="{address("/episodes", run=name)}"{mark}>{escape(name)}</a>'


def address(where: str, /, **query: str) -> str:
    """A link of the board, ready for an attribute; what is empty is left out."""
    kept = {name: value for name, value in query.items() if value}
    return escape(f"{where}?{urlencode(kept)}" if kept else where, quote=True)


def both(english: str, chinese: str) -> str:
    return f'{escape(english)} <span class="zh" lang="zh">{escape(chinese)}</span>'


def title(level: int, english: str, chinese: str) -> str:
    return f"<h{level}>{both(english, chinese)}</h{level}>"


def lamp(colour: Colour) -> str:
    english, chinese = WORDS[colour]
    return f'<span class="lamp {colour}">{english} {chinese}</span>'


def table(head: Iterable[str], rows: Iterable[Iterable[str]], kind: str = "") -> str:
    """Cells are HTML already."""
    top = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    heading = f"<thead><tr>{top}</tr></thead>" if top else ""
    return f'<div class="scroll"><table class="{kind}">{heading}<tbody>{body}</tbody></table></div>'


def options(choices: Iterable[tuple[str, str]], chosen: str) -> str:
    return "".join(
        f'<option value="{escape(value, quote=True)}"{" selected" if value == chosen else ""}>{escape(label)}</option>'
        for value, label in choices
    )


def marked(text: str, typed: str) -> str:
    """Text with what was searched for in `<mark>`.

    >>> marked("a <b> B", "b")
    'a &lt;<mark>b</mark>&gt; <mark>B</mark>'
    """
    parts = [re.escape(part) for part in sorted(parts_of(typed), key=len, reverse=True)]
    if not parts:
        return escape(text)
    pieces = re.split(f"({'|'.join(parts)})", text, flags=re.IGNORECASE)
    return "".join(f"<mark>{escape(one)}</mark>" if place % 2 else escape(one) for place, one in enumerate(pieces))


def points(value: float | None) -> str:
    """A difference of shares.

    >>> points(0.128), points(None)
    ('+12.8 pp', '–')
    """
    return "–" if value is None else f"{100 * value:+.1f} pp"


def figure(value: float | None, percent: bool = False, sign: str = "") -> str:
    """
    >>> figure(0.125, percent=True), figure(None), figure(3.0), figure(-0.5, sign="+")
    ('12.5%', '–', '3', '-0.5')
    """
    if value is None:
        return "–"
    return f"{100 * value:{sign}.1f}%" if percent else f"{value:{sign}.4g}"
