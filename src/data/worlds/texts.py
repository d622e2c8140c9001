"""Texts of the generated worlds: word lists and sentence templates in `templates/worlds/*.yaml`, loaded once each.

A list is written the short way: words with blanks between them, phrases with semicolons, templates one to a line.
Every file is read as the struct that its user declares, and a pool's sidecar holds the SHA-256 of each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec
import yaml

from ...core.errors import BadInput
from ...core.files import shipped
from ...core.types import Record
from .grammar import compiled

FOLDER = Path("templates/worlds")
REMEDY = "correct the file, or remove your own templates/worlds to use the one that comes with the package"
T = TypeVar("T", bound=Record)


class Words(tuple[str, ...]):
    """Words with white space between them."""


class Phrases(tuple[str, ...]):
    """Phrases with semicolons between them."""


class Lines(tuple[str, ...]):
    """Templates, one to a line."""


def load_text(file: str, kind: type[T]) -> T:
    """Return the texts in a file of `templates/worlds`; `BadInput` names the file and the key that does not fit."""
    loaded: T = _load(shipped(FOLDER).resolve() / file, kind)
    return loaded


def text_fingerprints() -> dict[str, str]:
    """Return file -> SHA-256 for all texts of the worlds, for the sidecar of a pool."""
    files = sorted(shipped(FOLDER).resolve().glob("*.yaml"))
    return {f"{FOLDER.name}/{path.name}": hashlib.sha256(_read(path)).hexdigest() for path in files}


@cache
def _read(path: Path) -> bytes:
    """Read a file once per process, so that the texts in use are those that were fingerprinted."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror})", where=str(path), remedy=REMEDY) from None


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
