"""A class in the user's own file, named in a config as `package.module:Class`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .errors import BadInput


def own_class(name: str, where: str, remedy: str) -> type[Any]:
    """`where` is the key of the config that names it."""
    module, colon, member = name.partition(":")
    if not (module and colon and member):
        raise BadInput(f"unknown {where} {name!r}", where=where, remedy=remedy)
    try:
        found = vars(import_module(module)).get(member)
    except ModuleNotFoundError as error:
        raise BadInput(f"{name}: {error}", where=where, remedy=remedy) from error
    if not isinstance(found, type):
        raise BadInput(f"{module} has no class {member!r}", where=where, remedy=remedy)
    return found
