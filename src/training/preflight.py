"""The preflight of a run: refuses, before anything is written, a run that is known to fail."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers.utils.hub import cached_file

from ..agents.render import Renderer
from ..config.loader import load_train_config, naming_keys
from ..config.train_config import TrainConfig
from ..core.api import Engine
from ..core.errors import BadInput
from ..core.files import forget_reads, shipped
from ..core.model_files import ADAPTER, is_hub_unknown, may_be_on_hub, require_config, unreadable
from ..data.pool.meta import read_meta
from ..engines.distributed import ranks
from ..engines.job import TrainJob, require_whole_groups
from ..engines.models import require_four_bits
from ..gates.admission import Admission
from ..runtime.device import GB, get_device, get_dtype, lora_targets, measure_speed, memory_gb
from ..runtime.progress import TO_LOG, Reporter
from .components import judge_settings, load_engine, make_callbacks, make_strategy, open_renderer, unstable_weights
from .data import build_missing, require_data, require_mix
from .forecast import (
    EpisodeTokens,
    Forecast,
    Memory,
    Shape,
    Speed,
    fit_memory,
    forecast_memory,
    forecast_run,
    trainable_config,
)
from .sampler import open_sampler

MIN_FREE = GB // 2
"""Disk space for logs and data of a small run."""


@dataclass(frozen=True)
class Ready:
    """A config that can run here, with the results of the preflight."""

    path: Path
    config: TrainConfig
    engine: Callable[[TrainJob], Engine]
    model: str
    renderer: Renderer
    device: torch.device
    dtype: torch.dtype
    lora_targets: tuple[str, ...]
    """Layers that get an adapter, if adapters are trained."""
    admission: Admission | None
    """Admission by the gates; None for a local run."""
    forecast: Forecast | None = None
    """Forecast of the run, with slots and pack size that fit the device; None for an engine of the user's own."""


def preflight(
    path: Path,
    admission: Admission | None = None,
    overrides: Sequence[str] | None = None,
    reporter: Reporter = TO_LOG,
    planned: bool = False,
) -> Ready:
    """Checks config, data, engine and strategy, device and disk, cheapest first, and builds missing data by `build`.

    `overrides`: the arguments of `--set`. `planned`: for a plan, builds nothing, but opens the sampler as a run would.
    """
    forget_reads()
    config = load_train_config(path, overrides)
    with naming_keys(path, config):
        if admission is None:
            if config.profile != "local":
                raise BadInput(
                    f"this is a run of profile {config.profile}; only profile local runs without a ticket",
                    where="profile",
                    remedy="python -m train.ppo_runner --config FILE runs it, once both rounds have passed",
                )
        else:
            # A local config with a ticket runs gated, under the ticket's profile.
            config = config.model_copy(update={"profile": admission.profile})
        require_data(config)
        judge_settings(config)
        unstable_weights(config)
        engine = load_engine(config.engine, config.strategy)
        if config.warm_start and not getattr(engine, "warm_starts", False):
            remedy = "set engine: pure_pt; or set warm_start: null, and a policy after SFT as base_model"
            raise BadInput(f"{config.engine} does not train on demonstrations", where="warm_start", remedy=remedy)
        if ranks().world > 1 and not getattr(engine, "several_processes", False):
            remedy = "start it without torchrun, or set engine: pure_pt"
            raise BadInput(f"{config.engine} runs in one process", where="engine", remedy=remedy)
        require_whole_groups(config.batch_size, make_strategy(config).group_size)
        make_callbacks(config)
        device = get_device(config.device_pref)
        if config.finetune.method == "qlora":
            require_four_bits(device)
        targets = lora_targets(config.finetune.targets, memory_gb(device))
        model, weights = _find_model(config)
        disk = _require_disk_space(config, weights)
        dtype = get_dtype(device, config.precision)
        memory = fitted_memory(config, model, device, dtype, targets) if config.engine == "pure_pt" else None
        renderer = open_renderer(model, config.rollout.actions)
        if not planned:
            build_missing(config, reporter)
        episode = EpisodeTokens.usual()
        if config.seed_pool.exists():
            if config.rollout.actions == "native":  # only these prompts list the tools of the pool
                renderer = open_renderer(model, config.rollout.actions, read_meta(config.seed_pool).tools)
            require_mix(config)
            episode = EpisodeTokens.of_pool(config.seed_pool, renderer)
            if planned and config.shadow_set.exists():
                open_sampler(config.seed_pool, config.shadow_set, config.priority_sampling, config.seeds[0])
        forecast = None
        if memory:
            forecast = make_forecast(config, model, memory, device, dtype, disk, episode)
    return Ready(path, config, engine, model, renderer, device, dtype, targets, admission, forecast)


def _find_model(config: TrainConfig) -> tuple[str, int]:
    """Name of the base model for `transformers`, and the size of its weights as far as they are on this machine."""
    path = shipped(Path(config.base_model))
    if not path.exists() and not may_be_on_hub(path):
        raise unreadable(config.base_model)
    if path.is_dir():
        if (path / ADAPTER).exists():
            remedy = "name a whole model; SERVING.md in that folder says how to merge adapters into their base"
            raise BadInput("these are adapters, not a model", where=str(path), remedy=remedy)
        require_config(path)
    try:
        found = cached_file(str(path), "config.json", local_files_only=not path.is_dir() and is_hub_unknown())
    except OSError as error:
        raise unreadable(config.base_model) from error
    assert found is not None
    return str(path), sum(file.stat().st_size for file in Path(found).parent.glob("*.safetensors"))


def fitted_memory(
    config: TrainConfig, model: str, device: torch.device, dtype: torch.dtype, targets: tuple[str, ...]
) -> Memory:
    """Slots and pack size that fit the device, with their memory. Refuses a run that does not fit."""
    shape = Shape.of(trainable_config(model))
    memory = fit_memory(config, shape, device, dtype, targets, memory_gb(device) * GB)
    if device.type == "cpu":
        # Other programs may free memory later, and a resumed run must have the same packs.
        memory = forecast_memory(config, shape, device, dtype, targets)
    return memory


def make_forecast(
    config: TrainConfig,
    model: str,
    memory: Memory,
    device: torch.device,
    dtype: torch.dtype,
    disk: float,
    episode: EpisodeTokens,
) -> Forecast:
    shape, speed = Shape.of(trainable_config(model)), Speed(*measure_speed(device, dtype))
    return forecast_run(config, shape, memory, device, dtype, memory_gb(device) * GB, speed, disk, episode)


def plan(path: Path, overrides: Sequence[str] | None = None) -> Forecast:
    """The forecast of a config whose data may not be built yet. Refuses what this machine cannot run."""
    config = load_train_config(path, overrides)
    with naming_keys(path, config):
        return _plan(config)


def _plan(config: TrainConfig) -> Forecast:
    load_engine(config.engine, config.strategy)
    require_whole_groups(config.batch_size, make_strategy(config).group_size)
    device = get_device(config.device_pref)
    if config.finetune.method == "qlora":
        require_four_bits(device)
    dtype, targets = get_dtype(device, config.precision), lora_targets(config.finetune.targets, memory_gb(device))
    model, weights = _find_model(config)
    memory = fitted_memory(config, model, device, dtype, targets)
    episode = EpisodeTokens.usual()
    if config.seed_pool.exists():
        episode = EpisodeTokens.of_pool(config.seed_pool, open_renderer(model, config.rollout.actions))
    return make_forecast(config, model, memory, device, dtype, _require_disk_space(config, weights), episode)


def _require_disk_space(config: TrainConfig, weights: int) -> float:
    """Returns the bytes that the run will write; refuses a disk without room for them. `weights`: bytes of the model.

    A checkpoint has weights and two Adam moments in fp32: six times a file in 16 bits. Adapters are small.
    """
    checkpoint = 6 * weights if config.finetune.method == "full" else weights // 10
    copies = config.checkpoint.keep + 2
    need = MIN_FREE + copies * checkpoint * len(config.seeds)
    free = shutil.disk_usage(".").free
    if free < need:
        raise BadInput(
            f"{free / GB:.1f} GB are free, the run needs about {need / GB:.1f}",
            where="checkpoint.keep",
            remedy="free some space, keep fewer checkpoints, or train adapters (finetune.method: lora)",
        )
    return need
