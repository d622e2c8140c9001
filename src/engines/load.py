"""Loads the engine and the strategy that a config names: a built-in one, or a class in the user's own file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from types import NoneType
from typing import Any, cast, get_args, get_type_hints

from ..core.api import Engine, Strategy
from ..core.errors import BadInput
from ..core.user_class import load_user_class, require_members
from ..strategies.dpo import DPO
from ..strategies.grpo import GRPO
from ..strategies.ppo import PPO
from .job import TrainJob

ENGINES: Mapping[str, str] = {"pure_pt": "PurePT", "trl_ppo": "TrlPPO"}
"""Built-in engines: module of this package, and class."""
STRATEGIES: Mapping[str, type] = {"ppo": PPO, "grpo": GRPO, "dpo": DPO}
ENGINE_MEMBERS = "strategies fit save load save_model".split()
STRATEGY_MEMBERS = "critic reference group_size targets loss after_step metrics state_dict load_state_dict".split()


def load_engine(name: str, strategy: str) -> Callable[[TrainJob], Engine]:
    """The engine class of that name. It must list a built-in strategy in `strategies`; a user's own is always tried.
    An engine may give the reason and the remedy for one that it refuses, by name, in `refusals`."""
    remedy = f"use {', '.join(ENGINES)}, or package.module:Class for your own"
    found: Any
    if name in ENGINES:
        try:
            found = getattr(import_module(f".{name}", __package__), ENGINES[name])
        except ModuleNotFoundError as error:
            extra = f"pip install 'askgate[{error.name}]', or set engine: pure_pt"
            raise BadInput(f"{error.name} is not installed", where="engine", remedy=extra) from error
    else:
        found = load_user_class(name, "engine", remedy)
    require_members(found, ENGINE_MEMBERS, name, "an engine", where="engine")
    if ":" not in strategy and strategy not in found.strategies:
        usual = f"{name} does not run {strategy}", f"with engine: {name} use {', '.join(sorted(found.strategies))}"
        what, remedy = getattr(found, "refusals", {}).get(strategy, usual)
        raise BadInput(what, where="strategy", remedy=remedy)
    return cast(Callable[[TrainJob], Engine], found)


def strategy_class(name: str) -> type:
    """The class of a strategy by its name in the config."""
    remedy = f"use {', '.join(STRATEGIES)}, or package.module:Class for your own"
    return STRATEGIES[name] if name in STRATEGIES else load_user_class(name, "strategy", remedy)


def load_strategy(name: str, options: Mapping[str, Any]) -> Strategy:
    """Makes the strategy of that name with these options."""
    made = strategy_class(name)
    known = inspect.signature(made).parameters
    free = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    for key in options:
        if key not in known and not free:
            remedy = f"use one of: {', '.join(known)}" if known else "clear the section with strategy_options: {}"
            raise BadInput(f"{name} has no option {key!r}", where=f"strategy_options.{key}", remedy=remedy)
    _check_types(made, options)
    try:
        strategy = made(**options)
    except TypeError as error:
        what = f"{name} does not take these options ({error})"
        raise BadInput(what, where="strategy_options", remedy=f"see the arguments of {name}") from error
    require_members(strategy, STRATEGY_MEMBERS, name, "a strategy", where="strategy")
    return cast(Strategy, strategy)


def _check_types(made: type, options: Mapping[str, Any]) -> None:
    """Checks options against annotations of plain types: 7.9 is not an int and "no" is not a bool."""
    try:
        hints = get_type_hints(made.__init__)  # type: ignore[misc]
    except NameError:
        return
    for key, value in options.items():
        wanted = get_args(hints[key]) or (hints[key],) if key in hints else ()
        if wanted and set(wanted) <= {bool, int, float, str, NoneType}:
            takes = {*wanted, int} if float in wanted else {*wanted}
            if type(value) not in takes:
                names = " or ".join(one.__name__ for one in wanted if one is not NoneType)
                what = f"{value!r} is not of type {names}"
                raise BadInput(what, where=f"strategy_options.{key}", remedy=f"give a value of type {names}")
