"""The two files that a run reads: the pool that it trains on, and the held-out samples that it is judged by."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from ..cli import show
from ..config.train_config import BuildSection, TrainConfig
from ..core import defaults
from ..core.errors import BadInput

if TYPE_CHECKING:
    from ..core.types import Level, Sample
    from ..data.pool.plan import BuildPlan

MINIMAL = (Path("data/train_min.jsonl"), Path("data/eval_min.jsonl"))


def require(config: TrainConfig) -> None:
    """Both files are there, or the config says how to make them. Otherwise: the command that does."""
    if config.build:
        return
    for key, path in (("seed_pool", config.seed_pool), ("shadow_set", config.shadow_set)):
        if not path.is_file():
            raise BadInput(f"{path} is not there", where=key, remedy=f"make it: {_command(config, key, path)}")


def _command(config: TrainConfig, key: str, path: Path) -> str:
    mix = ",".join(f"{task}:{share:g}" for task, share in config.datasets.items())
    if path in MINIMAL:
        return "askgate make_min_data"
    if key == "shadow_set":
        return f"askgate shadow_run --stratify --mix {mix} --materialize {path}"
    if not path.name.endswith(".balanced.jsonl"):
        return f"askgate build_rollout_pool --mix {mix} --out {path}"
    pool = path.with_name(path.name.replace(".balanced.jsonl", ".jsonl"))
    metrics = pool.with_suffix(".metrics.jsonl")
    return (
        f"askgate build_rollout_pool --mix {mix} --out {pool} && askgate difficulty_metrics --in {pool} --out {metrics}"
        f" && askgate difficulty_bucketize --metrics {metrics} --out {path}"
    )


def build_missing(config: TrainConfig) -> None:
    """What is not there yet, with a bar. What is there is never written over."""
    from ..data.pool.build import build_pool
    from ..data.pool.shadow_set import materialize_shadow

    if config.build and not config.shadow_set.exists():
        shadow = _plan(config, config.build, config.build.shadow_n)
        materialize_shadow(shadow, stratify=True, out=config.shadow_set, manifest=None, tag="")
        show.complain(f"made {config.shadow_set}: {shadow.n} held-out samples")
    if config.build and not config.seed_pool.exists():
        pool = _plan(config, config.build, config.build.n)
        with show.progress(f"making {config.seed_pool}", pool.n) as progress:
            build_pool(pool, config.seed_pool, progress)
        show.complain(f"made {config.seed_pool}: {pool.n} samples")


def _plan(config: TrainConfig, build: BuildSection, n: int) -> BuildPlan:
    from ..data.pool.plan import BuildPlan

    return BuildPlan(
        n=n,
        mix=config.datasets,
        seed=build.seed,
        langs=build.lang,
        templates_dir=defaults.TEMPLATES,
        max_turns=build.max_turns,
        clarify_rate=build.clarify_rate,
        tool_hops=build.tool_hops,
        ops_numeric=build.ops_numeric,
        paraphrase=build.paraphrase,
    )


def require_mix(config: TrainConfig) -> None:
    """The pool has the tasks in the shares that the config says."""
    from ..core.jsonl import read_records
    from ..core.types import TASKS, Sample

    counts = Counter(sample.task for sample in read_records(config.seed_pool, Sample))
    for task in TASKS:
        wanted, found = config.datasets.get(task, 0.0), counts[task] / max(1, counts.total())
        if abs(wanted - found) > defaults.MIX_TOLERANCE + defaults.SUM_TOLERANCE:
            raise BadInput(
                f"{config.seed_pool} has a share of {found:.2f}, the config says {wanted:.2f}",
                where=f"datasets.{task}",
                remedy="write the pool's shares into datasets, or build the pool with that --mix",
            )


def held_out(config: TrainConfig) -> tuple[list[Sample], list[Level]]:
    """The samples that the policy is looked at with, and how hard they are; of many, some evenly apart."""
    from ..core.jsonl import read_unique
    from ..core.types import Sample
    from ..data.difficulty.metrics import measure_all
    from ..data.pool.shadow_set import evenly_spaced

    chosen = evenly_spaced(list(read_unique(config.shadow_set, Sample)), config.eval.n)
    return chosen, [record.level for record in measure_all(chosen)]
