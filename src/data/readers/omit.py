"""Leaving a sentence with a needed number out of a word problem, and saying what one would have to ask for.

Only plain sentences with one number qualify, because the question for it is made from the sentence itself:
`Janet's ducks lay 16 eggs per day.` -> `how many eggs Janet's ducks lay per day`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from ...core.tokenize import words
from ..difficulty.words import FUNCTION_WORDS
from .annotations import Calculation, operands, parse_number
from .listed import listed

_TO_TWENTY = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty
"""
NUMBER_WORDS = {word: Fraction(value) for value, word in enumerate(_TO_TWENTY.split())} | {
    "thirty": Fraction(30),
    "forty": Fraction(40),
    "fifty": Fraction(50),
    "hundred": Fraction(100),
    "dozen": Fraction(12),
}
_FRACTION_WORDS = re.compile(r"\b(?:half|twice|double|triple|thrice|third|quarter|fourth|fifth|times)\b", re.IGNORECASE)
_DIGITS = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_PLAIN = re.compile(
    rf"(?P<before>[A-Z][^,;:()\"\d]*?) (?P<money>\$)?(?P<number>\d[\d,.]*|{'|'.join(NUMBER_WORDS)})"
    r"(?P<rest>(?: [^,;:()\"$%\d]+)?)\."
)
_STARTS = listed(
    """
    In On At If When After Before For During While With From By To Since As Out Then Later Of And But So First Next
    Last Today Yesterday Every
    """
)
_BAD_BEFORE = listed("of the a an each than least first another only other every these those all about for")
_BAD_AFTER = listed("is are was were have has cost costs will do does can and or of than more less fewer times")
_JOINED = re.compile(r"\b(?:and|but|so|which|who|because|if|when|then|while|where|that)\b")
_LOWER = listed(
    """
    The A An There His Her Their Its My Our Each Every He She It They We You One This That These Those Another All
    Both Last Today
    """
)


class Omission(Struct, frozen=True):
    index: int
    """Which sentence of the premise is left out."""
    sentence: str
    missing: str
    about: tuple[str, ...]


def numbers_in(text: str) -> frozenset[Fraction]:
    """Every number of a text, in digits or as a word."""
    digits = {value for found in _DIGITS.findall(text) if (value := parse_number(found)) is not None}
    return frozenset(digits | {NUMBER_WORDS[word] for word in words(text) if word in NUMBER_WORDS})


def omissions(premise: Sequence[str], question: str, steps: Sequence[Calculation]) -> tuple[Omission, ...]:
    """Sentences whose one number a calculation needs and nothing else in the problem tells."""
    found: list[Omission] = []
    for index, sentence in enumerate(premise):
        if index == 0:
            # The first sentence introduces people; what follows would hang in the air.
            continue
        values = numbers_in(sentence)
        if len(values) != 1 or _FRACTION_WORDS.search(sentence) or len(_DIGITS.findall(sentence)) > 1:
            continue
        (value,) = values
        rest = " ".join([*premise[:index], *premise[index + 1 :], question])
        if value <= 1 or value in numbers_in(rest) or not _taken_part(value, steps):
            continue
        asked = _asked_for(sentence)
        if asked is not None:
            found.append(Omission(index, sentence, *asked))
    return tuple(found)


def _taken_part(value: Fraction, steps: Sequence[Calculation]) -> bool:
    """Whether a step uses the number before any step has it as a result."""
    for step in steps:
        if value in operands(step.expression):
            return True
        if step.value == value:
            return False
    return False


def _asked_for(sentence: str) -> tuple[str, tuple[str, ...]] | None:
    """The embedded question and the words that an ask must be about, for a plain sentence."""
    match = _PLAIN.fullmatch(sentence)
    if match is None:
        return None
    before, rest = match["before"].split(), match["rest"].split()
    if before[0] in _STARTS or len(before) > 8 or before[-1].lower() in _BAD_BEFORE or len(rest) > 9:
        return None
    if _JOINED.search(" ".join(before + rest)):
        return None
    start = [before[0].lower() if before[0] in _LOWER else before[0], *before[1:]]
    if match["money"]:
        if rest and rest[0] in _BAD_AFTER - {"more", "of"}:
            return None
        return " ".join(["how much", *start, *rest]), _about([*before, *rest], ("much", "cost", "price", "money"))
    size = next((size for size in (1, 2, 3) if len(rest) >= size and _plural(rest[size - 1])), 0)
    if not size or any(not word.islower() for word in rest[:size]):
        return None
    things, after = rest[:size], rest[size:]
    if rest[0] in _BAD_AFTER or (after and after[0] in _BAD_AFTER):
        return None
    return " ".join(["how many", *things, *start, *after]), _about([*things, *before, *after], ())


def _plural(word: str) -> bool:
    return (word.endswith("s") and not word.endswith(("ss", "us", "is"))) or word in (
        "people",
        "children",
        "men",
        "feet",
    )


def _about(found: Sequence[str], more: tuple[str, ...]) -> tuple[str, ...]:
    telling = [word for part in found for word in words(part) if word not in FUNCTION_WORDS and len(word) > 2]
    return tuple(dict.fromkeys([*telling, *more]))
