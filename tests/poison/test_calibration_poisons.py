"""The gates of calibration and shadow run: each rejects input that misses only its threshold."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from src.core.check import Check, remedies
from src.core.defaults import BASELINE
from src.core.errors import BadInput
from src.reward import calibration as calib
from src.reward.scored_episodes import ScoredEpisode
from src.reward.shadow_run import agreement, agreement_checks
from src.reward.weights import read_weights
from tests.rc1 import CALIBRATION, THRESHOLDS
from tests.reward.scored_episodes import FIRST, SECOND, scored, shipped_baseline, two_scores, write

from .table import poison, twin

SHIPPED = shipped_baseline()
OLD, NEW = tuple(SHIPPED.weights), SHIPPED.new


def failed(checks: list[Check]) -> set[str]:
    return {one.name for one in checks if not one.passed}


def honest(n: int = 240, **changes: Any) -> list[ScoredEpisode]:
    return scored(n, baseline=SHIPPED, **changes)


def calibrated(episodes: list[ScoredEpisode], folder: Path) -> set[str]:
    """Names of the failed gates."""
    file = write(folder / "episodes.jsonl", episodes)
    settings = CALIBRATION | {"boot": 10}
    with chdir(folder):
        report, _ = calib.weight_calib(file, BASELINE, **settings, limits=THRESHOLDS, out=folder / "weights.json")
    assert report.passed == (not failed(report.checks))
    return failed(report.checks)


def with_dims(episodes: list[ScoredEpisode], change: Any) -> list[ScoredEpisode]:
    return [
        replace(one, dims={name: float(change(name, value, one)) for name, value in one.dims.items()})
        for one in episodes
    ]


class TestCalibration:
    @twin("calibration")
    def test_dimensions_that_predict_success_better_are_accepted(self, tmp_path: Path) -> None:
        assert calibrated(honest(), tmp_path) == set()
        assert read_weights(tmp_path / "weights.json", THRESHOLDS.weight_max).calibrated

    @poison("calibration/rank_corr_gain")
    def test_outcomes_unrelated_to_every_dimension_are_rejected(self, tmp_path: Path) -> None:
        """Weights fitted to random outcomes look better only on the data they were fitted on."""
        many = honest(2400)
        shuffled = np.random.default_rng(2).permutation([one.success for one in many])
        spoilt = [replace(one, success=bool(right)) for one, right in zip(many, shuffled, strict=True)]
        assert "rank_corr_gain" in calibrated(spoilt, tmp_path)

    @poison("calibration/rank_corr_gain_pct")
    def test_new_dimensions_that_only_shift_the_level_are_rejected(self, tmp_path: Path) -> None:
        """Success is rare: dimensions that are always 0 lower the error without ranking any episode."""
        few = [replace(one, success=one.success and place % 4 == 0) for place, one in enumerate(honest(old_knows=0.6))]
        level = with_dims(few, lambda name, value, one: one.dims[OLD[0]] if name in OLD else 0.0)
        assert calibrated(level, tmp_path) == {"rank_corr_gain_pct"}

    @poison("calibration/mae_change_pct")
    def test_scores_that_rank_well_but_predict_badly_are_rejected(self, tmp_path: Path) -> None:
        timid = with_dims(honest(), lambda name, value, one: 0.5 + 0.02 * (value - 0.5))
        assert calibrated(timid, tmp_path) == {"mae_change_pct"}

    def test_uncorrelated_old_weights_must_be_beaten_by_a_margin(self, tmp_path: Path) -> None:
        """A percentage of 0 is meaningless, so the new weights must be better by 0.05."""
        assert calibrated(honest(2400, old_knows=0.0), tmp_path) == set()
        assert "rank_corr_gain" in calibrated(honest(2400, old_knows=0.0, new_knows=0.0), tmp_path)

    @poison("calibration/not_live")
    def test_one_score_that_is_not_live_is_rejected(self, tmp_path: Path) -> None:
        episodes = honest()
        episodes[100] = replace(episodes[100], live=False)
        assert calibrated(episodes, tmp_path) == {"not_live"}

    def test_a_dimension_that_is_the_outcome_does_not_get_everything(self, tmp_path: Path) -> None:
        leaked = with_dims(honest(), lambda name, value, one: one.success if name == "support" else value)
        calibrated(leaked, tmp_path)
        assert read_weights(tmp_path / "weights.json").weights["support"] == 0.5

    @poison("calibration/episodes_of_shadow_set")
    def test_episodes_of_the_shadow_set_are_refused(self, tmp_path: Path) -> None:
        episodes = honest()
        episodes[5] = replace(episodes[5], split="shadow")
        with pytest.raises(BadInput, match="1 episodes are of the shadow set"):
            calibrated(episodes, tmp_path)
        assert not (tmp_path / "weights.json").exists()


RNG = np.random.default_rng(11)
N = 300
BASE, OWN = RNG.normal(size=(2, N))
LUCK = RNG.normal(size=N)


def shadowed(old: Any, new: Any, success: Any) -> set[str]:
    found = agreement(two_scores(old, new, success), FIRST, SECOND, seed=1)
    return failed(agreement_checks(found, THRESHOLDS))


class TestShadowRun:
    better = BASE + 0.25 * OWN
    right = BASE + 0.9 * OWN + LUCK > 0

    @twin("shadow")
    def test_a_score_that_refines_the_old_one_is_accepted(self) -> None:
        assert shadowed(BASE, self.better, self.right) == set()

    @poison("shadow/spearman")
    def test_a_score_with_another_order_below_the_top_is_rejected(self) -> None:
        top = np.quantile(BASE, 0.85) < BASE
        other = np.where(top, BASE + 10, 0.5 * BASE + OWN)
        assert shadowed(BASE, other, self.right) == {"spearman"}

    @poison("shadow/top10_overlap")
    def test_a_score_that_reverses_the_top_is_rejected(self) -> None:
        edge = np.quantile(BASE, 0.82)
        turned = np.where(edge < BASE, 10 - BASE, self.better)
        assert shadowed(BASE, turned, self.right) == {"top10_overlap"}

    @poison("shadow/corr_improve_pct")
    def test_a_renamed_old_score_is_rejected(self) -> None:
        assert shadowed(BASE, np.tanh(BASE), self.right) == {"corr_improve_pct"}

    @poison("shadow/spearman", "shadow/top10_overlap", "shadow/corr_improve_pct")
    def test_constant_scores_are_rejected_by_every_gate(self) -> None:
        flat = np.full(N, 0.7)
        assert shadowed(flat, flat, self.right) == {"spearman", "top10_overlap", "corr_improve_pct"}

    @poison("shadow/top10_overlap")
    def test_ties_sorted_by_line_do_not_count_as_overlap(self) -> None:
        """Sorted by line number, both would put the same lines of the upper group first."""
        coarse = (BASE > 0).astype(float)
        assert "top10_overlap" in shadowed(coarse, coarse, self.right)

    @poison("shadow/top10_overlap")
    def test_a_top_that_agrees_only_by_line_order_is_rejected(self) -> None:
        first = np.sort(BASE)[::-1]
        rough = np.round(first)
        assert "top10_overlap" in shadowed(rough, rough + 0.0, self.right)

    def test_an_uncorrelated_old_score_must_be_beaten_by_a_margin(self) -> None:
        blind = OWN > 0.1 * BASE
        assert shadowed(BASE, self.better, blind) == set()
        assert shadowed(BASE, np.tanh(BASE), blind) == {"corr_improve"}


@pytest.mark.parametrize(
    "weights",
    [{"a": 0.5, "b": 0.4}, {"a": 0.5, "b": 0.6, "c": -0.1}, {"a": 0.51, "b": 0.49}, {"a": 0.5, "b": 0.500002}],
)
@poison("weights/weights_off_one", "weights/weight_smallest", "weights/weight_largest")
def test_invalid_weights_are_refused(weights: dict[str, float], tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_text(str({"weights": weights}).replace("'", '"'))
    with pytest.raises(BadInput):
        read_weights(path, THRESHOLDS.weight_max)


def test_every_remedy_comes_in_both_languages() -> None:
    for english, chinese in remedies("reward").values():
        assert english.isascii()
        assert any("\u4e00" <= letter <= "\u9fff" for letter in chinese)
