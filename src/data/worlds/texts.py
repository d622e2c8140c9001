"""Texts of the generated worlds: word lists and sentence templates in `templates/worlds/*.yaml`, loaded once each.

A list is written the short way: words with blanks between them, phrases with semicolons, templates one to a line.
Every file is read as the struct that its user declares, and a pool's sidecar holds the SHA-256 of each.

In a template `[one|another]` is a free choice, which may hold slots and further choices, and `{slot}` a filler.

>>> from random import Random
>>> render("{N} [sells|sells] {items}", Random(1), {"N": "Ada", "items": "pears"})
'Ada sells pears'
>>> fill("{N} sells {items}", N="Ada", items="pears")
'Ada sells pears'
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec
import yaml

from askgate_env.types import Record

from ...core.errors import BadInput
from ...core.files import explain_read_errors, shipped

FOLDER = Path("templates/worlds")
REMEDY = "correct the file, or remove your own (templates/worlds or templates/voice_*.yaml) to use the package's"
T = TypeVar("T", bound=Record)


class Words(tuple[str, ...]):
    """Words with white space between them."""


class Phrases(tuple[str, ...]):
    """Phrases with semicolons between them."""


class Lines(tuple[str, ...]):
    """Templates, one to a line."""


def load_text(file: str, kind: type[T], folder: Path = FOLDER) -> T:
    """Return the texts in a file of a folder of texts; `BadInput` names the file and the key that does not fit."""
    path = shipped(folder) / file if folder == FOLDER else shipped(folder / file)
    loaded: T = _load(path.resolve(), kind)
    return loaded


def text_fingerprints() -> dict[str, str]:
    """Return file -> SHA-256 for all texts of the worlds, for the sidecar of a pool."""
    files = sorted(shipped(FOLDER).resolve().glob("*.yaml"))
    return {f"{FOLDER.name}/{path.name}": hashlib.sha256(_read(path)).hexdigest() for path in files}


@cache
def _read(path: Path) -> bytes:
    """Read a file once per process, so that the texts in use are those that were fingerprinted."""
    with explain_read_errors(path, REMEDY):
        return path.read_bytes()


@cache
def _load(path: Path, kind: type[T]) -> T:
    try:
        raw = yaml.load(_read(path), _Loader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadInput(f"not valid YAML ({error})", where=str(path), remedy=REMEDY) from None
    try:
        loaded: T = _convert(raw, kind)
        return loaded
    except msgspec.ValidationError as error:
        key, what = _first_error(raw, kind) or ("", str(error))
        raise BadInput(what, where=f"{path}, key {key}" if key else str(path), remedy=REMEDY) from None


class _Loader(yaml.CBaseLoader):
    """YAML without implicit types (`no` and `12` are words like any other), in which no key may come twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        if len(found) != len(node.value):
            raise yaml.MarkedYAMLError(problem="a key comes twice in this mapping", problem_mark=node.start_mark)
        return found


def _convert(raw: Any, kind: Any) -> Any:
    return msgspec.convert(raw, kind, strict=False, dec_hook=_from_text)


def _from_text(kind: type, raw: Any) -> Any:
    """Read a list, or a type of the caller's own that is made from its text."""
    if isinstance(raw, list) and all(isinstance(entry, str) for entry in raw):
        return kind(raw)
    if not isinstance(raw, str):
        raise ValueError(f"expected a text, got `{type(raw).__name__}`")
    if kind is Words:
        return Words(raw.split())
    if kind is Phrases:
        return Phrases(" ".join(phrase.split()) for phrase in raw.split(";") if phrase.strip())
    if kind is not Lines:
        return kind(raw)
    lines = Lines(line.strip() for line in raw.splitlines() if line.strip())
    for line in lines:
        compiled(line)
    return lines


def _first_error(raw: Any, kind: Any) -> tuple[str, str] | None:
    """Return the key path and message of the first part that does not fit (msgspec names no keys of a mapping)."""
    try:
        _convert(raw, kind)
        return None
    except msgspec.ValidationError as error:
        message = str(error).partition(" - at ")[0]
    inner: Mapping[str, Any] = {}
    if isinstance(raw, dict):
        if get_origin(kind) is dict:
            inner = dict.fromkeys(raw, get_args(kind)[1])
        elif isinstance(kind, type) and issubclass(kind, Record):
            inner = {key: hint for key, hint in get_type_hints(kind).items() if key in raw}
    for key, hint in inner.items():
        if found := _first_error(raw[key], hint):
            return f"{key}.{found[0]}".rstrip("."), found[1]
    return "", message


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


def with_article(noun: str) -> str:
    vowel = noun[0] in "aeiouAEIOU" and not noun.startswith("uni")
    return f"{'an' if vowel else 'a'} {noun}"


def capitalize(text: str) -> str:
    """Make the first letter a capital and leave the others as they are."""
    return text[0].upper() + text[1:]
