"""The episode browser: filters, search in the messages, and a list.

All filters are part of the address, so a link shows others the same list. The search finds messages with every word
that was typed; "words in quotes" must occur as one phrase. The text index has trigrams, so a term of three characters
or more is looked up directly. A shorter term, such as most Chinese words, stands for all trigrams that begin with it;
`text_of` makes sure that there is one even at the end of a message.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from markupsafe import Markup

from askgate_env.types import ALL_TASKS, LEVELS, Episode

from ..pages.render import plain
from .index import parse_line, reading
from .render import render
from .run_files import read_inside
from .runs import Board, Run
from .sets import in_sets, latest_evaluation, list_sets, set_paths

PAGE_SIZE = 50
ALL_SETS = "all"  # value of the filter `set` for episodes of all sets
ORDERS = {
    "": ("as logged", "原顺序", "e.id"),
    "failures": ("failures first", "失败在前", "e.right, e.id"),
    "newest": ("newest first", "最新在前", "e.id DESC"),
    "reward": ("lowest reward", "奖励最低", "e.reward, e.id"),
    "variance": ("highest variance", "方差最高", "e.variance IS NULL, e.variance DESC, e.id"),
    "turns": ("most turns", "轮数最多", "e.turns DESC, e.id"),
    "asks": ("most questions", "提问最多", "e.asks DESC, e.id"),
}
ONE_OF = {"task": ALL_TASKS, "level": LEVELS, "lang": ("en", "zh")}
"""Filters whose value is one of these."""
YES_NO = {"asked": "e.asks > 0", "right": "e.right = 1", "needs": "e.needs = 1"}
"""Filters whose value is `yes` or `no`, with their SQL conditions."""
MAX_DIGITS = 12  # of a number in an address
SEARCHED = "words w CROSS JOIN episodes e ON e.id = w.rowid"
_PARTS = re.compile(r'"([^"]+)"|(\S+)')
GRAM = 3  # characters of a term in the text index
LAST = "\U0010ffff"  # the last character: `x` + LAST sorts behind all terms that begin with x
MAX_TERMS = 5000  # trigrams that a short term may stand for
NOTHING = '"\x01\x01\x01"'  # a phrase that is in no text


@dataclass(frozen=True)
class Filter:
    """Filters as typed. Empty: any value; `yes` or `no` for questions."""

    q: str = ""
    set: str = ""
    task: str = ""
    level: str = ""
    lang: str = ""
    asked: str = ""
    needs: str = ""
    right: str = ""  # whether the answer is right; lucky guesses count as right
    variance: str = ""  # the least variance
    step: str = ""
    sample: str = ""
    order: str = ""
    page: str = ""

    @property
    def start(self) -> int:
        """Place of the first episode on the page, from 0."""
        return PAGE_SIZE * (self.number - 1)

    @property
    def number(self) -> int:
        """Number of the page, from 1."""
        return max(1, whole_number(self.page))

    @property
    def whole_files(self) -> bool:
        """Whether it takes all episodes of a file or none, so that the totals of the files are enough."""
        return self == Filter(set=self.set, step=self.step, order=self.order, page=self.page)

    def query(self, run: str) -> dict[str, str]:
        """The query of a link to the list."""
        return {"run": run, **asdict(self)}


def episodes_page(board: Board, run: Run, wanted: Filter) -> Markup:
    with reading(run.indexer.path) as store:
        sets = [(one.path, one.label) for one in list_sets(store)]
        wanted = with_default(store, wanted)
        episodes = list_part(run, wanted, store)
    # The first run needs no name in the address.
    name = run.name if run.name != board.names[0] else ""
    return render("episodes.html", run=name, given=asdict(wanted), sets=sets, orders=ORDERS, episodes=episodes)


def list_part(run: Run, wanted: Filter, store: sqlite3.Connection) -> Markup:
    """The page of the list that was asked for, with totals over all its pages."""
    wanted = with_default(store, wanted)
    totals = episode_totals(store, wanted)
    last = max(1, -(-int(totals["n"]) // PAGE_SIZE))
    found = [(row, read_episode(run, row)) for row in list_episodes(store, wanted)]
    rows = [(row, one.turns[0].text if one and one.turns else "") for row, one in found]
    return render(
        "episode_list.html",
        run=run.name,
        wanted=wanted,
        rows=rows,
        totals=totals,
        notes=_index_notes(run),
        here=min(wanted.number, last),
        last=last,
        highlight=highlighter(wanted.q),
    )


def _index_notes(run: Run) -> list[str]:
    """Notes on files that the index does not cover yet, and on lines that it cannot read."""
    found = run.indexer.progress()
    notes = [run.index.error] if run.index.error else []
    if found.indexed < found.files:
        files = f"{found.indexed:,} / {found.files:,}"
        notes.append(plain(f"reading files: {files}", f"正在读取文件：{files}"))
    if found.searchable < found.indexed:
        files = f"{found.searchable:,} / {found.indexed:,}"
        notes.append(plain(f"files that a search covers so far: {files}", f"正在建立搜索索引：{files}"))
    if n := found.unreadable:
        notes.append(plain(f"{n:,} lines cannot be read as episodes", f"{n:,} 行无法读取"))
    return notes


def read_episode(run: Run, row: sqlite3.Row) -> Episode | None:
    """The episode of a row. None if its file was replaced since then and the line cannot be read."""
    found = parse_line(read_inside(run.root, row["path"], row["start"], row["size"]))
    return found[1] if found else None


def parse_filter(query: Mapping[str, str]) -> Filter:
    return Filter(**{field.name: query.get(field.name, "").strip()[:500] for field in fields(Filter)})


def with_default(store: sqlite3.Connection, wanted: Filter) -> Filter:
    """Without any filter, the latest held-out evaluation is listed, failures first."""
    latest = latest_evaluation(list_sets(store)) if wanted == Filter(page=wanted.page) else None
    return replace(wanted, set=latest[1], order="failures") if latest else wanted


def list_episodes(
    store: sqlite3.Connection, wanted: Filter, start: int | None = None, n: int = PAGE_SIZE
) -> list[sqlite3.Row]:
    """`n` episodes of the list from place `start`; by default those of the page."""
    source, where, values = _condition(store, wanted)
    order = ORDERS.get(wanted.order, ORDERS[""])[2]
    if source == SEARCHED:
        # Matches come in this order by themselves, so the first page needs no sorting.
        order = order.replace("e.id", "w.rowid")
    found = store.execute(
        f"SELECT e.*, f.path FROM {source} JOIN files f ON f.id = e.file WHERE {where} ORDER BY {order} "
        f"LIMIT {n} OFFSET {wanted.start if start is None else start}",
        values,
    )
    return found.fetchall()


def episode_totals(store: sqlite3.Connection, wanted: Filter) -> sqlite3.Row:
    """Number of episodes, of right ones, of lucky guesses among those, of episodes that asked, and the mean reward."""
    source, where, values = _condition(store, wanted)
    sums = (
        "count(*) AS n, total(e.right) AS right, total(e.lucky) AS lucky, total(e.asks > 0) AS asked, "
        "avg(e.reward) AS reward"
    )
    if wanted.whole_files:
        source = "files e"
        sums = (
            "total(e.episodes) AS n, total(e.right) AS right, total(e.lucky) AS lucky, total(e.asked) AS asked, "
            "sum(e.reward) / sum(e.episodes) AS reward"
        )
    row: sqlite3.Row = store.execute(f"SELECT {sums} FROM {source} WHERE {where}", values).fetchone()
    return row


def _condition(store: sqlite3.Connection, wanted: Filter) -> tuple[str, str, list[Any]]:
    """Tables, condition and its values. Only names known here become SQL; what was typed is a value."""
    source, tests, values = "episodes e", ["1"], list[Any]()
    given = asdict(wanted)
    for name, known in ONE_OF.items():
        if given[name] in known:
            tests.append(f"e.{name} = ?")
            values.append(given[name])
    for name, test in YES_NO.items():
        if given[name] in ("yes", "no"):
            tests.append(test if given[name] == "yes" else f"NOT ({test})")
    if wanted.set not in ("", ALL_SETS):
        sets = set_paths(store, wanted.set)
        tests.append(f"e.{in_sets(sets)}")
        values += sets
    if wanted.sample:
        tests.append("e.sample = ?")
        values.append(wanted.sample)
    if (step := whole_number(wanted.step, default=-1)) >= 0:
        tests.append("e.step = ?")
        values.append(step)
    with suppress(ValueError):
        values.append(float(wanted.variance))
        tests.append("e.variance >= ?")
    if terms := search_terms(wanted.q):
        source = SEARCHED
        tests.append("words MATCH ?")
        values.append(" AND ".join(f"({_match_term(store, term)})" for term in terms))
    return source, " AND ".join(tests), values


def whole_number(text: str, default: int = 1) -> int:
    """A number as typed, or `default` where the text is none, or too long for one.

    >>> whole_number("12"), whole_number("x", default=0), whole_number("9" * 40)
    (12, 0, 1)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else default


def search_terms(typed: str) -> list[str]:
    """Words and quoted phrases of what was typed.

    >>> search_terms('which "as it is"  您具')
    ['which', 'as it is', '您具']
    """
    return [quoted or plain for quoted, plain in _PARTS.findall(typed.replace("\0", " "))]


def _match_term(store: sqlite3.Connection, term: str) -> str:
    """The expression that finds a term, for `words MATCH ?`."""
    terms, start = [term], term.lower()
    if len(term) < GRAM:
        query = "SELECT term FROM terms WHERE term >= ? AND term < ? LIMIT ?"
        terms = [row[0] for row in store.execute(query, (start, start + LAST, MAX_TERMS))]
    doubled = (one.replace('"', '""') for one in terms)
    return " OR ".join(f'"{one}"' for one in doubled) or NOTHING


def highlighter(typed: str) -> Callable[[str], Markup]:
    """A function that puts what was searched for in `<mark>`, and escapes all text.

    >>> str(highlighter("b")("a <b> B"))
    'a &lt;<mark>b</mark>&gt; <mark>B</mark>'
    """
    terms = [re.escape(term) for term in sorted(search_terms(typed), key=len, reverse=True)]
    if not terms:
        return Markup.escape
    pattern = re.compile(f"({'|'.join(terms)})", re.IGNORECASE)

    def highlight(text: str) -> Markup:
        pieces = pattern.split(text)
        return Markup("").join(
            Markup("<mark>{}</mark>").format(piece) if place % 2 else piece for place, piece in enumerate(pieces)
        )

    return highlight
