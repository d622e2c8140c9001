"""Adapters go on as many layers as the memory allows."""

from __future__ import annotations

import os

import pytest
import torch

from src.config.sections import TARGETS
from src.runtime.memory import GB, lora_targets, memory_gb


def test_more_memory_means_more_layers() -> None:
    rows = [lora_targets(TARGETS, gb) for gb in (1, 12, 24)]
    assert rows == [row.modules for row in TARGETS]
    assert set(rows[0]) < set(rows[1]) < set(rows[2])


def test_a_cpu_has_at_most_what_the_machine_has() -> None:
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GB
    assert 0 < memory_gb(torch.device("cpu")) <= installed


def test_a_gpu_has_what_it_has_whoever_else_uses_it_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (12 * GB, 24 * GB))
    assert memory_gb(torch.device("cuda")) == 24
