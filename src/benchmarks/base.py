"""Base class of benchmarks: reads a file, runs each row with a model, and computes figures from the outcomes.

A row is run by a generator. It yields steps and gets their results, so that the runner can do the same step of all
rows together:

    def run_row(self, row, actions):
        turn = yield Complete(opening(row["question"], "End with '#### ' and the number.", actions))
        return {"correct": same_number(turn.said.stated_answer, row["answer"])}

An outcome maps names to True, False, a number, or None where a row does not count for that name.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar, Literal, NamedTuple

import msgspec
from msgspec import Struct

from askgate_env.actions import parse, system
from askgate_env.success import TOLERANCE, number

from ..core.errors import BadInput
from ..core.jsonl import read_lines
from ..eval.metrics import Figure, wilson
from ..scoring.chat_server import Message, Reply

Row = Mapping[str, Any]
Outcome = dict[str, bool | float | None]
Messages = tuple[Message, ...]
Rule = Literal["authors", "ours"]


class Complete(NamedTuple):
    """A step: the model replies to messages. Its result is a `Turn`."""

    messages: Messages


_STATED = (
    re.compile(r"####\s*(.+)"),
    re.compile(r"\bboxed\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"),
    re.compile(r"\banswer(?: is|:)\s*(.+?)(?:\.(?:\s|$)|\n|$)", re.I),
)


class ParsedReply(NamedTuple):
    """A reply as graders see it: its action if it has one, else plain text."""

    kind: Literal["ask", "answer", "text"]
    text: str

    @property
    def stated_answer(self) -> str | None:
        r"""The answer that it states as final: an answer action, `####`, `boxed{}`, or `the answer is`.

        The last one counts. A reply that only ends with a number states no answer: nothing is guessed.

        >>> [ParsedReply("text", text).stated_answer for text in ("2 + 2 = 4", "#### 4", r"So \boxed{\frac{1}{2}}.")]
        [None, '4', '\\frac{1}{2}']
        """
        if self.kind != "text":
            return self.text if self.kind == "answer" else None
        found = [(match.start(), match[1]) for pattern in _STATED for match in pattern.finditer(self.text)]
        return max(found)[1].strip() if found else None

    @property
    def asks(self) -> bool:
        """Whether it asks the user: an ask action, or a last sentence that is a question, without a stated answer.

        >>> [ParsedReply("text", text).asks for text in ("How many eggs are left?", "Why 4? Because 2 + 2 = 4.")]
        [True, False]
        """
        if self.kind != "text":
            return self.kind == "ask"
        return self.text.rstrip("*_\"'”) \n").endswith(("?", "？")) and self.stated_answer is None


def parse_reply(text: str) -> ParsedReply:
    """A reply with its ask or answer action, if it has one.

    >>> parse_reply("Let me see. <ask>How many eggs?</ask>")
    ParsedReply(kind='ask', text='How many eggs?')
    """
    action = parse(text)
    if action.kind in ("ask", "answer"):
        return ParsedReply("ask" if action.kind == "ask" else "answer", action.text)
    return ParsedReply("text", text.strip())


class Turn(NamedTuple):
    """A turn of the model: its reply, and the dialogue including it and all tool calls."""

    reply: Reply
    dialogue: Messages

    @property
    def said(self) -> ParsedReply:
        return parse_reply(self.reply.text)

    def then(self, text: str) -> Messages:
        """The messages of the dialogue with a further text of the user."""
        return (*self.dialogue, _message("user", text))


class Grade(NamedTuple):
    """A step: the judge answers the questions of a prompt on a text. Its result is yes or no by question, or None."""

    version: str
    text: str


class Write(NamedTuple):
    """A step: the judge writes a text, such as the reply of a simulated user. Its result is the text, or None."""

    version: str
    text: str


Step = Complete | Grade | Write
RowSteps = Generator[Step, Any, Outcome]


class Measure(Struct, frozen=True):
    """A figure of a benchmark, by the authors' rule or by ours."""

    name: str
    rule: Rule
    figure: Figure


class Benchmark(ABC):
    """Base class of benchmarks."""

    name: ClassVar[str]
    fields: ClassVar[tuple[str, ...]]
    """Fields that every row of the file must have."""
    prompts: ClassVar[tuple[str, ...]] = ()
    """Versions of the judge prompts that the benchmark uses; none if it needs no judge."""
    note: ClassVar[str] = ""
    """Differences between our grading by the authors' rule and their program, in one sentence; empty if none."""

    def read(self, path: Path) -> list[Row]:
        """The rows of the file, checked."""
        rows: list[Row] = []
        for place, line in read_lines(path):
            row = decode(line, f"{path}:{place}")
            if absent := [name for name in self.fields if name not in row]:
                raise BadInput(
                    f"has no field {absent[0]}, so it is no row of {self.name}",
                    where=f"{path}:{place}",
                    remedy=f"give the file of {self.name}; docs/benchmarks.md has its format",
                )
            self.check(row, f"{path}:{place}")
            rows.append(row)
        if not rows:
            raise BadInput("has no rows", where=str(path), remedy=f"give the file of {self.name}")
        return rows

    def check(self, row: Row, where: str) -> None:  # noqa: B027
        """Raises BadInput if a field of the row has a value that cannot be graded."""

    def judge_prompts(self, rows: Sequence[Row]) -> tuple[str, ...]:
        """Versions of the judge prompts that these rows need."""
        return self.prompts

    @abstractmethod
    def run_row(self, row: Row, actions: bool) -> RowSteps:
        """Runs one row. `actions`: with AskGate's system prompt, as in training."""

    @abstractmethod
    def measures(self, outcomes: Sequence[Outcome]) -> list[Measure]:
        """The figures of the benchmark, from the outcomes of all rows."""


def decode(line: bytes, where: str) -> dict[str, Any]:
    """A JSON object, or a string that contains one: CLAMBER's file is encoded twice."""
    try:
        found = msgspec.json.decode(line)
        row = msgspec.json.decode(found) if isinstance(found, str) else found
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"is not JSON ({error})", where=where, remedy="give a JSONL file, one row a line") from None
    if not isinstance(row, dict):
        raise BadInput("is not a JSON object", where=where, remedy="give a JSONL file, one row a line")
    return row


def opening(question: str, instruction: str, actions: bool) -> Messages:
    """The first messages: question and instruction, or the question alone after AskGate's system prompt."""
    if actions:
        return (_message("system", system("en")), _message("user", question))
    return (_message("user", f"{question}\n\n{instruction}" if instruction else question),)


def _message(role: str, text: str) -> Message:
    return {"role": role, "content": text}


def same_number(answer: str | None, gold: Decimal | float | str) -> bool:
    """Whether a stated answer has exactly one number, and that number is the gold one.

    >>> same_number("$1,250 in all", 1250), same_number("36 or 40", 36), same_number("18.0", "18")
    (True, False, True)
    """
    given, wanted = number(answer or ""), number(str(gold))
    return given is not None and wanted is not None and abs(given - wanted) <= TOLERANCE


def share(name: str, rule: Rule, outcomes: Sequence[Outcome], key: str = "") -> Measure:
    """The share of outcomes that are true, with Wilson's 95% interval. Those that are None do not count.

    `key`: name in the outcomes, if it is not `name`.
    """
    counted = _counted(outcomes, key or name)
    if not counted:
        return plain(name, rule, None, 0)
    value = fmean(counted)
    return Measure(name, rule, Figure(value, *wilson(value, len(counted)), len(counted)))


def mean(name: str, rule: Rule, outcomes: Sequence[Outcome], key: str = "") -> Measure:
    """The mean of numbers, without interval."""
    counted = _counted(outcomes, key or name)
    return plain(name, rule, fmean(counted) if counted else None, len(counted))


def _counted(outcomes: Sequence[Outcome], key: str) -> list[float]:
    return [float(value) for one in outcomes if (value := one.get(key)) is not None]


def plain(name: str, rule: Rule, value: float | None, n: int) -> Measure:
    """A figure without interval."""
    return Measure(name, rule, Figure(value, None, None, n))


def detection(rule: Rule, outcomes: Sequence[Outcome], flagged: str, positive: str) -> list[Measure]:
    """Precision, recall and F1 of `flagged` as a prediction of `positive`."""
    counted = [one for one in outcomes if one.get(flagged) is not None and one.get(positive) is not None]
    of_flagged = [{"precision": one[positive]} for one in counted if one[flagged]]
    of_positive = [{"recall": one[flagged]} for one in counted if one[positive]]
    hits = sum(bool(one[flagged] and one[positive]) for one in counted)
    total = len(of_flagged) + len(of_positive)
    return [
        share("precision", rule, of_flagged),
        share("recall", rule, of_positive),
        plain("f1", rule, 2 * hits / total if total else None, len(counted)),
    ]
