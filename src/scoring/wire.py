"""The OpenAI chat protocol as bytes: what is sent, and what an answer means. Pure.

A server that does not say what it billed is recorded with 0 tokens. No call costs nothing, so 0 can only mean unknown,
and such a call does not satisfy a check that wants a bill.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from functools import cache
from hashlib import sha256
from math import isfinite
from typing import Any

import msgspec

from ..core.types import Lang
from .parse import TOP
from .prompt import DIMENSIONS, PROMPT_VERSION, messages
from .providers import Provider
from .types import Ask, CallFailed, Reply

TEMPERATURE = 0.7
"""Votes must be able to differ, or their variance says nothing."""
SHOWN, STARTS = 300, 80
"""So much of a server's error text is passed on, and so much of what is no reply at all."""
MOST_TOKENS = 10**9
"""A bill past this is none."""
Hide = Callable[[str], str]
"""Takes the key out of a text. It comes before any cut: half a key is no longer recognized as one."""


class Bill(msgspec.Struct, frozen=True):
    tokens_in: int = 0
    tokens_out: int = 0


def ask_for(provider: Provider, lang: Lang, text: str, vote: int) -> Ask:
    """Today's question to that judge."""
    return Ask(
        provider=provider.name,
        model=provider.model,
        prompt_version=PROMPT_VERSION,
        dimensions=DIMENSIONS,
        lang=lang,
        text=text,
        vote=vote,
        server=provider.server,
        way=_way(provider, lang),
    )


@cache
def _way(provider: Provider, lang: Lang) -> str:
    """Whatever is sent beside the dialogue, as a hash: rubric, temperature, schema, grammar, length."""
    blank = Ask(provider.name, provider.model, PROMPT_VERSION, DIMENSIONS, lang, text="", vote=0)
    return sha256(msgspec.json.encode(request(provider, blank, again=0))).hexdigest()[:16]


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


def reply(body: bytes, request_id: str, latency_ms: float, hide: Hide) -> Reply | CallFailed:
    """What an answer with status 200 brought. A completion without a text is a reply too: it was billed."""
    try:
        # Not msgspec: it refuses a whole reply, paid for as it is, over half a character anywhere in it.
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        start = hide(body.decode("utf-8", "replace")).strip()[:STARTS]
        return CallFailed("not_a_reply", f"not a chat completion ({error}): {start}")
    if not isinstance(found, dict) or "choices" not in found:
        return CallFailed("not_a_reply", f"no chat completion: {hide(json.dumps(found))[:STARTS]}")
    bill = _bill(found.get("usage"))
    return Reply(
        text=hide(_content(found["choices"])),
        request_id=hide(request_id or _string(found.get("id"))),
        model=hide(_string(found.get("model"))),
        tokens_in=bill.tokens_in,
        tokens_out=bill.tokens_out,
        latency_ms=latency_ms,
    )


def _content(choices: Any) -> str:
    """Empty where there is none. What is no text is kept as it came, for study."""
    choice = choices[0] if choices and isinstance(choices, list) else None
    message = choice.get("message") if isinstance(choice, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if content is None:
        return ""
    return content if isinstance(content, str) else json.dumps(content)


def _bill(usage: Any) -> Bill:
    counts = usage if isinstance(usage, dict) else {}
    return Bill(_tokens(counts.get("prompt_tokens")), _tokens(counts.get("completion_tokens")))


def _tokens(count: Any) -> int:
    """0 where it is no count of tokens."""
    if isinstance(count, bool) or not isinstance(count, int | float):
        return 0
    return int(count) if 0 <= count <= MOST_TOKENS else 0


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def refusal(status: int, body: bytes, headers: Mapping[str, str], hide: Hide) -> CallFailed:
    """What an answer with another status than 200 means."""
    said = f"HTTP {status}: {' '.join(hide(body.decode('utf-8', 'replace')).split())[:SHOWN]}"
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
