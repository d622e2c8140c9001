"""The page of one episode: what the policy was not told, how the simulator read each question, the reward by term, the
baseline's episode of the same sample beside it, and the figures that the training recorded for each token."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import groupby
from operator import attrgetter
from pathlib import Path, PurePosixPath
from statistics import fmean
from typing import Any

import msgspec
from markupsafe import Markup

from askgate_env.types import Episode, Sample
from askgate_env.user_simulator import AskReading, read_ask, reply

from ..core.api import TokenTrace
from ..core.jsonl import decode_or_none
from ..core.paths import token_file
from ..pages.render import figure
from .episodes import PAGE_SIZE, Filter, highlighter, list_episodes, parse_filter, read_episode, whole_number
from .index import find_sample, reading
from .render import render
from .run_files import read_inside
from .runs import Run

OTHERS = 40  # episodes of the same sample that are listed below an episode
BOUNDS = {"logp": (0.1, 1.0, 3.0), "kl": (0.05, 0.3, 1.0)}
"""Absolute values from which a token gets a darker shade. Those of the critic's values are quartiles of the episode."""
_traces = msgspec.json.Decoder(list[TokenTrace])
_ROWS = "SELECT e.*, f.path, f.episodes, f.kind FROM episodes e JOIN files f ON f.id = e.file "


@dataclass(frozen=True)
class ShownEpisode:
    """An episode with what the page adds to it."""

    row: sqlite3.Row
    episode: Episode
    readings: Mapping[int, tuple[AskReading, bool]]
    """By turn index: how the simulator reads the question, and whether its reply is the one in the episode."""
    differs: set[int] = field(default_factory=set)  # places of the turns that the other side does not have


def episode_page(run: Run, query: Mapping[str, str]) -> Markup | None:
    """One episode by file and line, which are the same on every machine that has the run."""
    line = whole_number(query.get("line", ""), default=0) - 1
    with reading(run.indexer.path) as store:
        row = store.execute(f"{_ROWS} WHERE f.path = ? AND e.line = ?", (query.get("file", ""), line)).fetchone()
        episode = read_episode(run, row) if row else None
        if episode is None:
            return None
        others = store.execute(
            f"{_ROWS} WHERE e.sample = ? AND e.id <> ? ORDER BY e.id LIMIT ?", (row["sample"], row["id"], OTHERS)
        ).fetchall()
        sample = find_sample(store, run.root, row["sample"], episode.turns[0].text if episode.turns else "")
        neighbours = _neighbours(store, run.name, row, query)
    this, other = _shown(row, episode, sample), _counterpart(run, row, others, sample)
    if other is not None:
        this, other = _with_differences(this, other)
    return render(
        "episode.html",
        run=run.name,
        this=this,
        other=other,
        sample=sample,
        others=others,
        neighbours=neighbours,
        highlight=highlighter(query.get("q", "")),
        tokens=token_view(run, row) if row["kind"] == "training" else None,
    )


def _neighbours(store: sqlite3.Connection, run: str, row: sqlite3.Row, query: Mapping[str, str]) -> dict[str, Any]:
    """Links to the list that the reader comes from (`back`) and to the episodes `before` and `after` this one.

    The neighbours are those in the list of the address if it is still the same, else those in the file.
    """
    wanted = replace(parse_filter(query), page="")
    place = whole_number(query.get("at", ""), default=0) - 1
    if place >= 0:
        start = max(0, place - 1)
        around = list_episodes(store, wanted, start, place - start + 2)
        here = place - start
        if len(around) > here and around[here]["id"] == row["id"]:
            back = {**wanted.query(run), "page": str(place // PAGE_SIZE + 1)}
            before = _link(around[here - 1], wanted, run, place) if here else None
            after = _link(around[here + 1], wanted, run, place + 2) if len(around) > here + 1 else None
            return {"back": back, "before": before, "after": after}
    file = {"run": run, "file": row["path"]}
    before = {**file, "line": row["line"]} if row["line"] > 0 else None
    after = {**file, "line": row["line"] + 2} if row["line"] + 1 < row["episodes"] else None
    return {"back": {"run": run, "set": row["set_path"]}, "before": before, "after": after}


def _link(row: sqlite3.Row, wanted: Filter, run: str, at: int) -> dict[str, Any]:
    return {**wanted.query(run), "file": row["path"], "line": row["line"] + 1, "at": at}


def _shown(row: sqlite3.Row, episode: Episode, sample: Sample | None) -> ShownEpisode:
    """The episode with the simulator's reading of each question, if the sample is known."""
    readings = {}
    for place, turn in enumerate(episode.turns):
        if turn.act == "ask" and sample is not None:
            said = episode.turns[place + 1].text if place + 1 < len(episode.turns) else None
            readings[place] = read_ask(sample, turn.text), said in (None, reply(sample, turn.text))
    return ShownEpisode(row, episode, readings)


def _counterpart(
    run: Run, row: sqlite3.Row, others: Sequence[sqlite3.Row], sample: Sample | None
) -> ShownEpisode | None:
    """The baseline's episode of the same evaluation; for the baseline itself, that of its last step."""
    if row["kind"] != "held-out":
        return None
    folder = PurePosixPath(row["path"]).parent
    steps = [one for one in others if one["kind"] == "held-out" and one["step"] is not None]
    beside = [one for one in steps if PurePosixPath(one["path"]).parent == folder]
    wanted = [one for one in beside if (one["step"] == 0) == (row["step"] != 0)]
    if not wanted:
        return None
    found = max(wanted, key=lambda one: int(one["step"]))
    episode = read_episode(run, found)
    return _shown(found, episode, sample) if episode else None


def _with_differences(this: ShownEpisode, other: ShownEpisode) -> tuple[ShownEpisode, ShownEpisode]:
    """Both episodes, each with the places of its turns that the other one does not have."""
    said = attrgetter("by", "act", "tool", "text")
    one, two = (list(map(said, side.episode.turns)) for side in (this, other))
    mine, theirs = set(range(len(one))), set(range(len(two)))
    for block in SequenceMatcher(None, one, two, autojunk=False).get_matching_blocks():
        mine -= set(range(block.a, block.a + block.size))
        theirs -= set(range(block.b, block.b + block.size))
    return replace(this, differs=mine), replace(other, differs=theirs)


def token_view(run: Run, row: sqlite3.Row) -> dict[str, Any] | None:
    """Tokens of a training episode by turn of the policy; None where they were not recorded.

    Each has its shades (CSS classes), and the means of their figures are beside them.
    """
    found = decode_or_none(_traces, read_inside(run.root, token_file(Path(row["path"])).as_posix()))
    trace = next((one for one in found or () if one.line == row["line"]), None)
    if trace is None:
        return None
    columns = {name: values for name in ("logp", "kl", "value") if (values := getattr(trace, name))}
    bounds = {name: BOUNDS.get(name) or _quartiles(values) for name, values in columns.items()}

    def shown(place: int) -> dict[str, str]:
        figures = {name: values[place] for name, values in columns.items()}
        shades = (f"{name[0]}{_shade(name, value, bounds[name])}" for name, value in figures.items())
        tip = ", ".join(f"{name} {figure(value, digits=3)}" for name, value in figures.items())
        return {"text": trace.text[place], "shades": " ".join(shades), "tip": tip}

    places = groupby(range(len(trace.text)), key=lambda place: trace.turns[place])
    turns = [(turn, [shown(place) for place in group]) for turn, group in places]
    return {"turns": turns, "means": {name: fmean(values) for name, values in columns.items()}}


def _shade(name: str, value: float, bounds: Sequence[float]) -> int:
    """0 (pale) to 3: the darker, the less probable, the further from the reference, or the lower the value."""
    return sum(value < bound for bound in bounds) if name == "value" else sum(abs(value) >= bound for bound in bounds)


def _quartiles(values: Sequence[float]) -> tuple[float, ...]:
    ordered = sorted(values)
    return tuple(ordered[len(ordered) * part // 4] for part in (1, 2, 3))
