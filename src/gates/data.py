"""The data gates, measured again on the pool files: nothing is taken from the reports of the stages."""

from __future__ import annotations

from pathlib import Path

from ..core.check import check
from ..core.files import sha256_file
from ..core.jsonl import read_lines
from ..core.types import Sample
from ..data.difficulty.metrics import Parent, derived_meta, where_from
from ..data.difficulty.validate_difficulty import validate_difficulty
from ..data.pool.build import reference_samples
from ..data.pool.meta import read_meta
from ..data.pool.shadow_set import read_set
from ..data.quality.consistency import differing, task_hash
from ..data.quality.validate_pool import validate_pool
from .finding import Finding, found, read
from .look import Look

_MORE = ("build a larger pool: build_rollout_pool --n", "请构建更大的样本池：build_rollout_pool --n")
_SHADOW = ("materialize a larger shadow set: shadow_run --n", "请物化更大的影子集：shadow_run --n")
_REBUILD = (
    "these are not the samples that the builder gives: materialize the shadow set again and do not edit it",
    "影子集与构建器的结果不符：请重新物化影子集，不可手工修改",
)
_PARENT = (
    "make metrics and balanced pool again from this pool: difficulty_metrics, then difficulty_bucketize",
    "请用这个样本池重新生成指标与平衡池：先 difficulty_metrics，再 difficulty_bucketize",
)
_SIDECAR = (
    "what their sidecars say is not what the pool's says, and training makes samples by it: run difficulty_metrics and"
    " difficulty_bucketize again",
    "指标与平衡池的元数据与样本池不符，而训练会据此生成样本：请重新运行 difficulty_metrics 与 difficulty_bucketize",
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
    shadow = read_set(paths.shadow_set)
    more = [
        check("pool_samples", made.figures["samples"], ">=", limits.counts.pool_samples, *_MORE),
        check("shadow_samples", len(shadow), ">=", limits.counts.shadow_samples, *_SHADOW),
        check("shadow_rebuilt", _not_rebuilt(paths.shadow_set, shadow), "==", 0, *_REBUILD),
    ]
    return found("pool", [*made.checks, *more], made.evidence.inputs)


def _not_rebuilt(path: Path, shadow: list[Sample]) -> int:
    """Samples that are not what the builder gives for the sidecar's plan, and those too many or too few."""
    meta = read_meta(path)
    again = [task_hash(sample) for sample in reference_samples(meta, meta.n)]
    return differing(map(task_hash, shadow), again) + abs(len(shadow) - len(again))


def difficulty_findings(look: Look) -> list[Finding]:
    paths, limits = look.profile.paths, look.profile.thresholds
    made = validate_difficulty(
        paths.metrics, paths.balanced, out=look.work / "difficulty_report.json", **limits.difficulty.model_dump()
    )
    pool = sha256_file(paths.pool)
    strange = sum(read_meta(path).parent_sha256 != pool for path in (paths.metrics, paths.balanced))
    derived = {"metrics": paths.metrics, "balanced": paths.balanced}
    edited = sum(_is_edited(path, kind, paths.pool) for kind, path in derived.items())
    more = [
        check("not_from_this_pool", strange, "==", 0, *_PARENT),
        check("sidecars_edited", edited, "==", 0, *_SIDECAR),
    ]
    return found("difficulty", [*made.checks, *more], made.evidence.inputs | read(paths.pool))


def _is_edited(path: Path, kind: str, pool: Path) -> bool:
    """Whether its sidecar says anything but what follows from the pool's, which the builder was held to."""
    lines = sum(1 for _ in read_lines(path))
    parent = Parent(where_from(path, pool), sha256_file(pool))
    return read_meta(path) != derived_meta(read_meta(pool), kind, sha256_file(path), lines, parent)
