"""What a source of tasks hands to the pool builder.

A source knows its own world (a generated encyclopedia, a dataset's files). It does not know templates: it gives an
`Item`, the plain task with its way to the answer, and `pool.dress` turns that into a `Sample`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from msgspec import Struct

from ...core.types import Article, Hidden, Lang, Level, Task

TARGET: dict[Level, float] = {"easy": 0.25, "medium": 0.45, "hard": 0.30}
"""The shares that a balanced pool wants, aimed at from the start so that balancing throws little away."""


class Want(Struct, frozen=True):
    """What the builder asks a source for."""

    lang: Lang
    level: Level
    clarify: bool
    max_turns: int
    """Assistant turns: asks, tool calls and the answer together."""
    tool_hops: int
    """Tool calls that a hard sample should take."""
    ops_numeric: int
    """Arithmetic operations that a hard sample should take."""
    paraphrase: float
    """0..1: how far the wording of the question keeps from the wording of its supporting text."""


class Step(Struct, frozen=True):
    """One tool call on the way to the answer. `note` is a thought of the source's own; templates add theirs."""

    tool: str
    input: str
    note: str = ""


class Item(Struct, frozen=True):
    """A task before a template dresses it."""

    task: Task
    lang: Lang
    source: str
    source_id: str
    premise: str
    clue: str
    question: str
    original: str
    context: tuple[Article, ...]
    support: tuple[str, ...]
    answer: str
    aliases: tuple[str, ...]
    steps: tuple[Step, ...]
    hidden: Hidden | None = None
    ask_after: int = 0
    """How many steps come before the ask: those that show that something is missing."""
    topic: str = ""
    """An article that the user says they were reading; it may or may not be what a vague phrase refers to."""
    ambiguity: tuple[str, ...] = ()


class Source(Protocol):
    """Where tasks come from. Keys are small and picklable, so that worker processes can make items from them."""

    name: str
    languages: tuple[Lang, ...]
    fingerprints: dict[str, str]
    """SHA-256 of every file read; empty for generated worlds."""

    @property
    def left_aside(self) -> dict[Task, int]:
        """By task, how many records cannot be used: repeated, or without a way to the answer."""
        ...

    def levels(self, task: Task) -> dict[Level, float]:
        """Shares of wants by level after which measured difficulty comes out near `TARGET`."""
        ...

    def assign(self, task: Task, wants: list[Want], split: str, seed: int, taken: Collection[str] = ()) -> list[str]:
        """A key for every want, no key twice and none of a taken source id; `BadInput` when the source has too few."""
        ...

    def item(self, task: Task, key: str, want: Want, seed: int) -> Item: ...
