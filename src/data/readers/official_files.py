"""Finding and decoding the official files of a data folder: `hotpotqa/`, `strategyqa/`, `gsm8k/` below it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from ...core.errors import BadInput
from ...core.files import sha256_file
from ...core.jsonl import read_lines
from ...core.types import Task
from . import gsm8k, hotpotqa, strategyqa
from .articles import Reading
from .gsm8k import GsmRecord, Problem
from .hotpotqa import HotpotRecord
from .strategyqa import Paragraph, StrategyRecord

T = TypeVar("T")

EXPECTED: dict[Task, str] = {
    "hotpotqa": "hotpotqa/ with hotpot_train_v1.1.json or hotpot_dev_distractor_v1.json",
    "strategyqa": "strategyqa/ with strategyqa_train.json and strategyqa_train_paragraphs.json",
    "gsm8k": "gsm8k/ with train.jsonl or test.jsonl",
}
# Parts of the official releases that carry no answers or no evidence.
_NOT_READ = frozenset({"hotpot_test_fullwiki_v1.json", "strategyqa_test.json", "strategyqa_train_filtered.json"})
_MARKS: dict[Task, frozenset[str]] = {
    "hotpotqa": frozenset({"_id", "supporting_facts"}),
    "strategyqa": frozenset({"qid", "decomposition"}),
    "gsm8k": frozenset({"answer"}),
}
"""A record with one of these keys is meant to be of the task. GSM8K's release also has solutions by models, with a
`question` but no `answer`."""
_REMEDY = "take the file from the official release again"


def dataset_files(data_dir: Path, task: Task) -> list[Path]:
    """The files in the task's folder that can hold it, in order of name."""
    found = [path for kind in ("*.json", "*.jsonl") for path in (data_dir / task).glob(kind)]
    return sorted(path for path in found if path.name not in _NOT_READ)


def load(data_dir: Path, task: Task) -> Shelf:
    """Every record of a task's files. `BadInput` names the file, the record and the field that does not fit."""
    shelf = read_files(task, dataset_files(data_dir, task), data_dir)
    if not shelf.seen:
        raise BadInput(
            f"no {task} data here",
            where=str(data_dir / task),
            remedy=f"put {EXPECTED[task]} below {data_dir}, or leave {task} out of the mix",
        )
    return shelf


def read_files(task: Task, files: list[Path], base: Path) -> Shelf:
    """Files that plainly hold something else are passed over, and are no part of the fingerprints."""
    if task == "gsm8k":
        problems = {path: _gsm_records(path) for path in files}
        rows = [record for records in problems.values() for record in records]
        return shelve_gsm8k(rows, _sha256([path for path, records in problems.items() if records], base))
    if task == "hotpotqa":
        pages = {path: _records(path, HotpotRecord, task) for path in files}
        return shelve_hotpotqa(
            [record for found in pages.values() for _, record in found],
            _sha256([path for path, found in pages.items() if found], base),
        )
    return _strategyqa(files, base)


def _strategyqa(files: list[Path], base: Path) -> Shelf:
    paragraphs: dict[str, Paragraph] = {}
    questions: list[tuple[str, StrategyRecord]] = []
    used: list[Path] = []
    for path in files:
        raw = _bytes(path) if path.suffix == ".json" else b""
        if raw.lstrip()[:1] == b"{":
            paragraphs.update(_decode(raw, dict[str, Paragraph], str(path)))
            used.append(path)
        elif found := _records(path, StrategyRecord, "strategyqa"):
            questions += found
            used.append(path)
    if questions and not paragraphs:
        raise BadInput(
            "the evidence paragraphs are missing",
            where=str(base / "strategyqa"),
            remedy="put strategyqa_train_paragraphs.json beside strategyqa_train.json",
        )
    return shelve_strategyqa(questions, paragraphs, _sha256(used, base))


def _gsm_records(path: Path) -> list[GsmRecord]:
    found = _records(path, GsmRecord, "gsm8k")
    for where, record in found:
        if "####" not in record.answer:
            raise BadInput("answer: no `#### result` at its end", where=where, remedy=_REMEDY)
    return [record for _, record in found]


def _records(path: Path, kind: type[T], task: Task) -> list[tuple[str, T]]:
    """Records with where they stand, from JSONL or a JSON list; nothing where the file holds something else."""
    if path.suffix == ".jsonl":
        lines = [(f"{path}:{number}", line) for number, line in read_lines(path)]
        if not any(_is_of(task, _decode(line, Any, where)) for where, line in lines[:1]):
            return []
        return [(where, _decode(line, kind, where)) for where, line in lines]
    raw = _bytes(path)
    start = _decode(raw, Any, str(path))
    if not (isinstance(start, list) and start and _is_of(task, start[0])):
        return []
    records: list[T] = _decode(raw, list[kind], str(path))  # type: ignore[valid-type]
    return [(f"{path}[{place}]", record) for place, record in enumerate(records)]


def _is_of(task: Task, record: Any) -> bool:
    return isinstance(record, dict) and bool(_MARKS[task] & record.keys())


def _sha256(used: list[Path], base: Path) -> dict[str, str]:
    return {path.relative_to(base).as_posix(): sha256_file(path) for path in used}


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror})", where=str(path), remedy="check the file") from None


def _decode(raw: bytes, kind: Any, where: str) -> Any:
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError as error:
        raise BadInput(str(error), where=where, remedy=_REMEDY) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"not valid JSON ({error})", where=where, remedy=_REMEDY) from None


# The records of one task that can be used, by source id; how the raw records of each dataset become that.


class Shelf(Struct, frozen=True):
    records: dict[str, Reading | Problem]
    seen: int
    """How many records there were, with those left aside: repeated ones, and ones whose answer does not follow."""
    sha256: dict[str, str]
    """Of everything that was read, by name."""


def shelve_hotpotqa(records: Iterable[HotpotRecord], sha256: dict[str, str]) -> Shelf:
    return _shelve([(hotpotqa.source_id(record), record) for record in records], hotpotqa.read, sha256)


def shelve_gsm8k(records: Iterable[GsmRecord], sha256: dict[str, str]) -> Shelf:
    return _shelve([(gsm8k.source_id(record), record) for record in records], gsm8k.read, sha256)


def shelve_strategyqa(
    records: Iterable[tuple[str, StrategyRecord]], paragraphs: Mapping[str, Paragraph], sha256: dict[str, str]
) -> Shelf:
    """Each record comes with where it stands. One question occurs under two ids: its second row would leak past any
    hold-out by id, so it is left aside."""
    rows = list(records)
    first: dict[str, tuple[str, StrategyRecord]] = {}
    for where, record in rows:
        first.setdefault(" ".join(record.question.lower().split()), (where, record))

    def read(row: tuple[str, StrategyRecord]) -> Reading | None:
        return strategyqa.read(row[1], paragraphs, row[0])

    shelf = _shelve([(strategyqa.source_id(row[1]), row) for row in first.values()], read, sha256)
    return Shelf(shelf.records, len(rows), sha256)


def _shelve(rows: list[tuple[str, T]], read: Callable[[T], Reading | Problem | None], sha256: dict[str, str]) -> Shelf:
    records: dict[str, Reading | Problem] = {}
    for source_id, record in rows:
        if source_id not in records and (ready := read(record)) is not None:
            records[source_id] = ready
    return Shelf(records, len(rows), sha256)
