"""Curves of pages: one per seed, without values that were not measured."""

from __future__ import annotations

from src.pages.results import curve_series


def test_curves_are_per_seed_and_skip_values_not_finite() -> None:
    metrics = [
        {"seed": seed, "step": step, "reward": step / 10, "kl": float("nan")} for seed in (1, 2) for step in (1, 2)
    ]
    held_out = [{"seed": 1, "step": 0, "reward": 0.1}, {"seed": 1, "step": 2, "reward": None}]
    series = curve_series(metrics, held_out)
    assert series["reward"] == ([[(1.0, 0.1), (2.0, 0.2)]] * 2, [[(0.0, 0.1)]])
    assert series["kl"] == ([], [])
