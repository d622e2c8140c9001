"""GSM8K (Cobbe et al. 2021): complete word problems, to see whether a model that asks still solves them; and
GSM8K-Insufficient (Qiu et al. 2026, GRIL): word problems with a premise removed, and complete ones.

GSM8K. Authors' rule (openai/grade-school-math): the first `#### NUMBER` of the reply, without commas, is the same text
as that of the solution. Our rule: the answer that the reply states, in whatever form, has the same value. We also
measure how often it asks although nothing is missing.

GSM8K-Insufficient. A row: `question` (without the premise), `removed_premise` (null in a complete row),
`full_question`, `answer`.

Authors' rule (ZJU-REAL/GRIL, its `premise_detect` environment): up to four turns. A turn with one of three phrases, in
thought or answer, has detected that something is missing; the user then gives the premise whatever was asked. After a
turn without one the user says "try again". An answer is right if it is *contained in* the gold answer, without spaces:
"4" is right for "42". Each boxed text of a turn is a try. A complete problem has failed as soon as a phrase occurs.

Our rule: one turn to ask or to say that something is missing, and one answer, which must have the value of the gold
one. A question must share a content word with the removed premise, or the user does not give it. Each rule has its own
dialogue; the first turn is the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from askgate_env.tokenize import words

from ..core.errors import BadInput
from ..data.difficulty.text_features import FUNCTION_WORDS
from ..scoring.chat_server import Reply
from .base import (
    Benchmark,
    Complete,
    Measure,
    Messages,
    Outcome,
    Row,
    RowSteps,
    Turn,
    detection,
    mean,
    opening,
    same_number,
    share,
)

SOLVE = "Solve the problem step by step. End with a last line of the form: #### NUMBER"
_MARKED = re.compile(r"#### (-?[0-9.,]+)")
TURNS = 4
PHRASES = ("[missing premise detected]", "insufficient information", "not enough information")
INSTRUCTION = (
    "Think step by step inside <think> and </think>. Then write only the final answer inside <answer> and </answer>. "
    "If the problem does not say all that is needed, the answer is: insufficient information"
)
_BOXED = re.compile(r"\\boxed\{(.*?)\}", re.DOTALL)
_ANSWERED = re.compile(r"<answer>((?:(?!<answer>).)*)</answer>(?!.*</answer>)", re.DOTALL)
_NUMBERS = re.compile(r"[-+]?\d*\.\d+|[-+]?\d+")


class Gsm8k(Benchmark):
    name = "gsm8k"
    fields: ClassVar[tuple[str, ...]] = ("question", "answer")
    answer_remedy = "give the official GSM8K file"

    def check(self, row: Row, where: str) -> None:
        if marked(str(row["answer"])) is None:
            raise BadInput("the answer has no #### line", where=where, remedy=self.answer_remedy)

    def run_row(self, row: Row, actions: bool) -> RowSteps:
        said = (yield Complete(opening(row["question"], SOLVE, actions))).said
        gold, answer = marked(row["answer"]), said.stated_answer
        # An answer action is AskGate's marker of the final answer, as `####` is that of GSM8K.
        text = f"#### {said.text}" if said.kind == "answer" else said.text
        return {
            "marked_correct": said.kind != "ask" and marked(text) == gold,
            "correct": not said.asks and same_number(answer, gold or ""),
            "asked": said.asks,
            "no_answer": not said.asks and answer is None,
        }

    def measures(self, outcomes: Sequence[Outcome]) -> list[Measure]:
        return [
            share("accuracy", "authors", outcomes, "marked_correct"),
            share("accuracy", "ours", outcomes, "correct"),
            share("asked needlessly", "ours", outcomes, "asked"),
            share("no answer", "ours", outcomes, "no_answer"),
        ]


def marked(text: str) -> str | None:
    """The number after the first `####`, without commas.

    >>> marked("so 1,250 of them\\n#### 1,250"), marked("1250")
    ('1250', None)
    """
    found = _MARKED.search(text)
    return found[1].replace(",", "") if found else None


class Gsm8kInsufficient(Gsm8k):
    name = "gsm8k-insufficient"
    fields = ("question", "removed_premise", "full_question", "answer")
    answer_remedy = "end it with a line like #### 42"

    def run_row(self, row: Row, actions: bool) -> RowSteps:
        lacking = row["removed_premise"] is not None
        question = row["question"] if lacking else row["full_question"]
        start = opening(question, INSTRUCTION, actions)
        authors = yield from _run_authors(row, start, actions)
        ours = yield from _run_ours(row, start)
        return {"lacking": lacking, **authors, **ours}

    def measures(self, outcomes: Sequence[Outcome]) -> list[Measure]:
        lacking = [one for one in outcomes if one["lacking"]]
        complete = [one for one in outcomes if not one["lacking"]]
        return [
            share("success rate", "authors", lacking, "gril_success"),
            share("premise detection", "authors", lacking, "gril_detected"),
            mean("turns", "authors", lacking, "gril_turns"),
            *detection("authors", outcomes, "gril_detected", "lacking"),
            share("accuracy on complete", "authors", complete, "gril_success"),
            share("success rate", "ours", lacking, "success"),
            share("premise detection", "ours", lacking, "detected"),
            *detection("ours", outcomes, "detected", "lacking"),
            share("accuracy on complete", "ours", complete, "success"),
        ]


def _run_authors(row: Row, messages: Messages, actions: bool) -> RowSteps:
    lacking, gold = row["removed_premise"] is not None, marked(row["answer"]) or ""
    has_premise = False
    for count in range(1, TURNS + 1):
        turn: Turn = yield Complete(messages)
        # With actions the model is not told the phrases, so an ask action counts as one.
        if detects(turn.reply) or (actions and turn.said.kind == "ask"):
            if has_premise or not lacking:
                # GRIL ends the episode: nothing is missing (any more).
                return _gril(False, True, count)
            has_premise = True
            text = f"You are right, something was missing: {row['removed_premise']} Please solve the problem now."
        elif (has_premise or not lacking) and contained(turn.reply, gold):
            return _gril(True, has_premise, count)
        elif has_premise:
            text = f"That is not right. What was missing: {row['removed_premise']} Please try again."
        else:
            text = "That is not right. Please try again."
        messages = turn.then(text)
    return _gril(False, has_premise, TURNS)


def _gril(success: bool, detected: bool, turns: int) -> Outcome:
    return {"gril_success": success, "gril_detected": detected, "gril_turns": float(turns)}


def _run_ours(row: Row, messages: Messages) -> RowSteps:
    premise, gold = row["removed_premise"], marked(row["answer"]) or ""
    turn: Turn = yield Complete(messages)
    said = turn.said
    detected = said.asks or detects(turn.reply)
    if not detected or premise is None:
        right = premise is None and not detected and same_number(said.stated_answer, gold)
        return {"detected": detected, "success": right}
    if said.asks and not concerns(said.text, premise, row["question"]):
        return {"detected": True, "success": False}
    said = (yield Complete(turn.then(str(premise)))).said
    return {"detected": True, "success": not said.asks and same_number(said.stated_answer, gold)}


def detects(reply: Reply) -> bool:
    """GRIL's rule: one of three phrases anywhere in thought or text, whatever the sentence says."""
    said = f"{reply.thought}\n{reply.text}".lower()
    return any(phrase in said for phrase in PHRASES)


def contained(reply: Reply, gold: str) -> bool:
    """GRIL's rule: a boxed text, else the last number, else the whole answer, is part of the gold answer.

    >>> [contained(Reply(f"<answer>{text}</answer>"), "42") for text in ("42", "4", "420", "no idea", "")]
    [True, True, False, False, False]
    """
    found = _ANSWERED.search(reply.text)
    text = found[1] if found else reply.text
    for tag in ("<think>", "</think>", "<answer>", "</answer>"):
        text = text.replace(tag, "")
    boxed = [one for match in _BOXED.findall(text) if (one := match.strip())]
    numbers = _NUMBERS.findall(text)
    tries = ["".join(one.lower().split()) for one in boxed or numbers[-1:] or [text]]
    return any(one and one in gold for one in tries)


def concerns(asked: str, premise: str, question: str) -> bool:
    """Whether a question has a content word that the removed premise has, and at most half of the problem's words.

    >>> concerns("How many eggs do the ducks lay?", "Her ducks lay 16 eggs a day.", "She eats 3. How many are left?")
    True
    """
    about = _content(asked)
    return bool(about & _content(premise)) and len(about & _content(question)) <= max(2, len(_content(question)) // 2)


def _content(text: str) -> set[str]:
    """Content words, without the s of a plural."""
    said = [word for word in words(text) if word.isalpha() and word not in FUNCTION_WORDS]
    return {word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in said}
