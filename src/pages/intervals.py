"""Figures as dots with their 95% intervals, as inline SVG: base, control and trained policy under each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from .curves import nice_ticks, shown

WIDTH, LEFT, RIGHT, TOP = 420, 118, 20, 8
ROW, GAP, AXIS = 17, 12, 24
TICKS = 4


@dataclass(frozen=True)
class Dot:
    """`who` is the class that colours it: base, control or trained."""

    who: str
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Group:
    label: str
    dots: Sequence[Dot]


def intervals(title: str, groups: Sequence[Group], percent: bool) -> str:
    """One scale for all groups. What was not measured is left out; with nothing left the picture says so."""
    known = [dot for group in groups for dot in group.dots if dot.value is not None]
    height = TOP + AXIS + sum(len(group.dots) * ROW + GAP for group in groups)
    head = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title, quote=True)}">'
    if not known:
        return f'{head}<text class="none" x="{WIDTH / 2}" y="{height / 2}">no figures 暂无数据</text></svg>'
    ends = [end for dot in known for end in (dot.value, dot.low, dot.high) if end is not None]
    ticks = nice_ticks(min(ends), max(ends), TICKS)

    def x(value: float) -> float:
        return LEFT + (value - ticks[0]) / (ticks[-1] - ticks[0]) * (WIDTH - LEFT - RIGHT)

    parts = [head]
    for tick in ticks:
        parts.append(f'<line class="grid" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{TOP}" y2="{height - AXIS}"/>')
        parts.append(f'<text class="x" x="{x(tick):.1f}" y="{height - 8}">{shown(tick, percent)}</text>')
    y = float(TOP)
    for group in groups:
        middle = y + len(group.dots) * ROW / 2 + 4
        parts.append(f'<text class="y" x="{LEFT - 10}" y="{middle:.1f}">{escape(group.label)}</text>')
        for dot in group.dots:
            parts.append(_dot(dot, group.label, x, y + ROW / 2, percent))
            y += ROW
        y += GAP
    return "".join(parts) + "</svg>"


def _dot(dot: Dot, label: str, x: Callable[[float], float], y: float, percent: bool) -> str:
    if dot.value is None:
        return ""
    parts = []
    tip = f"{label}, {dot.who}: {shown(dot.value, percent)}"
    if dot.low is not None and dot.high is not None:
        tip += f" ({shown(dot.low, percent)} to {shown(dot.high, percent)})"
        parts.append(
            f'<line class="reach {dot.who}" x1="{x(dot.low):.1f}" x2="{x(dot.high):.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
    at = f'cx="{x(dot.value):.1f}" cy="{y:.1f}"'
    parts.append(f'<circle class="dot {dot.who}" {at} r="5"><title>{escape(tip)}</title></circle>')
    return "".join(parts)
