"""A language model as the user: any server that speaks the OpenAI chat protocol (`user: llm` in a training config).

    USER_BASE_URL=http://127.0.0.1:8000/v1 USER_MODEL=qwen3 askgate eval ...

Its contract is that of the rules. The model gets the user's question, the hidden information and the assistant's
question, and replies as the user. A reply that does not contain the information is replaced by the fixed text of the
rules, so that `informs` stays right and a refusal looks the same whether or not something is missing. A sample without
hidden information needs no call.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

import httpx2
from msgspec.structs import replace

from ..agents.user_simulator import REPLIES, gives, reply
from ..agents.users import NoisyUser, User, rules
from ..config.train_config import UserKind
from ..core.errors import BadInput
from ..core.files import package_json
from ..core.types import Sample, Turn
from ..runtime.secrets import masker

TIMEOUT_S, TRIES, BACK_OFF_S = 60.0, 4, 0.5
MOST_TOKENS = 200
SHOWN = 200
"""Characters shown of a server's error text."""
_PROMPTS: dict[str, list[str]] = package_json("templates/dialogue.json")["llm_user"]


def open_user(kind: UserKind, seed: int = 0, environment: Mapping[str, str] = os.environ) -> User:
    """The user of that kind. `seed` is that of the noisy user; `llm` reads USER_BASE_URL, USER_MODEL, USER_API_KEY."""
    if kind == "llm":
        return LlmUser(environment)
    return NoisyUser(seed) if kind == "noisy" else rules


class LlmUser:
    """Calls the server once per question, with retries. Raises BadInput if no attempt brings a reply."""

    def __init__(self, environment: Mapping[str, str], sleep: Callable[[float], None] = time.sleep) -> None:
        self.url, self.model = (environment.get(name, "").strip() for name in ("USER_BASE_URL", "USER_MODEL"))
        if not self.url or not self.model:
            raise BadInput(
                "user: llm needs a server and a model",
                where="USER_BASE_URL, USER_MODEL",
                remedy="set both, such as http://127.0.0.1:8000/v1 and qwen3, or use user: rules",
            )
        key = environment.get("USER_API_KEY", "").strip()
        self._mask, self._sleep = masker(environment, *([key] if key else [])), sleep
        here = urlsplit(self.url).hostname in ("localhost", "127.0.0.1", "::1")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = httpx2.Client(timeout=TIMEOUT_S, follow_redirects=False, trust_env=not here, headers=headers)

    def __call__(self, sample: Sample, ask: str, before: Sequence[Turn]) -> str:
        hidden, lang = sample.hidden, sample.lang
        fallback = reply(replace(sample, hidden=None), ask)
        if hidden is None:
            return fallback
        system = "\n".join(_PROMPTS[lang]).format(
            prompt=sample.prompt, span=hidden.span, missing=hidden.missing, refusal=REPLIES["refusal"][lang]
        )
        said = self._complete([{"role": "system", "content": system}, {"role": "user", "content": ask}])
        return said if gives(hidden, lang, said) else fallback

    def _complete(self, messages: list[dict[str, str]]) -> str:
        body = {"model": self.model, "messages": messages, "temperature": 0, "max_tokens": MOST_TOKENS}
        trouble = ""
        for attempt in range(TRIES):
            if attempt:
                self._sleep(random.uniform(0, BACK_OFF_S * 2**attempt))
            try:
                response = self._http.post(f"{self.url.rstrip('/')}/chat/completions", json=body)
                if response.status_code == 200:
                    return self._mask(str(response.json()["choices"][0]["message"]["content"] or "")).strip()
                trouble = f"HTTP {response.status_code}: {self._mask(response.text)[:SHOWN]}"
                if response.status_code < 500 and response.status_code not in (408, 425, 429):
                    break
            except (httpx2.HTTPError, ValueError, LookupError, TypeError) as error:
                trouble = self._mask(f"{type(error).__name__}: {error}")[:SHOWN]
        raise BadInput(f"the user's server gave no reply ({trouble})", where="USER_BASE_URL", remedy="check the server")
