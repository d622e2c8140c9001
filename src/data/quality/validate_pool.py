"""Stage `validate_pool`: the data gates, from one pass over the pool.

Every check compares a measured value with a threshold that came from outside. What could not be measured has not
passed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from askgate_env.types import LANGS, Lang, Sample, Task

from ...config.profile import PoolThresholds
from ...core.check import Check, Report, Rule, check, evidence, now, remedies, report, require_share
from ...core.defaults import MIX_TOLERANCE
from ...core.errors import BadInput
from ...core.files import package_yaml, refuse_overlap, sidecar, write_json
from ...runtime.workers import Workers, local_workers
from ..pool.meta import PoolMeta, read_meta
from ..pool.shadow_set import read_shadow
from ..pool.source import NATURAL_SOURCES, WORDED_BY_PEOPLE
from .consistency import mix_checks
from .diversity import Reference, Scope, Wording, count_covered, diversity_figures, read_reference, wording_by_scope
from .leaks import SimilarSamples, leak_views, similar_in_shards
from .near_duplicates import NearDuplicates, near_duplicates_in_shards
from .scan import PoolScan, measuring_seed, scan
from .shortcuts import MIN_EACH, Observed, ShortcutAuc, observation_auc, shortcut_auc

EXAMPLES = 20
PARALLEL_FROM = 1_000
"""Number of samples from which worker processes fit the shortcut classifiers."""
_NATURAL: dict[str, Any] = package_yaml("templates/natural_sources.yaml")
EXEMPT: dict[str, dict[str, str]] = {
    source: (_NATURAL["exempt"] if source in NATURAL_SOURCES else {}) | _NATURAL["exempt_by_source"].get(source, {})
    for source in WORDED_BY_PEOPLE
}
"""Checks that do not apply to a source of questions that people worded, each with its reason."""


def validate_pool(
    pool: Path,
    limits: PoolThresholds,
    *,
    leak_check: Path | None,
    by_task: tuple[Task, ...],
    reference: Reference,
    out: Path,
    workers: Workers | None = None,
) -> Report:
    """Writes the report to `out`, whatever the verdict. The workers do not change it."""
    started = now()
    for flag in ("min_distinct2", "leak_sim", "max_shortcut_auc"):
        require_share(getattr(limits, flag), f"--{flag.replace('_', '-')}")
    refuse_overlap({"--out": out}, {"POOL": pool, **({"--leak-check": leak_check} if leak_check else {})})
    meta = read_meta(pool)
    if leak_check and not leak_check.exists():
        remedy = (
            "name this pool's held-out samples with --leak-check; `askgate shadow-run --materialize FILE` draws them"
        )
        raise BadInput("no such file", where=f"--leak-check {leak_check}", remedy=remedy)
    shadow = read_shadow(leak_check, meta) if leak_check else []
    scanned = scan(pool, meta, {sample.provenance.source_id for sample in shadow}, workers)
    if absent := [task for task in by_task if task not in scanned.tasks()]:
        remedy = f"the pool has {', '.join(scanned.tasks())}: give --by-task {','.join(scanned.tasks())}"
        raise BadInput(f"the pool has no samples of {', '.join(absent)}", where=str(pool), remedy=remedy)

    v1, rebuilt = read_reference(scanned, meta, reference)
    scopes = wording_by_scope(scanned, meta, v1)
    prompt_shards = [[chunk.prompts for chunk in shard] for shard in scanned.shards]
    duplicates = near_duplicates_in_shards(prompt_shards, scanned.prompt_tokens, scanned.workers)
    prompts, observations = _shortcuts(scanned, measuring_seed(meta))
    # Texts that could not be compared with all others count as duplicates: see `near_duplicates`.
    duplicate_percent = 100 * (duplicates.count + duplicates.unresolved) / duplicates.texts
    checks = [
        *_wording_checks(scopes, by_task, limits),
        _check("roles", count_covered(scanned.roles), ">=", limits.roles_min),
        _check("styles", count_covered(scanned.registers), ">=", limits.styles_min),
        _check("dup_pct", duplicate_percent, "<=", limits.max_dup_pct),
        _check("len_min", int(scanned.lengths.min()), ">=", limits.min_len),
        _check("len_max", int(scanned.lengths.max()), "<=", limits.max_len),
        *mix_checks({task: len(scanned.where(task)) for task in scanned.tasks()}, meta.mix),
        *_shortcut_checks("shortcut_auc", prompts, meta, limits.max_shortcut_auc),
        *_shortcut_checks("shortcut_observation", observations, meta, limits.max_shortcut_auc),
        _check("consistency", len(scanned.contradicting), "==", 0),
        *_sidecar_checks(scanned, meta, rebuilt),
    ]
    exempt = EXEMPT.get(meta.source, {})
    if meta.source == "messages":
        exempt = exempt | {item.name: OWN_TOO_SMALL_REASON for item in checks if item.value is None}
    checks = [item for item in checks if item.name not in exempt and item.name.partition("[")[0] not in exempt]
    for task in sorted(tasks_too_few_to_measure(prompts, meta)):
        exempt = exempt | {f"shortcut_auc[{task}]": TOO_FEW_REASON, f"shortcut_observation[{task}]": TOO_FEW_REASON}
    figures: dict[str, Any] = {
        "exempt": exempt,
        "samples": scanned.n,
        "diversity": diversity_figures(scanned, scopes),
        "duplicates": _duplicate_figures(duplicates, scanned),
        "lengths": _length_figures(scanned, limits),
        "shortcut": _by_scope(prompts),
        "shortcut_observation": _by_scope(observations),
        "consistency": {"broken_rules": dict(scanned.broken_rules), "samples": scanned.contradicting[:EXAMPLES]},
    }
    if leak_check:
        shards = [([c.prompts for c in shard], [c.originals for c in shard]) for shard in scanned.shards]
        sizes = [sum(chunk.samples for chunk in shard) for shard in scanned.shards]
        views = leak_views(shadow)
        similar = similar_in_shards(shards, sizes, views, limits.leak_ngram, limits.leak_sim, scanned.workers)
        checks.append(_check("leak_similar", similar.count, "==", 0))
        checks.append(_check("leak_source_ids", len(scanned.from_shadow), "==", 0))
        figures["leak"] = _leak_figures(similar, scanned, shadow)
    checks = [with_fitting_remedy(item, meta.source) for item in checks]
    inputs = [pool, sidecar(pool), *([leak_check, sidecar(leak_check)] if leak_check else [])]
    arguments = {"pool": str(pool), **limits.model_dump()}
    arguments |= {"leak_check": str(leak_check) if leak_check else None, "by_task": list(by_task)}
    made = report("validate_pool", checks, figures, evidence(inputs, [], arguments, started))
    write_json(out, made)
    return made


def _check(name: str, value: float | None, rule: Rule, threshold: float, *scope: str) -> Check:
    full = f"{name}[{','.join(scope)}]" if scope else name
    return check(full, value, rule, threshold, *remedies("pool")[name])


def with_fitting_remedy(item: Check, source: str) -> Check:
    """The check, with the remedy for a value that could not be measured or for questions that people worded, if there
    is one."""
    name = item.name.partition("[")[0]
    key = "unmeasured" if item.value is None else f"{name}_own" if source in WORDED_BY_PEOPLE else name
    en, zh = remedies("pool").get(key, (item.remedy, item.remedy_zh))
    return msgspec.structs.replace(item, remedy=en, remedy_zh=zh)


def _wording_checks(scopes: dict[Scope, Wording], by_task: tuple[Task, ...], limits: PoolThresholds) -> list[Check]:
    checks = []
    for task in (None, *by_task):
        scope, wording = [task] if task else [], scopes[task, None]
        checks.append(_check("distinct2", wording.distinct2, ">=", limits.min_distinct2, *scope))
        checks.append(_check("kl3", wording.kl3_excess, ">=", limits.kl3_min, *scope))
    return checks


TOO_FEW_REASON = f"the source has fewer than {MIN_EACH} ambiguous samples of this task, too few to measure a shortcut"
OWN_TOO_SMALL_REASON = (
    "the pool of your own dialogues is too small to measure: this takes 5,000 tokens (distinct2) or "
    f"{MIN_EACH} ambiguous and as many complete samples (shortcuts)"
)


def in_chinese(reason: str) -> str:
    """The Chinese text of a reason for an exemption, or the reason where there is none."""
    table = {
        TOO_FEW_REASON: _NATURAL["too_few_zh"],
        OWN_TOO_SMALL_REASON: _NATURAL["own_too_small_zh"],
        **_NATURAL["reasons_zh"],
    }
    return str(table.get(reason, reason)).replace("{each}", str(MIN_EACH))


ShortcutAucs = dict[tuple[Task, Lang | None], ShortcutAuc]


def _shortcuts(scanned: PoolScan, seed: int) -> tuple[ShortcutAucs, ShortcutAucs]:
    """Shortcut AUC of prompts and of observations per task and, where a task has several languages, per language."""
    scopes: list[tuple[Task, Lang | None]] = []
    for task in scanned.tasks():
        present = [lang for lang in LANGS if len(scanned.where(task, lang))]
        scopes += [(task, lang) for lang in (None, *(present if len(present) > 1 else ()))]
    workers = scanned.workers
    if workers.count == 1:
        workers = local_workers(scanned.n >= PARALLEL_FROM, most=4)
    # Takes 1.5 s. Imported here, so that it is loaded once for all forked workers, and not by other stages.
    import sklearn.ensemble
    import sklearn.linear_model
    import sklearn.model_selection  # noqa: F401

    found = list(workers.map(_prompt_and_observation_auc, ((scanned.observed.kept(*scope), seed) for scope in scopes)))
    prompts, observations = (dict(zip(scopes, side, strict=True)) for side in zip(*found, strict=True))
    return prompts, observations


def _prompt_and_observation_auc(seen: list[Observed], seed: int) -> tuple[ShortcutAuc, ShortcutAuc]:
    """Shortcut AUC of prompts and of observations."""
    needs = np.array([sample.needs for sample in seen], dtype=np.bool_)
    return shortcut_auc([sample.prompt for sample in seen], needs, seed), observation_auc(seen, seed)


def _shortcut_checks(name: str, shortcuts: ShortcutAucs, meta: PoolMeta, max_shortcut_auc: float) -> list[Check]:
    """One check per task and language. A language with too few samples has none: it is checked with its task. A task
    that cannot be measured fails, unless no ambiguous samples were asked for or the source has too few."""
    checks = []
    for (task, lang), auc in shortcuts.items():
        if auc.lower is not None or (
            lang is None and meta.clarify_rate > 0 and task not in tasks_too_few_to_measure(shortcuts, meta)
        ):
            scope = [task, lang] if lang else [task]
            checks.append(_check(name, auc.lower, "<=", max_shortcut_auc, *scope))
    return checks


def tasks_too_few_to_measure(shortcuts: ShortcutAucs, meta: PoolMeta) -> set[Task]:
    """Tasks with too few ambiguous samples to measure a shortcut, because the source has no more of them.

    The sidecar tells how many the source lacked, and the checks `clarify_rate` and `rebuilt` verify the sidecar.
    """
    return {task for (task, _), auc in shortcuts.items() if auc.needing < MIN_EACH and meta.fewer_ambiguous.get(task)}


def _by_scope(shortcuts: ShortcutAucs) -> dict[str, ShortcutAuc]:
    return {f"{task},{lang}" if lang else task: auc for (task, lang), auc in shortcuts.items()}


def _sidecar_checks(scanned: PoolScan, meta: PoolMeta, rebuilt: list[int]) -> list[Check]:
    """Whether the pool is what its sidecar asks for. A balanced pool is drawn from another one, so neither its order
    nor its share of asks can be compared."""
    if meta.kind == "balanced":
        return []
    # The builder gives every task whole samples, rounded down: of 16 at a rate of 0.30 four need an ask.
    asked = sum(int(meta.clarify_rate * len(scanned.where(task)) + 1e-6) for task in scanned.tasks())
    possible = (asked - sum(meta.fewer_ambiguous.values())) / meta.n
    off = abs(float(scanned.needs.mean()) - possible) * 100
    differing = sum(ours != theirs for ours, theirs in zip(scanned.task_hashes, rebuilt, strict=False))
    return [_check("clarify_rate", off, "<=", 100 * MIX_TOLERANCE), _check("rebuilt", differing, "==", 0)]


def _duplicate_figures(duplicates: NearDuplicates, scanned: PoolScan) -> dict[str, Any]:
    ids = scanned.ids(place for pair in duplicates.examples for place in pair)
    return {
        "exact": duplicates.exact,
        "near": duplicates.count - duplicates.exact,
        "unresolved": duplicates.unresolved,
        "examples": [[ids[earlier], ids[later]] for earlier, later in duplicates.examples],
    }


def _length_figures(scanned: PoolScan, limits: PoolThresholds) -> dict[str, Any]:
    lengths = scanned.lengths
    outside = np.flatnonzero((lengths < limits.min_len) | (lengths > limits.max_len))
    return {
        "min": int(lengths.min()),
        **dict(zip(("p10", "p50", "p90"), np.percentile(lengths, [10, 50, 90]).tolist(), strict=True)),
        "max": int(lengths.max()),
        "outside": len(outside),
        "examples": list(scanned.ids(outside[:EXAMPLES].tolist()).values()),
    }


def _leak_figures(similar: SimilarSamples, scanned: PoolScan, shadow: list[Sample]) -> dict[str, Any]:
    ids = scanned.ids(one.pool for one in similar.examples)
    examples = [
        {"pool": ids[one.pool], "shadow": shadow[one.shadow].id, "similarity": one.similarity}
        for one in similar.examples
    ]
    return {"similar": examples, "same_source": scanned.from_shadow[:EXAMPLES]}
