"""The episode browser: filters, search in the messages, and a list."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict

from markupsafe import Markup

from askgate_env.types import Episode

from ..pages.render import plain
from .index import parse_line, reading
from .query import ORDERS, PAGE_SIZE, Filter, episode_totals, list_episodes, with_default
from .render import highlighter, render
from .run_files import OutsideRunFolder, open_inside
from .runs import Board, Run
from .sets import list_sets


def episodes_page(board: Board, run: Run, wanted: Filter) -> Markup:
    with reading(run.indexer.path) as store:
        sets = [(one.path, one.label) for one in list_sets(store)]
        wanted = with_default(store, wanted)
        episodes = list_part(run, wanted, store)
    # The first run needs no name in the address.
    name = run.name if run.name != board.names[0] else ""
    return render("episodes.html", run=name, given=asdict(wanted), sets=sets, orders=ORDERS, episodes=episodes)


def list_part(run: Run, wanted: Filter, store: sqlite3.Connection) -> Markup:
    """The page of the list that was asked for, with totals over all its pages."""
    wanted = with_default(store, wanted)
    totals = episode_totals(store, wanted)
    last = max(1, -(-int(totals["n"]) // PAGE_SIZE))
    rows = [(row, _first_message(run, row)) for row in list_episodes(store, wanted)]
    return render(
        "episode_list.html",
        run=run.name,
        wanted=wanted,
        rows=rows,
        totals=totals,
        notes=_index_notes(run),
        here=min(wanted.number, last),
        last=last,
        highlight=highlighter(wanted.q),
    )


def _index_notes(run: Run) -> list[str]:
    """What the index does not cover yet, or cannot."""
    found = run.indexer.progress()
    notes = [run.index.error] if run.index.error else []
    if found.indexed < found.files:
        files = f"{found.indexed:,} / {found.files:,}"
        notes.append(plain(f"reading files: {files}", f"正在读取文件：{files}"))
    if found.searchable < found.indexed:
        files = f"{found.searchable:,} / {found.indexed:,}"
        notes.append(plain(f"files that a search covers so far: {files}", f"正在建立搜索索引：{files}"))
    if n := found.unreadable:
        notes.append(plain(f"{n:,} lines cannot be read as episodes", f"{n:,} 行无法读取"))
    return notes


def _first_message(run: Run, row: sqlite3.Row) -> str:
    episode = read_episode(run, row)
    return episode.turns[0].text if episode and episode.turns else ""


def read_episode(run: Run, row: sqlite3.Row) -> Episode | None:
    """The episode as it is now. None where its file was replaced meanwhile and the line cannot be read."""
    try:
        with open_inside(run.root, row["path"]) as handle:
            handle.seek(row["start"])
            found = parse_line(handle.read(row["size"]))
    except OutsideRunFolder:
        return None
    return found[1] if found else None
