"""The token view of an episode: figures that the training recorded for each token of the policy."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import fmean

import msgspec

from ..core.api import TokenTrace
from ..core.paths import token_file
from ..pages.render import figure
from .run_files import OutsideRunFolder, open_inside
from .runs import Run

BOUNDS = {"logp": (0.1, 1.0, 3.0), "kl": (0.05, 0.3, 1.0)}
"""Absolute values from which a token gets a darker shade. Values have no natural scale: theirs are quartiles."""
_traces = msgspec.json.Decoder(list[TokenTrace])


@dataclass(frozen=True)
class ShownToken:
    """A token with its colour."""

    text: str
    shades: str
    """Its shade by each figure, as classes of the stylesheet."""
    tip: str


@dataclass(frozen=True)
class TokenView:
    """Tokens of an episode by turn of the policy, and the means of their recorded figures."""

    turns: list[tuple[int, list[ShownToken]]]
    means: dict[str, float]


def token_view(run: Run, row: sqlite3.Row) -> TokenView | None:
    """The tokens of a training episode; None where they were not recorded."""
    try:
        with open_inside(run.root, token_file(Path(row["path"])).as_posix()) as handle:
            found = _traces.decode(handle.read())
    except (OutsideRunFolder, msgspec.DecodeError):
        return None
    trace = next((one for one in found if one.line == row["line"]), None)
    return _view(trace) if trace else None


def _view(trace: TokenTrace) -> TokenView:
    columns = {name: values for name in ("logp", "kl", "value") if (values := getattr(trace, name))}
    bounds = {name: BOUNDS.get(name) or _quartiles(values) for name, values in columns.items()}

    def shown(place: int) -> ShownToken:
        figures = {name: values[place] for name, values in columns.items()}
        shades = (f"{name[0]}{_shade(name, value, bounds[name])}" for name, value in figures.items())
        tip = ", ".join(f"{name} {figure(value, digits=3)}" for name, value in figures.items())
        return ShownToken(trace.text[place], " ".join(shades), tip)

    places = groupby(range(len(trace.text)), key=lambda place: trace.turns[place])
    turns = [(turn, [shown(place) for place in group]) for turn, group in places]
    return TokenView(turns, {name: fmean(values) for name, values in columns.items()})


def _shade(name: str, value: float, bounds: Sequence[float]) -> int:
    """0 (pale) to 3: the darker, the less probable, the further from the reference, or the lower the value."""
    return sum(value < bound for bound in bounds) if name == "value" else sum(abs(value) >= bound for bound in bounds)


def _quartiles(values: Sequence[float]) -> tuple[float, ...]:
    ordered = sorted(values)
    return tuple(ordered[len(ordered) * part // 4] for part in (1, 2, 3))
