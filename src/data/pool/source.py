"""The contract between the pool builder and a source of tasks.

A source knows its own world (a generated encyclopedia, a dataset's files), not the templates. The builder asks for a
task with a `Want`; the source answers with an `Item`, the plain task with its way to the answer; `pool.dialogue` turns
that into a `Sample`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from random import Random
from typing import Literal

import msgspec
from msgspec import Struct

from askgate_env.types import ALL_TASKS, Article, Hidden, Lang, Level, Task

from ...core.errors import BadInput
from ..difficulty.metrics import EASY_MAX_SCORE, HARD_MIN_SCORE

Thought = Literal[
    "open_for", "open", "search", "page_for", "compute", "compare", "answer", "after_reply",
    "unclear_name", "unclear_year", "unclear_quantity", "named", "only_one", "check_both", "same_for_both",
]  # fmt: skip
"""Kinds of thought in `templates/voice_*.yaml`."""

TARGET: dict[Level, float] = {"easy": 0.25, "medium": 0.45, "hard": 0.30}
"""Shares of a balanced pool. The builder aims at them from the start, so that balancing discards little."""


class RowCounts(Struct, frozen=True):
    """Number of rows of a data folder by what becomes of them."""

    rows: int = 0
    skipped: int = 0
    """Rows that break a rule or repeat another one."""
    train: int = 0
    """Rows of the training part, without those that are `alike`."""
    shadow: int = 0
    alike: int = 0
    """Rows of the training part that are too much like a held-out one to train on."""

    def __str__(self) -> str:
        return (
            f"({self.rows} rows read: {self.train} to train on, {self.shadow} held out, {self.skipped} skipped, "
            f"{self.alike} too much like a held-out row)"
        )


class TooFewRecords(BadInput):
    """A source has fewer records than the samples that are asked for."""

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        remedy: str = "",
        missing: int = 1,
        count_rows: Callable[[], RowCounts] = RowCounts,
    ) -> None:
        """`missing`: number of samples that have no record. `count_rows`: what becomes of the rows of the source."""
        super().__init__(what, where=where, remedy=remedy)
        self.missing, self.count_rows = missing, count_rows


USUAL_KNOB = 4
"""Usual value of --tool-hops and --ops-numeric."""
OPERATIONS_MORE = 2
"""Number of operations that a problem may have beyond those that were asked for."""
SCORES: dict[Level, tuple[int, int]] = {
    "easy": (0, EASY_MAX_SCORE),
    "medium": (EASY_MAX_SCORE + 1, HARD_MIN_SCORE - 1),
    "hard": (HARD_MIN_SCORE, 16),
}
"""Lowest and highest difficulty score of each level."""
NATURAL_SOURCES = ("ambignq", "situatedqa", "umwp", "in3", "abg_coqa", "messages")
"""Sources of natural ambiguity, which `readers/natural.py` reads."""
WORDED_BY_PEOPLE = (*NATURAL_SOURCES, "dir", "hf")
"""Sources whose questions stay as their authors wrote them: no template words them."""
MEDIUM_SHARE_PER_NOTCH = 1 / 8
"""Share of the medium samples that follow a knob, per notch from its usual value. If all did, no medium bucket would be
left."""


class Want(Struct, frozen=True):
    """One task that the builder asks a source for."""

    lang: Lang
    level: Level
    clarify: bool
    max_turns: int
    """Assistant turns: asks, tool calls and the answer together."""
    tool_hops: int
    ops_numeric: int
    paraphrase: float
    """0..1: how far the wording of the question keeps from the wording of its supporting text."""


class Step(Struct, frozen=True):
    """One tool call on the way to the answer, with what the thought before it needs to know (see `pool.voice`)."""

    tool: str
    input: str
    fact: str = ""
    """Fact that the call should find: a key of `facts` in `voice_*.yaml`, or the words for it."""
    why: Thought | Literal[""] = ""
    """Kind of thought; empty: it follows from the tool and the input."""
    option: str = ""
    """The candidate that the question names, for a thought of the kind `named`."""


class Item(Struct, frozen=True, kw_only=True):
    """A task before a template words it."""

    task: Task
    lang: Lang
    source_id: str
    source: str = ""
    premise: str = ""
    clue: str = ""
    question: str
    original: str = ""
    context: tuple[Article, ...] = ()
    support: tuple[str, ...]
    answer: str
    aliases: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    hidden: Hidden | None = None
    ask_after: int = 0
    """Number of steps before the ask: those that show that something is missing."""
    answer_why: Thought | Literal["", "nothing"] = ""
    """Kind of thought before the answer; empty: the usual one, `nothing`: none, because the answer is a stand-in."""
    topic: str = ""
    """An article that the user says they were reading; it may or may not be what a vague phrase refers to."""
    ambiguity: tuple[str, ...] = ()

    @property
    def is_natural(self) -> bool:
        """Whether people worded the question, so that no template does."""
        return self.source in WORDED_BY_PEOPLE


class Source(ABC):
    """A source of tasks. Keys are small and picklable, so that worker processes can make items from them."""

    name: str
    languages: tuple[Lang, ...]
    levels: Mapping[Task, Mapping[Level, float]] = dict.fromkeys(ALL_TASKS, TARGET)
    """Shares of wants by task and level that make the measured difficulty come out near `TARGET`."""

    def __init__(self) -> None:
        self.fingerprints: dict[str, str] = {}
        """SHA-256 of every file read: dataset files, or the texts of the generated worlds."""
        self.mix: dict[Task, float] = {}
        """Shares of the tasks, where the source decides; empty where the plan does."""
        self.fewer_ambiguous: dict[Task, int] = {}
        """Number of ambiguous samples that the last `assign` was asked for and could not give, by task. Complete ones
        take their place."""

    @property
    def left_aside(self) -> dict[Task, int]:
        """Number of unusable records by task: repeated, or without a way to the answer."""
        return {}

    @abstractmethod
    def assign(self, task: Task, wants: list[Want], split: str, seed: int, taken: Collection[str] = ()) -> list[str]:
        """A key for every want, no key twice and none of a taken source id; `BadInput` when the source has too few."""

    @abstractmethod
    def item(self, task: Task, key: str, want: Want, seed: int) -> Item:
        """The item of a key that `assign` gave for this want and seed."""


# The knobs --tool-hops and --ops-numeric: a hard sample takes the full values; a share of the medium samples, which
# grows with each notch from the usual value, takes half of them. With a knob above its usual value samples may come out
# harder than wanted, with one below easier. Otherwise the builder would compensate elsewhere, and the knob would change
# nothing that is measured.


def effective_want(want: Want, key: str) -> Want:
    """The want with the knob values that the sample of this key follows: most medium samples keep the usual ones."""
    notches = max(abs(want.tool_hops - USUAL_KNOB), abs(want.ops_numeric - USUAL_KNOB))
    if want.level != "medium" or Random(f"knobs:{key}").random() < MEDIUM_SHARE_PER_NOTCH * notches:
        return want
    return msgspec.structs.replace(want, tool_hops=USUAL_KNOB, ops_numeric=USUAL_KNOB)


def calls_wanted(want: Want) -> float:
    """Number of tool calls that a sample of this level should have."""
    return {"easy": 1.0, "medium": want.tool_hops / 2, "hard": float(want.tool_hops)}[want.level]


def operations_missed(operations: int, want: Want) -> int:
    """Number of operations that a problem has too few or too many; an easy one may have any number."""
    if want.level == "easy":
        return 0
    least = want.ops_numeric if want.level == "hard" else want.ops_numeric // 2
    return max(least - operations, operations - least - OPERATIONS_MORE, 0)


def points_missed(points: int, want: Want, *knobs: int) -> int:
    """Distance of a difficulty score from the level's range. A side that one of the knobs pulls to does not count."""
    low, high = SCORES[want.level]
    easier = want.level != "easy" and min(knobs) < USUAL_KNOB
    harder = want.level != "easy" and max(knobs) > USUAL_KNOB
    return max(0 if easier else low - points, 0 if harder else points - high, 0)
