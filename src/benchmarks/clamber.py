"""CLAMBER (Zhang et al. 2024): queries that are ambiguous in eight ways, and clear ones.

A row: `question`, `context`, `clarifying_question`, `require_clarification` (0 or 1), `category` (FD, MC, LA),
`subclass`. The file of the authors is JSON inside JSON strings; both forms are read.

Authors' rule (zt991211/CLAMBER and the paper): the model says whether a query is ambiguous (accuracy, F1 weighted by
class), and asks a clarifying question, which a judge calls helpful or not. Their BERTScore needs a further model and is
left out. Our rule: an ambiguous query counts as detected only if the reply also asks a question, and a clear one as
right only if it asks none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..core.errors import BadInput
from .base import (
    Benchmark,
    Complete,
    Grade,
    Measure,
    Outcome,
    ParsedReply,
    Row,
    RowSteps,
    detection,
    opening,
    plain,
    share,
)

JUDGE = "clamber-help-1"
CATEGORIES = {"FD": "epistemic misalignment", "MC": "aleatoric output", "LA": "linguistic ambiguity"}
INSTRUCTION = (
    "Is this query ambiguous, so that you need to ask before you can answer? Write a first line "
    '"Ambiguous: yes" or "Ambiguous: no". If yes, write one clarifying question in the second line, and nothing else.'
)
_LABEL = re.compile(r"\bambiguous\W{1,4}(yes|no|true|false)\b", re.I)
_BARE = re.compile(r"\W*(yes|no)\b", re.I)


class Clamber(Benchmark):
    name = "clamber"
    fields = ("question", "context", "clarifying_question", "require_clarification", "category", "subclass")
    prompts = (JUDGE,)
    note = "the authors' BERTScore and calibration are left out, and the question about helpfulness is ours"

    def check(self, row: Row, where: str) -> None:
        if str(row["require_clarification"]) not in ("0", "1"):
            raise BadInput("require_clarification is neither 0 nor 1", where=where, remedy="correct that field")

    def run_row(self, row: Row, actions: bool) -> RowSteps:
        context = str(row["context"] or "").strip()
        query = f"{context}\n{row['question']}" if context else row["question"]
        said = (yield Complete(opening(query if actions else f"Query: {query}", INSTRUCTION, actions))).said
        ambiguous = str(row["require_clarification"]) == "1"
        flagged, asked = flags(said), question_of(said)
        outcome: Outcome = {
            "ambiguous": ambiguous,
            "flagged": flagged,
            "right": flagged == ambiguous,
            "asked": bool(asked),
            "behaved": flagged == bool(asked) == ambiguous,
        }
        if ambiguous and asked:
            material = f"Query:\n{query}\n\nReference question:\n{row['clarifying_question']}\n\nQuestion:\n{asked}"
            verdict = yield Grade(JUDGE, material)
            outcome["graded"] = verdict is not None
            outcome["helpful"] = verdict["helpful"] if verdict else None
        elif ambiguous:
            outcome["helpful"] = False
        if row["category"] in CATEGORIES:
            outcome[f"is_{row['category']}"] = True
        return outcome

    def measures(self, outcomes: Sequence[Outcome]) -> list[Measure]:
        kinds = [
            share(f"accuracy, {label}", "authors", [one for one in outcomes if one.get(f"is_{kind}")], "right")
            for kind, label in CATEGORIES.items()
        ]
        return [
            share("accuracy", "authors", outcomes, "right"),
            plain("weighted f1", "authors", weighted_f1(outcomes), len(outcomes)),
            *kinds,
            share("helpful question", "authors", outcomes, "helpful"),
            share("accuracy", "ours", outcomes, "behaved"),
            *detection("ours", outcomes, "asked", "ambiguous"),
        ]


def flags(said: ParsedReply) -> bool | None:
    """Whether the reply calls the query ambiguous; None if it says neither, which is always wrong.

    >>> [flags(ParsedReply("text", text)) for text in ("Ambiguous: yes\\nWhich one?", "No.", "It depends.")]
    [True, False, None]
    """
    if said.kind != "text":
        return said.kind == "ask"
    found = _LABEL.search(said.text) or _BARE.match(said.text)
    return found[1].lower() in ("yes", "true") if found else None


def question_of(said: ParsedReply) -> str:
    """The clarifying question of a reply: its ask action, or its last line that ends with a question mark."""
    if said.kind != "text":
        return said.text if said.kind == "ask" else ""
    lines = [line.strip() for line in said.text.splitlines()]
    asked = next((line for line in reversed(lines) if line.rstrip("*\"' ").endswith(("?", "？"))), "")
    return _LABEL.sub("", asked).strip(" .:*")


def weighted_f1(outcomes: Sequence[Outcome]) -> float:
    """F1 of both classes, weighted by their number of rows."""
    total = 0.0
    for kind in (True, False):
        rows = sum(one["ambiguous"] is kind for one in outcomes)
        said = sum(one["flagged"] is kind for one in outcomes)
        hits = sum(one["flagged"] is kind and one["ambiguous"] is kind for one in outcomes)
        total += rows * (2 * hits / (rows + said) if rows + said else 0.0)
    return total / len(outcomes)
