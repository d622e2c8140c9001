"""Parsers of flag values: shares (`gsm8k:0.25,...`), lists of names (`en,zh`), seeds, sizes and tags."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from askgate_env.actions import TOOLS
from askgate_env.types import ALL_TASKS, LANGS, LEVELS, Lang, Level, Task

from ..core.defaults import DIFFICULTY_MIX, MIX, SUM_TOLERANCE, as_flag
from ..core.errors import BadInput

Name = TypeVar("Name", bound=str)


def mix(text: str) -> dict[Task, float]:
    """Shares of the tasks.

    >>> mix("hotpotqa:0.45,strategyqa:0.30,gsm8k:0.25")
    {'hotpotqa': 0.45, 'strategyqa': 0.3, 'gsm8k': 0.25}
    """
    return shares(text, "--mix", MIX)


def target(text: str) -> dict[Level, float]:
    """Shares of the levels of difficulty; 0 for a level that is not given.

    >>> target("easy:0.25,medium:0.45,hard:0.30")
    {'easy': 0.25, 'medium': 0.45, 'hard': 0.3}
    """
    given = shares(text, "--target", DIFFICULTY_MIX)
    return {level: given.get(level, 0.0) for level in LEVELS}


def tasks(text: str) -> tuple[Task, ...]:
    return names(text, "--by-task", ALL_TASKS)


def langs(text: str) -> tuple[Lang, ...]:
    """Languages; none given means every language of the source."""
    return names(text, "--lang", LANGS) if text.strip() else ()


def tools(text: str) -> tuple[str, ...]:
    return names(text, "--tools", TOOLS)


def tag(text: str) -> str:
    """A tag that becomes part of a file name.

    >>> tag("pre_run_check")
    'pre_run_check'
    """
    if not re.fullmatch(r"[\w.-]{0,100}", text):
        raise BadInput(
            f"{text[:100]!r} cannot be part of a file name", where="--tag", remedy="use letters, digits, . _ and -"
        )
    return text


def seeds(text: str) -> tuple[int, ...]:
    """Different seeds, separated by commas.

    >>> seeds("20250820, 20250821")
    (20250820, 20250821)
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() for part in parts) or len(set(parts)) < len(parts):
        what = f"{text!r} is not a list of different whole numbers"
        raise BadInput(what, where="--seeds", remedy="write it like 1,2,3")
    return tuple(int(part) for part in parts)


def sizes(text: str) -> list[int]:
    """Rising sizes, separated by commas.

    >>> sizes("1000,5000")
    [1000, 5000]
    """
    parts = text.split(",")
    found = [int(part) for part in parts if part.strip().isdecimal()]
    if len(found) < len(parts) or found[0] < 1 or any(one >= other for one, other in pairwise(found)):
        what = f"{text!r} is not a rising list of sizes"
        raise BadInput(what, where="--to", remedy="write it like 1000,5000")
    return found


def shares(text: str, flag: str, example: Mapping[Name, float]) -> dict[Name, float]:
    """Shares by name; names with a share of 0 are dropped. The example has every name that is allowed."""
    remedy = f"write it like {as_flag(example)}"
    given: dict[Name, float] = {}
    for part in text.split(","):
        raw_name, colon, raw_share = part.partition(":")
        name = _known(raw_name, flag, example)
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
    """Different names out of `allowed`, separated by commas.

    >>> names("wiki, calc", "--tools", TOOLS)
    ('wiki', 'calc')
    """
    given = tuple(_known(part, flag, allowed) for part in text.split(","))
    if len(set(given)) < len(given):
        raise BadInput(f"{text!r} names one twice", where=flag, remedy="name each once")
    return given


def _known(raw: str, flag: str, allowed: Collection[Name]) -> Name:
    """The allowed name that was typed, with the type of the allowed ones."""
    wanted = raw.strip()
    for name in allowed:
        if name == wanted:
            return name
    raise BadInput(f"{wanted!r} is not known", where=flag, remedy=f"choose from {', '.join(allowed)}")
