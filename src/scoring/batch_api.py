"""A provider's Batch API over OpenAI's protocol: upload a file of requests, create a batch, poll it, read its results.

    POST /files (multipart, purpose=batch)    one request per line: custom_id, method, url, body
    POST /batches                             input_file_id, endpoint, completion_window, metadata
    GET  /batches/ID, GET /batches            status, request_counts, output_file_id, error_file_id
    GET  /files/ID/content                    one line per request, in any order

https://developers.openai.com/api/reference/python/resources/batches
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import httpx2
from pydantic import SecretStr

from ..config.judge_config import BatchSection
from ..core.errors import BadInput
from .client import SHOWN, completion_reply, content_of, failure_of, open_http, string_or_empty
from .providers import Provider
from .types import CallFailed, Reply

MAX_REQUESTS, MAX_BYTES = 50_000, 90_000_000
"""Requests and bytes of one file; the smallest limit of the providers is 100 MB."""
TRANSFER_S = 600.0
"""Longest time of one upload or download."""
ENDED = ("completed", "failed", "expired", "cancelled")
NAME = "askgate"
"""Key of our name for a batch in its metadata."""
PAGE, PAGES = 100, 20
"""Batches in one page of the list, and pages that are searched."""


class BatchApi:
    """Client of one provider's Batch API. Methods raise CallFailed if there is no answer, and never retry."""

    def __init__(self, provider: Provider, key: SecretStr | None) -> None:
        self.provider, self.section = provider, section_of(provider)
        assert provider.base_url, "a provider with a Batch API has an address"
        self._url = provider.base_url.rstrip("/")
        self._http, self._mask, self._mask_reply = open_http(provider.base_url, key, TRANSFER_S)

    async def close(self) -> None:
        await self._http.aclose()

    def input_line(self, custom_id: str, body: Mapping[str, Any]) -> str:
        """A line of the input file."""
        return json.dumps({"custom_id": custom_id, "method": "POST", "url": self.section.endpoint, "body": body})

    async def upload(self, name: str, lines: Sequence[str]) -> str:
        """Uploads a file of requests and returns its id."""
        file = ("\n".join(lines) + "\n").encode()
        sent = {"data": {"purpose": "batch"}, "files": {"file": (f"{name}.jsonl", file, "application/jsonl")}}
        return string_or_empty(_with_id(await self._json("POST", "/files", **sent))["id"])

    async def create(self, file: str, name: str) -> dict[str, Any]:
        body: dict[str, Any] = {"input_file_id": file, "endpoint": self.section.endpoint, "metadata": {NAME: name}}
        if self.section.window:
            body["completion_window"] = self.section.window
        return _with_id(await self._json("POST", "/batches", json=body))

    async def find(self, file: str, name: str) -> dict[str, Any] | None:
        """The batch of this input file or with this name in its metadata, if it was created."""
        after: dict[str, str] = {}
        for _ in range(PAGES):
            page = await self._json("GET", "/batches", params={"limit": str(PAGE), **after})
            batches = [one for one in page.get("data") or () if isinstance(one, dict)]
            for one in batches:
                if one.get("input_file_id") == file or (one.get("metadata") or {}).get(NAME) == name:
                    return one
            if not page.get("has_more") or not batches:
                break
            after = {"after": string_or_empty(batches[-1].get("id"))}
        return None

    async def get(self, batch: str) -> dict[str, Any]:
        return await self._json("GET", f"/batches/{batch}")

    async def outcomes(self, batch: Mapping[str, Any]) -> tuple[dict[str, Reply | CallFailed], int]:
        """Replies and failures of an ended batch by custom_id, and the number of lines that could not be used.

        One request has one reply: further lines with its id are not used. A reply replaces a failure.
        """
        counts = batch.get("request_counts")
        if isinstance(counts, dict) and counts.get("completed") and not batch.get("output_file_id"):
            # Sending these requests again would pay twice for replies that exist.
            raise CallFailed(
                "not_a_reply", f"{counts['completed']} requests are completed, and there is no output file"
            )
        outcomes: dict[str, Reply | CallFailed] = {}
        unused = 0
        for file in (batch.get("output_file_id"), batch.get("error_file_id")):
            if not file:
                continue
            for line in (await self._send("GET", f"/files/{file}/content")).content.splitlines():
                if not line.strip():
                    continue
                custom_id, outcome = self._outcome(line, string_or_empty(batch.get("id")))
                if not custom_id or isinstance(outcomes.get(custom_id), Reply):
                    unused += 1
                else:
                    outcomes[custom_id] = outcome
        return outcomes, unused

    def _outcome(self, line: bytes, batch: str) -> tuple[str, Reply | CallFailed]:
        """The custom_id of an output line, and its reply or failure; an empty id if it is no such line."""
        try:
            found = json.loads(line)
            custom_id, response, error = string_or_empty(found["custom_id"]), found.get("response"), found.get("error")
            status = int(response["status_code"]) if response else 0
            body = response.get("body") if response else None
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
            return "", CallFailed("not_a_reply", "no line of a batch")
        if status == httpx2.codes.OK:
            request_id = string_or_empty(response.get("request_id")) or string_or_empty(found.get("id"))
            return custom_id, completion_reply(body, request_id, 0.0, self._mask_reply, content_of, batch)
        if response:
            text = json.dumps(body, ensure_ascii=False)
            return custom_id, failure_of(status, text, {}, self._mask, self.provider, {})
        what = self._mask(json.dumps(error, ensure_ascii=False))[:SHOWN]
        expired = isinstance(error, dict) and error.get("code") in ("batch_expired", "batch_cancelled")
        return custom_id, CallFailed("timeout" if expired else "server_error", what)

    async def _json(self, method: str, path: str, **sent: Any) -> dict[str, Any]:
        response = await self._send(method, path, **sent)
        try:
            found = json.loads(response.content)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise CallFailed("not_a_reply", f"{method} {path}: {self._mask(response.text)[:SHOWN]}")
        return found

    async def _send(self, method: str, path: str, **sent: Any) -> httpx2.Response:
        try:
            response = await self._http.request(method, self._url + path, **sent)
        except httpx2.TimeoutException:
            raise CallFailed("timeout", f"{method} {path}: no answer within {TRANSFER_S:g} s") from None
        except httpx2.RequestError as error:
            raise CallFailed("unreachable", self._mask(f"{method} {path}: {type(error).__name__}: {error}")) from None
        if response.status_code != httpx2.codes.OK:
            text = f"{method} {path}: {response.text}"
            raise failure_of(response.status_code, text, response.headers, self._mask, self.provider, {})
        return response


def _with_id(found: dict[str, Any]) -> dict[str, Any]:
    if not string_or_empty(found.get("id")):
        raise CallFailed("not_a_reply", "the answer has no id")
    return found


def section_of(provider: Provider) -> BatchSection:
    """Settings of the provider's Batch API. Raises BadInput if it has none."""
    if provider.batch is None:
        raise BadInput(
            f"provider {provider.name} has no Batch API in the config's table",
            where="--batch",
            remedy="leave the flag out, or add `batch: {price: 0.5}` to its row in configs/default.yaml if its server"
            " speaks OpenAI's batch protocol",
        )
    return provider.batch


def why_failed(batch: Mapping[str, Any]) -> str:
    """The errors that the provider names for a batch as a whole."""
    errors = batch.get("errors")
    data = errors.get("data") if isinstance(errors, dict) else errors
    return json.dumps(data, ensure_ascii=False)[:SHOWN] if data else "the provider does not say why"
