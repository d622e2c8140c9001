"""Names and numbers in running text, in English and Chinese."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from functools import lru_cache

from ..core.tokenize import CJK

_BLANK = re.compile(rf"\s+(?=[{CJK}])|(?<=[{CJK}])\s+")


def mentioned(name: str, text: str) -> bool:
    """Whether a text holds a name, however it is written: whole words where words have blanks between them.

    >>> mentioned("Lund", "The town of Lund."), mentioned("Lund", "Lundby"), mentioned("冰船", "见《冰船》。")
    (True, False, True)
    >>> mentioned("1881", "Eirik Goldgren (1820-1881)")
    True
    """
    wanted = _plain(name)
    if not wanted:
        return False
    left = r"\b" if wanted[0].isascii() else ""
    right = r"\b" if wanted[-1].isascii() else ""
    return re.search(f"{left}{re.escape(wanted)}{right}", _plain(text), re.ASCII) is not None


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    """Lower case, a blank for every mark, none beside Chinese. The same text is looked through for many names."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    spaced = "".join(" " if unicodedata.category(mark)[0] in "PS" else mark for mark in folded)
    return _BLANK.sub("", " ".join(spaced.split()))


LONGEST = 100
"""Most digits of a number that is read; Python refuses numbers of thousands of digits."""
_DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+")
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORDS: dict[str, int] = {
    **{word: value for value, word in enumerate(_ONES)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
    **{"a dozen": 12, "dozen": 12, "hundred": 100, "thousand": 1000, "once": 1, "twice": 2, "double": 2, "triple": 3},
}
_ENGLISH = re.compile(
    rf"\b(?:({'|'.join(_TENS)})[- ]({'|'.join(_ONES[1:10])})|({'|'.join(sorted(_WORDS, key=len, reverse=True))}))\b"
)
_ZH_DIGIT = {mark: value for value, mark in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_ZH_UNIT = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
_CHINESE = re.compile("[零〇一二两三四五六七八九十百千万]+")
_PARTS = {"half": Fraction(1, 2), "quarter": Fraction(1, 4), "third": Fraction(1, 3), "半": Fraction(1, 2)}

_CONVERTS: tuple[tuple[int, tuple[re.Pattern[str], ...]], ...] = tuple(
    (value, tuple(re.compile(unit) for unit in units))
    for value, units in (
        (7, ("week|周|星期|礼拜",)),
        (12, ("dozen|month|月份|个月|打", "dozen|year|年|打")),
        (24, (r"\bdays?\b|天|日", "hour|小时|钟头")),
        (30, (r"\b(?:april|june|september|november)\b|[469]月|11月|[四六九]月|十一月",)),
        (31, (r"\b(?:january|march|may|july|august|october|december)\b|[13578]月|1[02]月|[一三五七八十]月",)),
        (60, ("minute|分钟", "hour|second|小时|钟头|秒")),
        (100, ("%|per ?cent|％|百分|成|折|centimet|厘米|cents?\\b|分钱",)),
        (1000, ("kilo|milli|千[克米升]|毫[克米升]|公斤|吨|\\btons?\\b",)),
    )
)
"""Conversion factors, and the units that must all occur in the text: 60 takes minutes and hours."""


def numbers(text: str) -> set[Fraction]:
    """Every number that the text names, except digit strings longer than `LONGEST`.

    >>> sorted(int(one) for one in numbers("Eight pages, 1,250 words, twenty-five or 十四层"))
    [8, 14, 25, 1250]
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    found = {Fraction(digits.replace(",", "")) for digits in _DIGITS.findall(folded) if len(digits) <= LONGEST}
    for tens, ones, word in _ENGLISH.findall(folded):
        found.add(Fraction(_WORDS[tens] + _WORDS[ones] if tens else _WORDS[word]))
    found |= {Fraction(_chinese(marks)) for marks in _CHINESE.findall(folded) if len(marks) <= LONGEST}
    return found | {part for word, part in _PARTS.items() if word in folded}


def conversions(text: str) -> set[Fraction]:
    """Numbers that need no mention because the units in the text imply them; 1 and 2 never need one.

    >>> sorted(int(one) for one in conversions("200 grams each, for 3 weeks"))
    [1, 2, 7]
    """
    folded = text.casefold()
    needed = {Fraction(value) for value, units in _CONVERTS if all(unit.search(folded) for unit in units)}
    return {Fraction(1), Fraction(2)} | needed


def _chinese(marks: str) -> int:
    """
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
