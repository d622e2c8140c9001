"""The gates `pool` and `difficulty`, measured on the pool files. Nothing is taken from the reports of the stages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from askgate_env.types import Sample, Task

from ...config.profile import Paths
from ...core.check import check, remedies
from ...core.defaults import MIX_TOLERANCE
from ...core.files import sha256_file
from ...core.jsonl import read_lines
from ...data.difficulty.validate_difficulty import validate_difficulty
from ...data.pool.build import plan_of, rebuilt_samples, reference_samples
from ...data.pool.meta import derived_meta, read_meta
from ...data.pool.plan import BuildPlan
from ...data.pool.shadow_set import read_set
from ...data.quality.consistency import contradictions
from ...data.quality.validate_pool import validate_pool
from ..gate import Finding, RoundContext, evidence_of, findings_of, measured_file, write_measured


def pool_findings(context: RoundContext) -> list[Finding]:
    paths, limits, remedy = context.profile.paths, context.profile.thresholds, remedies("gates")
    report = validate_pool(
        paths.pool,
        limits.pool,
        reference=reference_samples,
        out=measured_file(context, "pool"),
        leak_check=paths.shadow_set,
        by_task=context.profile.tasks,
    )
    shadow, meta = read_set(paths.shadow_set), read_meta(paths.shadow_set)
    contradicting = sum(bool(contradictions(sample, meta)) for sample in shadow)
    more = [
        check("pool_samples", report.figures["samples"], ">=", limits.counts.pool_samples, *remedy["pool_samples"]),
        check("shadow_samples", len(shadow), ">=", limits.counts.shadow_samples, *remedy["shadow_samples"]),
        check("shadow_consistency", contradicting, "==", 0, *remedy["shadow_consistency"]),
        check("shadow_rebuilt", _not_rebuilt(paths, shadow), "==", 0, *remedy["shadow_rebuilt"]),
        check("shadow_plan", _other_plan(paths, limits.config.datasets), "==", 0, *remedy["shadow_plan"]),
    ]
    return findings_of("pool", [*report.checks, *more], report.evidence.inputs)


def _not_rebuilt(paths: Paths, shadow: list[Sample]) -> int:
    """Number of samples that are missing, too many, or in any way different from those that the builder makes by the
    sidecar's plan and the profile's templates."""
    meta = read_meta(paths.shadow_set)
    again = list(rebuilt_samples(meta, meta.n, paths.templates))
    return sum(ours != theirs for ours, theirs in zip(shadow, again, strict=False)) + abs(len(shadow) - len(again))


def _other_plan(paths: Paths, mix: Mapping[Task, float]) -> int:
    """Number of settings in the shadow set's plan that are not those of `shadow-run` on the pool's source, plus 1 if
    its mix is not the profile's. `_not_rebuilt` alone would accept a set of easier questions."""
    plan, pool = plan_of(read_meta(paths.shadow_set)), plan_of(read_meta(paths.pool))
    usual = BuildPlan(
        plan.n, plan.mix, plan.seed, pool.langs, plan.templates_dir,
        source=pool.source, data_dir=pool.data_dir, split="shadow",
    )  # fmt: skip
    others = [name for name in BuildPlan.__struct_fields__ if getattr(plan, name) != getattr(usual, name)]
    is_other_mix = any(abs(plan.mix.get(task, 0) - mix.get(task, 0)) > MIX_TOLERANCE for task in {*plan.mix, *mix})
    return len(others) + (1 if is_other_mix else 0)


def difficulty_findings(context: RoundContext) -> list[Finding]:
    paths, limits, remedy = context.profile.paths, context.profile.thresholds, remedies("gates")
    report = validate_difficulty(paths.metrics, paths.balanced, limits.difficulty)
    write_measured(context, "difficulty", report.checks, report.figures)
    pool = sha256_file(paths.pool)
    derived = {"metrics": paths.metrics, "balanced": paths.balanced}
    of_other_pool = sum(read_meta(path).parent_sha256 != pool for path in derived.values())
    edited = sum(_is_edited(path, kind, paths.pool) for kind, path in derived.items())
    more = [
        check("not_from_this_pool", of_other_pool, "==", 0, *remedy["not_from_this_pool"]),
        check("sidecars_edited", edited, "==", 0, *remedy["sidecars_edited"]),
    ]
    return findings_of("difficulty", [*report.checks, *more], report.evidence.inputs | evidence_of(paths.pool))


def _is_edited(path: Path, kind: str, pool: Path) -> bool:
    """Whether a sidecar differs from the one that follows from the pool's sidecar, which the builder wrote."""
    lines = sum(1 for _ in read_lines(path))
    wanted = derived_meta(read_meta(pool), kind, lines, sha256_file(path), path, pool, sha256_file(pool))
    return read_meta(path) != wanted
