"""Loads the engine that a config names: a built-in one, or a class in the user's own file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, cast

from ..core.api import Engine
from ..core.errors import BadInput
from ..core.user_class import load_user_class
from .job import TrainJob

BUILT_IN: Mapping[str, tuple[str, str]] = {"pure_pt": (".pure_pt", "PurePT"), "trl_ppo": (".trl_ppo", "TrlPPO")}
REQUIRED = "strategies fit save load save_model".split()


def load_engine(name: str, strategy: str) -> Callable[[TrainJob], Engine]:
    """The engine class of that name. It must list a built-in strategy in `strategies`; a user's own is always tried."""
    remedy = f"use {', '.join(BUILT_IN)}, or package.module:Class for your own"
    found = _built_in(*BUILT_IN[name]) if name in BUILT_IN else load_user_class(name, "engine", remedy)
    if lacking := [member for member in REQUIRED if not hasattr(found, member)]:
        what = f"{name} is not an engine: it lacks {', '.join(lacking)}"
        raise BadInput(what, where="engine", remedy="see Engine in src/core/api.py")
    if ":" not in strategy and strategy not in found.strategies:
        raise BadInput(
            f"{name} does not run {strategy}",
            where="strategy",
            remedy=f"with engine: {name} use {', '.join(sorted(found.strategies))}",
        )
    return cast(Callable[[TrainJob], Engine], found)


def _built_in(module: str, name: str) -> Any:
    return vars(import_module(module, __package__))[name]
