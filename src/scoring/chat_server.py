"""Client of a server that speaks the OpenAI chat protocol, for a language model that plays the user or the policy."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import httpx2

from ..core.errors import BadInput
from ..runtime.secrets import masker

TIMEOUT_S, TRIES, BACK_OFF_S = 60.0, 4, 0.5
SHOWN = 200
"""Characters shown of a server's error text."""

T = TypeVar("T")
Message = Mapping[str, str]


class Reply(NamedTuple):
    """A completion. Servers of reasoning models send the thought separately from the text."""

    text: str
    thought: str = ""


def http_options(url: str, key: str, timeout_s: float) -> dict[str, Any]:
    """Options of an HTTP client: no redirects, which would call another server, and no proxy for this machine."""
    is_local = urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return {"headers": headers, "timeout": timeout_s, "follow_redirects": False, "trust_env": not is_local}


class ChatServer:
    """One request per completion, with retries. Raises BadInput if no attempt brings a reply."""

    def __init__(
        self,
        url: str,
        model: str,
        key: str,
        environment: Mapping[str, str],
        *,
        who: str,
        where: str,
        timeout_s: float = TIMEOUT_S,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`who` and `where` name the server in messages: `the user's server`, `USER_BASE_URL`."""
        self.url, self.model, self.who, self.where = url.rstrip("/"), model, who, where
        self._mask, self._sleep = masker(environment, *([key] if key else [])), sleep
        self._http = httpx2.Client(**http_options(url, key, timeout_s))

    def close(self) -> None:
        self._http.close()

    def complete(self, messages: Sequence[Message], temperature: float, max_tokens: int) -> Reply:
        body = {"model": self.model, "messages": messages, "temperature": temperature, "max_tokens": max_tokens}

        def read(found: Any) -> Reply:
            message = found["choices"][0]["message"]
            thought = message.get("reasoning_content") or message.get("reasoning") or ""
            return Reply(self._mask(str(message["content"] or "")).strip(), self._mask(str(thought)).strip())

        return self._request("POST", "/chat/completions", read, body)

    def models(self) -> list[str]:
        """Names of the models that the server offers."""
        return self._request("GET", "/models", lambda found: [str(one["id"]) for one in found["data"]])

    def _request(self, method: str, path: str, read: Callable[[Any], T], body: dict[str, Any] | None = None) -> T:
        trouble = ""
        for attempt in range(TRIES):
            if attempt:
                self._sleep(random.uniform(0, BACK_OFF_S * 2**attempt))
            try:
                response = self._http.request(method, f"{self.url}{path}", json=body)
                if response.status_code == 200:
                    return read(response.json())
                trouble = f"HTTP {response.status_code}: {self._mask(response.text)[:SHOWN]}"
                if response.status_code < 500 and response.status_code not in (408, 425, 429):
                    break
            except (httpx2.HTTPError, ValueError, LookupError, TypeError, AttributeError) as error:
                trouble = self._mask(f"{type(error).__name__}: {error}")[:SHOWN]
        raise BadInput(f"{self.who} gave no reply ({trouble})", where=self.where, remedy="check the server")
