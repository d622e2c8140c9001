"""Long logs for short pictures: means over equal stretches of steps, so that a page of 50,000 steps stays readable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

CURVED = ("reward", "success", "kl", "overclar_rate", "need_ask_success", "turns", "entropy")
MOST = 400
"""Points of a curve; a picture has hardly more dots across."""


def thinned(lines: Sequence[Mapping[str, Any]], names: Sequence[str], most: int = MOST) -> list[dict[str, Any]]:
    """Each line stands for a stretch of steps of one seed, at its last step, with the mean of every figure.

    >>> steps = [{"seed": 1, "step": step, "reward": float(step)} for step in (1, 2, 3, 4)]
    >>> thinned(steps, ["reward"], most=2)
    [{'seed': 1, 'step': 2, 'reward': 1.5}, {'seed': 1, 'step': 4, 'reward': 3.5}]
    """
    by_seed: dict[Any, list[Mapping[str, Any]]] = {}
    for line in lines:
        by_seed.setdefault(line["seed"], []).append(line)
    return [one for found in by_seed.values() for one in _stretches(found, names, most)]


def _stretches(lines: Sequence[Mapping[str, Any]], names: Sequence[str], most: int) -> list[dict[str, Any]]:
    width = max(1, -(-len(lines) // most))
    out = []
    for start in range(0, len(lines), width):
        part = lines[start : start + width]
        means = {name: _mean([line.get(name) for line in part]) for name in names}
        known = {name: value for name, value in means.items() if value is not None}
        out.append({"seed": part[-1]["seed"], "step": part[-1]["step"], **known})
    return out


def _mean(values: Sequence[Any]) -> float | None:
    known = [float(value) for value in values if isinstance(value, int | float) and value == value]
    return sum(known) / len(known) if known else None
