"""GSM8K (Cobbe et al. 2021): complete word problems, to see whether a model that asks still solves them.

Authors (openai/grade-school-math): the first `#### NUMBER` of the reply, without commas, is the same text as that of
the solution. Ours: the answer that the reply states, in whatever form, has the same value; and how often it asks
although nothing is missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..core.errors import BadInput
from .base import (
    Benchmark,
    Complete,
    Measure,
    Outcome,
    ParsedReply,
    Row,
    RowSteps,
    asks,
    opening,
    parse_reply,
    same_number,
    share,
    stated_answer,
)

INSTRUCTION = "Solve the problem step by step. End with a last line of the form: #### NUMBER"
_MARKED = re.compile(r"#### (-?[0-9.,]+)")


class Gsm8k(Benchmark):
    name = "gsm8k"
    fields = ("question", "answer")

    def check(self, row: Row, where: str) -> None:
        if marked(str(row["answer"])) is None:
            raise BadInput("the answer has no #### line", where=where, remedy="give the official GSM8K file")

    def run_row(self, row: Row, actions: bool) -> RowSteps:
        said = parse_reply((yield Complete(opening(row["question"], INSTRUCTION, actions))).reply)
        return grade(said, row["answer"])

    def measures(self, outcomes: Sequence[Outcome]) -> list[Measure]:
        return [
            share("accuracy", "authors", outcomes, "marked_correct"),
            share("accuracy", "ours", outcomes, "correct"),
            share("asked needlessly", "ours", outcomes, "asked"),
            share("no answer", "ours", outcomes, "no_answer"),
        ]


def grade(said: ParsedReply, solution: str) -> Outcome:
    gold, asked, answer = marked(solution), asks(said), stated_answer(said)
    # An answer action is AskGate's marker of the final answer, as `####` is that of GSM8K.
    text = f"#### {said.text}" if said.kind == "answer" else said.text
    return {
        "marked_correct": said.kind != "ask" and marked(text) == gold,
        "correct": not asked and same_number(answer, gold or ""),
        "asked": asked,
        "no_answer": not asked and answer is None,
    }


def marked(text: str) -> str | None:
    """The number after the first `####`, without commas.

    >>> marked("so 1,250 of them\\n#### 1,250"), marked("1250")
    ('1250', None)
    """
    found = _MARKED.search(text)
    return found[1].replace(",", "") if found else None
