"""The circuit breaker opens, says so, tries once, and closes."""

from __future__ import annotations

import pytest

from src.scoring.breaker import Breaker
from src.scoring.types import CallFailed


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker("gemini", failures=3, open_s=30, clock=clock)


def fail(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        breaker.failed("server_error: HTTP 500: oops", tried=breaker.admit())


def test_it_opens_after_so_many_failures_in_a_row_and_says_what_failed_and_when_it_tries_again(
    breaker: Breaker, clock: Clock
) -> None:
    fail(breaker, 3)
    clock.now = 10
    with pytest.raises(CallFailed) as caught:
        breaker.check()
    assert caught.value.trouble == "circuit_open"
    assert caught.value.retry_after == 20
    for part in ("gemini", "3 times in a row", "HTTP 500: oops", "in 20 s"):
        assert part in caught.value.detail


def test_a_success_in_between_starts_the_count_anew(breaker: Breaker) -> None:
    fail(breaker, 2)
    breaker.worked()
    fail(breaker, 2)
    breaker.check()


def test_after_the_wait_one_call_tries_and_the_others_wait_for_its_outcome(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now = 30
    assert breaker.admit()
    with pytest.raises(CallFailed, match="when the one call that is trying it has ended"):
        breaker.admit()
    breaker.worked()
    assert not breaker.admit()


def test_a_trial_that_fails_opens_it_for_as_long_again(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now = 30
    fail(breaker, 1)
    clock.now = 59
    with pytest.raises(CallFailed, match="in 1 s"):
        breaker.check()
    clock.now = 60
    assert breaker.admit()


def test_a_trial_that_is_cancelled_lets_the_next_call_try(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now = 30
    breaker.abandoned(tried=breaker.admit())
    assert breaker.admit()


def test_calls_that_were_on_their_way_when_it_opened_do_not_prolong_it(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now = 29
    breaker.failed("timeout: late", tried=False)
    clock.now = 30
    assert breaker.admit()
