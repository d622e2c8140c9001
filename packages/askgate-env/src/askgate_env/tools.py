"""Tools that a policy may call: `wiki` over the articles of its sample, and `calc` for exact arithmetic.

`wiki` returns the article of a title, and search results for other words. A name that two articles share is the title
of neither, so looking it up returns both: that is how a policy learns that a question is ambiguous.

`calc` is a small parser without `eval`; every size is bounded.

>>> calc("48/2 + 24")
'48'
>>> calc("0.2 * 50")
'10'
>>> calc("1/3")
'0.333333'
>>> calc("1979 > 1962")
'yes'
>>> calc("9**9**9")
'error: number too large'
"""

from __future__ import annotations

import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

from .tokenize import words
from .types import Article

SHOWN = 3
"""Number of search results that `wiki` returns."""
MAX_CHARS = 400
MAX_DEPTH = 24
MAX_BITS = 256

_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?|\.\d+)|(\*\*|>=|<=|==|!=|[-+*/%()<>=]))")
_COMPARE: dict[str, Callable[[Fraction, Fraction], bool]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}


def wiki(articles: Sequence[Article], query: str) -> str:
    """The article of that title, else up to three hits with their first sentences, else `nothing found`."""
    return _look_up(tuple(articles), query.strip())


@lru_cache(maxsize=4096)
def _look_up(articles: tuple[Article, ...], wanted: str) -> str:
    """`wiki`, cached: policies repeat the same queries on a sample."""
    for article in articles:
        if article.title == wanted:
            return f"{article.title}: {article.text}"
    hits = search(articles, wanted)[:SHOWN]
    if not hits:
        return "nothing found"
    return "\n".join(f"{number}. {hit.title}: {hit.sentences[0]}" for number, hit in enumerate(hits, 1))


def search(articles: Sequence[Article], query: str) -> list[Article]:
    """Articles that share a word with the query, best first: rare words count more, words of the title three times."""
    asked, sets = set(words(query)), [_word_sets(article) for article in articles]
    seen = Counter(word for title, body in sets for word in asked & (title | body))
    rarity = {word: math.log(1 + len(articles) / count) for word, count in seen.items()}
    scored = []
    for index, (title, body) in enumerate(sets):
        score = math.fsum(rarity[word] for word in asked & body) + 3 * math.fsum(rarity[word] for word in asked & title)
        scored.append((-score, index))
    return [articles[index] for score, index in sorted(scored) if score < 0]


@lru_cache(maxsize=65_536)
def _word_sets(article: Article) -> tuple[frozenset[str], frozenset[str]]:
    """Words of the title and of the text; cached because sources search the same articles thousands of times."""
    return frozenset(words(article.title)), frozenset(words(article.text))


class CalcError(ValueError):
    """An expression that `calc` does not compute."""


def calc(expression: str) -> str:
    """The value as text, or `error: ...`. Comparisons give yes or no."""
    try:
        value = evaluate(expression)
    except CalcError as error:
        return f"error: {error}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number_text(value)


def number_text(value: Fraction) -> str:
    """The number as text: whole numbers without a point, others with at most six decimals."""
    if value.denominator == 1:
        return str(value.numerator)
    return f"{float(value):.6f}".rstrip("0").rstrip(".")


def evaluate(expression: str) -> Fraction | bool:
    """The exact value of an expression; a bool for a comparison. Raises CalcError."""
    if len(expression) > MAX_CHARS:
        raise CalcError("expression too long")
    return _Parser(_split(expression)).whole()


def _split(expression: str) -> list[str]:
    found, at = [], 0
    text = expression.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise CalcError("only numbers and + - * / % ** ( ) < > = are understood")
        found.append(match[1] or match[2])
        at = match.end()
    return found


class _Parser:
    """Recursive descent: comparison < sum < product < sign < power < atom."""

    def __init__(self, found: list[str]) -> None:
        self.found, self.at, self.depth = found, 0, 0

    def peek(self) -> str:
        return self.found[self.at] if self.at < len(self.found) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def whole(self) -> Fraction | bool:
        value: Fraction | bool = (left := self.sum())
        if self.peek() in _COMPARE:
            value = _COMPARE[self.take()](left, self.sum())
        if self.peek():
            raise CalcError(f"unexpected {self.peek()!r}")
        return value

    def sum(self) -> Fraction:
        value = self.product()
        while self.peek() in ("+", "-"):
            value = _bounded(value + self.product() if self.take() == "+" else value - self.product())
        return value

    def product(self) -> Fraction:
        value = self.sign()
        while self.peek() in ("*", "/", "%"):
            action, right = self.take(), self.sign()
            if action == "*":
                value = _bounded(value * right)
            elif right == 0:
                raise CalcError("division by zero")
            else:
                value = _bounded(value / right if action == "/" else value % right)
        return value

    def sign(self) -> Fraction:
        if self.peek() not in ("-", "+"):
            return self.power()
        self.deeper()
        value = -self.sign() if self.take() == "-" else self.sign()
        self.depth -= 1
        return value

    def power(self) -> Fraction:
        base = self.atom()
        if self.peek() != "**":
            return base
        self.take()
        self.deeper()
        exponent = self.sign()
        self.depth -= 1
        if exponent.denominator != 1 or abs(exponent) > MAX_BITS:
            raise CalcError("number too large" if abs(exponent) > MAX_BITS else "exponent must be whole")
        if base == 0 and exponent < 0:
            raise CalcError("division by zero")
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if bits * abs(exponent) > MAX_BITS:
            raise CalcError("number too large")
        return Fraction(base ** int(exponent))

    def atom(self) -> Fraction:
        token = self.take()
        if token == "(":
            self.deeper()
            value = self.sum()
            self.depth -= 1
            if self.take() != ")":
                raise CalcError("a bracket is not closed")
            return value
        if token and (token[0].isdigit() or token[0] == "."):
            return _bounded(Fraction(int(token) if token.isdecimal() else token))  # from an int it is much faster
        raise CalcError(f"unexpected {token!r}" if token else "expression ends early")

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise CalcError("too many brackets")


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise CalcError("number too large")
    return value
