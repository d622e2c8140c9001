"""GSM8K: word problems with annotated calculations (`<<48/2=24>>`). One annotation is one `calc` call.

A sentence that a problem leaves out may be in the notes, an article beside the problem. The prompt is the same either
way, so deciding whether to ask takes opening the notes. Only plain sentences with one number are left out, because the
clarifying question is made from the sentence itself: `Janet's ducks lay 16 eggs per day.` -> `how many eggs Janet's
ducks lay per day`.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random

from msgspec import Struct

from ...agents.quantity_questions import unit_asked
from ...agents.tools import CalcError, evaluate, number_text
from ...core.tokenize import words
from ...core.types import Article, Hidden
from ..difficulty.text_features import FUNCTION_WORDS, lexicon, names_en, word_set
from ..pool.source import Item, Step, Want, calls_wanted, followed
from .articles import Mode, split_sentences
from .level_fit import choose_clue, nearest_item

NOTES_SENTENCES = 2
NOTE_CHARS = 140
SHORT_PROBLEM = 45
"""Words below which a problem always has notes; alone it would be too short for the length gate."""
EXPRESSION_CHARS = 80
_ANNOTATION = re.compile(r"<<([^<>]*)>>")
_NUMBER = re.compile(r"(?<![\w.])(?:\d+\.?\d*|\.\d+)(?![\w.])")
_DIGITS = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_ENGLISH = lexicon("english")
NUMBER_WORDS = {word: Fraction(value) for value, word in enumerate(_ENGLISH["numbers_to_twenty"].split())}
NUMBER_WORDS |= {word: Fraction(value) for word, value in _ENGLISH["larger_numbers"].items()}
_FRACTION_WORDS = re.compile(r"\b(?:half|twice|double|triple|thrice|third|quarter|fourth|fifth|times)\b", re.IGNORECASE)
_PLAIN_SENTENCE = re.compile(
    rf"(?P<before>[A-Z][^,;:()\"\d]*?) (?P<money>\$)?(?P<number>\d[\d,.]*|{'|'.join(NUMBER_WORDS)})"
    r"(?P<rest>(?: [^,;:()\"$%\d]+)?)\."
)
_JOINED = re.compile(r"\b(?:and|but|so|which|who|because|if|when|then|while|where|that)\b")
_CALENDAR_NAMES = word_set("calendar_names")
_BAD_STARTS = word_set("omission_bad_starts")
_BAD_BEFORE = word_set("omission_bad_before_number")
_BAD_AFTER = word_set("omission_bad_after_number")
_LOWER = word_set("lower_case_inside_sentence")
_LOWER_WORDS = frozenset(word.lower() for word in _LOWER)
_COMPARES = re.compile(
    r"\b(?:than|as (?:many|much|long|far|old|fast|tall)|twice|half|third|times|double|triple)\b", re.I
)
_PREPOSITIONS = frozenset("with of in on at for by from using about into per through to over after".split())
_IRREGULAR_PLURALS = frozenset({"people", "children", "men", "feet"})


class GsmRecord(Struct, frozen=True):
    """A record of the official files."""

    question: str
    answer: str


class Calculation(Struct, frozen=True):
    expression: str
    value: Fraction
    note: str = ""
    """The annotator's sentence, without the annotations."""


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
    notes_title: str

    @property
    def text(self) -> str:
        return " ".join((*self.premise, self.question))


def source_id(record: GsmRecord) -> str:
    """Id of a record, from its text, so that a file in another order keeps its ids."""
    flat = " ".join(record.question.lower().split())
    return f"gsm8k:{hashlib.sha256(flat.encode()).hexdigest()[:16]}"


def read(record: GsmRecord) -> WordProblem | None:
    """`None` where the annotations do not compute or do not end on the answer, or there is nothing but the question."""
    solution, mark, final = record.answer.rpartition("####")
    answer = parse_number(final)
    steps = parse_solution(solution)
    sentences = split_sentences(record.question)
    if not mark or answer is None or not steps or steps[-1].value != answer:
        return None
    if len(sentences) < 2 or not sentences[-1].endswith("?"):
        return None
    premise, question = sentences[:-1], sentences[-1]
    return WordProblem(
        source_id=source_id(record),
        premise=premise,
        question=question,
        answer=answer,
        steps=steps,
        omissions=omissions(premise, question, steps),
        notes_title=_notes_title(" ".join((*premise, question))),
    )


def make_item(problem: WordProblem, mode: Mode, want: Want, seed: int) -> Item | None:
    """The item nearest to the level asked for; `None` where the record cannot be worded in this mode."""
    want = followed(want, problem.source_id)
    rng = Random(f"{seed}:{problem.source_id}")
    if mode != "intact" and not problem.omissions:
        return None
    left_out = rng.choice(problem.omissions) if mode != "intact" else None
    visible = tuple(one for place, one in enumerate(problem.premise) if left_out is None or place != left_out.index)
    notes = _notes(problem, visible, left_out if mode == "twin" else None, rng)
    has_notes = mode != "intact" or rng.random() < 0.5 or len(words(problem.text)) < SHORT_PROBLEM
    hidden = None
    if mode == "hidden" and left_out:
        unit = "money" if "$" in left_out.sentence else unit_asked(left_out.missing, "en")
        hidden = Hidden("quantity", left_out.sentence, left_out.missing, left_out.about, unit=unit)
    premise, clue = _premise_and_clue(problem, visible, want)

    def item(calculations: tuple[Calculation, ...]) -> Item:
        steps = [Step("calc", one.expression) for one in calculations]
        if mode != "intact":
            steps.insert(0, Step("wiki", problem.notes_title))
        return Item(
            task="gsm8k",
            lang="en",
            source_id=problem.source_id,
            premise=premise,
            clue=clue,
            question=problem.question,
            original=problem.text,
            context=(notes,) if has_notes else (),
            support=problem.premise,
            answer=number_text(problem.answer),
            steps=tuple(steps),
            hidden=hidden,
            ask_after=1 if mode == "hidden" else 0,
            ambiguity=("left-out-quantity",) if left_out else (),
        )

    return nearest_item(map(item, _merged_solutions(problem, want, mode)), want)


def _merged_solutions(problem: WordProblem, want: Want, mode: Mode) -> Iterator[tuple[Calculation, ...]]:
    """The calculation in fewer or more calls, those first that come nearest to the calls asked for."""
    given = numbers_in(problem.text)
    opens_notes = mode != "intact"
    most = want.max_turns - 1 - opens_notes - (mode == "hidden")
    counts = range(1, min(len(problem.steps), most) + 1)
    for count in sorted(counts, key=lambda count: abs(count + opens_notes - calls_wanted(want))):
        merged = merge(problem.steps, count, given)
        if merged is not None:
            yield merged


def _premise_and_clue(problem: WordProblem, visible: tuple[str, ...], want: Want) -> tuple[str, str]:
    """An easy problem has some of its sentences as a clue right before the question, none twice."""
    if want.level == "easy":
        last = len(visible) - 1
        arguments = (visible, problem.question, problem.premise, want.paraphrase)
        chosen = choose_clue(*arguments, lambda some: max(some) == last) or choose_clue(*arguments, lambda some: True)
        if chosen:
            rest = " ".join(one for place, one in enumerate(visible) if place not in chosen)
            return rest, " ".join(visible[place] for place in chosen)
    return " ".join(visible), ""


def _notes(problem: WordProblem, visible: tuple[str, ...], left_out: Omission | None, rng: Random) -> Article:
    """An article with a few sentences of the problem; in a twin, the one that the message leaves out is among them."""
    count = NOTES_SENTENCES - (left_out is not None)
    sentences = rng.sample(visible, min(count, len(visible)))
    if left_out is not None:
        sentences.append(left_out.sentence)
    rng.shuffle(sentences)
    return Article(problem.notes_title, tuple(sentences))


def _notes_title(text: str) -> str:
    """`Notes of Natalia`, else after the word that the problem repeats most.

    A capital says little at the start of a sentence, except of the first: there somebody is introduced.
    """
    plainly = set(re.findall(r"\b[a-z]+\b", text)) | _CALENDAR_NAMES
    starts = {0} | {match.end() for match in re.finditer(r"[.?!] ", text)}
    named = [(at, name) for at, name in names_en(text) if re.fullmatch(r"[a-z]{3,}", name) and name not in plainly]
    counted = Counter(name for at, name in named)
    known = [name for at, name in named if at == 0 or at not in starts or counted[name] > 1]
    if known:
        return f"Notes of {max(dict.fromkeys(known), key=lambda name: counted[name]).capitalize()}"
    plain = [word for word in words(text) if len(word) > 3 and word.isalpha() and word not in FUNCTION_WORDS]
    common = Counter(word for word in plain if word not in NUMBER_WORDS).most_common(1)
    return f"Notes on {common[0][0]}" if common else "Notes"


# --- Annotated calculations ---


def parse_number(text: str) -> Fraction | None:
    """`1,200` and `$7.50` as numbers; `None` for anything else."""
    cleaned = text.strip().replace(",", "").replace("$", "").rstrip(".").removesuffix("%")
    if not re.fullmatch(r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)", cleaned):
        return None
    return Fraction(cleaned)


def parse_solution(solution: str) -> tuple[Calculation, ...]:
    """Every annotation in order; empty if there is none or one of them does not compute to what it says.

    >>> [step.expression for step in parse_solution("May: 48/2 = <<48/2=24>>24.\\nAll: <<48+24=72>>72.")]
    ['48/2', '48+24']
    """
    found: list[Calculation] = []
    for line in solution.splitlines():
        note = " ".join(_ANNOTATION.sub("", line).split())
        for annotation in _ANNOTATION.findall(line):
            expression, _, stated = annotation.rpartition("=")
            cleaned = expression.replace("$", "").replace(",", "").replace(" ", "")
            value = parse_number(stated)
            if value is None or not _computes(cleaned, value):
                return ()
            found.append(Calculation(cleaned, value, note if len(note) <= NOTE_CHARS else ""))
    return tuple(found)


def merge(
    steps: tuple[Calculation, ...], count: int, given: frozenset[Fraction], longest: int = EXPRESSION_CHARS
) -> tuple[Calculation, ...] | None:
    """The same calculation in `count` steps: an expression replaces its result, in brackets, in later steps.

    `given` are the numbers of the problem. A result that equals one of them is not merged, because nobody can tell
    which of the two a later step means. `None` where the steps cannot be reduced to `count`.
    """
    merged = list(steps)
    while len(merged) > count:
        for place in range(len(merged) - 1):
            shorter = None if merged[place].value in given else _substituted(merged, place, longest)
            if shorter is not None:
                merged = shorter
                break
        else:
            return None
    return tuple(merged)


def _substituted(steps: list[Calculation], place: int, longest: int) -> list[Calculation] | None:
    """The steps without one of them, its expression in place of its value in every later step that uses it."""
    early = steps[place]

    def replacement(match: re.Match[str]) -> str:
        return f"({early.expression})" if Fraction(match[0]) == early.value else match[0]

    out = steps[:place]
    used = False
    for step in steps[place + 1 :]:
        expression = _NUMBER.sub(replacement, step.expression)
        if expression != step.expression:
            used = True
            if len(expression) > longest or not _computes(expression, step.value):
                return None
        out.append(Calculation(expression, step.value, step.note))
    return out if used else None


def _computes(expression: str, value: Fraction) -> bool:
    try:
        got = evaluate(expression)
    except CalcError:
        return False
    return not isinstance(got, bool) and abs(got - value) <= Fraction(1, 10**6)


# --- Sentences that can be left out ---


def numbers_in(text: str) -> frozenset[Fraction]:
    """Every number of a text, in digits or as a word."""
    digits = {value for found in _DIGITS.findall(text) if (value := parse_number(found)) is not None}
    return frozenset(digits | {NUMBER_WORDS[word] for word in words(text) if word in NUMBER_WORDS})


def omissions(premise: Sequence[str], question: str, steps: Sequence[Calculation]) -> tuple[Omission, ...]:
    """Sentences whose one number a calculation needs and nothing else in the problem gives.

    The first sentence introduces people, so it stays.
    """
    found: list[Omission] = []
    for index, sentence in enumerate(premise[1:], start=1):
        values = numbers_in(sentence)
        if len(values) != 1 or _FRACTION_WORDS.search(sentence) or len(_DIGITS.findall(sentence)) > 1:
            continue
        (value,) = values
        others = [*premise[:index], *premise[index + 1 :], question]
        if value <= 1 or value in numbers_in(" ".join(others)) or not _is_used(value, steps):
            continue
        if not leaves_a_gap(sentence, value, others, steps) or not _decides(value, steps):
            continue
        asked = asked_for(sentence)
        if asked is not None:
            found.append(Omission(index, sentence, *asked))
    return tuple(found)


def _is_used(value: Fraction, steps: Sequence[Calculation]) -> bool:
    """Whether a step uses the number before any step has it as a result."""
    for step in steps:
        if value in map(Fraction, _NUMBER.findall(step.expression)):
            return True
        if step.value == value:
            return False
    return False


def leaves_a_gap(sentence: str, value: Fraction, others: Sequence[str], steps: Sequence[Calculation]) -> bool:
    """Whether a problem without the sentence is visibly open, and not another problem that is complete in itself.

    A rate or a count that something is multiplied by leaves a gap if the rest speaks of the same things. An operand
    that is only added or subtracted leaves one if the rest compares something with it: `half as much as Doris`.
    """
    names = {
        word for word in re.findall(r"\b[A-Z][a-z]+", sentence) if word.lower() not in FUNCTION_WORDS | _LOWER_WORDS
    }
    things = {_singular(word) for word in words(sentence) if word not in FUNCTION_WORDS and len(word) > 2}
    things -= {name.lower() for name in names} | set(NUMBER_WORDS)
    if not is_bare_addend(value, steps, numbers_in(" ".join(others))):
        *story, question = others
        asked = {_singular(word) for word in words(question)}
        told = {_singular(word) for one in story for word in words(one)}
        return bool(things & (asked | told))
    compared = [one for one in others if _COMPARES.search(one)]
    return any(
        re.search(rf"\b(?:than|as|of|that) (?:\w+ )?{name}\b|\b{name}'s\b", one) for one in compared for name in names
    )


def is_bare_addend(value: Fraction, steps: Sequence[Calculation], given: frozenset[Fraction]) -> bool:
    """Whether the first step that uses a number only adds or subtracts it.

    `given` are the numbers of the rest. Hours a day times 7 are no more than an addend: nobody misses them.
    """
    known = set(given)
    for step in steps:
        for match in _NUMBER.finditer(step.expression):
            if Fraction(match[0]) == value:
                before, after = step.expression[: match.start()], step.expression[match.end() :]
                others = {Fraction(one) for one in _NUMBER.findall(step.expression)} - {value}
                scaled = before[-1:] in ("*", "/") or after[:1] in ("*", "/", "%")
                return not scaled or not others & known
        known.add(step.value)
    return False


def _decides(value: Fraction, steps: Sequence[Calculation]) -> bool:
    """Whether another number in its place gives another answer; the steps are put into one expression to find out."""
    whole = merge(tuple(steps), 1, frozenset(), longest=10_000)
    if whole is None:
        return False
    other = _NUMBER.sub(
        lambda match: f"({value + 1})" if Fraction(match[0]) == value else match[0], whole[0].expression
    )
    return not _computes(other, whole[0].value)


def _singular(word: str) -> str:
    if word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


def asked_for(sentence: str) -> tuple[str, tuple[str, ...]] | None:
    """The embedded question and the words that an ask must be about, for a plain sentence."""
    match = _PLAIN_SENTENCE.fullmatch(sentence)
    if match is None:
        return None
    before, rest = match["before"].split(), match["rest"].split()
    if (
        before[0] in _BAD_STARTS
        or before[0] in ("This", "That", "These", "Those")
        or len(before) > 8
        or before[-1].lower() in _BAD_BEFORE
        or len(rest) > 9
    ):
        return None
    if _JOINED.search(" ".join(before + rest)):
        return None
    start = [before[0].lower() if before[0] in _LOWER else before[0], *before[1:]]
    if match["money"]:
        if rest and rest[0] in _BAD_AFTER - {"more", "of"}:
            return None
        return " ".join(["how much", *start, *rest]), _telling([*before, *rest])
    size = next((size for size in (1, 2, 3) if len(rest) >= size and _is_plural(rest[size - 1])), 0)
    if not size or any(not word.islower() for word in rest[:size]):
        return None
    things, after = rest[:size], rest[size:]
    if before[-1] in ("is", "are", "was", "were") and before[0] != "There":
        return None  # `how many hours each nap is long`
    if before[-1].endswith("ing") or (before[-1] in _PREPOSITIONS and after):
        return None  # `how many problems she works on a test with on it`
    if rest[0] in _BAD_AFTER or (after and after[0] in _BAD_AFTER):
        return None
    return " ".join(["how many", *things, *start, *after]), _telling([*things, *before, *after])


def _is_plural(word: str) -> bool:
    return (word.endswith("s") and not word.endswith(("ss", "us", "is"))) or word in _IRREGULAR_PLURALS


def _telling(parts: Sequence[str]) -> tuple[str, ...]:
    """Words that say what a sentence is about."""
    telling = [word for part in parts for word in words(part) if word not in FUNCTION_WORDS and len(word) > 2]
    return tuple(dict.fromkeys(telling))
