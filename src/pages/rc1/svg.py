"""Pictures of the RC1 page as inline SVG: dots of two scores, bars with a threshold, weights with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..curves import nice_ticks, shown
from ..markup import text
from .contents import ShadowPoint

SIDE, LEFT, BOTTOM, EDGE = 420, 48, 40, 12
WIDTH, LABEL, ROW, AXIS = 420, 128, 20, 26


@dataclass(frozen=True)
class Bar:
    label: str
    value: float
    shade: float | None = None
    """A second value that is drawn behind, such as a noise floor."""


@dataclass(frozen=True)
class Weight:
    name: str
    value: float
    low: float
    high: float
    old: float


def scatter(points: Sequence[ShadowPoint]) -> str:
    """Old score to the right, new score upwards. Failures are crosses, so that colour is not all that tells."""
    parts = [f'<svg viewBox="0 0 {SIDE} {SIDE}" role="img" aria-label="old score against new score">']
    if not points:
        return f'{parts[0]}<text class="none" x="{SIDE / 2}" y="{SIDE / 2}">no figures 暂无数据</text></svg>'
    ticks = nice_ticks(min(min(one.old, one.new) for one in points), max(max(one.old, one.new) for one in points), 5)
    low, reach = ticks[0], ticks[-1] - ticks[0]
    across, up = SIDE - LEFT - EDGE, SIDE - BOTTOM - EDGE

    def x(value: float) -> float:
        return LEFT + (value - low) / reach * across

    def y(value: float) -> float:
        return SIDE - BOTTOM - (value - low) / reach * up

    for tick in ticks:
        parts.append(f'<line class="grid" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{EDGE}" y2="{SIDE - BOTTOM}"/>')
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{SIDE - EDGE}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        parts.append(f'<text class="x" x="{x(tick):.1f}" y="{SIDE - BOTTOM + 16}">{shown(tick, False)}</text>')
        parts.append(f'<text class="y" x="{LEFT - 6}" y="{y(tick) + 4:.1f}">{shown(tick, False)}</text>')
    parts.append(
        f'<line class="even" x1="{x(low):.1f}" y1="{y(low):.1f}" x2="{x(ticks[-1]):.1f}" y2="{y(ticks[-1]):.1f}"/>'
    )
    parts += [_point(one, x(one.old), y(one.new)) for one in sorted(points, key=lambda one: (one.live, one.success))]
    parts.append(f'<text class="x" x="{LEFT + across / 2}" y="{SIDE - 6}">old score 旧评分</text>')
    middle = EDGE + up / 2
    parts.append(f'<text class="x" x="11" y="{middle}" transform="rotate(-90 11 {middle})">new score 新评分</text>')
    return "".join(parts) + "</svg>"


def _point(one: ShadowPoint, x: float, y: float) -> str:
    kind = "won" if one.success else "lost"
    live = " live" if one.live else ""
    said = f"old {one.old:.3f}, new {one.new:.3f}, {kind}{', judged live' if one.live else ''}"
    if one.success:
        return f'<circle class="{kind}{live}" cx="{x:.1f}" cy="{y:.1f}" r="3.4"><title>{said}</title></circle>'
    cross = f"M{x - 3:.1f} {y - 3:.1f}l6 6m0 -6l-6 6"
    return f'<path class="{kind}{live}" d="{cross}"><title>{said}</title></path>'


def bars(label: str, rows: Sequence[Bar], least: float | None = None, percent: bool = False) -> str:
    """One bar a row. `least` is a threshold, drawn as a dashed line across all of them."""
    height = len(rows) * ROW + AXIS + 6
    head = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{text(label)}">'
    if not rows:
        return f'{head}<text class="none" x="{WIDTH / 2}" y="{height / 2}">no figures 暂无数据</text></svg>'
    most = max([*(one.value for one in rows), *(one.shade or 0 for one in rows), least or 0])
    ticks = [tick for tick in nice_ticks(0.0, most, 4) if tick >= 0]

    def x(value: float) -> float:
        return LABEL + value / ticks[-1] * (WIDTH - LABEL - 18)

    foot = len(rows) * ROW + 4
    parts = [head, *_scale(ticks, x, foot, height, percent)]
    for place, one in enumerate(rows):
        y = place * ROW + 4
        tip = f"<title>{text(one.label)}: {shown(one.value, percent)}</title>"
        parts.append(f'<text class="y" x="{LABEL - 8}" y="{y + 11}">{text(one.label)}</text>')
        parts.append(
            f'<rect class="bar" x="{LABEL}" y="{y}" width="{max(x(one.value) - LABEL, 0.5):.1f}" height="13" rx="2">'
            f"{tip}</rect>"
        )
        if one.shade is not None:
            end = x(one.shade) - LABEL
            parts.append(f'<rect class="shade" x="{LABEL}" y="{y + 4}" width="{max(end, 0.5):.1f}" height="5" rx="2"/>')
    if least is not None:
        parts.append(f'<line class="least" x1="{x(least):.1f}" x2="{x(least):.1f}" y1="0" y2="{foot}"/>')
    return "".join(parts) + "</svg>"


def _scale(ticks: Sequence[float], x: Callable[[float], float], foot: float, height: float, percent: bool) -> list[str]:
    """A line down to `foot` and a figure below it for each tick."""
    return [
        f'<line class="grid" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="0" y2="{foot}"/>'
        f'<text class="x" x="{x(tick):.1f}" y="{height - 8}">{shown(tick, percent)}</text>'
        for tick in ticks
    ]


def weights(rows: Sequence[Weight]) -> str:
    """A dot with its interval for the calibrated weight, a ring for the old one."""
    height = len(rows) * ROW + AXIS + 6
    head = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="weights of the dimensions">'
    if not rows:
        return f'{head}<text class="none" x="{WIDTH / 2}" y="{height / 2}">no figures 暂无数据</text></svg>'
    ticks = nice_ticks(0.0, max(max(one.high, one.value, one.old) for one in rows), 5)

    def x(value: float) -> float:
        return LABEL + 6 + value / ticks[-1] * (WIDTH - LABEL - 24)

    parts = [head, *_scale(ticks, x, len(rows) * ROW + 4, height, False)]
    for place, one in enumerate(rows):
        y = place * ROW + 11
        tip = f"{one.name}: {one.value:.3f} ({one.low:.3f} to {one.high:.3f}), old {one.old:.3f}"
        parts.append(f'<text class="y" x="{LABEL - 8}" y="{y + 4}">{text(one.name)}</text>')
        parts.append(
            f'<line class="reach trained" x1="{x(one.low):.1f}" x2="{x(one.high):.1f}" y1="{y}" y2="{y}"/>'
            f'<circle class="ring" cx="{x(one.old):.1f}" cy="{y}" r="4.2"/>'
            f'<circle class="dot trained" cx="{x(one.value):.1f}" cy="{y}" r="4.6"><title>{text(tip)}</title></circle>'
        )
    return "".join(parts) + "</svg>"
