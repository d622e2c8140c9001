"""The learned rate, in virtual time, with services that count requests in different ways."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from random import Random

import pytest

from src.scoring.limiter import Limiter, RateLimit
from tests.scoring.judging import limits
from tests.scoring.virtual_clock import run_virtual

LATENCY_S = 0.05
Service = Callable[[float], bool]


def any_second(rps: int) -> Service:
    """A service that accepts at most so many requests in any second."""
    seen: deque[float] = deque()

    def accepts(now: float) -> bool:
        while seen and seen[0] <= now - 1:
            seen.popleft()
        if len(seen) >= rps:
            return False
        seen.append(now)
        return True

    return accepts


def bucket(rps: int, burst: int) -> Service:
    """A token-bucket service: so many requests per second, and bursts of saved ones."""
    tokens, at = float(burst), 0.0

    def accepts(now: float) -> bool:
        nonlocal tokens, at
        tokens, at = min(float(burst), tokens + (now - at) * rps), now
        if tokens < 1:
            return False
        tokens -= 1
        return True

    return accepts


async def drive(
    service: Service, seconds: float, callers: int = 40, rps: float | None = None
) -> list[tuple[float, bool]]:
    """Runs callers that always have a request, with varying latencies and timers."""
    loop, random = asyncio.get_running_loop(), Random(7)
    start, log = loop.time(), []

    async def late_sleep(wait: float) -> None:
        await asyncio.sleep(wait + random.uniform(0, 0.003))

    limiter = Limiter(rps, limits(wait_max_s=120.0), loop.time, late_sleep)

    async def caller() -> None:
        refusals = 0
        while loop.time() < start + seconds:
            async with limiter.turn() as sent_at:
                await asyncio.sleep(LATENCY_S * random.uniform(0.2, 0.4))
                accepted = service(loop.time())
                log.append((loop.time() - start, accepted))
                await asyncio.sleep(LATENCY_S * random.uniform(0.5, 0.9) if accepted else 0.002)
            if accepted:
                refusals = 0
                limiter.accepted()
            else:
                refusals += 1
                limiter.refused(sent_at, None)
                await asyncio.sleep(random.uniform(0, 0.25 * 2**refusals))

    await asyncio.gather(*(caller() for _ in range(callers)))
    return log


def after_five_seconds(log: list[tuple[float, bool]], until: float) -> tuple[float, float]:
    """Accepted requests per second, and the share of refusals."""
    late = [accepted for at, accepted in log if 5 <= at < until]
    return sum(late) / (until - 5), 1 - sum(late) / len(late)


@pytest.mark.parametrize("rps", [20, 50, 100])
@pytest.mark.parametrize("kind", ["any second", "large burst"])
def test_an_unknown_rate_is_sustained_with_hardly_a_refusal(rps: int, kind: str) -> None:
    service = any_second(rps) if kind == "any second" else bucket(rps, rps)
    sustained, refused = after_five_seconds(run_virtual(drive(service, 30)), 30)
    assert sustained >= 0.95 * rps
    assert refused <= 0.01


def test_a_service_that_allows_no_burst_is_sustained_too() -> None:
    sustained, refused = after_five_seconds(run_virtual(drive(bucket(100, 10), 30)), 30)
    assert sustained >= 95
    assert refused <= 0.01


def test_a_falling_and_rising_rate_is_followed() -> None:
    slow, fast = any_second(20), any_second(60)

    def service(now: float) -> bool:
        return slow(now) if 1030 <= now < 1060 else fast(now)

    log = run_virtual(drive(service, 180))
    lean = [accepted for at, accepted in log if 35 <= at < 60]
    assert sum(lean) / 25 >= 0.95 * 20
    assert lean.count(False) / len(lean) <= 0.02
    rich = [accepted for at, accepted in log if 160 <= at < 180]
    assert sum(rich) / 20 >= 0.9 * 60


def test_a_given_rate_is_kept_and_not_learned_away() -> None:
    sustained, refused = after_five_seconds(run_virtual(drive(lambda now: True, 20, rps=30)), 20)
    assert sustained == pytest.approx(30, rel=0.02)
    assert refused == 0
    limit = RateLimit(30)
    limit.refused(10.0, 9.9, told_to_wait=False)
    assert limit.rate == 30


def test_an_idle_time_does_not_change_the_rate() -> None:
    limit = RateLimit()
    for step in range(20):
        limit.take(step / 100)
        limit.accepted(step / 100)
    limit.refused(0.25, 0.2, told_to_wait=False)
    learned = limit.rate
    for second in range(1, 600):
        assert limit.wait(float(second)) == 0.0
        limit.take(float(second))
    assert limit.rate == pytest.approx(learned, rel=0.01)
