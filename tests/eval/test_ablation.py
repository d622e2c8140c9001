"""The penalty is evaluated over all seeds on the same samples."""

from __future__ import annotations

import pytest

from askgate_env.types import Episode
from src.core.errors import BadInput
from src.eval.compare import SeedPair, ablation_checks, ablation_figures, compare
from tests.eval.episodes import episode
from tests.rc1 import THRESHOLDS


def policy(needless: int, right: int = 50, calls: int = 2, n: int = 100) -> list[Episode]:
    """Episodes on `n` complete samples, with needless asks in the first few and right answers in the first few."""
    return [
        episode(f"s{number}", asks=int(number < needless), success=number < right, calls=calls) for number in range(n)
    ]


def test_figures_are_those_of_all_seeds_together() -> None:
    pairs = [SeedPair(1, policy(40), policy(20)), SeedPair(2, policy(60), policy(40))]
    changes, figures = ablation_figures(pairs, seed=7)
    assert changes["overclar_rate"].base.value == 0.5
    assert changes["overclar_rate"].trained.value == pytest.approx(0.3)
    assert figures["overclar_change_pct"] == -40.0
    assert figures["samples"] == 100
    assert figures["with"]["overclar_rate"].n == 200
    by_seed = [one["changes"]["overclar_rate"].delta_pp for one in figures["seeds"]]
    assert by_seed == [-20.0, -20.0]


def test_a_fall_of_exactly_a_fifth_passes() -> None:
    def passed(needless: int) -> bool:
        return ablation_checks(compare(policy(50), policy(needless), 1), THRESHOLDS)[0].passed

    assert passed(40)
    assert not passed(41)


def test_without_needless_asks_over_clarification_cannot_fall() -> None:
    (check, *_) = ablation_checks(compare(policy(1), policy(1), 1), THRESHOLDS)
    assert (check.name, check.passed) == ("overclar_rate", True)
    (check, *_) = ablation_checks(compare(policy(1), policy(3), 1), THRESHOLDS)
    assert (check.name, check.passed) == ("overclar_rate", False)


def test_policies_on_different_samples_are_refused() -> None:
    with pytest.raises(BadInput, match="not run on the same samples"):
        ablation_figures([SeedPair(1, policy(1), policy(1, n=99))], seed=1)
