"""The template language of the worlds: `[one|another]` is a free choice, `{slot}` a filler.

A choice may hold slots and further choices.

>>> from random import Random
>>> render("{N} [sells|sells] {items}", Random(1), {"N": "Ada", "items": "pears"})
'Ada sells pears'
>>> fill("{N} sells {items}", N="Ada", items="pears")
'Ada sells pears'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from random import Random

Part = str | tuple[str] | tuple[tuple["Parts", ...], int]
"""Literal text, a slot (a tuple of its name), or the choices with their number."""
Parts = tuple[Part, ...]

_MARK = re.compile(r"([\[\]|]|\{[^}]*\})")


@cache
def compiled(template: str) -> Parts:
    """Split a template into its parts; `ValueError` when its brackets do not match."""
    open_choices: list[list[list[Part]]] = [[[]]]
    """The options read so far of every choice that is open, outermost first; the template itself has one option."""
    for place, piece in enumerate(_MARK.split(template)):
        parts = open_choices[-1][-1]
        if place % 2 == 0:
            parts += [piece] if piece else []
        elif piece[0] == "{":
            parts.append((piece[1:-1],))
        elif piece == "[":
            open_choices.append([[]])
        elif len(open_choices) == 1:
            raise ValueError(f"stray {piece} in template: {template}")
        elif piece == "|":
            open_choices[-1].append([])
        else:
            options = open_choices.pop()
            open_choices[-1][-1].append((tuple(map(tuple, options)), len(options)))
    if len(open_choices) > 1:
        raise ValueError(f"bracket not closed in template: {template}")
    return tuple(open_choices[0][0])


def render(template: str, rng: Random, slots: Mapping[str, str]) -> str:
    """Render a template, drawing one option of each choice."""
    out: list[str] = []
    _fill(compiled(template), rng.random, slots, out)
    return "".join(out)


def fill(template: str, **slots: str | int) -> str:
    """Render a template that has no choices."""
    return _without_choices(template).format(**slots)


@cache
def _without_choices(template: str) -> str:
    if any(isinstance(part, tuple) and len(part) == 2 for part in compiled(template)):
        raise ValueError(f"no choice is expected in template: {template}")
    return template


def _fill(parts: Parts, draw: Callable[[], float], slots: Mapping[str, str], out: list[str]) -> None:
    for part in parts:
        if isinstance(part, str):
            out.append(part)
        elif len(part) == 1:
            out.append(slots[part[0]])
        else:
            _fill(part[0][int(draw() * part[1])], draw, slots, out)


def slots_of(template: str) -> set[str]:
    """Return the names of all slots of a template, those in choices included."""
    return {mark[0][1:-1] for mark in _MARK.finditer(template) if mark[0][0] == "{"}


def with_article(noun: str) -> str:
    """Put the English article before a noun."""
    vowel = noun[0] in "aeiouAEIOU" and not noun.startswith("uni")
    return f"{'an' if vowel else 'a'} {noun}"


def capitalize(text: str) -> str:
    """Make the first letter a capital and leave the others as they are."""
    return text[0].upper() + text[1:]
