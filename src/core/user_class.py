"""A class in the user's own file, named in a config as `package.module:Class`."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from .errors import BadInput

STARTS = {"src": "python -m src.core.launch", "askgate": "askgate train"}
"""The two names of the package, and what starts a process under each."""
HERE = __name__.partition(".")[0]


def own_class(name: str, where: str, remedy: str) -> type[Any]:
    """`where` is the key of the config that names it."""
    module, colon, member = name.partition(":")
    if not (module and colon and member):
        raise BadInput(f"unknown {where} {name!r}", where=where, remedy=remedy)
    other = next((one for one in STARTS if one != HERE), "")
    try:
        found = vars(import_module(module)).get(member)
    except ModuleNotFoundError as error:
        if error.name == other and not module.startswith(f"{other}."):
            raise _two_names(module, other, where) from error
        raise BadInput(f"{name}: {error}", where=where, remedy=remedy) from error
    if _is_this_package(other):
        raise _two_names(module, other, where)
    if not isinstance(found, type):
        raise BadInput(f"{module} has no class {member!r}", where=where, remedy=remedy)
    return found


def _is_this_package(name: str) -> bool:
    """Loaded, and no package of the user's that happens to have that name."""
    folders = vars(sys.modules[name]).get("__path__", ()) if name in sys.modules else ()
    return any((Path(folder) / "core" / Path(__file__).name).is_file() for folder in folders)


def _two_names(module: str, other: str, where: str) -> BadInput:
    """Every class would be there twice, and neither copy would know the other's."""
    return BadInput(
        f"{module} imports from {other}, and this process runs as {HERE}; one process must not load both",
        where=where,
        remedy=f"import from {HERE} in that file, or start the run with {STARTS[other]}",
    )
