"""Loads the strategy that a config names: a built-in one, or a class in the user's own file."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import NoneType
from typing import Any, cast, get_args, get_type_hints

from ..core.api import Strategy
from ..core.errors import BadInput
from ..core.user_class import load_user_class
from .dpo import DPO
from .grpo import GRPO
from .ppo import PPO

BUILT_IN: Mapping[str, type] = {"ppo": PPO, "grpo": GRPO, "dpo": DPO}
REQUIRED = "critic reference group_size targets loss after_step metrics state_dict load_state_dict".split()


def strategy_class(name: str) -> type:
    """The class of a strategy by its name in the config."""
    remedy = f"use {', '.join(BUILT_IN)}, or package.module:Class for your own"
    return BUILT_IN[name] if name in BUILT_IN else load_user_class(name, "strategy", remedy)


def load_strategy(name: str, options: Mapping[str, Any]) -> Strategy:
    """Makes the strategy of that name with these options."""
    made = strategy_class(name)
    known = inspect.signature(made).parameters
    free = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    for key in options:
        if key not in known and not free:
            what, remedy = f"{name} has no option {key!r}", f"use one of: {', '.join(known)}"
            raise BadInput(what, where=f"strategy_options.{key}", remedy=remedy)
    _check_types(made, options)
    try:
        strategy = made(**options)
    except TypeError as error:
        what = f"{name} does not take these options ({error})"
        raise BadInput(what, where="strategy_options", remedy=f"see the arguments of {name}") from error
    lacking = [member for member in REQUIRED if not hasattr(strategy, member)]
    if lacking:
        raise BadInput(
            f"{name} is not a strategy: it lacks {', '.join(lacking)}",
            where="strategy",
            remedy="see Strategy in src/core/api.py",
        )
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
