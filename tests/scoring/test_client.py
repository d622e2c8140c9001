"""Calls to a server that misbehaves: what is retried, what is refused, what comes out, and what never does."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from pydantic import SecretStr

from src.scoring import client as client_module
from src.scoring.client import Attempt, JudgeClient
from src.scoring.types import CallFailed, Reply
from src.scoring.wire import retry_after
from tests.scoring.desk import ROOT
from tests.scoring.judging import KEY, ask, client, limits, provider
from tests.scoring.server import Act, JudgeServer


@pytest.fixture(autouse=True)
def _quick_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "BACK_OFF_S", 0.002)


def once(act: Act) -> Callable[[int], Act]:
    return lambda n: act if n == 0 else "ok"


def talk(server: JudgeServer, **changes: object) -> tuple[Reply | CallFailed, list[Attempt]]:
    attempts: list[Attempt] = []

    async def main() -> Reply | CallFailed:
        async with client(server, **changes) as judge:
            try:
                return await judge.ask(ask(), 0, attempts.append)
            except CallFailed as failure:
                return failure

    return asyncio.run(main()), attempts


def failure_of(server: JudgeServer, **changes: object) -> CallFailed:
    outcome, _ = talk(server, **changes)
    assert isinstance(outcome, CallFailed)
    return outcome


def test_a_reply_comes_with_its_request_id_its_bill_and_its_latency() -> None:
    with JudgeServer(latency_s=0.05) as server:
        reply, attempts = talk(server)
    assert isinstance(reply, Reply)
    assert (reply.request_id, reply.model) == ("req-1", "tiny")
    assert (reply.tokens_in, reply.tokens_out) == (server.tokens_in, server.tokens_out)
    assert 50 <= reply.latency_ms < 1000
    assert [(one.request_id, one.failure) for one in attempts] == [("req-1", "")]


def test_the_request_asks_for_scores_as_a_schema_with_a_seed_for_the_vote_and_for_the_retry() -> None:
    async def main(server: JudgeServer) -> None:
        async with client(server) as judge:
            await judge.ask(ask(vote=2))
            await judge.ask(ask(vote=2), again=1)

    with JudgeServer() as server:
        asyncio.run(main(server))
    first, second = server.bodies
    schema = first["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["logic", "clarity", "naturalness", "educational"]
    assert first["temperature"] == 0.7
    assert first["seed"] != second["seed"]
    assert first["messages"] == second["messages"]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_server_that_has_no_schemas_and_no_seeds_is_not_sent_any() -> None:
    async def main(server: JudgeServer) -> None:
        plain = provider(server.url, json_schema=False, seed=False)
        async with JudgeClient(plain, None, limits()) as judge:
            await judge.ask(ask())

    with JudgeServer() as server:
        asyncio.run(main(server))
    assert {"seed", "response_format"}.isdisjoint(server.bodies[0])


@pytest.mark.parametrize("key", [None, SecretStr(KEY)], ids=["no key", "a key"])
def test_a_server_gets_nothing_that_is_meant_for_another(
    monkeypatch: pytest.MonkeyPatch, key: SecretStr | None
) -> None:
    meant_for_another = {
        "OPENAI_API_KEY": "sk-for-somebody-else",
        "OPENAI_ADMIN_KEY": "sk-admin-of-somebody-else",
        "OPENAI_ORG_ID": "org-of-somebody-else",
        "OPENAI_PROJECT_ID": "proj-of-somebody-else",
        "OPENAI_BASE_URL": "http://somebody.else/v1",
        "OPENAI_CUSTOM_HEADERS": "Authorization: Bearer somebody-else\nX-Secret: somebody-else\nX-Odd: 某人 somebody",
    }
    for name, value in meant_for_another.items():
        monkeypatch.setenv(name, value)

    async def main(server: JudgeServer) -> None:
        async with JudgeClient(provider(server.url), key, limits()) as judge:
            await judge.ask(ask())

    with JudgeServer() as server:
        asyncio.run(main(server))
    assert "somebody" not in str(server.headers)
    assert server.headers[0]["authorization"] == f"Bearer {KEY if key else 'none'}"
    assert {name: os.environ[name] for name in meant_for_another} == meant_for_another


def test_the_sdk_and_its_transport_write_no_log_whatever_the_environment_says() -> None:
    script = (
        "import logging; logging.basicConfig(level=logging.DEBUG)\n"
        "import asyncio; from tests.scoring.test_client import talk; from tests.scoring.server import JudgeServer\n"
        "with JudgeServer(lambda n: '401') as server: talk(server)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "OPENAI_LOG": "debug"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not [line for line in done.stderr.splitlines() if "openai" in line or "http" in line]


COMPLETION: dict[str, Any] = {
    "id": "chatcmpl-1",
    "model": "tiny",
    "choices": [{"message": {"content": '{"logic": 7}'}}],
    "usage": {"prompt_tokens": 300, "completion_tokens": 20},
}


@pytest.mark.parametrize(
    ("change", "text", "bill"),
    [
        ({"choices": []}, "", 320),
        ({"choices": None}, "", 320),
        ({"choices": [{"message": None}]}, "", 320),
        ({"choices": [{"message": {"content": None}}]}, "", 320),
        ({"choices": [{"message": {"content": [{"type": "text"}]}}]}, '[{"type": "text"}]', 320),
        ({"choices": [{"message": {"content": "half \ud83d"}}]}, "half \ud83d", 320),
        ({"id": 7, "model": ["\ud800"]}, '{"logic": 7}', 320),
        ({"usage": {"prompt_tokens": 300.0, "completion_tokens": "20"}}, '{"logic": 7}', 300),
        ({"usage": {"prompt_tokens": -5, "completion_tokens": 10**30}}, '{"logic": 7}', 0),
        ({"usage": [1]}, '{"logic": 7}', 0),
    ],
)
def test_whatever_a_completion_holds_the_reply_is_kept_and_its_bill_with_it(
    change: dict[str, Any], text: str, bill: int
) -> None:
    with JudgeServer(lambda n: "raw") as server:
        server.raw = json.dumps({**COMPLETION, **change}).encode()
        reply, attempts = talk(server)
        assert server.asked == 1
    assert isinstance(reply, Reply)
    assert (reply.text, reply.tokens_in + reply.tokens_out) == (text, bill)
    assert attempts[0].tokens_in + attempts[0].tokens_out == bill


@pytest.mark.parametrize("body", [b"[]", b'{"error": {"message": "busy"}}', b"null", b"[" * 100_000, b"\xff\xfe{"])
def test_what_is_no_completion_at_all_is_no_reply(body: bytes) -> None:
    with JudgeServer(lambda n: "raw") as server:
        server.raw = body
        assert failure_of(server).trouble == "not_a_reply"


def test_a_judge_that_sends_nothing_but_empty_replies_is_left_alone_after_a_few() -> None:
    async def main(server: JudgeServer) -> CallFailed:
        async with client(server, breaker_failures=3) as judge:
            for _ in range(3):
                assert (await judge.ask(ask())).text == ""
            with pytest.raises(CallFailed) as caught:
                await judge.ask(ask())
            return caught.value

    with JudgeServer(lambda n: "no_content") as server:
        failure = asyncio.run(main(server))
        assert server.asked == 3
    assert (failure.trouble, "a reply without a text" in failure.detail) == ("circuit_open", True)


@pytest.mark.parametrize(
    ("act", "trouble"),
    [
        ("429", "rate_limited"),
        ("500", "server_error"),
        ("reset", "unreachable"),
        ("cut_off", "unreachable"),
        ("html", "not_a_reply"),
        ("half_json", "not_a_reply"),
    ],
)
def test_what_may_pass_is_retried_and_every_attempt_is_told(act: Act, trouble: str) -> None:
    with JudgeServer(once(act)) as server:
        reply, attempts = talk(server)
        assert isinstance(reply, Reply)
        assert [one.failure.partition(":")[0] for one in attempts] == [trouble, ""]
        assert all(one.latency_ms > 0 for one in attempts)
        assert sum(one.tokens_in for one in attempts) == server.tokens_in
    with JudgeServer(lambda n: act) as server:
        assert failure_of(server).trouble == trouble
        assert server.asked == 4


def test_a_slow_first_byte_is_waited_for_and_one_that_never_comes_is_a_timeout() -> None:
    with JudgeServer(once("slow")) as server:
        reply, _ = talk(server)
        assert isinstance(reply, Reply)
    with JudgeServer(lambda n: "hang") as server:
        failure = failure_of(server, timeout_s=0.1, tries=2)
        assert (failure.trouble, server.asked) == ("timeout", 2)


@pytest.mark.parametrize(
    ("act", "remedy"),
    [
        ("401", "check SCORER_API_KEY"),
        ("404", "check SCORER_MODEL"),
        ("no_credit", "pay the provider's bill"),
        ("moved", "check SCORER_BASE_URL"),
    ],
)
def test_what_will_not_pass_is_refused_at_once_with_a_remedy(act: Act, remedy: str) -> None:
    with JudgeServer(lambda n: act) as server:
        failure = failure_of(server)
        assert failure.trouble == "refused"
        assert remedy in failure.detail
        assert server.asked == 1


def test_a_key_that_the_server_sends_back_is_masked() -> None:
    def telltale(body: dict[str, object]) -> dict[str, object]:
        return {"logic": 7, "your key": KEY}

    with JudgeServer(lambda n: "401") as server:
        failure, attempts = talk(server)
        assert "incorrect key" in str(failure)
        assert KEY not in f"{failure!r} {attempts}"
    with JudgeServer(scores=telltale) as server:
        reply, _ = talk(server)
        assert isinstance(reply, Reply)
        assert "***" in reply.text
        assert KEY not in str(reply)


@pytest.mark.parametrize("act", ["raw", "raw_401"])
def test_a_key_that_would_be_cut_in_half_is_masked_before_the_cut(act: Act) -> None:
    with JudgeServer(lambda n: act) as server:
        for place in (*range(55, 85, 2), *range(275, 305, 2)):
            server.raw = b"." * place + KEY.encode() + b"." * 400
            assert "sk-pl" not in str(failure_of(server, tries=1))


def test_a_server_that_does_not_tell_its_bill_is_recorded_with_none() -> None:
    with JudgeServer(lambda n: "no_usage") as server:
        reply, _ = talk(server)
    assert isinstance(reply, Reply)
    assert (reply.tokens_in, reply.tokens_out) == (0, 0)


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_honoured_in_seconds_and_as_a_date(form: str) -> None:
    wait = "1" if form == "seconds" else format_datetime(datetime.now(UTC) + timedelta(seconds=2.5), usegmt=True)
    with JudgeServer(once("429_wait"), wait=wait) as server:
        started = time.monotonic()
        reply, _ = talk(server)
        assert isinstance(reply, Reply)
        assert 0.9 <= time.monotonic() - started < 60


def test_a_server_that_asks_for_an_hour_is_not_waited_for() -> None:
    with JudgeServer(lambda n: "429_wait", wait="3600") as server:
        failure = failure_of(server)
        assert (failure.trouble, failure.retry_after, server.asked) == ("rate_limited", 3600, 1)


@pytest.mark.parametrize("nonsense", ["soon", "-3", "nan", "inf", "", "Wed, 99 Foo 2026"])
def test_a_retry_after_that_makes_no_sense_is_no_retry_after(nonsense: str) -> None:
    assert retry_after({"retry-after": nonsense}) is None


def test_a_service_that_is_down_is_left_alone_after_a_few_failures() -> None:
    async def main(server: JudgeServer) -> list[CallFailed]:
        async with client(server, breaker_failures=3, breaker_open_s=0.2) as judge:
            failures = []
            for _ in range(3):
                try:
                    await judge.ask(ask())
                except CallFailed as failure:
                    failures.append(failure)
            await asyncio.sleep(0.25)
            await judge.ask(ask())
            return failures

    with JudgeServer(lambda n: "500" if n < 3 else "ok") as server:
        failures = asyncio.run(main(server))
    assert [failure.trouble for failure in failures] == ["circuit_open"] * 3
    assert "HTTP 500" in failures[0].detail
    assert server.asked == 4


def test_a_trial_that_is_cancelled_does_not_lock_the_service_out_for_good() -> None:
    async def main(server: JudgeServer) -> Reply:
        async with client(server, breaker_failures=1, breaker_open_s=0.05) as judge:
            with pytest.raises(CallFailed, match="circuit_open"):
                await judge.ask(ask())
            await asyncio.sleep(0.1)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(judge.ask(ask()), 0.1)
            return await judge.ask(ask())

    acts: list[Act] = ["500", "hang", "ok"]
    with JudgeServer(lambda n: acts[n]) as server:
        assert asyncio.run(main(server)).tokens_out > 0


def test_nobody_listening_is_unreachable() -> None:
    with JudgeServer() as server:
        pass
    assert failure_of(server).trouble == "unreachable"
