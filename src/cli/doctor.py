"""Verb `doctor`: what this machine has, what is missing, and what to type."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import typer
from msgspec import Struct

from ..core.errors import BadInput
from . import options, show

LEAST_PYTHON, LEAST_DISK_GB, LEAST_MEMORY_GB = (3, 11), 5.0, 4.0
GB = 2**30
LIBRARIES = ("torch", "transformers", "peft", "xllamacpp")
EXTRAS = {"bitsandbytes": ("QLoRA", "gpu"), "trl": ("engine trl_ppo", "trl"), "datasets": ("--source hf", "hf")}


class Finding(Struct, frozen=True):
    """One line of the doctor's report."""

    what: str
    found: str
    ok: bool = True
    type_this: str = ""
    """What to type or do where something is missing."""


def doctor(as_json: options.Json = False) -> None:
    """Check this machine: Python, libraries, GPU, memory, disk, judge.

    Says what is missing and what to type. The exit code is 1 if something is missing that a run needs.
    """
    found = [*_libraries(), *_device(), _disk(), _judge()]
    if as_json:
        show.print_json(found)
    else:
        for one in found:
            show.say(f"{'ok     ' if one.ok else 'MISSING'} {one.what}: {one.found}")
            if one.type_this:
                show.say(f"        -> {one.type_this}")
        ready = all(one.ok for one in found)
        show.say("-> ready: askgate demo, then askgate quickstart" if ready else "-> first do what is marked MISSING")
    if not all(one.ok for one in found):
        raise typer.Exit(1)


def _libraries() -> list[Finding]:
    from .. import __version__

    known = sys.version_info[:2] >= LEAST_PYTHON
    wanted = ".".join(map(str, LEAST_PYTHON))
    found = [
        Finding("AskGate", __version__),
        Finding("Python", platform.python_version(), known, "" if known else f"install Python {wanted} or later"),
    ]
    for name in LIBRARIES:
        has = _version(name)
        found.append(Finding(name, has or "not installed", bool(has), "" if has else "pip install askgate"))
    for name, (purpose, extra) in EXTRAS.items():
        has = _version(name)
        typed = "" if has else f"only for {purpose}: pip install 'askgate[{extra}]'"
        found.append(Finding(name, has or "not installed (optional)", type_this=typed))
    return found


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _device() -> list[Finding]:
    if not _version("torch"):
        return []
    import torch

    from ..runtime.device import get_device, memory_gb

    device, cpu = get_device(), torch.device("cpu")
    memory = memory_gb(cpu)
    few = "" if memory >= LEAST_MEMORY_GB else f"use a machine with {LEAST_MEMORY_GB:.0f} GB or more"
    found = [Finding("memory", f"{memory:.1f} GB, {os.cpu_count()} cores", not few, few)]
    if device.type == "cuda":
        name = torch.cuda.get_device_name(device)
        found.append(Finding("GPU", f"{name}, {memory_gb(device):.1f} GB, CUDA {torch.version.cuda}"))
    elif device.type == "mps":
        found.append(Finding("GPU", f"Apple (mps), {memory_gb(device):.1f} GB"))
    elif shutil.which("nvidia-smi"):
        typed = "install a torch build with CUDA: https://pytorch.org/get-started/locally"
        found.append(Finding("GPU", f"there is one, and torch {torch.__version__} cannot use it", False, typed))
    else:
        found.append(Finding("GPU", "none; training runs on the CPU"))
    return found


def _disk() -> Finding:
    free = shutil.disk_usage(Path()).free / GB
    few = "" if free >= LEAST_DISK_GB else f"free {LEAST_DISK_GB:.0f} GB on the disk of this folder"
    return Finding("disk", f"{free:.1f} GB free here", not few, few)


def _judge() -> Finding:
    from ..config.profile import load_profile, scoring_of
    from ..scoring.providers import settings_for

    try:
        settings = settings_for(os.environ, scoring_of(load_profile("rc1")))
    except BadInput as error:
        return Finding("judge", f"{error.where}: {error.what}", False, error.remedy)
    name = settings.provider.name
    if not os.environ.get("SCORER_PROVIDER", "").strip():
        other = "to use another: set SCORER_PROVIDER and SCORER_API_KEY (docs/scoring.md)"
        return Finding("judge", f"{name} (built in)", type_this=other)
    test = "test it: askgate probe-scorer --live"
    return Finding("judge", f"{name}, model {settings.provider.model}", type_this=test)
