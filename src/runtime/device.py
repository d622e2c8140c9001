"""Where tensors live and in which number format: cuda bf16, mps fp16, cpu fp32, in the order the config prefers."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import torch
from torch import Tensor

from ..config.train import DeviceName, Precision
from ..core.errors import BadInput

DTYPES: dict[DeviceName, torch.dtype] = {"cuda": torch.bfloat16, "mps": torch.float16, "cpu": torch.float32}
NAMED: dict[Precision, torch.dtype] = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
ANY: tuple[DeviceName, ...] = ("cuda", "mps", "cpu")

_log = logging.getLogger(__name__)


def get_device(device_pref: Sequence[DeviceName] = ANY) -> torch.device:
    """The first of the preferred devices that this machine has."""
    for name in device_pref:
        if _present(name):
            return torch.device(name)
    raise BadInput(
        f"this machine has none of {', '.join(device_pref)}", where="device_pref", remedy="add cpu at the end"
    )


def get_dtype(device: torch.device, precision: Precision = "auto") -> torch.dtype:
    """What is computed in on that device. A CPU computes in fp32 whatever the config prefers: half is slow there."""
    own = DTYPES[_name(device)]
    if precision == "auto" or device.type == "cpu":
        if precision not in ("auto", "fp32"):
            _log.warning("precision: %s is for accelerators; on the CPU this run computes in fp32", precision)
        return own
    return NAMED[precision]


def to_device(t: Tensor, device: torch.device | None = None) -> Tensor:
    """A tensor on the device, floats in its number format. Without a device: the first that this machine has."""
    device = device or get_device()
    return t.to(device, get_dtype(device)) if t.is_floating_point() else t.to(device)


def settle(device: torch.device) -> None:
    """Before the first tensor: on mps flash attention and torch.compile are switched off, which is said aloud."""
    if device.type == "mps":
        torch.backends.cuda.enable_flash_sdp(False)
        torch.compiler.set_stance("force_eager")
        _log.warning("mps: flash attention and torch.compile are switched off, they are not reliable there")


def _present(name: DeviceName) -> bool:
    if name == "cuda":
        return torch.cuda.is_available()
    return name == "cpu" or torch.backends.mps.is_available()


def _name(device: torch.device) -> DeviceName:
    for name in ANY:
        if device.type == name:
            return name
    raise BadInput(f"no rule for the device {device.type}", where="device_pref", remedy=f"use {', '.join(ANY)}")
