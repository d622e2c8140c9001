"""Rendering of all pages: Jinja templates with escaping on, one stylesheet, bilingual labels, numbers and scales.

Templates are in `templates/`, pictures in `templates/svg.html`. Whatever comes from data is escaped by Jinja; only
`Markup` is put in as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from askgate_env.types import LANGS, Lang

from ..core.check import NOT_FOR_SIGNING, Rule
from ..runtime.language import terminal_language

TEMPLATES = Path(__file__).parent / "templates"
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Content security policy of a static page: it may have its style, runs no script and loads nothing."""
RULES: dict[Rule, str] = {">=": "≥", "<=": "≤", "==": "=", ">": ">", "<": "<"}
LABELS: dict[str, dict[str, tuple[str, str]]] = yaml.safe_load((TEMPLATES / "labels.yaml").read_bytes())
FIGURES = LABELS["figures"]
NOT_MEASURED = "–"
_language: ContextVar[Lang | None] = ContextVar("language", default=None)
"""Language of the page that is being rendered; None: both, of which the reader of a static page chooses one."""


@contextmanager
def one_language(lang: Lang) -> Iterator[None]:
    """Within it, pages have one language."""
    token = _language.set(lang)
    try:
        yield
    finally:
        _language.reset(token)


def stylesheet() -> str:
    return (TEMPLATES / "style.css").read_text(encoding="utf-8")


def environment(*folders: Path) -> Environment:
    """Templates of `folders`, then those shared by all pages."""
    made = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    texts, scales = (bilingual, plain, asking), (linear, nice_ticks)
    numbers = (number, short_number, tick_label, level, delta, figure, is_share)
    made.globals |= {one.__name__: one for one in (*texts, *numbers, *scales)}
    made.filters["smoothed"] = smoothed
    made.globals |= {"labels": LABELS, "rules": RULES, "not_for_signing": NOT_FOR_SIGNING}
    made.globals["svg"] = made.get_template("svg.html").module
    return made


@cache
def _static_pages() -> Environment:
    return environment()


def render_page(template: str, **context: Any) -> bytes:
    """A static page that opens from disk: its stylesheet is part of it."""
    fixed = {"policy": Markup(POLICY), "style": Markup(stylesheet())}
    return (_static_pages().get_template(template).render(**fixed, **context) + "\n").encode()


def opened_in(page: bytes, lang: Lang | None = None) -> bytes:
    """A static page that opens in this language, by default that of the terminal; its reader may still change it.

    A package has the page as `render_page` made it: its bytes must not depend on who verifies it.
    """
    for one in LANGS:
        page = page.replace(f'id="lang-{one}" checked/>'.encode(), f'id="lang-{one}"/>'.encode(), 1)
    chosen = f'id="lang-{lang or terminal_language()}"'.encode()
    return page.replace(chosen + b"/>", chosen + b" checked/>", 1)


def bilingual(english: str, chinese: str) -> Markup:
    """Text in the language of the page; in both where it has none, each marked as such.

    >>> str(bilingual("a < b", "甲"))
    '<span lang="en">a &lt; b</span><span class="zh" lang="zh"> 甲</span>'
    >>> with one_language("zh"):
    ...     str(bilingual("a < b", "甲"))
    '甲'
    """
    lang = _language.get()
    if not chinese or lang == "en":
        return Markup.escape(english)
    if lang == "zh":
        return Markup.escape(chinese)
    return Markup('<span lang="en">{}</span><span class="zh" lang="zh"> {}</span>').format(english, chinese)


def plain(english: str, chinese: str) -> str:
    """The same without markup, for options, titles and pictures."""
    lang = _language.get()
    if not chinese or lang == "en":
        return english
    return chinese if lang == "zh" else f"{english} {chinese}"


def asking(needs: bool, asks: int, received_info: bool) -> str:
    """Whether a policy asked and whether it had to: a key of `asking` in labels.yaml.

    >>> asking(True, 1, True), asking(True, 2, False), asking(True, 0, False), asking(False, 1, False)
    ('informed', 'vague', 'silent', 'needless')
    """
    if needs:
        return "silent" if not asks else "informed" if received_info else "vague"
    return "needless" if asks else "quiet"


def is_share(name: str) -> bool:
    """Whether a figure is a share, which is written as a percentage."""
    return not name.startswith("avg_") and name not in LABELS["not_shares"]


def number(value: float | None, digits: int = 3) -> str:
    """A number with thousands separators.

    >>> number(0.123456), number(30000), number(None), number(-0.0000001)
    ('0.123', '30,000', '–', '-1e-07')
    """
    if value is None or value != value:
        return NOT_MEASURED
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def level(value: float | None, percent: bool) -> str:
    """A measured figure: a share with one decimal, another figure with two.

    >>> level(0.125, percent=True), level(2.5, percent=False), level(None, percent=True)
    ('12.5%', '2.50', '–')
    """
    if value is None or value != value:
        return NOT_MEASURED
    return f"{100 * value:.1f}%" if percent else f"{value:.2f}"


def delta(value: float | None, percent: bool) -> str:
    """A difference with its sign; between shares in percentage points.

    >>> delta(0.125, percent=True), delta(-2.5, percent=False)
    ('+12.5', '-2.50')
    """
    return NOT_MEASURED if value is None else f"{100 * value:+.1f}" if percent else f"{value:+.2f}"


def figure(value: float | None, percent: bool = False, sign: str = "", digits: int = 4) -> str:
    """A figure: a share with one decimal, another figure with `digits` significant digits.

    >>> figure(0.125, percent=True), figure(None), figure(3.0), figure(-0.5, sign="+")
    ('12.5%', '–', '3', '-0.5')
    """
    if value is None:
        return NOT_MEASURED
    return f"{100 * value:{sign}.1f}%" if percent else f"{value:{sign}.{digits}g}"


def short_number(value: float) -> str:
    """A number with at most two decimals and without an exponent.

    >>> short_number(1131), short_number(2.5), short_number(0.184), short_number(float("nan"))
    ('1,131', '2.5', '0.18', '–')
    """
    if value != value:
        return NOT_MEASURED
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}".rstrip("0").rstrip(".")


def tick_label(value: float, percent: bool) -> str:
    """The label of a tick: a share in percent, another figure as it is.

    >>> tick_label(0.125, percent=True), tick_label(-0.5, percent=False), tick_label(0.0004, percent=False)
    ('12.5%', '-0.5', '0.0004')
    """
    return f"{100 * value:.3g}%" if percent else f"{value:.3g}"


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


def smoothed(points: Sequence[tuple[float, float]], least: int = 20) -> list[tuple[float, float]]:
    """A curve without its noise: exponential means over about a tenth of its points; none for a short curve.

    >>> smoothed([(1, 0.0), (2, 1.0)]), smoothed([(1, 0.0), (2, 1.0), (3, 1.0)], least=3)
    ([], [(1, 0.0), (2, 1.0), (3, 1.0)])
    """
    if len(points) < least:
        return []
    share, found = 2 / (max(1, len(points) // 10) + 1), [points[0]]
    for step, value in points[1:]:
        found.append((step, found[-1][1] + share * (value - found[-1][1])))
    return found


def linear(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """The linear map that takes `low` to `start` and `high` to `end`; a single point goes to `start`."""
    width = high - low or 1.0
    return lambda value: start + (value - low) / width * (end - start)
