"""The change from base to trained policy is measured on the same samples, with correct intervals."""

from __future__ import annotations

from random import Random

import msgspec
import numpy as np
import pytest

from askgate_env.types import LEVELS, TASKS, Episode
from src.core.errors import BadInput
from src.eval.compare import compare, trial_checks
from tests.eval.episodes import episode
from tests.rc1 import THRESHOLDS


def policy(seed: int, right: float, n: int = 300, shared_luck: float = 0.0) -> list[Episode]:
    """Episodes on samples s0, s1, ...; part of the luck belongs to the sample and is the same for every policy."""
    own = Random(seed)
    made = []
    for number in range(n):
        sample = Random(f"sample {number}")
        luck = sample.random() if own.random() < shared_luck else own.random()
        task, level = TASKS[number % 3], LEVELS[number // 3 % 3]
        made.append(episode(f"s{number}", task=task, level=level, needs=number % 4 == 0, success=luck < right))
    return made


def test_a_change_is_trained_less_base_and_in_points() -> None:
    base = [episode("a", success=False), episode("b", success=True), episode("c", success=False), episode("d")]
    trained = [episode("d"), episode("c", calls=3), episode("b", calls=3), episode("a", success=False)]
    changes = compare(base, trained, seed=1)
    assert changes["success"].base.value == 0.5
    assert changes["success"].trained.value == 0.75
    assert (changes["success"].delta, changes["success"].delta_pp) == (0.25, 25.0)
    assert (changes["avg_turns"].delta, changes["avg_turns"].delta_pp) == (1.0, None)
    assert changes["need_ask_success"].delta is None


def test_a_gain_of_exactly_five_points_passes() -> None:
    base = [episode(f"s{number}", needs=True, asks=1, success=number < 50) for number in range(100)]
    trained = [episode(f"s{number}", needs=True, asks=1, success=number < 55) for number in range(100)]
    assert compare(base, trained, seed=1)["need_ask_success"].delta_pp == 5.0
    assert trial_checks(compare(base, trained, seed=1), THRESHOLDS)[0].passed


def test_the_interval_is_that_of_the_paired_differences() -> None:
    base, trained = policy(1, 0.5, shared_luck=0.7), policy(2, 0.6, shared_luck=0.7)
    change = compare(base, trained, seed=1)["success"]
    differences = np.array([new.success - old.success for old, new in zip(base, trained, strict=True)], dtype=float)
    reach = 1.96 * differences.std(ddof=1) / np.sqrt(len(differences))
    assert change.delta == pytest.approx(differences.mean())
    assert change.low == pytest.approx(differences.mean() - reach, abs=0.1 * reach)
    assert change.high == pytest.approx(differences.mean() + reach, abs=0.1 * reach)


def test_a_policy_against_itself_has_not_changed() -> None:
    same = policy(1, 0.5)
    for change in compare(same, list(reversed(same)), seed=1).values():
        assert change.delta == 0 or change.base.n == 0
        assert change.low == change.high == change.delta


def test_the_interval_holds_the_truth() -> None:
    """60 pairs of policies whose true difference is 10 points."""
    held = 0
    for number in range(60):
        change = compare(policy(2 * number, 0.5, 100, 0.5), policy(2 * number + 1, 0.6, 100, 0.5), seed=number)
        low, high = change["success"].low, change["success"].high
        assert low is not None
        assert high is not None
        held += low <= 0.1 <= high
    assert held >= 52


def test_the_same_seed_gives_the_same_interval() -> None:
    base, trained = policy(1, 0.5), policy(2, 0.6)
    assert compare(base, trained, seed=1) == compare(base, trained, seed=1)
    assert compare(base, trained, seed=1)["success"].low != compare(base, trained, seed=2)["success"].low


def test_episodes_of_one_sample_are_resampled_together() -> None:
    """Ten episodes per sample are not more samples: the interval must not shrink."""
    base, trained = policy(1, 0.5, 60), policy(2, 0.6, 60)
    once, often = compare(base, trained, seed=1)["success"], compare(base * 10, trained * 10, seed=1)["success"]
    assert (once.delta, once.low, once.high) == (often.delta, often.low, often.high)


def test_other_samples_are_refused() -> None:
    base = policy(1, 0.5, 20)
    with pytest.raises(BadInput, match="not run on the same samples; 's19'"):
        compare(base, base[:-1], seed=1)
    with pytest.raises(BadInput, match="'s3'"):
        compare(base, [*base, base[3]], seed=1)
    called_easy = [msgspec.structs.replace(one, level="easy") for one in base]
    with pytest.raises(BadInput, match="not run on the same samples"):
        compare(base, called_easy, seed=1)


def test_without_episodes_no_gate_passes() -> None:
    changes = compare([], [], seed=1)
    assert all(change.delta is None and change.low is None for change in changes.values())
    assert not any(one.passed for one in trial_checks(changes, THRESHOLDS))
