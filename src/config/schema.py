"""Base of all settings: strict sections, shared types, and messages that name the key at fault."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from askgate_env.types import Level, Task

from ..core.defaults import SUM_TOLERANCE
from ..core.errors import BadInput

Name = TypeVar("Name")
_MISSING = object()


def _sums_to_one(shares: dict[Name, float]) -> dict[Name, float]:
    total = sum(shares.values())
    if abs(total - 1) > SUM_TOLERANCE:
        raise ValueError(f"the shares sum to {total:.6g}, not to 1")
    return shares


FilePath = Annotated[Path, Field(strict=False)]
"""A path, written as a string: YAML has no type for paths."""
Share = Annotated[float, Field(ge=0, le=1)]
TaskShares = Annotated[dict[Task, Share], AfterValidator(_sums_to_one)]
LevelShares = Annotated[dict[Level, Share], AfterValidator(_sums_to_one)]
Listed = Field(strict=False)
"""A tuple, written as a list: YAML has no tuples. Its items are checked strictly."""


class Section(BaseModel):
    """Base class of sections. Unknown keys, wrong types and values out of range are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class SettingError(ValueError):
    """Raised by a validator that checks several settings; `key` names the wrong one."""

    def __init__(self, key: str, what: str, remedy: str = "correct it") -> None:
        self.key, self.remedy = key, remedy
        super().__init__(what)


def invalid_setting(
    error: ValidationError,
    model: type[Section],
    files: Sequence[tuple[Path, Any]],
    overrides: Sequence[str] = (),
    shipped: Any = _MISSING,
) -> BadInput:
    """The message for the first error; the next ones often follow from it. A misspelt key goes before a missing one.

    `files`: the config and what it extends, nearest first, with their contents. `overrides`: keys that came from
    `--set` and not from a file. `shipped`: the settings of the config of this name that came with the package.
    """
    faults = error.errors(include_url=False)
    unknown = [one for one in faults if one["type"] == "extra_forbidden"]
    first = unknown[0] if unknown and faults[0]["type"] == "missing" else faults[0]
    fault = first.get("ctx", {}).get("error")
    parts = [*(str(part) for part in first["loc"] if part != "[key]")]
    parts += [fault.key] if isinstance(fault, SettingError) else []
    key, fields = ".".join(parts), dict(_fields(model))
    # The message leaves the value out: it may be a secret in the wrong place.
    what, remedy = str(fault or first["msg"]), "correct it"
    what = what.replace("Input should be", "it should be").replace("valid tuple", "list")
    if first["type"] == "extra_forbidden":
        what, remedy = "no such setting", _remedy(parts, list(fields))
    elif first["type"] == "missing":
        value = _value(shipped, parts)
        text = "VALUE" if value is _MISSING else json.dumps(value)
        what, remedy = "this setting is missing", f"add a line `{parts[-1]}: {text}`"
    elif first["type"] == "model_type" and key:
        what, remedy = "it is a section, not a value", _set_inside(key, first["input"], fields)
    elif first["type"].startswith(("greater_than", "less_than")):
        what += _other_end(first["type"], fields.get(key))
    elif isinstance(fault, SettingError):
        remedy = fault.remedy
    elif not key:
        what, remedy = "not a mapping of settings", "write one setting per line, like steps: 100"
    set_by = [one for one in overrides if f"{one}.".startswith(f"{key}.") or key.startswith(f"{one}.")] if key else []
    # The nearest file that has the setting. Only files in the user's folder: those of the package are correct.
    own = [one for one in files if one[0].is_file()] or files
    path = next((file for file, content in own if _value(content, parts) is not _MISSING), own[0][0])
    where = f"--set {set_by[-1]}" if set_by else f"{path}: {key}" if key else str(path)
    return BadInput(what, where=where, remedy=remedy)


def _fields(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """All settings by `section.key`."""
    for name, field in model.model_fields.items():
        yield f"{prefix}{name}", field
        choices = get_args(field.annotation) if isinstance(field.annotation, UnionType) else (field.annotation,)
        for section in choices:
            if isinstance(section, type) and issubclass(section, BaseModel):
                yield from _fields(section, f"{prefix}{name}.")


def _set_inside(key: str, value: Any, fields: Mapping[str, FieldInfo]) -> str:
    """A key of the section that takes this value, or else all of its keys."""
    inside = {path: field for path, field in fields.items() if path.rpartition(".")[0] == key}
    fitting = [path for path, one in inside.items() if isinstance(value, str) and value in get_args(one.annotation)]
    if fitting:
        return f"set {fitting[0]}={value}"
    return f"set one of its keys: {', '.join(inside)}" if inside else "correct it"


_BOUNDS = {"ge": "greater than or equal to", "gt": "greater than", "le": "less than or equal to", "lt": "less than"}


def _other_end(kind: str, field: FieldInfo | None) -> str:
    """The other end of a range, for a message that names one."""
    for bound in ("le", "lt") if kind.startswith("greater") else ("ge", "gt"):
        for one in field.metadata if field else ():
            if getattr(one, bound, None) is not None:
                return f" and {_BOUNDS[bound]} {getattr(one, bound)}"
    return ""


def _value(content: Any, parts: Sequence[str]) -> Any:
    """The setting at `section.key`, or the list that it is an item of; `_MISSING`: there is none."""
    for part in parts:
        if isinstance(content, Mapping):
            content = content.get(part, _MISSING)
    return content


def _remedy(parts: list[str], known: list[str]) -> str:
    same_name = [path for path in known if path.split(".")[-1] == parts[-1]]
    alike = same_name or get_close_matches(".".join(parts), known, n=1)
    return f"did you mean {' or '.join(alike)}? Else remove it" if alike else "remove it"


def dotted(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting with its dotted key.

    >>> dict(dotted({"lr": 0.1, "reward": {"alpha": 0.07}}))
    {'lr': 0.1, 'reward.alpha': 0.07}
    """
    for key, value in settings.items():
        if isinstance(value, Mapping) and value:
            yield from dotted(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
