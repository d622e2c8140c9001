"""Pictures of the pages as inline SVG: curves, intervals, scatter plots, bars, weights and histograms.

The stylesheet colours them by class. Text and attribute values are escaped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from ..core.types import LEVELS

if TYPE_CHECKING:
    from .rc1_report import ShadowPoint

WIDTH = 420
"""In units of the picture; the page scales it to its column."""
LABELS = 128
"""Room for row labels at the left."""
ROW, AXIS = 20, 26

Points = Sequence[tuple[float, float]]
Scale = Callable[[float], float]


class Dot(NamedTuple):
    """A figure with its 95% interval. `side` colours it: base, control or trained."""

    side: str
    value: float | None
    low: float | None
    high: float | None


class Group(NamedTuple):
    """Dots that belong to one label."""

    label: str
    dots: Sequence[Dot]


class Bar(NamedTuple):
    label: str
    value: float
    inner: float | None = None
    """A second value, such as a noise floor, drawn inside the bar."""


class Weight(NamedTuple):
    """A calibrated weight with its interval, and the weight before calibration."""

    name: str
    value: float
    low: float
    high: float
    old: float


class Picture:
    """An SVG under construction."""

    def __init__(self, label: str, height: float, width: float = WIDTH) -> None:
        self.width, self.height = width, height
        self._parts = [Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">').format(width, height, label)]

    def add(self, tag: str, kind: str, text: str = "", tip: str = "", **attributes: float | str) -> None:
        """Add an element of class `kind`. `tip` is shown when the pointer rests on it."""
        values = {name: f"{one:.1f}" if isinstance(one, float) else one for name, one in attributes.items()}
        written = Markup("").join(Markup(' {}="{}"').format(name, value) for name, value in values.items())
        inside = Markup("<title>{}</title>").format(tip) if tip else Markup.escape(text)
        opening = Markup('<{} class="{}"{}').format(tag, kind, written)
        self._parts.append(Markup("{}>{}</{}>").format(opening, inside, tag) if inside else opening + Markup("/>"))

    def line(self, kind: str, x1: float, y1: float, x2: float, y2: float) -> None:
        self.add("line", kind, x1=x1, y1=y1, x2=x2, y2=y2)

    def text(self, kind: str, x: float, y: float, words: str) -> None:
        """`kind`: `x` centres the text at the point, `y` ends it there."""
        self.add("text", kind, words, x=x, y=y)

    def vertical_grid(self, ticks: Sequence[float], x: Scale, top: float, bottom: float, percent: bool) -> None:
        """A line from `top` to `bottom` at each tick, and its number at the foot of the picture."""
        for tick in ticks:
            self.line("grid", x(tick), top, x(tick), bottom)
            self.text("x", x(tick), self.height - 8, tick_label(tick, percent))

    def finish(self) -> Markup:
        return Markup("").join([*self._parts, Markup("</svg>")])

    def without_figures(self) -> Markup:
        self.text("none", self.width / 2, self.height / 2, "no figures yet 暂无数据")
        return self.finish()


def linear(low: float, high: float, start: float, end: float) -> Scale:
    """The linear map that takes `low` to `start` and `high` to `end`."""
    return lambda value: start + (value - low) / (high - low) * (end - start)


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


def tick_label(value: float, percent: bool) -> str:
    """
    >>> tick_label(0.125, percent=True), tick_label(-0.5, percent=False), tick_label(0.0004, percent=False)
    ('12.5%', '-0.5', '0.0004')
    """
    return f"{100 * value:.3g}%" if percent else f"{value:.3g}"


def short_number(value: float) -> str:
    """A number with at most two decimals and without an exponent.

    >>> short_number(1131), short_number(2.5), short_number(0.184), short_number(float("nan"))
    ('1,131', '2.5', '0.18', '–')
    """
    if value != value:
        return "–"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}".rstrip("0").rstrip(".")


def curve(title: str, trained: Sequence[Points], held_out: Sequence[Points], percent: bool) -> Markup:
    """Training figures as lines and held-out figures as lines with dots, one of each per seed. NaN is left out."""
    left, right, top, bottom = 46, 12, 12, 26
    picture = Picture(title, 210)
    lines, marks = ([[p for p in one if math.isfinite(p[1])] for one in side] for side in (trained, held_out))
    points = [point for one in (*lines, *marks) for point in one]
    if not points:
        return picture.without_figures()
    last = max(max(x for x, _ in points), 1.0)
    ticks = nice_ticks(min(y for _, y in points), max(y for _, y in points), 4)
    x = linear(0, last, left, WIDTH - right)
    y = linear(ticks[0], ticks[-1], picture.height - bottom, top)
    for tick in ticks:
        picture.line("grid", left, y(tick), WIDTH - right, y(tick))
        picture.text("y", left - 6, y(tick) + 4, tick_label(tick, percent))
    for step in {0, round(last / 2), round(last)}:
        picture.text("x", x(step), picture.height - 8, f"{step:,}")
    for kind, series in (("train", lines), ("held", marks)):
        for one in series:
            if len(one) > 1:
                picture.add("path", kind, d="M" + "L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in one))
    for step_, value in (point for one in marks for point in one):
        tip = f"step {step_:g}: {tick_label(value, percent)}"
        picture.add("circle", "held", tip=tip, cx=x(step_), cy=y(value), r=4)
    return picture.finish()


def intervals(title: str, groups: Sequence[Group], percent: bool) -> Markup:
    """Figures as dots with their 95% intervals, all groups on one scale. What was not measured is left out."""
    left, right, top, axis, row, gap = 118, 20, 8, 24, 17, 12
    picture = Picture(title, top + axis + sum(len(group.dots) * row + gap for group in groups))
    ends = [end for group in groups for dot in group.dots for end in dot[1:] if end is not None]
    if not ends:
        return picture.without_figures()
    ticks = nice_ticks(min(ends), max(ends), 4)
    x = linear(ticks[0], ticks[-1], left, WIDTH - right)
    picture.vertical_grid(ticks, x, top, picture.height - axis, percent)
    y = top + row / 2
    for group in groups:
        picture.text("y", left - 10, y + (len(group.dots) - 1) * row / 2 + 4, group.label)
        for side, value, low, high in group.dots:
            if value is not None:
                tip = f"{group.label}, {side}: {tick_label(value, percent)}"
                if low is not None and high is not None:
                    tip += f" ({tick_label(low, percent)} to {tick_label(high, percent)})"
                    picture.line(f"interval {side}", x(low), y, x(high), y)
                picture.add("circle", f"dot {side}", tip=tip, cx=x(value), cy=y, r=5)
            y += row
        y += gap
    return picture.finish()


def scatter(points: Sequence[ShadowPoint]) -> Markup:
    """Old score to the right, new score upwards. Failures are crosses, so that colour is not all that tells."""
    left, bottom, edge = 48, 40, 12
    picture = Picture("old score against new score", WIDTH)
    if not points:
        return picture.without_figures()
    scores = [score for one in points for score in (one.old, one.new)]
    ticks = nice_ticks(min(scores), max(scores), 5)
    low, high = ticks[0], ticks[-1]
    x, y = linear(low, high, left, WIDTH - edge), linear(low, high, WIDTH - bottom, edge)
    for tick in ticks:
        picture.line("grid", x(tick), edge, x(tick), WIDTH - bottom)
        picture.line("grid", left, y(tick), WIDTH - edge, y(tick))
        picture.text("x", x(tick), WIDTH - bottom + 16, tick_label(tick, False))
        picture.text("y", left - 6, y(tick) + 4, tick_label(tick, False))
    picture.line("even", x(low), y(low), x(high), y(high))
    for one in sorted(points, key=lambda one: (one.live, one.success)):
        at_x, at_y, live = x(one.old), y(one.new), " live" if one.live else ""
        tip = f"old {one.old:.3f}, new {one.new:.3f}, {'success' if one.success else 'failure'}"
        tip += ", judged live" if one.live else ""
        if one.success:
            picture.add("circle", f"won{live}", tip=tip, cx=at_x, cy=at_y, r=3.4)
        else:
            picture.add("path", f"lost{live}", tip=tip, d=f"M{at_x - 3:.1f} {at_y - 3:.1f}l6 6m0 -6l-6 6")
    middle = (edge + WIDTH - bottom) / 2
    picture.text("x", (left + WIDTH - edge) / 2, WIDTH - 6, "old score 旧评分")
    picture.add("text", "x", "new score 新评分", x=11, y=middle, transform=f"rotate(-90 11 {middle})")
    return picture.finish()


def bars(label: str, rows: Sequence[Bar], least: float | None = None, percent: bool = False) -> Markup:
    """One bar per row. `least` is a threshold, drawn as a dashed line across all of them."""
    foot = len(rows) * ROW + 4
    picture = Picture(label, foot + AXIS + 2)
    if not rows:
        return picture.without_figures()
    most = max([*(one.value for one in rows), *(one.inner or 0 for one in rows), least or 0])
    ticks = [tick for tick in nice_ticks(0.0, most, 4) if tick >= 0]
    x = linear(0, ticks[-1], LABELS, WIDTH - 18)
    picture.vertical_grid(ticks, x, 0, foot, percent)
    for place, (name, value, inner) in enumerate(rows):
        y = place * ROW + 4
        picture.text("y", LABELS - 8, y + 11, name)
        tip = f"{name}: {tick_label(value, percent)}"
        picture.add("rect", "bar", tip=tip, x=LABELS, y=y, width=max(x(value) - LABELS, 0.5), height=13, rx=2)
        if inner is not None:
            picture.add("rect", "inner", x=LABELS, y=y + 4, width=max(x(inner) - LABELS, 0.5), height=5, rx=2)
    if least is not None:
        picture.line("least", x(least), 0, x(least), foot)
    return picture.finish()


def weights(rows: Sequence[Weight]) -> Markup:
    """A dot with its interval for the calibrated weight, a ring for the old one."""
    foot = len(rows) * ROW + 4
    picture = Picture("weights of the dimensions", foot + AXIS + 2)
    if not rows:
        return picture.without_figures()
    ticks = nice_ticks(0.0, max(max(one.high, one.value, one.old) for one in rows), 5)
    x = linear(0, ticks[-1], LABELS + 6, WIDTH - 18)
    picture.vertical_grid(ticks, x, 0, foot, False)
    for place, (name, value, low, high, old) in enumerate(rows):
        y = place * ROW + 11
        picture.text("y", LABELS - 8, y + 4, name)
        picture.line("interval trained", x(low), y, x(high), y)
        picture.add("circle", "ring", cx=x(old), cy=y, r=4.2)
        tip = f"{name}: {value:.3f} ({low:.3f} to {high:.3f}), old {old:.3f}"
        picture.add("circle", "dot trained", tip=tip, cx=x(value), cy=y, r=4.6)
    return picture.finish()


def histograms(
    label: str,
    edges: Sequence[float],
    balanced: Mapping[str, Sequence[int]],
    pool: Mapping[str, Sequence[int]],
    bounds: Sequence[float],
) -> Markup:
    """One histogram per difficulty level on a common axis: bars are the balanced pool, the line is the seed pool.

    Heights are shares of the level, so that small levels can be read too. Dashed lines are the bounds of the levels.
    """
    width, left, right, row, gap, axis = 340, 62, 8, 46, 8, 20
    picture = Picture(f"{label}: histograms of easy, medium, hard", len(LEVELS) * (row + gap) + axis, width)
    x = linear(edges[0], edges[-1], left, width - right)
    for bound in bounds:
        if edges[0] < bound < edges[-1]:
            picture.line("bound", x(bound), 0, x(bound), picture.height - axis - gap)
    for place, level in enumerate(LEVELS):
        foot = place * (row + gap) + row
        shares, pool_shares = _shares(balanced[level]), _shares(pool[level])
        y = linear(0, max([*shares, *pool_shares]) or 1, foot, foot - row + 4)
        picture.text("y", left - 8, foot - row / 2 + 4, level)
        picture.line("baseline", left, foot, width - right, foot)
        for low, high, share, count in zip(edges, edges[1:], shares, balanced[level], strict=False):
            if count:
                tip = f"{level}, {short_number(low)} to under {short_number(high)}: {count:,} ({share:.1%})"
                across, up = max(x(high) - x(low) - 1.5, 0.8), foot - y(share)
                picture.add("rect", level, tip=tip, x=x(low) + 0.75, y=y(share), width=across, height=up, rx=1)
        if any(pool_shares):
            steps = "".join(
                f"L{x(low):.1f} {y(share):.1f}L{x(high):.1f} {y(share):.1f}"
                for low, high, share in zip(edges, edges[1:], pool_shares, strict=False)
            )
            picture.add("path", "pool", d=f"M{x(edges[0]):.1f} {foot}{steps}L{x(edges[-1]):.1f} {foot}")
        else:
            picture.text("", left + 6, foot - 8, "no samples")
    # About five labels. Where every bin is one whole number, the label is in the middle of its bin.
    middle = 0.5 if edges[1] - edges[0] == 1 else 0.0
    places = [edge for edge in edges if not middle or edge < edges[-1]]
    for edge in places[:: max(1, -(-len(places) // 6))]:
        picture.text("x", x(edge + middle), picture.height - 5, short_number(edge))
    return picture.finish()


def _shares(counts: Sequence[int]) -> list[float]:
    whole = sum(counts)
    return [count / whole if whole else 0.0 for count in counts]
