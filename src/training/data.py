"""The two data files of a run: the seed pool that it trains on, and the held-out samples that it is evaluated on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from askgate_env.types import TASKS, Level, Sample

from ..config.train_config import BuildSection, TrainConfig
from ..core import defaults
from ..core.errors import BadInput
from ..core.files import sidecar
from ..core.jsonl import read_records, read_unique
from ..data.difficulty.metrics import measure_all
from ..data.pool.meta import read_meta
from ..data.pool.plan import BuildPlan
from ..data.pool.shadow_set import evenly_spaced, materialize_shadow
from ..data.pool.source import NATURAL_SOURCES
from ..runtime.progress import Reporter

MINIMAL = (Path("data/train_min.jsonl"), Path("data/eval_min.jsonl"))
"""The files that `askgate make-min-data` makes."""
FILES = ("seed_pool", "shadow_set")
"""Settings that name the data files."""


def require_data(config: TrainConfig, keys: Sequence[str] = FILES) -> None:
    """Refuses a config whose files are missing, with the command that makes them, unless it has a `build` section."""
    if config.build:
        return
    for key in keys:
        path: Path = getattr(config, key)
        if not path.is_file():
            raise BadInput(f"{path} is not there", where=key, remedy=f"make it: {_command(config, key, path)}")


def _command(config: TrainConfig, key: str, path: Path) -> str:
    """The command that makes a missing data file."""
    mix = ",".join(f"{task}:{share:g}" for task, share in config.datasets.items())
    if path in MINIMAL:
        return "askgate make-min-data"
    other = config.seed_pool if key == "shadow_set" else config.shadow_set
    if sidecar(other).is_file() and (meta := read_meta(other)).data_dir:  # both come from the user's own files
        flags = f"--source {meta.source} --data-dir {meta.data_dir}"
        if meta.source not in NATURAL_SOURCES:
            flags += f" --mix {mix}"
        if key == "shadow_set":
            return f"askgate shadow-run {flags} --n N --materialize {path}"
        return f"askgate build-rollout-pool {flags} --n N --out {path}"
    if key == "shadow_set":
        return f"askgate shadow-run --stratify --mix {mix} --materialize {path}"
    if not path.name.endswith(".balanced.jsonl"):
        return f"askgate build-rollout-pool --mix {mix} --out {path}"
    pool = path.with_name(path.name.replace(".balanced.jsonl", ".jsonl"))
    metrics = pool.with_suffix(".metrics.jsonl")
    return (
        f"askgate build-rollout-pool --mix {mix} --out {pool} && askgate difficulty-metrics --in {pool} --out {metrics}"
        f" && askgate difficulty-bucketize --metrics {metrics} --out {path}"
    )


def build_missing(config: TrainConfig, reporter: Reporter, keys: Sequence[str] = FILES) -> None:
    """Builds the files that are missing by the `build` section. A file that exists is never overwritten."""
    from ..data.pool.build import build_pool  # the generators take 60 ms, and reading needs none

    if config.build and "shadow_set" in keys and not config.shadow_set.exists():
        shadow = _plan(config, config.build, config.build.shadow_n)
        materialize_shadow(shadow, stratify=True, out=config.shadow_set, manifest=None, tag="")
        reporter.message(f"made {config.shadow_set}: {shadow.n} held-out samples")
    if config.build and "seed_pool" in keys and not config.seed_pool.exists():
        pool = _plan(config, config.build, config.build.n)
        with reporter.progress(f"making {config.seed_pool}", pool.n) as progress:
            build_pool(pool, config.seed_pool, progress)
        reporter.message(f"made {config.seed_pool}: {pool.n} samples")


def _plan(config: TrainConfig, build: BuildSection, n: int) -> BuildPlan:
    if not set(config.datasets) <= set(TASKS):
        what = f"`build` makes samples of {', '.join(TASKS)} only"
        raise BadInput(what, where="datasets", remedy="make the pool with askgate build-rollout-pool --source NAME")
    return BuildPlan(n=n, mix=config.datasets, seed=defaults.SEED, langs=build.lang, templates_dir=defaults.TEMPLATES)


def require_mix(config: TrainConfig) -> None:
    """Refuses a pool whose shares of the tasks differ from those in the config."""
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
    """Held-out samples of an evaluation with their levels."""
    samples = held_out_samples(config)
    return samples, [record.level for record in measure_all(samples)]


def held_out_samples(config: TrainConfig) -> list[Sample]:
    """Held-out samples of an evaluation: `eval.n` of them, evenly spaced, or all."""
    return evenly_spaced(list(read_unique(config.shadow_set, Sample)), config.eval.n)
