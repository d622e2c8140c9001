"""Graders of QuestBench, AskMind, AskOverconfidence and CLAMBER on hand-made dialogues, right and wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from src.benchmarks.askbench import AskMind, AskOverconfidence, same_answer
from src.benchmarks.clamber import Clamber
from src.benchmarks.questbench import QuestBench, grade_choice
from src.core.errors import BadInput
from tests.benchmarks.scripted_row import outcome_of

CHOICES = [
    # first reply, last reply, right by the authors, right by ours; the right choice is 2
    ("Choice: 2", "Choice: 2", True, True),
    ("choice: 2.", "choice: 2.", True, True),
    (" Choice:2 ", " Choice:2 ", True, True),
    ("Choice: 2\n", "Choice: 2\n", True, True),
    ("2", "2", True, False),
    ("I choose 2", "I choose 2", True, False),
    ("I need it. Choice: 2", "I need it. Choice: 2", True, False),
    ("Choice: 2 because of 3", "Choice: 2 because of 3", True, False),
    ("Choice: 1. No: Choice: 2", "Choice: 1. No: Choice: 2", True, False),
    ("2 or 3", "2 or 3", True, False),
    ("none", "Choice: 2", True, False),
    ("The second one", "2", True, False),
    ("Choice: 1", "Choice: 1", False, False),
    ("Choice: 3", "Choice: 3", False, False),
    ("Choice: 22", "Choice: 22", False, False),
    ("Choice: 12", "Choice: 12", False, False),
    ("Choice: two", "Choice: two", False, False),
    ("3 or 2", "3 or 2", False, False),
    ("Choice: 2. No: Choice: 1", "Choice: 2. No: Choice: 1", False, False),
    ("", "", False, False),
    ("No questions needed.", "No questions needed.", False, False),
    ("What is N?", "What is N?", False, False),
]


@pytest.mark.parametrize(("first", "last", "authors", "ours"), CHOICES)
def test_questbench_choices(first: str, last: str, authors: bool, ours: bool) -> None:
    assert grade_choice(first, last, gold=2) == {"chosen": authors, "well_formed": ours}


def test_questbench_asks_again_and_reads_the_authors_file(tmp_path: Path) -> None:
    path = tmp_path / "gsm.csv"
    header = "Rewritten Problem,Variables,Possible Questions,GT Question,Full Problem,Full Answer\n"
    row = '"How much?","{""N"": ""customers"", ""A"": ""the tip""}","[""A"", ""N""]",N,Full,40\n'
    path.write_text(header + row, encoding="utf-8")
    [read] = QuestBench().read(path)
    assert read["options"] == "0. What is the tip (A)?\n1. What is customers (N)?\n2. No questions needed."
    assert outcome_of(QuestBench(), read, ["Hm.", "Well.", "Choice: 1"]) == {"chosen": True, "well_formed": False}
    assert outcome_of(QuestBench(), read, ["Hm."] * 6) == {"chosen": False, "well_formed": False}
    path.write_text(header.replace("GT Question", "Question") + row, encoding="utf-8")
    with pytest.raises(BadInput, match="GT Question"):
        QuestBench().read(path)


def verdict(marks: str) -> dict[str, bool] | None:
    """`fcr`: final, correct and resolved; a letter that is missing is a no. `-`: no verdict."""
    if marks == "-":
        return None
    return {"final": "f" in marks, "correct": "c" in marks, "resolved": "r" in marks}


DIALOGUES = [
    # replies, verdicts, and then: correct, resolved, asked, unneeded, success by ours; None: not graded
    (["boxed{12}"], ["fcr"], True, True, False, False, True),
    (["boxed{12}"], ["fc"], True, False, False, False, False),
    (["boxed{13}"], ["fr"], False, True, False, False, False),
    (["boxed{13}"], ["f"], False, False, False, False, False),
    (["boxed{13}"], ["fcr"], True, True, False, False, False),
    (["It is twelve."], ["fcr"], True, True, False, False, False),
    (["#### 12"], ["fcr"], True, True, False, False, True),
    (["<answer>12</answer>"], ["fcr"], True, True, False, False, True),
    (["The answer is 12."], ["fcr"], True, True, False, False, True),
    (["What is it?", "boxed{12}"], ["", "fcr"], True, True, True, False, True),
    (["What is it?", "boxed{12}"], ["", "fc"], True, False, True, False, False),
    (["What is it?", "boxed{13}"], ["", "fr"], False, True, True, False, False),
    (["What is it?", "boxed{12}"], ["r", "fcr"], True, True, True, True, False),
    (["What is it?", "And that?", "boxed{12}"], ["", "", "fcr"], True, True, True, False, True),
    (["What is it?", "And that?", "boxed{12}"], ["", "r", "fcr"], True, True, True, True, False),
    (["What is it?", "And that?", "boxed{1}"], ["", "", "f"], False, False, True, False, False),
    (["What is it?", "And that?", "And this?"], ["", "", ""], False, None, True, False, False),
    (["What is it?", "And that?", "And this?"], ["", "", "r"], False, None, True, True, False),
    (["What is it?", "And that?", "boxed{12}"], ["", "", "cr"], False, None, True, True, False),
    (["boxed{12}"], ["-"], None, None, None, None, None),
    (["What is it?", "boxed{12}"], ["", "-"], None, None, None, None, None),
    (["<ask>What is it?</ask>", "<answer>12</answer>"], ["", "fcr"], True, True, True, False, True),
]
MIND = {
    "ori_question": "Simplify 2.4 / 0.2.",
    "degraded_question": "Simplify 2.4 by a small number.",
    "expected_answer": "12",
    "degraded_info": "The divisor was removed.",
    "required_points": ["the divisor"],
}
OVER = {
    "ori_question": "Simplify 2.4 / 0.2.",
    "overconfidence_question": "2.4 / 0.2 is 1.2, right?",
    "expected_answer": "12",
    "overconfidence_info": "It is not 1.2.",
    "misleading_points": ["claims 1.2"],
}


@pytest.mark.parametrize(("replies", "verdicts", "correct", "resolved", "asked", "unneeded", "success"), DIALOGUES)
@pytest.mark.parametrize("benchmark", [AskMind(), AskOverconfidence(), QuestBench()], ids=lambda one: one.name)
def test_askbench_dialogues(
    benchmark: AskMind,
    replies: list[str],
    verdicts: list[str],
    correct: bool | None,
    resolved: bool | None,
    asked: bool | None,
    unneeded: bool | None,
    success: bool | None,
) -> None:
    row = OVER if isinstance(benchmark, AskOverconfidence) else MIND
    outcome = outcome_of(benchmark, row, replies, [verdict(one) for one in verdicts])
    if correct is None:
        assert outcome == {"graded": False}
        return
    found = [outcome[name] for name in ("correct", "resolved", "asked", "unneeded", "success")]
    assert found == [correct, resolved, asked, unneeded, success]


ANSWERS = [
    (r"\frac{16}{27}", r"\frac{16}{27}", True),
    (r"\dfrac{16}{27}", r"\frac{16}{27}", True),
    ("16/27", r"\frac{16}{27}", True),
    (r"-\frac{1}{2}", "-0.5", True),
    (r"\left( 3, \frac{\pi}{2} \right)", r"(3,\frac{\pi}{2})", True),
    ("p - q", "p-q", True),
    ("$12$", "12", True),
    ("12.", "12", True),
    ("12.0", "12", True),
    ("1,250", "1250", True),
    (r"\text{Evelyn}", "Evelyn", True),
    ("90^\\circ", "90", True),
    ("evelyn", "Evelyn", True),
    ("13", "12", False),
    ("12 apples", "12", False),
    ("12 or 13", "12", False),
    ("p + q", "p-q", False),
    ("(3, 0)", r"(3,\frac{\pi}{2})", False),
    ("", "12", False),
    (None, "12", False),
    ("1/0", "12", False),
    ("-12", "12", False),
]


@pytest.mark.parametrize(("answer", "expected", "same"), ANSWERS)
def test_answers_in_latex(answer: str | None, expected: str, same: bool) -> None:
    assert same_answer(answer, expected) is same


def test_the_user_of_overconfidence_is_not_told_the_real_question() -> None:
    messages = ({"role": "user", "content": "2.4 / 0.2 is 1.2, right?"},)
    assert "Simplify" not in AskOverconfidence()._knowledge(OVER, messages)
    assert "Simplify 2.4 / 0.2." in AskMind()._knowledge(MIND, messages)


CLAMBER = [
    # reply, ambiguous, right by the authors, right by ours
    ("Ambiguous: yes\nWhich cup do you mean?", True, True, True),
    ("ambiguous: YES\nWhich cup?", True, True, True),
    ("**Ambiguous:** yes\nWhich cup?", True, True, True),
    ("Yes. Which cup?", True, True, True),
    ("<ask>Which cup?</ask>", True, True, True),
    ("Ambiguous: true\nWhich cup?", True, True, True),
    ("Ambiguous: yes", True, True, False),
    ("Ambiguous: yes\nPlease say which cup.", True, True, False),
    ("Ambiguous: no\nItaly won.", True, False, False),
    ("Ambiguous: no\nWhich cup?", True, False, False),
    ("Which cup do you mean?", True, False, False),
    ("Italy won.", True, False, False),
    ("<answer>Italy</answer>", True, False, False),
    ("", True, False, False),
    ("Ambiguous: no", False, True, True),
    ("Ambiguous: no\n100 degrees.", False, True, True),
    ("No, it is clear.", False, True, True),
    ("<answer>100</answer>", False, True, True),
    ("Ambiguous: no\nDoes that help?", False, True, False),
    ("Ambiguous: yes\nWhich scale?", False, False, False),
    ("<ask>Which scale?</ask>", False, False, False),
    ("It depends.", False, False, False),
    ("", False, False, False),
]
QUERY = {"question": "Who won the cup?", "context": "", "clarifying_question": "Which cup?", "category": "MC"}


@pytest.mark.parametrize(("reply", "ambiguous", "authors", "ours"), CLAMBER)
def test_clamber(reply: str, ambiguous: bool, authors: bool, ours: bool) -> None:
    row = {**QUERY, "require_clarification": int(ambiguous), "subclass": "what"}
    outcome = outcome_of(Clamber(), row, [reply], [{"helpful": True}])
    assert (outcome["right"], outcome["behaved"]) == (authors, ours)


def test_the_judge_sees_only_questions_on_ambiguous_queries() -> None:
    row = {**QUERY, "require_clarification": 1, "subclass": "what"}
    assert outcome_of(Clamber(), row, ["<ask>Which cup?</ask>"], [{"helpful": False}])["helpful"] is False
    assert outcome_of(Clamber(), row, ["<ask>Which cup?</ask>"], [None])["graded"] is False
    assert outcome_of(Clamber(), row, ["Ambiguous: yes"])["helpful"] is False
    assert "helpful" not in outcome_of(Clamber(), {**row, "require_clarification": 0}, ["<ask>Which cup?</ask>"])


def test_there_are_twenty_cases_of_each() -> None:
    assert min(len(CHOICES), len(DIALOGUES), len(ANSWERS), len(CLAMBER)) >= 20
