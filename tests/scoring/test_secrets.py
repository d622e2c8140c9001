"""A key in the environment appears in no file of the working folder and on no screen, however a run ends."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import tarfile
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from src.core.errors import BadInput
from src.runtime.failpack import failpack
from src.runtime.logs import PACKAGE, logging_to, write_error_report
from src.scoring import client as client_module
from src.scoring.local_judge import cache_folder, judge_weights
from src.scoring.prompt import DIMENSIONS
from tests.scoring.judging import KEY
from tests.scoring.server import Act, JudgeServer
from tests.scoring.workspace import LATENCY_S, ROOT, Outcome, Workspace, samples, uneven_latency
from tests.waiting import wait_until

OTHERS = {
    "OPENAI_API_KEY": "sk-transplanted-1",
    "OPENAI_ADMIN_KEY": "sk-transplanted-2",
    "OPENAI_CUSTOM_HEADERS": "X-Key: sk-transplanted-3",
    "OPENAI_LOG": "debug",
    "HF_TOKEN": "hf_transplanted",
}
"""What a user's shell holds beside the key."""
TRACES = (b"planted", b"0123456789", b64encode(KEY.encode()).rstrip(b"="))
"""Any part of a key, in whatever dress, and so of one that was cut in half."""
PACK = """
mkdir -p logs reports/preflight reports/rc1
tail -n 200 logs/*.log > logs/last.txt 2>&1 || true
tar -czf "reports/rc1/FAIL_1.tgz" logs reports/preflight || true
tar -czf "$PWD.tgz" . && mv "$PWD.tgz" reports/rc1/FAIL_all.tgz
"""
"""The trap of the owner's script, and a pack of everything there is."""


@pytest.fixture(autouse=True)
def _shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "BACK_OFF_S", 0.002)
    for name, value in OTHERS.items():
        monkeypatch.setenv(name, value)


def assert_nowhere(workspace: Workspace, *ended: Outcome) -> None:
    """The key is in no file, no packed file, and no output."""
    subprocess.run(["bash", "-euc", PACK], cwd=workspace.folder, check=True)
    looked_at = dict(contents(workspace.folder))
    assert {Path(name).suffix for name in looked_at} >= {".tgz", ".jsonl", ".sqlite", ".log"} - missing(workspace)
    assert any("FAIL_all.tgz!" in name for name in looked_at)
    for name, inside in looked_at.items():
        assert not [trace for trace in TRACES if trace in inside], name
    for one in ended:
        assert not [trace for trace in TRACES if trace.decode() in one.out + one.err]


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield str(path), path.read_bytes()
            if path.suffix == ".tgz":
                with tarfile.open(path) as pack:
                    for member in pack.getmembers():
                        if (packed := pack.extractfile(member)) is not None:
                            yield f"{path}!{member.name}", packed.read()


def missing(workspace: Workspace) -> set[str]:
    """Logs that are absent: only the local judge writes its own log."""
    return set() if workspace.environment["SCORER_PROVIDER"] == "local" else {".log"}


def telltale(content: str) -> bytes:
    """A valid reply from a server that sends the key back wherever it can."""
    reply = {
        "id": f"chatcmpl-{KEY}",
        "model": f"tiny-{KEY}",
        "choices": [{"message": {"content": content}}],
        "usage": {"prompt_tokens": 300, "completion_tokens": 20},
    }
    return json.dumps(reply).replace("/", "\\/").encode()


def test_the_key_is_nowhere_after_success(workspace: Workspace) -> None:
    with JudgeServer(uneven_latency, latency_s=LATENCY_S, scores=lambda body: {"logic": KEY}) as server:
        workspace.ask(server)
        ended = [workspace.run("score", "pool.jsonl", "--n", "2")]
        server.scores = lambda body: dict.fromkeys(DIMENSIONS, len(str(body)) % 10)
        ended += [workspace.run(*command) for command in (("score", "pool.jsonl"), ("probe_scorer", "--live"))]
        assert [one.code for one in ended] == [2, 0, 0]
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
        ended += [workspace.run("scorecache", "stat"), workspace.run("scorecache", "replay-bad")]
    ended += [workspace.run("assert_not_simulated"), workspace.run("assert_not_simulated", "--json")]
    assert_nowhere(workspace, *ended)


def test_a_key_sent_back_by_the_server_is_nowhere(workspace: Workspace) -> None:
    with JudgeServer(lambda n: "raw", latency_s=LATENCY_S) as server:
        server.raw = telltale(json.dumps(dict.fromkeys(DIMENSIONS, 7)))
        workspace.ask(server)
        ended = [
            workspace.run("score", "pool.jsonl"),
            workspace.run("probe_scorer", "--live"),
            workspace.run("assert_not_simulated"),
        ]
    assert [one.code for one in ended] == [0, 2, 2]
    assert len(workspace.scores()) == len(samples())
    assert_nowhere(workspace, *ended)


@pytest.mark.parametrize("act", ["401", "500", "html", "raw", "raw_401", "reset", "hang"])
def test_the_key_is_nowhere_after_a_failure(workspace: Workspace, act: Act) -> None:
    workspace.configure({"timeout_s": 0.2} if act == "hang" else {})
    with JudgeServer(lambda n: act) as server:
        server.raw = telltale(f"I know your key, it is {KEY}")
        workspace.ask(server)
        ended = [workspace.run("score", "pool.jsonl"), workspace.run("probe_scorer", "--n", "1", "--live")]
    assert [one.code for one in ended] == [2, 2]
    assert_nowhere(workspace, *ended)


@pytest.mark.parametrize("variable", ["SCORER_BASE_URL", "SCORER_MODEL"])
def test_a_misplaced_key_is_nowhere(workspace: Workspace, variable: str) -> None:
    with JudgeServer(uneven_latency, latency_s=LATENCY_S) as server:
        workspace.ask(server)
        workspace.run("score", "pool.jsonl", "--n", "2")
        workspace.environment[variable] = {"SCORER_BASE_URL": server.url.replace("/v1", f"/{KEY}/v1")}.get(
            variable, KEY
        )
        paid = server.asked
        ended = [
            workspace.run("score", "pool.jsonl"),
            workspace.run("probe_scorer", "--live"),
            workspace.run("scorecache", "replay-bad"),
        ]
    assert [one.code for one in ended] == [2, 2, 2]
    assert server.asked == paid
    assert_nowhere(workspace, *ended)


@pytest.mark.parametrize(
    ("sent", "calls"), [(signal.SIGKILL, 3), (signal.SIGKILL, 20), (signal.SIGABRT, 20), (signal.SIGINT, 20)]
)
def test_the_key_is_nowhere_after_a_crash(workspace: Workspace, sent: signal.Signals, calls: int) -> None:
    def plan(n: int) -> Act:
        return "raw" if n % 5 == 1 else "429" if n % 5 == 3 else "ok"

    with JudgeServer(plan, latency_s=0.02) as server:
        server.raw = telltale(f"I know your key, it is {KEY}")
        workspace.ask(server)
        environment = {**os.environ, **workspace.environment, "PYTHONPATH": str(ROOT), "PYTHONFAULTHANDLER": "1"}
        with open(workspace.folder / "screen.txt", "wb") as screen:
            command = [sys.executable, "-m", "src.cli", "score", "pool.jsonl"]
            run = subprocess.Popen(
                command,
                env=environment,
                stdout=screen,
                stderr=screen,
                # What a shell starts in the background is deaf to SIGINT, and so are its children.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )
            wait_until(lambda: server.asked >= calls or run.poll() is not None, "calls are made")
            run.send_signal(sent)
            assert run.wait() != 0
    assert_nowhere(workspace)


@pytest.mark.slow
def test_the_key_is_nowhere_after_local_scoring(workspace: Workspace) -> None:
    try:
        judge_weights(None, cache_folder(os.environ), lambda text: None)
    except BadInput as error:
        pytest.skip(f"the local judge cannot be fetched here: {error}")
    workspace.environment["SCORER_PROVIDER"] = "local"
    del workspace.environment["SCORER_BASE_URL"]
    workspace.write_pool(samples(2))
    ended = [workspace.run("score", "pool.jsonl")]
    assert [one.code for one in ended] == [0]
    assert_nowhere(workspace, *ended)


@pytest.mark.parametrize("encode", [str, lambda key: quote(key, safe=""), lambda key: key.replace("/", "&#x2F;")])
def test_one_masker_guards_every_output(workspace: Workspace, encode: Callable[[str], str]) -> None:
    """The same secret sent back by a server is masked in log, error report, archive, ledger, cache and scores."""
    message = f"your key is {encode(KEY)}, and a foreign one sk-0123456789abcdef"
    with JudgeServer(lambda n: "raw", latency_s=LATENCY_S) as server:
        server.raw = telltale(message)
        workspace.ask(server)
        ended = [workspace.run("score", "pool.jsonl", "--n", "2")]
    environment = {"SCORER_API_KEY": KEY}
    log = workspace.folder / "logs/train.log"
    with logging_to(log, logging.NullHandler(), environment):
        logging.getLogger(PACKAGE).warning("the server said: %s", message)
    report = write_error_report(RuntimeError(message), log, workspace.folder / "reports", {}, environment)
    (workspace.folder / "logs/other.txt").write_text("nothing to hide")
    pack = failpack(workspace.folder, environment)
    outputs = {"ledger": workspace.ledger, "log": log, "report": report, "archive": pack}
    for name, path in outputs.items():
        assert path.exists(), name
    masked = b"your key is ***, and a foreign one ***"
    found = dict(contents(workspace.folder))
    holding = {Path(name).suffix for name, inside in found.items() if masked in inside}
    assert holding >= {".log", ".json", ".sqlite"}, "the masked message is kept in log, error report and cache"
    assert_nowhere(workspace, *ended)
