"""GSM8K: word problems with annotated calculations (`<<48/2=24>>`). One annotation is one `calc` call.

A sentence that a problem leaves out may be in the notes, an article beside the problem. The prompt is the same either
way, so deciding whether to ask takes opening the notes. Every problem has notes, and every demonstration opens them:
those of a problem with all its sentences repeat some of these. Only plain sentences with one number are left out,
because the clarifying question is made from the sentence itself (`asks.py`).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from random import Random
from typing import Literal

from msgspec import Struct

from askgate_env.quantity_questions import unit_asked
from askgate_env.tokenize import words
from askgate_env.tools import CalcError, evaluate, number_text
from askgate_env.types import Article, Hidden

from ..difficulty.text_features import FUNCTION_WORDS, content_words
from ..pool.source import Item, Step, Want, calls_wanted, effective_want
from .articles import split_sentences
from .asks import NUMBER_WORDS, PATTERNS, WORDS, asked_for, is_common_knowledge, singular
from .level_fit import choose_clue, nearest_item

NOTES_SENTENCES = 2
EXPRESSION_CHARS = 80
_ANNOTATION = re.compile(r"<<([^<>\n]*)>>")
_NUMBER = re.compile(r"(?<![\w.])(?:\d+\.?\d*|\.\d+)(?![\w.])")
_DIGITS = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
SHARED_THINGS = 0.5
"""Share of the content words of a left-out sentence that the rest must have too: nobody asks for an unknown thing."""
SHORT_WORD = 3
"""Letters of a word that many sentences have, whatever they are about: `day`, `get`."""
_fraction = lru_cache(maxsize=4096)(Fraction)
"""Reading a fraction from text is slow, and the same few numbers come again and again."""

Mode = Literal["hidden", "twin", "intact"]
"""Wordings of a problem. `hidden`: a sentence is left out. `twin`: the same, and the notes have it. `intact`: as the
dataset has it."""
MODES: tuple[Mode, ...] = ("hidden", "twin", "intact")


class GsmRecord(Struct, frozen=True):
    """A record of the official files."""

    question: str
    answer: str


class Calculation(Struct, frozen=True):
    expression: str
    value: Fraction


class Omission(Struct, frozen=True):
    """A sentence of the premise that can be left out, and what to ask for then."""

    index: int
    sentence: str
    missing: str
    about: tuple[str, ...]


class WordProblem(Struct, frozen=True):
    source_id: str
    premise: tuple[str, ...]
    question: str
    answer: Fraction
    steps: tuple[Calculation, ...]
    omissions: tuple[Omission, ...]

    @property
    def text(self) -> str:
        return " ".join((*self.premise, self.question))


def source_id(record: GsmRecord) -> str:
    """Id of a record, from its text, so that a file in another order keeps its ids."""
    flat = " ".join(record.question.lower().split())
    return f"gsm8k:{hashlib.sha256(flat.encode()).hexdigest()[:16]}"


def read(record: GsmRecord) -> WordProblem | str:
    """The problem of a record, or the rule that it breaks."""
    solution, mark, final = record.answer.rpartition("####")
    answer, steps = parse_number(final), parse_solution(solution)
    *premise, question = split_sentences(record.question) or ("",)
    if not mark or answer is None:
        return "no number follows #### in the answer"
    if not steps:
        return _wrong_step(solution) or "the answer has no steps such as <<3*4=12>> that compute"
    if steps[-1].value != answer:
        return "the last step does not give the number after ####"
    if not premise or not question.endswith("?"):
        return "the question must be two sentences or more, the last with a question mark"
    left_out = omissions(premise, question, steps)
    return WordProblem(source_id(record), tuple(premise), question, answer, steps, left_out)


def make_item(problem: WordProblem, mode: Mode, want: Want, seed: int) -> Item | None:
    """The item nearest to the level asked for; `None` where the record cannot be worded in this mode."""
    want = effective_want(want, problem.source_id)
    rng = Random(f"{seed}:{problem.source_id}")
    if mode != "intact" and not problem.omissions:
        return None
    left_out = rng.choice(problem.omissions) if mode != "intact" else None
    hidden_index = left_out.index if left_out else None
    visible = tuple(sentence for index, sentence in enumerate(problem.premise) if index != hidden_index)
    notes = _notes(problem, visible, left_out if mode == "twin" else None, rng)
    hidden = None
    if mode == "hidden" and left_out:
        unit = "money" if "$" in left_out.sentence else unit_asked(left_out.missing, "en")
        hidden = Hidden("quantity", left_out.sentence, left_out.missing, left_out.about, unit=unit)
    premise, clue = _premise_and_clue(problem, visible, want)

    def item(calculations: tuple[Calculation, ...]) -> Item:
        steps = [Step("wiki", notes.title), *(Step("calc", one.expression) for one in calculations)]
        return Item(
            task="gsm8k",
            lang="en",
            source_id=problem.source_id,
            premise=premise,
            clue=clue,
            question=problem.question,
            original=problem.text,
            context=(notes,),
            support=problem.premise,
            answer=number_text(problem.answer),
            steps=tuple(steps),
            hidden=hidden,
            ask_after=1 if mode == "hidden" else 0,
            ambiguity=("left-out-quantity",) if left_out else (),
        )

    return nearest_item(map(item, _merged_solutions(problem, want, mode)), want)


def _merged_solutions(problem: WordProblem, want: Want, mode: Mode) -> Iterator[tuple[Calculation, ...]]:
    """The calculation in different numbers of calls, the nearest to the wanted number first."""
    given = numbers_in(problem.text)
    most = want.max_turns - 2 - (mode == "hidden")
    counts = range(1, min(len(problem.steps), most) + 1)
    for count in sorted(counts, key=lambda count: abs(count + 1 - calls_wanted(want))):
        merged = merge(problem.steps, count, given)
        if merged is not None:
            yield merged


def _premise_and_clue(problem: WordProblem, visible: tuple[str, ...], want: Want) -> tuple[str, str]:
    """The premise and the clue: the sentences before the question, of which the last ones of an easy problem are its
    clue."""
    if want.level == "easy":

        def is_end(chosen: tuple[int, ...]) -> bool:
            return chosen == tuple(range(chosen[0], len(visible)))

        if chosen := choose_clue(visible, problem.question, problem.premise, want.paraphrase, is_end):
            return " ".join(visible[: chosen[0]]), " ".join(visible[chosen[0] :])
    return " ".join(visible), ""


def _notes(problem: WordProblem, visible: tuple[str, ...], left_out: Omission | None, rng: Random) -> Article:
    """An article with a few sentences of the problem; in a twin, the one that the message leaves out is among them."""
    added = [left_out.sentence] if left_out else []
    sentences = rng.sample(visible, min(NOTES_SENTENCES - len(added), len(visible))) + added
    rng.shuffle(sentences)
    return Article(_notes_title(problem.text), tuple(sentences))


@lru_cache(maxsize=64)
def _notes_title(text: str) -> str:
    """`Notes of Natalia` after the person who is the subject of most sentences, `Notes` if nobody is named."""
    not_names = set(re.findall(r"\b[a-z]+\b", text)) | WORDS["calendar_names"] | FUNCTION_WORDS | set(NUMBER_WORDS)
    if not PATTERNS["third_person"].search(text):
        return "Notes"
    found = [(match.start(), match["subject"] or match["asked"]) for match in PATTERNS["person"].finditer(text)]
    # A capital at the start of a sentence does not prove a name, except in the first one, which introduces somebody.
    sure = [name for start, name in found if start == 0 or text.count(name) > 1]
    named = [name for name in sure if name.lower() not in not_names and not name.endswith("ing")]
    return f"Notes of {Counter(named).most_common(1)[0][0]}" if named else "Notes"


# --- Annotated calculations ---


def parse_number(text: str) -> Fraction | None:
    """`1,200` and `$7.50` as numbers; `None` for anything else."""
    cleaned = text.strip().replace(",", "").replace("$", "").rstrip(".").removesuffix("%")
    if not re.fullmatch(r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)", cleaned):
        return None
    return _fraction(cleaned)


def parse_solution(solution: str) -> tuple[Calculation, ...]:
    """Every annotation in order; empty if there is none or one of them does not compute to what it says.

    >>> [step.expression for step in parse_solution("May: 48/2 = <<48/2=24>>24.\\nAll: <<48+24=72>>72.")]
    ['48/2', '48+24']
    """
    found: list[Calculation] = []
    for expression, _, stated in (one.rpartition("=") for one in _ANNOTATION.findall(solution)):
        value = parse_number(stated)
        if value is None or not _computes(_bare(expression), value):
            return ()
        found.append(Calculation(_bare(expression), value))
    return tuple(found)


def _bare(expression: str) -> str:
    return re.sub("[$, ]", "", expression)


def _wrong_step(solution: str) -> str:
    """The first calculation with a wrong result; empty if there is none.

    >>> _wrong_step("She has <<2+1=3>>3 boxes with <<3*12=37>>37 pens.")
    '3*12 is 36, not 37'
    """
    for expression, _, stated in (one.rpartition("=") for one in _ANNOTATION.findall(solution)):
        right = _result(_bare(expression))
        if right is not None and parse_number(stated) not in (None, right):
            return f"{expression} is {number_text(right)}, not {stated}"
    return ""


def merge(
    steps: tuple[Calculation, ...], count: int, given: frozenset[Fraction], longest: int = EXPRESSION_CHARS
) -> tuple[Calculation, ...] | None:
    """The same calculation in `count` steps: an expression replaces its result, in brackets, in later steps.

    `given` are the numbers of the problem. A result that equals one of them is not merged, because nobody can tell
    which of the two a later step means. `None` where the steps cannot be reduced to `count`.
    """
    merged = list(steps)
    while len(merged) > count:
        for index in range(len(merged) - 1):
            shorter = None if merged[index].value in given else _substituted(merged, index, longest)
            if shorter is not None:
                merged = shorter
                break
        else:
            return None
    return tuple(merged)


def _substituted(steps: list[Calculation], index: int, longest: int) -> list[Calculation] | None:
    """The steps without one of them, its expression in place of its value in every later step that uses it."""
    early = steps[index]
    out = steps[:index]
    used = False
    for step in steps[index + 1 :]:
        expression = _replaced(step.expression, early.value, f"({early.expression})")
        if expression != step.expression:
            used = True
            if len(expression) > longest or not _computes(expression, step.value):
                return None
        out.append(Calculation(expression, step.value))
    return out if used else None


@lru_cache(maxsize=65536)
def _computes(expression: str, value: Fraction) -> bool:
    result = _result(expression)
    return result is not None and abs(result - value) <= Fraction(1, 10**6)


def _result(expression: str) -> Fraction | None:
    """The number that an expression gives; `None` if it gives none."""
    try:
        result = evaluate(expression)
    except CalcError:
        return None
    return None if isinstance(result, bool) else result


# --- Sentences that can be left out ---


def numbers_in(text: str) -> frozenset[Fraction]:
    """Every number of a text, in digits or as a word."""
    digits = {value for found in _DIGITS.findall(text) if (value := parse_number(found)) is not None}
    return frozenset(digits | {NUMBER_WORDS[word] for word in words(text) if word in NUMBER_WORDS})


def omissions(premise: Sequence[str], question: str, steps: Sequence[Calculation]) -> tuple[Omission, ...]:
    """Sentences whose one number a calculation needs and nothing else in the problem gives."""
    tried = _omissions_or_reasons(premise, question, steps)
    return tuple(result for result in tried if isinstance(result, Omission))


def _omissions_or_reasons(
    premise: Sequence[str], question: str, steps: Sequence[Calculation]
) -> list[Omission | Reason]:
    """`_omission` of every sentence but the first, which introduces people."""
    numbers = [numbers_in(sentence) for sentence in (*premise, question)]
    return [_omission(index, premise, question, steps, numbers) for index in range(1, len(premise))]


Reason = Literal["not_one_number", "number_not_needed", "not_askable", "referred_to", "no_gap"]
REASONS: dict[Reason, str] = {
    "not_one_number": "it does not have exactly one whole number",
    "number_not_needed": "its number is 0 or 1, is also elsewhere in the problem, or is not used in a calculation",
    "not_askable": "no question can be made of it with words that the rest of the problem has",
    "referred_to": "the sentences after it refer to it, or only it names its people",
    "no_gap": (
        "its words are not in the rest of the problem, so nobody would ask for it, or the rest is a problem of its own"
    ),
}
"""Reasons why a sentence is not left out, in the order of the checks."""


def _omission(
    index: int,
    premise: Sequence[str],
    question: str,
    steps: Sequence[Calculation],
    numbers: Sequence[frozenset[Fraction]],
) -> Omission | Reason:
    """The omission of a sentence, or the reason why it has to stay. The most expensive checks come last."""
    sentence, values = premise[index], numbers[index]
    if len(values) != 1 or PATTERNS["fractions"].search(sentence) or len(_DIGITS.findall(sentence)) > 1:
        return "not_one_number"
    (value,) = values
    others = [*premise[:index], *premise[index + 1 :], question]
    if value <= 1 or sum(value in some for some in numbers) > 1 or not _is_used(value, steps):
        return "number_not_needed"
    asked = asked_for(sentence, " ".join(others))
    if asked is None:
        return "not_askable"
    if not reads_on(premise[:index], sentence, [*premise[index + 1 :], question]):
        return "referred_to"
    whole = _whole_expression(tuple(steps))
    if whole is None or _result(_replaced(whole, value, f"({value + 1})")) == steps[-1].value:
        return "no_gap"
    return Omission(index, sentence, *asked) if leaves_a_gap(sentence, value, others, whole) else "no_gap"


def why_complete(problem: WordProblem) -> tuple[str, str]:
    """The reason why no sentence of a problem is left out, and the sentence that passes the most checks."""
    tried = _omissions_or_reasons(problem.premise, problem.question, problem.steps)
    if not tried:
        return "it has one sentence beside its question, and the first one stays", problem.premise[0]
    order = list(REASONS)
    passed = [len(order) if isinstance(result, Omission) else order.index(result) for result in tried]
    nearest = passed.index(max(passed))
    reason = tried[nearest]
    return "" if isinstance(reason, Omission) else REASONS[reason], problem.premise[nearest + 1]


def reads_on(before: Sequence[str], sentence: str, after: Sequence[str]) -> bool:
    """Whether the text before and after a sentence still makes sense without it.

    The next sentence must not point back at it (`Then`, `They`, `30 are blue`), nothing may be compared with what only
    the sentence says (`twice that number`, `50% more`), and the rest must know its people and things. What everybody
    knows (days in a week) is never missing.
    """
    earlier, later = " ".join(before), " ".join(after)
    known, told = set(words(earlier)), set(words(f"{earlier} {later}"))
    new = {name for name in _names(sentence) if name.lower() not in known}
    if any(name.lower() not in told for name in new) or is_common_knowledge(sentence):
        return False
    if PATTERNS["points_back"].match(after[0]) or (new and PATTERNS["personal"].match(after[0])):
        return False
    pronoun = PATTERNS["pronoun"].match(after[0])
    if pronoun and pronoun[0].lower() not in words(before[-1]):
        return False
    if len(after) > 1 and PATTERNS["compares_with_before"].search(after[0]):
        return False
    return not any(
        re.search(rf"\bthe {thing}\b", later)
        for thing in PATTERNS["introduced"].findall(sentence)
        if thing not in known
    )


def _is_used(value: Fraction, steps: Sequence[Calculation]) -> bool:
    """Whether a step uses the number before any step has it as a result."""
    for step in steps:
        if value in map(_fraction, _NUMBER.findall(step.expression)):
            return True
        if step.value == value:
            return False
    return False


def leaves_a_gap(sentence: str, value: Fraction, others: Sequence[str], whole: str) -> bool:
    """Whether a problem without the sentence visibly lacks something, and is not another, complete problem.

    `whole` is its calculation in one expression. The rest must mention the things of the sentence. With 0 in place of a
    number that everything is multiplied or divided by, the calculation has no positive result; such a number is missed.
    A number that is only added is missed only if the rest compares something with it: `half as much as Doris`, `twice
    as many pages as on the first day`.
    """
    names = _names(sentence)
    things = set(map(singular, content_words(sentence)))
    things -= {name.lower() for name in names} | set(NUMBER_WORDS)
    told = {singular(word) for one in others for word in words(one)}
    if len(things & told) < max(1, SHARED_THINGS * len(things)):
        return False
    without = _result(_replaced(whole, value, "(0)"))
    if without is None or without <= 0:
        return True

    def compares(text: str) -> bool:
        """Whether a text compares something with a name, or with two things, of the sentence."""
        if any(re.search(rf"\b(?:than|as|of|that) (?:\w+ )?{name}\b|\b{name}'s\b", text) for name in names):
            return True
        shared = things & {singular(word) for word in words(text)}
        return (
            PATTERNS["compares_amounts"].search(text) is not None and sum(len(word) > SHORT_WORD for word in shared) > 1
        )

    return any(PATTERNS["compares"].search(text) and compares(text) for text in others)


def _names(sentence: str) -> set[str]:
    capitals = set(re.findall(r"\b[A-Z][a-z]+", sentence)) - WORDS["small_inside_sentence"]
    return {word for word in capitals if word.lower() not in FUNCTION_WORDS}


def _replaced(expression: str, value: Fraction, other: str) -> str:
    """The expression with another text in place of a number."""
    return _NUMBER.sub(lambda match: other if _fraction(match[0]) == value else match[0], expression)


@lru_cache(maxsize=16)
def _whole_expression(steps: tuple[Calculation, ...]) -> str | None:
    whole = merge(steps, 1, frozenset(), longest=10_000)
    return whole[0].expression if whole else None
