"""The figures of a pool's wording: overall, per task, per language; and the stage that writes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from ..core.check import evidence, now
from ..core.files import sidecar, write_json
from ..core.types import LANGS, Lang, Sample, Task
from .choice import SpokenChoice
from .diversity import MOST_REFERENCE, Wording, wording
from .meta import PoolMeta, read_meta
from .scan import SEED, Scan, scan

Reference = Callable[[PoolMeta, int], Iterable[Sample]]
"""`n` samples of the same builder, sources, mix and seed with `pack_v1`."""

COUNTS_FROM = 0.01
"""A role or register counts when it has this share of the samples: three odd samples are no coverage."""

Scope = tuple[Task | None, Lang | None]


def diversity_report(pool: Path, out: Path, reference: Reference) -> dict[str, Any]:
    started = now()
    meta = read_meta(pool)
    found = scan(pool, meta)
    figures = diversity_figures(found, scoped_wording(found, meta, reference))
    proof = evidence([pool, sidecar(pool)], [], {"pool": str(pool), "out": str(out)}, started)
    report = {"stage": "diversity_report", "samples": len(found.ids), **figures, "evidence": proof}
    write_json(out, report)
    return report


def scoped_wording(found: Scan, meta: PoolMeta, reference: Reference) -> dict[Scope, Wording]:
    """Of everything, of each language, of each task, and of each language in a task."""
    v1 = SpokenChoice(MOST_REFERENCE, SEED)
    # Never more than the pool has: a source of real questions may hold no more.
    samples = iter(reference(meta, min(MOST_REFERENCE, len(found.ids))))
    while batch := list(islice(samples, 256)):
        v1.add(batch)
    tasks: list[Task | None] = [None, *found.tasks()]
    langs: list[Lang | None] = [None, *LANGS]
    out: dict[Scope, Wording] = {}
    for task in tasks:
        for lang in langs:
            texts = found.choice.stream(task, lang)
            if texts.texts:
                out[task, lang] = wording(texts, v1.stream(task, lang), SEED)
    return out


def diversity_figures(found: Scan, scopes: dict[Scope, Wording]) -> dict[str, Any]:
    def figures(task: Task | None) -> dict[str, Any]:
        return {
            **msgspec.structs.asdict(scopes[task, None]),
            "roles": shares(found.tally.roles, task),
            "registers": shares(found.tally.registers, task),
            "langs": {lang: scopes[task, lang] for lang in LANGS if (task, lang) in scopes},
        }

    return {"overall": figures(None), "tasks": {task: figures(task) for task in found.tasks()}}


def shares(counts: Counter[tuple[Task, str]], task: Task | None) -> dict[str, float]:
    """The share of each role or register, largest first."""
    names: Counter[str] = Counter()
    for (its_task, name), count in counts.items():
        if task in (None, its_task):
            names[name] += count
    return {name: count / names.total() for name, count in names.most_common()}


def covered(counts: Counter[tuple[Task, str]]) -> int:
    return sum(share >= COUNTS_FROM for share in shares(counts, None).values())
