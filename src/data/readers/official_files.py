"""Official dataset files of a data folder: `hotpotqa/`, `strategyqa/` and `gsm8k/` below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from askgate_env.types import Task

from ...core.errors import BadInput
from ...core.files import package_yaml, sha256_file
from ...core.jsonl import decode, decode_file, decode_or_none, listed, read_all, read_lines
from . import gsm8k, messages
from .articles import ArticleQuestion, HotpotRecord, Paragraph, StrategyRecord, read_hotpotqa, read_strategyqa
from .gsm8k import GsmRecord, WordProblem
from .messages import refuse_misspelt

T = TypeVar("T")
Question = ArticleQuestion | WordProblem

_FILES: dict[str, Any] = package_yaml("templates/official_files.yaml")
"""Files that the folder of a task holds, those that are not read, and the keys that tell the tasks' records apart."""
SHOWN = 60
"""Characters of a question that the message about it shows."""
_REMEDY = "correct the row; docs/data.md has the formats"


class Dataset(Struct, frozen=True):
    """The usable records of one task by source id."""

    records: dict[str, Question]
    seen: int
    """Number of all records, with unusable ones: repeated, or without a way to the answer."""
    sha256: dict[str, str]
    """SHA-256 of everything that was read, by name."""
    skipped: tuple[str, ...] = ()
    """Word problems that were not used: file and line, the beginning of the question, and the rule that they break."""


def usable(
    rows: Sequence[tuple[str, T]], read: Callable[[T], Question | str | None], sha256: dict[str, str]
) -> Dataset:
    """The dataset of raw records with their places: those that `read` accepts, the first of every source id."""
    records: dict[str, Question] = {}
    skipped: list[str] = []
    for where, row in rows:
        question = read(row)
        if isinstance(question, Question) and question.source_id not in records:
            records[question.source_id] = question
        elif isinstance(row, GsmRecord):
            rule = question if isinstance(question, str) else "its question is that of an earlier row"
            start = row.question[:SHOWN] + ("..." if len(row.question) > SHOWN else "")
            skipped.append(f"{where}: '{start}' skipped: {rule}")
    return Dataset(records, len(rows), sha256, tuple(skipped))


def dataset_files(data_dir: Path, task: Task) -> list[Path]:
    """Files in the task's folder that can hold the dataset, in order of name."""
    found = [path for kind in ("*.json", "*.jsonl") for path in (data_dir / task).glob(kind)]
    return sorted(path for path in found if path.name not in _FILES["not_read"])


def load(data_dir: Path, task: Task) -> Dataset:
    """The dataset of a task's folder. `BadInput` names the file, the record and the field that does not fit."""
    dataset = read_files(task, dataset_files(data_dir, task), data_dir)
    if not dataset.seen:
        remedy = f"put {_FILES['expected'][task]} below {data_dir}, or leave {task} out of the mix"
        raise BadInput(f"no {task} data here", where=str(data_dir / task), remedy=remedy)
    if dataset.skipped and not dataset.records:
        raise BadInput(f"none of the rows can be used:{listed(dataset.skipped)}", remedy=_REMEDY)
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
    sha256 = {path.relative_to(base).as_posix(): digest for path, digest in files if found[path]}
    return usable(rows, read_hotpotqa if task == "hotpotqa" else gsm8k.read, sha256)


def skipped_rows(source: str, data_dir: Path | None) -> list[str]:
    """Rows of the user's own dialogues or word problems that give no sample, each with its rule."""
    if source == "messages" and data_dir:
        return messages.skipped_rows(data_dir)
    if source == "dir" and data_dir:
        return list(read_files("gsm8k", dataset_files(data_dir, "gsm8k"), data_dir).skipped)
    return []


def why_no_asks(source: str, data_dir: Path | None) -> list[str]:
    """The warning that no sample of the user's own rows needs a question, and why, the most frequent reason first."""
    warning = "no row needs a question: a policy trained on this cannot learn when to ask"
    if source == "messages":
        return [f"{warning}; mark the rows whose question lacks something with `hidden`"]
    found: dict[str, list[str]] = {}
    for problem in load(data_dir or Path(), "gsm8k").records.values():
        if isinstance(problem, WordProblem):
            reason, sentence = gsm8k.why_complete(problem)
            found.setdefault(reason, []).append(sentence)
    ranked = sorted(found.items(), key=lambda one: -len(one[1]))
    reasons = (f"{len(some)} problems: no sentence can be left out: {why}: {some[0]!r}" for why, some in ranked)
    return [warning, *reasons]


def remarks(source: str, data_dir: Path | None) -> list[str]:
    """Remarks about the user's own dialogues that are used."""
    return messages.remarks(data_dir) if source == "messages" and data_dir else []


def _read_strategyqa(files: dict[Path, str], base: Path) -> Dataset:
    paragraphs: dict[str, Paragraph] = {}
    questions: list[tuple[str, StrategyRecord]] = []
    sha256: dict[str, str] = {}
    for path, digest in files.items():
        if path.suffix == ".json" and isinstance(decode_file(path, Any, _REMEDY), dict):
            paragraphs.update(decode_file(path, dict[str, Paragraph], _REMEDY))
        elif found := _records(path, StrategyRecord, "strategyqa"):
            questions += found
        else:
            continue
        sha256[path.relative_to(base).as_posix()] = digest
    if questions and not paragraphs:
        remedy = "put strategyqa_train_paragraphs.json beside strategyqa_train.json"
        raise BadInput("the evidence paragraphs are missing", where=str(base / "strategyqa"), remedy=remedy)
    # One question occurs under two ids. Its second row would leak past a hold-out by id, so only the first is used.
    first: dict[str, tuple[str, StrategyRecord]] = {}
    for where, record in questions:
        first.setdefault(" ".join(record.question.lower().split()), (where, record))
    rows = [(where, (where, record)) for where, record in first.values()]
    dataset = usable(rows, lambda row: read_strategyqa(row[1], paragraphs, row[0]), sha256)
    return msgspec.structs.replace(dataset, seen=len(questions))


def _records(path: Path, kind: type[T], task: Task) -> list[tuple[str, T]]:
    """Records with their positions, from JSONL or a JSON list; none if the file holds something else."""
    if path.suffix == ".jsonl":
        lines = [(f"{path}:{number}", line) for number, line in read_lines(path)]
        untyped, decoder = msgspec.json.Decoder(), msgspec.json.Decoder(kind)
        fields = [one.encode_name for one in msgspec.structs.fields(kind)]  # type: ignore[arg-type]
        if not any(_belongs_to(task, decode(untyped, line, where, _REMEDY)) for where, line in lines[:1]):
            return []

        def read(where: str, line: bytes) -> tuple[str, T]:
            try:
                return where, decode(decoder, line, where, _REMEDY)
            except BadInput as error:
                raw = decode_or_none(untyped, line)
                if isinstance(raw, dict):
                    refuse_misspelt(raw, fields, where)
                raise error from None

        return read_all(read, lines)
    start: Any = decode_file(path, Any, _REMEDY)
    if not (isinstance(start, list) and start and _belongs_to(task, start[0])):
        return []
    records: list[T] = decode_file(path, list[kind], _REMEDY)  # type: ignore[valid-type]
    return [(f"{path}[{place}]", record) for place, record in enumerate(records)]


def _belongs_to(task: Task, record: Any) -> bool:
    return isinstance(record, dict) and not record.keys().isdisjoint(_FILES["telling_keys"][task])
