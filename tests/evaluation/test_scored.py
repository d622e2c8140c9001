"""Scored episodes are taken whole or refused, with the episode and the dimension at fault."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from src.core.errors import BadInput
from src.evaluation.scored import ScoredEpisode, live_check, read_scored, refuse_too_little

from .scored_episodes import BASELINE, as_columns, scored, write


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
    assert read_scored(write(tmp_path / "e.jsonl", scored(40))) == scored(40)


def test_missing_scores_are_refused_with_who_lacks_what() -> None:
    episodes = scored(40)
    episodes[7] = replace(episodes[7], dims={name: 0.5 for name in BASELINE.names if name != "new_b"})
    with pytest.raises(BadInput, match="missing for 1 of 40 episodes: 'e7' lacks new_b"):
        as_columns(episodes)


def test_a_dimension_that_the_weights_file_does_not_know_is_refused() -> None:
    with pytest.raises(BadInput, match="does not know charm"):
        as_columns(changed(3, charm=0.5))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1.2, -0.1])
def test_a_score_that_is_no_number_from_0_to_1_is_refused(value: float) -> None:
    with pytest.raises(BadInput, match=f"new_a of episode 'e3' is {value}, not a number from 0 to 1"):
        as_columns(changed(3, new_a=value))


@pytest.mark.parametrize("text", ["NaN", "null", "1e999"])
def test_a_nan_in_the_file_is_refused_with_its_line(text: str, tmp_path: Path) -> None:
    path = write(tmp_path / "e.jsonl", changed(2, new_a=0.123456789))
    path.write_text(path.read_text().replace("0.123456789", text))
    with pytest.raises(BadInput, match=r"e\.jsonl:3: "):
        read_scored(path)


@pytest.mark.parametrize("weight", [0.0, -1.0, 1.5, float("nan")])
def test_a_weight_out_of_range_is_refused(weight: float) -> None:
    episodes = scored(40)
    episodes[4] = replace(episodes[4], weight=weight)
    with pytest.raises(BadInput, match=f"weight of episode 'e4' is {weight}"):
        as_columns(episodes)


def test_fewer_than_30_samples_are_refused_however_many_episodes_they_have() -> None:
    refuse_too_little(as_columns(scored(30)), "e.jsonl")
    with pytest.raises(BadInput, match="29 different samples"):
        refuse_too_little(as_columns(scored(29)), "e.jsonl")
    with pytest.raises(BadInput, match="20 different samples"):
        refuse_too_little(as_columns(scored(60, per_sample=3)), "e.jsonl")


@pytest.mark.parametrize(("success", "told"), [(True, "all 40 episodes succeed"), (False, "all 40 episodes fail")])
def test_one_outcome_alone_is_refused(success: bool, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        refuse_too_little(as_columns([replace(one, success=success) for one in scored(40)]), "e.jsonl")


def test_one_record_that_was_not_scored_live_is_enough_to_fail() -> None:
    episodes = scored(40)
    assert live_check(as_columns(episodes)).passed
    episodes[9] = replace(episodes[9], live=False)
    assert not live_check(as_columns(episodes)).passed
