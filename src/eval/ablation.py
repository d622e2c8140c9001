"""Settings of the two runs of the over-clarification ablation, and the check whether a seal is of such a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from pydantic import ValidationError

from askgate_env.reward import OVERCLAR_CAP

from ..checkpoint.seal import Seal
from ..config.loader import load_train_config
from ..config.profile import Profile
from ..config.train_config import TrainConfig
from ..core.files import is_plain_json, shipped
from ..core.paths import ablation_seal

FREE = {"base_model", "seed_pool", "shadow_set", "checkpoint", "device_pref"}
"""Settings of a run that are not compared: those that change no result, and paths, whose files are compared."""
FREE_IN_REWARD = {"weights", "unstable"}
"""Settings of the reward that are not compared: paths, whose files are compared."""
CHECKPOINTS = 12
"""Minimum number of checkpoints of a run, so that Ctrl-C costs little."""


@dataclass(frozen=True)
class AblationPlan:
    config: Path
    alpha: float
    cap: int
    steps: int
    seeds: tuple[int, ...]
    n: int | None
    """Number of held-out samples; None: all."""
    episodes: Path
    """Folder that gets `seed_<s>/{without,with}.jsonl`."""
    tag: str
    overrides: tuple[str, ...] = ()
    """`--set` options, `key=value` each."""


def side_config(config: TrainConfig, plan: AblationPlan, penalty: bool) -> TrainConfig:
    """The config of one run, with or without the penalty: local, no judge, no warm start, evaluated only at its end.

    The reward-hacking watch is off, because the ablation must show what the policy does without a restraint.
    """
    settings = config.model_dump(mode="json")
    for key in ("seed_pool", "shadow_set"):
        settings[key] = str(Path(settings[key]).absolute())
    for key in ("weights", "unstable"):
        if settings["reward"][key]:
            settings["reward"][key] = str(shipped(Path(settings["reward"][key])).absolute())
    base = shipped(Path(config.base_model))
    save_every = min(config.checkpoint.every_steps, max(1, plan.steps // CHECKPOINTS))
    return TrainConfig.model_validate(
        settings
        | {
            "profile": "local",
            "live_mode": False,
            "base_model": str(base.absolute()) if base.is_dir() else config.base_model,
            "build": None,
            "warm_start": None,
            "steps": plan.steps,
            "seeds": list(plan.seeds),
            "use_overclar_penalty": penalty,
            "reward": {**settings["reward"], "alpha": plan.alpha, "cap": plan.cap},
            "eval": {**settings["eval"], "every_steps": plan.steps, "n": plan.n, "base": False, "control": False},
            "checkpoint": {**settings["checkpoint"], "every_steps": save_every, "mirror": None},
            "watch": {"ask_spam": 1.0, "malformed": 1.0, "bare_answer": 1.0, "echo": 1.0, "spike": 1000.0},
        }
    )


def read_seal_of(folder: Path, seed: int, side: str) -> Seal | None:
    """The stored seal of a run's final model; None if there is none that can be read."""
    try:
        raw = ablation_seal(folder, seed, side).read_bytes()
        return msgspec.json.decode(raw, type=Seal) if is_plain_json(raw) else None
    except (OSError, msgspec.DecodeError):
        return None


def profile_plan(profile: Profile) -> AblationPlan:
    """The ablation that a profile requires, with the alpha of its config and the cap of every gated run."""
    config, episodes = profile.paths.ablation_config, profile.paths.ablation_episodes
    alpha, sizes = load_train_config(config).reward.alpha, profile.sizes.ablation
    return AblationPlan(config, alpha, OVERCLAR_CAP, sizes.steps, sizes.seeds, sizes.samples, episodes, "")


def is_sealed_as(seal: Seal | None, config: TrainConfig, sources: Mapping[str, str]) -> bool:
    """Whether a final model was sealed at the last step of a run with these settings and files."""
    if seal is None or seal.step != config.steps:
        return False
    try:
        ran = TrainConfig.model_validate(seal.marks.get("config"))
    except ValidationError:
        return False  # a config of another version, or none
    theirs = seal.marks.get("sources", {})
    same = _compared(ran) == _compared(config)
    return same and all(theirs.get(key) == digest for key, digest in sources.items())


def _compared(config: TrainConfig) -> dict[str, object]:
    """The settings of a config that must be equal in runs of one ablation."""
    settings = config.model_dump(mode="json", exclude=FREE)
    return settings | {"reward": config.reward.model_dump(mode="json", exclude=FREE_IN_REWARD)}
