"""A pool and held-out samples from one file of the user's (`askgate train --data my.jsonl`).

The file has dialogues (`messages`, `conversations` or `instruction`) or word problems (`question` and `answer`), one
JSON object a line. Both parts are in `data/own/NAME-HASH/`, where HASH is of the file: it is built only once.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from askgate_env.types import Sample, Task

from ..core import defaults
from ..core.errors import BadInput
from ..core.files import sha256_file, sidecar
from ..core.jsonl import read_lines, read_records
from ..data.pool.build import build_pool
from ..data.pool.plan import BuildPlan
from ..data.pool.shadow_set import materialize_shadow
from ..data.pool.source import TooFewRecords
from ..data.readers import messages, official_files
from ..runtime.progress import Reporter

OWN = Path("data/own")
POOL_SHARES = (0.85, 0.75, 0.65, 0.5, 0.35, 0.2, 0.1, 0.05)
HELD_OUT_SHARES = (0.14, 0.12, 0.1, 0.09, 0.08, 0.07, 0.06, 0.05, 0.04, 0.03, 0.02, 0.0)
"""Shares of the rows to try, largest first: how many rows can be used is known only when they are assigned."""
MOST_HELD_OUT = 245
FORMAT = 'a row is {"messages": [...]} or {"question": ..., "answer": "... #### 7"}; docs/tutorial.md has both formats'


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
    """Rows that were not used, each with its rule."""

    @property
    def characters(self) -> int:
        """Length of the demonstrations."""
        samples = read_records(self.seed_pool, Sample)
        return sum(len(sample.prompt) + sum(len(turn.text) for turn in sample.dialogue) for sample in samples)


def prepare_own_data(file: Path, reporter: Reporter) -> OwnData:
    """Builds pool and held-out samples from a file, unless they are there already."""
    source = _source(file)
    folder = OWN / f"{file.stem}-{sha256_file(file)[:8]}"
    copy = folder / ("gsm8k" if source == "dir" else "") / f"{file.stem}.jsonl"
    pool, shadow = folder / "parts" / "pool.jsonl", folder / "parts" / "held_out.jsonl"
    copy.parent.mkdir(parents=True, exist_ok=True)
    if file.resolve() != copy.resolve():
        shutil.copyfile(file, copy)
    rows = sum(1 for _ in read_lines(copy))
    plan = BuildPlan(1, {"gsm8k": 1.0}, defaults.SEED, (), defaults.TEMPLATES, source=source, data_dir=folder)
    if not sidecar(shadow).exists():
        with reporter.progress("held-out samples", 1):
            _largest(
                plan,
                [min(MOST_HELD_OUT, int(rows * share)) or 1 for share in HELD_OUT_SHARES],
                lambda one: materialize_shadow(one, stratify=False, out=shadow, manifest=None, tag=""),
            )
    if not sidecar(pool).exists():
        with reporter.progress("building the pool", 1):
            sizes = [int(rows * share) or 1 for share in POOL_SHARES]
            _largest(plan, sizes, lambda one: build_pool(one, pool))
    samples = list(read_records(pool, Sample))
    counts = Counter(sample.task for sample in samples)
    found = messages.skipped_rows(folder) if source == "messages" else official_files.load(folder, "gsm8k").skipped
    return OwnData(
        folder=folder,
        seed_pool=pool,
        shadow_set=shadow,
        samples=len(samples),
        held_out=sum(1 for _ in read_lines(shadow)),
        need_ask=sum(sample.hidden is not None for sample in samples),
        shares={task: count / len(samples) for task, count in counts.items()},
        skipped=[one.replace(str(copy), str(file)) for one in found],
    )


def _source(file: Path) -> str:
    """`messages` or `dir`, by the keys of the first row."""
    if not file.is_file():
        raise BadInput("no such file", where=str(file), remedy="name a .jsonl file with your rows")
    for number, line in read_lines(file):
        try:
            row = msgspec.json.decode(line)
        except msgspec.DecodeError as error:
            raise BadInput(f"not valid JSON ({error})", where=f"{file}:{number}", remedy="correct this row") from None
        keys = set(row) if isinstance(row, dict) else set()
        if keys & {"messages", "conversations", "instruction"}:
            return "messages"
        if keys >= {"question", "answer"}:
            return "dir"
        known = ", ".join(sorted(keys)) or "no keys"
        raise BadInput(f"the row has {known}", where=f"{file}:{number}", remedy=FORMAT)
    raise BadInput("has no rows", where=str(file), remedy=FORMAT)


def _largest(plan: BuildPlan, sizes: list[int], build: Callable[[BuildPlan], object]) -> None:
    """Builds the largest of these sizes that the rows are enough for."""
    for size in dict.fromkeys(sizes):
        try:
            build(msgspec.structs.replace(plan, n=size))
        except TooFewRecords:
            if size == sizes[-1]:
                raise
        else:
            return
