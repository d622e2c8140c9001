"""Official dataset files of a data folder: `hotpotqa/`, `strategyqa/` and `gsm8k/` below it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from askgate_env.types import Task

from ...core.errors import BadInput
from ...core.files import explain_read_errors, package_yaml, sha256_file
from ...core.jsonl import read_lines
from . import gsm8k, hotpotqa, strategyqa
from .articles import ArticleQuestion
from .gsm8k import GsmRecord, WordProblem
from .hotpotqa import HotpotRecord
from .strategyqa import Paragraph, StrategyRecord

T = TypeVar("T")
Question = ArticleQuestion | WordProblem

_FILES: dict[str, Any] = package_yaml("templates/official_files.yaml")
"""What the folder of a task holds, which files of it are not read, and how the records of a task are told apart."""
SHOWN = 60
"""Characters of a question that the message about it shows."""
_REMEDY = "correct this row; docs/data.md has the formats"


class Dataset(Struct, frozen=True):
    """The usable records of one task by source id."""

    records: dict[str, Question]
    seen: int
    """Number of all records, with unusable ones: repeated, or without a way to the answer."""
    sha256: dict[str, str]
    """SHA-256 of everything that was read, by name."""
    skipped: tuple[str, ...] = ()
    """Word problems that were not used: file and line, the beginning of the question, and the rule that they break."""


def usable(rows: Iterable[T], read: Callable[[T], Question | None], sha256: dict[str, str]) -> Dataset:
    """The dataset of raw records: those that `read` accepts, the first of every source id."""
    records: dict[str, Question] = {}
    seen = 0
    for row in rows:
        seen += 1
        question = read(row)
        if question is not None:
            records.setdefault(question.source_id, question)
    return Dataset(records, seen, sha256)


def dataset_files(data_dir: Path, task: Task) -> list[Path]:
    """Files in the task's folder that can hold the dataset, in order of name."""
    found = [path for kind in ("*.json", "*.jsonl") for path in (data_dir / task).glob(kind)]
    return sorted(path for path in found if path.name not in _FILES["not_read"])


def load(data_dir: Path, task: Task) -> Dataset:
    """The dataset of a task's folder. `BadInput` names the file, the record and the field that does not fit."""
    dataset = read_files(task, dataset_files(data_dir, task), data_dir)
    if not dataset.seen:
        raise BadInput(
            f"no {task} data here",
            where=str(data_dir / task),
            remedy=f"put {_FILES['expected'][task]} below {data_dir}, or leave {task} out of the mix",
        )
    return dataset


def read_files(task: Task, files: list[Path], base: Path) -> Dataset:
    """The dataset of some files. Files that plainly hold something else are skipped and not fingerprinted."""
    return _read_files(task, tuple((path, sha256_file(path)) for path in files), base)


@lru_cache(maxsize=4)
def _read_files(task: Task, files: tuple[tuple[Path, str], ...], base: Path) -> Dataset:
    """The dataset of some files with their SHA-256, read once per process."""
    if task == "strategyqa":
        return _read_strategyqa(dict(files), base)
    kind: Any = HotpotRecord if task == "hotpotqa" else GsmRecord
    found = {path: _records(path, kind, task) for path, _ in files}
    rows = [row for some in found.values() for row in some]
    for where, record in rows:
        if task == "gsm8k" and "####" not in record.answer:
            raise BadInput("answer: no `#### result` at its end", where=where, remedy=_REMEDY)
    sha256 = {path.relative_to(base).as_posix(): digest for path, digest in files if found[path]}
    read: Any = hotpotqa.read if task == "hotpotqa" else gsm8k.read
    dataset = usable([record for _, record in rows], read, sha256)
    if task == "hotpotqa":
        return dataset
    unused = [(where, row) for where, row in rows if gsm8k.source_id(row) not in dataset.records]
    return msgspec.structs.replace(dataset, skipped=tuple(_skipped(where, row) for where, row in unused))


def _skipped(where: str, row: GsmRecord) -> str:
    start = row.question[:SHOWN] + ("..." if len(row.question) > SHOWN else "")
    return f"{where}: '{start}' skipped: {gsm8k.broken_rule(row)}"


def _read_strategyqa(files: dict[Path, str], base: Path) -> Dataset:
    paragraphs: dict[str, Paragraph] = {}
    questions: list[tuple[str, StrategyRecord]] = []
    sha256: dict[str, str] = {}
    for path, digest in files.items():
        raw = _bytes(path) if path.suffix == ".json" else b""
        if raw.lstrip()[:1] == b"{":
            paragraphs.update(_decode(raw, dict[str, Paragraph], str(path)))
        elif found := _records(path, StrategyRecord, "strategyqa"):
            questions += found
        else:
            continue
        sha256[path.relative_to(base).as_posix()] = digest
    if questions and not paragraphs:
        raise BadInput(
            "the evidence paragraphs are missing",
            where=str(base / "strategyqa"),
            remedy="put strategyqa_train_paragraphs.json beside strategyqa_train.json",
        )
    # One question occurs under two ids. Its second row would leak past a hold-out by id, so only the first is used.
    first: dict[str, tuple[str, StrategyRecord]] = {}
    for where, record in questions:
        first.setdefault(" ".join(record.question.lower().split()), (where, record))
    dataset = usable(first.values(), lambda row: strategyqa.read(row[1], paragraphs, row[0]), sha256)
    return msgspec.structs.replace(dataset, seen=len(questions))


def _records(path: Path, kind: type[T], task: Task) -> list[tuple[str, T]]:
    """Records with their positions, from JSONL or a JSON list; none if the file holds something else."""
    if path.suffix == ".jsonl":
        lines = [(f"{path}:{number}", line) for number, line in read_lines(path)]
        if not any(_belongs_to(task, _decode(line, Any, where)) for where, line in lines[:1]):
            return []
        return [(where, _decode(line, kind, where)) for where, line in lines]
    raw = _bytes(path)
    start = _decode(raw, Any, str(path))
    if not (isinstance(start, list) and start and _belongs_to(task, start[0])):
        return []
    records: list[T] = _decode(raw, list[kind], str(path))  # type: ignore[valid-type]
    return [(f"{path}[{place}]", record) for place, record in enumerate(records)]


def _belongs_to(task: Task, record: Any) -> bool:
    return isinstance(record, dict) and not record.keys().isdisjoint(_FILES["telling_keys"][task])


def _bytes(path: Path) -> bytes:
    with explain_read_errors(path, "check the file"):
        return path.read_bytes()


def _decode(raw: bytes, kind: Any, where: str) -> Any:
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError as error:
        raise BadInput(str(error), where=where, remedy=_REMEDY) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"not valid JSON ({error})", where=where, remedy=_REMEDY) from None
