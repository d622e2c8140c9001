"""Stage `validate_pool`: the gates of the data plane, from one pass over the pool.

Every check compares a measured value with a threshold that came from outside; what could not be measured is NaN and
passes nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..core.check import Check, Report, Rule, check, evidence, now, report
from ..core.errors import BadInput
from ..core.files import sidecar
from ..core.jsonl import read_unique
from ..core.types import LANGS, Lang, Sample, Task
from .diversity import Wording
from .diversity_report import Reference, Scope, covered, diversity_figures, scoped_wording
from .leak import Likeness, similar_samples
from .meta import PoolMeta, read_meta
from .neardup import NearDuplicates, near_duplicates
from .remedies import REMEDIES
from .scan import SEED, Scan, scan
from .shortcut import ShortcutAuc, shortcut_auc
from .tokenstream import token_stream

MIX_POINTS = 3.0
"""Percentage points that a task's share may be off what was asked."""
SHORTCUT_FROM = 200
"""A task with this many samples has enough of both kinds for the shortcut gate, or its clarify rate is wrong."""
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
) -> Report:
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
    meta = read_meta(pool)
    shadow = _read_shadow(leak_check) if leak_check else []
    found = scan(pool, meta, {sample.provenance.source_id for sample in shadow})
    _refuse_absent(by_task, found, pool)

    scopes = scoped_wording(found, meta, reference)
    duplicates = near_duplicates(found.columns.prompts)
    shortcuts = _shortcuts(found)
    checks = [
        *_wording_checks(scopes, by_task, min_distinct2, kl3_min),
        _check("roles", covered(found.tally.roles), ">=", roles_min),
        _check("styles", covered(found.tally.registers), ">=", styles_min),
        _check("dup_pct", _duplicate_percent(duplicates), "<=", max_dup_pct),
        _check("len_min", int(found.columns.lengths.min()), ">=", min_len),
        _check("len_max", int(found.columns.lengths.max()), "<=", max_len),
        *_mix_checks(found, meta),
        *_shortcut_checks(shortcuts, found, meta, max_shortcut_auc),
        _check("consistency", len(found.tally.contradicting), "==", 0),
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
    inputs = [pool, sidecar(pool), *([leak_check] if leak_check else [])]
    return report("validate_pool", checks, figures, evidence(inputs, [], arguments, started))


def _check(name: str, value: float | None, rule: Rule, threshold: float, *scope: str) -> Check:
    return check(
        f"{name}[{','.join(scope)}]" if scope else name,
        value,
        rule,
        threshold,
        *REMEDIES[name],
    )


def _read_shadow(path: Path) -> list[Sample]:
    shadow = list(read_unique(path, Sample))
    if not shadow:
        raise BadInput("the shadow set is empty", where=str(path), remedy="materialize it with shadow_run")
    return shadow


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


def _mix_checks(found: Scan, meta: PoolMeta) -> list[Check]:
    """A task that was not asked for has a wanted share of 0."""
    asked = sum(meta.mix.values())
    checks = []
    for task in dict.fromkeys([*meta.mix, *found.tasks()]):
        share = len(found.columns.where(task)) / len(found.ids)
        wanted = meta.mix.get(task, 0.0) / asked if asked else 0.0
        checks.append(_check("mix", abs(share - wanted) * 100, "<=", MIX_POINTS, task))
    return checks


def _shortcuts(found: Scan) -> dict[tuple[Task, Lang | None], ShortcutAuc]:
    """Per task and, where a task has several languages, per language too."""
    out: dict[tuple[Task, Lang | None], ShortcutAuc] = {}
    for task in found.tasks():
        present = [lang for lang in LANGS if len(found.columns.where(task, lang))]
        scopes: list[Lang | None] = [None, *present] if len(present) > 1 else [None]
        for lang in scopes:
            chosen = found.columns.where(task, lang)
            out[task, lang] = shortcut_auc(found.columns.prompts.take(chosen), found.columns.needs[chosen], SEED)
    return out


def _shortcut_checks(
    shortcuts: dict[tuple[Task, Lang | None], ShortcutAuc], found: Scan, meta: PoolMeta, max_shortcut_auc: float
) -> list[Check]:
    checks = []
    for (task, lang), auc in shortcuts.items():
        if auc.lower is not None:
            scope = [task, lang] if lang else [task]
            checks.append(_check("shortcut_auc", auc.lower, "<=", max_shortcut_auc, *scope))
    for task in found.tasks():
        whole = shortcuts[task, None]
        must_be_measured = whole.samples >= SHORTCUT_FROM or not whole.needing
        if meta.clarify_rate > 0 and must_be_measured:
            measured = sum(auc.auc is not None for (its_task, _), auc in shortcuts.items() if its_task == task)
            checks.append(_check("shortcut_measured", measured, ">=", 1, task))
    return checks


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
