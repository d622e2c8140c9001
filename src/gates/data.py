"""The data gates, measured again on the pool files: nothing is taken from the reports of the stages."""

from __future__ import annotations

from ..core.check import check
from ..core.files import sha256_file
from ..data.meta import read_meta
from ..data.pool import reference_samples
from ..data.validate import validate_pool
from ..data.validate_difficulty import validate_difficulty
from .finding import Finding, found, read
from .look import Look

_MORE = ("build a larger pool: build_rollout_pool --n", "请构建更大的样本池：build_rollout_pool --n")
_SHADOW = ("materialize a larger shadow set: shadow_run --n", "请物化更大的影子集：shadow_run --n")
_PARENT = (
    "make metrics and balanced pool again from this pool: difficulty_metrics, then difficulty_bucketize",
    "请用这个样本池重新生成指标与平衡池：先 difficulty_metrics，再 difficulty_bucketize",
)


def pool_findings(look: Look) -> list[Finding]:
    paths, limits = look.profile.paths, look.profile.thresholds
    made = validate_pool(
        paths.pool,
        reference=reference_samples,
        out=look.work / "pool_report.json",
        leak_check=paths.shadow_set,
        by_task=look.profile.tasks,
        **limits.pool.model_dump(),
    )
    samples, shadow = made.figures["samples"], read_meta(paths.shadow_set).n
    counts = [
        check("pool_samples", samples, ">=", limits.counts.pool_samples, *_MORE),
        check("shadow_samples", shadow, ">=", limits.counts.shadow_samples, *_SHADOW),
    ]
    return found("pool", [*made.checks, *counts], made.evidence.inputs)


def difficulty_findings(look: Look) -> list[Finding]:
    paths, limits = look.profile.paths, look.profile.thresholds
    made = validate_difficulty(
        paths.metrics, paths.balanced, out=look.work / "difficulty_report.json", **limits.difficulty.model_dump()
    )
    pool = sha256_file(paths.pool)
    strange = sum(read_meta(path).parent_sha256 != pool for path in (paths.metrics, paths.balanced))
    parent = check("not_from_this_pool", strange, "==", 0, *_PARENT)
    return found("difficulty", [*made.checks, parent], made.evidence.inputs | read(paths.pool))
