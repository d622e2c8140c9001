"""One client that calls a judge as fast as it can for a while. `bench/scoring.py` runs it in a process of its own.

python bench/scoring_drive.py ours URL SECONDS
python bench/scoring_drive.py plain URL SECONDS
python bench/scoring_drive.py litellm URL SECONDS
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

FIXED = 5
"""Concurrent calls of clients that do not adapt."""
MESSAGES = [{"role": "user", "content": "How good is this?"}]


async def ours(url: str, seconds: float) -> None:
    """AskGate's client with the shipped limits. No rate is configured: it has to find out."""
    from src.config.loader import load_config
    from src.scoring.client import JudgeClient
    from src.scoring.prompt import DIMENSIONS, PROMPT_VERSION
    from src.scoring.providers import settings_for
    from src.scoring.types import VoteRequest

    scoring = load_config().scoring
    environment = {"SCORER_PROVIDER": "custom", "SCORER_BASE_URL": url, "SCORER_MODEL": "tiny"}
    settings = settings_for(environment, scoring)
    async with JudgeClient(settings.provider, settings.key, scoring.limits) as judge:

        async def ask(number: int) -> None:
            await judge.ask(
                VoteRequest("custom", "tiny", PROMPT_VERSION, DIMENSIONS, "en", "User: how good is this?", number)
            )

        await _many(ask, 16, seconds)
        print(f"{judge.limiter.concurrency} calls at once")


async def plain(url: str, seconds: float) -> None:
    """The SDK as it comes, with its own retries, five calls at a time."""
    import openai

    async with openai.AsyncOpenAI(api_key="none", base_url=url) as sdk:

        async def ask(number: int) -> None:
            await sdk.chat.completions.create(model="tiny", messages=MESSAGES, seed=number)  # type: ignore[arg-type]

        await _many(ask, FIXED, seconds)


async def litellm(url: str, seconds: float) -> None:
    """litellm's router as it comes, with three retries, five calls at a time."""
    import litellm

    litellm.suppress_debug_info = True
    model = {"model": "openai/tiny", "api_base": url, "api_key": "none"}
    router = litellm.Router(model_list=[{"model_name": "tiny", "litellm_params": model}], num_retries=3)

    async def ask(number: int) -> None:
        await router.acompletion(model="tiny", messages=MESSAGES, seed=number)

    await _many(ask, FIXED, seconds)


async def _many(ask: Callable[[int], Awaitable[None]], callers: int, seconds: float) -> None:
    """Callers that never run out of work. A call that fails is given up, and the next one asked.

    The clock starts with the first call, not with the imports before it, and runs on past the end of what is measured.
    """
    until = time.monotonic() + seconds + 1
    done = failed = 0

    async def caller() -> None:
        nonlocal done, failed
        while time.monotonic() < until:
            try:
                await ask(done + failed)
                done += 1
            except Exception:
                failed += 1
                await asyncio.sleep(0.01)

    await asyncio.gather(*(caller() for _ in range(callers)))
    print(f"{done} replies, {failed} calls given up")


if __name__ == "__main__":
    drive = {"ours": ours, "plain": plain, "litellm": litellm}[sys.argv[1]]
    asyncio.run(drive(sys.argv[2], float(sys.argv[3])))
