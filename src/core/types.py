"""The vocabulary: what a sample is.

A pool is a JSONL file with one `Sample` a line. `msgspec` checks every field while it decodes, and its error names
the path of the field that does not fit.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

Task = Literal["hotpotqa", "strategyqa", "gsm8k"]
Lang = Literal["en", "zh"]
Level = Literal["easy", "medium", "hard"]

TASKS: tuple[Task, ...] = ("hotpotqa", "strategyqa", "gsm8k")
LANGS: tuple[Lang, ...] = ("en", "zh")
LEVELS: tuple[Level, ...] = ("easy", "medium", "hard")


class Record(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of a file: a field that nobody declared is an error, not a surprise later."""


class Article(Record, frozen=True):
    """One page that the `wiki` tool can show."""

    title: str
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        return join_sentences(self.sentences)


class Hidden(Record, frozen=True):
    """What was taken out of the question. Only the user simulator knows it."""

    kind: Literal["entity", "year", "condition", "quantity", "subject"]
    span: str
    """The words that were taken out; put back, they make the question complete."""
    missing: str
    """What to ask for, as an embedded question: `which Vera Lindqvist you mean`, `how many bottles a crate holds`."""
    about: tuple[str, ...]
    """Words of which an ask must use at least one to be about this span."""


class Turn(Record, frozen=True):
    """One message of a dialogue. `thought` is free reasoning before the act; `tool` is set on calls and results."""

    by: Literal["user", "assistant", "tool"]
    act: Literal["say", "ask", "call", "answer", "result"]
    text: str
    thought: str = ""
    tool: str = ""


class Provenance(Record, frozen=True):
    """Where a sample comes from. `source_id` is what hold-out and leak checks go by."""

    source: str
    split: Literal["train", "shadow"]
    source_id: str
    template_id: str
    role: str
    register: str
    seed: int


class Sample(Record, frozen=True):
    """One task with its question, context, gold answer, hidden span and demonstration dialogue."""

    id: str
    task: Task
    lang: Lang
    prompt: str
    """The first user message, as the template renders it."""
    premise: str
    """Text that stands before the question in the prompt (gsm8k: the story)."""
    clue: str
    """The part of the supporting text that the question restates; easy questions have one."""
    question: str
    original: str
    """Premise and question with nothing hidden."""
    context: tuple[Article, ...]
    support: tuple[str, ...]
    """The sentences that the answer follows from."""
    answer: str
    aliases: tuple[str, ...]
    needs_clarification: bool
    dialogue: tuple[Turn, ...]
    provenance: Provenance
    hidden: Hidden | None = None
    ambiguity: tuple[str, ...] = field(default=())
    """Why the question sounds vague, whether or not its referent is in reach: `shared-name`, `no-year`, ..."""


def join_sentences(sentences: tuple[str, ...] | list[str]) -> str:
    """Sentences as running text: a space between them, none after Chinese punctuation."""
    out = ""
    for sentence in sentences:
        if not sentence:
            continue
        if out and out[-1] not in "。？！；：，":
            out += " "
        out += sentence
    return out
