"""`assert_not_simulated`: honest scoring passes; every way to fake it is refused with exit 2 and its reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from src.scoring.ledger import Ledger, newest_scorings
from src.scoring.stub_checks import latency_checks
from tests.scoring.server import JudgeServer
from tests.scoring.workspace import LATENCY_S, Workspace, samples, uneven_latency


@pytest.fixture
def workspace(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Workspace:
    return Workspace(tmp_path, capfd, monkeypatch)


def test_it_passes_after_honest_scoring(workspace: Workspace) -> None:
    workspace.score_honestly()
    done = workspace.run("assert_not_simulated", "--cache-hit-lt", "0.90")
    assert done.code == 0
    assert "PASSED assert_not_simulated" in done.out
    assert workspace.failed_checks() == set()


def test_it_passes_after_a_probe_of_eight(workspace: Workspace) -> None:
    with JudgeServer(uneven_latency, latency_s=LATENCY_S) as server:
        workspace.ask(server)
        assert workspace.run("probe_scorer", "--n", "8", "--provider", "custom", "--live").code == 0
    assert workspace.failed_checks() == set()


def test_another_judge_of_the_quickstart_is_in_its_own_ledger(workspace: Workspace) -> None:
    """Both in one ledger are two judges, and refused."""
    workspace.environment |= {"SCORER_PROVIDER": "small", "SCORER_MODEL": "tiny"}
    with JudgeServer(uneven_latency, latency_s=LATENCY_S) as server:
        workspace.ask(server)
        assert workspace.score("--profile", "quickstart", "--out", "quickstart.jsonl").code == 0
    workspace.environment |= {"SCORER_PROVIDER": "custom"}
    del workspace.environment["SCORER_MODEL"]
    assert "scorings_by_another_provider" in workspace.failed_checks("--profile", "quickstart")
    workspace.score_honestly()
    assert workspace.failed_checks() == set()
    assert workspace.run("validate_scores", "quickstart.jsonl", "--profile", "quickstart").code == 0
    assert workspace.run("validate_scores", "quickstart.jsonl").code == 2


def test_false_scores_exit_with_2_too_few_with_1(workspace: Workspace) -> None:
    workspace.score_honestly()
    scores = workspace.folder / "reports/rc1/scores.jsonl"
    assert workspace.run("validate_scores").code == 0
    assert workspace.run("validate_scores", "--least", "1000").code == 1
    honest = scores.read_text(encoding="utf-8")
    for genuine, other in (('"live":true', '"live":false'), ('"overall":0.', '"overall":0.9')):
        assert genuine in honest
        scores.write_text(honest.replace(genuine, other, 1), encoding="utf-8")
        assert workspace.run("validate_scores").code == 2


def test_the_same_samples_scored_again_from_the_cache_fail(workspace: Workspace) -> None:
    workspace.score_honestly()
    with JudgeServer(port=workspace.port) as server:
        assert workspace.score("--out", "again.jsonl").code == 0
    assert server.asked == 0
    done = workspace.run("assert_not_simulated", "--cache-hit-lt", "0.90")
    assert done.code == 2
    assert "FAILED cache_hit_rate[last scoring of each sample]: 1, must be < 0.9" in done.out
    assert "came out of the cache" in done.out


def test_a_window_of_cached_votes_fails_on_hit_rate(workspace: Workspace) -> None:
    workspace.write_pool(samples(60))
    workspace.score_honestly()
    for name in ("again.jsonl", "and_again.jsonl"):
        workspace.score("--out", name)
    assert workspace.failed_checks() >= {"cache_hit_rate", "billable_count"}


def test_live_mode_off_fails_and_its_scores_prove_nothing(workspace: Workspace) -> None:
    workspace.environment["REWARD_LIVE_MODE"] = "off"
    assert workspace.score().code == 0
    assert workspace.failed_checks() == {"live_mode_is_on", "scorings"}
    workspace.environment["REWARD_LIVE_MODE"] = "on"
    assert workspace.failed_checks() == {"scorings"}


def test_live_mode_off_fails_despite_an_honest_ledger(workspace: Workspace) -> None:
    workspace.score_honestly()
    workspace.environment["REWARD_LIVE_MODE"] = "off"
    assert workspace.failed_checks() == {"live_mode_is_on"}


def test_a_scorer_that_answers_in_a_constant_two_milliseconds_fails(workspace: Workspace) -> None:
    with JudgeServer(latency_s=0.002) as server:
        workspace.ask(server)
        assert workspace.score().code == 0
    assert "latency_min_ms" in workspace.failed_checks()
    assert "in that time, so a stub or a recording answers" in workspace.run("assert_not_simulated").out


@pytest.mark.parametrize(
    ("latencies", "named"),
    [
        ([2.0] * 24, {"latency_min_ms", "latency_spread"}),
        ([2.0] * 23 + [4000.0], {"latency_min_ms", "latency_spread"}),
        ([2.0 + 5 * n for n in range(24)], {"latency_min_ms"}),
        ([800.0 + 0.1 * n for n in range(24)], {"latency_spread"}),
        ([0.0, *[400.0 + 30 * n for n in range(24)]], {"latency_min_ms"}),
        ([], {"latency_min_ms", "latency_spread"}),
        ([400.0 + 30 * n for n in range(24)], set()),
    ],
)
def test_latencies_that_no_service_has_are_named(latencies: list[float], named: set[str]) -> None:
    assert {one.name for one in latency_checks(latencies) if not one.passed} == named


def test_an_edited_ledger_line_fails_and_is_named(workspace: Workspace) -> None:
    workspace.score_honestly()
    lines = workspace.ledger.read_bytes().splitlines(keepends=True)
    lines[6] = lines[6].replace(b'"cache_hit":false', b'"cache_hit":true ', 1)
    workspace.ledger.write_bytes(b"".join(lines))
    done = workspace.run("assert_not_simulated")
    assert done.code == 2
    assert "FAILED ledger_chain_whole" in done.out
    assert "scoring_ledger.jsonl:7: the line does not fit its hash" in done.out


def test_a_torn_ledger_is_distinguished_from_a_changed_one(workspace: Workspace) -> None:
    workspace.score_honestly()
    workspace.ledger.write_bytes(workspace.ledger.read_bytes()[:-30])
    done = workspace.run("assert_not_simulated")
    assert done.code == 2
    assert "cuts off the torn line" in done.out


def test_run_mode_unset_fails(workspace: Workspace) -> None:
    workspace.score_honestly()
    del workspace.environment["RUN_MODE"]
    assert workspace.failed_checks() == {"run_mode_is_prod"}
    assert "set RUN_MODE=prod" in workspace.run("assert_not_simulated").out


@pytest.mark.parametrize("file", ["configs/default.yaml", "configs/ppo_scale.yaml", "configs/mine.yaml"])
def test_simulate_true_fails_in_whichever_config(workspace: Workspace, file: str) -> None:
    workspace.score_honestly()
    if file == "configs/default.yaml":
        workspace.configure({}, simulate=True)
    else:
        Path(file).write_text("steps: 50000\nsimulate: true\n")
    assert workspace.failed_checks() == {"simulate"}
    assert f"{file} says simulate: true" in workspace.run("assert_not_simulated").out


def test_simulate_that_is_neither_true_nor_false_is_refused(workspace: Workspace) -> None:
    Path("configs/ppo_scale.yaml").write_text("simulate: maybe\n")
    done = workspace.run("assert_not_simulated")
    assert (done.code, "configs/ppo_scale.yaml: simulate" in done.err) == (2, True)


def test_too_few_scorings_and_none_at_all_fail(workspace: Workspace) -> None:
    assert workspace.failed_checks() == {"scorings"}
    workspace.write_pool(samples(7))
    workspace.score_honestly()
    assert workspace.failed_checks() == {"scorings"}


def test_a_scorer_that_bills_nothing_fails(workspace: Workspace) -> None:
    with JudgeServer(lambda n: "no_usage", latency_s=LATENCY_S) as server:
        workspace.ask(server)
        assert workspace.score().code == 0
    assert "billable_count" in workspace.failed_checks()


def test_a_second_provider_fails(workspace: Workspace) -> None:
    workspace.score_honestly()
    workspace.environment |= {"SCORER_PROVIDER": "another", "SCORER_MODEL": "tiny"}
    assert workspace.failed_checks() == {"scorings_by_another_provider"}
    with JudgeServer(uneven_latency, latency_s=LATENCY_S) as server:
        workspace.ask(server)
        assert workspace.score("--out", "another.jsonl").code == 0
    assert workspace.failed_checks() == {"providers", "scorings_by_another_provider"}


def test_every_reason_is_named_at_once(workspace: Workspace) -> None:
    workspace.score_honestly()
    workspace.configure({}, simulate=True)
    workspace.score("--out", "again.jsonl")
    workspace.environment |= {"RUN_MODE": "dev", "REWARD_LIVE_MODE": "0"}
    assert workspace.failed_checks() == {"run_mode_is_prod", "live_mode_is_on", "simulate", "cache_hit_rate"}


def test_only_the_last_hundred_scorings_count(workspace: Workspace) -> None:
    with JudgeServer(lambda n: "no_usage", latency_s=LATENCY_S) as server:
        workspace.ask(server)
        workspace.score()
    ledger = Ledger(workspace.ledger)
    [last] = newest_scorings(workspace.ledger, 1)
    for number in range(100):
        name = f"later-{number}"
        billed = [
            replace(call, scoring=name, billable_tokens=400 + number % 2, latency_ms=300.0 + number * 5)
            for call in last.calls
        ]
        ledger.append([*billed, replace(last.entry, scoring=name, sample=name)])
    assert workspace.failed_checks() == set()
    window = workspace.run("assert_not_simulated", "--json").figures()["figures"]
    assert (window["window"], window["billable_tokens"]) == (100, 50 * 3 * 801)
