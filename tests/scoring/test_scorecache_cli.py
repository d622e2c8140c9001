"""`scorecache-cli`: counts, invalidation, and repeated requests for bad replies."""

from __future__ import annotations

from typing import Any

import pytest

from src.scoring import client as client_module
from src.scoring.prompt import PROMPT_VERSION
from tests.scoring.server import JudgeServer, steady_scores
from tests.scoring.workspace import SAMPLES, Workspace


@pytest.fixture(autouse=True)
def _quick_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "BACK_OFF_S", 0.002)


def refuses_one(body: dict[str, Any]) -> dict[str, Any]:
    return {"logic": 99} if "question 7?" in body["messages"][-1]["content"] else steady_scores(body)


def test_stat_counts_and_invalidate_has_votes_paid_for_again(workspace: Workspace) -> None:
    with JudgeServer() as server:
        workspace.ask(server)
        workspace.score()
        found = workspace.run("scorecache", "stat", "--json").figures()
        assert (found["rows"], found["bad"], found["owed"]) == (SAMPLES * 3, 0, 0)
        assert f"custom tiny {PROMPT_VERSION}: 36 replies" in workspace.run("scorecache", "stat").out
        assert workspace.run("scorecache", "invalidate", "--spec", "older_than=1d").out == "removed 0 replies\n"
        assert workspace.run("scorecache", "invalidate", "--spec", "provider=custom").out == "removed 36 replies\n"
        workspace.score("--out", "again.jsonl")
    assert server.asked == 2 * SAMPLES * 3


def test_replay_bad_asks_again_and_the_next_run_has_votes(workspace: Workspace) -> None:
    with JudgeServer(scores=refuses_one) as server:
        workspace.ask(server)
        assert workspace.score().figures()["failed"] == 1
        still = workspace.run("scorecache", "replay-bad", "--json").figures()
        assert (still["bad"], still["asked"], still["votes"], still["failures"]) == (3, 3, 0, {"bad_reply": 3})
        server.scores = steady_scores
        done = workspace.run("scorecache", "replay-bad", "--json").figures()
        assert (done["asked"], done["votes"], done["failures"]) == (3, 3, {})
        assert workspace.run("scorecache", "replay-bad", "--json").figures()["mended"] == 3
        asked = server.asked
        assert workspace.score().figures()["scored"] == SAMPLES
        assert server.asked == asked
    assert len(workspace.calls()) == asked + 3, "three votes of the last run came from the cache"


def test_replay_bad_calls_no_other_judge(workspace: Workspace) -> None:
    with JudgeServer(scores=refuses_one) as server:
        workspace.ask(server)
        workspace.score()
        asked = server.asked
        workspace.environment["SCORER_MODEL"] = "another"
        assert workspace.run("scorecache", "replay-bad", "--json").figures()["other_judge"] == 3
    assert server.asked == asked


def test_replay_bad_needs_live_mode(workspace: Workspace) -> None:
    workspace.environment["REWARD_LIVE_MODE"] = "off"
    done = workspace.run("scorecache", "replay-bad")
    assert (done.code, "REWARD_LIVE_MODE" in done.err) == (2, True)


@pytest.mark.parametrize("spec", ["", "colour=red", "older_than=soon", "provider=a,provider=b"])
def test_an_empty_spec_is_refused(workspace: Workspace, spec: str) -> None:
    workspace.score_honestly()
    done = workspace.run("scorecache", "invalidate", "--spec", spec)
    assert (done.code, "write it like provider=" in done.err) == (2, True)


def test_without_a_cache_there_is_nothing_to_count(workspace: Workspace) -> None:
    done = workspace.run("scorecache", "stat")
    assert (done.code, "run `askgate score POOL` with REWARD_LIVE_MODE=1 first" in done.err) == (2, True)
