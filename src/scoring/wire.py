"""The OpenAI chat protocol as bytes: what is sent, and what an answer means. Pure.

A server that does not say what it billed is recorded with 0 tokens. No call costs nothing, so 0 can only mean unknown,
and such a call does not satisfy a check that wants a bill.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

import msgspec

from .parse import TOP
from .prompt import messages
from .providers import Provider
from .types import Ask, CallFailed, Reply

TEMPERATURE = 0.7
"""Votes must be able to differ, or their variance says nothing."""
SHOWN = 300
"""So much of a server's error text is passed on."""


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(msgspec.Struct):
    """The fields that matter here; servers send many more."""

    id: str | None = None
    model: str | None = None
    choices: list[_Choice] | None = None
    usage: _Usage | None = None


class Bill(msgspec.Struct, frozen=True):
    tokens_in: int = 0
    tokens_out: int = 0


def request(provider: Provider, ask: Ask, again: int) -> dict[str, Any]:
    """The body of a call. `again` counts the bad replies before it, so that a seeded judge says something else."""
    body: dict[str, Any] = {
        "model": provider.model,
        "messages": messages(ask.text, ask.lang),
        "temperature": TEMPERATURE,
        "max_tokens": provider.max_tokens,
    }
    if provider.seed:
        body["seed"] = 1 + ask.vote + 1000 * again
    if provider.grammar:
        body["extra_body"] = {"grammar": _grammar(ask.dimensions)}
    elif provider.json_schema:
        schema = {"name": "scores", "strict": True, "schema": _schema(ask.dimensions)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _grammar(dimensions: tuple[str, ...]) -> str:
    """In llama.cpp's notation: what the schema allows, without the white space that a judge would be paid to write."""
    fields = ' "," '.join(f'"\\"{name}\\":" n' for name in dimensions)
    return f'root ::= "{{" {fields} "}}"\nn ::= "{TOP}" | [0-9]'


def _schema(dimensions: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "integer", "minimum": 0, "maximum": TOP} for name in dimensions},
        "required": list(dimensions),
        "additionalProperties": False,
    }


def reply(body: bytes, request_id: str, latency_ms: float) -> tuple[Reply | CallFailed, Bill]:
    """What an answer with status 200 brought, and what it cost. The cost is known also where the reply is useless."""
    try:
        found = msgspec.json.decode(body, type=_Completion)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        start = body[:80].decode("utf-8", "replace").strip()
        return CallFailed("not_a_reply", f"not a chat completion ({error}): {start}"), Bill()
    usage = found.usage or _Usage()
    bill = Bill(max(0, usage.prompt_tokens or 0), max(0, usage.completion_tokens or 0))
    message = found.choices[0].message if found.choices else None
    if message is None or not message.content:
        return CallFailed("not_a_reply", "a chat completion without content"), bill
    return Reply(
        text=message.content,
        request_id=request_id or found.id or "",
        model=found.model or "",
        tokens_in=bill.tokens_in,
        tokens_out=bill.tokens_out,
        latency_ms=latency_ms,
    ), bill


def refusal(status: int, body: bytes, headers: Mapping[str, str]) -> CallFailed:
    """What an answer with another status than 200 means."""
    said = f"HTTP {status}: {' '.join(body.decode('utf-8', 'replace').split())[:SHOWN]}"
    if status == 429 and b"insufficient_quota" not in body:
        return CallFailed("rate_limited", said, retry_after(headers))
    if status >= 500:
        return CallFailed("server_error", said, retry_after(headers))
    if status in (408, 425):
        return CallFailed("timeout", said)
    return CallFailed("refused", f"{said}. What to do: {_REMEDIES.get(status, _REMEDY)}")


_REMEDY = "check SCORER_BASE_URL and SCORER_MODEL"
_REMEDIES = {
    400: "check SCORER_MODEL; the server understands neither the model nor the request",
    401: "check SCORER_API_KEY",
    402: "pay the provider's bill",
    403: "check that the key in SCORER_API_KEY may use this model",
    404: "check SCORER_MODEL and SCORER_BASE_URL (most end in /v1)",
    429: "the account has no credit left; pay the provider's bill",
}


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date. None where it makes no sense.

    >>> retry_after({"retry-after": "2.5"}), retry_after({"retry-after-ms": "200"}), retry_after({})
    (2.5, 0.2, None)
    """
    if (wait := _number(headers.get("retry-after-ms", ""))) is not None:
        return wait / 1000
    value = headers.get("retry-after", "")
    if (wait := _number(value)) is not None:
        return wait
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) and number >= 0 else None
