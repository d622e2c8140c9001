"""Seeds every random generator from one number, and saves their states for checkpoints."""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import torch

# cuBLAS reads it at its first call. Without workspaces of a fixed size two runs of a seed may differ.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_is_strict = True
"""False if a model of this run has used an operation without a deterministic implementation."""


def seed_all(seed: int) -> None:
    """Seeds Python, NumPy and torch on every device, and asks torch for deterministic algorithms."""
    global _is_strict
    _is_strict = True
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True, warn_only=True)
    # Otherwise torch fills new tensors with NaN, which costs time. Nothing here reads unwritten memory.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def backward_strictly(work: Callable[[], _T], undo: Callable[[], None]) -> _T:
    """Runs forward and backward passes with deterministic results, on CUDA too.

    Flash attention uses its deterministic backward pass only if torch refuses nondeterministic operations instead of
    warning. If the model has such an operation, `undo` drops the gradients so far, and `work` is repeated without this
    strictness, as are all later passes of the run; the log has a warning.
    """
    global _is_strict
    if not (
        _is_strict
        and torch.are_deterministic_algorithms_enabled()
        and torch.is_deterministic_algorithms_warn_only_enabled()
    ):
        return work()
    torch.use_deterministic_algorithms(True)
    try:
        return work()
    except RuntimeError as error:
        if "deterministic" not in str(error):
            raise
        _is_strict = False
        _log.warning("this model does not train reproducibly bit by bit: %s", str(error).splitlines()[0])
    finally:
        torch.use_deterministic_algorithms(True, warn_only=True)
    undo()
    return work()


def rng_state() -> dict[str, Any]:
    return {
        "python": random.getstate(),
        "numpy": np.random.get_state(),
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }


def load_rng_state(state: Mapping[str, Any]) -> None:
    random.setstate(state["python"])
    np.random.set_state(state["numpy"])
    torch.set_rng_state(state["torch"])
    if state["cuda"]:
        torch.cuda.set_rng_state_all(state["cuda"])
