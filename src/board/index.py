"""The index of a run's episodes: one SQLite file in `.askgate/`, made from the logs and never the other way round.

A row has the columns of the filters, and the place of the line; the dialogue stays in its file. The SQL index
`by_facts` covers every count over a filter, and `files` has the totals that need no filter. `words` finds text in
messages: FTS5 over trigrams, which needs no word boundaries and so works for English and Chinese. It stores no text,
and an entry whose row was deleted is not found any more. Samples of the pools are found by id: they have the gold
answer and the hidden information, which no episode has.

First every episode gets its row, which takes seconds; then its text is added, which takes longer: one can filter and
read before one can search. Files of episodes appear whole and are replaced as a whole, so name, size and time of a file
tell whether it changed.
"""

from __future__ import annotations

import re
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import msgspec

from askgate_env.types import Episode, Sample

from ..config.profile import ledgers
from ..core.errors import BadInput
from ..core.jsonl import decode_or_none
from ..eval.metrics import is_lucky, is_right
from ..reward.recorded_episodes import RecordedEpisode
from ..runtime.disk import explain_disk_errors
from ..scoring.ledger import unseal
from ..scoring.scores import Score
from ..scoring.types import ScoringEntry
from .run_files import EpisodeFile, episode_files, file_stamp, only_inside, read_inside, read_lines

VERSION = 6  # version of the tables. An index with another one is rebuilt
NAME = "board.sqlite"
SCHEMA = Path(__file__).with_name("schema.sql")
_TRAINING = b'"sample":"train/'
BATCH = 2000  # episodes per transaction
TEXTS = "worded"  # counter of the texts in the index, including those whose row is gone
T = TypeVar("T")
_episode = msgspec.json.Decoder(Episode)
_recorded = msgspec.json.Decoder(RecordedEpisode)
_score = msgspec.json.Decoder(Score)
_sample = msgspec.json.Decoder(Sample)
_ID = re.compile(rb'\{"id":"([^"\\]+)"')


@dataclass(frozen=True)
class Progress:
    """Progress of the index: files found, indexed and searchable; episodes; lines that cannot be read."""

    files: int
    indexed: int
    searchable: int
    episodes: int
    unreadable: int


class Indexer:
    """`update()` brings the index up to date. It may be called from any thread; only one works at a time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path, self._temporary = index_path(root)
        try:
            with explain_disk_errors(self.path, "start the board again; it writes nothing but this index"):
                self._store = open_store(self.path)
        except BadInput:
            _remove(self.path)
            raise
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._files = 0

    def close(self) -> None:
        self._stop.set()
        with self._lock:
            self._store.close()
        if self._temporary is not None:
            self._temporary.cleanup()

    def update(self) -> None:
        with self._lock:
            if self._stop.is_set():
                return
            try:
                self._update()
            except sqlite3.Error as error:
                # Another board of this folder may be writing; the second one leaves it the lock.
                self._store.rollback()
                raise BadInput(
                    f"the index is busy or cannot be written ({error})", where=str(self.path), remedy="check the disk"
                ) from error

    def _update(self) -> None:
        files = episode_files(self.root)
        self._files = len(files)
        present = {one.path for one in files}
        for number, path in self._store.execute("SELECT id, path FROM files").fetchall():
            if path not in present:  # a run resumed from an older step, or another run in this folder
                self._drop(number)
        _read_judge_scores(self._store, self.root)
        self._work_in_batches(self._index_file, files)
        index_samples(self._store, self.root)
        self._drop_old_text()
        waiting = self._store.execute("SELECT id, path FROM files WHERE searched=0 ORDER BY id").fetchall()
        self._work_in_batches(self._index_text, waiting)

    def _work_in_batches(self, work: Callable[[T], int], items: Iterable[T]) -> None:
        """Commit after every BATCH episodes, so that new rows become visible. `work` returns its number of episodes."""
        done = 0
        for item in items:
            if self._stop.is_set():
                break
            done += work(item)
            if done >= BATCH:
                self._store.commit()
                done = 0
        self._store.commit()

    def progress(self) -> Progress:
        """Progress; the number of files is that of the last update."""
        with reading(self.path) as store:
            row = store.execute(
                "SELECT count(*), total(searched), total(episodes), total(unreadable) FROM files"
            ).fetchone()
        return Progress(self._files, *(int(value) for value in row))

    def _drop(self, number: int) -> None:
        self._store.execute("DELETE FROM episodes WHERE file=?", (number,))
        self._store.execute("DELETE FROM files WHERE id=?", (number,))

    def _index_file(self, one: EpisodeFile) -> int:
        """Index a file unless it is unchanged, and return the number of new rows."""
        stamp = str([file_stamp(self.root / path) for path in (one.path, one.scores) if path])
        known = self._store.execute("SELECT id, stamp FROM files WHERE path=?", (one.path,)).fetchone()
        if known and known[1] == stamp:
            return 0
        if known:
            self._drop(known[0])
        put = self._store.execute(
            "INSERT INTO files(path, stamp, set_path, kind, seed, step) VALUES(?,?,?,?,?,?)",
            (one.path, stamp, one.set, one.kind, one.seed, one.step),
        )
        number = put.lastrowid
        scores = _scores(self.root, one.scores)
        rows, unreadable = [], 0
        for line, start, raw in read_lines(self.root, one.path):
            found = parse_line(raw)
            if found is None:
                unreadable += 1
                continue
            name, episode = found
            score = scores.get(name) or self._training_score(one, line, episode)
            rows.append((number, line, start, len(raw), one.set, one.step, *_columns(episode), *score))
        placeholders = ",".join("?" * 19)
        self._store.executemany(
            "INSERT INTO episodes(file, line, start, size, set_path, step, sample, task, level, lang, needs, asks, "
            f"right, lucky, told, turns, reward, variance, score) VALUES({placeholders})",
            rows,
        )
        self._store.execute(
            "UPDATE files SET unreadable=?, (episodes, right, lucky, asked, reward) = (SELECT count(*), total(right), "
            "total(lucky), total(asks > 0), total(reward) FROM episodes WHERE file=?) WHERE id=?",
            (unreadable, number, number),
        )
        return len(rows)

    def _training_score(self, one: EpisodeFile, line: int, episode: Episode) -> tuple[float | None, float | None]:
        """Variance and overall judge score of a live-scored training episode; a pair of None for any other."""
        if one.kind != "training" or not episode.live:
            return None, None
        row = self._store.execute(
            "SELECT variance, overall FROM judged WHERE step=? AND line=? AND sample=? AND seed=coalesce(?, seed)",
            (one.step, line, episode.sample_id, one.seed),
        ).fetchone()
        return row or (None, None)

    def _index_text(self, file: tuple[int, str]) -> int:
        """Make the rows of a file searchable, and return their number."""
        number, path = file
        claimed = self._store.execute("UPDATE files SET searched=1 WHERE id=? AND searched=0", (number,))
        if not claimed.rowcount:
            return 0  # another board of this folder was faster
        ids = dict(self._store.execute("SELECT line, id FROM episodes WHERE file=?", (number,)).fetchall())
        texts = (
            (ids[line], text_of(found[1]))
            for line, _, raw in read_lines(self.root, path)
            if line in ids and (found := parse_line(raw))
        )
        self._store.executemany("INSERT INTO words(rowid, text) VALUES(?,?)", texts)
        _set_counter(self._store, TEXTS, _counter(self._store, TEXTS) + len(ids))
        return len(ids)

    def _drop_old_text(self) -> None:
        """Rebuild the text once most of it belongs to rows that are gone."""
        live = self._store.execute("SELECT count(*) FROM episodes").fetchone()[0]
        if _counter(self._store, TEXTS) > 2 * live + BATCH:
            self._store.execute("INSERT INTO words(words) VALUES('delete-all')")
            self._store.execute("UPDATE files SET searched=0")
            _set_counter(self._store, TEXTS, 0)


def _counter(store: sqlite3.Connection, name: str) -> int:
    row = store.execute("SELECT value FROM facts WHERE name=?", (name,)).fetchone()
    return row[0] if row else 0


def _set_counter(store: sqlite3.Connection, name: str, value: int) -> None:
    store.execute("INSERT OR REPLACE INTO facts VALUES(?, ?)", (name, value))


def parse_line(raw: bytes) -> tuple[str, Episode] | None:
    """Id and episode of a line, recorded or logged; None where it is neither."""
    if raw.startswith(b'{"id"'):
        found = decode_or_none(_recorded, raw)
        return (found.id, found.episode) if found else None
    episode = decode_or_none(_episode, raw)
    return ("", episode) if episode else None


def text_of(episode: Episode) -> str:
    """All messages and thoughts. Two newlines after each: a search never matches across two messages, and every two
    characters have a third behind them."""
    parts = (part for turn in episode.turns for part in (turn.thought, turn.text) if part)
    return "".join(f"{part}\n\n" for part in (episode.sample_id, *parts))


def _columns(one: Episode) -> tuple[object, ...]:
    """Values of the columns from `sample` to `reward`."""
    return (
        one.sample_id, one.task, one.level, one.lang, one.needs_clarification, one.asks, is_right(one), is_lucky(one),
        one.received_info, one.policy_turns, sum(one.reward.values()),
    )  # fmt: skip


def _scores(root: Path, path: str) -> dict[str, tuple[float | None, float | None]]:
    """Judge scores of recorded episodes: variance and overall score by id."""
    found: dict[str, tuple[float | None, float | None]] = {}
    for _, _, raw in read_lines(root, path) if path else ():
        score = decode_or_none(_score, raw)
        if score and score.overall is not None:
            found[score.id] = (score.variance, score.overall)
    return found


def _read_judge_scores(store: sqlite3.Connection, root: Path) -> None:
    """Adds the judge scores of training episodes that were appended to the ledgers, one per gate profile.

    They are scorings of the sample `train/SEED/STEP/ROW/SAMPLE`, where ROW is the row in the batch. A ledger that
    became shorter was replaced; all scores are then read again.
    """
    try:
        there = {path.as_posix(): root / path for path in ledgers() if (root / path).is_file()}
    except BadInput:  # a profile cannot be read; the lights of the rounds say so
        return
    if any(_counter(store, name) > path.stat().st_size for name, path in there.items()):
        store.execute("DELETE FROM judged")
        for name in there:
            _set_counter(store, name, 0)
    for name in there:
        end = _counter(store, name)
        for _, start, raw in read_lines(root, name, end):
            if not raw.endswith(b"\n"):
                break
            end = start + len(raw)
            if _TRAINING in raw:
                _add_judge_score(store, raw)
        _set_counter(store, name, end)


def _add_judge_score(store: sqlite3.Connection, raw: bytes) -> None:
    """Adds the score in a line of a ledger, unless it is of something else than a training episode."""
    try:
        entry = unseal(raw.rstrip()).entry
        if isinstance(entry, ScoringEntry) and entry.overall is not None:
            _, seed, step, row, sample = entry.sample.split("/", 4)
            place = (int(step), int(row), sample, int(seed))
            store.execute("INSERT OR REPLACE INTO judged VALUES(?,?,?,?,?,?)", (*place, entry.variance, entry.overall))
    except ValueError:
        return  # not a line of a ledger, or another kind of sample


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
        _drop_pool(store, path)
    for path in files:
        stamp = str(file_stamp(root / path))
        if known.get(path) != stamp:
            _drop_pool(store, path)
            store.executemany("INSERT INTO samples(id, path, start, size) VALUES(?,?,?,?)", _sample_places(root, path))
            store.execute("INSERT INTO pools(path, stamp) VALUES(?,?)", (path, stamp))
            store.commit()


def _drop_pool(store: sqlite3.Connection, path: str) -> None:
    store.execute("DELETE FROM samples WHERE path=?", (path,))
    store.execute("DELETE FROM pools WHERE path=?", (path,))


def _sample_places(root: Path, path: str) -> list[tuple[str, str, int, int]]:
    """Id, path, offset and size of each sample; empty if the file has other records."""
    places: list[tuple[str, str, int, int]] = []
    for _, start, raw in read_lines(root, path):
        found = _ID.match(raw)
        if not places and (found is None or decode_or_none(_sample, raw) is None):
            return []
        if found is not None:
            places.append((found[1].decode(errors="replace"), path, start, len(raw)))
    return places


def find_sample(store: sqlite3.Connection, root: Path, name: str, prompt: str | None = None) -> Sample | None:
    """The sample with this id, and this prompt if given: a rebuilt pool may use the same id for another sample."""
    for row in store.execute("SELECT path, start, size FROM samples WHERE id=?", (name,)):
        found = decode_or_none(_sample, read_inside(root, row["path"], row["start"], row["size"]))
        if found is not None and found.id == name and prompt in (None, found.prompt):
            return found
    return None


def held_out_ids(store: sqlite3.Connection, n: int) -> list[str]:
    """Ids of the first `n` samples, those of the held-out set first."""
    rows = store.execute("SELECT id FROM samples ORDER BY path LIKE '%shadow%' DESC, path, start LIMIT ?", (n,))
    return [row["id"] for row in rows]


def index_path(root: Path) -> tuple[Path, tempfile.TemporaryDirectory[str] | None]:
    """Path in the project folder; for a read-only folder in a temporary one, which the caller cleans up."""
    folder = root / ".askgate"
    with suppress(OSError):
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder / NAME, None
    temporary = tempfile.TemporaryDirectory(prefix="askgate-board-")
    return Path(temporary.name) / NAME, temporary


def open_store(path: Path) -> sqlite3.Connection:
    """Open the index for writing. An unreadable index is deleted and rebuilt: the logs have everything."""
    with suppress(sqlite3.DatabaseError):
        store = _connect(path)
        if store.execute("PRAGMA user_version").fetchone()[0] == VERSION:
            return store
        store.close()
    _remove(path)
    store = _connect(path)
    store.executescript(f"BEGIN; {SCHEMA.read_text()} PRAGMA user_version={VERSION}; COMMIT;")
    return store


def _remove(path: Path) -> None:
    for part in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        part.unlink(missing_ok=True)


def _connect(path: Path) -> sqlite3.Connection:
    store = sqlite3.connect(path, isolation_level="IMMEDIATE", check_same_thread=False)
    store.execute("PRAGMA journal_mode=WAL")
    store.execute("PRAGMA synchronous=OFF")  # after a power cut it is rebuilt
    store.execute("PRAGMA cache_size=-65536")
    return store


@contextmanager
def reading(path: Path, other: Path | None = None) -> Iterator[sqlite3.Connection]:
    """A read-only connection. A second index is attached as schema `other`."""
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
