"""The device layer: which device, which number format (cuda bf16, mps fp16, cpu fp32), and how much memory it has."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from ..config.train_config import DeviceName, Precision, TargetRow
from ..core.errors import BadInput

DTYPES: dict[str, torch.dtype] = {"cuda": torch.bfloat16, "mps": torch.float16, "cpu": torch.float32}
PRECISIONS: dict[Precision, torch.dtype] = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
DEVICES: tuple[DeviceName, ...] = ("cuda", "mps", "cpu")
GB = 2**30
_CONTAINER_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""A container may use less memory than the machine has."""

_log = logging.getLogger(__name__)


def get_device(device_pref: Sequence[DeviceName] = DEVICES) -> torch.device:
    """The first of the preferred devices that this machine has."""
    for name in device_pref:
        if _is_available(name):
            return torch.device(name)
    what = f"this machine has none of {', '.join(device_pref)}"
    raise BadInput(what, where="device_pref", remedy="add cpu at the end")


def get_dtype(device: torch.device, precision: Precision = "auto") -> torch.dtype:
    """The number format on that device. A CPU always computes in fp32, because half precision is slow there."""
    if precision == "auto" or device.type == "cpu":
        if precision not in ("auto", "fp32"):
            _log.warning("precision: %s is for accelerators; on the CPU this run computes in fp32", precision)
        return DTYPES[device.type]
    return PRECISIONS[precision]


def to_device(t: Tensor, device: torch.device | None = None) -> Tensor:
    """The tensor on the device, floats in its number format. Default: the first device that this machine has."""
    device = device or get_device()
    return t.to(device, get_dtype(device)) if t.is_floating_point() else t.to(device)


def prepare_device(device: torch.device) -> None:
    """Prepares a device before its first tensor: on mps, switches off flash attention and torch.compile."""
    if device.type == "mps":
        torch.backends.cuda.enable_flash_sdp(False)
        torch.compiler.set_stance("force_eager")
        _log.warning("mps: flash attention and torch.compile are switched off, they are not reliable there")


def memory_gb(device: torch.device) -> float:
    """Memory of a device in GB. GPU: all that this process may use, even if other programs hold some of it now, so that
    they do not influence the training. Mac: the amount that Metal recommends. CPU: what this process may use."""
    if device.type == "cuda":
        _, total = torch.cuda.mem_get_info(device)
        return total * allowed_share(device) / GB
    if device.type == "mps":
        return torch.mps.recommended_max_memory() / GB
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [path.read_text().strip() for path in _CONTAINER_LIMITS if path.exists()]
    return min([installed, *(int(limit) for limit in limits if limit.isdigit())]) / GB


def allowed_share(device: torch.device) -> float:
    """Share of a GPU's memory that this process may use (`torch.cuda.set_per_process_memory_fraction`)."""
    # torch 2.11 refuses a device without an index here.
    index = torch.cuda.current_device() if device.index is None else device.index
    return float(torch.cuda.get_per_process_memory_fraction(index))


def measure_speed(device: torch.device, dtype: torch.dtype) -> tuple[float, float]:
    """Bytes per second of a plain copy, read and written, and operations per second of a matrix product."""
    size, rows = (2**28, 8192) if device.type == "cuda" else (2**23, 512)
    source = torch.zeros(size, dtype=torch.uint8, device=device)
    target, square = torch.empty_like(source), torch.zeros(rows, rows, dtype=dtype, device=device)
    copy_s = _fastest(lambda: target.copy_(source), device)
    product_s = _fastest(lambda: square @ square, device)
    return 2 * size / copy_s, 2 * rows**3 / product_s


def _fastest(work: Callable[[], object], device: torch.device, rounds: int = 5) -> float:
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        if device.type != "cpu":
            torch.accelerator.synchronize()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def lora_targets(table: Sequence[TargetRow], available_gb: float) -> tuple[str, ...]:
    """Layers that get a LoRA adapter: the last row of the table that there is memory for.

    >>> rows = [TargetRow(memory_gb=0, modules=("q_proj",)), TargetRow(memory_gb=12, modules=("q_proj", "v_proj"))]
    >>> lora_targets(rows, 11.9), lora_targets(rows, 12.0)
    (('q_proj',), ('q_proj', 'v_proj'))
    """
    return [row.modules for row in table if row.memory_gb <= available_gb][-1]


def _is_available(name: DeviceName) -> bool:
    if name == "cuda":
        return torch.cuda.is_available()
    return name == "cpu" or torch.backends.mps.is_available()
