"""`askgate score`: nothing lost, nothing paid twice, nothing made up, and it stops where it was told to."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tensorboardX.proto.event_pb2 import Event

from src.config.loader import load_config
from src.core.errors import BadInput
from src.core.types import Sample, Turn
from src.scoring import client as client_module
from src.scoring.batch import Order, Summary, choose, score_dialogues
from src.scoring.scores import Score, ScoreFile, score_key
from src.scoring.session import settings_for
from tests.scoring.desk import ROOT, SAMPLES, Desk, samples
from tests.scoring.server import JudgeServer, steady_scores

K = 3


@pytest.fixture(autouse=True)
def _quick_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "BACK_OFF_S", 0.002)


def contested(body: dict[str, Any]) -> dict[str, Any]:
    """Votes far apart on one sample."""
    found = steady_scores(body)
    if "question 3?" in body["messages"][-1]["content"]:
        found["logic"] = 10 * (body["seed"] % 2)
    return found


def test_every_sample_has_a_line_in_the_pools_order_and_unstable_ones_weigh_less(desk: Desk) -> None:
    with JudgeServer(scores=contested) as server:
        desk.ask(server)
        done = desk.score()
    assert done.code == 0
    lines = desk.scores()
    assert [line["id"] for line in lines] == [sample.id for sample in samples()]
    assert all(line["live"] and line["failure"] == "" and len(line["scores"]) == 4 for line in lines)
    [unstable] = desk.scores("reports/rc1/unstable_samples.jsonl")
    assert (unstable["id"], unstable["votes"]) == ("sample-3", 11)
    assert unstable["weight"] == pytest.approx(0.08 / unstable["variance"])
    assert [line["weight"] for line in lines if line["id"] != "sample-3"] == [1.0] * (SAMPLES - 1)
    assert done.figures()["unstable"] == 1


def test_the_figures_are_those_of_the_ledger_and_tensorboard_has_them(desk: Desk) -> None:
    with JudgeServer(lambda n: "429" if n == 5 else "ok", latency_s=0.02) as server:
        desk.ask(server)
        assert desk.score().code == 0
    found = json.loads(Path("reports/rc1/scoring_monitor.json").read_text())
    calls = desk.calls()
    replies = [call.latency_ms for call in calls if call.status == "ok"]
    assert found["429_rate"] == pytest.approx(1 / len(calls))
    assert found["rps"] == pytest.approx(len(calls) / found["seconds"])
    assert found["avg_latency"] == pytest.approx(sum(replies) / len(replies) / 1000, rel=0.05)
    assert found["cache_hit_rate"] == 0
    assert found["cost_usd"] == pytest.approx((server.tokens_in + server.tokens_out) * 1000 / 1e6)
    [events] = Path("logs/tensorboard").rglob("events.out.tfevents.*")
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


def test_a_second_run_goes_on_where_the_first_stopped_and_a_third_has_nothing_to_do(desk: Desk) -> None:
    with JudgeServer() as server:
        desk.ask(server)
        assert desk.score("--n", "5").figures()["scored"] == 5
        assert server.asked == 5 * K
        whole = desk.score().figures()
        assert (whole["scored"], whole["reused"], server.asked) == (SAMPLES, 5, SAMPLES * K)
        ledger, file = desk.ledger.read_bytes(), Path("reports/rc1/scores.jsonl").read_bytes()
        assert desk.score().figures()["reused"] == SAMPLES
    assert server.asked == SAMPLES * K
    assert (desk.ledger.read_bytes(), Path("reports/rc1/scores.jsonl").read_bytes()) == (ledger, file)


def test_another_way_of_voting_is_another_score(desk: Desk) -> None:
    with JudgeServer() as server:
        desk.ask(server)
        desk.score()
        again = desk.score("--k", "5").figures()
    assert again["reused"] == 0
    assert server.asked == SAMPLES * 5, "the first three votes are in the cache"
    assert {line["votes"] for line in desk.scores()} == {5}


def test_a_line_torn_by_a_crash_is_scored_again_from_the_cache(desk: Desk) -> None:
    with JudgeServer() as server:
        desk.ask(server)
        desk.score()
        file = Path("reports/rc1/scores.jsonl")
        whole = desk.scores()
        file.write_bytes(file.read_bytes()[:-40])
        assert desk.score().figures()["reused"] == SAMPLES - 1
        assert server.asked == SAMPLES * K
    assert [line["scores"] for line in desk.scores()] == [line["scores"] for line in whole]


def test_a_run_that_is_killed_is_gone_on_with_and_only_calls_in_flight_are_paid_again(desk: Desk) -> None:
    at_most_in_flight = 8
    with JudgeServer(latency_s=0.1) as server:
        desk.ask(server)
        environment = {**os.environ, **desk.environment, "PYTHONPATH": str(ROOT)}
        run = subprocess.Popen([sys.executable, "-m", "src.cli", "score", "pool.jsonl"], env=environment)
        while server.asked < SAMPLES and run.poll() is None:
            time.sleep(0.01)
        run.send_signal(signal.SIGKILL)
        assert run.wait() == -signal.SIGKILL
        done = desk.score().figures()
        assert (done["scored"], done["failed"]) == (SAMPLES, 0)
        assert SAMPLES * K <= server.asked <= SAMPLES * K + at_most_in_flight
    assert len(desk.scores()) == SAMPLES


def test_it_stops_before_the_budget_is_passed_says_so_and_goes_on_with_more(desk: Desk) -> None:
    with JudgeServer() as server:
        desk.ask(server)
        assert desk.score("--out", "whole.jsonl").code == 0
    whole = (server.tokens_in + server.tokens_out) * 1000 / 1e6
    desk.run("scorecache", "invalidate", "--spec", "provider=custom")
    with JudgeServer() as server:
        desk.ask(server)
        done = desk.score("--budget", f"{whole / 2}")
        assert done.code == 0
        found = done.figures()
        assert not found["complete"]
        assert 0 < found["scored"] < SAMPLES
        assert found["scored"] + found["not_started"] == SAMPLES
        assert found["figures"]["cost_usd"] <= whole / 2
        assert "stopped at the budget" in desk.run("score", "pool.jsonl", "--budget", "0").out
        assert server.asked == found["scored"] * K
        assert desk.score("--budget", f"{whole}").figures()["complete"]
    assert server.asked == SAMPLES * K


def test_a_budget_without_prices_is_refused(desk: Desk) -> None:
    with JudgeServer() as server:
        desk.environment |= {"SCORER_PROVIDER": "mine", "SCORER_MODEL": "tiny"}
        desk.ask(server)
        done = desk.score("--budget", "1")
    assert (done.code, server.asked) == (2, 0)
    assert "--budget" in done.err


def test_with_the_switch_off_nobody_is_called_and_nothing_has_a_score(desk: Desk) -> None:
    desk.environment["REWARD_LIVE_MODE"] = "off"
    with JudgeServer() as server:
        desk.ask(server)
        done = desk.score()
    assert (done.code, server.asked, done.figures()["complete"]) == (0, 0, False)
    for line in desk.scores():
        assert (line["live"], line["overall"], line["scores"], line["weight"]) == (False, None, {}, 0.0)
    assert not desk.ledger.exists()


def test_with_the_switch_off_live_scores_are_not_replaced(desk: Desk) -> None:
    desk.score_honestly()
    before = Path("reports/rc1/scores.jsonl").read_bytes()
    desk.environment["REWARD_LIVE_MODE"] = "0"
    done = desk.score()
    assert done.code == 2
    assert "holds live scores" in done.err
    assert Path("reports/rc1/scores.jsonl").read_bytes() == before


def test_a_service_that_goes_down_ends_the_run_with_the_reason_and_the_next_run_pays_for_the_rest(desk: Desk) -> None:
    desk.configure({"breaker_failures": 4})
    with JudgeServer(lambda n: "ok" if n < 12 else "500") as server:
        desk.ask(server)
        done = desk.score()
        paid = server.counts["ok"]
    assert done.code == 2
    assert "HTTP 500" in done.err
    with JudgeServer(port=desk.port) as server:
        assert desk.score().figures()["scored"] == SAMPLES
    assert server.asked == SAMPLES * K - paid


def test_a_sample_that_fails_is_listed_with_its_reason_and_no_score(desk: Desk) -> None:
    def hopeless(body: dict[str, Any]) -> dict[str, Any]:
        return {"logic": 99} if "question 7?" in body["messages"][-1]["content"] else steady_scores(body)

    with JudgeServer(scores=hopeless) as server:
        desk.ask(server)
        done = desk.score()
    assert (done.code, done.figures()["failed"], done.figures()["scored"]) == (0, 1, SAMPLES - 1)
    [line] = [line for line in desk.scores() if line["failure"]]
    assert (line["id"], line["overall"], line["weight"]) == ("sample-7", None, 0.0)


def test_scores_of_another_pool_are_not_mixed_in(desk: Desk) -> None:
    desk.score_honestly()
    desk.write_pool(samples(5))
    done = desk.score()
    assert done.code == 2
    assert "not in this pool" in done.err


def test_a_larger_draw_holds_the_smaller_one_and_another_seed_draws_others() -> None:
    pool = samples(200)
    few, many = choose(pool, 20, seed=1), choose(pool, 60, seed=1)
    assert {one.id for one in few} < {one.id for one in many}
    assert {one.id for one in few} != {one.id for one in choose(pool, 20, seed=2)}
    assert many == [one for one in pool if one in many]


def test_another_server_is_another_judge_even_if_its_model_has_the_same_name(desk: Desk) -> None:
    desk.score_honestly()
    with JudgeServer() as server:
        desk.ask(server)
        found = desk.score().figures()
    assert (found["reused"], server.asked) == (0, SAMPLES * K)


@pytest.mark.parametrize("change", [("overall", 1.0), ("scoring", "nobody"), ("weight", 0.5), ("key", "0" * 64)])
def test_a_line_that_is_not_what_the_ledger_says_is_not_reused(desk: Desk, change: tuple[str, object]) -> None:
    desk.score_honestly()
    whole = desk.scores()
    file = Path("reports/rc1/scores.jsonl")
    first, *rest = file.read_text().splitlines()
    file.write_text(
        "\n".join([json.dumps({**json.loads(first), change[0]: change[1]}, separators=(",", ":")), *rest]) + "\n"
    )
    with JudgeServer(port=desk.port) as server:
        unpaid = desk.run("score", "pool.jsonl", "--budget", "0")
        assert "1 lines of reports/rc1/scores.jsonl are no scores by this judge of these dialogues" in unpaid.err
        assert len(desk.scores()) == SAMPLES - 1, "not rescored, so not there"
        done = desk.score()
    assert (done.figures()["reused"], server.asked) == (SAMPLES - 1, 0)
    assert [(line["id"], line["overall"]) for line in desk.scores()] == [(one["id"], one["overall"]) for one in whole]


def test_the_score_of_a_dialogue_is_not_left_standing_for_another_that_took_its_name(desk: Desk) -> None:
    desk.score_honestly()
    first, *rest = samples()
    other = replace(first, dialogue=(first.dialogue[0], Turn("assistant", "answer", "nonsense")))
    desk.write_pool([other, *rest])
    with JudgeServer(port=desk.port) as server:
        scores, found = score_in_process(desk, [other, *rest], budget=0.0)
        assert (found.scored, found.reused, found.not_started, server.asked) == (SAMPLES - 1, SAMPLES - 1, 1, 0)
        assert set(scores) == {one.id for one in rest}
        assert {one["id"] for one in desk.scores()} == set(scores)
        scores, _ = score_in_process(desk, [other, *rest])
        assert set(scores) == {one.id for one in (other, *rest)}


def test_a_line_that_was_given_the_key_of_another_dialogue_is_not_reused(desk: Desk) -> None:
    desk.write_pool(samples(1))
    desk.score_honestly()
    [one] = samples(1)
    other = replace(one, dialogue=(one.dialogue[0], Turn("assistant", "answer", "nonsense")))
    section = load_config().scoring
    key = score_key(other, settings_for(desk.environment, section, "").provider, section.votes)
    file = Path("reports/rc1/scores.jsonl")
    file.write_text(json.dumps({**desk.scores()[0], "key": key}, separators=(",", ":")) + "\n")
    desk.write_pool([other])
    with JudgeServer(port=desk.port) as server:
        assert desk.score().figures()["reused"] == 0
    assert server.asked == K


def test_two_dialogues_under_one_name_are_refused_before_anybody_is_asked(desk: Desk) -> None:
    one, other = (replace(sample, id="twin") for sample in samples(2))
    with JudgeServer() as server:
        desk.ask(server)
        with pytest.raises(BadInput, match="1 ids stand more than once, the first is 'twin'"):
            score_in_process(desk, [one, other, *samples()])
    assert server.asked == 0


def test_the_file_that_dialogues_were_read_from_is_not_overwritten_whoever_asks(desk: Desk) -> None:
    with pytest.raises(BadInput, match="would overwrite"):
        score_in_process(desk, samples(), out="pool.jsonl")


def score_in_process(
    desk: Desk, wanted: list[Sample], budget: float | None = None, out: str = "reports/rc1/scores.jsonl"
) -> tuple[dict[str, Score], Summary]:
    section = load_config().scoring
    settings = settings_for(desk.environment, section, "")
    order = Order(Path("pool.jsonl"), Path(out), None, 1, section.votes, budget)
    return score_dialogues(wanted, order, settings, section, desk.environment, print, lambda done: None)


def test_lines_that_were_written_with_the_switch_off_are_not_counted_when_it_is_on(desk: Desk) -> None:
    with JudgeServer() as server:
        desk.ask(server)
        desk.environment["REWARD_LIVE_MODE"] = "off"
        desk.score()
        desk.environment["REWARD_LIVE_MODE"] = "1"
        found = desk.score("--budget", "2").figures()
        assert 0 < found["scored"] < SAMPLES
        assert (found["live"], found["not_started"]) == (True, SAMPLES - found["scored"])
        done = desk.run("score", "pool.jsonl", "--budget", "0")
    assert "stopped at the budget" in done.out
    assert "REWARD_LIVE_MODE is off" not in done.out
    assert all(one["live"] for one in desk.scores())


def test_failures_of_an_earlier_run_are_not_counted_as_this_runs(desk: Desk) -> None:
    with JudgeServer(lambda n: "prose") as server:
        desk.ask(server)
        assert desk.score("--n", "8").code == 2
    with JudgeServer(port=desk.port) as server:
        found = desk.score("--n", "8", "--budget", "0").figures()
    assert (found["failed"], found["not_started"], server.asked) == (0, 8, 0)


def test_scores_whose_ledger_was_moved_away_are_had_from_the_cache(desk: Desk) -> None:
    desk.score_honestly()
    desk.ledger.rename("elsewhere.jsonl")
    with JudgeServer(port=desk.port) as server:
        found = desk.score().figures()
    assert (found["reused"], found["scored"], server.asked) == (0, SAMPLES, 0)
    assert len(desk.scorings()) == SAMPLES


@pytest.mark.parametrize(
    "inside",
    ['{"id":"a","task":"gsm8k"}', '{"id":"a","task":"gs', "simulate: false", '{"x": 1}\n{"y', "\x00\x01"],
    ids=["another record", "half of another record", "no JSON", "other lines", "bytes"],
)
def test_a_file_that_is_not_ours_is_refused_and_left_alone(desk: Desk, inside: str) -> None:
    Path("precious").write_text(inside)
    for environment in ({}, {"REWARD_LIVE_MODE": "off"}):
        desk.environment |= environment
        assert desk.score("--out", "precious").code == 2
        assert Path("precious").read_text() == inside


@pytest.mark.parametrize("out", ["pool.jsonl", "./pool.jsonl", "unstable_samples.jsonl", "scoring_monitor.json"])
def test_the_scores_never_overwrite_the_pool_nor_each_other(desk: Desk, out: str) -> None:
    pool = Path("pool.jsonl").read_bytes().rstrip(b"\n")
    Path("pool.jsonl").write_bytes(pool)
    done = desk.score("--out", out)
    assert done.code == 2
    assert "would overwrite" in done.err
    assert Path("pool.jsonl").read_bytes() == pool


def test_a_last_line_without_its_newline_is_whole(desk: Desk) -> None:
    desk.score_honestly()
    file = Path("reports/rc1/scores.jsonl")
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    with JudgeServer(port=desk.port) as server:
        assert desk.score().figures()["reused"] == SAMPLES
    assert server.asked == 0


def test_two_commands_at_once_pay_for_each_vote_once_and_both_end_well(desk: Desk) -> None:
    desk.write_pool(samples(30))
    with JudgeServer(latency_s=0.02) as server:
        desk.ask(server)
        environment = {**os.environ, **desk.environment, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "src.cli", "score", "pool.jsonl"]
        runs = [subprocess.Popen([*command, *flags], env=environment) for flags in ([], ["--n", "20"])]
        assert [run.wait() for run in runs] == [0, 0]
    assert server.asked == 30 * K
    assert [one["id"] for one in desk.scores()] == [one.id for one in samples(30)]
    assert all(one["overall"] is not None for one in desk.scores())


def test_two_processes_that_write_one_file_keep_each_others_lines(tmp_path: Path) -> None:
    names = {"a", "b", "c"}
    one, other = (ScoreFile(tmp_path / "scores.jsonl", names) for _ in range(2))
    one.add(line("a"))
    other.add(line("b"))
    one.finish(sorted(names))
    other.add(line("c"))
    other.finish(sorted(names))
    assert list(ScoreFile(tmp_path / "scores.jsonl", names).lines) == ["a", "b", "c"]


def test_a_line_that_another_process_has_renewed_is_not_taken_out(tmp_path: Path) -> None:
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


def test_a_judge_that_never_gives_a_vote_is_not_paid_for_the_whole_pool(desk: Desk) -> None:
    desk.write_pool(samples(60))
    with JudgeServer(lambda n: "prose") as server:
        desk.ask(server)
        done = desk.score()
    assert done.code == 2
    assert "10 samples in a row could not be scored: bad_reply: 3 replies were no vote" in done.err
    assert server.asked <= (10 + 8) * K * 3


def test_a_budget_that_cannot_be_kept_because_nobody_says_the_price_stops_the_run(desk: Desk) -> None:
    with JudgeServer(lambda n: "no_usage") as server:
        desk.ask(server)
        done = desk.score("--budget", "1000")
        assert server.asked == K
    assert done.code == 2
    assert "--budget: the server does not say what it bills" in done.err
    assert len(desk.scores()) == 1


def test_weights_follow_the_limit_that_the_config_sets(desk: Desk) -> None:
    desk.configure({}, votes={"k": 3, "k_max": 3, "variance_max": 0.0001})
    with JudgeServer() as server:
        desk.ask(server)
        desk.score()
    unstable = [one for one in desk.scores() if not one["stable"]]
    assert unstable
    assert [one["weight"] for one in unstable] == [pytest.approx(0.0001 / one["variance"]) for one in unstable]


def test_where_there_is_no_terminal_progress_is_a_line_for_every_tenth(desk: Desk) -> None:
    desk.write_pool(samples(40))
    with JudgeServer() as server:
        desk.ask(server)
        done = desk.run("score", "pool.jsonl")
    told = [one for one in done.err.splitlines() if one.startswith("scoring: ")]
    # Samples that end together may pass two tenths with one line.
    assert 5 <= len(told) <= 10
    assert re.fullmatch(r"scoring: 40 of 40 samples, \$[\d.]+ of about \$[\d.]+, about 0 s left", told[-1])
