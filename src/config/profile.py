"""A profile: which files a round looks at, how much of everything a run makes, and what the figures must reach.

`configs/gates/quickstart.yaml` is the embedded loop in minutes, `configs/gates/rc1.yaml` the owner's numbers. They have
the same thresholds of quality; they differ in sizes and in what the training config and the machine must have. The code
holds no threshold.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator

from ..core.errors import BadInput
from ..core.types import TASKS, Level, Task
from .loader import load
from .schema import FilePath, Listed, Section, Share, sums_to_one
from .train_config import TrainConfig, WatchSection

FOLDER = Path("configs/gates")
ProfileName = Literal["quickstart", "rc1"]
NAMES: tuple[ProfileName, ...] = ("quickstart", "rc1")
"""Weakest first. A ticket of one profile is good for that one alone."""
Count = Annotated[int, Field(ge=1)]


class Paths(Section):
    """Where a run of this profile has its files, from the folder it runs in."""

    shadow_set: FilePath
    shadow_manifest: FilePath
    pool: FilePath
    metrics: FilePath
    balanced: FilePath
    weights: FilePath
    baseline: FilePath
    config: FilePath
    """The training config that a ticket is for."""
    ablation_config: FilePath
    """The training config of both arms of the ablation."""
    trial: FilePath | None
    """A second one, of the trial before it, that the same ticket covers."""
    templates: FilePath
    ledger: FilePath
    pool_report: FilePath
    difficulty_report: FilePath
    shadow_report: FilePath
    calibration_report: FilePath
    ablation_report: FilePath
    shadow_episodes: FilePath
    """Recorded episodes of the base policy on the shadow set."""
    shadow_scores: FilePath
    """The judge's stored replies on them."""
    calibration_episodes: FilePath
    """Recorded episodes of the base policy on samples of the pool."""
    calibration_scores: FilePath
    ablation_episodes: FilePath
    """Folder with the held-out episodes of both arms of every seed."""


class AblationSizes(Section):
    steps: Count
    """Training steps of each of the two policies."""
    seeds: Annotated[tuple[int, ...], Listed, Field(min_length=1)]
    samples: Count
    """Held-out samples that both arms play."""


class Sizes(Section):
    pool: Count
    shadow_set: Count
    """Samples of the shadow set."""
    shadow: Count
    """Samples of the shadow set that the shadow run uses, a random sample."""
    live: Count
    """Episodes on the shadow set that the judge scores."""
    calibration: Count
    """Episodes on samples of the pool that weights are fitted to."""
    calibration_live: Count
    """Of these, episodes that the judge scores."""
    fresh: Count
    """Samples that each round draws at random and scores live."""
    probe: Count
    ablation: AblationSizes


class PoolThresholds(Section):
    """The flags of validate_pool."""

    min_distinct2: Share
    kl3_min: float
    roles_min: int
    styles_min: int
    max_dup_pct: float
    max_len: int
    min_len: int
    leak_ngram: int
    leak_sim: Share
    max_shortcut_auc: Share


class DifficultyThresholds(Section):
    """The flags of validate_difficulty."""

    min_hard_pct: Share
    max_easy_pct: Share
    len_max: int
    turns_max: int
    tool_hops_max: int
    clue_overlap_max_easy: Share
    clue_overlap_min_hard: Share


class CalibrationSettings(Section):
    """The flags of weight_calib. Folds or a seed that were chosen after a look at the verdict would measure nothing."""

    cv: Annotated[int, Field(ge=2)]
    boot: Count
    l2: Annotated[float, Field(ge=0)]
    seed: Annotated[int, Field(ge=0)]


class CountThresholds(Section):
    """Least amount of evidence."""

    pool_samples: Count
    shadow_samples: Count
    shadow_episodes: Count
    shadow_live: Count
    calibration_episodes: Count
    calibration_live: Count
    ablation_episodes: Count
    """Of each arm and seed."""
    ablation_seeds: Count


class ConfigThresholds(Section):
    """What the training config must say (seed 001, section 4)."""

    datasets: dict[Task, Share]
    steps_min: Count
    target_kl_min: float
    target_kl_max: float
    kl_alert_max: float
    by_difficulty: dict[Level, Share]
    seed_ratio_min: Share
    """Share of a batch from the measured pool, least, at every step."""
    low_perf_cap_max: Share
    watch: WatchSection
    """The limits of the watch on reward hacking, most."""
    seeds_min: Count
    qlora: bool
    """Whether `finetune.method` must be `qlora`."""
    live_mode: bool
    """Whether `live_mode` must be on."""

    @field_validator("datasets")
    @classmethod
    def _whole(cls, datasets: dict[Task, float]) -> dict[Task, float]:
        sums_to_one(datasets.values())
        return datasets


class Thresholds(Section):
    counts: CountThresholds
    pool: PoolThresholds
    difficulty: DifficultyThresholds
    weight_max: Share
    calibration: CalibrationSettings
    rank_corr_gain_pct_min: float
    mae_change_pct_max: float
    spearman_min: float
    top10_min: Share
    corr_improve_pct_min: float
    overclar_change_pct_max: Annotated[float, Field(ge=-100)]
    """Change of the over-clarification rate in percent, most: penalty against none, trained policy against base."""
    overclar_small: Share
    """A rate below this leaves no room for a relative fall; the other policy must then stay below it too."""
    turns_change_max: float
    success_drop_points_max: Annotated[float, Field(ge=0, le=100)]
    """Percentage points of success that the penalty may cost."""
    need_ask_pp_min: float
    """Percentage points of need-ask success that a trained policy gains over its base, least."""
    hard_pp_min: float
    """The same for success on hard samples of hotpotqa and strategyqa."""
    cache_hit_lt_round1: Share
    cache_hit_lt_round2: Share
    fresh_unstable_share_max: Share
    """Share of the freshly scored samples on whose votes the judge may disagree with itself."""
    disk_free_gb_min: float
    config: ConfigThresholds


class Profile(Section):
    name: ProfileName
    paths: Paths
    sizes: Sizes
    thresholds: Thresholds
    owner_key: FilePath | None
    """The owner's public key (PEM, Ed25519). Where it is set, training also needs a signed go-ahead."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        return tuple(task for task in TASKS if self.thresholds.config.datasets.get(task, 0) > 0)


def profile_for(config: TrainConfig) -> Profile:
    """The profile whose thresholds apply to a training config. Local configs go by those of quickstart."""
    return load_profile("quickstart" if config.profile == "local" else config.profile)


def profile_path(name: str) -> Path:
    return FOLDER / f"{name}.yaml"


def load_profile(name: str) -> Profile:
    """`quickstart` or `rc1`: the user's own file of that name where there is one, else the one that came along."""
    if name not in NAMES:
        raise BadInput(f"there is no profile {name!r}", where="--profile", remedy=f"choose {' or '.join(NAMES)}")
    path = profile_path(name)
    found = load(path, Profile)
    if found.name != name:
        raise BadInput(f"says that it is {found.name!r}", where=str(path), remedy=f"set name: {name}")
    return found
