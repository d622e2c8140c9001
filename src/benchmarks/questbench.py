"""QuestBench (Li et al. 2025), GSM-Q: word problems in which exactly one variable is missing.

A CSV file is the authors' own (`Rewritten Problem`, `Variables`, `Possible Questions`, `GT Question`, ...), a JSONL
file AskBench's packing of it (`ori_question`, `required_points`, `degraded_info`, `expected_answer`).

Authors' rule, CSV (google-deepmind/questbench, mode mc): the model picks one of the possible questions or "no
questions needed"; its choice must be the missing variable. Rule of the packing's authors, JSONL: AskBench's protocol
(`askbench.py`). Our rule, CSV: the choice must have the requested form in the first reply; the authors ask up to five
times more.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path

from ..core.errors import BadInput
from ..core.files import explain_read_errors
from .askbench import AskBench
from .base import Complete, Measure, Outcome, Row, RowSteps, opening, share

TRIES = 6
COLUMNS = ("Rewritten Problem", "Variables", "Possible Questions", "GT Question")
INSTRUCTION = (
    "Do you have all the information to solve this problem? If not, choose the one question that you need answered. "
    'Write the number of your choice in the form "Choice: NUMBER" and nothing else.'
)
AGAIN = 'That is not a choice. Write "Choice: NUMBER" and nothing else.'
_NUMBER = re.compile(r"\b[0-9]+\b")
_WHOLE = re.compile(r"\s*choice:\s*([0-9]{1,9})\W*", re.I)
MAX_DIGITS = 9
"""Longer numbers are no choice; Python refuses to convert thousands of digits."""


class QuestBench(AskBench):
    name = "questbench"
    question, info, points = "ori_question", "degraded_info", "required_points"
    fields = (question, "expected_answer", info, points)

    def read(self, path: Path) -> list[Row]:
        return read_csv(path) if path.suffix.lower() == ".csv" else super().read(path)

    def judge_prompts(self, rows: Sequence[Row]) -> tuple[str, ...]:
        return () if "options" in rows[0] else self.prompts

    def run_row(self, row: Row, actions: bool) -> RowSteps:
        if "options" not in row:
            return (yield from super().run_row(row, actions))
        messages = opening(f"{row['problem']}\n\nPossible questions:\n{row['options']}", INSTRUCTION, False)
        first = turn = yield Complete(messages)
        for _ in range(TRIES - 1):
            if choice(turn.said.text) is not None:
                break
            turn = yield Complete(turn.then(AGAIN))
        return grade_choice(first.said.text, turn.said.text, row["gold"])

    def measures(self, outcomes: Sequence[Outcome]) -> list[Measure]:
        if "graded" in outcomes[0]:
            return super().measures(outcomes)
        return [share("accuracy", "authors", outcomes, "chosen"), share("accuracy", "ours", outcomes, "well_formed")]


def grade_choice(first: str, last: str, gold: int) -> Outcome:
    whole = _WHOLE.fullmatch(first)
    return {"chosen": choice(last) == gold, "well_formed": whole is not None and int(whole[1]) == gold}


def choice(text: str) -> int | None:
    """The authors' rule: the first number after the last `choice:`, or of the whole text where there is none.

    >>> choice("I need it. Choice: 2"), choice("2 or 3"), choice("none"), choice("1" * 5000)
    (2, 2, None, None)
    """
    found = _NUMBER.findall(text.lower().split("choice:")[-1])
    return int(found[0]) if found and len(found[0]) <= MAX_DIGITS else None


def read_csv(path: Path) -> list[Row]:
    """Rows of the authors' file, with the options as the model sees them and the place of the right one."""
    rows: list[Row] = []
    with explain_read_errors(path), open(path, encoding="utf-8-sig", newline="") as handle:
        for place, record in enumerate(csv.DictReader(handle), start=2):
            try:
                problem, variables, possible, gold = (record[column] for column in COLUMNS)
                names, asked = json.loads(variables), json.loads(possible)
                lines = [f"{at}. What is {names[one]} ({one})?" for at, one in enumerate(asked)]
                lines.append(f"{len(asked)}. No questions needed.")
                rows.append({"problem": problem, "options": "\n".join(lines), "gold": asked.index(gold)})
            except (KeyError, ValueError, TypeError) as error:
                raise BadInput(
                    f"is no row of QuestBench's GSM-Q ({type(error).__name__}: {error})",
                    where=f"{path}:{place}",
                    remedy=f"give the file with the columns {', '.join(COLUMNS)}",
                ) from None
    if not rows:
        raise BadInput("has no rows", where=str(path), remedy="give the GSM-Q file of QuestBench")
    return rows
