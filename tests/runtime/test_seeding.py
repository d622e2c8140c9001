"""Random numbers repeat: from a seed, and from a state that went through a checkpoint."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from src.checkpoint.state import pack_state, unpack_state
from src.runtime.seeding import backward_strictly, load_rng_state, rng_state, seed_all


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


def test_a_backward_pass_refuses_what_is_not_deterministic() -> None:
    """Flash attention is deterministic only then."""
    seed_all(0)
    warns: list[bool] = []

    def work() -> str:
        warns.append(torch.is_deterministic_algorithms_warn_only_enabled())
        return "done"

    assert backward_strictly(work, lambda: None) == "done"
    assert warns == [False]
    assert torch.is_deterministic_algorithms_warn_only_enabled()


def test_a_nondeterministic_operation_is_repeated_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seed_all(0)
    gradient: list[int] = []

    def work() -> int:
        gradient.append(1)
        if not torch.is_deterministic_algorithms_warn_only_enabled():
            raise RuntimeError("strange_cuda does not have a deterministic implementation, but you set ...")
        return sum(gradient)

    assert backward_strictly(work, gradient.clear) == 1
    assert "does not train reproducibly" in caplog.text
    backward_strictly(work, gradient.clear)
    assert len(gradient) == 2, "the next pass is not tried strictly first"


def test_other_errors_of_a_backward_pass_are_not_repeated() -> None:
    seed_all(0)
    with pytest.raises(RuntimeError, match="out of memory"):
        backward_strictly(lambda: (_ for _ in ()).throw(RuntimeError("out of memory")), lambda: None)
    assert torch.is_deterministic_algorithms_warn_only_enabled()
