"""The figures of a pool's wording: overall, per task, per language; and the stage that writes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from ...core.check import evidence, now
from ...core.files import refuse_overlap, sidecar, write_json
from ...core.types import LANGS, Lang, Sample, Task
from ..pool.meta import PoolMeta, read_meta
from ..pool.rebuilt import task_hash
from .choice import SpokenChoice
from .diversity import MOST_REFERENCE, Wording, wording
from .scan import Scan, scan, seed_of

Reference = Callable[[PoolMeta, int], Iterable[Sample]]
"""`n` samples of the same builder, sources, mix and seed with `pack_v1`."""

COUNTS_FROM = 0.01
"""A role or register counts when it has this share of the samples: three odd samples are no coverage."""

Scope = tuple[Task | None, Lang | None]


def diversity_report(pool: Path, out: Path, reference: Reference) -> dict[str, Any]:
    refuse_overlap({"--out": out}, {"POOL": pool})
    started = now()
    meta = read_meta(pool)
    found = scan(pool, meta)
    figures = diversity_figures(found, scoped_wording(found, meta, read_reference(found, meta, reference)[0]))
    proof = evidence([pool, sidecar(pool)], [], {"pool": str(pool), "out": str(out)}, started)
    report = {"stage": "diversity_report", "samples": len(found.ids), **figures, "evidence": proof}
    write_json(out, report)
    return report


def read_reference(found: Scan, meta: PoolMeta, reference: Reference) -> tuple[SpokenChoice, list[int]]:
    """What v1 says, and the hashes of the tasks that were made again to hear it."""
    v1 = SpokenChoice(MOST_REFERENCE, seed_of(meta))
    made_again: list[int] = []
    # Never more than the pool has: a source of real questions may hold no more.
    samples = iter(reference(meta, min(MOST_REFERENCE, len(found.ids))))
    while batch := list(islice(samples, 256)):
        v1.add(batch)
        made_again += [task_hash(sample) for sample in batch]
    return v1, made_again


def scoped_wording(found: Scan, meta: PoolMeta, v1: SpokenChoice) -> dict[Scope, Wording]:
    """Of everything, of each language, of each task, and of each language in a task."""
    tasks: list[Task | None] = [None, *found.tasks()]
    langs: list[Lang | None] = [None, *LANGS]
    out: dict[Scope, Wording] = {}
    for task in tasks:
        for lang in langs:
            texts = found.choice.stream(task, lang)
            if texts.texts:
                out[task, lang] = wording(texts, v1.stream(task, lang), seed_of(meta))
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
