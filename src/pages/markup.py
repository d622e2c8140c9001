"""Small pieces of the pages that open from disk. Whatever comes from data goes through `text`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ..core.check import Rule

RULES: dict[Rule, str] = {">=": "≥", "<=": "≤", "==": "=", ">": ">", "<": "<"}


POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""A page may have its style and nothing else: nothing runs in it, and it asks nobody for anything."""


def page(name: str, style: str, *parts: str) -> bytes:
    """A whole page; its parts are HTML already."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{text(name)}</title><style>{style}</style></head><body><main>{''.join(parts)}</main></body></html>\n"
    ).encode()


def text(value: object) -> str:
    return escape(str(value), quote=True)


def title(level: int, english: str, chinese: str) -> str:
    return f'<h{level}>{text(english)} <span class="zh" lang="zh">{text(chinese)}</span></h{level}>'


def section(name: str, english: str, chinese: str, *parts: str) -> str:
    """`name` is what links within the page jump to."""
    return f'<section id="{name}">{title(2, english, chinese)}{"".join(parts)}</section>'


def card(english: str, chinese: str, *parts: str) -> str:
    return f"<article>{title(3, english, chinese)}{''.join(parts)}</article>"


def cards(*found: str, kind: str = "") -> str:
    return f'<div class="{f"cards {kind}".strip()}">{"".join(found)}</div>'


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells are HTML already."""
    columns = "".join(f"<th>{name}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table></div>'


def missing(english: str, chinese: str) -> str:
    return f'<p class="missing">{text(english)} <span lang="zh">{text(chinese)}</span></p>'


def number(value: Any, digits: int = 3) -> str:
    """
    >>> number(0.123456), number(30000), number(None), number(-0.0000001)
    ('0.123', '30,000', '–', '-1e-07')
    """
    if value is None or value != value:
        return "–"
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def between(found: Mapping[str, Any], name: str, digits: int = 3) -> str:
    """A figure's interval out of the `intervals` of a report."""
    ends = found.get("intervals", {}).get(name)
    return "–" if not ends else f"{number(ends[0], digits)} to {number(ends[1], digits)}"


def level(value: float | None, percent: bool) -> str:
    """
    >>> level(0.125, percent=True), level(2.5, percent=False), level(None, percent=True)
    ('12.5%', '2.50', '–')
    """
    return "–" if value is None else f"{100 * value:.1f}%" if percent else f"{value:.2f}"


def delta(value: float | None, percent: bool) -> str:
    """A difference; of shares in points.

    >>> delta(0.125, percent=True), delta(-2.5, percent=False)
    ('+12.5', '-2.50')
    """
    return "–" if value is None else f"{100 * value:+.1f}" if percent else f"{value:+.2f}"


def mark(passed: bool) -> str:
    return '<span class="yes">✓</span>' if passed else '<span class="nay">✗</span>'
