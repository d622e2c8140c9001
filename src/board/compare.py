"""Two sets of episodes on the samples that both have: base and trained, two steps, two seeds, or two run folders.

The list comes from the index, where a sample with several episodes has their mean. The figures and their intervals are
those of the reports (`eval.compare`), computed from the episodes themselves in a thread: large sets take a while.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from ..core.types import Episode
from ..eval.compare import Change, compare, sample_facts
from .episodes import read_episode, set_choices
from .index import parse_line, read_lines, reading
from .query import PAGE_SIZE, whole_number
from .render import render
from .run_files import run_name
from .runs import EVERY, Board, Measured, Run

MOST_EPISODES = 4
"""Episodes of one sample that are shown side by side."""
FIRST_VIEW_SECONDS = 1.0
"""Time that the page waits for the figures; those of larger sets are shown when they are computed."""
FIGURES = ("success", "need_ask_success", "overclar_rate", "avg_turns")
_SIDE = (
    "SELECT sample, task, level, needs, avg(achieved) AS achieved, avg(asks) AS asks, avg(turns) AS turns, "
    "avg(reward) AS reward FROM {schema}.episodes WHERE set_path=? GROUP BY sample"
)
_COLUMNS = ("achieved", "asks", "turns", "reward")
_PAIRS = (
    f"WITH a AS ({_SIDE.format(schema='main')}), b AS ({_SIDE}) SELECT sample, a.task, a.level, a.needs, "
    f"{', '.join(f'{side}.{name} AS {side}_{name}' for side in 'ab' for name in _COLUMNS)} "
    "FROM a JOIN b USING(sample) ORDER BY sample"
)
Query = Mapping[str, str]
Pair = sqlite3.Row
"""The means of both sets' episodes of one sample."""
SAMPLE_GROUPS: dict[str, Callable[[Pair], bool]] = {
    "": lambda pair: True,
    "gained": lambda pair: pair["a_achieved"] < 0.5 <= pair["b_achieved"],
    "lost": lambda pair: pair["b_achieved"] < 0.5 <= pair["a_achieved"],
    "asking": lambda pair: (pair["a_asks"] > 0) != (pair["b_asks"] > 0),
    "wrong": lambda pair: max(pair["a_achieved"], pair["b_achieved"]) < 0.5,
    "right": lambda pair: min(pair["a_achieved"], pair["b_achieved"]) >= 0.5,
}
"""Samples that the list can be narrowed to. Right: as in the RC1 report, with the clarifying question where needed."""


class _Side:
    """`RUN:PATH`, as written in an address."""

    def __init__(self, board: Board, text: str) -> None:
        name, _, self.set = text.partition(":")
        self.text = text
        self.run: Run | None = board.runs.get(name)

    def files(self) -> list[sqlite3.Row]:
        """Path and stamp of each file of the set."""
        if self.run is None:
            return []
        with reading(self.run.indexer.path) as store:
            return store.execute("SELECT path, stamp FROM files WHERE set_path=? ORDER BY id", (self.set,)).fetchall()

    def episodes(self) -> Iterator[Episode]:
        for file in self.files():
            assert self.run is not None
            for _, _, raw in read_lines(self.run.root, file["path"]):
                if found := parse_line(raw):
                    yield found[1]


def compare_page(board: Board, query: Query) -> Markup:
    choices = _choices(board)
    first, second = _default(choices)
    query = {**query, "a": query.get("a") or first, "b": query.get("b") or second}
    a, b = _Side(board, query["a"]), _Side(board, query["b"])
    context = {"choices": choices, "labels_of": dict(choices), "a": a, "b": b}
    if a.run is None or b.run is None:
        return render("compare.html", pairs=None, **context)
    kind, page = query.get("kind", ""), whole_number(query.get("page", ""))
    pairs = read_pairs(a.run.indexer.path, a.set, b.run.indexer.path, b.set)
    groups = {name: list(filter(holds, pairs)) for name, holds in SAMPLE_GROUPS.items()}
    shown = groups.get(kind, pairs)
    rows, last = shown[PAGE_SIZE * (page - 1) : PAGE_SIZE * page], max(1, -(-len(shown) // PAGE_SIZE))
    context |= {"changes": changes_part(board, query), "groups": groups, "kind": kind}
    context |= {"rows": rows, "here": page, "last": last}
    return render("compare.html", pairs=pairs, **context)


def _choices(board: Board) -> list[tuple[str, str]]:
    choices = []
    for name, run in board.runs.items():
        run.index.get()
        prefix = f"{name}: " if len(board.runs) > 1 else ""
        with reading(run.indexer.path) as store:
            choices += [(f"{name}:{path}", prefix + label) for path, label in set_choices(store)]
    return choices


def _default(choices: list[tuple[str, str]]) -> tuple[str, str]:
    """The base and the last step of the first evaluation; with two runs the last steps of both."""
    held: list[str] = []
    newest: dict[str, str] = {}
    for value, _ in choices:
        board_run, _, path = value.partition(":")
        is_newest = newest.setdefault(board_run, run_name(path)) == run_name(path)
        if is_newest and "/eval/" in path and "control" not in path:
            held.append(value)
    values = held or [value for value, _ in choices] or [""]
    first_run = [value for value in values if value.split(":")[0] == values[0].split(":")[0]]
    others = [value for value in values if value not in first_run]
    return (first_run[-1], others[-1]) if others else (first_run[0], first_run[-1])


def read_pairs(a: Path, a_set: str, b: Path, b_set: str) -> list[Pair]:
    """The samples that both sets have. `a` and `b` are indexes; two sets of one run are in the same index."""
    with reading(a, b if b != a else None) as store:
        return store.execute(_PAIRS.format(schema="other" if b != a else "main"), (a_set, b_set)).fetchall()


def changes_part(board: Board, query: Query) -> Markup:
    """The table of figures, or a note while they are being computed. It is renewed when a file of a set changes."""
    a, b = _Side(board, query.get("a", "")), _Side(board, query.get("b", ""))
    changes = None
    if a.files() and b.files():
        measured = board.changes.setdefault(
            (a.text, b.text),
            Measured(
                lambda: measure_changes(list(a.episodes()), list(b.episodes())),
                EVERY,
                lambda: [tuple(file) for side in (a, b) for file in side.files()],
            ),
        )
        changes = measured.get(FIRST_VIEW_SECONDS)
    return render("changes.html", changes=changes, names=FIGURES)


def measure_changes(base: Sequence[Episode], trained: Sequence[Episode]) -> dict[str, Change]:
    """The changes from one set to another on the samples that both have, of each as many episodes as both have.

    The seed of the bootstrap is that of the evaluation, as in its report.
    """
    shared = Counter(map(sample_facts, base)) & Counter(map(sample_facts, trained))

    def first(episodes: Sequence[Episode]) -> list[Episode]:
        seen = Counter[object]()
        kept = []
        for episode in episodes:
            facts = sample_facts(episode)
            seen[facts] += 1
            if seen[facts] <= shared[facts]:
                kept.append(episode)
        return kept

    return compare(first(base), first(trained), trained[0].seed if trained else 0)


def pair_page(board: Board, query: Query) -> Markup | None:
    """Both sides' episodes of one sample."""
    sample = query.get("sample", "")
    sides = {letter: _Side(board, query.get(letter, "")) for letter in ("a", "b")}
    episodes = {}
    for letter, side in sides.items():
        if side.run is None:
            return None
        episodes[letter] = _episodes(side.run, side.set, sample)
    return render("pair.html", sample=sample, sides=sides, episodes=episodes)


def _episodes(run: Run, set_path: str, sample: str) -> list[tuple[sqlite3.Row, Episode]]:
    with reading(run.indexer.path) as store:
        rows = store.execute(
            "SELECT e.*, f.path FROM episodes e JOIN files f ON f.id = e.file WHERE e.set_path = ? AND e.sample = ? "
            "ORDER BY e.id DESC LIMIT ?",
            (set_path, sample, MOST_EPISODES),
        ).fetchall()
    return [(row, episode) for row in rows if (episode := read_episode(run, row))]
