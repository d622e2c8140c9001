"""Loads a class from the user's own file, named in a config as `package.module:Class`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from .errors import BadInput

STARTS = {"src": "python -m src.core.launch", "askgate": "askgate train"}
"""The two names of the package, and the command that starts a process under each."""
HERE = __name__.partition(".")[0]


def load_user_class(name: str, where: str, remedy: str) -> type[Any]:
    """The class; `where` is the config key that names it."""
    module, colon, member = name.partition(":")
    if not (module and colon and member):
        raise BadInput(f"unknown {where} {name!r}", where=where, remedy=remedy)
    other = next((one for one in STARTS if one != HERE), "")
    try:
        member_class = vars(import_module(module)).get(member)
    except ModuleNotFoundError as error:
        if error.name == other and not module.startswith(f"{other}."):
            raise _two_names(module, other, where) from error
        raise BadInput(f"{name}: {error}", where=where, remedy=remedy) from error
    if _is_this_package(other):
        raise _two_names(module, other, where)
    if not isinstance(member_class, type):
        raise BadInput(f"{module} has no class {member!r}", where=where, remedy=remedy)
    return member_class


def require_members(thing: object, members: Sequence[str], name: str, kind: str, where: str) -> None:
    """Refuses a class or an object that lacks a member of its protocol in `core.api`, such as `Engine`."""
    if lacking := [member for member in members if not hasattr(thing, member)]:
        what = f"{name} is not {kind}: it lacks {', '.join(lacking)}"
        raise BadInput(what, where=where, remedy=f"see {kind.split()[1].capitalize()} in src/core/api.py")


def _is_this_package(name: str) -> bool:
    """Whether the loaded package of that name is ours, not one of the user's."""
    folders = vars(sys.modules[name]).get("__path__", ()) if name in sys.modules else ()
    return any((Path(folder) / "core" / Path(__file__).name).is_file() for folder in folders)


def _two_names(module: str, other: str, where: str) -> BadInput:
    """Refuses a process with both names: every class would exist twice, and the copies would not match."""
    return BadInput(
        f"{module} imports from {other}, and this process runs as {HERE}; one process must not load both",
        where=where,
        remedy=f"import from {HERE} in that file, or start the run with {STARTS[other]}",
    )
