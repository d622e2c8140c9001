"""How much memory a device has, and which layers get an adapter for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import torch

from ..config.sections import TargetRow

GB = 2**30
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""A container may use less than the machine has."""


def memory_gb(device: torch.device) -> float:
    """All of a GPU's memory, since what else runs there now must not decide what is trained; the share of a Mac's
    memory that Metal recommends; what this process may use on a CPU."""
    if device.type == "cuda":
        _, total = torch.cuda.mem_get_info(device)
        return total / GB
    if device.type == "mps":
        return torch.mps.recommended_max_memory() / GB
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([installed, *_container_limits()]) / GB


def _container_limits() -> list[int]:
    said = [path.read_text().strip() for path in _LIMITS if path.exists()]
    return [int(limit) for limit in said if limit.isdigit()]


def lora_targets(table: Sequence[TargetRow], available_gb: float) -> tuple[str, ...]:
    """The last row of the table that there is memory for.

    >>> rows = [TargetRow(memory_gb=0, modules=("q_proj",)), TargetRow(memory_gb=12, modules=("q_proj", "v_proj"))]
    >>> lora_targets(rows, 11.9), lora_targets(rows, 12.0)
    (('q_proj',), ('q_proj', 'v_proj'))
    """
    return [row.modules for row in table if row.memory_gb <= available_gb][-1]
