"""Two sets of episodes on the same samples: base and trained, two steps, two seeds, or two run folders."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from html import escape

from .beside import KINDS, MEASURES, PAGE, Moved, compared, counts, pairs
from .dialogue import dialogue
from .episodes import raw_line, set_choices
from .frame import address, both, figure, options, points, table, title
from .indexer import understood
from .run_folders import Board, Run
from .store import reading

MOST = 4
"""Episodes of one sample that are shown side by side."""
Query = Mapping[str, str]


class _Side:
    """`RUN:PATH`, as it stands in an address."""

    def __init__(self, board: Board, text: str) -> None:
        name, _, self.set = text.partition(":")
        self.text = text
        self.run: Run | None = board.runs.get(name)


def compare_page(board: Board, query: Query) -> str:
    choices = _choices(board)
    first, second = _default(choices)
    a, b = _Side(board, query.get("a") or first), _Side(board, query.get("b") or second)
    labels = dict(choices)
    form = (
        f'<form id="sides" method="get" action="/compare"><label>A<select name="a">{options(choices, a.text)}</select>'
        f'</label><label>B<select name="b">{options(choices, b.text)}</select></label>'
        f'<p class="buttons"><button>{both("Compare", "对比")}</button></p></form>'
    )
    head = f"<header>{title(1, 'Two runs on the same samples', '相同样本上的对比')}</header>{form}"
    if a.run is None or b.run is None:
        return f'{head}<p class="soft">{both("Choose two sets of episodes.", "请选择两组对话。")}</p>'
    kind, page = query.get("kind", ""), _number(query.get("page", ""))
    with _both(a.run, b.run) as (store, schema):
        moved = compared(store, schema, a.set, b.set)
        found = counts(store, schema, a.set, b.set)
        rows = pairs(store, schema, a.set, b.set, kind, page)
    if not moved["success"].n:
        return f'{head}<p class="soft">{both("They have no sample in common.", "两组没有共同样本。")}</p>'
    names = labels.get(a.text, a.text), labels.get(b.text, b.text)
    return (
        f"{head}{_figures(moved, names)}{_kinds(a, b, kind, found)}{_samples(a, b, rows)}"
        f"{_pages(a, b, kind, page, found.get(kind, 0))}"
    )


def _choices(board: Board) -> list[tuple[str, str]]:
    found = []
    for name, run in board.runs.items():
        run.index.get()
        with reading(run.indexer.path) as store:
            before = f"{name}: " if len(board.runs) > 1 else ""
            found += [(f"{name}:{path}", before + label) for path, label in set_choices(store)]
    return found


def _default(choices: list[tuple[str, str]]) -> tuple[str, str]:
    """The base and the last step of the first evaluation; with two runs the last steps of both."""
    held = [value for value, _ in choices if "/eval/" in value and "/before_" not in value and "control" not in value]
    values = held or [value for value, _ in choices] or [""]
    first_run = [value for value in values if value.split(":")[0] == values[0].split(":")[0]]
    others = [value for value in values if value not in first_run]
    return (first_run[-1], others[-1]) if others else (first_run[0], first_run[-1])


@contextmanager
def _both(a: Run, b: Run) -> Iterator[tuple[sqlite3.Connection, str]]:
    other = b.indexer.path if b is not a else None
    with reading(a.indexer.path, other) as store:
        yield store, "other" if other else "main"


def _figures(moved: Mapping[str, Moved], names: tuple[str, str]) -> str:
    rows = []
    for name, (english, chinese, _, _, percent) in MEASURES.items():
        one = moved[name]
        change = points if percent else partial(figure, sign="+")
        interval = "–"
        if one.delta is not None and one.reach is not None:
            low, high = one.delta - one.reach, one.delta + one.reach
            interval = f"{change(low)} to {change(high)}"
        rows.append(
            [
                both(english, chinese),
                figure(one.before, percent),
                figure(one.after, percent),
                f"<b>{change(one.delta)}</b>",
                interval,
                f"{one.n:,}",
            ]
        )
    head = ("", "A", "B", both("change", "变化"), both("95% interval", "区间"), both("samples", "样本"))
    who = f'<p class="soft">A: {escape(names[0])}<br>B: {escape(names[1])}</p>'
    return f"<section>{who}{table(head, rows, 'moved')}</section>"


def _kinds(a: _Side, b: _Side, kind: str, found: Mapping[str, int]) -> str:
    links = "".join(
        f'<a href="{address("/compare", a=a.text, b=b.text, kind=name)}"{_current(name == kind)}>'
        f"{both(english, chinese)} <b>{found[name]:,}</b></a>"
        for name, (english, chinese, _) in KINDS.items()
    )
    return f'<p class="tabs" id="kinds">{links}</p>'


def _current(yes: bool) -> str:
    return ' aria-current="page"' if yes else ""


def _samples(a: _Side, b: _Side, rows: list[sqlite3.Row]) -> str:
    sides = (("questions", "提问"), ("turns", "轮次"), ("reward", "奖励"))
    right = both("A right", "正确"), both("B right", "正确")
    head = ("", both("must ask", "需问"), *right, *(f"A / B {both(*one)}" for one in sides))
    body = [
        [
            f'<a href="{address("/pair", a=a.text, b=b.text, sample=row["sample"])}">{escape(row["sample"])}</a> '
            f"<small>{escape(row['task'])}, {escape(row['level'] or '–')}</small>",
            both("yes", "是") if row["needs"] else both("no", "否"),
            _right(row["a_ok"]),
            _right(row["b_ok"]),
            f"{figure(row['a_asks'])} / {figure(row['b_asks'])}",
            f"{figure(row['a_turns'])} / {figure(row['b_turns'])}",
            f"{figure(row['a_reward'])} / {figure(row['b_reward'])}",
        ]
        for row in rows
    ]
    return table(head, body, "pairs")


def _right(share: float) -> str:
    """A mark where all or none were right, else the share."""
    if share in (0, 1):
        return '<b class="ok">✓</b>' if share else '<b class="no">✗</b>'
    return figure(share, percent=True)


def _pages(a: _Side, b: _Side, kind: str, here: int, n: int) -> str:
    last = max(1, -(-n // PAGE))
    links = [
        f'<a href="{address("/compare", a=a.text, b=b.text, kind=kind, page=str(number))}">{words}</a>'
        for number, words in ((here - 1, "← previous 上一页"), (here + 1, "next 下一页 →"))
        if 1 <= number <= last
    ]
    return f'<p class="pages">{" ".join([*links, f"<span>{here:,} / {last:,}</span>"])}</p>' if last > 1 else ""


def _number(text: str) -> int:
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 10 else 1


def pair_page(board: Board, query: Query) -> str | None:
    """Both sides' episodes of one sample."""
    sample = query.get("sample", "")
    sides = []
    for letter in ("a", "b"):
        side = _Side(board, query.get(letter, ""))
        if side.run is None:
            return None
        sides.append(
            f"<section><h2>{letter.upper()} <small>{escape(side.text)}</small></h2>{_side(side, sample)}</section>"
        )
    back = address("/compare", a=query.get("a", ""), b=query.get("b", ""))
    return (
        f'<p class="crumbs"><a href="{back}">{both("Compare", "对比")}</a></p><header>{title(1, sample, "")}</header>'
        f'<div class="pair">{"".join(sides)}</div>'
    )


def _side(side: _Side, sample: str) -> str:
    assert side.run is not None
    with reading(side.run.indexer.path) as store:
        rows = store.execute(
            "SELECT e.*, f.path FROM episodes e JOIN files f ON f.id = e.file WHERE e.set_path = ? AND e.sample = ? "
            "ORDER BY e.id DESC LIMIT ?",
            (side.set, sample, MOST),
        ).fetchall()
    shown = []
    for row in rows:
        if found := understood(raw_line(side.run.root, row["path"], row["start"], row["size"])):
            link = address("/episode", run=side.run.name, file=row["path"], line=str(row["line"] + 1))
            shown.append(
                f'{dialogue(found[1], row)}<p><a href="{link}">{both("this episode alone", "单独查看")}</a></p>'
            )
    return "".join(shown) or f'<p class="soft">{both("nothing", "没有")}</p>'
