"""A language model behind a server plays the user under the contract of the rules."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from msgspec.structs import replace

from askgate_env.user_simulator import REPLIES, reply
from askgate_env.users import NoisyUser, rules
from src.core.errors import BadInput
from src.scoring.llm_user import LlmUser, open_user
from tests.agents.question_sets import builtin_questions, rates

Model = Callable[[dict[str, Any]], str]


@contextmanager
def serving(model: Model, statuses: list[int] | None = None) -> Iterator[dict[str, str]]:
    """A chat server on this machine. `statuses` are those of the first requests; the others get 200."""
    waiting = list(statuses or [])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status = waiting.pop(0) if waiting else 200
            message = {"role": "assistant", "content": model(body)}
            data = (
                json.dumps({"choices": [{"message": message}]}).encode() if status == 200 else b"secret-key-1 refused"
            )
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        yield {"USER_BASE_URL": url, "USER_MODEL": "someone", "USER_API_KEY": "secret-key-1"}
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


ASKED = [one for lang in ("en", "zh") for one in builtin_questions(lang)][::6]
SAMPLE = next(one.sample for one in ASKED if one.sample.lang == "en" and one.sample.hidden.kind == "entity")


def quiet(environment: dict[str, str]) -> LlmUser:
    return LlmUser(environment, sleep=lambda seconds: None)


def test_a_good_model_simulates_as_well_as_the_rules() -> None:
    """The acceptance test of the rules, on a server that answers as they do, in words of its own."""
    by_prompt = {one.sample.prompt: one.sample for one in ASKED}

    def model(body: dict[str, Any]) -> str:
        system, ask = (message["content"] for message in body["messages"])
        sample = next(sample for prompt, sample in by_prompt.items() if prompt in system)
        return f"Well ... {reply(sample, ask)}"

    with serving(model) as environment:
        found, expected = rates(quiet(environment), ASKED), rates(rules, ASKED)
    assert found.falsely_accepted <= expected.falsely_accepted <= 0.05
    # A wrong guess that the rules answer with a bare no gets a refusal here: it gave nothing.
    assert found.accepted >= expected.accepted - 0.03


def test_a_reply_without_the_information_becomes_the_refusal() -> None:
    with serving(lambda body: "Why should I tell you? Ask somebody else.") as environment:
        said = quiet(environment)(SAMPLE, f"Could you tell me {SAMPLE.hidden.missing}?", ())
    assert said == REPLIES["refusal"]["en"]


def test_a_complete_sample_needs_no_call() -> None:
    def model(body: dict[str, Any]) -> str:
        raise AssertionError("called")

    complete = replace(SAMPLE, hidden=None, needs_clarification=False)
    with serving(model) as environment:
        assert quiet(environment)(complete, "Which one is it?", ()) == reply(complete, "Which one is it?")


def test_the_model_gets_question_hidden_information_and_ask() -> None:
    seen: list[dict[str, Any]] = []

    def model(body: dict[str, Any]) -> str:
        seen.append(body)
        return SAMPLE.hidden.span

    with serving(model) as environment:
        assert quiet(environment)(SAMPLE, "Which one?", ()) == SAMPLE.hidden.span
    system, ask = (message["content"] for message in seen[0]["messages"])
    assert seen[0]["model"] == "someone"
    assert ask == "Which one?"
    assert SAMPLE.prompt in system
    assert SAMPLE.hidden.span in system
    assert SAMPLE.answer not in system


def test_a_busy_server_is_asked_again() -> None:
    with serving(lambda body: SAMPLE.hidden.span, [503, 429]) as environment:
        assert quiet(environment)(SAMPLE, "Which one?", ()) == SAMPLE.hidden.span


def test_a_server_that_refuses_is_named_without_the_key() -> None:
    with serving(lambda body: "", [401]) as environment, pytest.raises(BadInput) as refused:
        quiet(environment)(SAMPLE, "Which one?", ())
    assert "401" in str(refused.value)
    assert "secret-key-1" not in str(refused.value)


def test_users_are_opened_by_kind() -> None:
    assert open_user("rules") is rules
    noisy = open_user("noisy", 7)
    assert isinstance(noisy, NoisyUser)
    assert noisy.seed == 7
    with pytest.raises(BadInput, match="needs a server"):
        open_user("llm", environment={})
