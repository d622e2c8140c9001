"""The plan of `askgate train --model M --data my.jsonl`: the fine-tuning method for this machine, and the config.

Full fine-tuning, LoRA and QLoRA are tried in this order, each without and with gradient checkpointing. The plan is the
first one whose forecast (`forecast.py`) fits the memory of the device with all rollout slots, else the first with
fewer.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import torch
import yaml

from ..config.loader import read_yaml, with_overrides
from ..config.train_config import TARGETS, TrainConfig
from ..core.defaults import SEED
from ..core.errors import BadInput
from ..core.files import atomic_write, shipped
from ..core.model_files import find_model, require_config
from ..loop.runner import verb, with_package
from ..runtime.device import GB, get_device, get_dtype, lora_targets, memory_gb
from .forecast import Shape, fit_memory, trainable_config
from .own_data import OwnData

TRY_FOLDER, TRY_SECONDS = Path(".askgate"), 3600
OUTPUTS = {"runs", "checkpoints", "logs", "reports", ".askgate"}
"""Names in the project folder that a run writes, and that the folder of a trial step must not link to."""
Method = Literal["full", "lora", "qlora"]
STEPS = 100
WATCH_WINDOW = 20
"""Window of the reward-hacking watch: number of steps before it compares shares with their limits."""
MAX_TOKENS, MIN_TURN = 4096, 32
"""Maximum tokens of an episode, and minimum of the tokens that one turn may have."""
SFT_TOKENS, SFT_STEPS, SFT_BATCH = (4096, 200_000), 4, 4096
"""Range of the warm start's tokens, its steps, and its tokens per batch."""


@dataclass(frozen=True)
class RunPlan:
    """The device, the method and the config of a run."""

    device: torch.device
    memory_gb: float
    parameters: int
    method: Method
    needs_gb: float
    settings: dict[str, Any]
    """The training config."""


def make_plan(model: str, data: OwnData) -> RunPlan:
    """Chooses the method for a model on this machine. Refuses a model that does not fit with any."""
    folder = find_model(model)
    require_config(folder)
    config = trainable_config(str(folder))
    shape, positions = Shape.of(config), int(config.max_position_embeddings)
    device = get_device()
    four_bits = device.type == "cuda" and find_spec("bitsandbytes") is not None
    settings = run_settings(model, data, min(MAX_TOKENS, positions))
    return choose_method(settings, shape, device, memory_gb(device), four_bits)


def choose_method(
    settings: dict[str, Any], shape: Shape, device: torch.device, available_gb: float, four_bits: bool
) -> RunPlan:
    """The first of full fine-tuning, LoRA and (with `four_bits`) QLoRA that fits with all slots, else with fewer."""
    methods: tuple[Method, ...] = ("full", "lora", "qlora") if four_bits else ("full", "lora")
    parameters, refusal = shape.linear + shape.embedding, ""
    with_fewer_slots: list[RunPlan] = []
    for method, recompute in product(methods, (False, True)):
        chosen = {
            **settings,
            "finetune": {"method": method},
            "lr": 1.0e-5 if method == "full" else 5.0e-5,
            "optimizer": {**settings["optimizer"], "gradient_checkpointing": recompute},
        }
        targets = lora_targets(TARGETS, available_gb)
        config = TrainConfig.model_validate(chosen)
        try:
            memory = fit_memory(config, shape, device, get_dtype(device), targets, available_gb * GB)
        except BadInput as error:
            refusal = error.what
        else:
            plan = RunPlan(device, available_gb, parameters, method, memory.peak / GB, chosen)
            if memory.slots == config.rollout.slots:
                return plan
            with_fewer_slots.append(plan)
    if with_fewer_slots:
        return with_fewer_slots[0]
    smaller = "choose a smaller model"
    remedy = smaller if four_bits or device.type != "cuda" else f"pip install 'askgate[gpu]' for QLoRA, or {smaller}"
    raise BadInput(f"{parameters / 1e9:.1f}B weights: {refusal}", where="--model", remedy=remedy)


def run_settings(model: str, data: OwnData, max_tokens: int) -> dict[str, Any]:
    """Settings of a run on the user's data, except those that depend on the method."""
    tokens = max(SFT_TOKENS[0], min(SFT_TOKENS[1], data.characters))
    return {
        "profile": "local",
        "base_model": model,
        "seed_pool": data.seed_pool.as_posix(),
        "shadow_set": data.shadow_set.as_posix(),
        "datasets": data.shares,
        # The samples of a user's file have no difficulty levels to balance.
        "priority_sampling": {"enable": False},
        # Every step of the warm start has an update: a batch is at most the tokens of a step.
        "warm_start": {"steps": SFT_STEPS, "tokens": tokens, "batch_tokens": min(SFT_BATCH, tokens // SFT_STEPS)},
        "steps": STEPS,
        "seeds": [SEED],
        "batch_size": 16,
        "rollout_len": max(MIN_TURN, max_tokens // 8),
        "rollout": {"max_turns": 6, "max_tokens": max_tokens, "slots": 8},
        "optimizer": {"pack_tokens": max_tokens, "critic_warmup_steps": 2},
        "checkpoint": {"every_steps": 20},
        "eval": {"every_steps": 20},
        # The behaviour of an unknown base on the user's data is no reward hacking: compare after more steps.
        "watch": {"window": WATCH_WINDOW},
    }


def config_file(plan: RunPlan, data: OwnData) -> Path:
    """The config of runs of a model on this data."""
    return data.folder / f"train-{Path(plan.settings['base_model']).name}.yaml"


def write_run_config(plan: RunPlan, data: OwnData, overrides: Sequence[str] = (), resume: bool = False) -> Path:
    """Writes the config of the run, with its `--set` overrides, into the folder of the data, for `askgate train
    --config FILE` and `askgate eval --config FILE`. A resumed run keeps the settings that it began with."""
    path = config_file(plan, data)
    if resume and path.exists() and not overrides:
        return path
    text = "# Made by `askgate train --model --data`; edit it and run `askgate train --config` on it.\n"
    settings = with_overrides(read_yaml(path) if resume and path.exists() else plan.settings, overrides)
    with atomic_write(path) as handle:
        handle.write((text + yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)).encode())
    return path


def try_step(config: Path, model: str, data: OwnData, overrides: Sequence[str]) -> float:
    """Takes one step of the run in a process and folder of its own. Returns its seconds, loading included.

    The folder has links to everything in the project folder, so that relative paths in `overrides` are valid there.
    """
    model_folder = shipped(Path(model))
    changes = {
        "base_model": model_folder.absolute() if model_folder.is_dir() else model,
        "seed_pool": data.seed_pool.absolute(),
        "shadow_set": data.shadow_set.absolute(),
        "steps": 1,
        "warm_start": "null",
        "eval.base": "false",
        "eval.n": 1,
    }
    settings = [*map(_from_above, overrides), *(f"{key}={value}" for key, value in changes.items())]
    flags = [word for one in settings for word in ("--set", one)]
    command = [sys.executable, "-P", *verb("train", "--config", config.absolute(), *flags)]
    TRY_FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="try_step-", dir=TRY_FOLDER) as folder:
        for one in Path().iterdir():
            if one.name not in OUTPUTS:
                Path(folder, one.name).symlink_to(one.absolute())
        started = time.monotonic()
        try:
            done = subprocess.run(
                command, cwd=folder, env=with_package(os.environ), capture_output=True, text=True, timeout=TRY_SECONDS
            )
        except subprocess.TimeoutExpired:
            remedy = "choose a smaller model, or a smaller step, such as --set batch_size=4"
            raise BadInput(f"one step took more than {TRY_SECONDS} s", where=str(config), remedy=remedy) from None
        seconds = time.monotonic() - started
    if done.returncode:
        last = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "no message")
        what, _, remedy = last.removeprefix("askgate: ").partition(". What to do: ")
        change = "change a setting with --set, such as --set batch_size=4"
        raise BadInput(f"one step failed: {what}", where=str(config), remedy=remedy or change)
    return seconds


def _from_above(override: str) -> str:
    """Makes a path in KEY=VALUE absolute if it leads out of the project folder: the trial step has another folder.

    >>> _from_above("steps=3"), _from_above("reward.weights=../w.json").startswith("reward.weights=/")
    ('steps=3', True)
    """
    key, sign, value = override.partition("=")
    return f"{key}{sign}{Path(value).absolute()}" if value.startswith("../") else override
