"""Scored episodes are accepted complete or refused, with the episode and the dimension at fault."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from askgate_env.dimensions import LIVE
from src.core.errors import BadInput
from src.core.jsonl import read_unique
from src.reward.scored_episodes import ScoredEpisode, columns, live_check, measurable, refuse_too_little

from .scored_episodes import BASELINE, as_columns, scored, shipped_baseline, write

SHIPPED = shipped_baseline()


def changed(place: int, **dims: float) -> list[ScoredEpisode]:
    episodes = scored(40)
    episodes[place] = replace(episodes[place], dims={**episodes[place].dims, **dims})
    return episodes


def test_columns_come_in_the_order_of_the_weights_file() -> None:
    episodes = scored(40, per_sample=2)
    episodes[1] = replace(episodes[1], dims=dict(reversed(episodes[1].dims.items())), level=None)
    found = as_columns(episodes)
    assert found.matrix_ND[1].tolist() == [episodes[1].dims[name] for name in BASELINE.names]
    assert found.success_N.tolist() == [float(one.success) for one in episodes]
    assert len(set(found.source_N.tolist())) == 20
    assert (found.source_N[0::2] == found.source_N[1::2]).all()
    assert found.level_N[1] == ""


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert list(read_unique(write(tmp_path / "e.jsonl", scored(40)), ScoredEpisode)) == scored(40)


def test_missing_scores_are_refused_with_episode_and_dimension() -> None:
    episodes = scored(40)
    episodes[7] = replace(episodes[7], dims={name: 0.5 for name in BASELINE.names if name != "new_b"})
    with pytest.raises(BadInput, match="missing for 1 of 40 episodes: 'e7' lacks new_b"):
        as_columns(episodes)


def test_an_unknown_dimension_is_refused() -> None:
    with pytest.raises(BadInput, match="does not know charm"):
        as_columns(changed(3, charm=0.5))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1.2, -0.1])
def test_a_score_outside_0_to_1_is_refused(value: float) -> None:
    with pytest.raises(BadInput, match=f"new_a of episode 'e3' is {value}, not a number from 0 to 1"):
        as_columns(changed(3, new_a=value))


@pytest.mark.parametrize("text", ["NaN", "null", "1e999"])
def test_a_nan_in_the_file_is_refused_with_its_line(text: str, tmp_path: Path) -> None:
    path = write(tmp_path / "e.jsonl", changed(2, new_a=0.123456789))
    path.write_text(path.read_text().replace("0.123456789", text))
    with pytest.raises(BadInput, match=r"e\.jsonl:3: "):
        list(read_unique(path, ScoredEpisode))


@pytest.mark.parametrize("weight", [0.0, -1.0, 1.5, float("nan")])
def test_a_weight_out_of_range_is_refused(weight: float) -> None:
    episodes = scored(40)
    episodes[4] = replace(episodes[4], weight=weight)
    with pytest.raises(BadInput, match=f"weight of episode 'e4' is {weight}"):
        as_columns(episodes)


def test_fewer_than_30_samples_are_refused() -> None:
    refuse_too_little(as_columns(scored(30)), "e.jsonl")
    with pytest.raises(BadInput, match="29 different samples"):
        refuse_too_little(as_columns(scored(29)), "e.jsonl")
    with pytest.raises(BadInput, match="20 different samples"):
        refuse_too_little(as_columns(scored(60, per_sample=3)), "e.jsonl")


@pytest.mark.parametrize(("success", "told"), [(True, "all 40 episodes succeed"), (False, "all 40 episodes fail")])
def test_one_outcome_alone_is_refused(success: bool, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        refuse_too_little(as_columns([replace(one, success=success) for one in scored(40)]), "e.jsonl")


def test_one_record_without_live_scores_fails() -> None:
    episodes = scored(40)
    assert live_check(as_columns(episodes)).passed
    episodes[9] = replace(episodes[9], live=False)
    assert not live_check(as_columns(episodes)).passed


def half_judged(n: int = 40) -> list[ScoredEpisode]:
    """Episodes of which the judge scored every other one."""
    return [
        one if place % 2 else replace(one, live=False, dims={k: v for k, v in one.dims.items() if k not in LIVE})
        for place, one in enumerate(scored(n, baseline=SHIPPED))
    ]


def test_unjudged_episodes_get_the_mean_not_zero() -> None:
    episodes = half_judged()
    found = as_columns(episodes, SHIPPED)
    column = found.names.index("live_logic")
    mean = np.mean([one.dims["live_logic"] for one in episodes[1::2]])
    assert found.matrix_ND[0::2, column].tolist() == pytest.approx([mean] * 20)
    assert found.matrix_ND[1::2, column].tolist() == [one.dims["live_logic"] for one in episodes[1::2]]
    assert found.stand_in["live_logic"] == pytest.approx(mean)
    assert found.live == 20
    given = columns(episodes, SHIPPED.names, "e", dict.fromkeys(LIVE, 0.25))
    assert set(given.matrix_ND[0::2, column]) == {0.25}


def test_a_judged_episode_with_missing_scores_is_refused() -> None:
    episodes = half_judged()
    dims = {name: value for name, value in episodes[1].dims.items() if name != "live_clarity"}
    for live in (True, False):
        episodes[1] = replace(episodes[1], dims=dims, live=live)
        with pytest.raises(BadInput, match="missing for 1 of 40 episodes: 'e1' lacks live_clarity"):
            as_columns(episodes, SHIPPED)


def test_without_judge_or_substitute_live_dimensions_are_refused() -> None:
    episodes = [one for one in half_judged(80) if not one.live]
    rules = tuple(name for name in SHIPPED.names if name not in LIVE)
    assert measurable(episodes, SHIPPED.names, {}) == rules
    assert measurable(episodes, SHIPPED.names, dict.fromkeys(LIVE, 0.5)) == SHIPPED.names
    assert measurable(half_judged(), SHIPPED.names, {}) == SHIPPED.names
    with pytest.raises(BadInput, match="no episode is live-scored"):
        as_columns(episodes, SHIPPED)


def test_a_share_for_the_judge_must_be_reached() -> None:
    scores = as_columns(half_judged(), SHIPPED)
    assert live_check(scores, wanted=20).passed
    assert not live_check(scores, wanted=21).passed
    assert not live_check(scores).passed
