"""Concurrency limit and Retry-After, in virtual time."""

from __future__ import annotations

import asyncio

import pytest

from src.scoring.limiter import Limiter
from src.scoring.types import CallFailed
from tests.scoring.judging import limits
from tests.scoring.virtual_clock import run_virtual


def limiter(rps: float | None = None, wait_max_s: float = 120.0) -> Limiter:
    return Limiter(rps, limits(wait_max_s=wait_max_s), asyncio.get_running_loop().time)


async def most_at_once(limits: Limiter, callers: int) -> int:
    now = most = 0

    async def call() -> None:
        nonlocal now, most
        async with limits.turn():
            now += 1
            most = max(most, now)
            await asyncio.sleep(1)
            now -= 1

    await asyncio.gather(*(call() for _ in range(callers)))
    return most


def test_it_starts_with_two_concurrent_calls() -> None:
    async def main() -> int:
        return await most_at_once(limiter(), 20)

    assert run_virtual(main()) == 2


def test_accepted_calls_raise_concurrency_to_eight() -> None:
    async def main() -> tuple[int, int]:
        limits = limiter()
        for _ in range(200):
            async with limits.turn():
                await asyncio.sleep(0.1)
            limits.accepted()
        return await most_at_once(limits, 20), limits.concurrency

    assert run_virtual(main()) == (8, 8)


def test_refusals_cut_concurrency_by_a_quarter_down_to_two() -> None:
    async def main() -> list[float]:
        limits = limiter()
        for _ in range(200):
            limits.accepted()
        widths = []
        for _ in range(6):
            sent_at = asyncio.get_running_loop().time()
            await asyncio.sleep(0.1)
            for _ in range(5):
                limits.refused(sent_at, None)
            widths.append(limits.concurrency)
            await asyncio.sleep(0.1)
        return widths

    assert run_virtual(main()) == [6, 4, 3, 2, 2, 2]


def test_retry_after_holds_every_caller() -> None:
    async def main() -> list[float]:
        loop = asyncio.get_running_loop()
        limits = limiter(1000.0)
        async with limits.turn() as sent_at:
            pass
        limits.refused(sent_at, 7.0)
        held_from = loop.time()
        waited = []

        async def call() -> None:
            async with limits.turn() as at:
                waited.append(at - held_from)

        await asyncio.gather(*(call() for _ in range(5)))
        return waited

    waited = run_virtual(main())
    assert len(waited) == 5
    assert min(waited) >= 7
    assert max(waited) < 7.1


def test_a_wait_that_is_too_long_is_reported_at_once() -> None:
    async def main() -> None:
        limits = limiter(wait_max_s=60)
        limits.refused(asyncio.get_running_loop().time(), 3600.0)
        async with limits.turn():
            pass

    with pytest.raises(CallFailed, match="asks to wait 3600 s, and at most 60 s") as caught:
        run_virtual(main())
    assert caught.value.trouble == "rate_limited"
    assert caught.value.retry_after == pytest.approx(3600)


def test_a_wait_that_rounding_swallows_ends() -> None:
    """At this time of the clock its ticks are longer than what is left to wait after a sleep."""
    now, sleeps, turns = 1e6, 0, 200

    async def sleep(seconds: float) -> None:
        nonlocal now, sleeps
        now, sleeps = now + seconds, sleeps + 1
        assert sleeps <= 3 * turns, "it never ends"

    async def main() -> None:
        limited = Limiter(3.7, limits(), lambda: now, sleep)
        for _ in range(turns):
            async with limited.turn():
                pass

    asyncio.run(main())
    assert now == pytest.approx(1e6 + (turns - 1) / 3.7, abs=0.1)


def test_callers_are_served_in_order() -> None:
    async def main() -> list[int]:
        limits, order = limiter(10.0), []

        async def call(number: int) -> None:
            async with limits.turn():
                order.append(number)
                await asyncio.sleep(0.5)

        await asyncio.gather(*(call(number) for number in range(12)))
        return order

    assert run_virtual(main()) == list(range(12))


def test_cancelled_callers_free_their_places() -> None:
    async def main() -> tuple[int, int]:
        limits = limiter(10.0)
        waiting = [asyncio.create_task(most_at_once(limits, 1)) for _ in range(6)]
        await asyncio.sleep(0.15)
        for task in waiting[:5]:
            task.cancel()
        await asyncio.gather(*waiting[:5], return_exceptions=True)
        return await waiting[5], await most_at_once(limits, 4)

    assert run_virtual(main()) == (1, 2)


def test_tokens_of_any_minute_stay_below_the_limit() -> None:
    billed: list[tuple[float, int]] = []

    async def main() -> float:
        loop = asyncio.get_running_loop()
        turns = Limiter(None, limits(), loop.time, tpm=1000)
        started = loop.time()

        async def call(tokens: int) -> None:
            async with turns.turn():
                await asyncio.sleep(1)
            billed.append((loop.time(), tokens))
            turns.accepted(tokens)

        await asyncio.gather(*(call(100) for _ in range(40)))
        return loop.time() - started

    took = run_virtual(main())
    windows = [sum(tokens for at, tokens in billed if start <= at < start + 60) for start, _ in billed]
    assert max(windows) <= 1000
    assert 180 <= took <= 260, "4000 tokens at 1000 a minute"


def test_a_call_above_the_token_limit_is_still_made() -> None:
    async def main() -> list[float]:
        loop = asyncio.get_running_loop()
        turns, sent = Limiter(None, limits(), loop.time, tpm=50), []
        for _ in range(3):
            async with turns.turn() as at:
                sent.append(at)
            turns.accepted(80)
        return sent

    first, second, third = run_virtual(main())
    assert (second - first, third - second) == pytest.approx((60, 60))


def test_without_a_token_limit_nobody_waits() -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        turns, started = Limiter(None, limits(), loop.time), loop.time()
        for _ in range(100):
            async with turns.turn():
                pass
            turns.accepted(10**6)
        return loop.time() - started

    assert run_virtual(main()) == 0
