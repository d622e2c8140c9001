"""The index of a run's episodes: one SQLite file in `.askgate/`, made from the logs and never the other way round.

A row holds what is filtered by and where the line lies; the dialogue stays in its file. `by_facts` has all that a count
over a filter reads, and `files` the sums that need no filter. `words` finds text in messages:
FTS5 over trigrams, which knows no word borders and so serves English and Chinese alike. It keeps no text, and an entry
whose row is gone is no longer found.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

VERSION = 2
"""Of the tables. An index with another one is made again."""
NAME = "board.sqlite"
SCHEMA = """
CREATE TABLE files(id INTEGER PRIMARY KEY, path TEXT UNIQUE, stamp TEXT, set_path TEXT, kind TEXT, seed INTEGER,
    step INTEGER, episodes INTEGER, successes INTEGER, asked INTEGER, reward REAL, unreadable INTEGER,
    searched INTEGER DEFAULT 0);
CREATE TABLE episodes(id INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER, line INTEGER, start INTEGER, size INTEGER,
    set_path TEXT, step INTEGER, sample TEXT, task TEXT, level TEXT, lang TEXT, needs INTEGER, asks INTEGER,
    success INTEGER, told INTEGER, turns INTEGER, reward REAL, variance REAL, score REAL);
CREATE INDEX by_file ON episodes(file, line);
CREATE INDEX by_sample ON episodes(sample, set_path);
CREATE INDEX by_set ON episodes(set_path, sample, needs, asks, success, told, turns);
CREATE INDEX by_facts ON episodes(reward, success, asks, needs, task, level, lang, step, variance);
CREATE TABLE judged(step INTEGER, line INTEGER, sample TEXT, seed INTEGER, variance REAL, overall REAL,
    PRIMARY KEY(step, line, sample, seed)) WITHOUT ROWID;
CREATE TABLE facts(name TEXT PRIMARY KEY, value INTEGER);
CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='trigram');
CREATE VIRTUAL TABLE terms USING fts5vocab(words, 'row');
"""


def index_path(root: Path) -> tuple[Path, tempfile.TemporaryDirectory[str] | None]:
    """In the run folder; of a folder that may not be written to, in a temporary one, which is to be cleaned up."""
    folder = root / ".askgate"
    with suppress(OSError):
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder / NAME, None
    borrowed = tempfile.TemporaryDirectory(prefix="askgate-board-")
    return Path(borrowed.name) / NAME, borrowed


def open_store(path: Path) -> sqlite3.Connection:
    """To write. What cannot be understood is thrown away: the logs have it all."""
    with suppress(sqlite3.DatabaseError):
        store = _connect(path)
        if store.execute("PRAGMA user_version").fetchone()[0] == VERSION:
            return store
        store.close()
    for part in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        part.unlink(missing_ok=True)
    store = _connect(path)
    store.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version={VERSION}; COMMIT;")
    return store


def _connect(path: Path) -> sqlite3.Connection:
    store = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    store.execute("PRAGMA journal_mode=WAL")
    store.execute("PRAGMA synchronous=OFF")  # lost in a power cut, it is made again
    store.execute("PRAGMA cache_size=-65536")
    return store


@contextmanager
def reading(path: Path, other: Path | None = None) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write. `other`, a second index, is `other.episodes` and so on."""
    store = sqlite3.connect(_read_only(path), uri=True)
    try:
        store.row_factory = sqlite3.Row
        store.execute("PRAGMA cache_size=-32768")
        if other is not None:
            store.execute("ATTACH ? AS other", (_read_only(other),))
        yield store
    finally:
        store.close()


def _read_only(path: Path) -> str:
    return f"file:{quote(str(path))}?mode=ro"
