"""The local preflight: whatever can be known to go wrong is refused before anything is written."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ..config.loader import load_train_config
from ..config.train_config import TrainConfig
from ..core.errors import BadInput
from ..core.files import shipped
from . import data as train_data
from .parts import make_callbacks, make_strategy, open_renderer, told_by
from .reward import judge_settings, unstable_weights

if TYPE_CHECKING:
    import torch

    from ..agents.render import Renderer
    from ..core.api import Engine
    from ..engines.job import TrainJob
    from ..gates.ticket import Admission

GB = 2**30
LEAST_FREE = GB // 2
"""Logs and data of a small run."""


@dataclass(frozen=True)
class Ready:
    """A config that can run here, with what was found out on the way."""

    path: Path
    config: TrainConfig
    engine: Callable[[TrainJob], Engine]
    model: str
    renderer: Renderer
    device: torch.device
    dtype: torch.dtype
    targets: tuple[str, ...]
    admission: Admission | None
    """What the gates gave; None: a local run."""


def preflight(path: Path, admission: Admission | None = None, overrides: Sequence[str] | None = None) -> Ready:
    """Checks config, engine and strategy, data, device and disk, cheapest first. `overrides`: what `--set` says."""
    config = load_train_config(path, overrides)
    with told_by(path, config):
        if admission is None:
            _only_local(config)
        else:
            # A config for local runs that has a ticket runs gated, as a run of the ticket's profile.
            config = config.model_copy(update={"profile": admission.profile})
        train_data.require(config)
        judge_settings(config)
        unstable_weights(config)
        _not_ppo_on_trl(config)
        from ..engines.load import load_engine

        engine = load_engine(config.engine, config.strategy)
        strategy = make_strategy(config)
        if config.batch_size % strategy.group_size:
            raise BadInput(
                f"{config.batch_size} episodes do not make whole groups of {strategy.group_size}",
                where="batch_size",
                remedy=f"give a multiple of {strategy.group_size}",
            )
        make_callbacks(config)
        from ..runtime.device import get_device, get_dtype, lora_targets, memory_gb

        device = get_device(config.device_pref)
        _adapters_possible(config, device)
        targets = lora_targets(config.finetune.targets, memory_gb(device))
        model, weights = _base_model(config)
        _room_on_disk(config, weights)
        renderer = open_renderer(model)
        train_data.build_missing(config)
        train_data.require_mix(config)
        dtype = get_dtype(device, config.precision)
    return Ready(path, config, engine, model, renderer, device, dtype, targets, admission)


def _only_local(config: TrainConfig) -> None:
    if config.profile != "local":
        raise BadInput(
            f"this is a run of profile {config.profile}; only profile local runs without a ticket",
            where="profile",
            remedy="python -m train.ppo_runner --config FILE runs it, once both rounds have passed",
        )


def _not_ppo_on_trl(config: TrainConfig) -> None:
    """The one pair of names that everybody tries first deserves its reason."""
    if (config.engine, config.strategy) == ("trl_ppo", "ppo"):
        raise BadInput(
            "TRL has no PPO any more (PPOTrainer was removed in 1.13)",
            where="strategy",
            remedy="set engine: pure_pt for PPO with a critic, or strategy: grpo for the same clipped objective on TRL",
        )


def _adapters_possible(config: TrainConfig, device: torch.device) -> None:
    method = config.finetune.method
    if method == "qlora" and device.type != "cuda":
        raise BadInput(
            f"4-bit weights need CUDA, and this run is on {device.type}",
            where="finetune.method",
            remedy="set finetune.method: lora, or run on a machine with CUDA",
        )
    needs = {"lora": {"peft": "peft"}, "qlora": {"peft": "peft", "bitsandbytes": "'askgate[gpu]'"}}
    for needed, package in needs.get(method, {}).items():
        if find_spec(needed) is None:
            raise BadInput(
                f"{method} needs {needed}, which is not installed",
                where="finetune.method",
                remedy=f"pip install {package}, or choose another method",
            )


def _base_model(config: TrainConfig) -> tuple[str, int]:
    """What `transformers` is given, and the bytes of its weights as far as they are on this machine."""
    from transformers.utils.hub import cached_file

    path = shipped(Path(config.base_model))
    refusal = BadInput(
        f"no model can be read from {config.base_model}",
        where="base_model",
        remedy="name a folder with config.json and safetensors, or a model on the hub that this machine can reach",
    )
    # What lies in a folder of ours, or has no `owner/name`, is no name on the hub; asking there takes half a minute.
    if not path.exists() and (len(path.parts) != 2 or path.parent.exists() or path.parts[0] == "models"):
        raise refusal
    try:
        found = cached_file(str(path), "config.json")
    except OSError as error:
        raise refusal from error
    assert found is not None
    return str(path), sum(file.stat().st_size for file in Path(found).parent.glob("*.safetensors"))


def _room_on_disk(config: TrainConfig, weights: int) -> None:
    """A checkpoint holds weights and two moments in fp32: six times a file in sixteen bits. Adapters are small."""
    one = 6 * weights if config.finetune.method == "full" else weights // 10
    copies = config.checkpoint.keep + 2
    need = LEAST_FREE + copies * one * len(config.seeds)
    free = shutil.disk_usage(".").free
    if free < need:
        raise BadInput(
            f"{free / GB:.1f} GB are free, the run needs about {need / GB:.1f}",
            where="checkpoint.keep",
            remedy="free some space, keep fewer checkpoints, or train adapters (finetune.method: lora)",
        )
