"""AskBench (2026): AskMind, questions with information removed, and AskOverconfidence, questions with a false claim.

A row of AskMind: `degraded_question`, `ori_question`, `expected_answer`, `degraded_info`, `required_points`. A row of
AskOverconfidence: `overconfidence_question`, `overconfidence_info`, `misleading_points` in their place.

Authors' rule (jialeuuz/askbench, its `AskEvaluator`): up to three turns; the last one must answer. After each turn a
judge says whether it is a final answer, whether that is right, and whether all points are settled; if it is no final
answer, the judge plays the user. Rows that the judge cannot grade are left out. Score: 0.5 accuracy + 0.3 coverage +
0.2 (1 - unneeded questions).

Our rule: the share of rows whose answer equals the expected one, after all points were settled, without an unneeded
question. A row that was not graded is no success.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from .base import (
    Benchmark,
    Complete,
    Grade,
    Measure,
    Messages,
    Outcome,
    Row,
    RowSteps,
    Write,
    opening,
    parse_reply,
    plain,
    share,
)

TURNS = 3
FINAL_TURN = "This is your last turn: give your final answer now, and ask nothing more."
WEIGHTS = {"accuracy": 0.5, "coverage": 0.3, "unneeded": 0.2}
JUDGE, USER = "askbench-1", "askbench-user-1"


class AskBench(Benchmark):
    """Base class of the three benchmarks with AskBench's protocol."""

    prompts = (JUDGE, USER)
    note = "the prompts of judge and user are ours, and each verdict is a median of votes"
    question: ClassVar[str]
    """Field of the question that the model sees."""
    info: ClassVar[str]
    """Field that says why that question is incomplete or misleading."""
    points: ClassVar[str]
    points_are: ClassVar[str] = "Points to be obtained before answering"
    user_knows_question = True

    def run_row(self, row: Row, actions: bool) -> RowSteps:
        messages = opening(row[self.question], "", actions)
        asked = unneeded = False
        for count in range(1, TURNS + 1):
            turn = yield Complete(with_final_turn(messages) if count == TURNS else messages)
            verdict = yield Grade(JUDGE, self._material(row, turn.dialogue))
            if verdict is None:
                return {"graded": False}
            if verdict["final"]:
                success = verdict["resolved"] and not unneeded
                return {
                    "graded": True,
                    "final": True,
                    "correct": verdict["correct"],
                    "resolved": verdict["resolved"],
                    "asked": asked,
                    "unneeded": unneeded,
                    "success": success and same_answer(turn.said.stated_answer, row["expected_answer"]),
                }
            asked, unneeded = True, unneeded or verdict["resolved"]
            if count < TURNS:
                user_reply = yield Write(USER, self._knowledge(row, turn.dialogue))
                if user_reply is None:
                    return {"graded": False}
                messages = turn.then(user_reply)
        no_answer: Outcome = {"graded": True, "final": False, "correct": False, "resolved": None, "asked": asked}
        return {**no_answer, "unneeded": unneeded, "success": False}

    def measures(self, outcomes: Sequence[Outcome]) -> list[Measure]:
        graded = [one for one in outcomes if one["graded"]]
        final = [one for one in graded if one["final"]]
        accuracy = share("accuracy", "authors", graded, "correct")
        coverage = share("coverage", "authors", final, "resolved")
        unneeded = share("unneeded questions", "authors", graded, "unneeded")
        return [
            accuracy,
            coverage,
            unneeded,
            share("asked", "authors", graded),
            plain("score", "authors", score(accuracy, coverage, unneeded), len(graded)),
            share("success", "ours", [{"success": bool(one.get("success"))} for one in outcomes]),
            share("not graded", "ours", [{"not graded": not one["graded"]} for one in outcomes]),
        ]

    def _material(self, row: Row, dialogue: Messages) -> str:
        return "\n\n".join(
            (
                f"Complete question:\n{row['ori_question']}",
                f"Right answer:\n{row['expected_answer']}",
                f"Question that the assistant saw:\n{row[self.question]}",
                f"What is wrong with it:\n{row[self.info]}",
                f"{self.points_are}:\n{listed(row[self.points])}",
                f"Dialogue:\n{transcript(dialogue)}",
            )
        )

    def _knowledge(self, row: Row, dialogue: Messages) -> str:
        """Facts for the simulated user, who does not know the real question if the question has a false claim."""
        complete = f"Your real question:\n{row['ori_question']}\n\n" if self.user_knows_question else ""
        return (
            f"{complete}Background, not to be recited:\n{row[self.info]}\n\n"
            f"{self.points_are}:\n{listed(row[self.points])}\n\nDialogue:\n{transcript(dialogue)}"
        )


class AskMind(AskBench):
    name = "askmind"
    question, info, points = "degraded_question", "degraded_info", "required_points"
    fields = ("ori_question", "expected_answer", question, info, points)


class AskOverconfidence(AskBench):
    name = "askoverconfidence"
    question, info, points = "overconfidence_question", "overconfidence_info", "misleading_points"
    points_are = "Misleading claims to be questioned before answering"
    fields = ("ori_question", "expected_answer", question, info, points)
    user_knows_question = False


def score(accuracy: Measure, coverage: Measure, unneeded: Measure) -> float | None:
    """AskBench's score. Without any final answer the coverage counts as 1, as in the authors' program."""
    if accuracy.figure.value is None or unneeded.figure.value is None:
        return None
    covered = 1.0 if coverage.figure.value is None else coverage.figure.value
    parts = {"accuracy": accuracy.figure.value, "coverage": covered, "unneeded": 1 - unneeded.figure.value}
    return sum(WEIGHTS[name] * value for name, value in parts.items())


def with_final_turn(messages: Messages) -> Messages:
    last = messages[-1]
    return (*messages[:-1], {**last, "content": f"{last['content']}\n\n{FINAL_TURN}"})


def transcript(dialogue: Messages) -> str:
    """The dialogue as the judge reads it: text of the actions, no system prompt, further lines of a message marked."""
    lines = []
    for role, text in ((one["role"], one["content"]) for one in dialogue if one["role"] != "system"):
        said = parse_reply(text).text if role == "assistant" else text
        lines.append(f"{role.capitalize()}: " + said.replace("\n", "\n| "))
    return "\n".join(lines)


def listed(points: Sequence[str]) -> str:
    return "\n".join(f"{place}. {point}" for place, point in enumerate(points, start=1)) or "none"


_NOISE = re.compile(r"\\(?:left|right|!|,|;|displaystyle)|\\?\$|\^\{?\\circ\}?|°|\\ |\s")
_TEXT = re.compile(r"\\(?:text|mathrm|textbf|mbox)\{([^{}]*)\}")
_FRACTION = re.compile(r"(-?)\\frac\{(-?\d+)\}\{(-?\d+)\}|(-?)\\frac(\d)(\d)")
_EXPONENT = re.compile(r"e[-+]?\d{4}", re.I)


def same_answer(answer: str | None, expected: str) -> bool:
    r"""Whether two answers in LaTeX are the same text, or the same number, after notation is unified.

    >>> [same_answer(answer, r"\frac{16}{27}") for answer in (r"\dfrac{16}{27}", "16/27", r"$\frac{16}{27}$", "16")]
    [True, True, True, False]
    >>> same_answer("1e999999999", "7")
    False
    """
    if answer is None:
        return False
    given, wanted = _unified(answer), _unified(expected)
    if given == wanted:
        return bool(given)
    values = [_value(given), _value(wanted)]
    return values[0] is not None and values[0] == values[1]


def _unified(text: str) -> str:
    text = _TEXT.sub(r"\1", text.strip().replace("dfrac", "frac").replace("tfrac", "frac"))
    return _NOISE.sub("", text).rstrip(".").replace("{,}", "").casefold()


def _value(text: str) -> Fraction | None:
    plain_text = _FRACTION.sub(lambda one: f"{one[1] or one[4] or ''}{one[2] or one[5]}/{one[3] or one[6]}", text)
    if _EXPONENT.search(plain_text):
        return None  # `Fraction` would compute all digits of 1e999999999
    try:
        return Fraction(re.sub(r"(?<=\d),(?=\d{3}\b)", "", plain_text))
    except (ValueError, ZeroDivisionError):
        return None
