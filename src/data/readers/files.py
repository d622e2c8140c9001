"""Finding and decoding the official files of a data folder: `hotpotqa/`, `strategyqa/`, `gsm8k/` below it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from ...core.errors import BadInput
from ...core.files import sha256_file
from ...core.jsonl import read_lines
from ...core.types import Task
from . import gsm8k, hotpotqa, strategyqa
from .gsm8k import Problem
from .raw import GsmRecord, HotpotRecord, Paragraph, StrategyRecord
from .reading import Reading

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
    "gsm8k": frozenset({"question", "answer"}),
}
_REMEDY = "take the file from the official release again"


class Shelf(Struct, frozen=True):
    """The records of one task that can be used, by source id."""

    records: dict[str, Reading | Problem]
    seen: int
    """How many records there were, also those left aside: repeated ones, and ones whose answer cannot be shown to follow."""
    sha256: dict[str, str]
    """Of every file that was read, by its path in the data folder."""


def dataset_files(data_dir: Path, task: Task) -> list[Path]:
    """The files in the task's folder that can hold it, in order of name."""
    found = [path for kind in ("*.json", "*.jsonl") for path in (data_dir / task).glob(kind)]
    return sorted(path for path in found if path.name not in _NOT_READ)


def load(data_dir: Path, task: Task) -> Shelf:
    """Every record of a task's files. `BadInput` names the file, the record and the field that does not fit."""
    files = dataset_files(data_dir, task)
    shelf = read_files(task, files, data_dir)
    if not shelf.seen:
        raise BadInput(
            f"no {task} data here",
            where=str(data_dir / task),
            remedy=f"put {EXPECTED[task]} below {data_dir}, or leave {task} out of the mix",
        )
    return shelf


def read_files(task: Task, files: list[Path], base: Path) -> Shelf:
    if task == "gsm8k":
        used = [(path, _gsm_lines(path)) for path in files]
        rows = [(gsm8k.source_id(record), record) for _, records in used for record in records]
        return _shelf(rows, gsm8k.read, [path for path, records in used if records], base)
    if task == "hotpotqa":
        found = [(path, _list(path, HotpotRecord, "hotpotqa")) for path in files]
        pages = [(hotpotqa.source_id(record), record) for _, records in found for record in records]
        return _shelf(pages, hotpotqa.read, [path for path, records in found if records], base)
    return _strategy_shelf(files, base)


def _strategy_shelf(files: list[Path], base: Path) -> Shelf:
    paragraphs: dict[str, Paragraph] = {}
    questions: list[tuple[str, StrategyRecord]] = []
    used: list[Path] = []
    for path in files:
        raw = path.read_bytes() if path.suffix == ".json" else b""
        if raw.lstrip()[:1] == b"{":
            paragraphs.update(_decode(raw, dict[str, Paragraph], path))
            used.append(path)
        elif records := _list(path, StrategyRecord, "strategyqa"):
            questions.extend((f"{path}[{place}]", record) for place, record in enumerate(records))
            used.append(path)
    if questions and not paragraphs:
        raise BadInput(
            "the evidence paragraphs are missing",
            where=str(base / "strategyqa"),
            remedy="put strategyqa_train_paragraphs.json beside strategyqa_train.json",
        )
    where = {strategyqa.source_id(record): place for place, record in questions}
    rows = [(strategyqa.source_id(record), record) for _, record in questions]

    def read(record: StrategyRecord) -> Reading | None:
        return strategyqa.read(record, paragraphs, where[strategyqa.source_id(record)])

    return _shelf(_without_repeats(rows), read, used, base, seen=len(rows))


def _without_repeats(rows: list[tuple[str, StrategyRecord]]) -> list[tuple[str, StrategyRecord]]:
    """One StrategyQA question occurs under two ids; its second row would leak past any hold-out by id."""
    first: dict[str, tuple[str, StrategyRecord]] = {}
    for row in rows:
        first.setdefault(" ".join(row[1].question.lower().split()), row)
    return list(first.values())


def _shelf(
    rows: list[tuple[str, T]],
    read: Callable[[T], Reading | Problem | None],
    used: list[Path],
    base: Path,
    seen: int | None = None,
) -> Shelf:
    records: dict[str, Reading | Problem] = {}
    for source_id, record in rows:
        if source_id not in records and (ready := read(record)) is not None:
            records[source_id] = ready
    sha256 = {path.relative_to(base).as_posix(): sha256_file(path) for path in used}
    return Shelf(records, len(rows) if seen is None else seen, sha256)


def _list(path: Path, kind: type[T], task: Task) -> list[T]:
    """A JSON list, or JSONL, of `kind`; nothing where the file plainly holds something else."""
    if path.suffix == ".jsonl":
        return [_decode(line, kind, path, f":{number}") for number, line in read_lines(path)]
    raw = path.read_bytes()
    start: Any = _decode(raw, Any, path)
    if not (isinstance(start, list) and start and isinstance(start[0], dict) and _MARKS[task] & start[0].keys()):
        return []
    return _decode(raw, list[kind], path)  # type: ignore[valid-type]


def _gsm_lines(path: Path) -> list[GsmRecord]:
    records = _list(path, GsmRecord, "gsm8k")
    for number, record in enumerate(records, 1):
        if "####" not in record.answer:
            raise BadInput("answer: no `#### result` at its end", where=f"{path}:{number}", remedy=_REMEDY)
    return records


def _decode(raw: bytes, kind: type[T] | Any, path: Path, place: str = "") -> Any:
    where = f"{path}{place}"
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError as error:
        raise BadInput(str(error), where=where, remedy=_REMEDY) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"not valid JSON ({error})", where=where, remedy=_REMEDY) from None
