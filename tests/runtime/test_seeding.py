"""Random numbers repeat: from a seed, and from a state that went through a checkpoint."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from src.checkpoint.state import pack_state, unpack_state
from src.runtime.seeding import load_rng_state, rng_state, seed_all


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    torch.use_deterministic_algorithms(False)


def throw() -> tuple[float, float, float, float]:
    return random.gauss(), float(np.random.standard_normal()), float(torch.rand(())), random.random()


def test_a_seed_decides_every_random_number() -> None:
    seed_all(7)
    first = [throw() for _ in range(3)]
    seed_all(7)
    assert [throw() for _ in range(3)] == first
    seed_all(8)
    assert throw() != first[0]


def test_a_restored_state_continues_the_random_numbers(tmp_path: Path) -> None:
    seed_all(7)
    throw()
    pack_state(tmp_path, rng_state())
    ahead = [throw() for _ in range(3)]
    seed_all(99)
    load_rng_state(unpack_state(tmp_path))
    assert [throw() for _ in range(3)] == ahead
