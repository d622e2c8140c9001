"""Samples of the pools in a run folder, found by id: gold answer and hidden information, which no episode has."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import msgspec

from askgate_env.types import Sample

from ..core.jsonl import decode_or_none
from .run_files import file_stamp, only_inside, read_inside, read_lines

_ID = re.compile(rb'\{"id":"([^"\\]+)"')
_sample = msgspec.json.Decoder(Sample)


def pool_files(root: Path) -> list[str]:
    """JSONL files in `data/` that may be pools."""
    found = [file.relative_to(root).as_posix() for file in sorted((root / "data").rglob("*.jsonl"))]
    allowed = only_inside(root, found)
    return [name for name in found if name in allowed and not name.startswith("data/episodes/")]


def index_samples(store: sqlite3.Connection, root: Path) -> None:
    """Bring the places of the samples up to date."""
    files = pool_files(root)
    known = dict(store.execute("SELECT path, stamp FROM pools").fetchall())
    for path in known.keys() - set(files):
        _drop(store, path)
    for path in files:
        stamp = str(file_stamp(root / path))
        if known.get(path) != stamp:
            _drop(store, path)
            store.executemany("INSERT INTO samples(id, path, start, size) VALUES(?,?,?,?)", _places(root, path))
            store.execute("INSERT INTO pools(path, stamp) VALUES(?,?)", (path, stamp))
            store.commit()


def _drop(store: sqlite3.Connection, path: str) -> None:
    store.execute("DELETE FROM samples WHERE path=?", (path,))
    store.execute("DELETE FROM pools WHERE path=?", (path,))


def _places(root: Path, path: str) -> list[tuple[str, str, int, int]]:
    """Id, path, offset and size of each sample; empty for a file of something else."""
    places: list[tuple[str, str, int, int]] = []
    for _, start, raw in read_lines(root, path):
        found = _ID.match(raw)
        if not places and (found is None or decode_or_none(_sample, raw) is None):
            return []
        if found is not None:
            places.append((found[1].decode(errors="replace"), path, start, len(raw)))
    return places


def find_sample(store: sqlite3.Connection, root: Path, name: str, prompt: str | None = None) -> Sample | None:
    """The sample of that id, and of that prompt: a pool that was built again may have another sample of the same id."""
    for row in store.execute("SELECT path, start, size FROM samples WHERE id=?", (name,)):
        found = decode_or_none(_sample, read_inside(root, row["path"], row["start"], row["size"]))
        if found is not None and found.id == name and prompt in (None, found.prompt):
            return found
    return None


def held_out_ids(store: sqlite3.Connection, n: int) -> list[str]:
    """Ids of the first samples of the held-out set; where there is none, of any pool."""
    rows = store.execute("SELECT id FROM samples ORDER BY path LIKE '%shadow%' DESC, path, start LIMIT ?", (n,))
    return [row["id"] for row in rows]
