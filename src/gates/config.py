"""The training config says what the work order asks for, and names the files that the other gates have looked at."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from ..config.loader import config_files, load_train_config, read_yaml
from ..config.profile import ConfigThresholds, Profile
from ..config.train_config import SamplingSection, TrainConfig, WatchSection
from ..core.check import Check, Rule, check
from ..core.jsonl import read_records
from ..core.types import Sample
from ..reward.overclar_penalty import ALPHA, CAP
from ..scoring.scores import Score
from .finding import Finding, found, read
from .look import Look
from .stored import proved

_LISTED = (
    "these lines are no live scorings on which the votes disagreed: make the list again with `askgate score`",
    "名单中有些行不是投票有分歧的真实打分：请用 `askgate score` 重新生成",
)
Name = TypeVar("Name", bound=str)


def config_findings(look: Look) -> list[Finding]:
    paths = look.profile.paths
    checks = [*config_checks(paths.config, look.profile), *_unstable_checks(paths.config, look)]
    findings = found("config", checks, _read(paths.config))
    if paths.trial is not None:
        checks = [*trial_checks(paths.trial, look.profile), *_unstable_checks(paths.trial, look)]
        findings += found("config", [_named(one, "trial") for one in checks], _read(paths.trial))
    return findings


def _read(path: Path) -> dict[str, str]:
    unstable = _unstable(path)
    return read(*config_files(path), *([unstable] if unstable else []))


def _unstable(path: Path) -> Path | None:
    """The list that a config makes some samples count less by."""
    return None if simulates(path) else load_train_config(path).reward.unstable


def _unstable_checks(path: Path, look: Look) -> list[Check]:
    """Every line of it is a live scoring of a sample of the pool on which the votes disagreed."""
    listed = _unstable(path)
    lines = {line.id: line for line in read_records(listed, Score)} if listed else {}
    samples = [one for one in read_records(look.profile.paths.balanced, Sample) if one.id in lines] if lines else []
    held = {name for name in proved(look, samples, lines) if not lines[name].stable} if lines else set()
    return [check("reward.unstable", len(lines) - len(held), "==", 0, *_LISTED)]


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
        _asked(path, "datasets", _apart(config.datasets, wanted.datasets), "<=", 1e-9),
        _asked(path, "target_kl", config.target_kl, ">=", wanted.target_kl_min, "least"),
        _asked(path, "target_kl", config.target_kl, "<=", wanted.target_kl_max, "most"),
        _asked(path, "kl_alert", config.kl_alert, "<=", wanted.kl_alert_max),
        _asked(path, "watch", _loosened(config.watch, wanted.watch), "==", 0),
        *_sampling(path, config.priority_sampling, wanted),
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


def _sampling(path: Path, sampling: SamplingSection, wanted: ConfigThresholds) -> list[Check]:
    steps = (0, *(entry.step for entry in sampling.seed_ratio_schedule))
    name = "priority_sampling"
    return [
        _asked(path, f"{name}.enable", sampling.enable, "==", 1),
        _asked(path, f"{name}.by_difficulty", _apart(sampling.by_difficulty, wanted.by_difficulty), "<=", 1e-9),
        _asked(path, f"{name}.seed_ratio", min(map(sampling.ratio, steps)), ">=", wanted.seed_ratio_min),
        _asked(path, f"{name}.low_perf_cap", sampling.low_perf_cap, "<=", wanted.low_perf_cap_max),
    ]


def _loosened(watch: WatchSection, most: WatchSection) -> int:
    """How many limits of the watch on reward hacking are above those of the profile."""
    return sum(getattr(watch, name) > getattr(most, name) for name in WatchSection.model_fields)


def _apart(ours: Mapping[Name, float], theirs: Mapping[Name, float]) -> float:
    return max(abs(ours.get(name, 0.0) - theirs.get(name, 0.0)) for name in {*ours, *theirs})


def _calibrated(config: TrainConfig, profile: Profile) -> bool:
    """What was calibrated and compared is what rewards the run."""
    return config.reward.weights is not None and _is(config.reward.weights, profile.paths.weights)


def _is(ours: Path, theirs: Path) -> bool:
    return ours.resolve() == theirs.resolve()


def _named(one: Check, scope: str) -> Check:
    name = f"{one.name[:-1]},{scope}]" if one.name.endswith("]") else f"{one.name}[{scope}]"
    return Check(name, one.value, one.rule, one.threshold, one.passed, one.remedy, one.remedy_zh)
