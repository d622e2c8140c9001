"""Numbers in running text: digits, English and Chinese number words, and those that converting units brings in."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction

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

_CONVERTS: tuple[tuple[int, re.Pattern[str]], ...] = tuple(
    (value, re.compile(words))
    for value, words in (
        (7, "week|周|星期|礼拜"),
        (12, "dozen|month|year|inch|f(?:oo|ee)t|月|年|打"),
        (24, r"\bdays?\b|hour|天|日|小时"),
        (28, "februar|2月|二月"),
        (30, "month|apr|jun|sep|nov|月"),
        (31, "month|jan|mar|may|jul|aug|oct|dec|月"),
        (60, "minute|second|hour|分|秒|小时"),
        (100, "%|per ?cent|cent|％|百分|成|折|厘|分"),
        (1000, "kilo|gram|lit(?:re|er)|met(?:re|er)|千|克|升|米"),
    )
)


def numbers(text: str) -> set[Fraction]:
    """Every number that the text names.

    >>> sorted(int(one) for one in numbers("Eight pages, 1,250 words, twenty-five or 十四层"))
    [8, 14, 25, 1250]
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    found = {Fraction(digits.replace(",", "")) for digits in _DIGITS.findall(folded)}
    for tens, ones, word in _ENGLISH.findall(folded):
        found.add(Fraction(_WORDS[tens] + _WORDS[ones] if tens else _WORDS[word]))
    found |= {Fraction(_chinese(marks)) for marks in _CHINESE.findall(folded)}
    return found | {part for word, part in _PARTS.items() if word in folded}


def conversions(text: str) -> set[Fraction]:
    """Numbers that nobody has to name, because the units in the text bring them in; 1 and 2 are anybody's.

    >>> sorted(int(one) for one in conversions("200 grams each, for 3 weeks"))
    [1, 2, 7, 1000]
    """
    folded = text.casefold()
    return {Fraction(1), Fraction(2)} | {Fraction(value) for value, words in _CONVERTS if words.search(folded)}


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
