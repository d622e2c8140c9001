"""Curves of a run as inline SVG: what training saw at every step, and what held-out samples showed now and then."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT = 420, 210
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 12, 26
TICKS = 4

Points = Sequence[tuple[float, float]]


def curve(title: str, trained: Sequence[Points], held_out: Sequence[Points], percent: bool) -> str:
    """One line a seed. What is no number is left out; with nothing left the picture says so."""
    lines = [[(x, y) for x, y in one if math.isfinite(y)] for one in trained]
    marks = [[(x, y) for x, y in one if math.isfinite(y)] for one in held_out]
    every = [point for one in (*lines, *marks) for point in one]
    head = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title, quote=True)}">'
    if not every:
        return f'{head}<text class="none" x="{WIDTH / 2}" y="{HEIGHT / 2}">no figures yet 暂无数据</text></svg>'
    last = max(max(x for x, _ in every), 1.0)
    ticks = nice_ticks(min(y for _, y in every), max(y for _, y in every), TICKS)
    low, high = ticks[0], ticks[-1]

    def at(point: tuple[float, float]) -> tuple[float, float]:
        x = LEFT + point[0] / last * (WIDTH - LEFT - RIGHT)
        y = HEIGHT - BOTTOM - (point[1] - low) / (high - low) * (HEIGHT - TOP - BOTTOM)
        return x, y

    parts = [head]
    for tick in ticks:
        _, y = at((0, tick))
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="y" x="{LEFT - 6}" y="{y + 4:.1f}">{shown(tick, percent)}</text>')
    for step in {0, round(last / 2), round(last)}:
        parts.append(f'<text class="x" x="{at((step, low))[0]:.1f}" y="{HEIGHT - 8}">{step:,}</text>')
    for one in lines:
        parts.append(_path("train", [at(point) for point in one]))
    for one in marks:
        parts.append(_path("held", [at(point) for point in one]))
        for point in one:
            x, y = at(point)
            tip = f"step {point[0]:g}: {shown(point[1], percent)}"
            parts.append(f'<circle class="held" cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{tip}</title></circle>')
    return "".join(parts) + "</svg>"


def nice_ticks(low: float, high: float, wanted: int) -> list[float]:
    """Round numbers from below the lowest to above the highest.

    >>> nice_ticks(0.03, 0.41, 4)
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    >>> nice_ticks(5, 5, 4)
    [4.5, 5.0, 5.5]
    """
    if high <= low:
        reach = 1.0 if low == 0 else abs(low) / 5
        low, high = low - reach / 2, high + reach / 2
    raw = (high - low) / wanted
    scale = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * scale for factor in (1, 2, 5, 10) if factor * scale >= raw)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [round(number * step, 12) for number in range(first, last + 1)]


def shown(value: float, percent: bool) -> str:
    """
    >>> shown(0.125, percent=True), shown(-0.5, percent=False), shown(0.0004, percent=False)
    ('12.5%', '-0.5', '0.0004')
    """
    return f"{100 * value:.3g}%" if percent else f"{value:.3g}"


def _path(kind: str, points: Sequence[tuple[float, float]]) -> str:
    if len(points) < 2:
        return ""
    steps = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f'<path class="{kind}" d="M{steps}"/>'
