"""Gate profiles: the files of a run, its sizes, and the thresholds of its gates.

`configs/gates/rc1.yaml` has the owner's numbers; `configs/gates/quickstart.yaml` is the built-in loop in minutes. Both
have the same thresholds of quality and differ in sizes and in what the training config and the machine must have.
Limits that define what a check means, such as the tolerance of the task mix, are in the code (docs/gates.md).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

from pydantic import Field

from askgate_env.types import TASKS, Level, Task

from ..core.defaults import ProfileName, SourceName
from ..core.errors import BadInput
from ..core.files import real_path
from .judge_config import ScoringSection
from .loader import load, load_config
from .schema import FilePath, Listed, Section, Share, TaskShares
from .train_config import TrainConfig, WatchSection

FOLDER = Path("configs/gates")
NAMES: tuple[ProfileName, ...] = get_args(ProfileName)
"""Weakest first. A ticket of one profile is good for that one alone."""
LOCAL_LEDGER = Path("reports/rc1/local_scoring_ledger.jsonl")
"""Ledger of runs and recordings that no profile is about."""
Count = Annotated[int, Field(ge=1)]
Minimum = Annotated[float, Field(ge=0)]
Percent = Annotated[float, Field(ge=0, le=100)]
Correlation = Annotated[float, Field(ge=-1, le=1)]


class Paths(Section):
    """Files of a run, relative to its folder."""

    shadow_set: FilePath
    shadow_manifest: FilePath
    pool: FilePath
    metrics: FilePath
    balanced: FilePath
    weights: FilePath
    baseline: FilePath
    config: FilePath
    """Training config that a ticket covers."""
    ablation_config: FilePath
    trial: FilePath | None
    """A second training config that the same ticket covers."""
    templates: FilePath
    ledger: FilePath
    pool_report: FilePath
    difficulty_report: FilePath
    shadow_report: FilePath
    calibration_report: FilePath
    ablation_report: FilePath
    shadow_episodes: FilePath
    """Episodes of the base policy on the shadow set."""
    shadow_scores: FilePath
    calibration_episodes: FilePath
    """Episodes of the base policy on samples of the pool."""
    calibration_scores: FilePath
    ablation_episodes: FilePath
    """Folder with the held-out episodes of both ablation runs of every seed."""


class AblationSizes(Section):
    """Size of the ablation of the over-clarification penalty."""

    steps: Count
    seeds: Annotated[tuple[int, ...], Listed, Field(min_length=1)]
    samples: Count


class Sizes(Section):
    """Number of samples and episodes of each stage."""

    pool: Count
    shadow_set: Count
    shadow: Count
    """Samples that the shadow run draws from the shadow set."""
    live: Count
    """Episodes of the shadow run that the judge scores."""
    calibration: Count
    """Episodes that weights are fitted to."""
    calibration_live: Count
    scored: Annotated[int, Field(ge=0)]
    """Samples of the balanced pool that are scored live, to find those on which the judge's votes disagree."""
    fresh: Count
    """Samples that each round draws and scores live."""
    probe: Count
    ablation: AblationSizes


class PoolThresholds(Section):
    """The flags of validate_pool."""

    min_distinct2: Share
    kl3_min: float
    roles_min: Count
    styles_min: Count
    max_dup_pct: Percent
    max_len: Count
    min_len: Count
    leak_ngram: Count
    leak_sim: Share
    max_shortcut_auc: Share


class DifficultyThresholds(Section):
    """The flags of validate_difficulty."""

    min_hard_pct: Share
    max_easy_pct: Share
    len_max: Count
    turns_max: Count
    tool_hops_max: Count
    clue_overlap_max_easy: Share
    clue_overlap_min_hard: Share


class CalibrationSettings(Section):
    """The flags of weight_calib, fixed in advance: a seed chosen after seeing the verdict would measure nothing."""

    cv: Annotated[int, Field(ge=2)]
    boot: Count
    l2: Annotated[float, Field(ge=0)]
    seed: Annotated[int, Field(ge=0)]


class CountThresholds(Section):
    """Minimum amount of evidence."""

    pool_samples: Count
    shadow_samples: Count
    shadow_episodes: Count
    shadow_live: Count
    calibration_episodes: Count
    calibration_live: Count
    ablation_episodes: Count
    """Held-out episodes per ablation run and seed."""
    ablation_seeds: Count
    judge_samples: Annotated[int, Field(ge=4)]
    """Good dialogues with a canary each, and repeated scores of episodes, that show whether the judge reads."""
    eval_samples: Count


class JudgeThresholds(Section):
    """Thresholds for a judge that reads what it scores."""

    required: bool
    """Whether a judge that does not fails the round (red). Otherwise the owner must sign it off (amber)."""
    noise_max: Share
    """Limit on the share of the variance that is within repeats of a dialogue. The share must be below it."""
    canaries_fooled_max: Share
    """Maximum share of canaries that score at least as high as the good dialogue."""


class ConfigThresholds(Section):
    """Settings that the training config must have (document 001, section 4; see docs/internal/seeds.md)."""

    datasets: TaskShares
    steps_min: Count
    trial_steps_min: Count = 1
    """Minimum of `steps` in the trial (`paths.trial`). Profiles of earlier packages do not have it."""
    target_kl_min: Minimum
    target_kl_max: Minimum
    kl_alert_max: Minimum
    by_difficulty: dict[Level, Share]
    seed_ratio_min: Share
    """Minimum share of a batch from the measured pool, at every step."""
    low_perf_cap_max: Share
    watch: WatchSection
    """Upper bounds of the limits at which signs of reward hacking stop a run."""
    seeds_min: Count
    control_lr_min: Minimum
    control_lr_max: Minimum
    """Range of `eval.control_lr`, the learning rate of the SFT control."""
    qlora: bool
    live_mode: bool


class Thresholds(Section):
    """Thresholds of all gates."""

    counts: CountThresholds
    pool: PoolThresholds
    difficulty: DifficultyThresholds
    weight_max: Share
    calibration: CalibrationSettings
    rank_corr_gain_pct_min: float
    mae_change_pct_max: float
    spearman_min: Correlation
    top10_min: Share
    corr_improve_pct_min: float
    overclar_change_pct_max: Annotated[float, Field(ge=-100)]
    """Maximum change of the over-clarification rate in percent: with penalty against without, trained against base."""
    overclar_small: Annotated[float, Field(ge=0, le=0.05)]
    """A rate below this leaves no room for a relative fall; the other policy must then stay below it too."""
    turns_change_max: float
    success_drop_points_max: Annotated[float, Field(ge=0, le=100)]
    """Maximum percentage points of success that the penalty may cost."""
    need_ask_pp_min: float
    """Minimum gain of a trained policy over its base in need-ask success, in percentage points."""
    hard_pp_min: float
    """Minimum gain in success on hard samples of hotpotqa and strategyqa."""
    cache_hit_lt_round1: Share
    cache_hit_lt_round2: Share
    fresh_unstable_share_max: Share
    """Maximum share of freshly scored samples with disagreeing votes."""
    judge: JudgeThresholds
    trial_required: bool
    """Whether `paths.config` may only be trained after a trial (`paths.trial`) that passed its gates."""
    disk_free_gb_min: Minimum
    config: ConfigThresholds


class SourceSection(Section):
    """Source of the problems of pool and shadow set, as in the flags of build-rollout-pool."""

    name: SourceName
    data_dir: FilePath | None
    reuse: Count
    """Maximum number of samples of the pool from one record, each in other words, if there are too few records. The
    sidecar of the pool counts them."""

    def flags(self) -> list[str]:
        where = ["--data-dir", str(self.data_dir)] if self.data_dir else []
        return ["--source", self.name, *where] if self.name != "builtin" else []


class Profile(Section):
    """`configs/gates/NAME.yaml`."""

    name: ProfileName
    source: SourceSection
    paths: Paths
    sizes: Sizes
    thresholds: Thresholds
    owner_key: FilePath | None
    """The owner's public key (PEM, Ed25519). If it is set, training also needs `askgate sign-off`."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        return tuple(task for task in TASKS if self.thresholds.config.datasets.get(task, 0) > 0)


def profile_for(config: TrainConfig) -> Profile:
    """The profile whose thresholds apply to a training config. Local configs use those of quickstart."""
    return load_profile("quickstart" if config.profile == "local" else config.profile)


def scoring_of(profile: Profile) -> ScoringSection:
    """Settings of live scoring, with the ledger of a profile: judges of two profiles share no ledger."""
    return _scoring(profile.paths.ledger)


def scoring_for(config: TrainConfig, path: Path | None = None) -> ScoringSection:
    """Settings of live scoring, with the ledger of the profile that a training config is for.

    That is the profile that names the config's `path`, or else the profile in the config. Local runs have a ledger of
    their own, so that neither loop finds the scores of another judge in its ledger.
    """
    profile = next((one for one in map(load_profile, NAMES) if path and _names(one, path)), None)
    if profile is None and config.profile == "local":
        return _scoring(LOCAL_LEDGER)
    return scoring_of(profile or profile_for(config))


def _names(profile: Profile, config: Path) -> bool:
    paths = profile.paths
    return real_path(config) in [real_path(one) for one in (paths.config, paths.trial, paths.ablation_config) if one]


def ledgers() -> list[Path]:
    """The ledgers of all profiles and of local runs."""
    return [*(load_profile(name).paths.ledger for name in NAMES), LOCAL_LEDGER]


def _scoring(ledger: Path) -> ScoringSection:
    return ScoringSection.model_validate({**dict(load_config().scoring), "ledger": ledger})


def profile_path(name: str) -> Path:
    return FOLDER / f"{name}.yaml"


def load_profile(name: str) -> Profile:
    """Profile `quickstart` or `rc1`: the user's own file if there is one, else the one in the package."""
    if name not in NAMES:
        raise BadInput(f"there is no profile {name!r}", where="--profile", remedy=f"choose {' or '.join(NAMES)}")
    path = profile_path(name)
    found = load(path, Profile)
    if found.name != name:
        raise BadInput(f"says that it is {found.name!r}", where=str(path), remedy=f"set name: {name}")
    return found
