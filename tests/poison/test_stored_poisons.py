"""Poisons for calibration and shadow run: invented episodes and invented judge replies."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from askgate_env.actions import say
from askgate_env.types import Sample
from src.core.files import write_json
from src.core.jsonl import read_records, write_records
from src.gates.ticket import ROUND1, read_round
from src.reward.recorded_episodes import RecordedEpisode
from src.reward.weights import read_baseline, read_weights
from src.scoring.scores import Score
from tests.gates.run_folder import current_context, edit_profile
from tests.gates.scripted_policy import run_episode

from .forged_run import EPISODES, asked, caught, change_episodes, keep
from .table import poison

both = pytest.mark.parametrize("gate", ["calibration", "shadow"])


@both
@poison("calibration/episodes_not_played", "shadow/episodes_not_played")
def test_failures_that_were_turned_into_successes(run: Path, gate: str) -> None:
    change_episodes(
        gate, lambda one: replace(one, episode=replace(one.episode, success=not one.episode.success)), only=1
    )
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

    change_episodes(gate, polish)
    assert "episodes_not_played" in caught(gate)


@both
@poison("calibration/episodes_of_another_model", "shadow/episodes_of_another_model")
def test_episodes_of_a_better_model(run: Path, gate: str) -> None:
    change_episodes(gate, lambda one: replace(one, model="0" * 64), only=3)
    assert caught(gate) >= {"episodes_of_another_model"}


@both
@poison("calibration/episodes", "shadow/episodes")
def test_fewer_episodes_than_the_profile_requires(run: Path, gate: str) -> None:
    name = f"{gate}_episodes"
    edit_profile(lambda found: found["thresholds"]["counts"].update({name: 301}))
    assert caught(gate) == {"episodes"}


@both
@poison("calibration/not_live", "shadow/not_live")
def test_fewer_judged_episodes_than_the_profile_requires(run: Path, gate: str) -> None:
    edit_profile(lambda found: found["thresholds"]["counts"].update({f"{gate}_live": 31}))
    assert caught(gate) == {"not_live"}


@both
@poison("calibration/scores_not_proved", "shadow/scores_not_proved")
def test_scores_raised_in_their_file(run: Path, gate: str) -> None:
    path = EPISODES[gate].with_suffix(".scores.jsonl")
    lines = list(read_records(path, Score))
    raised = [replace(line, scores=dict.fromkeys(line.scores, 1.0), overall=1.0) for line in lines]
    with open(path, "wb") as handle:
        write_records(handle, raised)
    assert "scores_not_proved" in caught(gate)


@both
@poison("calibration/scores_not_proved", "shadow/scores_not_proved")
def test_scores_of_other_dialogues(run: Path, gate: str) -> None:
    """After the judge scored these, the policy's messages were replaced by those of the demonstration."""
    pool = current_context().profile.paths.pool if gate == "calibration" else current_context().profile.paths.shadow_set
    samples = {one.id: one for one in read_records(pool, Sample)}

    def shown(one: RecordedEpisode) -> RecordedEpisode:
        sample = samples[one.episode.sample_id]
        said = [say(turn) for turn in sample.dialogue if turn.by == "assistant"]
        return replace(one, episode=run_episode(sample, said, Random(1), one.episode.level))

    before_the_judge = asked(gate)
    recorded = list(read_records(EPISODES[gate], RecordedEpisode))
    keep(gate, [shown(one) if one.id in before_the_judge else one for one in recorded])
    found = caught(gate)
    assert "scores_not_proved" in found
    assert "episodes_not_played" not in found


@both
@poison("calibration/scores_not_proved", "shadow/scores_not_proved")
def test_stored_replies_that_say_something_else(run: Path, gate: str) -> None:
    with sqlite3.connect(current_context().scoring.cache) as cache:
        cache.execute("UPDATE replies SET reply = replace(reply, ': 5', ': 9')")
    assert caught(gate) == {"scores_not_proved"}


@both
@poison("calibration/episodes_not_drawn", "shadow/episodes_not_drawn")
def test_unfavourable_episodes_are_removed(run: Path, gate: str) -> None:
    """The required number of episodes is still reached."""
    edit_profile(lambda found: found["thresholds"]["counts"].update({f"{gate}_episodes": 100}))
    recorded = list(read_records(EPISODES[gate], RecordedEpisode))
    before_the_judge = asked(gate)
    spoiling = [one.id for one in recorded if not one.episode.success and one.id not in before_the_judge][:9]
    keep(gate, [one for one in recorded if one.id not in spoiling])
    assert "episodes_not_drawn" in caught(gate)


@both
@poison("calibration/episodes_not_drawn", "shadow/episodes_not_drawn")
def test_a_favourable_episode_is_repeated(run: Path, gate: str) -> None:
    recorded = list(read_records(EPISODES[gate], RecordedEpisode))
    before_the_judge = asked(gate)
    liked = next(one for one in recorded if one.episode.success and one.id not in before_the_judge)
    again = [replace(liked, id=f"{liked.episode.sample_id}/{number}") for number in range(1, 5)]
    keep(gate, [*recorded[: -len(again)], *again])
    assert "episodes_not_drawn" in caught(gate)


@both
@poison("calibration/scores_not_drawn", "shadow/scores_not_drawn")
def test_unfavourable_scores_are_removed(run: Path, gate: str) -> None:
    """The judge scored thirty episodes; every remaining line is backed by ledger and cache."""
    edit_profile(lambda found: found["thresholds"]["counts"].update({f"{gate}_live": 20}))
    path = EPISODES[gate].with_suffix(".scores.jsonl")
    lines = sorted(read_records(path, Score), key=lambda line: line.overall or 0)
    with open(path, "wb") as handle:
        write_records(handle, lines[8:])
    found = caught(gate)
    assert "scores_not_drawn" in found
    assert "scores_not_proved" not in found


@both
@poison("calibration/measured", "shadow/measured")
def test_replies_that_were_thrown_away(run: Path, gate: str) -> None:
    current_context().scoring.cache.unlink()
    assert caught(gate) == {"measured"}


@poison("calibration/episodes_of_shadow_set")
def test_weights_fitted_to_the_shadow_set(run: Path) -> None:
    change_episodes("calibration", lambda one: replace(one, split="shadow"), only=2)
    assert "episodes_of_shadow_set" in caught("calibration")


@poison("shadow/episodes_of_pool")
def test_a_shadow_run_on_the_pool(run: Path) -> None:
    change_episodes("shadow", lambda one: replace(one, split="train"), only=2)
    assert "episodes_of_pool" in caught("shadow")


@pytest.mark.parametrize(
    ("named", "limit", "by"),
    [("rank_corr_gain_pct", "rank_corr_gain_pct_min", 0.1), ("mae_change_pct", "mae_change_pct_max", -0.1)],
)
@poison("calibration/*")
def test_weights_that_gain_less_than_they_must(run: Path, named: str, limit: str, by: float) -> None:
    """Thresholds just beyond the run's figures; test_calibration_poisons changes the figures instead."""
    value = next(one.value for one in read_round(ROUND1).findings if (one.gate, one.name) == ("calibration", named))
    assert value is not None
    edit_profile(lambda found: found["thresholds"].update({limit: value + by}))
    assert caught("calibration") == {named}


@poison("shadow/spearman", "shadow/top10_overlap", "shadow/corr_improve_pct")
def test_the_old_weights_declared_as_new(run: Path) -> None:
    """They agree with themselves and predict success no better than before."""
    found, baseline = read_weights(), read_baseline()
    old = dict(zip(baseline.names, baseline.old, strict=True))
    write_json(Path("configs/weights.json"), replace(found, weights=old))
    assert caught("shadow") == {"corr_improve_pct"}
    turned = dict.fromkeys(baseline.names, 0.0) | {"economy": 0.5, "form": 0.5}
    write_json(Path("configs/weights.json"), replace(found, weights=turned))
    assert caught("shadow") >= {"spearman", "top10_overlap"}
