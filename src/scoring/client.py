"""One call to a judge, as often as it takes: through the limiter and the breaker, with retries.

    reply = await JudgeClient(settings.provider, settings.key, config.scoring.limits).ask(ask)

Whatever leaves here, reply or error, has passed the secret masker: a server may send the key back.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import time
from collections.abc import Awaitable, Callable
from typing import Self
from urllib.parse import urlsplit

import httpx2
import openai
from pydantic import SecretStr

from ..config.schema import LimitsSection
from ..core.errors import BadInput
from ..core.types import Record
from ..runtime.secrets import masker
from . import wire
from .breaker import Breaker
from .limiter import Limiter
from .providers import Provider
from .types import Ask, CallFailed, Reply, printable

BACK_OFF_S = 0.25
LONGEST_BACK_OFF_S = 30.0
NO_KEY = "none"
"""Sent where no key is needed."""
for _name in ("openai", "httpx2", "httpcore2"):
    # Whatever OPENAI_LOG says: what these write has not passed the secret masker, and a server may send the key back.
    logging.getLogger(_name).setLevel(logging.WARNING)


class Attempt(Record, frozen=True):
    """One request, however it ended."""

    request_id: str
    tokens_in: int
    tokens_out: int
    latency_ms: float
    failure: str
    """Empty where it brought a reply."""


class JudgeClient:
    """All calls to one provider go through one client, so that its limits hold for all of them together."""

    def __init__(
        self,
        provider: Provider,
        key: SecretStr | None,
        limits: LimitsSection,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if provider.base_url is None:
            raise BadInput(f"provider {provider.name} has no address yet", remedy="start its server first")
        self.provider = provider
        self.limiter = Limiter(
            limits.rps.get(provider.name),
            least=limits.concurrency_min,
            most=limits.concurrency_max,
            wait_max_s=limits.wait_max_s,
            sleep=sleep,
        )
        self._breaker = Breaker(provider.name, failures=limits.breaker_failures, open_s=limits.breaker_open_s)
        self._mask = masker(os.environ, *([key.get_secret_value()] if key else []))
        self._limits, self._sleep, self._random = limits, sleep, random.Random()
        self._sdk = _sdk(provider.base_url, key.get_secret_value() if key else NO_KEY, limits.timeout_s)

    async def ask(self, ask: Ask, again: int = 0, on_attempt: Callable[[Attempt], None] | None = None) -> Reply:
        """Raises CallFailed when no attempt brought a reply. `again` counts the bad replies to this ask so far."""
        for attempt in range(1, self._limits.tries + 1):
            try:
                return await self._try(ask, again, on_attempt)
            except CallFailed as failure:
                if attempt == self._limits.tries or self._is_final(failure):
                    raise
                # The limiter holds everybody back for as long as the service asked; this only spreads the retries.
                await self._sleep(self._back_off(attempt))
        raise AssertionError("the last attempt returns or raises")

    @property
    def longest_s(self) -> float:
        """No call takes longer from its first turn on, with all its retries and every pause that a service may ask."""
        return self._limits.tries * (self._limits.timeout_s + self._limits.wait_max_s + LONGEST_BACK_OFF_S)

    async def close(self) -> None:
        await self._sdk.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _is_final(self, failure: CallFailed) -> bool:
        too_long = (failure.retry_after or 0) > self._limits.wait_max_s
        return too_long or failure.trouble in ("refused", "circuit_open")

    def _back_off(self, attempt: int) -> float:
        """Anywhere between nothing and twice the last one's range, so that callers do not come back together."""
        return self._random.uniform(0, min(LONGEST_BACK_OFF_S, BACK_OFF_S * 2**attempt))

    async def _try(self, ask: Ask, again: int, on_attempt: Callable[[Attempt], None] | None) -> Reply:
        self._breaker.check()
        async with self.limiter.turn() as sent_at:
            trial = self._breaker.admit()
            started = time.perf_counter()
            try:
                outcome, request_id = await self._send(ask, again)
            except BaseException:
                self._breaker.abandoned(tried=trial)
                raise
        self._learn(outcome, sent_at, trial)
        if isinstance(outcome, CallFailed):
            if on_attempt:
                took = (time.perf_counter() - started) * 1000
                on_attempt(Attempt(request_id, 0, 0, took, printable(str(outcome))))
            raise outcome
        if on_attempt:
            on_attempt(Attempt(request_id, outcome.tokens_in, outcome.tokens_out, outcome.latency_ms, ""))
        return outcome

    async def _send(self, ask: Ask, again: int) -> tuple[Reply | CallFailed, str]:
        """Reply or failure, request id. The SDK's time limit is between bytes; ours is for the whole call."""
        try:
            async with asyncio.timeout(self._limits.timeout_s):
                body = wire.request(self.provider, ask, again)
                raw = await self._sdk.chat.completions.with_raw_response.create(**body)
        except (TimeoutError, openai.APITimeoutError):
            return CallFailed("timeout", f"no answer within {self._limits.timeout_s:g} s"), ""
        except openai.APIStatusError as error:
            response = error.response
            failure = wire.refusal(response.status_code, response.content, response.headers, self._mask)
            return failure, self._mask(response.headers.get("x-request-id", ""))
        except openai.APIConnectionError as error:
            why = type(error.__cause__ or error).__name__
            return CallFailed("unreachable", self._mask(f"{why}: {error.__cause__ or error}")), ""
        response = raw.http_response
        # From the first byte sent to the last received: with the SDK's own work a stub would look slower than it is.
        latency_ms = response.elapsed.total_seconds() * 1000
        request_id = response.headers.get("x-request-id", "")
        outcome = wire.reply(response.content, request_id, latency_ms, self._mask)
        return outcome, outcome.request_id if isinstance(outcome, Reply) else self._mask(request_id)

    def _learn(self, outcome: Reply | CallFailed, sent_at: float, trial: bool) -> None:
        if isinstance(outcome, Reply):
            self.limiter.accepted(sent_at)
            if outcome.text.strip():
                self._breaker.worked()
            else:
                # Billed all the same. A model whose thoughts fill `max_tokens` does this every time.
                self._breaker.failed("a reply without a text", tried=trial)
        elif outcome.trouble == "rate_limited":
            self.limiter.refused(sent_at, outcome.retry_after)
            self._breaker.worked()
        else:
            self.limiter.failed(sent_at, outcome.retry_after)
            self._breaker.failed(str(outcome), tried=trial)


def _sdk(base_url: str, key: str, timeout_s: float) -> openai.AsyncOpenAI:
    """The SDK fills in what it is not told (headers, organization, other keys) from OPENAI_* variables. Those are meant
    for other programs and other servers, so it does not see them."""
    theirs = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("OPENAI_")}
    try:
        return openai.AsyncOpenAI(api_key=key, base_url=base_url, max_retries=0, http_client=_http(base_url, timeout_s))
    finally:
        os.environ.update(theirs)


def _http(base_url: str, timeout_s: float) -> httpx2.AsyncClient:
    """No redirects: they would have another server called in the provider's stead. No proxy for this machine itself."""
    here = urlsplit(base_url).hostname in ("localhost", "127.0.0.1", "::1")
    return httpx2.AsyncClient(timeout=timeout_s, follow_redirects=False, trust_env=not here)
