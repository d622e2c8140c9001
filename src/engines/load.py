"""From a name in a config to an engine: a built-in one, or a class in the user's own file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, cast

from ..core.api import Engine
from ..core.errors import BadInput
from .job import TrainJob

BUILT_IN: Mapping[str, tuple[str, str]] = {"pure_pt": (".pure_pt", "PurePT"), "trl_ppo": (".trl_ppo", "TrlPPO")}
WANTED = "strategies fit save load save_model".split()


def load_engine(name: str, strategy: str) -> Callable[[TrainJob], Engine]:
    """The class of that name. A built-in strategy must be one that it says it runs; one's own is always tried."""
    remedy = f"use {', '.join(BUILT_IN)}, or package.module:Class for your own"
    module, member = BUILT_IN[name] if name in BUILT_IN else _parts(name, remedy)
    try:
        found: Any = vars(import_module(module, __package__)).get(member)
    except ModuleNotFoundError as error:
        raise BadInput(f"{name}: {error}", where="engine", remedy=remedy) from error
    if not isinstance(found, type):
        raise BadInput(f"{module} has no class {member!r}", where="engine", remedy=remedy)
    if lacking := [wanted for wanted in WANTED if not hasattr(found, wanted)]:
        what = f"{name} is no engine: it lacks {', '.join(lacking)}"
        raise BadInput(what, where="engine", remedy="see Engine in src/core/api.py")
    engine: Any = found
    if ":" not in strategy and strategy not in engine.strategies:
        raise BadInput(
            f"{name} does not run {strategy}",
            where="strategy",
            remedy=f"with engine: {name} use {', '.join(sorted(engine.strategies))}",
        )
    return cast(Callable[[TrainJob], Engine], found)


def _parts(name: str, remedy: str) -> tuple[str, str]:
    """`package.module:Class`."""
    module, colon, member = name.partition(":")
    if not (module and colon and member):
        raise BadInput(f"unknown engine {name!r}", where="engine", remedy=remedy)
    return module, member
