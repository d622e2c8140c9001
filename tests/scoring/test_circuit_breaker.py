"""The circuit breaker opens, says so, tries once, and closes."""

from __future__ import annotations

import pytest

from src.scoring.limiter import CircuitBreaker
from src.scoring.types import CallFailed
from tests.scoring.judging import limits


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker("gemini", limits(breaker_failures=3, breaker_open_s=30.0), clock)


def fail(breaker: CircuitBreaker, times: int) -> None:
    for _ in range(times):
        breaker.failed("server_error: HTTP 500: oops", trial=breaker.admit())


def test_it_opens_after_failures_in_a_row_and_says_why(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now = 10
    with pytest.raises(CallFailed) as caught:
        breaker.check()
    assert caught.value.trouble == "circuit_open"
    assert caught.value.retry_after == 20
    for part in ("gemini", "3 times in a row", "HTTP 500: oops", "in 20 s"):
        assert part in caught.value.detail


def test_a_success_in_between_starts_the_count_anew(breaker: CircuitBreaker) -> None:
    fail(breaker, 2)
    breaker.succeeded()
    fail(breaker, 2)
    breaker.check()


def test_after_the_wait_one_trial_call_decides(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now = 30
    assert breaker.admit()
    with pytest.raises(CallFailed, match="when the one call that is trying it has ended"):
        breaker.admit()
    breaker.succeeded()
    assert not breaker.admit()


def test_a_trial_that_fails_opens_it_for_as_long_again(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now = 30
    fail(breaker, 1)
    clock.now = 59
    with pytest.raises(CallFailed, match="in 1 s"):
        breaker.check()
    clock.now = 60
    assert breaker.admit()


def test_a_trial_that_is_cancelled_lets_the_next_call_try(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now = 30
    breaker.cancelled(trial=breaker.admit())
    assert breaker.admit()


def test_calls_sent_before_opening_do_not_prolong_it(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now = 29
    breaker.failed("timeout: late", trial=False)
    clock.now = 30
    assert breaker.admit()
