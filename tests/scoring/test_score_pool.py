"""`askgate score` loses nothing, pays nothing twice, invents nothing, and stops at its limits."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tensorboardX.proto.event_pb2 import Event

from askgate_env.types import Sample, Turn
from src.config.profile import load_profile, scoring_of
from src.core.errors import BadInput
from src.scoring import client as client_module
from src.scoring.ledger import verify
from src.scoring.providers import settings_for
from src.scoring.score_pool import ScoringJob, Summary, choose, score_dialogues
from src.scoring.scores import Score, ScoreFile, score_key
from tests.scoring.server import JudgeServer, steady_scores
from tests.scoring.workspace import ROOT, SAMPLES, Workspace, samples
from tests.waiting import wait_until

K = 3


@pytest.fixture(autouse=True)
def _quick_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "BACK_OFF_S", 0.002)


def contested(body: dict[str, Any]) -> dict[str, Any]:
    """Votes that are far apart on one sample."""
    found = steady_scores(body)
    if "question 3?" in body["messages"][-1]["content"]:
        found["logic"] = 10 * (body["seed"] % 2)
    return found


def test_score_lines_follow_the_pool_and_unstable_ones_weigh_less(workspace: Workspace) -> None:
    with JudgeServer(scores=contested) as server:
        workspace.ask(server)
        done = workspace.score()
    assert done.code == 0
    lines = workspace.scores()
    assert [line["id"] for line in lines] == [sample.id for sample in samples()]
    assert all(line["live"] and line["failure"] == "" and len(line["scores"]) == 4 for line in lines)
    [unstable] = workspace.scores("reports/rc1/unstable_samples.jsonl")
    assert (unstable["id"], unstable["votes"]) == ("sample-3", 11)
    assert unstable["weight"] == pytest.approx(0.08 / unstable["variance"])
    assert [line["weight"] for line in lines if line["id"] != "sample-3"] == [1.0] * (SAMPLES - 1)
    assert done.figures()["unstable"] == 1


def test_figures_match_the_ledger_and_tensorboard(workspace: Workspace) -> None:
    with JudgeServer(lambda n: "429" if n == 5 else "ok", latency_s=0.02) as server:
        workspace.ask(server)
        assert workspace.score().code == 0
    found = json.loads(Path("reports/rc1/scoring_monitor.json").read_text())
    calls = workspace.calls()
    replies = [call.latency_ms for call in calls if call.status == "ok"]
    assert found["429_rate"] == pytest.approx(1 / len(calls))
    assert found["rps"] == pytest.approx(len(calls) / found["seconds"])
    assert found["avg_latency"] == pytest.approx(sum(replies) / len(replies) / 1000, rel=0.05)
    assert found["cache_hit_rate"] == 0
    assert found["cost_usd"] == pytest.approx((server.tokens_in + server.tokens_out) * 1000 / 1e6)
    [events] = Path("logs/scoring").rglob("events.out.tfevents.*")
    tags = {value.tag for event in read_events(events) for value in event.summary.value}
    assert tags >= {f"scoring/{name}" for name in ("rps", "429_rate", "avg_latency", "cache_hit_rate", "cost_usd")}


def read_events(path: Path) -> list[Event]:
    """TensorBoard's own framing: length, checksum, record, checksum."""
    raw, at, found = path.read_bytes(), 0, []
    while at < len(raw):
        length = int.from_bytes(raw[at : at + 8], "little")
        found.append(Event.FromString(raw[at + 12 : at + 12 + length]))
        at += length + 16
    return found


def test_a_second_run_continues_and_a_third_does_nothing(workspace: Workspace) -> None:
    with JudgeServer() as server:
        workspace.ask(server)
        assert workspace.score("--n", "5").figures()["scored"] == 5
        assert server.asked == 5 * K
        whole = workspace.score().figures()
        assert (whole["scored"], whole["reused"], server.asked) == (SAMPLES, 5, SAMPLES * K)
        ledger, file = workspace.ledger.read_bytes(), Path("reports/rc1/scores.jsonl").read_bytes()
        assert workspace.score().figures()["reused"] == SAMPLES
    assert server.asked == SAMPLES * K
    assert (workspace.ledger.read_bytes(), Path("reports/rc1/scores.jsonl").read_bytes()) == (ledger, file)


def test_another_way_of_voting_is_another_score(workspace: Workspace) -> None:
    with JudgeServer() as server:
        workspace.ask(server)
        workspace.score()
        workspace.configure({}, votes={"k": 5})
        again = workspace.score().figures()
    assert again["reused"] == 0
    assert server.asked == SAMPLES * 5, "the first three votes are in the cache"
    assert {line["votes"] for line in workspace.scores()} == {5}


def test_a_torn_line_is_scored_again_from_cache(workspace: Workspace) -> None:
    with JudgeServer() as server:
        workspace.ask(server)
        workspace.score()
        file = Path("reports/rc1/scores.jsonl")
        whole = workspace.scores()
        file.write_bytes(file.read_bytes()[:-40])
        assert workspace.score().figures()["reused"] == SAMPLES - 1
        assert server.asked == SAMPLES * K
    assert [line["scores"] for line in workspace.scores()] == [line["scores"] for line in whole]


def test_a_torn_ledger_end_does_not_stop_later_runs(workspace: Workspace) -> None:
    with JudgeServer() as server:
        workspace.ask(server)
        assert workspace.score("--n", "3").code == 0
        with open(workspace.ledger, "ab") as handle:
            handle.write(b'{"seq":99,"pr')
        done = workspace.score()
    assert done.code == 0, done.err
    assert done.figures()["reused"] == 3
    verify(workspace.ledger)


def test_a_killed_run_resumes_and_pays_again_only_running_calls(workspace: Workspace) -> None:
    at_most_in_flight = 8
    with JudgeServer(latency_s=0.1) as server:
        workspace.ask(server)
        environment = {**os.environ, **workspace.environment, "PYTHONPATH": str(ROOT)}
        run = subprocess.Popen([sys.executable, "-m", "src.cli", "score", "pool.jsonl"], env=environment)
        wait_until(lambda: server.asked >= SAMPLES or run.poll() is not None, "every sample is asked for")
        run.send_signal(signal.SIGKILL)
        assert run.wait() == -signal.SIGKILL
        done = workspace.score().figures()
        assert (done["scored"], done["failed"]) == (SAMPLES, 0)
        assert SAMPLES * K <= server.asked <= SAMPLES * K + at_most_in_flight
    assert len(workspace.scores()) == SAMPLES


def test_it_stops_before_the_budget_and_continues_with_more(workspace: Workspace) -> None:
    with JudgeServer() as server:
        workspace.ask(server)
        assert workspace.score("--out", "whole.jsonl").code == 0
    whole = (server.tokens_in + server.tokens_out) * 1000 / 1e6
    workspace.run("scorecache", "invalidate", "--spec", "provider=custom")
    with JudgeServer() as server:
        workspace.ask(server)
        done = workspace.score("--budget", f"{whole / 2}")
        assert done.code == 0
        found = done.figures()
        assert not found["complete"]
        assert 0 < found["scored"] < SAMPLES
        assert found["scored"] + found["not_started"] == SAMPLES
        assert found["figures"]["cost_usd"] <= whole / 2
        assert "stopped at the budget" in workspace.run("score", "pool.jsonl", "--budget", "0").out
        assert server.asked == found["scored"] * K
        assert workspace.score("--budget", f"{whole}").figures()["complete"]
    assert server.asked == SAMPLES * K


def test_a_budget_without_prices_is_refused(workspace: Workspace) -> None:
    with JudgeServer() as server:
        workspace.environment |= {"SCORER_PROVIDER": "mine", "SCORER_MODEL": "tiny"}
        workspace.ask(server)
        done = workspace.score("--budget", "1")
    assert (done.code, server.asked) == (2, 0)
    assert "--budget" in done.err


def test_with_live_mode_off_nothing_is_called_or_scored(workspace: Workspace) -> None:
    workspace.environment["REWARD_LIVE_MODE"] = "off"
    with JudgeServer() as server:
        workspace.ask(server)
        done = workspace.score()
    assert (done.code, server.asked, done.figures()["complete"]) == (0, 0, False)
    for line in workspace.scores():
        assert (line["live"], line["overall"], line["scores"], line["weight"]) == (False, None, {}, 0.0)
    assert not workspace.ledger.exists()


def test_with_the_switch_off_live_scores_are_not_replaced(workspace: Workspace) -> None:
    workspace.score_honestly()
    before = Path("reports/rc1/scores.jsonl").read_bytes()
    workspace.environment["REWARD_LIVE_MODE"] = "0"
    done = workspace.score()
    assert done.code == 2
    assert "holds live scores" in done.err
    assert Path("reports/rc1/scores.jsonl").read_bytes() == before


def test_an_outage_ends_the_run_and_the_next_continues(
    workspace: Workspace,
) -> None:
    workspace.configure({"breaker_failures": 4})
    with JudgeServer(lambda n: "ok" if n < 12 else "500") as server:
        workspace.ask(server)
        done = workspace.score()
        paid = server.counts["ok"]
    assert done.code == 2
    assert "HTTP 500" in done.err
    with JudgeServer(port=workspace.port) as server:
        assert workspace.score().figures()["scored"] == SAMPLES
    assert server.asked == SAMPLES * K - paid


def test_a_failed_sample_has_a_reason_and_no_score(workspace: Workspace) -> None:
    def hopeless(body: dict[str, Any]) -> dict[str, Any]:
        return {"logic": 99} if "question 7?" in body["messages"][-1]["content"] else steady_scores(body)

    with JudgeServer(scores=hopeless) as server:
        workspace.ask(server)
        done = workspace.score()
    assert (done.code, done.figures()["failed"], done.figures()["scored"]) == (0, 1, SAMPLES - 1)
    [line] = [line for line in workspace.scores() if line["failure"]]
    assert (line["id"], line["overall"], line["weight"]) == ("sample-7", None, 0.0)


def test_scores_of_another_pool_are_not_mixed_in(workspace: Workspace) -> None:
    workspace.score_honestly()
    workspace.write_pool(samples(5))
    done = workspace.score()
    assert done.code == 2
    assert "not in this pool" in done.err


def test_a_larger_draw_contains_the_smaller_one() -> None:
    pool = samples(200)
    few, many = choose(pool, 20, seed=1), choose(pool, 60, seed=1)
    assert {one.id for one in few} < {one.id for one in many}
    assert {one.id for one in few} != {one.id for one in choose(pool, 20, seed=2)}
    assert many == [one for one in pool if one in many]


def test_another_server_is_another_judge_despite_equal_model_names(workspace: Workspace) -> None:
    workspace.score_honestly()
    with JudgeServer() as server:
        workspace.ask(server)
        found = workspace.score().figures()
    assert (found["reused"], server.asked) == (0, SAMPLES * K)


@pytest.mark.parametrize("change", [("overall", 1.0), ("scoring", "nobody"), ("weight", 0.5), ("key", "0" * 64)])
def test_a_line_that_contradicts_the_ledger_is_not_reused(workspace: Workspace, change: tuple[str, object]) -> None:
    workspace.score_honestly()
    whole = workspace.scores()
    file = Path("reports/rc1/scores.jsonl")
    first, *rest = file.read_text().splitlines()
    file.write_text(
        "\n".join([json.dumps({**json.loads(first), change[0]: change[1]}, separators=(",", ":")), *rest]) + "\n"
    )
    with JudgeServer(port=workspace.port) as server:
        unpaid = workspace.run("score", "pool.jsonl", "--budget", "0")
        assert "1 lines of reports/rc1/scores.jsonl are no scores by this judge of these dialogues" in unpaid.err
        assert len(workspace.scores()) == SAMPLES - 1, "not rescored, so not there"
        done = workspace.score()
    assert (done.figures()["reused"], server.asked) == (SAMPLES - 1, 0)
    assert [(line["id"], line["overall"]) for line in workspace.scores()] == [
        (one["id"], one["overall"]) for one in whole
    ]


def test_a_changed_dialogue_does_not_keep_the_old_score(workspace: Workspace) -> None:
    workspace.score_honestly()
    first, *rest = samples()
    other = replace(first, dialogue=(first.dialogue[0], Turn("assistant", "answer", "nonsense")))
    workspace.write_pool([other, *rest])
    with JudgeServer(port=workspace.port) as server:
        scores, found = score_in_process(workspace, [other, *rest], budget=0.0)
        assert (found.scored, found.reused, found.not_started, server.asked) == (SAMPLES - 1, SAMPLES - 1, 1, 0)
        assert set(scores) == {one.id for one in rest}
        assert {one["id"] for one in workspace.scores()} == set(scores)
        scores, _ = score_in_process(workspace, [other, *rest])
        assert set(scores) == {one.id for one in (other, *rest)}


def test_a_line_with_another_dialogues_key_is_not_reused(workspace: Workspace) -> None:
    workspace.write_pool(samples(1))
    workspace.score_honestly()
    [one] = samples(1)
    other = replace(one, dialogue=(one.dialogue[0], Turn("assistant", "answer", "nonsense")))
    section = scoring_of(load_profile("rc1"))
    key = score_key(other, settings_for(workspace.environment, section, "").provider, section.votes)
    file = Path("reports/rc1/scores.jsonl")
    file.write_text(json.dumps({**workspace.scores()[0], "key": key}, separators=(",", ":")) + "\n")
    workspace.write_pool([other])
    with JudgeServer(port=workspace.port) as server:
        assert workspace.score().figures()["reused"] == 0
    assert server.asked == K


def test_duplicate_ids_are_refused_before_any_call(workspace: Workspace) -> None:
    one, other = (replace(sample, id="twin") for sample in samples(2))
    with JudgeServer() as server:
        workspace.ask(server)
        with pytest.raises(BadInput, match="1 ids occur more than once, the first is 'twin'"):
            score_in_process(workspace, [one, other, *samples()])
    assert server.asked == 0


def test_the_input_file_is_never_overwritten(workspace: Workspace) -> None:
    with pytest.raises(BadInput, match="would overwrite"):
        score_in_process(workspace, samples(), out="pool.jsonl")


def score_in_process(
    workspace: Workspace, wanted: list[Sample], budget: float | None = None, out: str = "reports/rc1/scores.jsonl"
) -> tuple[dict[str, Score], Summary]:
    section = scoring_of(load_profile("rc1"))
    settings = settings_for(workspace.environment, section, "")
    order = ScoringJob(Path("pool.jsonl"), Path(out), None, 1, budget)
    return score_dialogues(wanted, order, settings, print, lambda done: None)


def test_lines_written_offline_do_not_count_live(workspace: Workspace) -> None:
    with JudgeServer() as server:
        workspace.ask(server)
        workspace.environment["REWARD_LIVE_MODE"] = "off"
        workspace.score()
        workspace.environment["REWARD_LIVE_MODE"] = "1"
        found = workspace.score("--budget", "2").figures()
        assert 0 < found["scored"] < SAMPLES
        assert (found["live"], found["not_started"]) == (True, SAMPLES - found["scored"])
        done = workspace.run("score", "pool.jsonl", "--budget", "0")
    assert "stopped at the budget" in done.out
    assert "REWARD_LIVE_MODE is off" not in done.out
    assert all(one["live"] for one in workspace.scores())


def test_earlier_failures_are_not_counted(workspace: Workspace) -> None:
    with JudgeServer(lambda n: "prose") as server:
        workspace.ask(server)
        assert workspace.score("--n", "8").code == 2
    with JudgeServer(port=workspace.port) as server:
        found = workspace.score("--n", "8", "--budget", "0").figures()
    assert (found["failed"], found["not_started"], server.asked) == (0, 8, 0)


def test_scores_without_their_ledger_come_from_the_cache(workspace: Workspace) -> None:
    workspace.score_honestly()
    workspace.ledger.rename("elsewhere.jsonl")
    with JudgeServer(port=workspace.port) as server:
        found = workspace.score().figures()
    assert (found["reused"], found["scored"], server.asked) == (0, SAMPLES, 0)
    assert len(workspace.scorings()) == SAMPLES


@pytest.mark.parametrize(
    "inside",
    ['{"id":"a","task":"gsm8k"}', '{"id":"a","task":"gs', "simulate: false", '{"x": 1}\n{"y', "\x00\x01"],
    ids=["another record", "half of another record", "no JSON", "other lines", "bytes"],
)
def test_a_foreign_file_is_refused_and_untouched(workspace: Workspace, inside: str) -> None:
    Path("precious").write_text(inside)
    for environment in ({}, {"REWARD_LIVE_MODE": "off"}):
        workspace.environment |= environment
        assert workspace.score("--out", "precious").code == 2
        assert Path("precious").read_text() == inside


@pytest.mark.parametrize("out", ["pool.jsonl", "./pool.jsonl", "unstable_samples.jsonl", "scoring_monitor.json"])
def test_the_scores_never_overwrite_the_pool_nor_each_other(workspace: Workspace, out: str) -> None:
    pool = Path("pool.jsonl").read_bytes().rstrip(b"\n")
    Path("pool.jsonl").write_bytes(pool)
    done = workspace.score("--out", out)
    assert done.code == 2
    assert "would overwrite" in done.err
    assert Path("pool.jsonl").read_bytes() == pool


def test_a_last_line_without_its_newline_is_whole(workspace: Workspace) -> None:
    workspace.score_honestly()
    file = Path("reports/rc1/scores.jsonl")
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    with JudgeServer(port=workspace.port) as server:
        assert workspace.score().figures()["reused"] == SAMPLES
    assert server.asked == 0


def test_two_commands_at_once_pay_each_vote_once(workspace: Workspace) -> None:
    workspace.write_pool(samples(30))
    with JudgeServer(latency_s=0.02) as server:
        workspace.ask(server)
        environment = {**os.environ, **workspace.environment, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "src.cli", "score", "pool.jsonl"]
        runs = [subprocess.Popen([*command, *flags], env=environment) for flags in ([], ["--n", "20"])]
        assert [run.wait() for run in runs] == [0, 0]
    assert server.asked == 30 * K
    assert [one["id"] for one in workspace.scores()] == [one.id for one in samples(30)]
    assert all(one["overall"] is not None for one in workspace.scores())


def test_two_processes_that_write_one_file_keep_each_others_lines(tmp_path: Path) -> None:
    names = {"a", "b", "c"}
    one, other = (ScoreFile(tmp_path / "scores.jsonl", names) for _ in range(2))
    one.add(line("a"))
    other.add(line("b"))
    one.finish(sorted(names))
    other.add(line("c"))
    other.finish(sorted(names))
    assert list(ScoreFile(tmp_path / "scores.jsonl", names).lines) == ["a", "b", "c"]


def test_a_line_renewed_by_another_process_stays(tmp_path: Path) -> None:
    names = {"a", "b"}
    first = ScoreFile(tmp_path / "scores.jsonl", names)
    first.add(line("a"))
    first.add(line("b"))
    one, other = (ScoreFile(tmp_path / "scores.jsonl", names) for _ in range(2))
    other.add(replace(line("a"), overall=0.7))
    one.forget(names)
    assert {name: score.overall for name, score in one.lines.items()} == {"a": 0.7}


def line(name: str) -> Score:
    return Score(id=name, key="k", provider="p", model="m", live=True, overall=0.5, stable=True, weight=1.0)


def test_a_judge_without_votes_is_not_paid_for_everything(workspace: Workspace) -> None:
    workspace.write_pool(samples(60))
    with JudgeServer(lambda n: "prose") as server:
        workspace.ask(server)
        done = workspace.score()
    assert done.code == 2
    assert "10 samples in a row could not be scored: bad_reply: 3 replies were no vote" in done.err
    assert server.asked <= (10 + 8) * K * 3


def test_a_budget_without_bills_stops_the_run(workspace: Workspace) -> None:
    with JudgeServer(lambda n: "no_usage") as server:
        workspace.ask(server)
        done = workspace.score("--budget", "1000")
        assert server.asked == K
    assert done.code == 2
    assert "--budget: the server does not say what it bills" in done.err
    assert len(workspace.scores()) == 1


def test_weights_follow_the_limit_that_the_config_sets(workspace: Workspace) -> None:
    workspace.configure({}, votes={"k": 3, "k_max": 3, "variance_max": 0.0001})
    with JudgeServer() as server:
        workspace.ask(server)
        workspace.score()
    unstable = [one for one in workspace.scores() if not one["stable"]]
    assert unstable
    assert [one["weight"] for one in unstable] == [pytest.approx(0.0001 / one["variance"]) for one in unstable]


def test_without_a_terminal_progress_is_one_line_per_tenth(workspace: Workspace) -> None:
    workspace.write_pool(samples(40))
    with JudgeServer() as server:
        workspace.ask(server)
        done = workspace.run("score", "pool.jsonl")
    told = [one for one in done.err.splitlines() if one.startswith("scoring: ")]
    # Samples that end together may pass two tenths with one line.
    assert 5 <= len(told) <= 10
    assert re.fullmatch(r"scoring: 40 of 40 samples, \$[\d.]+ of about \$[\d.]+, about 0 s left", told[-1])
