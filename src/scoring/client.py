"""Calls to a judge over the OpenAI protocol: through limiter and circuit breaker, with retries.

    reply = await JudgeClient(settings.provider, settings.key, config.scoring.limits).ask(request)

Every reply and error passes the secret masker first: a server may send the key back. A server that does not say what it
billed is recorded with 0 tokens. No call costs nothing, so 0 can only mean unknown, and such a call does not satisfy a
check that wants a bill.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from math import exp, isfinite
from pathlib import Path
from typing import Any, Self

import httpx2
import yaml
from pydantic import SecretStr

from ..config.judge_config import LimitsSection
from ..core.errors import BadInput
from ..runtime.secrets import masker
from .chat_server import http_options
from .limiter import CircuitBreaker, Limiter
from .prompt import request_body
from .providers import Provider
from .types import CallFailed, Reply, VoteRequest

BACK_OFF_S = 0.25
MAX_BACK_OFF_S = 30.0
NO_KEY = "none"
"""Sent if no key is needed."""
SHOWN, NOT_A_REPLY_SHOWN = 300, 80
"""Characters shown of a server's error text, and of an answer that is not a chat completion."""
MAX_BILLED_TOKENS = 10**9
"""A larger token count in a reply counts as unknown (0)."""
Mask = Callable[[str], str]
"""The secret masker. Mask a text before cutting it: half a key is not recognized."""
_REMEDIES: dict[int | str, str] = yaml.safe_load(Path(__file__).with_name("http_remedies.yaml").read_bytes())
"""Remedy of a refusal by its HTTP status."""
for _name in ("httpx2", "httpcore2"):
    # What these log has not passed the secret masker.
    logging.getLogger(_name).setLevel(logging.WARNING)


class JudgeClient:
    """The one client for all calls to a provider, so that its limits hold for all of them together."""

    votes_at_once = 128
    """Each vote in progress holds an open lock file, and a process may open about a thousand files."""

    def __init__(
        self,
        provider: Provider,
        key: SecretStr | None,
        limits: LimitsSection,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if provider.base_url is None:
            raise BadInput(f"provider {provider.name} has no address yet", remedy="start its server first")
        self.provider = provider
        self.limiter = Limiter(limits.rps.get(provider.name), limits, clock, sleep, limits.tpm.get(provider.name))
        self._breaker = CircuitBreaker(provider.name, limits, clock)
        self._http, self._mask, self._mask_reply = open_http(provider.base_url, key, limits.timeout_s)
        self._limits, self._sleep, self._random = limits, sleep, random.Random()
        self._yes_no = provider.family.response_format == "yes_no"
        self._url = f"{provider.base_url.rstrip('/')}/{'completions' if self._yes_no else 'chat/completions'}"

    async def ask(
        self,
        request: VoteRequest,
        bad_replies: int = 0,
        on_failure: Callable[[CallFailed], None] = lambda failure: None,
    ) -> Reply:
        """The judge's reply. Raises CallFailed if no attempt brought one.

        `bad_replies`: number of bad replies to this request so far. `on_failure` is called for every attempt that
        failed, also if another one follows.
        """
        for attempt in range(1, self._limits.tries + 1):
            try:
                return await self._try(request, bad_replies, on_failure)
            except CallFailed as failure:
                too_long = (failure.retry_after or 0) > self._limits.wait_max_s
                if too_long or attempt == self._limits.tries or failure.trouble in ("refused", "circuit_open"):
                    raise
                # Exponential back-off with full jitter, so that callers do not retry together. The limiter handles
                # `Retry-After`.
                await self._sleep(self._random.uniform(0, min(MAX_BACK_OFF_S, BACK_OFF_S * 2**attempt)))
        raise AssertionError("the last attempt returns or raises")

    @property
    def concurrency(self) -> int:
        """Number of calls that may be in flight."""
        return self.limiter.concurrency

    @property
    def longest_s(self) -> float:
        """Upper bound of one call in seconds, with all retries and every pause that a service may ask for."""
        return self._limits.tries * (self._limits.timeout_s + self._limits.wait_max_s + MAX_BACK_OFF_S)

    async def close(self, *_: object) -> None:
        await self._http.aclose()

    __aexit__ = close

    async def __aenter__(self) -> Self:
        return self

    async def _try(self, request: VoteRequest, bad_replies: int, on_failure: Callable[[CallFailed], None]) -> Reply:
        self._breaker.check()
        async with self.limiter.turn() as sent_at:
            trial = self._breaker.admit()
            started = time.perf_counter()
            try:
                outcome = await self._send(request, bad_replies)
            except BaseException:
                self._breaker.cancelled(trial=trial)
                raise
        self._report_outcome(outcome, sent_at, trial)
        if isinstance(outcome, CallFailed):
            outcome.latency_ms = (time.perf_counter() - started) * 1000
            on_failure(outcome)
            raise outcome
        return outcome

    async def _send(self, request: VoteRequest, bad_replies: int) -> Reply | CallFailed:
        """Reply or failure. Our timeout is for the whole call; that of the HTTP library is for each read."""
        body = request_body(self.provider, request, bad_replies)
        try:
            async with asyncio.timeout(self._limits.timeout_s):
                response = await self._http.post(self._url, json=body)
        except (TimeoutError, httpx2.TimeoutException):
            return CallFailed("timeout", f"no answer within {self._limits.timeout_s:g} s")
        except httpx2.RequestError as error:
            return CallFailed("unreachable", self._mask(f"{type(error).__name__}: {error}"))
        if response.status_code == httpx2.codes.OK:
            outcome = self._reply(response)
        else:
            text = response.content.decode("utf-8", "replace")
            outcome = failure_of(response.status_code, text, response.headers, self._mask, self.provider, body)
        if isinstance(outcome, CallFailed):
            outcome.request_id = self._mask_reply(response.headers.get("x-request-id", ""))
        return outcome

    def _reply(self, response: httpx2.Response) -> Reply | CallFailed:
        """The reply in an answer with status 200. A completion without a text is a reply too: it was billed."""
        mask, text_of = self._mask_reply, _token_probabilities if self._yes_no else content_of
        try:
            # Not msgspec: it would refuse a whole paid reply because of one lone surrogate in it.
            completion = json.loads(response.content)
        except (ValueError, RecursionError) as error:
            start = mask(response.content.decode("utf-8", "replace")).strip()[:NOT_A_REPLY_SHOWN]
            return CallFailed("not_a_reply", f"not a chat completion ({error}): {start}")
        # From the first byte sent to the last received, without our own work, which would make a stub look slower.
        latency_ms = response.elapsed.total_seconds() * 1000
        return completion_reply(completion, response.headers.get("x-request-id", ""), latency_ms, mask, text_of)

    def _report_outcome(self, outcome: Reply | CallFailed, sent_at: float, trial: bool) -> None:
        if isinstance(outcome, Reply):
            self.limiter.accepted(outcome.tokens_in + outcome.tokens_out)
            if outcome.text.strip():
                self._breaker.succeeded()
            else:
                # It is billed too. A model whose reasoning fills the token limit gives only such replies.
                self._breaker.failed("a reply without a text", trial=trial)
        elif outcome.trouble == "rate_limited":
            self.limiter.refused(sent_at, outcome.retry_after)
            self._breaker.succeeded()
        else:
            self.limiter.pause(outcome.retry_after)
            self._breaker.failed(str(outcome), trial=trial)


def open_http(base_url: str, key: SecretStr | None, timeout_s: float) -> tuple[httpx2.AsyncClient, Mask, Mask]:
    """The connections to one server, and maskers for its errors and for its replies.

    A stored reply is evidence: only keys are masked in it, not every value of an environment variable.
    """
    keys = [key.get_secret_value()] if key else []
    client = httpx2.AsyncClient(**http_options(base_url, keys[0] if keys else NO_KEY, timeout_s))
    return client, masker(os.environ, *keys), masker({}, *keys)


def completion_reply(
    completion: Any, request_id: str, latency_ms: float, mask: Mask, text_of: Callable[[Any], str], batch: str = ""
) -> Reply | CallFailed:
    """The reply in a completion object. `text_of` reads its text from `choices`."""
    if not isinstance(completion, dict) or "choices" not in completion:
        return CallFailed("not_a_reply", f"no chat completion: {mask(json.dumps(completion))[:NOT_A_REPLY_SHOWN]}")
    usage = completion.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Reply(
        text=mask(text_of(completion["choices"])),
        request_id=mask(request_id or string_or_empty(completion.get("id"))),
        model=mask(string_or_empty(completion.get("model"))),
        tokens_in=_tokens(usage.get("prompt_tokens")),
        tokens_out=_tokens(usage.get("completion_tokens")),
        latency_ms=latency_ms,
        batch=batch,
    )


def content_of(choices: Any) -> str:
    """The text of the first choice, or empty. Content that is not a text is kept as JSON, for inspection."""
    try:
        content = choices[0]["message"]["content"]
    except (LookupError, TypeError):
        content = None
    if content is None:
        return ""
    return content if isinstance(content, str) else json.dumps(content)


def _token_probabilities(choices: Any) -> str:
    """The likeliest next tokens after each prompt with their probabilities, as JSON, or empty."""
    try:
        tops = [choice["logprobs"]["content"][0]["top_logprobs"] for choice in choices]
        return json.dumps([{one["token"]: round(exp(one["logprob"]), 6) for one in top} for top in tops])
    except (LookupError, TypeError, OverflowError):
        return ""


def _tokens(count: Any) -> int:
    """A count of tokens; 0 if it is none."""
    if isinstance(count, bool) or not isinstance(count, int | float):
        return 0
    return int(count) if 0 <= count <= MAX_BILLED_TOKENS else 0


def string_or_empty(value: Any) -> str:
    return value if isinstance(value, str) else ""


def failure_of(
    status: int, body: str, headers: Mapping[str, str], mask: Mask, provider: Provider, sent: Mapping[str, Any]
) -> CallFailed:
    """The failure for an answer whose status is not 200. `sent`: the body of the request."""
    detail = f"HTTP {status}: {' '.join(mask(body).split())[:SHOWN]}"
    if status == 429 and "insufficient_quota" not in body:
        return CallFailed("rate_limited", detail, retry_after(headers))
    if status >= 500:
        return CallFailed("server_error", detail, retry_after(headers))
    if status in (408, 425):
        return CallFailed("timeout", detail)
    remedy = _REMEDIES.get(status, _REMEDIES["other"])
    # AskGate does not retry with other parameters, because the key of a vote contains what was sent.
    parameters = [name for name in sent if name not in ("model", "messages", "prompt")]
    named = [name for name in parameters if re.search(rf"\b{re.escape(name)}\b", body)]
    if status in (400, 422) and named:
        place = f"configs/default.yaml: scoring.providers.{provider.row}.families"
        remedy = f"change {' and '.join(named)} in {place}, row models: {', '.join(provider.family.models)}"
    return CallFailed("refused", f"{detail}. What to do: {remedy}")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date. None if it makes no sense.

    >>> retry_after({"retry-after": "2.5"}), retry_after({"retry-after-ms": "200"}), retry_after({})
    (2.5, 0.2, None)
    """
    for name, per_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        with suppress(ValueError):
            wait = float(headers.get(name, "")) / per_second
            if isfinite(wait) and wait >= 0:
                return wait
    with suppress(ValueError, OverflowError):
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time())
    return None
