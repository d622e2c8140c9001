"""The loop as data: the stages of a profile in order, each with its command, inputs and outputs.

`askgate quickstart` and `askgate rc1` run this list, and `askgate status` shows it. Sizes, paths and thresholds come
from the profile.
"""

from __future__ import annotations

from pathlib import Path

from ..config.loader import config_files, load_train_config
from ..config.profile import Profile
from ..core.defaults import DIFFICULTY_MIX, OVERCLAR_ALPHA, OVERCLAR_CAP, SEED, TOOLS, as_flag
from ..core.files import sidecar
from ..core.paths import evaluation_report, final_models
from ..gates.ticket import REFUSAL, ROUND1, TICKET
from .runner import verb
from .stage import Stage, State

DIVERSITY = Path("reports/diversity_report.json")
BASES = {"quickstart": (Path("models/tiny"),), "rc1": ()}
"""Base model of a profile, if it is a folder. One from the hub is identified by its name in the config."""
FULL = "_full"
"""Suffix of stages that `quickstart --full` runs differently."""
REPORTS = ("shadow_run_", "calibration_report_", "overclar_ablation_")


def stages_of(profile: Profile, full: bool = False) -> list[Stage]:
    """All stages of the loop. `full`: three seeds and the SFT control (quickstart only)."""
    before, after = judge_stages(profile), [*reward_stages(profile), *gated_stages(profile, full)]
    data = data_stages(profile)
    # A judge that costs money or may not answer is tried before anything is built.
    return [*before, *data, *after] if profile.name == "rc1" else [*data, *before, *after]


def last_was_full(state: State) -> bool:
    """Whether the last training was that of `quickstart --full`."""
    begun = {name: state.entries[name].started for name in ("train", f"train{FULL}") if name in state.entries}
    return bool(begun) and max(begun, key=begun.__getitem__) == f"train{FULL}"


def data_stages(profile: Profile) -> list[Stage]:
    paths, sizes, limits = profile.paths, profile.sizes, profile.thresholds
    mix = as_flag(limits.config.datasets)
    tasks = ",".join(profile.tasks)
    return [
        Stage(
            "shadow_set",
            f"Draw {sizes.shadow_set:,} held-out samples that no pool may contain",
            "物化影子评测集",
            verb("shadow_run", "--n", str(sizes.shadow_set), "--seed", str(SEED), "--stratify", "--mix", mix,
                 "--materialize", paths.shadow_set, "--dump-manifest", paths.shadow_manifest),
            (paths.templates,),
            (paths.shadow_set, sidecar(paths.shadow_set), paths.shadow_manifest),
        ),
        Stage(
            "pool",
            f"Build a pool of {sizes.pool:,} samples from generated worlds",
            "构建种子池",
            verb("build_rollout_pool", "--out", paths.pool, "--n", str(sizes.pool), "--mix", mix, "--max_turns", "6",
                 "--clarify_rate", "0.30", "--tools", ",".join(TOOLS), "--templates_dir", paths.templates),
            (paths.templates,),
            (paths.pool, sidecar(paths.pool)),
        ),
        Stage(
            "diversity",
            "Measure how varied the pool is",
            "多样性体检",
            verb("diversity_report", paths.pool, "--out", DIVERSITY),
            (paths.pool, paths.templates),
            (DIVERSITY,),
        ),
        Stage(
            "pool_gate",
            "Judge the pool: diversity, duplicates, lengths, leaks, mix, shortcuts",
            "种子池闸门",
            verb("validate_pool", paths.pool, *_flags(limits.pool.model_dump()), "--leak_check", paths.shadow_set,
                 "--by_task", tasks, "--out", paths.pool_report),
            (paths.pool, paths.shadow_set, paths.templates),
            (paths.pool_report,),
        ),
        Stage(
            "metrics",
            "Measure how hard every sample is",
            "难度度量",
            verb("difficulty_metrics", "--in", paths.pool, "--out", paths.metrics),
            (paths.pool, sidecar(paths.pool)),
            (paths.metrics, sidecar(paths.metrics)),
        ),
        Stage(
            "balanced",
            "Draw a pool with the wanted share of easy, medium and hard",
            "难度分桶与平衡",
            verb("difficulty_bucketize", "--metrics", paths.metrics, "--target", as_flag(DIFFICULTY_MIX),
                 "--by_task", tasks, "--out", paths.balanced),
            (paths.metrics, sidecar(paths.metrics), paths.pool),
            (paths.balanced, sidecar(paths.balanced)),
        ),
        Stage(
            "difficulty_gate",
            "Judge the difficulty of the balanced pool",
            "难度闸门",
            verb("validate_difficulty", "--metrics", paths.metrics, "--balanced", paths.balanced,
                 *_flags(limits.difficulty.model_dump()), "--out", paths.difficulty_report),
            (paths.metrics, paths.balanced),
            (paths.difficulty_report,),
        ),
    ]  # fmt: skip


def judge_stages(profile: Profile) -> list[Stage]:
    ledger, limit = profile.paths.ledger, profile.thresholds.cache_hit_lt_round1
    return [
        Stage(
            "probe",
            "Call the judge for real: latency, bill, and how it takes answers that deserve nothing",
            "评分器真连通探针",
            verb("probe_scorer", "--n", str(profile.sizes.probe), "--live"),
            (),
            (),
            grows=(ledger,),
        ),
        Stage(
            "not_simulated",
            "Prove from the ledger that these calls were real",
            "防模拟检查",
            verb("assert_not_simulated", "--cache_hit_lt", str(limit)),
            (),
            (),
            grows=(ledger,),
            needs=("probe",),
        ),
    ]


def reward_stages(profile: Profile) -> list[Stage]:
    paths, sizes = profile.paths, profile.sizes
    base = (*config_files(paths.config), *BASES[profile.name])
    return [
        Stage(
            "calibration",
            f"Play {sizes.calibration:,} episodes, have {sizes.calibration_live:,} judged, and calibrate the reward",
            "权重校准",
            verb("weight_calib", *_flags(profile.thresholds.calibration.model_dump()),
                 "--tag", _tag(paths.calibration_report), "--pool", paths.balanced,
                 "--n", str(sizes.calibration), "--live_n", str(sizes.calibration_live),
                 "--episodes", paths.calibration_episodes, "--config", paths.config, "--baseline", paths.baseline,
                 "--out", paths.weights),
            (paths.balanced, paths.baseline, *base),
            (paths.weights, paths.calibration_report, paths.calibration_episodes, paths.calibration_scores),
            grows=(paths.ledger,),
        ),
        Stage(
            "shadow",
            f"Play {sizes.shadow} held-out samples, have {sizes.live} judged, compare the new reward with the old one",
            "影子运行对比",
            verb("shadow_run", "--n", str(sizes.shadow), "--seed", str(SEED), "--stratify",
                 "--tag", _tag(paths.shadow_report), "--shadow_set", paths.shadow_set, "--live_n", str(sizes.live),
                 "--episodes", paths.shadow_episodes, "--config", paths.config, "--weights", paths.weights),
            (paths.shadow_set, paths.weights, *base),
            (paths.shadow_report, paths.shadow_episodes, paths.shadow_scores),
            grows=(paths.ledger,),
        ),
        Stage(
            "ablation",
            f"Train {sizes.ablation.steps} steps with and without the over-clarification penalty, and compare",
            "过度澄清惩罚消融",
            verb("overclar_penalty", "--alpha", str(OVERCLAR_ALPHA), "--cap", str(OVERCLAR_CAP), "--ablation",
                 "--config", paths.ablation_config,
                 "--steps", str(sizes.ablation.steps), "--seeds", ",".join(map(str, sizes.ablation.seeds)),
                 "--n", str(sizes.ablation.samples), "--episodes", paths.ablation_episodes,
                 "--tag", _tag(paths.ablation_report)),
            (*config_files(paths.ablation_config), paths.pool, paths.balanced, paths.shadow_set, *BASES[profile.name]),
            (paths.ablation_report, paths.ablation_episodes),
        ),
    ]  # fmt: skip


def gated_stages(profile: Profile, full: bool) -> list[Stage]:
    paths, sizes = profile.paths, profile.sizes
    evidence = (
        paths.shadow_set, paths.pool, paths.metrics, paths.balanced, paths.weights, *config_files(paths.config),
        paths.templates, paths.pool_report, paths.difficulty_report, paths.shadow_report, paths.calibration_report,
        paths.ablation_report,
    )  # fmt: skip
    config = paths.trial if full and paths.trial else paths.config
    suffix = FULL if full else ""
    trained = tuple(final_models(load_train_config(config).seeds))
    return [
        Stage(
            "round1",
            f"Round 1: measure every gate again from the files, {sizes.fresh} fresh samples judged live",
            "第一轮预检",
            verb("round", "--round", "1", "--profile", profile.name),
            evidence,
            (ROUND1,),
            grows=(paths.ledger,),
        ),
        Stage(
            "round2",
            f"Round 2: the same once more with {sizes.fresh} other samples; it writes the ticket",
            "第二轮预检（发放训练票）",
            verb("round", "--round", "2", "--profile", profile.name),
            (*evidence, ROUND1),
            (TICKET, REFUSAL),
            grows=(paths.ledger,),
        ),
        Stage(
            f"train{suffix}",
            "Train with PPO behind the ticket",
            "持票训练（PPO）",
            verb("ppo_runner", "--config", config),
            (
                TICKET,
                *config_files(config),
                paths.pool,
                paths.balanced,
                paths.shadow_set,
                paths.weights,
                *BASES[profile.name],
            ),
            trained,
            needs=("round2",),
        ),
        Stage(
            f"evaluation{suffix}",
            "Judge the trained policy against its base on held-out samples",
            "训练后评测门槛",
            verb("evaluate", "--config", config, "--tag", f"{profile.name}{suffix}"),
            (*config_files(config), paths.shadow_set, *trained),
            evaluation_report(f"{profile.name}{suffix}"),
            needs=(f"train{suffix}",),
        ),
    ]


def _tag(report: Path) -> str:
    """Tag in the name of a report: `reports/shadow_run_rc1.json` -> `rc1`."""
    prefix = next(one for one in REPORTS if report.stem.startswith(one))
    return report.stem.removeprefix(prefix)


def _flags(thresholds: dict[str, object]) -> list[str]:
    """Thresholds as flags; they have the same names."""
    return [word for name, value in thresholds.items() for word in (f"--{name}", str(value))]
