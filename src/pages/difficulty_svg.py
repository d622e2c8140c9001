"""Small pictures for the difficulty page: histograms by bucket and bars of shares. Plain SVG, coloured by the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from ..core.types import LEVELS

WIDTH, LEFT, RIGHT = 340, 62, 8
ROW, GAP, AXIS = 46, 8, 20


def number(value: float) -> str:
    """Short, without an exponent: 1,131 / 2.5 / 0.18."""
    if value != value:
        return "–"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}".rstrip("0").rstrip(".")


def histograms(label: str, edges: Sequence[float], balanced: Any, pool: Any, bounds: Sequence[float]) -> str:
    """One row a bucket on a common axis: bars are the balanced pool, the line is the pool it was drawn from.

    Heights are shares of the bucket, so that small buckets can be read too.
    """
    first, last = edges[0], edges[-1]
    span = (WIDTH - LEFT - RIGHT) / (last - first)
    height = len(LEVELS) * (ROW + GAP) + AXIS

    def x(value: float) -> float:
        return LEFT + (value - first) * span

    name = escape(f"{label}: histograms of easy, medium, hard")
    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{name}">']
    foot = height - AXIS - GAP
    for bound in bounds:
        if first < bound < last:
            parts.append(f'<line class="bound" x1="{x(bound):.1f}" x2="{x(bound):.1f}" y1="0" y2="{foot}"/>')
    for place, level in enumerate(LEVELS):
        base = place * (ROW + GAP) + ROW
        shares, of_pool = _shares(balanced[level]), _shares(pool[level])
        scale = (ROW - 4) / (max([*shares, *of_pool]) or 1)
        parts.append(f'<text class="row" x="{LEFT - 8}" y="{base - ROW / 2 + 4}">{level}</text>')
        parts.append(f'<line class="base" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{base}" y2="{base}"/>')
        for left, right, share, count in zip(edges, edges[1:], shares, balanced[level], strict=False):
            if count:
                tip = f"{level}, {number(left)} to under {number(right)}: {count:,} ({share:.1%})"
                parts.append(
                    f'<rect class="{level}" x="{x(left) + 0.75:.1f}" y="{base - share * scale:.1f}" rx="1"'
                    f' width="{max(x(right) - x(left) - 1.5, 0.8):.1f}" height="{share * scale:.1f}">'
                    f"<title>{tip}</title></rect>"
                )
        if any(of_pool):
            steps = "".join(
                f"L{x(left):.1f} {base - share * scale:.1f}L{x(right):.1f} {base - share * scale:.1f}"
                for left, right, share in zip(edges, edges[1:], of_pool, strict=False)
            )
            parts.append(f'<path class="pool" d="M{x(first):.1f} {base}{steps}L{x(last):.1f} {base}"/>')
        else:
            parts.append(f'<text class="none" x="{LEFT + 6}" y="{base - 8}">no samples</text>')
    parts.append(_axis(edges, x, height - 5))
    return "".join(parts) + "</svg>"


def share_bar(counts: dict[str, int]) -> str:
    """The three buckets of one task as one bar."""
    whole = sum(counts.values())
    parts = ['<span class="bar">']
    for level in LEVELS:
        share = counts[level] / whole if whole else 0.0
        if share:
            label = f"{share:.0%}" if share >= 0.08 else ""
            parts.append(
                f'<span class="{level}" style="flex-grow:{share:.4f}" title="{level}: {counts[level]:,} ({share:.1%})">'
                f"{label}</span>"
            )
    return "".join(parts) + "</span>"


def _shares(counts: Sequence[int]) -> list[float]:
    whole = sum(counts)
    return [count / whole if whole else 0.0 for count in counts]


def _axis(edges: Sequence[float], x: Any, y: float) -> str:
    """About five labels; where every bin is one whole number the label stands in the middle of its bin."""
    step = edges[1] - edges[0]
    middle = step / 2 if step == 1 else 0.0
    places = [edge for edge in edges if middle == 0 or edge < edges[-1]]
    every = max(1, -(-len(places) // 6))
    return "".join(
        f'<text class="tick" x="{x(edge + middle):.1f}" y="{y}">{number(edge)}</text>' for edge in places[::every]
    )
