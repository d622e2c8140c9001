"""The shadow set: held-out samples that no pool shares a source id with. Rewards and policies are compared on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from msgspec.structs import replace

from askgate_env.types import Sample

from ...core.errors import BadInput
from ...core.files import atomic_files, json_bytes, refuse_overlap, require_jsonl, sidecar, written
from ...core.jsonl import read_records, read_unique
from ..difficulty.metrics import measure_all
from .meta import PoolMeta, read_meta, verify_sha256
from .plan import BuildPlan, shares_to_counts


def materialize_shadow(plan: BuildPlan, stratify: bool, out: Path, manifest: Path | None, tag: str) -> PoolMeta:
    """Writes the shadow set, its sidecar and, if asked, a manifest of its samples: all of them or none.

    Stratified, every task has exactly its share; else tasks are drawn at random with the shares as probabilities.
    """
    from .build import write_pool  # the generators take 60 ms, and reading needs none

    require_jsonl(out, "--materialize")
    refuse_overlap({"--materialize": out, **({"--dump-manifest": manifest} if manifest else {})}, {})
    plan = replace(plan, split="shadow")
    if not stratify:
        drawn = Random(f"shadow mix:{plan.seed}").choices(list(plan.mix), weights=list(plan.mix.values()), k=plan.n)
        plan = replace(plan, mix={task: drawn.count(task) / plan.n for task in plan.mix})
    with atomic_files() as start:
        pool, meta_file = start(out), start(sidecar(out))
        manifest_file = start(manifest) if manifest else None
        meta = write_pool(plan, pool, meta_file)
        if manifest_file:
            manifest_file.write(json_bytes({"file": out.name, **_manifest(written(pool), meta, tag)}))
    return meta


def read_shadow(path: Path, pool: PoolMeta) -> list[Sample]:
    """The shadow set that a pool is compared with; it must come from the same source."""
    meta = read_meta(path)
    if meta.source != pool.source:
        what = f"the shadow set comes from source {meta.source} and the pool from {pool.source}: no leak could be found"
        raise BadInput(what, where=str(path), remedy=f"materialize the shadow set with --source {pool.source}")
    return read_set(path)


def read_set(path: Path) -> list[Sample]:
    """The samples of a shadow set, unchanged since it was materialized."""
    meta = read_meta(path)
    verify_sha256(path, meta, Sample)
    remedy = "askgate shadow-run --materialize FILE makes one"
    if meta.kind != "shadow":
        raise BadInput(f"this is a {meta.kind}, not a shadow set", where=str(path), remedy=remedy)
    shadow = list(read_unique(path, Sample))
    if not shadow:
        raise BadInput("the shadow set is empty", where=str(path), remedy=remedy)
    return shadow


def draw_shadow(samples: Sequence[Sample], n: int, seed: int, stratify: bool) -> list[Sample]:
    """A random sample of `n`, or all if there are `n`. Stratified, every task keeps its share."""
    if n > len(samples):
        what = f"the shadow set has {len(samples)} samples, not {n}"
        raise BadInput(what, where="--n", remedy="ask for fewer, or make a larger one")
    order = Random(f"shadow draw:{seed}").sample(range(len(samples)), len(samples))
    if not stratify:
        return [samples[index] for index in sorted(order[:n])]
    tasks = Counter(sample.task for sample in samples)
    taken: list[int] = []
    sizes = shares_to_counts([held / len(samples) for held in tasks.values()], n)
    for task, size in zip(tasks, sizes, strict=True):
        taken += [index for index in order if samples[index].task == task][:size]
    return [samples[index] for index in sorted(taken)]


def evenly_spaced(samples: Sequence[Sample], n: int | None) -> list[Sample]:
    """At most `n` evenly spaced samples, or all: those that a policy is evaluated on.

    If these were all of one kind (they need an ask, or they do not) and the set has both, each kind is spaced by
    itself, in its share of the set.
    """
    n = min(n or len(samples), len(samples))
    chosen = [samples[index * len(samples) // n] for index in range(n)]
    need_ask = [sample for sample in samples if sample.needs_clarification]
    complete = [sample for sample in samples if not sample.needs_clarification]
    if n < 2 or not need_ask or not complete or len({sample.needs_clarification for sample in chosen}) == 2:
        return chosen
    count = min(max(1, round(n * len(need_ask) / len(samples))), n - 1)
    ids = {sample.id for sample in (*evenly_spaced(need_ask, count), *evenly_spaced(complete, n - count))}
    return [sample for sample in samples if sample.id in ids]


def _manifest(shadow: Path, meta: PoolMeta, tag: str) -> dict[str, Any]:
    samples = list(read_records(shadow, Sample))
    levels = [record.level for record in measure_all(samples)]
    strata = Counter(f"{sample.task}/{level}" for sample, level in zip(samples, levels, strict=True))
    return {
        "sha256": meta.sha256,
        "tag": tag,
        "n": len(samples),
        "strata": dict(sorted(strata.items())),
        "samples": [
            {
                "id": sample.id,
                "task": sample.task,
                "lang": sample.lang,
                "level": level,
                "needs_clarification": sample.needs_clarification,
                "source_id": sample.provenance.source_id,
            }
            for sample, level in zip(samples, levels, strict=True)
        ],
    }
