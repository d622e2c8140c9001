"""UMWP (Sun et al. 2024): word problems that have an answer, and variants of them that have none.

A row: `question`, `answer` (a list with a number; null if there is none), `answerable`.

Authors' rule (Yuki-Asuuna/UMWP, its `eval.py`): a reply calls the problem unanswerable if a window of six words is
close to one of their template sentences (SimCSE above 0.75), or if its last sentences have an expression with a
variable; the figure is the F1 of that. Accuracy: the gold number is *among* the numbers of the last sentences. Here
patterns of the templates' words (`umwp_phrases.txt`) replace SimCSE, an encoder of 1.4 GB, and one regular expression
replaces spaCy with a dictionary.

Our rule: a reply rejects the problem if it asks for what is missing or says so in its last two sentences; an answer
must be stated and be the only number there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ..core.errors import BadInput
from .base import Benchmark, Complete, Measure, Outcome, Row, RowSteps, detection, opening, same_number, share

INSTRUCTION = (
    "Solve the problem step by step and end with: The answer is NUMBER. If it cannot be solved because something is "
    "missing, unclear or impossible, say so and end with: Thus, this problem cannot be answered."
)
LAST_SENTENCES = 3
_PHRASES = [
    line
    for line in Path(__file__).with_name("umwp_phrases.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
_UNSURE = re.compile("|".join(_PHRASES), re.I)
_SENTENCES = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?")
_VARIABLE = re.compile(
    r"\b\d+\s?\*?\s?[b-hj-zB-HJ-Z]\b(?!['’])|\b[b-hj-zB-HJ-Z]\s?[-+*/]\s?\d|\d\s?[-+*/]\s?[b-hj-zB-HJ-Z]\b"
)


class Umwp(Benchmark):
    name = "umwp"
    fields = ("question", "answer", "answerable")
    note = "the authors measure uncertainty with SimCSE, here patterns of phrases stand in for it"

    def check(self, row: Row, where: str) -> None:
        if row["answerable"] and not row["answer"]:
            raise BadInput("is answerable and has no answer", where=where, remedy="give the official UMWP file")

    def run_row(self, row: Row, actions: bool) -> RowSteps:
        said = (yield Complete(opening(row["question"], INSTRUCTION, actions))).said
        gold = row["answer"][0] if row["answerable"] else None
        sentences = [one for part in _SENTENCES.split(said.text) if (one := part.strip())]
        last = " ".join(sentences[-LAST_SENTENCES:]).replace(",", "")
        unsure = said.kind == "ask" or bool(_UNSURE.search(said.text) or _VARIABLE.search(last))
        numbers = [float(one) for one in _NUMBERS.findall(last)]
        # Ours: the end says that there is no answer, and states none.
        answer = said.stated_answer
        denies = _UNSURE.search(" ".join(sentences[-2:])) and not any(map(str.isdigit, answer or ""))
        rejected = said.asks or bool(denies)
        return {
            "unanswerable": gold is None,
            "unsure": unsure,
            "number_correct": not unsure and gold in numbers,
            "rejected": rejected,
            "correct": not rejected and gold is not None and same_number(answer, gold),
            "asked": said.asks,
        }

    def measures(self, outcomes: Sequence[Outcome]) -> list[Measure]:
        answerable = [one for one in outcomes if not one["unanswerable"]]
        unanswerable = [one for one in outcomes if one["unanswerable"]]
        return [
            *detection("authors", outcomes, "unsure", "unanswerable"),
            share("accuracy on answerable", "authors", answerable, "number_correct"),
            *detection("ours", outcomes, "rejected", "unanswerable"),
            share("accuracy on answerable", "ours", answerable, "correct"),
            share("asked on unanswerable", "ours", unanswerable, "asked"),
        ]
