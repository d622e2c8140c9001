"""Success: names by exact match after the usual normalization, yes/no answers by meaning, numbers by value."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache

from .tokenize import Marks
from .types import Sample

TOLERANCE = Decimal("1e-6")
_YES = set("yes yeah yep true correct right indeed 是 是的 对 对的 没错 正确 属实 当然 成立 有 会 能".split())
_NO = set("no nope false incorrect wrong 否 不 不是 不是的 不对 没有 错 错误 错的 并非 不会 不能 不成立 不正确".split())
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_BARE = Marks("")
_NUMBER = re.compile(r"[-+]?(?:\d+(?:,\d{3})+|\d+)?(?:\.\d+|(?<=\d))")


def correct(sample: Sample, answer: str | None) -> bool:
    """Whether the answer matches the gold answer or an alias. Whether the policy had to ask first is not checked.

    A sample of the task `detect` has no success: only whether the policy asks is measured there.
    """
    if answer is None or not answer.strip() or sample.task == "detect":
        return False
    return any(_matches(sample.task, gold, answer) for gold in (sample.answer, *sample.aliases))


def _matches(task: str, gold: str, answer: str) -> bool:
    if task == "gsm8k":
        wanted, given = number(gold), number(answer)
        return wanted is not None and given is not None and abs(wanted - given) <= TOLERANCE
    if task == "strategyqa":
        wanted_verdict = verdict(gold)
        return wanted_verdict is not None and verdict(answer) == wanted_verdict
    return normalized(gold) == normalized(answer)


def normalized(text: str) -> str:
    """Lower case, without articles, punctuation and extra spaces; full-width characters as ordinary ones.

    >>> normalized("The  Frozen Ship!"), normalized("《冰船》。")
    ('frozen ship', '冰船')
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    bare = folded.translate(_BARE)
    # A name may consist of an article or punctuation only; then it is kept.
    return " ".join(_ARTICLE.sub(" ", bare).split()) or " ".join(folded.split())


@lru_cache(maxsize=4096)
def verdict(text: str) -> bool | None:
    """Yes or no, in either language, alone or before a comma; None for anything else.

    >>> verdict("No, it was not."), verdict("没错"), verdict("yes, no")
    (False, True, None)
    """
    clauses = [normalized(part) for part in re.split(r"[,.;:!，。；：！]", text) if part.strip()]
    if not clauses:
        return None
    first, *others = clauses
    if first in _YES and _NO.isdisjoint(others):
        return True
    if first in _NO and _YES.isdisjoint(others):
        return False
    return None


def number(text: str) -> Decimal | None:
    """The only number in the text. Two numbers are no answer: a policy could list them all.

    >>> number("$1,250.50"), number("36 or 40")
    (Decimal('1250.50'), None)
    """
    found = [match for match in _NUMBER.findall(unicodedata.normalize("NFKC", text)) if match.strip("+-")]
    return Decimal(found[0].replace(",", "")) if len(found) == 1 else None
