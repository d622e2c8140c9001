"""`scorecache-cli`: counts, invalidation, and bad replies asked for anew."""

from __future__ import annotations

from typing import Any

import pytest

from src.scoring import client as client_module
from src.scoring.prompt import PROMPT_VERSION
from tests.scoring.desk import SAMPLES, Desk
from tests.scoring.server import JudgeServer, steady_scores


@pytest.fixture(autouse=True)
def _quick_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "BACK_OFF_S", 0.002)


def refuses_one(body: dict[str, Any]) -> dict[str, Any]:
    return {"logic": 99} if "question 7?" in body["messages"][-1]["content"] else steady_scores(body)


def test_stat_counts_and_invalidate_has_votes_paid_for_again(desk: Desk) -> None:
    with JudgeServer() as server:
        desk.ask(server)
        desk.score()
        found = desk.run("scorecache", "stat", "--json").figures()
        assert (found["rows"], found["bad"], found["owed"]) == (SAMPLES * 3, 0, 0)
        assert f"custom tiny {PROMPT_VERSION}: 36 replies" in desk.run("scorecache", "stat").out
        assert desk.run("scorecache", "invalidate", "--spec", "older_than=1d").out == "removed 0 replies\n"
        assert desk.run("scorecache", "invalidate", "--spec", "provider=custom").out == "removed 36 replies\n"
        desk.score("--out", "again.jsonl")
    assert server.asked == 2 * SAMPLES * 3


def test_replay_bad_asks_anew_for_what_is_still_bad_and_the_next_run_has_the_votes(desk: Desk) -> None:
    with JudgeServer(scores=refuses_one) as server:
        desk.ask(server)
        assert desk.score().figures()["failed"] == 1
        still = desk.run("scorecache", "replay-bad", "--json").figures()
        assert (still["bad"], still["asked"], still["votes"], still["failures"]) == (3, 3, 0, {"bad_reply": 3})
        server.scores = steady_scores
        done = desk.run("scorecache", "replay-bad", "--json").figures()
        assert (done["asked"], done["votes"], done["failures"]) == (3, 3, {})
        assert desk.run("scorecache", "replay-bad", "--json").figures()["mended"] == 3
        asked = server.asked
        assert desk.score().figures()["scored"] == SAMPLES
        assert server.asked == asked
    assert len(desk.calls()) == asked + 3, "three votes of the last run came from the cache"


def test_replay_bad_asks_nobody_in_another_judges_stead(desk: Desk) -> None:
    with JudgeServer(scores=refuses_one) as server:
        desk.ask(server)
        desk.score()
        asked = server.asked
        desk.environment["SCORER_MODEL"] = "another"
        assert desk.run("scorecache", "replay-bad", "--json").figures()["other_judge"] == 3
    assert server.asked == asked


def test_replay_bad_needs_live_mode(desk: Desk) -> None:
    desk.environment["REWARD_LIVE_MODE"] = "off"
    done = desk.run("scorecache", "replay-bad")
    assert (done.code, "REWARD_LIVE_MODE" in done.err) == (2, True)


@pytest.mark.parametrize("spec", ["", "colour=red", "older_than=soon", "provider=a,provider=b"])
def test_a_spec_that_says_nothing_is_refused(desk: Desk, spec: str) -> None:
    desk.score_honestly()
    done = desk.run("scorecache", "invalidate", "--spec", spec)
    assert (done.code, "write it like provider=" in done.err) == (2, True)


def test_without_a_cache_there_is_nothing_to_count(desk: Desk) -> None:
    done = desk.run("scorecache", "stat")
    assert (done.code, "score something live first" in done.err) == (2, True)
