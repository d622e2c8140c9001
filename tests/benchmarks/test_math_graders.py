"""Graders of GSM8K, GSM8K-Insufficient and UMWP on hand-made replies, right and wrong, by both rules."""

from __future__ import annotations

import pytest

from src.benchmarks.gsm8k import Gsm8k, Gsm8kInsufficient, concerns, contained, detects
from src.benchmarks.umwp import Umwp
from src.scoring.chat_server import Reply
from tests.benchmarks.scripted_row import outcome_of

SOLUTION = "9 * 138 = <<9*138=1242>>1242, 1242 + 8 = 1250\n#### 1,250"

GSM8K = [
    # reply, right by the authors, right by ours, asked
    ("So 1242 + 8 = 1250.\n#### 1250", True, True, False),
    ("#### 1,250", True, True, False),
    ("#### 1250 dollars", True, True, False),
    ("#### 1250.0", False, True, False),
    ("#### $1250", False, True, False),
    ("####1250", False, True, False),
    ("The answer is 1250.", False, True, False),
    ("So it is \\boxed{1250}.", False, True, False),
    ("<answer>1250</answer>", True, True, False),
    ("<answer>$1,250</answer>", False, True, False),
    ("Let me see. <answer>1,250", True, True, False),
    ("1242 + 8 = 1250", False, False, False),
    ("#### 1251", False, False, False),
    ("#### -1250", False, False, False),
    ("#### 1250\n#### 7", True, False, False),
    ("#### 7\n#### 1250", False, True, False),
    ("The answer is 1250 or 1260.", False, False, False),
    ("<answer>1240</answer>", False, False, False),
    ("<ask>How many boxes are there?</ask>", False, False, True),
    ("How many boxes are there?", False, False, True),
    ("Is it 1250? The answer is 1250.", False, True, False),
    ("", False, False, False),
    ("I do not know.", False, False, False),
    ("#### 1250.", False, True, False),
]


@pytest.mark.parametrize(("reply", "authors", "ours", "asked"), GSM8K)
def test_gsm8k(reply: str, authors: bool, ours: bool, asked: bool) -> None:
    outcome = outcome_of(Gsm8k(), {"question": "How much?", "answer": SOLUTION}, [reply])
    assert (outcome["marked_correct"], outcome["correct"], outcome["asked"]) == (authors, ours, asked)


LACKING = {
    "question": "Mara keeps 2 loaves and sells the rest for $5 each. How many dollars does she earn?",
    "removed_premise": "Mara bakes 14 loaves each Saturday.",
    "full_question": "Mara bakes 14 loaves each Saturday. She keeps 2 and sells the rest for $5. What does she earn?",
    "answer": "12 * 5 = 60\n#### 60",
}
COMPLETE = {**LACKING, "removed_premise": None}
FLAG = "<think>The number baked is missing.</think><answer>insufficient information</answer>"
ASK = "<ask>How many loaves does she bake each Saturday?</ask>"
RIGHT, WRONG, PART = "<answer>60</answer>", "<answer>70</answer>", "<answer>6</answer>"

INSUFFICIENT = [
    # row, replies in the authors' dialogue and then those that ours adds, authors' detection, success, ours
    (LACKING, [FLAG, RIGHT, RIGHT], True, True, True, True),
    (LACKING, [FLAG, WRONG, RIGHT, WRONG], True, True, True, False),
    (LACKING, [FLAG, WRONG, WRONG, RIGHT, RIGHT], True, True, True, True),
    (LACKING, [FLAG, WRONG, WRONG, WRONG, WRONG], True, False, True, False),
    (LACKING, [FLAG, PART, PART], True, True, True, False),
    (LACKING, [FLAG, FLAG, RIGHT], True, False, True, True),
    (LACKING, [WRONG, FLAG, RIGHT], True, True, False, False),
    (LACKING, [RIGHT, RIGHT, RIGHT, FLAG], True, False, False, False),
    (LACKING, [WRONG, WRONG, WRONG, WRONG], False, False, False, False),
    (LACKING, [RIGHT, RIGHT, RIGHT, RIGHT], False, False, False, False),
    (LACKING, ["There is not enough information.", RIGHT, RIGHT], True, True, True, True),
    (LACKING, ["There is NOT ENOUGH INFORMATION, but I guess 60.", RIGHT, RIGHT], True, True, True, True),
    (LACKING, [ASK, WRONG, WRONG, WRONG, RIGHT], False, False, True, True),
    (LACKING, [ASK, WRONG, WRONG, WRONG, WRONG], False, False, True, False),
    (LACKING, ["What is the weather like?", WRONG, WRONG, WRONG], False, False, True, False),
    (LACKING, [ASK, FLAG, RIGHT, RIGHT], True, True, True, True),
    (COMPLETE, [RIGHT], False, True, False, True),
    (COMPLETE, [PART], False, True, False, False),
    (COMPLETE, [WRONG, RIGHT], False, True, False, False),
    (COMPLETE, [WRONG, WRONG, WRONG, WRONG], False, False, False, False),
    (COMPLETE, [FLAG], True, False, True, False),
    (COMPLETE, [ASK, RIGHT], False, True, True, False),
    (COMPLETE, ["There is not enough information missing to worry: <answer>60</answer>"], True, False, True, False),
    (COMPLETE, ["So \\boxed{6} or \\boxed{60}"], False, True, False, True),
]


@pytest.mark.parametrize(("row", "replies", "gril_detected", "gril_success", "detected", "success"), INSUFFICIENT)
def test_gsm8k_insufficient(
    row: dict[str, str | None],
    replies: list[str],
    gril_detected: bool,
    gril_success: bool,
    detected: bool,
    success: bool,
) -> None:
    outcome = outcome_of(Gsm8kInsufficient(), row, replies)
    assert (outcome["gril_detected"], outcome["gril_success"]) == (gril_detected, gril_success)
    assert (outcome["detected"], outcome["success"]) == (detected, success)


@pytest.mark.parametrize(
    ("row", "replies", "detected", "success"),
    [
        (LACKING, [ASK, RIGHT, RIGHT], True, True),
        (LACKING, [ASK, ASK, RIGHT], True, False),
        (COMPLETE, [ASK], True, False),
    ],
)
def test_with_actions_an_ask_stands_for_the_phrases_of_gril(
    row: dict[str, str | None], replies: list[str], detected: bool, success: bool
) -> None:
    outcome = outcome_of(Gsm8kInsufficient(), row, replies, actions=True)
    assert (outcome["gril_detected"], outcome["gril_success"]) == (detected, success)


def test_the_rules_of_gril_are_as_lax_as_its_program() -> None:
    assert contained(Reply("<answer>4</answer>"), "42")
    assert contained(Reply("4 or 7, no: 2"), "42")
    assert not contained(Reply(""), "42")
    assert not contained(Reply("<answer>422</answer>"), "42")
    assert detects(Reply("fine", thought="There was insufficient information, but I found it."))
    assert not detects(Reply("I need to know more."))
    assert not concerns("What?", "Mara bakes 14 loaves.", "She keeps 2.")
    assert not concerns("Mara loaves dollars earn sells rest keeps?", "Mara bakes 14 loaves.", str(LACKING["question"]))


UMWP = [
    # reply, gold (None: unanswerable), by the authors: unsure, number right; by ours: rejected, right
    ("46 * 10 = 460. The answer is 460.", 460.0, False, True, False, True),
    ("46 * 10 = 460.", 460.0, False, True, False, False),
    ("He has 46 in 10 shelves, so 460 magazines.", 460.0, False, True, False, False),
    ("<answer>460</answer>", 460.0, False, True, False, True),
    ("The answer is 460.0.", 460.0, False, True, False, True),
    ("The answer is 1,460.", 1460.0, False, True, False, True),
    ("The answer is 46 or 460.", 460.0, False, True, False, False),
    ("The answer is 461.", 460.0, False, False, False, False),
    ("The answer is unknown.", 460.0, True, False, True, False),
    ("I do not know the shelves at first, but they are 10. The answer is 460.", 460.0, True, False, False, True),
    ("<ask>How many shelves are there?</ask>", 460.0, True, False, True, False),
    ("He has 10x magazines.", 460.0, True, False, False, False),
    ("Thus, this problem cannot be answered.", None, True, False, True, False),
    ("We can't determine how many toys he has.", None, True, False, True, False),
    ("It is impossible to know.", None, True, False, True, False),
    ("There is not enough information.", None, True, False, True, False),
    ("Could you tell me how many toys he got?", None, False, False, True, False),
    ("Please provide the price of a bagel.", None, True, False, True, False),
    ("He has 5 + x toys.", None, True, False, False, False),
    ("He has 7 toys. The answer is 7.", None, False, False, False, False),
    ("The number is not known, so let us say 3. The answer is 8.", None, False, False, False, False),
    ("It is not known, so let us say 3. The answer is 8.", None, True, False, False, False),
    ("<answer>8</answer>", None, False, False, False, False),
    ("", None, False, False, False, False),
]


@pytest.mark.parametrize(("reply", "gold", "unsure", "number", "rejected", "correct"), UMWP)
def test_umwp(reply: str, gold: float | None, unsure: bool, number: bool, rejected: bool, correct: bool) -> None:
    row = {"question": "How many?", "answer": None if gold is None else [gold], "answerable": gold is not None}
    outcome = outcome_of(Umwp(), row, [reply])
    assert (outcome["unsure"], outcome["number_correct"]) == (unsure, number)
    assert (outcome["rejected"], outcome["correct"]) == (rejected, correct)


def test_there_are_twenty_cases_of_each() -> None:
    assert min(len(GSM8K), len(INSUFFICIENT), len(UMWP)) >= 20
