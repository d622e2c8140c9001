"""Needless asks cost `alpha * min(c, cap)`; needed asks cost nothing."""

from __future__ import annotations

import pytest

from askgate_env.reward import over_clarification_penalty


def test_not_triggered_without_an_ask() -> None:
    assert over_clarification_penalty(needs_clarification=False, asks=0) == 0.0


@pytest.mark.parametrize(("asks", "penalty"), [(1, 0.07), (2, 0.14), (5, 0.21)])
def test_one_two_and_five_needless_asks(asks: int, penalty: float) -> None:
    assert over_clarification_penalty(needs_clarification=False, asks=asks) == pytest.approx(penalty, abs=1e-12)


@pytest.mark.parametrize("asks", [0, 1, 2, 5])
def test_never_where_clarification_is_needed(asks: int) -> None:
    assert over_clarification_penalty(needs_clarification=True, asks=asks) == 0.0


def test_strength_and_limit_can_be_set() -> None:
    assert over_clarification_penalty(False, 5, alpha=0.1, cap=4) == pytest.approx(0.4, abs=1e-12)
    assert over_clarification_penalty(False, 5, alpha=0.0) == 0.0
