"""The new reward: calibrated weights over the dimensions of an episode; dimensions without weight cost nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from askgate_env import reward as advanced_reward_system
from askgate_env.dimensions import LIVE
from askgate_env.episode_view import EpisodeView, view_episode
from askgate_env.reward import BY_RULE, NAMES, AdvancedReward
from src.core.errors import BadInput
from src.reward.weights import load_dimensions, read_baseline
from tests.data.samples import make_sample

from .dialogues import run_episode

SAMPLE = make_sample("eggs", "A box holds twelve eggs. How many eggs are in 7 boxes?", answer="84")
EPISODE = run_episode(SAMPLE, ["<calc>12 * 7</calc>", "<answer>84</answer>"])
JUDGED = {"logic": 0.9, "clarity": 0.8, "naturalness": 0.7, "educational": 0.6}


def weights_file(folder: Path, weights: dict[str, float]) -> Path:
    path = folder / "weights.json"
    path.write_text(json.dumps({"weights": weights}))
    return path


def load(path: Path, scale: float = 1.0) -> AdvancedReward:
    return load_dimensions(path, scale, weight_max=0.5)


def test_terms_are_weight_times_value_and_sum_to_the_reward(tmp_path: Path) -> None:
    path = weights_file(tmp_path, {"support": 0.4, "economy": 0.3, "logic_rigor": 0.2, "live_logic": 0.1})
    terms = load(path)(EPISODE, SAMPLE, JUDGED)
    seen = view_episode(EPISODE, SAMPLE)
    assert terms == pytest.approx(
        {
            "support": 0.4,
            "economy": 0.3,
            "logic_rigor": 0.2 * BY_RULE["logic_rigor"](seen),
            "live_logic": 0.1 * JUDGED["logic"],
        }
    )
    assert 0 <= sum(terms.values()) <= 1


def test_unjudged_episodes_get_the_mean_judge_scores(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    weights = {"support": 0.5, "form": 0.25, "live_clarity": 0.25}
    path.write_text(json.dumps({"weights": weights, "stand_in": {"live_clarity": 0.1}}))
    reward = load(path)
    unasked = reward(EPISODE, SAMPLE)
    assert unasked["live_clarity"] == pytest.approx(0.025)
    assert unasked == pytest.approx(reward(EPISODE, SAMPLE, {**JUDGED, "clarity": 0.1}))


@pytest.mark.parametrize("value", ["1.5", "-0.1", "1e999"])
def test_a_substitute_score_out_of_range_is_refused(value: str, tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_text(f'{{"weights": {{"support": 0.5, "form": 0.5}}, "stand_in": {{"live_clarity": {value}}}}}')
    with pytest.raises(BadInput, match=r"weights\.json"):
        load(path)


def test_unjudged_episodes_are_rated_by_rules_at_full_scale(tmp_path: Path) -> None:
    reward = load(weights_file(tmp_path, {"support": 0.5, "form": 0.25, "live_clarity": 0.25}), scale=2.0)
    assert reward.wants_judge
    assert reward(EPISODE, SAMPLE) == pytest.approx({"support": 4 / 3, "form": 2 / 3})
    assert sum(reward(EPISODE, SAMPLE, JUDGED).values()) == pytest.approx(2 * (0.75 + 0.25 * JUDGED["clarity"]))


def test_dimensions_without_weight_are_not_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def computed(seen: EpisodeView) -> float:
        raise AssertionError("this dimension has no weight")

    kept = {"support": BY_RULE["support"], "form": BY_RULE["form"]}
    monkeypatch.setattr(advanced_reward_system, "BY_RULE", {**dict.fromkeys(BY_RULE, computed), **kept})
    weights = {**dict.fromkeys(NAMES, 0.0), "support": 0.5, "form": 0.5}
    reward = load(weights_file(tmp_path, weights))
    assert not reward.wants_judge
    assert reward(EPISODE, SAMPLE) == {"support": 0.5, "form": 0.5}


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({"support": 0.5, "form": 0.5, "charm": 0.0}, "there is no dimension charm"),
        ({"support": 0.5, "form": 0.4}, "sum to 0.9"),
        ({"support": 0.5, "form": 0.6, "asking": -0.1}, "asking has -0.1"),
        ({"support": 0.6, "form": 0.4}, "support has 0.6"),
    ],
)
def test_weights_that_are_not_weights_are_refused(tmp_path: Path, weights: dict[str, float], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        load(weights_file(tmp_path, weights))


def test_the_baseline_names_every_dimension() -> None:
    baseline = read_baseline()
    assert set(baseline.names) == set(NAMES)
    assert set(LIVE) <= set(baseline.new)
