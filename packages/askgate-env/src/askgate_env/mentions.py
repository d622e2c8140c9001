"""Whether a text mentions a name, and which numbers it names, in English and Chinese, digits and words."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from functools import lru_cache

from .files import package_json
from .tokenize import CJK, Marks

_BLANK = re.compile(rf"\s+(?=[{CJK}])|(?<=[{CJK}])\s+")

_SPACED = Marks(" ")


def mentioned(name: str, text: str) -> bool:
    """Whether a text contains a name. In languages with spaces between words, only whole words count.

    >>> mentioned("Lund", "The town of Lund."), mentioned("Lund", "Lundby"), mentioned("冰船", "见《冰船》。")
    (True, False, True)
    >>> mentioned("1881", "Eirik Goldgren (1820-1881)")
    True
    """
    name, text = _plain(name), _plain(text)
    start = text.find(name) if name else -1
    while start >= 0:  # a regular expression would have to be compiled for every name
        end = start + len(name)
        if not _joins(text[start - 1 : start], name[0]) and not _joins(text[end : end + 1], name[-1]):
            return True
        start = text.find(name, start + 1)
    return False


def _joins(neighbour: str, edge: str) -> bool:
    """Whether the character beside the first or last one of a name makes the name a part of a longer word."""
    return neighbour.isascii() and neighbour.isalnum() and edge.isascii()


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    """The text in lower case with a blank for every punctuation mark, and without blanks beside Chinese characters.

    Cached, because the same text is searched for many names.
    """
    spaced = unicodedata.normalize("NFKC", text).casefold().translate(_SPACED)
    return _BLANK.sub("", " ".join(spaced.split()))


LONGEST = 100
"""Most digits of a number that is read; Python refuses numbers of thousands of digits."""
_DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+")
_TABLE = package_json("numbers.json")
_ONES, _TENS = _TABLE["english"]["ones"], _TABLE["english"]["tens"]
_WORDS: dict[str, int] = {
    **{word: value for value, word in enumerate(_ONES)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
    **_TABLE["english"]["others"],
}
_ENGLISH = re.compile(
    rf"\b(?:({'|'.join(_TENS)})[- ]({'|'.join(_ONES[1:10])})|({'|'.join(sorted(_WORDS, key=len, reverse=True))}))\b"
)
_ZH_DIGIT, _ZH_UNIT = _TABLE["chinese"]["digits"], _TABLE["chinese"]["units"]
_CHINESE = re.compile(f"[{''.join([*_ZH_DIGIT, *_ZH_UNIT])}]+")
_PARTS = {word: Fraction(part) for word, part in _TABLE["parts"].items()}
_CONVERSIONS = {int(value): [re.compile(unit) for unit in units] for value, units in _TABLE["conversions"].items()}


@lru_cache(maxsize=4096)
def numbers(text: str) -> frozenset[int | Fraction]:
    """Every number that the text names, except digit strings longer than `LONGEST`.

    >>> sorted(int(number) for number in numbers("Eight pages, 1,250 words, twenty-five or 十四层"))
    [8, 14, 25, 1250]
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    found = {exact(digits.replace(",", "")) for digits in _DIGITS.findall(folded) if len(digits) <= LONGEST}
    for tens, ones, word in _ENGLISH.findall(folded):
        found.add(_WORDS[tens] + _WORDS[ones] if tens else _WORDS[word])
    found |= {_chinese(marks) for marks in _CHINESE.findall(folded) if len(marks) <= LONGEST}
    return frozenset(found | {part for word, part in _PARTS.items() if word in folded})


def exact(digits: str) -> int | Fraction:
    """The exact value of a number in digits. A whole one stays an int, which is made and hashed much faster."""
    return int(digits) if digits.isdecimal() else Fraction(digits)


@lru_cache(maxsize=4096)
def conversions(text: str) -> frozenset[int]:
    """Numbers that need no mention because the units in the text imply them; 1 and 2 never need one.

    >>> sorted(int(number) for number in conversions("200 grams each, for 3 weeks"))
    [1, 2, 7]
    """
    folded = text.casefold()
    needed = {value for value, units in _CONVERSIONS.items() if all(unit.search(folded) for unit in units)}
    return frozenset({1, 2} | needed)


def _chinese(marks: str) -> int:
    """The value of a number in Chinese characters.

    >>> _chinese("十一"), _chinese("三百二十"), _chinese("二〇")
    (11, 320, 20)
    """
    if not any(mark in _ZH_UNIT for mark in marks):
        return int("".join(str(_ZH_DIGIT[mark]) for mark in marks))
    total, section, digit = 0, 0, 0
    for mark in marks:
        if mark in _ZH_DIGIT:
            digit = _ZH_DIGIT[mark]
        elif mark == "万":
            total, section, digit = (total + section + digit) * 10_000, 0, 0
        else:
            # A bare 十 at the beginning is ten.
            section, digit = section + (digit or (0 if section else 1)) * _ZH_UNIT[mark], 0
    return total + section + digit
