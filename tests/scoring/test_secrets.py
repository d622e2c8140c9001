"""A key planted in the environment is in no file of the working folder, and on no screen, however a run ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from src.scoring import client as client_module
from tests.scoring.desk import LATENCY_S, ROOT, Desk, lively
from tests.scoring.judging import KEY
from tests.scoring.server import Act, JudgeServer

FORMS = (KEY, quote(KEY, safe=""))


@pytest.fixture(autouse=True)
def _quick_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "BACK_OFF_S", 0.002)


def assert_nowhere(folder: Path, *screens: str) -> None:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    for file in files:
        assert not [form for form in FORMS if form.encode() in file.read_bytes()], file
    assert not [form for form in FORMS for screen in screens if form in screen]


def test_after_success(desk: Desk) -> None:
    with JudgeServer(lively, latency_s=LATENCY_S, scores=lambda body: {"logic": KEY}) as server:
        desk.ask(server)
        bad = desk.run("score", "pool.jsonl", "--n", "2")
        server.scores = lambda body: dict.fromkeys(("logic", "clarity", "naturalness", "educational"), 7)
        done = [desk.run("score", "pool.jsonl"), desk.run("probe_scorer", "--live"), desk.run("scorecache", "stat")]
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    gate = desk.run("assert_not_simulated")
    assert [one.code for one in done] == [0, 0, 0]
    assert_nowhere(desk.folder, *(one.out + one.err for one in (bad, *done, gate)))


@pytest.mark.parametrize("act", ["401", "500", "html"])
def test_after_failure_even_where_the_server_sends_the_key_back(desk: Desk, act: Act) -> None:
    with JudgeServer(lambda n: act) as server:
        desk.ask(server)
        done = [desk.run("score", "pool.jsonl"), desk.run("probe_scorer", "--n", "1", "--live")]
    assert [one.code for one in done] == [2, 2]
    assert_nowhere(desk.folder, *(one.out + one.err for one in done))


def test_after_a_crash(desk: Desk) -> None:
    with JudgeServer(lambda n: "401" if n % 3 else "ok", latency_s=0.05) as server:
        desk.ask(server)
        environment = {**os.environ, **desk.environment, "PYTHONPATH": str(ROOT), "PYTHONFAULTHANDLER": "1"}
        with open(desk.folder / "screen.txt", "wb") as screen:
            command = [sys.executable, "-m", "src.cli", "score", "pool.jsonl"]
            run = subprocess.Popen(command, env=environment, stdout=screen, stderr=screen)
            while server.asked < 4 and run.poll() is None:
                time.sleep(0.01)
            run.send_signal(signal.SIGABRT)
            assert run.wait() == -signal.SIGABRT
    assert_nowhere(desk.folder)
