"""The training config says what the work order asks for, and names the files that the other gates have looked at."""

from __future__ import annotations

from pathlib import Path

from ..config.loader import load_train_config, read_yaml
from ..config.train import TrainConfig
from ..core.check import Check, Rule, check
from ..evaluation.overclar_penalty import ALPHA, CAP
from .finding import Finding, found, read
from .look import Look
from .profile import ConfigThresholds, Profile


def config_findings(look: Look) -> list[Finding]:
    paths = look.profile.paths
    findings = found("config", config_checks(paths.config, look.profile), _read(paths.config))
    if paths.trial is not None:
        trial = [_named(one, "trial") for one in trial_checks(paths.trial, look.profile)]
        findings += found("config", trial, _read(paths.trial))
    return findings


def _read(path: Path) -> dict[str, str]:
    """The config, and the list that it makes some samples count less by."""
    unstable = None if simulates(path) else load_train_config(path).reward.unstable
    return read(path, *([unstable] if unstable else []))


def config_checks(path: Path, profile: Profile) -> list[Check]:
    """Of the run at scale."""
    if simulates(path):
        return [_asked(path, "simulate", 1, "==", 0)]
    config, wanted = load_train_config(path), profile.thresholds.config
    return [
        *_common(path, config, profile),
        _asked(path, "steps", config.steps, ">=", wanted.steps_min),
        _asked(path, "seeds", len(config.seeds), ">=", wanted.seeds_min),
    ]


def trial_checks(path: Path, profile: Profile) -> list[Check]:
    """A trial is shorter and has one seed; all else holds for it too."""
    return (
        [_asked(path, "simulate", 1, "==", 0)] if simulates(path) else _common(path, load_train_config(path), profile)
    )


def simulates(path: Path) -> bool:
    """Anything but a plain `false`. Such a config cannot even be loaded."""
    raw = read_yaml(path)
    return isinstance(raw, dict) and raw.get("simulate", False) is not False


def _common(path: Path, config: TrainConfig, profile: Profile) -> list[Check]:
    wanted = profile.thresholds.config
    return [
        *_mode(path, config, wanted),
        _asked(path, "datasets", _apart(config, wanted), "<=", 1e-9),
        _asked(path, "target_kl", config.target_kl, ">=", wanted.target_kl_min, "least"),
        _asked(path, "target_kl", config.target_kl, "<=", wanted.target_kl_max, "most"),
        _asked(path, "use_overclar_penalty", config.use_overclar_penalty, "==", 1),
        # A price of nothing is a penalty that is off.
        _asked(path, "reward.alpha", config.reward.alpha, "==", ALPHA),
        _asked(path, "reward.cap", config.reward.cap, "==", CAP),
        _asked(path, "reward.weights", _calibrated(config, profile), "==", 1),
        _asked(path, "seed_pool", _is(config.seed_pool, profile.paths.balanced), "==", 1),
        _asked(path, "shadow_set", _is(config.shadow_set, profile.paths.shadow_set), "==", 1),
    ]


def _mode(path: Path, config: TrainConfig, wanted: ConfigThresholds) -> list[Check]:
    """A profile that does not ask for live dimensions or for QLoRA takes a config either way."""
    checks = [_asked(path, "simulate", config.simulate, "==", 0)]
    if wanted.live_mode:
        checks.append(_asked(path, "live_mode", config.live_mode, "==", 1))
    if wanted.qlora:
        checks.append(_asked(path, "finetune.method", config.finetune.method == "qlora", "==", 1))
    return checks


def _asked(path: Path, key: str, value: float | None, rule: Rule, threshold: float, end: str = "") -> Check:
    return check(
        f"{key}[{end}]" if end else key,
        None if value is None else float(value),
        rule,
        threshold,
        f"correct {key} in {path}; configs/gates/ says what it must be",
        f"请修改 {path} 中的 {key}；要求见 configs/gates/",
    )


def _apart(config: TrainConfig, wanted: ConfigThresholds) -> float:
    names = {*config.datasets, *wanted.datasets}
    return max(abs(config.datasets.get(name, 0.0) - wanted.datasets.get(name, 0.0)) for name in names)


def _calibrated(config: TrainConfig, profile: Profile) -> bool:
    """What was calibrated and compared is what rewards the run."""
    return config.reward.weights is not None and _is(config.reward.weights, profile.paths.weights)


def _is(ours: Path, theirs: Path) -> bool:
    return ours.resolve() == theirs.resolve()


def _named(one: Check, scope: str) -> Check:
    name = f"{one.name[:-1]},{scope}]" if one.name.endswith("]") else f"{one.name}[{scope}]"
    return Check(name, one.value, one.rule, one.threshold, one.passed, one.remedy, one.remedy_zh)
