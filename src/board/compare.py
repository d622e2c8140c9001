"""Two sets of episodes on the samples that both have: base and trained, two steps, two seeds, or two project folders.

Correctness, figures and intervals are computed as in the reports (`eval.compare`). The list comes from the index, where
a sample with several episodes has their mean; the figures are computed from the episodes in a thread: large sets take a
while.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path

from markupsafe import Markup

from askgate_env.types import Episode

from ..eval.compare import OUTCOMES, compare_shared, outcome
from ..pages.rc1_report import HEADLINE
from .episodes import PAGE_SIZE, read_episode, whole_number
from .index import parse_line, reading
from .render import render
from .run_files import read_lines
from .runs import EVERY, Board, Measured, Run
from .sets import in_sets, latest_evaluation, list_sets, set_paths

MAX_EPISODES = 4  # episodes of one sample that are shown side by side
FIRST_VIEW_SECONDS = 1.0
"""Time that the page waits for the figures; those of larger sets are shown when they are computed."""
_SIDE = (
    "SELECT sample, task, level, needs, avg(right) AS right, avg(asks) AS asks, avg(turns) AS turns, "
    "avg(reward) AS reward FROM {}.episodes WHERE {} GROUP BY sample"
)
_COLUMNS = ("right", "asks", "turns", "reward")
_PAIRS = (
    f"WITH a AS ({_SIDE}), b AS ({_SIDE}) SELECT sample, a.task, a.level, a.needs, "
    f"{', '.join(f'{side}.{name} AS {side}_{name}' for side in 'ab' for name in _COLUMNS)} "
    "FROM a JOIN b USING(sample) ORDER BY sample"
)
Query = Mapping[str, str]
Pair = sqlite3.Row  # the means of both sets' episodes of one sample


def group_pairs(pairs: list[Pair]) -> dict[str, list[Pair]]:
    """Samples that the list can be narrowed to: the groups of the RC1 report, and those where only one side asked."""
    groups: dict[str, list[Pair]] = {"": pairs, **{name: [] for name in OUTCOMES.values()}, "asking": []}
    for pair in pairs:
        groups[outcome(pair["a_right"], pair["b_right"])].append(pair)
        if (pair["a_asks"] > 0) != (pair["b_asks"] > 0):
            groups["asking"].append(pair)
    return groups


class _Side:
    """A set of episodes to compare, written `RUN:PATH` in an address."""

    def __init__(self, board: Board, text: str) -> None:
        name, _, self.set = text.partition(":")
        self.text = text
        self.run: Run | None = board.runs.get(name)

    def files(self) -> list[sqlite3.Row]:
        """Path and stamp of each file of the set."""
        if self.run is None:
            return []
        with reading(self.run.indexer.path) as store:
            sets = set_paths(store, self.set)
            query = f"SELECT path, stamp FROM files WHERE {in_sets(sets)} ORDER BY id"
            return store.execute(query, sets).fetchall()

    def episodes(self) -> Iterator[Episode]:
        for file in self.files():
            assert self.run is not None
            for _, _, raw in read_lines(self.run.root, file["path"]):
                if found := parse_line(raw):
                    yield found[1]


def compare_page(board: Board, query: Query) -> Markup:
    """The page that compares two sets: the table of figures, and one page of the list of samples."""
    choices, (first, second) = _choices(board)
    query = {**query, "a": query.get("a") or first, "b": query.get("b") or second}
    a, b = _Side(board, query["a"]), _Side(board, query["b"])
    context = {"choices": choices, "labels_of": dict(choices), "a": a, "b": b}
    if a.run is None or b.run is None:
        return render("compare.html", pairs=None, **context)
    kind, page = query.get("kind", ""), whole_number(query.get("page", ""))
    pairs = read_pairs(a.run.indexer.path, a.set, b.run.indexer.path, b.set)
    groups = group_pairs(pairs)
    shown = groups.get(kind, pairs)
    rows, last = shown[PAGE_SIZE * (page - 1) : PAGE_SIZE * page], max(1, -(-len(shown) // PAGE_SIZE))
    context |= {"changes": changes_part(board, query), "groups": groups, "kind": kind}
    context |= {"rows": rows, "here": page, "last": last}
    return render("compare.html", pairs=pairs, **context)


def _choices(board: Board) -> tuple[list[tuple[str, str]], tuple[str, str]]:
    """Paths and labels of all sets, and the two to begin with: base and last step of the latest evaluation, as in its
    report; with two project folders the last steps of both."""
    choices: list[tuple[str, str]] = []
    latest: list[tuple[str, str]] = []
    for name, run in board.runs.items():
        run.index.get()
        prefix = f"{name}: " if len(board.runs) > 1 else ""
        with reading(run.indexer.path) as store:
            sets = list_sets(store)
        choices += [(f"{name}:{one.path}", prefix + one.label) for one in sets]
        if found := latest_evaluation(sets):
            latest.append((f"{name}:{found[0]}", f"{name}:{found[1]}"))
    if len(latest) > 1:
        return choices, (latest[0][1], latest[-1][1])
    values = [value for value, _ in choices] or [""]
    return choices, latest[0] if latest else (values[0], values[-1])


def read_pairs(a: Path, a_set: str, b: Path, b_set: str) -> list[Pair]:
    """The samples that both sets have. `a` and `b` are indexes; two sets of one run are in the same index."""
    with reading(a) as one, reading(b) as two:
        sets, other_sets = set_paths(one, a_set), set_paths(two, b_set)
    pairs = _PAIRS.format("main", in_sets(sets), "other" if b != a else "main", in_sets(other_sets))
    with reading(a, b if b != a else None) as store:
        return store.execute(pairs, (*sets, *other_sets)).fetchall()


def changes_part(board: Board, query: Query) -> Markup:
    """The table of figures, or a note while they are being computed. It is renewed when a file of a set changes."""
    a, b = _Side(board, query.get("a", "")), _Side(board, query.get("b", ""))
    changes = None
    if a.files() and b.files():
        measured = board.changes.setdefault(
            (a.text, b.text),
            Measured(
                lambda: compare_shared(list(a.episodes()), list(b.episodes())),
                EVERY,
                lambda: [tuple(file) for side in (a, b) for file in side.files()],
            ),
        )
        changes = measured.get(FIRST_VIEW_SECONDS)
    return render("changes.html", changes=changes, names=HEADLINE)


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
    """The newest episodes of a sample in a set, with their rows of the index."""
    with reading(run.indexer.path) as store:
        sets = set_paths(store, set_path)
        rows = store.execute(
            f"SELECT e.*, f.path FROM episodes e JOIN files f ON f.id = e.file WHERE e.{in_sets(sets)} "
            "AND e.sample = ? ORDER BY e.id DESC LIMIT ?",
            (*sets, sample, MAX_EPISODES),
        ).fetchall()
    return [(row, episode) for row in rows if (episode := read_episode(run, row))]
