"""A language model as the user: any server that speaks the OpenAI chat protocol (`user: llm` in a training config).

    USER_BASE_URL=http://127.0.0.1:8000/v1 USER_MODEL=qwen3 askgate eval ...

It has the contract of the rule-based user. The model gets the user's question, the hidden information and the
assistant's question, and replies as the user. A reply that does not contain the information is replaced by the fixed
text of the rules, so that `informs` stays right and a refusal looks the same whether or not something is missing. A
sample without hidden information needs no call.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from askgate_env.types import Sample, Turn
from askgate_env.user_simulator import REPLIES, gives, reply
from askgate_env.users import NoisyUser, User, rules

from ..config.train_config import UserKind
from ..core.errors import BadInput
from ..core.files import package_json

MAX_TOKENS = 200
_PROMPTS: dict[str, list[str]] = package_json("templates/llm_user.json")


def open_user(kind: UserKind, seed: int = 0, environment: Mapping[str, str] = os.environ) -> User:
    """The user of that kind. `seed` is that of the noisy user; `llm` reads USER_BASE_URL, USER_MODEL, USER_API_KEY."""
    if kind == "llm":
        return LlmUser(environment)
    return NoisyUser(seed) if kind == "noisy" else rules


class LlmUser:
    """Calls the server once per question, with retries. Raises BadInput if no attempt brings a reply."""

    def __init__(self, environment: Mapping[str, str], sleep: Callable[[float], None] = time.sleep) -> None:
        url, model = (environment.get(name, "").strip() for name in ("USER_BASE_URL", "USER_MODEL"))
        if not url or not model:
            raise BadInput(
                "user: llm needs a server and a model",
                where="USER_BASE_URL, USER_MODEL",
                remedy="set both, such as http://127.0.0.1:8000/v1 and qwen3, or use user: rules",
            )
        key = environment.get("USER_API_KEY", "").strip()
        who, where = "the user's server", "USER_BASE_URL"
        from .chat_server import ChatServer  # its HTTP library takes 30 ms, and the rules need none

        self._server = ChatServer(url, model, key, environment, who=who, where=where, sleep=sleep)

    def __call__(self, sample: Sample, ask: str, before: Sequence[Turn]) -> str:
        hidden, lang = sample.hidden, sample.lang
        fallback = reply(replace(sample, hidden=None), ask)
        if hidden is None:
            return fallback
        system = "\n".join(_PROMPTS[lang]).format(
            prompt=sample.prompt, span=hidden.span, missing=hidden.missing, refusal=REPLIES["refusal"][lang]
        )
        messages = [{"role": "system", "content": system}, {"role": "user", "content": ask}]
        answer = self._server.complete(messages, temperature=0, max_tokens=MAX_TOKENS).text
        return answer if gives(hidden, lang, answer) else fallback
