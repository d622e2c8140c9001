"""Command `doctor`: what this machine has, what is missing, and what to type."""

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
from ..runtime.language import in_language as both
from . import options, show

MIN_PYTHON, MIN_DISK_GB, MIN_MEMORY_GB = (3, 11), 5.0, 4.0
GB = 2**30
LIBRARIES = ("torch", "transformers", "peft", "xllamacpp")
INSTALL = "pip install 'askgate[train]'"
# Optional libraries: what each is for, and the extra of AskGate that installs it.
EXTRAS = {"bitsandbytes": ("QLoRA", "gpu"), "trl": ("engine trl_ppo", "trl"), "datasets": ("--source hf", "hf")}

WHAT_ZH = {"memory": "内存", "disk": "磁盘", "judge": "评委"}


class Finding(Struct, frozen=True):
    """One line of the doctor's report."""

    what: str
    found: str
    ok: bool = True
    type_this: str = ""  # what to type or do where something is missing


def doctor(as_json: options.Json = False) -> None:
    """Check this machine: Python, libraries, GPU, memory, disk, judge.

    Says what is missing and what to type. The exit code is 2 if something is missing. What only training needs may be
    missing where AskGate was installed without the extra `train`.
    """
    found = [*_libraries(), *_device(), _disk(), _judge()]
    ready = all(one.ok for one in found)
    if as_json:
        show.print_json(found)
    else:
        for one in found:
            state = both("ok     ", "正常") if one.ok else both("MISSING", "缺失")
            show.say(f"{state} {both(one.what, WHAT_ZH.get(one.what, one.what))}: {one.found}")
            if one.type_this:
                show.say(f"        -> {one.type_this}")
        if not ready:
            show.say("-> first do what is marked MISSING", "-> 请先处理标为“缺失”的各项")
        elif _version("torch"):
            show.say(
                "-> ready: askgate demo, then askgate quickstart", "-> 已就绪：先 askgate demo，再 askgate quickstart"
            )
            own = both("-> your own model and data:", "-> 用自己的模型与数据：")
            show.say(f"{own} askgate train --model MODEL --data my.jsonl")
        else:
            show.say("-> ready for data, gates, scoring and the board", "-> 数据、闸门、评分与看板已可用")
            show.say(f"{both('-> to train:', '-> 要训练：')} {INSTALL}")
    if not ready:
        raise typer.Exit(2)


def _libraries() -> list[Finding]:
    from .. import __version__

    known = sys.version_info[:2] >= MIN_PYTHON
    wanted = ".".join(map(str, MIN_PYTHON))
    found = [
        Finding("AskGate", __version__),
        Finding("Python", platform.python_version(), known, "" if known else f"install Python {wanted} or later"),
    ]
    core_only = not any(map(_version, LIBRARIES))
    for name in LIBRARIES:
        has, missing = _version(name), both("not installed", "未安装")
        if core_only:
            missing = both("not installed (only for training)", "未安装（仅训练需要）")
        found.append(Finding(name, has or missing, bool(has) or core_only, "" if has else INSTALL))
    for name, (purpose, extra) in EXTRAS.items():
        has = _version(name)
        typed = both(f"only for {purpose}:", f"仅用于 {purpose}：") + f" pip install 'askgate[{extra}]'"
        missing = both("not installed (optional)", "未安装（可选）")
        found.append(Finding(name, has or missing, type_this="" if has else typed))
    return found


def _version(name: str) -> str:
    """Installed version of a distribution; empty if it is not installed."""
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
    least = f"{MIN_MEMORY_GB:.0f} GB"
    remedy = both(f"use a machine with {least} or more", f"请使用内存不少于 {least} 的机器")
    enough = memory >= MIN_MEMORY_GB
    cores = both(f"{os.cpu_count()} cores", f"{os.cpu_count()} 核")
    found = [Finding("memory", f"{memory:.1f} GB, {cores}", enough, "" if enough else remedy)]
    if device.type == "cuda":
        name = torch.cuda.get_device_name(device)
        found.append(Finding("GPU", f"{name}, {memory_gb(device):.1f} GB, CUDA {torch.version.cuda}"))
    elif device.type == "mps":
        found.append(Finding("GPU", f"Apple (mps), {memory_gb(device):.1f} GB"))
    elif shutil.which("nvidia-smi"):
        typed = "install a torch build with CUDA: https://pytorch.org/get-started/locally"
        found.append(Finding("GPU", f"found, but torch {torch.__version__} cannot use it", False, typed))
    else:
        found.append(Finding("GPU", both("none; training runs on the CPU", "无，将在 CPU 上训练")))
    return found


def _disk() -> Finding:
    free = shutil.disk_usage(Path()).free / GB
    least = f"{MIN_DISK_GB:.0f} GB"
    remedy = both(f"free {least} on the disk of this folder", f"请为此目录所在磁盘腾出 {least}")
    enough = free >= MIN_DISK_GB
    found = both(f"{free:.1f} GB free here", f"此处可用 {free:.1f} GB")
    return Finding("disk", found, enough, "" if enough else remedy)


def _judge() -> Finding:
    from ..config.profile import load_profile, scoring_of
    from ..scoring.providers import settings_for

    try:
        settings = settings_for(os.environ, scoring_of(load_profile("rc1")))
    except BadInput as error:
        return Finding("judge", f"{error.where}: {error.what}", False, error.remedy)
    name = settings.provider.name
    if not os.environ.get("SCORER_PROVIDER", "").strip():
        other = both("to use another: set", "使用其他评委：设置") + " SCORER_PROVIDER, SCORER_API_KEY (docs/scoring.md)"
        return Finding("judge", f"{name} ({both('built in', '内置')})", type_this=other)
    test = f"{both('test it', '测试')}: askgate probe-scorer --live"
    return Finding("judge", f"{name}, {both('model', '模型')} {settings.provider.model}", type_this=test)
