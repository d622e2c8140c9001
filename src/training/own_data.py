"""A pool and held-out samples from one file of the user's (`askgate train --data my.jsonl`).

The file has dialogues (`messages`, `conversations` or `instruction`), questions with answers (`question` and `answer`,
also as CSV) or word problems (the same, and the answer ends in `#### 7`), one JSON object per line. Pool and held-out
samples are built once, into `data/own/NAME-HASH/`, where HASH is of the file and of `READER`.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from askgate_env.types import Sample, Task

from ..core import defaults
from ..core.errors import BadInput
from ..core.files import explain_read_errors, sha256_file, sidecar
from ..core.jsonl import ROWS_LISTED, decode, grouped, read_records
from ..data.pool.build import build_pool, largest_plan
from ..data.pool.plan import BuildPlan
from ..data.pool.shadow_set import materialize_shadow
from ..data.pool.source import RowCounts, TooFewRecords
from ..data.readers import messages
from ..data.readers.messages import CSV, refuse_misspelt, row_lines
from ..data.readers.natural import NaturalSource
from ..data.readers.official import OfficialSource
from ..data.readers.official_files import remarks, skipped_rows, why_no_asks
from ..runtime.progress import Reporter

OWN, POOL = Path("data/own"), Path("parts/pool.jsonl")
MAX_HELD_OUT = 245
NAME_FILE = "name a .jsonl, .csv or .tsv file with your rows"
READER = 5
"""Version of the readers: a pool that an older version made of the same file is built again."""
LONGEST_COLUMN = 40
"""Characters of the name of a CSV column; a longer text is no header."""
NO_HELD_OUT_ASK = (
    "no held-out row needs a question, so need-ask success will not be measured; add rows whose question lacks "
    "something"
)


@dataclass(frozen=True)
class OwnData:
    """Files to train and to evaluate on."""

    folder: Path
    seed_pool: Path
    shadow_set: Path
    samples: int
    held_out: int
    need_ask: int
    """Samples of the pool that need a clarifying question."""
    shares: dict[Task, float]
    skipped: list[str]
    """Rows that were not used, each with the rule that it breaks."""
    row_counts: RowCounts = field(default_factory=RowCounts)
    remarks: list[str] = field(default_factory=list)
    """Remarks on what the used rows lack."""

    @property
    def characters(self) -> int:
        """Number of characters in the demonstrations."""
        samples = read_records(self.seed_pool, Sample)
        return sum(len(sample.prompt) + sum(len(turn.text) for turn in sample.dialogue) for sample in samples)


def prepare_own_data(file: Path, reporter: Reporter) -> OwnData:
    """Builds pool and held-out samples from a file, unless they are there already."""
    source = _source(file)
    folder = _folder(file)
    suffix = file.suffix.lower() if file.suffix.lower() in CSV else ".jsonl"
    copy = folder / ("gsm8k" if source == "dir" else "") / f"{file.stem}{suffix}"
    is_new = not folder.exists()
    try:
        return _prepare(file, source, folder, copy, reporter)
    except BadInput as error:
        if isinstance(error, TooFewRecords):
            error.where = str(file)
            for row in grouped(skipped_rows(source, folder))[:ROWS_LISTED]:
                reporter.message(row.replace(str(copy), str(file)))
        if is_new:
            shutil.rmtree(folder, ignore_errors=True)
        texts = (error.what, error.where, error.remedy)
        what, where, remedy = (text.replace(str(copy), str(file)) for text in texts)
        raise BadInput(what, where=where, remedy=remedy) from None


def refuse_rows(path: Path) -> None:
    """Refuses a file of the user's rows where a pool is needed, with the command that shows its samples."""
    if sidecar(path).exists() or not path.is_file():
        return
    try:
        _source(path)
    except BadInput:
        return
    pool = _folder(path) / POOL
    show = f"askgate samples {pool}"
    remedy = (
        f"type {show}" if pool.exists() else f"type askgate train --model models/tiny --data {path} --plan, then {show}"
    )
    raise BadInput("is a file of rows, not a pool", where=str(path), remedy=remedy)


def _folder(file: Path) -> Path:
    """Folder of the pool and the held-out samples that are made of a file."""
    return OWN / f"{file.stem}-{hashlib.sha256(f'{READER} {sha256_file(file)}'.encode()).hexdigest()[:8]}"


def _prepare(file: Path, source: str, folder: Path, copy: Path, reporter: Reporter) -> OwnData:
    pool, shadow = folder / POOL, folder / "parts" / "held_out.jsonl"
    copy.parent.mkdir(parents=True, exist_ok=True)
    if file.resolve() != copy.resolve():
        shutil.copyfile(file, copy)
    rows = sum(1 for _ in row_lines(copy))
    plan = BuildPlan(1, {"gsm8k": 1.0}, defaults.SEED, (), defaults.TEMPLATES, source=source, data_dir=folder)
    if not sidecar(shadow).exists():
        with reporter.progress("held-out samples", 1):
            held_out = largest_plan(replace(plan, n=min(MAX_HELD_OUT, rows), split="shadow"))
            materialize_shadow(held_out, stratify=False, out=shadow, manifest=None, tag="")
    if not sidecar(pool).exists():
        with reporter.progress("building the pool", 1):
            build_pool(largest_plan(replace(plan, n=rows)), pool)
    samples = list(read_records(pool, Sample))
    counts = Counter(sample.task for sample in samples)
    need_ask = sum(sample.hidden is not None for sample in samples)
    held_out_samples = list(read_records(shadow, Sample))
    notes = remarks(source, folder) + (why_no_asks(source, folder) if not need_ask else [])
    if need_ask and not any(sample.hidden for sample in held_out_samples):
        notes.append(NO_HELD_OUT_ASK)
    return OwnData(
        folder=folder,
        seed_pool=pool,
        shadow_set=shadow,
        samples=len(samples),
        held_out=len(held_out_samples),
        need_ask=need_ask,
        shares={task: count / len(samples) for task, count in counts.items()},
        skipped=[one.replace(str(copy), str(file)) for one in skipped_rows(source, folder)],
        row_counts=(
            NaturalSource(source, folder).row_counts()
            if source == "messages"
            else OfficialSource(folder).row_counts("gsm8k")
        ),
        remarks=[one.replace(str(copy), str(file)) for one in notes],
    )


def _source(file: Path) -> str:
    """`messages` or `dir` (word problems: most answers have `####`), by the rows that have an answer."""
    if file.is_dir():
        raise BadInput("is a folder, and a file is needed", where=str(file), remedy=NAME_FILE)
    if not file.is_file():
        raise BadInput("no such file", where=str(file), remedy=NAME_FILE)
    _refuse_other_format(file)
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
    rows = [(f"{file}:{at}", decode(decoder, line, f"{file}:{at}")) for at, line in row_lines(file)]
    if not rows:
        raise BadInput("has no rows", where=str(file), remedy=messages.ROW_FORMAT)
    objects = [row for _, row in rows if isinstance(row, dict)]
    if file.suffix.lower() in CSV or any(row.keys() & {"messages", "conversations", "instruction"} for row in objects):
        return "messages"
    answers = [str(row["answer"]) for row in objects if row.keys() >= {"question", "answer"}]
    if answers:
        return "dir" if sum("####" in answer for answer in answers) >= len(answers) / 2 else "messages"
    where, row = rows[0]
    if isinstance(row, dict):
        refuse_misspelt(row, messages.FIELDS, where)
    has = ", ".join(sorted(row)) if isinstance(row, dict) and row else "no keys"
    if isinstance(row, dict) and "question" in row:
        has += ", and `answer` is missing"
    raise BadInput(f"the row has {has}", where=where, remedy=messages.ROW_FORMAT)


def _refuse_other_format(file: Path) -> None:
    """Refuses a CSV file with another ending, and a file whose ending and first line are not those of rows."""
    suffix = file.suffix.lower()
    with explain_read_errors(file), file.open("rb") as handle:
        first = handle.readline(4096).strip()
    if suffix in CSV or not first or first[:1] in b"{[\xef\xfe\xff":  # JSON, or a byte order mark
        return
    cells = [cell.strip() for cell in re.split("[,;\t]", first.decode(errors="replace"))]
    if len(cells) > 1 and all(0 < len(cell) <= LONGEST_COLUMN and cell.isprintable() for cell in cells):
        what, remedy = "looks like the header of a CSV file", f"name it {file.with_suffix('.csv').name}"
        raise BadInput(what, where=f"{file}:1", remedy=remedy)
    if suffix != ".jsonl":
        remedy = "save them as .jsonl, .csv or .tsv; spreadsheet programs write CSV (UTF-8)"
        raise BadInput("has no rows that can be read", where=str(file), remedy=remedy)
