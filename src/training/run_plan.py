"""The plan of `askgate train --model M --data my.jsonl`: what this machine can train, and the config of the run.

Memory by a rule of thumb, in bytes per weight. Full fine-tuning: fp32 weights, gradient and two Adam moments (16), and
copies for rollouts and reference in 16 bits (4). LoRA: the base in the device's number format, a quarter more for the
adapters with their moments. QLoRA: the base in 4 bits with its scales. Everything has room for activations and caches.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import torch
import yaml

from ..core.defaults import SEED
from ..core.errors import BadInput
from ..core.files import atomic_write, shipped
from ..core.model_files import find_model
from ..loop.runner import verb, with_package
from ..runtime.device import GB, get_device, get_dtype, memory_gb
from .own_data import OwnData

TRY_FOLDER, TRY_SECONDS = Path(".askgate/try_step"), 3600
Method = Literal["full", "lora", "qlora"]
USABLE = 0.9
"""Share of the memory that a run may plan with."""
ROOM_GB = {"cuda": 4.0, "mps": 2.0, "cpu": 1.0}
"""Memory for activations, caches and the libraries."""
FULL_BYTES, ADAPTERS, FOUR_BIT_BYTES = 20.0, 1.25, 0.7
STEPS = 100
MOST_TOKENS, LEAST_TURN = 4096, 32
SFT_TOKENS = (4096, 200_000)


@dataclass(frozen=True)
class RunPlan:
    """What will be trained, where and how."""

    device: torch.device
    memory_gb: float
    parameters: int
    method: Method
    needs_gb: float
    context: int
    """Longest dialogue in tokens that the model has positions for."""


def make_plan(model: str) -> RunPlan:
    """Chooses the method for a model on this machine. Refuses a model that does not fit in any."""
    parameters, context = model_size(model)
    device = get_device()
    available = memory_gb(device)
    four_bits = device.type == "cuda" and find_spec("bitsandbytes") is not None
    method, needs = choose_method(parameters, device, available, four_bits)
    return RunPlan(device, available, parameters, method, needs, context)


def choose_method(parameters: int, device: torch.device, available_gb: float, four_bits: bool) -> tuple[Method, float]:
    """The first of full, LoRA and QLoRA that fits, with the memory that it needs.

    >>> cuda = torch.device("cuda")
    >>> [choose_method(size, cuda, 24.0, True)[0] for size in (600_000_000, 4_000_000_000, 14_000_000_000)]
    ['full', 'lora', 'qlora']
    """
    room, number = ROOM_GB[device.type], torch.empty((), dtype=get_dtype(device)).element_size()
    needs: dict[Method, float] = {
        "full": parameters * FULL_BYTES / GB + room,
        "lora": parameters * number * ADAPTERS / GB + room,
    }
    if four_bits:
        needs["qlora"] = parameters * FOUR_BIT_BYTES / GB + room
    for method, need in needs.items():
        if need <= USABLE * available_gb:
            return method, need
    least = min(needs.values())
    smaller = "choose a smaller model"
    remedy = smaller if four_bits or device.type != "cuda" else f"pip install 'askgate[gpu]' for QLoRA, or {smaller}"
    raise BadInput(
        f"{parameters / 1e9:.1f}B weights need about {least:.0f} GB, and this {device.type} has {available_gb:.0f} GB",
        where="--model",
        remedy=remedy,
    )


def model_size(model: str) -> tuple[int, int]:
    """Number of weights and of positions, from the model's config; the weights themselves are not loaded."""
    from transformers import AutoConfig, AutoModelForCausalLM

    folder = find_model(model)
    try:
        config = AutoConfig.from_pretrained(folder)
        with torch.device("meta"):
            network: Any = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, KeyError) as error:
        remedy = "name a folder or hub name of a causal language model"
        raise BadInput(f"is no model that can be trained ({error})", where=str(folder), remedy=remedy) from None
    return sum(weight.numel() for weight in network.parameters()), int(config.max_position_embeddings)


def write_run_config(plan: RunPlan, model: str, data: OwnData) -> Path:
    """Writes the config of the run into the folder of the data, for `askgate train --config FILE`."""
    most = min(MOST_TOKENS, plan.context)
    settings: dict[str, Any] = {
        "profile": "local",
        "base_model": model,
        "finetune": {"method": plan.method},
        "seed_pool": data.seed_pool.as_posix(),
        "shadow_set": data.shadow_set.as_posix(),
        "datasets": data.shares,
        # A file of one's own has the difficulties that it has.
        "priority_sampling": {"enable": False},
        "warm_start": {"steps": 4, "tokens": max(SFT_TOKENS[0], min(SFT_TOKENS[1], data.characters))},
        "steps": STEPS,
        "seeds": [SEED],
        "batch_size": 16,
        "rollout_len": max(LEAST_TURN, most // 8),
        "rollout": {"max_turns": 6, "max_tokens": most, "slots": 8},
        "lr": 1.0e-5 if plan.method == "full" else 5.0e-5,
        "optimizer": {"pack_tokens": most, "critic_warmup_steps": 2},
        "checkpoint": {"every_steps": 20},
        "eval": {"every_steps": 20},
    }
    path = data.folder / f"train-{Path(model).name}.yaml"
    text = "# Made by `askgate train --model --data`; edit it and run `askgate train --config` on it.\n"
    with atomic_write(path) as handle:
        handle.write((text + yaml.safe_dump(settings, sort_keys=False)).encode())
    return path


def try_step(config: Path, model: str, data: OwnData, overrides: Sequence[str]) -> float:
    """Takes one step of the run in a process and folder of its own. Returns its seconds, loading included."""
    folder = TRY_FOLDER.absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    known = shipped(Path(model))
    changes = {
        "base_model": known.absolute() if known.is_dir() else model,
        "seed_pool": data.seed_pool.absolute(),
        "shadow_set": data.shadow_set.absolute(),
        "steps": 1,
        "warm_start": "null",
        "eval.base": "false",
        "eval.n": 1,
    }
    settings = [*overrides, *(f"{key}={value}" for key, value in changes.items())]
    flags = [word for one in settings for word in ("--set", one)]
    command = [sys.executable, "-P", *verb("train", "--config", config.absolute(), *flags)]
    started = time.monotonic()
    try:
        done = subprocess.run(
            command, cwd=folder, env=with_package(os.environ), capture_output=True, text=True, timeout=TRY_SECONDS
        )
        if done.returncode:
            last = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "no message")
            raise BadInput(
                f"one step failed: {last.removeprefix('askgate: ')}",
                where=str(config),
                remedy="change this config, such as batch_size, and run `askgate train --config` on it",
            )
    except subprocess.TimeoutExpired:
        remedy = f"run `askgate train --config {config}` if this machine is that slow"
        raise BadInput(f"one step took more than {TRY_SECONDS} s", where=str(config), remedy=remedy) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return time.monotonic() - started
