"""Poisons for the gates of the rounds. Each spoils a copy of a finished honest run, the way a careful forger would, and
must be caught by the check that is there for it; the run as it was is the twin that every gate accepts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
import yaml
from msgspec.structs import replace

from src.agents.grammar import say
from src.core.files import write_json
from src.core.jsonl import read_records, write_records
from src.core.types import Sample
from src.data.meta import read_meta, write_meta
from src.evaluation.record import RecordedEpisode
from src.evaluation.weights import Weights, read_weights
from src.gates import disk, fresh, penalty, prints
from src.gates.finding import Finding
from src.gates.manifest import Manifest
from src.gates.measure import STORED, measured, of_round
from src.gates.report import ROUND1, read_round
from src.gates.rounds import _round1
from src.scoring.scores import Score
from tests.gates.acting import ask_first, play
from tests.gates.run_folder import ablation, edit_profile, judging, look
from tests.scoring.server import JudgeServer

from .table import poison, twin

Spoil = Callable[[], object]


def caught(gate: str) -> set[str]:
    """Names of the checks of a gate that fail on the working folder, without their scope."""
    return {one.name.split("[")[0] for one in measured({gate: STORED[gate]}, look()) if not one.passed}


@twin("weights", "calibration", "shadow", "penalty", "ablation", "config")
def test_the_honest_run_is_accepted(run: Path) -> None:
    gates = {name: gate for name, gate in STORED.items() if name not in ("pool", "difficulty")}
    assert [one.name for one in measured(gates, look()) if not one.passed] == []


@twin("pool", "difficulty", "disk", "fresh", "scoring", "round1")
def test_both_rounds_of_the_honest_run_have_passed(run: Path) -> None:
    report = read_round(Path("reports/preflight/round2_pass.json"))
    assert {one.gate for one in report.findings} >= {"pool", "difficulty", "disk", "fresh", "scoring", "round1"}
    assert all(one.holds for one in report.findings)


# --- pool and difficulty: what the rounds add to the gates of the stages ---


@poison("pool/pool_samples")
def test_a_pool_that_is_smaller_than_the_profile_wants(run: Path) -> None:
    edit_profile(lambda found: found["thresholds"]["counts"].update(pool_samples=1_501))
    assert caught("pool") == {"pool_samples"}


@poison("pool/shadow_samples")
def test_a_shadow_set_that_is_smaller_than_the_profile_wants(run: Path) -> None:
    edit_profile(lambda found: found["thresholds"]["counts"].update(shadow_samples=121))
    assert caught("pool") == {"shadow_samples"}


@poison("difficulty/not_from_this_pool")
def test_a_balanced_pool_of_another_pool(run: Path) -> None:
    """Metrics and balanced pool fit each other, but were drawn from a pool that lies elsewhere."""
    paths = look().profile.paths
    other = paths.pool.with_name("other.jsonl")
    other.write_bytes(paths.pool.read_bytes())
    write_meta(other, read_meta(paths.pool))
    for path in (paths.metrics, paths.balanced):
        write_meta(path, replace(read_meta(path), parent="other.jsonl"))
    samples = list(read_records(paths.pool, Sample))[:-1]
    with open(paths.pool, "wb") as handle:
        write_records(handle, samples)
    assert caught("difficulty") == {"not_from_this_pool"}


# --- weights ---


def reweigh(**changes: float) -> None:
    found = read_weights()
    write_json(Path("configs/weights.json"), replace(found, weights={**found.weights, **changes}))


def spread(name: str, value: float) -> None:
    """One weight as wanted, the others scaled so that the sum is 1."""
    old = read_weights().weights
    rest = 1 - old[name]
    reweigh(**{other: (value if other == name else weight * (1 - value) / rest) for other, weight in old.items()})


@poison("weights/weights_off_one", "calibration/measured")
def test_weights_that_sum_to_nine_tenths(run: Path) -> None:
    reweigh(**{name: 0.9 * weight for name, weight in read_weights().weights.items()})
    assert caught("weights") == {"weights_off_one"}
    assert caught("calibration") == {"measured"}


@poison("weights/weight_smallest")
def test_a_negative_weight(run: Path) -> None:
    spread("support", -0.01)
    assert caught("weights") == {"weight_smallest"}


@poison("weights/weight_largest")
def test_a_weight_above_a_half(run: Path) -> None:
    spread("support", 0.51)
    assert caught("weights") == {"weight_largest"}


@poison("calibration/weights_not_fitted")
def test_lawful_weights_that_no_calibration_gave(run: Path) -> None:
    spread("support", 0.30)
    assert caught("weights") == set()
    assert "weights_not_fitted" in caught("calibration")


@poison("calibration/weights_not_fitted")
def test_a_raised_stand_in_for_the_judge(run: Path) -> None:
    found = read_weights()
    raised = {name: min(1.0, value + 0.2) for name, value in found.stand_in.items()}
    write_json(Path("configs/weights.json"), replace(found, stand_in=raised))
    assert caught("calibration") == {"weights_not_fitted"}


@poison("calibration/measured")
def test_weights_written_by_hand(run: Path) -> None:
    write_json(Path("configs/weights.json"), Weights(read_weights().weights))
    assert caught("calibration") == {"measured"}


# --- calibration and shadow run: stored episodes and replies ---

EPISODES = {
    "calibration": "data/episodes/quickstart_calibration.jsonl",
    "shadow": "data/episodes/quickstart_shadow.jsonl",
}
both = pytest.mark.parametrize("gate", ["calibration", "shadow"])


def respeak(gate: str, change: Callable[[RecordedEpisode], RecordedEpisode], only: int | None = None) -> None:
    """Recorded episodes changed; the first `only` of those that the judge was not asked about, or all of these."""
    path = Path(EPISODES[gate])
    recorded = list(read_records(path, RecordedEpisode))
    asked = {line.id for line in read_records(path.with_suffix(".scores.jsonl"), Score)}
    free = [one.id for one in recorded if one.id not in asked][:only]
    with open(path, "wb") as handle:
        write_records(handle, [change(one) if one.id in free else one for one in recorded])


@both
@poison("calibration/episodes_not_played", "shadow/episodes_not_played")
def test_failures_that_were_turned_into_successes(run: Path, gate: str) -> None:
    respeak(gate, lambda one: replace(one, episode=replace(one.episode, success=not one.episode.success)), only=1)
    assert "episodes_not_played" in caught(gate)


@both
@poison("calibration/episodes_not_played", "shadow/episodes_not_played")
def test_a_tool_that_said_something_else(run: Path, gate: str) -> None:
    def polish(one: RecordedEpisode) -> RecordedEpisode:
        turns = tuple(
            replace(turn, text=f"{turn.text} {one.episode.answer}") if turn.by == "tool" else turn
            for turn in one.episode.turns
        )
        return replace(one, episode=replace(one.episode, turns=turns))

    respeak(gate, polish)
    assert "episodes_not_played" in caught(gate)


@both
@poison("calibration/episodes_of_another_model", "shadow/episodes_of_another_model")
def test_episodes_of_a_better_model(run: Path, gate: str) -> None:
    respeak(gate, lambda one: replace(one, model="0" * 64), only=3)
    assert caught(gate) >= {"episodes_of_another_model"}


@both
@poison("calibration/episodes", "shadow/episodes")
def test_fewer_episodes_than_the_profile_wants(run: Path, gate: str) -> None:
    name = f"{gate}_episodes"
    edit_profile(lambda found: found["thresholds"]["counts"].update({name: 301}))
    assert caught(gate) == {"episodes"}


@both
@poison("calibration/not_live", "shadow/not_live")
def test_fewer_episodes_before_the_judge_than_the_profile_wants(run: Path, gate: str) -> None:
    edit_profile(lambda found: found["thresholds"]["counts"].update({f"{gate}_live": 31}))
    assert caught(gate) == {"not_live"}


@both
@poison("calibration/scores_not_proved", "shadow/scores_not_proved")
def test_scores_raised_in_their_file(run: Path, gate: str) -> None:
    path = Path(EPISODES[gate]).with_suffix(".scores.jsonl")
    lines = list(read_records(path, Score))
    raised = [replace(line, scores=dict.fromkeys(line.scores, 1.0), overall=1.0) for line in lines]
    with open(path, "wb") as handle:
        write_records(handle, raised)
    assert "scores_not_proved" in caught(gate)


@both
@poison("calibration/scores_not_proved", "shadow/scores_not_proved")
def test_scores_of_other_dialogues(run: Path, gate: str) -> None:
    """The judge scored these; then the policy's words were replaced by the demonstration's."""
    path = Path(EPISODES[gate])
    pool = look().profile.paths.pool if gate == "calibration" else look().profile.paths.shadow_set
    samples = {one.id: one for one in read_records(pool, Sample)}

    def shown(one: RecordedEpisode) -> RecordedEpisode:
        sample = samples[one.episode.sample_id]
        said = [say(turn) for turn in sample.dialogue if turn.by == "assistant"]
        return replace(one, episode=play(sample, said, Random(1), one.episode.level))

    asked = {line.id for line in read_records(path.with_suffix(".scores.jsonl"), Score)}
    recorded = list(read_records(path, RecordedEpisode))
    with open(path, "wb") as handle:
        write_records(handle, [shown(one) if one.id in asked else one for one in recorded])
    found = caught(gate)
    assert "scores_not_proved" in found
    assert "episodes_not_played" not in found


@both
@poison("calibration/scores_not_proved", "shadow/scores_not_proved")
def test_stored_replies_that_say_something_else(run: Path, gate: str) -> None:
    with sqlite3.connect(look().scoring.cache) as cache:
        cache.execute("UPDATE replies SET reply = replace(reply, ': 5', ': 9')")
    assert caught(gate) == {"scores_not_proved"}


@both
@poison("calibration/measured", "shadow/measured")
def test_replies_that_were_thrown_away(run: Path, gate: str) -> None:
    look().scoring.cache.unlink()
    assert caught(gate) == {"measured"}


@poison("calibration/episodes_of_shadow_set")
def test_weights_fitted_to_the_shadow_set(run: Path) -> None:
    respeak("calibration", lambda one: replace(one, split="shadow"), only=2)
    assert "episodes_of_shadow_set" in caught("calibration")


@poison("shadow/episodes_of_pool")
def test_a_shadow_run_on_the_pool(run: Path) -> None:
    respeak("shadow", lambda one: replace(one, split="train"), only=2)
    assert "episodes_of_pool" in caught("shadow")


@pytest.mark.parametrize(
    ("named", "limit", "by"),
    [("rank_corr_gain_pct", "rank_corr_gain_pct_min", 0.1), ("mae_change_pct", "mae_change_pct_max", -0.1)],
)
@poison("calibration/*")
def test_weights_that_gain_less_than_they_must(run: Path, named: str, limit: str, by: float) -> None:
    """The figures of the run against marks just beyond them; test_calibration_poisons spoils the figures."""
    value = next(one.value for one in read_round(ROUND1).findings if (one.gate, one.name) == ("calibration", named))
    assert value is not None
    edit_profile(lambda found: found["thresholds"].update({limit: value + by}))
    assert caught("calibration") == {named}


@poison("shadow/spearman", "shadow/top10_overlap", "shadow/corr_improve_pct")
def test_the_old_weights_sold_as_new_ones(run: Path) -> None:
    """They agree with themselves and know no more about success than before."""
    from src.evaluation.weights import read_baseline

    found, baseline = read_weights(), read_baseline()
    old = {name: float(weight) for name, weight in zip(baseline.names, baseline.old_D, strict=True)}
    write_json(Path("configs/weights.json"), replace(found, weights=old))
    assert caught("shadow") == {"corr_improve_pct"}
    turned = dict.fromkeys(baseline.names, 0.0) | {"economy": 0.5, "form": 0.5}
    write_json(Path("configs/weights.json"), replace(found, weights=turned))
    assert caught("shadow") >= {"spearman", "top10_overlap"}


# --- penalty and ablation ---


@poison("penalty/penalty_cases_wrong")
def test_a_penalty_that_also_costs_needed_asks(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(penalty, "over_clarification_penalty", lambda needs, asks: 0.07 * min(asks, 3))
    assert caught("penalty") == {"penalty_cases_wrong"}


@poison("penalty/penalty_cases_wrong")
def test_a_penalty_without_a_cap(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(penalty, "over_clarification_penalty", lambda needs, asks: 0.0 if needs else 0.07 * asks)
    assert caught("penalty") == {"penalty_cases_wrong"}


ARM = Path("data/episodes/quickstart_ablation/seed_20250820")


def shadow_samples() -> list[Sample]:
    return list(read_records(look().profile.paths.shadow_set, Sample))


def act_out(name: str, **habits: Any) -> None:
    random = Random(11)
    with open(ARM / f"{name}.jsonl", "wb") as handle:
        write_records(handle, [ask_first(sample, random, **habits) for sample in shadow_samples()])


@poison("ablation/overclar_change_pct")
def test_a_penalty_that_changes_nothing(run: Path) -> None:
    ablation(look().profile, shadow_samples(), needless=0.5)
    assert caught("ablation") == {"overclar_change_pct"}


@poison("ablation/turns_change")
def test_a_penalty_that_makes_dialogues_longer(run: Path) -> None:
    """Fewer needless asks, but three at a time."""
    act_out("with", needless=0.3, asks=4)
    assert "turns_change" in caught("ablation")


@poison("ablation/success_drop_points")
def test_a_penalty_that_costs_success(run: Path) -> None:
    random = Random(11)
    lazy = [
        play(sample, ["<answer>no idea</answer>"], random) if place % 20 == 0 else ask_first(sample, random, 0.1)
        for place, sample in enumerate(shadow_samples())
    ]
    with open(ARM / "with.jsonl", "wb") as handle:
        write_records(handle, lazy)
    assert "success_drop_points" in caught("ablation")


@poison("ablation/episodes_not_played")
def test_asks_that_were_cut_out_of_the_record(run: Path) -> None:
    rows = [msgspec.json.decode(line) for line in (ARM / "with.jsonl").read_bytes().splitlines()]
    for row in rows:
        row["turns"] = [turn for turn in row["turns"] if turn["act"] != "ask"]
    with open(ARM / "with.jsonl", "wb") as handle:
        write_records(handle, rows)
    assert "episodes_not_played" in caught("ablation")


@poison("ablation/arms_on_other_samples", "ablation/ablation_episodes")
def test_an_arm_without_its_hard_samples(run: Path) -> None:
    kept = (ARM / "with.jsonl").read_bytes().splitlines(keepends=True)[:-10]
    (ARM / "with.jsonl").write_bytes(b"".join(kept))
    assert {"arms_on_other_samples", "ablation_episodes"} <= caught("ablation")


@poison("ablation/ablation_seeds")
def test_one_seed_where_three_are_wanted(run: Path) -> None:
    edit_profile(lambda found: found["thresholds"]["counts"].update(ablation_seeds=3))
    assert caught("ablation") == {"ablation_seeds"}


# --- config ---

CONFIG = Path("configs/quickstart_gated.yaml")


def reconfigure(**changes: Any) -> None:
    found = yaml.safe_load(CONFIG.read_text(encoding="utf-8")) | changes
    CONFIG.write_text(yaml.safe_dump(found), encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        pytest.param({"datasets": {"hotpotqa": 0.5, "strategyqa": 0.25, "gsm8k": 0.25}}, "datasets", id="mix"),
        pytest.param({"steps": 9}, "steps", id="steps"),
        pytest.param({"target_kl": 0.2}, "target_kl", id="target_kl above"),
        pytest.param({"target_kl": 0.001}, "target_kl", id="target_kl below"),
        pytest.param({"target_kl": None}, "target_kl", id="no target_kl"),
        pytest.param({"use_overclar_penalty": False}, "use_overclar_penalty", id="no penalty"),
        pytest.param({"seed_pool": "data/other.jsonl"}, "seed_pool", id="a pool that no gate saw"),
        pytest.param(
            {"seed_pool": "data/rollouts/quickstart.jsonl"}, "seed_pool", id="the pool before it was balanced"
        ),
        pytest.param({"reward": {}}, "reward.weights", id="a reward without what was calibrated"),
        pytest.param(
            {"reward": {"weights": "configs/weights_baseline.json", "dimensions": 0.3}},
            "reward.weights",
            id="weights that nobody calibrated",
        ),
        pytest.param({"shadow_set": "data/other.jsonl"}, "shadow_set", id="a shadow set that no gate saw"),
        pytest.param({"simulate": True}, "simulate", id="simulate"),
        pytest.param({"simulate": "no"}, "simulate", id="simulate as a word"),
        pytest.param({"stepps": 1}, "measured", id="a key that is none"),
    ],
)
@poison("config/*")
def test_a_config_that_is_not_what_was_asked_for(run: Path, changes: dict[str, Any], named: str) -> None:
    reconfigure(**changes)
    assert caught("config") == {named}


@poison("config/seeds", "config/live_mode", "config/finetune.method")
def test_a_config_of_the_quickstart_under_the_demands_of_rc1(run: Path) -> None:
    edit_profile(lambda found: found["thresholds"]["config"].update(seeds_min=3, live_mode=True, qlora=True))
    assert caught("config") == {"seeds", "live_mode", "finetune.method"}


# --- disk, fresh scorings, ledger, round 1 ---


@poison("disk/disk_free_gb")
def test_a_full_disk(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "free_bytes", lambda: 2 * 2**30)
    found = measured({"disk": of_round({})["disk"]}, look())
    assert [one.name for one in found if not one.passed] == ["disk_free_gb"]


def failed_fresh(server: JudgeServer) -> set[str]:
    with server, judging() as environment:
        spoilt = {**environment, "SCORER_BASE_URL": server.url}
        fresh.score_fresh(look(), spoilt, print, lambda done: None)
    return {one.name for one in fresh.fresh_findings(look()) if not one.passed}


@poison("fresh/latency_min_ms")
def test_a_judge_that_answers_in_two_milliseconds(run: Path) -> None:
    """The ledger's own chain is whole; only what it says gives it away."""
    assert failed_ledger(lambda call: replace(call, latency_ms=2.0)) == {"latency_min_ms", "latency_spread"}


@poison("fresh/latency_spread")
def test_latencies_that_are_all_the_same(run: Path) -> None:
    assert failed_ledger(lambda call: replace(call, latency_ms=700.0)) == {"latency_spread"}


@poison("fresh/votes_that_differ")
def test_a_judge_that_gives_everybody_the_same(run: Path) -> None:
    same = dict.fromkeys(("logic", "clarity", "naturalness", "educational"), 7)
    assert "votes_that_differ" in failed_fresh(JudgeServer(lambda n: "slow", latency_s=0.02, scores=lambda body: same))


@poison("fresh/fresh_without_bill", "fresh/bills_that_differ")
def test_a_judge_that_bills_nothing(run: Path) -> None:
    assert {"fresh_without_bill", "bills_that_differ"} <= failed_ledger(lambda call: replace(call, billable_tokens=0))


@poison("fresh/request_ids_that_differ")
def test_one_recorded_reply_for_all(run: Path) -> None:
    assert failed_ledger(lambda call: replace(call, request_id="chatcmpl-1")) == {"request_ids_that_differ"}


@poison("fresh/fresh_from_cache")
def test_fresh_scores_out_of_the_cache(run: Path) -> None:
    assert "fresh_from_cache" in failed_ledger(lambda call: replace(call, cache_hit=True))


@poison("fresh/fresh_scored")
def test_fresh_scores_that_no_ledger_knows(run: Path) -> None:
    path = look().fresh
    lines = [replace(line, scoring=f"{line.scoring}x") for line in read_records(path, Score)]
    with open(path, "wb") as handle:
        write_records(handle, lines)
    assert "fresh_scored" in {one.name for one in fresh.fresh_findings(look()) if not one.passed}


@poison("fresh/fresh_unstable_share")
def test_a_judge_that_throws_dice(run: Path) -> None:
    random = Random(1)

    def dice(body: dict[str, Any]) -> dict[str, Any]:
        return {name: random.choice([0, 10]) for name in ("logic", "clarity", "naturalness", "educational")}

    assert "fresh_unstable_share" in failed_fresh(JudgeServer(lambda n: "slow", latency_s=0.02, scores=dice))


def failed_ledger(change: Callable[[Any], Any]) -> set[str]:
    """The fresh scorings of a ledger that was written anew, chain and all."""
    from src.scoring.ledger import Ledger, lines
    from src.scoring.types import CallEntry

    path = look().ledger
    wanted = {line.scoring for line in read_records(look().fresh, Score)}
    entries = [line.entry for line in lines(path)]
    path.unlink()
    Ledger(path).append(
        [change(one) if isinstance(one, CallEntry) and one.scoring in wanted else one for one in entries]
    )
    return {one.name for one in fresh.fresh_findings(look()) if not one.passed}


def failed_round1() -> set[str]:
    found: list[Finding] = _round1(look().profile, Manifest())
    return {one.name for one in found if not one.passed}


@poison("round1/measured")
def test_a_second_round_without_a_first(run: Path) -> None:
    assert failed_round1() == set()
    ROUND1.unlink()
    assert failed_round1() == {"measured"}


@poison("round1/measured")
def test_a_first_round_on_other_files(run: Path) -> None:
    with open(look().profile.paths.weights, "a", encoding="utf-8") as handle:
        handle.write("\n")
    assert failed_round1() == {"measured"}


@poison("round1/round1_passed", "round1/round1_of_this_profile")
def test_a_first_round_that_failed_and_one_of_another_profile(run: Path) -> None:
    first = read_round(ROUND1)
    spoilt = replace(first.findings[0], value=None, passed=False)
    write_json(ROUND1, replace(first, passed=False, findings=[spoilt, *first.findings[1:]]))
    Manifest().record([ROUND1])
    assert failed_round1() == {"round1_passed"}
    edit_profile(lambda found: found.update(name="rc1"))
    Path("configs/gates/rc1.yaml").write_bytes(Path("configs/gates/quickstart.yaml").read_bytes())
    profile = Path("configs/gates/rc1.yaml")
    print_of = {
        **first.files,
        "profile": msgspec.convert(
            {"path": str(profile), "sha256": prints.fingerprint(profile)}, type(first.files["profile"])
        ),
    }
    write_json(ROUND1, replace(first, profile="rc1", files=print_of))
    edit_profile(lambda found: found.update(name="quickstart"))
    Manifest().record([ROUND1])
    assert failed_round1() == {"round1_of_this_profile"}
