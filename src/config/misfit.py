"""What is wrong with a config, told with the path of the key and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError

from ..core.errors import BadInput


class Misfit(ValueError):
    """Raised by a validator that looks at several settings: names the one at fault."""

    def __init__(self, key: str, what: str) -> None:
        self.key = key
        super().__init__(what)


def refusal(error: ValidationError, model: type[BaseModel], path: object, overrides: Sequence[str] = ()) -> BadInput:
    """The first fault only: the next ones often follow from it. A misspelt setting is told before the one it lacks.

    `overrides`: keys that came from `--set` and not from the file.
    """
    faults = error.errors(include_url=False)
    unknown = [one for one in faults if one["type"] == "extra_forbidden"]
    first = unknown[0] if unknown and faults[0]["type"] == "missing" else faults[0]
    fault = first.get("ctx", {}).get("error")
    parts = [*(str(part) for part in first["loc"] if part != "[key]")]
    parts += [fault.key] if isinstance(fault, Misfit) else []
    key = ".".join(parts)
    # Without the value: somebody may have put a secret there.
    what, remedy = str(fault or first["msg"]), "correct it"
    what = what.replace("Input should be", "it should be").replace("valid tuple", "list")
    if first["type"] == "extra_forbidden":
        what, remedy = "no such setting", _instead(parts, model)
    elif first["type"] == "missing":
        what, remedy = "this setting is missing", f"add a line `{parts[-1]}: VALUE`"
    elif not key:
        what, remedy = "not a list of settings", "write one setting a line, like steps: 100"
    set_by = [one for one in overrides if f"{one}.".startswith(f"{key}.") or key.startswith(f"{one}.")] if key else []
    where = f"--set {set_by[-1]}" if set_by else f"{path}: {key}" if key else str(path)
    return BadInput(what, where=where, remedy=remedy)


def _instead(parts: list[str], model: type[BaseModel]) -> str:
    known = list(dict.fromkeys(_paths(model.model_json_schema())))
    same_name = [path for path in known if path.split(".")[-1] == parts[-1]]
    alike = same_name or get_close_matches(".".join(parts), known, n=1)
    return f"did you mean {' or '.join(alike)}? Else remove it" if alike else "remove it"


def _paths(schema: Mapping[str, Any]) -> Iterator[str]:
    """Every setting that there is, as `section.key`."""

    def walk(node: Any, prefix: str) -> Iterator[str]:
        for name, below in node.get("properties", {}).items():
            yield f"{prefix}{name}"
            for section in _sections(below):
                yield from walk(schema["$defs"][section], f"{prefix}{name}.")

    yield from walk(schema, "")


def _sections(node: Mapping[str, Any]) -> Iterator[str]:
    if "$ref" in node:
        yield node["$ref"].rsplit("/", 1)[-1]
    for choice in [*node.get("anyOf", ()), *node.get("allOf", ())]:
        yield from _sections(choice)
