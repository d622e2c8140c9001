"""Stage `validate_pool`: the gates of the data plane, from one pass over the pool.

Every check compares a measured value with a threshold that came from outside; what could not be measured passes
nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...core.check import Check, Report, Rule, check, evidence, now, report, require_share
from ...core.errors import BadInput
from ...core.files import refuse_overlap, sidecar, write_json
from ...core.types import LANGS, Lang, Sample, Task
from ..pool.meta import PoolMeta, read_meta
from ..pool.shadow_set import read_shadow
from .consistency import MIX_POINTS, differing, mix_checks
from .diversity import Reference, Scope, Wording, covered, diversity_figures, read_reference, scoped_wording
from .leaks import Likeness, similar_samples
from .near_duplicates import NearDuplicates, near_duplicates
from .remedies import REMEDIES
from .scan import Scan, scan, seed_of
from .shortcuts import ShortcutAuc, shortcut_auc
from .token_stream import token_stream

EXAMPLES = 20


def validate_pool(
    pool: Path,
    *,
    min_distinct2: float,
    kl3_min: float,
    roles_min: int,
    styles_min: int,
    max_dup_pct: float,
    max_len: int,
    min_len: int,
    leak_check: Path | None,
    leak_ngram: int,
    leak_sim: float,
    by_task: tuple[Task, ...],
    max_shortcut_auc: float,
    reference: Reference,
    out: Path,
) -> Report:
    """Writes the report to `out` whatever the verdict."""
    started = now()
    arguments = {
        "pool": str(pool),
        "min_distinct2": min_distinct2,
        "kl3_min": kl3_min,
        "roles_min": roles_min,
        "styles_min": styles_min,
        "max_dup_pct": max_dup_pct,
        "max_len": max_len,
        "min_len": min_len,
        "leak_check": str(leak_check) if leak_check else None,
        "leak_ngram": leak_ngram,
        "leak_sim": leak_sim,
        "by_task": list(by_task),
        "max_shortcut_auc": max_shortcut_auc,
    }
    for flag, share in {
        "min_distinct2": min_distinct2,
        "leak_sim": leak_sim,
        "max_shortcut_auc": max_shortcut_auc,
    }.items():
        require_share(share, f"--{flag}")
    refuse_overlap({"--out": out}, {"POOL": pool, **({"--leak_check": leak_check} if leak_check else {})})
    meta = read_meta(pool)
    shadow = read_shadow(leak_check, meta) if leak_check else []
    found = scan(pool, meta, {sample.provenance.source_id for sample in shadow})
    _refuse_absent(by_task, found, pool)

    v1, made_again = read_reference(found, meta, reference)
    scopes = scoped_wording(found, meta, v1)
    duplicates = near_duplicates(found.columns.prompts)
    shortcuts = _shortcuts(found, seed_of(meta))
    checks = [
        *_wording_checks(scopes, by_task, min_distinct2, kl3_min),
        _check("roles", covered(found.tally.roles), ">=", roles_min),
        _check("styles", covered(found.tally.registers), ">=", styles_min),
        _check("dup_pct", _duplicate_percent(duplicates), "<=", max_dup_pct),
        _check("len_min", int(found.columns.lengths.min()), ">=", min_len),
        _check("len_max", int(found.columns.lengths.max()), "<=", max_len),
        *mix_checks({task: len(found.columns.where(task)) for task in found.tasks()}, meta.mix),
        *_shortcut_checks(shortcuts, meta, max_shortcut_auc),
        _check("consistency", len(found.tally.contradicting), "==", 0),
        *_as_asked(found, meta, made_again),
    ]
    figures: dict[str, Any] = {
        "samples": len(found.ids),
        "diversity": diversity_figures(found, scopes),
        "duplicates": _duplicate_figures(duplicates, found.ids),
        "lengths": _length_figures(found, min_len, max_len),
        "shortcut": {_scope(task, lang): auc for (task, lang), auc in shortcuts.items()},
        "consistency": {
            "broken_rules": dict(found.tally.contradictions),
            "samples": found.tally.contradicting[:EXAMPLES],
        },
    }
    if leak_check:
        likeness = _likeness(found, shadow, leak_ngram, leak_sim)
        checks.append(_check("leak_similar", likeness.count, "==", 0))
        checks.append(_check("leak_source_ids", len(found.tally.from_shadow), "==", 0))
        figures["leak"] = _leak_figures(likeness, found, shadow)
    shadow_files = [leak_check, sidecar(leak_check)] if leak_check else []
    proof = evidence([pool, sidecar(pool), *shadow_files], [], arguments, started)
    made = report("validate_pool", checks, figures, proof)
    write_json(out, made)
    return made


def _check(name: str, value: float | None, rule: Rule, threshold: float, *scope: str) -> Check:
    return check(
        f"{name}[{','.join(scope)}]" if scope else name,
        value,
        rule,
        threshold,
        *REMEDIES[name],
    )


def _refuse_absent(by_task: tuple[Task, ...], found: Scan, pool: Path) -> None:
    if absent := [task for task in by_task if task not in found.tasks()]:
        raise BadInput(
            f"the pool has no samples of {', '.join(absent)}",
            where=str(pool),
            remedy="leave these tasks out of --by_task, or build the pool with them in --mix",
        )


def _wording_checks(
    scopes: dict[Scope, Wording], by_task: tuple[Task, ...], min_distinct2: float, kl3_min: float
) -> list[Check]:
    checks = []
    for task in (None, *by_task):
        scope = [task] if task else []
        checks.append(_check("distinct2", scopes[task, None].distinct2, ">=", min_distinct2, *scope))
        checks.append(_check("kl3", scopes[task, None].kl3_excess, ">=", kl3_min, *scope))
    return checks


def _duplicate_percent(duplicates: NearDuplicates) -> float:
    """Texts that could not be compared with all others count as duplicates: see `neardup`."""
    return 100 * (duplicates.count + duplicates.unresolved) / duplicates.texts


def _duplicate_figures(duplicates: NearDuplicates, ids: list[str]) -> dict[str, Any]:
    return {
        "exact": duplicates.exact,
        "near": duplicates.count - duplicates.exact,
        "unresolved": duplicates.unresolved,
        "examples": [[ids[earlier], ids[later]] for earlier, later in duplicates.examples],
    }


def _length_figures(found: Scan, min_len: int, max_len: int) -> dict[str, Any]:
    lengths = found.columns.lengths
    p10, p50, p90 = np.percentile(lengths, [10, 50, 90]).tolist()
    outside = np.flatnonzero((lengths < min_len) | (lengths > max_len))
    return {
        "min": int(lengths.min()),
        "p10": p10,
        "p50": p50,
        "p90": p90,
        "max": int(lengths.max()),
        "outside": len(outside),
        "examples": [found.ids[number] for number in outside[:EXAMPLES]],
    }


def _shortcuts(found: Scan, seed: int) -> dict[tuple[Task, Lang | None], ShortcutAuc]:
    """Per task and, where a task has several languages, per language too."""
    out: dict[tuple[Task, Lang | None], ShortcutAuc] = {}
    for task in found.tasks():
        present = [lang for lang in LANGS if len(found.columns.where(task, lang))]
        scopes: list[Lang | None] = [None, *present] if len(present) > 1 else [None]
        for lang in scopes:
            chosen = found.columns.where(task, lang)
            out[task, lang] = shortcut_auc(found.columns.prompts.take(chosen), found.columns.needs[chosen], seed)
    return out


def _shortcut_checks(
    shortcuts: dict[tuple[Task, Lang | None], ShortcutAuc], meta: PoolMeta, max_shortcut_auc: float
) -> list[Check]:
    """A language with few samples is judged with its task; a task that cannot be measured has not passed."""
    checks = []
    for (task, lang), auc in shortcuts.items():
        if auc.lower is not None or (lang is None and meta.clarify_rate > 0):
            scope = [task, lang] if lang else [task]
            checks.append(_check("shortcut_auc", auc.lower, "<=", max_shortcut_auc, *scope))
    return checks


def _as_asked(found: Scan, meta: PoolMeta, made_again: list[int]) -> list[Check]:
    """A balanced pool is chosen from another one: neither its order nor its share of asks is what was asked for."""
    if meta.kind == "balanced":
        return []
    off = abs(float(found.columns.needs.mean()) - meta.clarify_rate) * 100
    return [
        _check("clarify_rate", off, "<=", MIX_POINTS),
        _check("rebuilt", differing(found.tally.made, made_again), "==", 0),
    ]


def _scope(task: Task, lang: Lang | None) -> str:
    return f"{task},{lang}" if lang else task


def _likeness(found: Scan, shadow: list[Sample], n: int, threshold: float) -> Likeness:
    theirs = (
        token_stream([sample.prompt for sample in shadow]),
        token_stream([sample.original for sample in shadow]),
    )
    return similar_samples((found.columns.prompts, found.columns.originals), theirs, n, threshold)


def _leak_figures(likeness: Likeness, found: Scan, shadow: list[Sample]) -> dict[str, Any]:
    return {
        "similar": [
            {"pool": found.ids[one.pool], "shadow": shadow[one.shadow].id, "similarity": one.similarity}
            for one in likeness.examples
        ],
        "same_source": found.tally.from_shadow[:EXAMPLES],
    }
