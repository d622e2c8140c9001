"""The records of AskGate: `Sample`, one task of a pool, and `Episode`, one dialogue of a policy on a sample.

A pool is a JSONL file with one `Sample` per line. `msgspec` checks every field while it decodes, and its error names
the path of the field that does not fit. Standard library and msgspec only.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

Task = Literal["hotpotqa", "strategyqa", "gsm8k", "detect"]
"""Also the rule of success. `detect`: whether the policy asks is measured, its answer is not."""
Lang = Literal["en", "zh"]
Level = Literal["easy", "medium", "hard"]

TASKS: tuple[Task, ...] = ("hotpotqa", "strategyqa", "gsm8k")
"""Tasks that templates and generated worlds have."""
ALL_TASKS: tuple[Task, ...] = (*TASKS, "detect")
LANGS: tuple[Lang, ...] = ("en", "zh")
LEVELS: tuple[Level, ...] = ("easy", "medium", "hard")

End = Literal["answer", "turns", "length"]
"""How an episode ended: with an answer, at the turn limit, or at the token limit."""


class Record(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of a JSONL file. An undeclared field is an error."""


class Article(Record, frozen=True):
    """One page that the `wiki` tool can show."""

    title: str
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        return join_sentences(self.sentences)


class Hidden(Record, frozen=True):
    """The information that was removed from the question. Only the user simulator knows it."""

    kind: Literal["entity", "year", "condition", "quantity", "subject", "place", "sense", "preference", "premise"]
    span: str
    """The removed words; put back, they complete the question."""
    missing: str
    """What to ask for, as an embedded question: `which Vera Lindqvist you mean`, `how many bottles a crate holds`."""
    about: tuple[str, ...]
    """Content words of what is missing, with synonyms: what a question about it may mention."""
    readings: tuple[tuple[str, ...], ...] = ()
    """Every reading that prompt and tools allow, each as the phrases that name it. The intended reading is first."""
    unit: str = ""
    """What a quantity measures: money, count, time, length, area, weight, volume, energy, percent, rate."""
    subject: str = ""
    """What the readings are readings of, as an ask names it: a name, or a fact such as `the mayor of Salham`."""


class Turn(Record, frozen=True):
    """One message of a dialogue. `thought` is free reasoning before the act; `tool` is set on calls and results."""

    by: Literal["user", "assistant", "tool"]
    act: Literal["say", "ask", "call", "answer", "result"]
    text: str
    thought: str = ""
    tool: str = ""


class Provenance(Record, frozen=True):
    """The origin of a sample. Hold-out and leak checks compare `source_id`."""

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
    """Text before the question in the prompt (gsm8k: the story)."""
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


class Episode(Record, frozen=True):
    """One multi-turn dialogue of a policy on a sample. A line of `logs/episodes/`."""

    sample_id: str
    task: Task
    lang: Lang
    level: Level | None
    """None if the sample's difficulty was not measured."""
    needs_clarification: bool
    turns: tuple[Turn, ...]
    """The dialogue from the user's first message on, untruncated."""
    end: End
    answer: str | None
    success: bool
    """The answer matches the gold answer. `need_ask_success` also requires the clarifying question."""
    seed: int
    received_info: bool = field(default=False, name="told")
    """The policy asked for the missing information and the user gave it."""
    reward: dict[str, float] = field(default_factory=dict)
    """Terms of the reward; their sum is what was trained on."""
    live: bool = False

    @property
    def asks(self) -> int:
        return sum(turn.act == "ask" for turn in self.turns)

    @property
    def policy_turns(self) -> int:
        return sum(turn.by == "assistant" for turn in self.turns)

    @property
    def need_ask_success(self) -> bool:
        """Correct, and got the missing information by asking. A lucky guess after another question does not count."""
        return self.needs_clarification and self.success and self.received_info


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
