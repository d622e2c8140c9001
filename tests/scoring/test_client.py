"""Calls to a misbehaving server: what is retried, what is refused, and what is returned."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from pydantic import SecretStr

from src.scoring import client as client_module
from src.scoring.client import JudgeClient, retry_after
from src.scoring.types import CallFailed, Reply
from tests.scoring.judging import KEY, ask, client, limits, provider
from tests.scoring.server import Act, JudgeServer
from tests.scoring.virtual_clock import ManualClock
from tests.scoring.workspace import ROOT


@pytest.fixture(autouse=True)
def _quick_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "BACK_OFF_S", 0.002)


def once(act: Act) -> Callable[[int], Act]:
    return lambda n: act if n == 0 else "ok"


def call_judge(
    server: JudgeServer, clock: ManualClock | None = None, **changes: object
) -> tuple[Reply | CallFailed, list[CallFailed]]:
    failures: list[CallFailed] = []

    async def main() -> Reply | CallFailed:
        async with client(server, clock, **changes) as judge:
            try:
                return await judge.ask(ask(), 0, failures.append)
            except CallFailed as failure:
                return failure

    return asyncio.run(main()), failures


def failure_of(server: JudgeServer, **changes: object) -> CallFailed:
    outcome, _ = call_judge(server, **changes)
    assert isinstance(outcome, CallFailed)
    return outcome


def test_a_reply_has_request_id_bill_and_latency() -> None:
    with JudgeServer(latency_s=0.05) as server:
        reply, failures = call_judge(server)
    assert isinstance(reply, Reply)
    assert (reply.request_id, reply.model) == ("req-1", "tiny")
    assert (reply.tokens_in, reply.tokens_out) == (server.tokens_in, server.tokens_out)
    assert reply.latency_ms >= 50
    assert failures == []


def test_the_request_has_schema_and_seed_per_vote_and_retry() -> None:
    async def main(server: JudgeServer) -> None:
        async with client(server) as judge:
            await judge.ask(ask(vote=2))
            await judge.ask(ask(vote=2), bad_replies=1)

    with JudgeServer() as server:
        asyncio.run(main(server))
    first, second = server.bodies
    schema = first["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["logic", "clarity", "naturalness", "educational"]
    assert first["temperature"] == 0.7
    assert first["seed"] != second["seed"]
    assert first["messages"] == second["messages"]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_servers_without_schemas_or_seeds_get_none() -> None:
    async def main(server: JudgeServer) -> None:
        plain = provider(server.url, response_format=None, seed=False)
        async with JudgeClient(plain, None, limits()) as judge:
            await judge.ask(ask())

    with JudgeServer() as server:
        asyncio.run(main(server))
    assert {"seed", "response_format"}.isdisjoint(server.bodies[0])


@pytest.mark.parametrize("key", [None, SecretStr(KEY)], ids=["no key", "a key"])
def test_a_server_gets_no_settings_of_another(monkeypatch: pytest.MonkeyPatch, key: SecretStr | None) -> None:
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


def test_the_transport_never_logs() -> None:
    script = (
        "import logging; logging.basicConfig(level=logging.DEBUG)\n"
        "from tests.scoring.test_client import call_judge; from tests.scoring.server import JudgeServer\n"
        "with JudgeServer(lambda n: '401') as server: call_judge(server)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    assert not [line for line in done.stderr.splitlines() if "http" in line]


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
def test_any_completion_is_kept_with_its_bill(change: dict[str, Any], text: str, bill: int) -> None:
    with JudgeServer(lambda n: "raw") as server:
        server.raw = json.dumps({**COMPLETION, **change}).encode()
        reply, failures = call_judge(server)
        assert (server.asked, failures) == (1, [])
    assert isinstance(reply, Reply)
    assert (reply.text, reply.tokens_in + reply.tokens_out) == (text, bill)


@pytest.mark.parametrize("body", [b"[]", b'{"error": {"message": "busy"}}', b"null", b"[" * 100_000, b"\xff\xfe{"])
def test_a_response_without_completion_is_no_reply(body: bytes) -> None:
    with JudgeServer(lambda n: "raw") as server:
        server.raw = body
        assert failure_of(server).trouble == "not_a_reply"


def test_empty_replies_open_the_circuit() -> None:
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
def test_temporary_errors_are_retried_and_every_failure_is_reported(act: Act, trouble: str) -> None:
    with JudgeServer(once(act)) as server:
        reply, failures = call_judge(server)
        assert isinstance(reply, Reply)
        assert [one.trouble for one in failures] == [trouble]
        assert min(reply.latency_ms, failures[0].latency_ms) > 0
        assert reply.tokens_in == server.tokens_in
    with JudgeServer(lambda n: act) as server:
        assert failure_of(server).trouble == trouble
        assert server.asked == 4


def test_a_slow_byte_is_awaited_a_missing_one_times_out() -> None:
    with JudgeServer(once("slow")) as server:
        reply, _ = call_judge(server)
        assert isinstance(reply, Reply)
    with JudgeServer(lambda n: "hang") as server:
        failure = failure_of(server, timeout_s=1.0, tries=2)
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
def test_permanent_errors_are_refused_at_once_with_remedy(act: Act, remedy: str) -> None:
    with JudgeServer(lambda n: act) as server:
        failure = failure_of(server)
        assert failure.trouble == "refused"
        assert remedy in failure.detail
        assert server.asked == 1


def test_a_key_that_the_server_sends_back_is_masked() -> None:
    def telltale(body: dict[str, object]) -> dict[str, object]:
        return {"logic": 7, "your key": KEY}

    with JudgeServer(lambda n: "401") as server:
        failure, failures = call_judge(server)
        assert "incorrect key" in str(failure)
        assert KEY not in f"{failure!r} {[vars(one) for one in failures]}"
    with JudgeServer(scores=telltale) as server:
        reply, _ = call_judge(server)
        assert isinstance(reply, Reply)
        assert "***" in reply.text
        assert KEY not in str(reply)


@pytest.mark.parametrize("act", ["raw", "raw_401"])
def test_a_key_is_masked_before_text_is_cut(act: Act) -> None:
    with JudgeServer(lambda n: act) as server:
        for place in (*range(55, 85, 2), *range(275, 305, 2)):
            server.raw = b"." * place + KEY.encode() + b"." * 400
            assert "sk-pl" not in str(failure_of(server, tries=1))


def test_a_reply_without_usage_is_recorded_unbilled() -> None:
    with JudgeServer(lambda n: "no_usage") as server:
        reply, _ = call_judge(server)
    assert isinstance(reply, Reply)
    assert (reply.tokens_in, reply.tokens_out) == (0, 0)


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_honoured_in_seconds_and_as_a_date(form: str) -> None:
    wait = "1" if form == "seconds" else format_datetime(datetime.now(UTC) + timedelta(seconds=2.5), usegmt=True)
    with JudgeServer(once("429_wait"), wait=wait) as server:
        clock = ManualClock()
        started = clock.now
        reply, _ = call_judge(server, clock)
        assert isinstance(reply, Reply)
        assert 0.9 <= clock.now - started <= 3.5


def test_an_hour_long_retry_after_is_not_waited_for() -> None:
    with JudgeServer(lambda n: "429_wait", wait="3600") as server:
        failure = failure_of(server)
        assert (failure.trouble, failure.retry_after, server.asked) == ("rate_limited", 3600, 1)


@pytest.mark.parametrize("nonsense", ["soon", "-3", "nan", "inf", "", "Wed, 99 Foo 2026"])
def test_a_nonsensical_retry_after_is_ignored(nonsense: str) -> None:
    assert retry_after({"retry-after": nonsense}) is None


def test_a_few_failures_open_the_circuit() -> None:
    async def main(server: JudgeServer) -> list[CallFailed]:
        clock = ManualClock()
        async with client(server, clock, breaker_failures=3, breaker_open_s=30.0) as judge:
            failures = []
            for _ in range(3):
                try:
                    await judge.ask(ask())
                except CallFailed as failure:
                    failures.append(failure)
            clock.now += 30.0
            await judge.ask(ask())
            return failures

    with JudgeServer(lambda n: "500" if n < 3 else "ok") as server:
        failures = asyncio.run(main(server))
    assert [failure.trouble for failure in failures] == ["circuit_open"] * 3
    assert "HTTP 500" in failures[0].detail
    assert server.asked == 4


def test_a_cancelled_trial_call_does_not_block_forever() -> None:
    async def main(server: JudgeServer) -> Reply:
        clock = ManualClock()
        async with client(server, clock, breaker_failures=1, breaker_open_s=30.0) as judge:
            with pytest.raises(CallFailed, match="circuit_open"):
                await judge.ask(ask())
            clock.now += 30.0
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


def test_a_word_that_a_variable_holds_stays_in_a_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBUG_TOKEN", "logic")
    with JudgeServer() as server:
        reply, _ = call_judge(server)
    assert isinstance(reply, Reply)
    assert "logic" in reply.text
