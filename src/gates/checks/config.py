"""The gates `config` and `disk`: the training config has the required settings and names the files that the other gates
measured, and the machine has room."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from askgate_env.reward import OVERCLAR_ALPHA, OVERCLAR_CAP
from askgate_env.types import Sample

from ...config.loader import config_files, load_train_config, read_yaml
from ...config.profile import Profile
from ...config.train_config import TrainConfig, WatchSection
from ...core.check import Check, Rule, check, remedies
from ...core.errors import BadInput
from ...core.files import PACKAGE_FACTS, sha256_file
from ...core.jsonl import read_lines, read_records
from ...core.user_class import OWN_FILE, class_file, own_files
from ...data.pool.shadow_set import read_set
from ...data.quality.leaks import demonstration_leaks
from ...scoring.scores import Score
from ..gate import Finding, RoundContext, evidence_of, findings_of
from .provenance import proved

GB = 2**30
Name = TypeVar("Name", bound=str)


def config_findings(context: RoundContext) -> list[Finding]:
    paths = context.profile.paths
    findings = findings_of("config", config_checks(context, paths.config, at_scale=True), _evidence(paths.config))
    if paths.trial is not None:
        checks = [_of_trial(one) for one in config_checks(context, paths.trial, at_scale=False)]
        findings += findings_of("config", checks, _evidence(paths.trial))
    return findings


def config_checks(context: RoundContext, path: Path, at_scale: bool) -> list[Check]:
    """Checks of a training config. The trial may be shorter and have one seed; otherwise the same is required."""
    remedy, remedy_zh = remedies("gates")["setting"]
    checks = []
    for name, value, rule, threshold in _required_settings(path, context.profile, at_scale):
        if threshold is not None:  # without a threshold a setting is not required
            given = {"key": name.partition("[")[0], "path": path}
            measured = None if value is None else float(value)
            checks.append(check(name, measured, rule, threshold, remedy.format(**given), remedy_zh.format(**given)))
    return [*checks, _unstable_check(path, context), _warm_start_check(path, context)]


def _required_settings(
    path: Path, profile: Profile, at_scale: bool
) -> list[tuple[str, float | None, Rule, float | None]]:
    """Name, value, rule and threshold of every setting that a profile may require; None: it does not require it."""
    config, wanted, paths = _settings(path), profile.thresholds.config, profile.paths
    if config is None:
        return [("simulate", 1, "==", 0)]
    sampling, reward, ablation = config.priority_sampling, config.reward, load_train_config(paths.ablation_config)
    steps = (0, *(entry.step for entry in sampling.seed_ratio_schedule))
    difficulty = _distance(sampling.by_difficulty, wanted.by_difficulty)
    held_out = sum(1 for _ in read_lines(paths.shadow_set))
    loosened = sum(getattr(config.watch, name) > getattr(wanted.watch, name) for name in WatchSection.model_fields)
    return [
        ("simulate", config.simulate, "==", 0),
        ("live_mode", config.live_mode, "==", 1 if wanted.live_mode else None),
        ("finetune.method", config.finetune.method == "qlora", "==", 1 if wanted.qlora else None),
        ("datasets", _distance(config.datasets, wanted.datasets), "<=", 1e-9),
        ("target_kl[least]", config.target_kl, ">=", wanted.target_kl_min),
        ("target_kl[most]", config.target_kl, "<=", wanted.target_kl_max),
        ("kl_alert", config.kl_alert, "<=", wanted.kl_alert_max),
        ("watch", loosened, "==", 0),
        ("priority_sampling.enable", sampling.enable, "==", 1),
        ("priority_sampling.by_difficulty", difficulty, "<=", 1e-9),
        ("priority_sampling.seed_ratio", min(map(sampling.ratio, steps)), ">=", wanted.seed_ratio_min),
        ("priority_sampling.low_perf_cap", sampling.low_perf_cap, "<=", wanted.low_perf_cap_max),
        # Gated runs have the user by rules: replies of a language model as the user could not be derived again.
        ("user", {config.user, config.eval.user or config.user} == {"rules"}, "==", 1),
        ("use_overclar_penalty", config.use_overclar_penalty, "==", 1),
        # A lower alpha would be a weaker penalty than the documented one; 0 would switch it off.
        ("reward.alpha", reward.alpha, ">=", OVERCLAR_ALPHA),
        # The ablation is about one alpha in one reward, so it says nothing about a run with another.
        ("reward.alpha[ablation]", reward.alpha, "==", ablation.reward.alpha),
        ("reward.outcome[ablation]", reward.outcome, "==", ablation.reward.outcome),
        ("reward.info[ablation]", reward.info, "==", ablation.reward.info),
        ("reward.cap", reward.cap, "==", OVERCLAR_CAP),
        # The run must be rewarded by the weights that were calibrated and compared.
        ("reward.weights", _is_file(reward.weights, paths.weights), "==", 1),
        ("seed_pool", _is_file(config.seed_pool, paths.balanced), "==", 1),
        ("shadow_set", _is_file(config.shadow_set, paths.shadow_set), "==", 1),
        ("eval.n", min(config.eval.n or held_out, held_out), ">=", profile.thresholds.counts.eval_samples),
        ("eval.control_lr[least]", config.eval.control_lr, ">=", wanted.control_lr_min),
        ("eval.control_lr[most]", config.eval.control_lr, "<=", wanted.control_lr_max),
        ("steps", config.steps, ">=", wanted.steps_min if at_scale else wanted.trial_steps_min),
        ("seeds", len(config.seeds), ">=", wanted.seeds_min if at_scale else None),
    ]


def _settings(path: Path) -> TrainConfig | None:
    """The training config; None if `simulate` is anything but a plain `false`: such a config cannot be loaded."""
    raw = read_yaml(path)
    return None if isinstance(raw, dict) and raw.get("simulate", False) is not False else load_train_config(path)


def _of_trial(one: Check) -> Check:
    """The check under the trial's name for it: `kl_alert[trial]`, `target_kl[least,trial]`."""
    return replace(one, name=f"{one.name[:-1]},trial]" if one.name.endswith("]") else f"{one.name}[trial]")


def _distance(ours: Mapping[Name, float], theirs: Mapping[Name, float]) -> float:
    return max(abs(ours.get(name, 0.0) - theirs.get(name, 0.0)) for name in {*ours, *theirs})


def _is_file(ours: Path | None, theirs: Path) -> bool:
    return ours is not None and ours.resolve() == theirs.resolve()


def _unstable_check(path: Path, context: RoundContext) -> Check:
    """Checks that the config lowers the weight only of samples of the pool whose live votes disagreed."""
    config = _settings(path)
    file = config.reward.unstable_list if config else None
    listed = {line.id: line for line in read_records(file, Score)} if file else {}
    wrong = 0
    if listed:
        samples = [one for one in read_records(context.profile.paths.balanced, Sample) if one.id in listed]
        wrong = len(listed) - sum(not listed[name].stable for name in proved(context, samples, listed))
    return check("reward.unstable", wrong, "==", 0, *remedies("gates")["reward.unstable"])


def _warm_start_check(path: Path, context: RoundContext) -> Check:
    """Checks that no demonstration of the warm start contains a sample of the shadow set."""
    paths, limits, leaks = context.profile.paths, context.profile.thresholds.pool, 0
    if (config := _settings(path)) and config.warm_start:
        files = (paths.balanced, paths.shadow_set)
        leaks = _demonstration_leaks(*files, limits.leak_ngram, limits.leak_sim, *map(sha256_file, files))
    return check("warm_start", leaks, "==", 0, *remedies("gates")["warm_start"])


@lru_cache(maxsize=1)  # run and trial are measured on the same files
def _demonstration_leaks(pool: Path, shadow: Path, n: int, similarity: float, *digests: str) -> int:
    return len(demonstration_leaks(list(read_records(pool, Sample)), read_set(shadow), n, similarity))


def _evidence(path: Path) -> dict[str, str]:
    """Fingerprints of a config and of the files that it names. Refuses an own class of an installed package."""
    config, read = _settings(path), config_files(path)
    if config is None:
        return evidence_of(*read)
    for name in config.own_classes:
        if (file := class_file(name)) and not file.is_file() and not PACKAGE_FACTS.is_file():
            what = f"{name}: nothing shows later which code of an installed class ran"
            raise BadInput(what, where=str(path), remedy=OWN_FILE.format(file))
    unstable = config.reward.unstable_list
    return evidence_of(*read, *own_files(config.own_classes), *([unstable] if unstable else []))


def disk_findings(context: RoundContext) -> list[Finding]:
    """Free space for logs, checkpoints and exported models."""
    least = context.profile.thresholds.disk_free_gb_min
    remedy, remedy_zh = (text.format(least=f"{least:g}") for text in remedies("gates")["disk_free_gb"])
    return findings_of("disk", [check("disk_free_gb", round(free_bytes() / GB, 3), ">", least, remedy, remedy_zh)], {})


def free_bytes() -> int:
    return shutil.disk_usage(".").free
