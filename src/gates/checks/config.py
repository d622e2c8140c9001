"""The gates `config` and `disk`: the training config has the required settings and names the files that the other gates
measured, and the machine has room."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from ...config.loader import config_files, load_train_config, read_yaml
from ...config.profile import Profile
from ...config.train_config import TrainConfig, WatchSection
from ...core.check import Check, Rule, check
from ...core.defaults import OVERCLAR_ALPHA, OVERCLAR_CAP
from ...core.jsonl import read_records
from ...core.remedies import remedies
from ...core.types import Sample
from ...scoring.scores import Score
from ..gate import Finding, RoundContext, evidence_of, findings_of
from .stored import proved

GB = 2**30
Name = TypeVar("Name", bound=str)


def config_findings(context: RoundContext) -> list[Finding]:
    paths = context.profile.paths
    checks = [*config_checks(paths.config, context.profile), _unstable_check(paths.config, context)]
    findings = findings_of("config", checks, _evidence(paths.config))
    if paths.trial is not None:
        checks = [*trial_checks(paths.trial, context.profile), _unstable_check(paths.trial, context)]
        findings += findings_of("config", [_scoped(one, "trial") for one in checks], _evidence(paths.trial))
    return findings


def config_checks(path: Path, profile: Profile) -> list[Check]:
    """Checks of the config for the run at scale."""
    if simulates(path):
        return [_setting(path, "simulate", 1, "==", 0)]
    config, wanted = load_train_config(path), profile.thresholds.config
    return [
        *_common_checks(path, config, profile),
        _setting(path, "steps", config.steps, ">=", wanted.steps_min),
        _setting(path, "seeds", len(config.seeds), ">=", wanted.seeds_min),
    ]


def trial_checks(path: Path, profile: Profile) -> list[Check]:
    """Checks of the config for the trial, which is shorter and has one seed; all else is required of it too."""
    if simulates(path):
        return [_setting(path, "simulate", 1, "==", 0)]
    return _common_checks(path, load_train_config(path), profile)


def simulates(path: Path) -> bool:
    """Whether `simulate` is anything but a plain `false`. Such a config cannot even be loaded."""
    raw = read_yaml(path)
    return isinstance(raw, dict) and raw.get("simulate", False) is not False


def _common_checks(path: Path, config: TrainConfig, profile: Profile) -> list[Check]:
    wanted, paths, sampling = profile.thresholds.config, profile.paths, config.priority_sampling
    steps = (0, *(entry.step for entry in sampling.seed_ratio_schedule))
    seed_ratio, difficulty = min(map(sampling.ratio, steps)), _distance(sampling.by_difficulty, wanted.by_difficulty)
    checks = [_setting(path, "simulate", config.simulate, "==", 0)]
    # A profile that does not require live dimensions or QLoRA accepts a config either way.
    if wanted.live_mode:
        checks.append(_setting(path, "live_mode", config.live_mode, "==", 1))
    if wanted.qlora:
        checks.append(_setting(path, "finetune.method", config.finetune.method == "qlora", "==", 1))
    return [
        *checks,
        _setting(path, "datasets", _distance(config.datasets, wanted.datasets), "<=", 1e-9),
        _scoped(_setting(path, "target_kl", config.target_kl, ">=", wanted.target_kl_min), "least"),
        _scoped(_setting(path, "target_kl", config.target_kl, "<=", wanted.target_kl_max), "most"),
        _setting(path, "kl_alert", config.kl_alert, "<=", wanted.kl_alert_max),
        _setting(path, "watch", _loosened(config.watch, wanted.watch), "==", 0),
        _setting(path, "priority_sampling.enable", sampling.enable, "==", 1),
        _setting(path, "priority_sampling.by_difficulty", difficulty, "<=", 1e-9),
        _setting(path, "priority_sampling.seed_ratio", seed_ratio, ">=", wanted.seed_ratio_min),
        _setting(path, "priority_sampling.low_perf_cap", sampling.low_perf_cap, "<=", wanted.low_perf_cap_max),
        _setting(path, "use_overclar_penalty", config.use_overclar_penalty, "==", 1),
        # A penalty of 0 would be a penalty that is off.
        _setting(path, "reward.alpha", config.reward.alpha, "==", OVERCLAR_ALPHA),
        _setting(path, "reward.cap", config.reward.cap, "==", OVERCLAR_CAP),
        # The weights that were calibrated and compared must be those that reward the run.
        _setting(path, "reward.weights", _is_file(config.reward.weights, paths.weights), "==", 1),
        _setting(path, "seed_pool", _is_file(config.seed_pool, paths.balanced), "==", 1),
        _setting(path, "shadow_set", _is_file(config.shadow_set, paths.shadow_set), "==", 1),
    ]


def _setting(path: Path, key: str, value: float | None, rule: Rule, threshold: float) -> Check:
    remedy, remedy_zh = remedies("gates")["setting"]
    given = {"key": key, "path": path}
    measured = None if value is None else float(value)
    return check(key, measured, rule, threshold, remedy.format(**given), remedy_zh.format(**given))


def _scoped(one: Check, scope: str) -> Check:
    """The check under a name with a scope: `kl_alert[trial]`, `target_kl[least,trial]`."""
    return replace(one, name=f"{one.name[:-1]},{scope}]" if one.name.endswith("]") else f"{one.name}[{scope}]")


def _loosened(watch: WatchSection, most: WatchSection) -> int:
    """How many limits of the watch on reward hacking are above those of the profile."""
    return sum(getattr(watch, name) > getattr(most, name) for name in WatchSection.model_fields)


def _distance(ours: Mapping[Name, float], theirs: Mapping[Name, float]) -> float:
    return max(abs(ours.get(name, 0.0) - theirs.get(name, 0.0)) for name in {*ours, *theirs})


def _is_file(ours: Path | None, theirs: Path) -> bool:
    return ours is not None and ours.resolve() == theirs.resolve()


def _unstable_list(path: Path) -> Path | None:
    """The file that lists samples whose weight the config lowers."""
    return None if simulates(path) else load_train_config(path).reward.unstable


def _unstable_check(path: Path, context: RoundContext) -> Check:
    """Every listed sample is one of the pool, scored live, on which the votes disagreed."""
    file = _unstable_list(path)
    listed = {line.id: line for line in read_records(file, Score)} if file else {}
    wrong = 0
    if listed:
        samples = [one for one in read_records(context.profile.paths.balanced, Sample) if one.id in listed]
        wrong = len(listed) - sum(not listed[name].stable for name in proved(context, samples, listed))
    return check("reward.unstable", wrong, "==", 0, *remedies("gates")["reward.unstable"])


def _evidence(path: Path) -> dict[str, str]:
    unstable = _unstable_list(path)
    return evidence_of(*config_files(path), *([unstable] if unstable else []))


def disk_findings(context: RoundContext) -> list[Finding]:
    """Free space for logs, checkpoints and exported models."""
    least = context.profile.thresholds.disk_free_gb_min
    remedy, remedy_zh = (text.format(least=f"{least:g}") for text in remedies("gates")["disk_free_gb"])
    return findings_of("disk", [check("disk_free_gb", round(free_bytes() / GB, 3), ">", least, remedy, remedy_zh)], {})


def free_bytes() -> int:
    return shutil.disk_usage(".").free
