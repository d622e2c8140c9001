"""The weights are the true optimum of the constrained problem, not a clipped one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from src.reward.simplex_qp import optimality_gap, solve

F64 = NDArray[np.float64]
CAP = 0.5
seeds = st.integers(0, 2**32 - 1)


def problem(seed: int, size: int, l2: float, alike: bool, pull: float) -> tuple[F64, F64]:
    """Normal equations of random scores. `alike` makes two dimensions equal; `pull` scales the data term."""
    rng = np.random.default_rng(seed)
    x = rng.random((40, size))
    if alike:
        x[:, 1] = x[:, 0]
    y = (rng.random(40) < x @ (pull * rng.standard_normal(size))).astype(float)
    prior = rng.dirichlet(np.ones(size))
    return x.T @ x / 40 + l2 * np.eye(size), x.T @ y / 40 + l2 * prior


def objective(h: F64, g: F64, w: F64) -> float:
    return float(w @ h @ w / 2 - g @ w)


def best_of_all_active_sets(h: F64, g: F64, cap: float) -> F64:
    """The best feasible point over all choices of each weight at 0, at the cap, or free."""
    size, best = len(g), (np.inf, np.empty(0))
    for states in product((0.0, cap, None), repeat=size):
        free = [place for place, state in enumerate(states) if state is None]
        w = np.array([0.0 if state is None else state for state in states])
        if free:
            system = np.block(
                [[h[np.ix_(free, free)], np.ones((len(free), 1))], [np.ones((1, len(free))), np.zeros((1, 1))]]
            )
            w[free] = np.linalg.lstsq(system, np.append(g[free] - h[free] @ w, 1 - w.sum()), rcond=None)[0][:-1]
        if abs(w.sum() - 1) < 1e-9 and (w >= -1e-12).all() and (w <= cap + 1e-12).all():
            best = min(best, (objective(h, g, w), w), key=lambda one: one[0])
    return best[1]


@settings(max_examples=150, deadline=None)
@given(
    seed=seeds,
    size=st.integers(2, 16),
    l2=st.sampled_from([0.0, 1e-6, 0.1, 10.0]),
    alike=st.booleans(),
    pull=st.sampled_from([0.1, 1.0, 10.0]),
)
def test_the_optimality_conditions_hold(seed: int, size: int, l2: float, alike: bool, pull: float) -> None:
    h, g = problem(seed, size, l2, alike, pull)
    w = solve(h, g, CAP).w_D
    assert w.min() >= 0
    assert w.max() <= CAP
    assert w.sum() == pytest.approx(1, abs=1e-12)
    # Stationarity with a multiplier for the sum and one for each limit that is reached, all of the right sign.
    slope = h @ w - g
    inside = (w > 0) & (w < CAP)
    level = slope[inside].mean() if inside.any() else (slope[w == CAP].max() + slope[w == 0].min(initial=np.inf)) / 2
    assert np.abs(slope[inside] - level).max(initial=0) <= 1e-9
    assert (slope[w == 0] >= level - 1e-9).all()
    assert (slope[w == CAP] <= level + 1e-9).all()


@settings(max_examples=60, deadline=None)
@given(seed=seeds, size=st.integers(2, 5), l2=st.sampled_from([1e-4, 0.1, 1.0]), pull=st.sampled_from([0.1, 1.0, 10.0]))
@example(seed=0, size=2, l2=0.1, pull=1.0)
def test_no_choice_of_limits_does_better(seed: int, size: int, l2: float, pull: float) -> None:
    h, g = problem(seed, size, l2, alike=False, pull=pull)
    assert solve(h, g, CAP).w_D == pytest.approx(best_of_all_active_sets(h, g, CAP), abs=1e-8)


@settings(max_examples=40, deadline=None)
@given(seed=seeds, size=st.integers(6, 14), l2=st.sampled_from([0.01, 0.1, 1.0]), alike=st.booleans())
def test_an_independent_solver_finds_the_same(seed: int, size: int, l2: float, alike: bool) -> None:
    h, g = problem(seed, size, l2, alike, pull=10.0)
    ours = solve(h, g, CAP).w_D
    found = minimize(
        lambda w: objective(h, g, w),
        np.full(size, 1 / size),
        jac=lambda w: h @ w - g,
        bounds=[(0, CAP)] * size,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert objective(h, g, ours) <= found.fun + 1e-10
    assert objective(h, g, ours) == pytest.approx(found.fun, abs=1e-7)


def test_the_optimum_is_not_a_clipped_solution() -> None:
    """The data favour the first dimension; the weight above its cap goes where it helps most, not evenly."""
    h = np.diag([1.0, 1.0, 1.0, 1.0])
    w = solve(h, np.array([5.0, 0.3, 0.0, -1.0]), CAP).w_D
    assert w == pytest.approx([0.5, 0.4, 0.1, 0.0], abs=1e-12)


def test_two_weights_under_a_cap_of_a_half_are_equal() -> None:
    assert solve(np.eye(2), np.array([9.0, 0.0]), CAP).w_D == pytest.approx([0.5, 0.5], abs=1e-12)


def test_a_point_that_is_not_optimal_has_a_gap() -> None:
    assert optimality_gap(np.eye(3), np.array([1.0, 0.0, 0.0]), np.full(3, 1 / 3), CAP) == pytest.approx(1)


def test_too_few_dimensions_for_the_cap_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot sum to 1"):
        solve(np.eye(1), np.ones(1), CAP)


def test_collinear_dimensions_without_a_prior_are_solved() -> None:
    random = np.random.default_rng(5)
    for size in range(3, 9):
        for _ in range(60):
            x = random.normal(size=(40, size))
            x[:, 1] = x[:, 0] + 1e-9 * random.normal(size=40)
            x[:, -1] = x[:, 0]
            h, g = x.T @ x / 40, x.T @ random.normal(size=40) / 40
            found = solve(h, g, CAP)
            assert found.w_D.sum() == pytest.approx(1)
            assert found.residual <= 1e-8
