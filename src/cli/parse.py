"""Parsers of flag values: shares (`gsm8k:0.25,...`), lists of names (`en,zh`), seeds, sizes and tags."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

from ..core.defaults import SUM_TOLERANCE, TOOLS
from ..core.errors import BadInput
from ..core.types import LANGS, LEVELS, TASKS, Lang, Level, Task

Name = TypeVar("Name", bound=str)


def mix(text: str, flag: str = "--mix") -> dict[Task, float]:
    """
    >>> mix("hotpotqa:0.45,strategyqa:0.30,gsm8k:0.25")
    {'hotpotqa': 0.45, 'strategyqa': 0.3, 'gsm8k': 0.25}
    """
    return shares(text, flag, TASKS)


def target(text: str, flag: str = "--target") -> dict[Level, float]:
    """
    >>> target("easy:0.25,medium:0.45,hard:0.30")
    {'easy': 0.25, 'medium': 0.45, 'hard': 0.3}
    """
    given = shares(text, flag, LEVELS)
    return {level: given.get(level, 0.0) for level in LEVELS}


def tasks(text: str, flag: str = "--by_task") -> tuple[Task, ...]:
    return names(text, flag, TASKS)


def langs(text: str, flag: str = "--lang") -> tuple[Lang, ...]:
    """Languages; none given means every language of the source."""
    return names(text, flag, LANGS) if text.strip() else ()


def tools(text: str, flag: str = "--tools") -> tuple[str, ...]:
    return names(text, flag, TOOLS)


def tag(text: str, flag: str = "--tag") -> str:
    """A tag that becomes part of a file name.

    >>> tag("pre_run_check")
    'pre_run_check'
    """
    if not re.fullmatch(r"[\w.-]{0,100}", text):
        raise BadInput(
            f"{text[:100]!r} cannot be part of a file name", where=flag, remedy="use letters, digits, . _ and -"
        )
    return text


def seeds(text: str, flag: str = "--seeds") -> tuple[int, ...]:
    """
    >>> seeds("20250820, 20250821")
    (20250820, 20250821)
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() for part in parts) or len(set(parts)) < len(parts):
        raise BadInput(f"{text!r} is not a list of different whole numbers", where=flag, remedy="write it like 1,2,3")
    return tuple(int(part) for part in parts)


def sizes(text: str, flag: str = "--to") -> list[int]:
    """
    >>> sizes("1000,5000")
    [1000, 5000]
    """
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        raise BadInput(f"{text!r} is not a list of sizes", where=flag, remedy="write it like 1000,5000") from None
    if found[0] < 1 or any(one >= other for one, other in pairwise(found)):
        raise BadInput(f"{text} does not rise", where=flag, remedy="write it like 1000,5000")
    return found


def shares(text: str, flag: str, allowed: Sequence[Name]) -> dict[Name, float]:
    """Shares by name; names with a share of 0 are dropped."""
    remedy = f"write it like {_example(allowed)}"
    given: dict[Name, float] = {}
    for part in text.split(","):
        raw_name, colon, raw_share = part.partition(":")
        name = _known(raw_name, flag, allowed)
        try:
            share = float(raw_share)
        except ValueError:
            what = f"{raw_share.strip()!r} is not a number" if colon else f"{part.strip()!r} has no share"
            raise BadInput(what, where=flag, remedy=remedy) from None
        if not (math.isfinite(share) and share >= 0):
            raise BadInput(f"the share of {name} is {raw_share.strip()}", where=flag, remedy="give shares of 0 to 1")
        if name in given:
            raise BadInput(f"{name} is named twice", where=flag, remedy="name each once")
        given[name] = share
    total = sum(given.values())
    if abs(total - 1) > SUM_TOLERANCE:
        raise BadInput(f"the shares sum to {total:.6g}, not to 1", where=flag, remedy=remedy)
    return {name: share for name, share in given.items() if share > 0}


def names(text: str, flag: str, allowed: Sequence[Name]) -> tuple[Name, ...]:
    """
    >>> names("wiki, calc", "--tools", TOOLS)
    ('wiki', 'calc')
    """
    given = tuple(_known(part, flag, allowed) for part in text.split(","))
    if len(set(given)) < len(given):
        raise BadInput(f"{text!r} names one twice", where=flag, remedy="name each once")
    return given


def _known(raw: str, flag: str, allowed: Sequence[Name]) -> Name:
    wanted = raw.strip()
    for name in allowed:
        if name == wanted:
            return name
    raise BadInput(f"{wanted!r} is not known", where=flag, remedy=f"choose from {', '.join(allowed)}")


def _example(allowed: Sequence[str]) -> str:
    even = [round(1 / len(allowed), 2)] * (len(allowed) - 1)
    return ",".join(f"{name}:{share:.2f}" for name, share in zip(allowed, [*even, 1 - sum(even)], strict=True))
