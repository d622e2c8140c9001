"""Each number of the founding documents, compared with the profile or config that a run uses."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from src.config.loader import load_config, load_train_config
from src.config.profile import Thresholds, load_profile
from src.config.train_config import CheckpointSection, RewardSection
from src.core.defaults import MIX_TOLERANCE
from src.data.difficulty import metrics
from src.data.difficulty.validate_difficulty import EASY_OVERLAP_MIN, HARD_OVERLAP_MAX
from src.data.pool.build import EVAL, TRAIN
from src.data.pool.templates import load_pack
from src.gates.anti_simulation import WINDOW
from src.loop.kpi import measure
from src.runtime.failpack import LINES

ROOT = Path(__file__).resolve().parents[1]
RC1 = load_profile("rc1")
PPO_SCALE = load_train_config(ROOT / "configs/ppo_scale.yaml")


def test_of_a_pool() -> None:
    wanted = {"min_distinct2": 0.60, "kl3_min": 0.15, "roles_min": 4, "styles_min": 3, "max_dup_pct": 2.0,
              "max_len": 4096, "min_len": 64, "leak_ngram": 5, "leak_sim": 0.85}  # fmt: skip
    assert RC1.thresholds.pool.model_dump(exclude={"max_shortcut_auc"}) == wanted
    assert pytest.approx(0.03) == MIX_TOLERANCE
    assert 20_000 <= RC1.thresholds.counts.pool_samples <= RC1.sizes.pool == 30_000 <= 40_000
    assert RC1.sizes.shadow == RC1.thresholds.counts.shadow_samples == 245


def test_of_a_template_pack() -> None:
    """Seed 002, phase 1: templates per task, roles, registers."""
    pack = load_pack(ROOT / "templates/pack_v2")
    for group in [*pack.tasks.values(), *pack.clarify.values()]:
        for templates in group.values():
            assert len(templates) >= 6
            assert len({one.role for one in templates}) >= 4
            assert len({one.register for one in templates}) >= 3


def test_of_difficulty() -> None:
    wanted = {"min_hard_pct": 0.30, "max_easy_pct": 0.30, "len_max": 3500, "turns_max": 8, "tool_hops_max": 8,
              "clue_overlap_max_easy": 0.65, "clue_overlap_min_hard": 0.10}  # fmt: skip
    assert RC1.thresholds.difficulty.model_dump() == wanted
    assert (HARD_OVERLAP_MAX, EASY_OVERLAP_MIN) == (0.20, 0.40)


@pytest.mark.parametrize(
    ("dimension", "last_easy", "last_medium"),
    [
        ("len_tokens", 199, 600),
        ("turns", 2, 4),
        ("tool_hops", 1, 3),
        ("ops_numeric", 1, 3),
        ("entities", 3, 6),
    ],
)
def test_of_the_table_of_buckets(dimension: str, last_easy: int, last_medium: int) -> None:
    """Seed 001: the highest value that is easy, and the highest that is medium."""
    counts = (last_easy, last_easy + 1, last_medium, last_medium + 1)
    assert [metrics.rising_points(dimension, count) for count in counts] == [0, 1, 1, 2]


def test_of_the_other_rows_of_that_table() -> None:
    assert (metrics.CONNECTOR_DENSITY_MEDIUM, metrics.CLUE_OVERLAP_MEDIUM) == ((3.0, 6.0), (0.20, 0.40))
    assert metrics.TURNS_OF_HARD_CLARIFICATION == 4


def test_of_votes_and_their_service() -> None:
    scoring = load_config().scoring
    assert (scoring.votes.k, scoring.votes.variance_max, scoring.ttl_days) == (3, 0.08, 14)
    assert (scoring.limits.concurrency_min, scoring.limits.concurrency_max) == (2, 8)


def test_of_simulated_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = RC1.thresholds
    assert (limits.cache_hit_lt_round1, limits.cache_hit_lt_round2, RC1.sizes.probe) == (0.90, 0.95, 8)
    assert WINDOW == 100
    monkeypatch.chdir(tmp_path)
    alarm = measure(RC1, None)["engineering"]["cache_hit_rate"].alarm
    assert alarm is not None
    assert (alarm.rule, alarm.limit) == (">=", 0.95)


def test_of_the_reward() -> None:
    limits = RC1.thresholds
    assert (limits.spearman_min, limits.top10_min, limits.corr_improve_pct_min) == (0.75, 0.70, 10.0)
    assert (limits.rank_corr_gain_pct_min, limits.mae_change_pct_max, limits.weight_max) == (8.0, -5.0, 0.5)
    assert limits.calibration.model_dump() == {"cv": 5, "boot": 200, "l2": 0.1, "seed": 42}


def test_of_the_penalty() -> None:
    price, limits = load_config().overclar, RC1.thresholds
    assert (price.alpha, price.cap) == (PPO_SCALE.reward.alpha, PPO_SCALE.reward.cap) == (0.07, 3)
    assert (limits.overclar_change_pct_max, limits.turns_change_max, limits.success_drop_points_max) == (-20, 0, 1)


@pytest.mark.parametrize(("rate", "taken"), [(0.02, True), (0.05, True), (0.06, False), (1.0, False)])
def test_of_a_small_over_clarification_rate(rate: float, taken: bool) -> None:
    """From this rate on, the relative fall counts: a high one would switch that gate off."""
    assert RC1.thresholds.overclar_small == 0.02
    with nullcontext() if taken else pytest.raises(ValueError, match="overclar_small"):
        found = Thresholds.model_validate(RC1.thresholds.model_dump() | {"overclar_small": rate})
        assert found.overclar_small == rate


def test_of_the_trial() -> None:
    limits = RC1.thresholds
    assert (limits.need_ask_pp_min, limits.hard_pp_min) == (5.0, 5.0)
    assert limits.config.trial_steps_min == 5_000


def test_of_the_run_at_scale() -> None:
    wanted = RC1.thresholds.config
    assert (wanted.steps_min, wanted.seeds_min, wanted.qlora, wanted.live_mode) == (50_000, 3, True, True)
    assert (wanted.target_kl_min, wanted.target_kl_max) == (0.02, 0.05)
    assert wanted.datasets == {"hotpotqa": 0.45, "strategyqa": 0.30, "gsm8k": 0.25}
    assert RC1.thresholds.disk_free_gb_min == 50.0
    assert PPO_SCALE.checkpoint.every_steps == 1000


@pytest.mark.parametrize(("beta", "taken"), [(0.05, True), (0.10, True), (0.0, True), (0.04, False), (0.11, False)])
def test_of_the_difficulty_weight(beta: float, taken: bool) -> None:
    if taken:
        assert RewardSection(difficulty_beta=beta).difficulty_beta == beta
    else:
        with pytest.raises(ValueError, match="difficulty_beta"):
            RewardSection(difficulty_beta=beta)


@pytest.mark.parametrize(("minutes", "taken"), [(29, False), (30, True), (60, True), (61, False)])
def test_of_minutes_between_checkpoints(minutes: float, taken: bool) -> None:
    if taken:
        assert CheckpointSection(every_minutes=minutes).every_minutes == minutes
    else:
        with pytest.raises(ValueError, match="every_minutes"):
            CheckpointSection(every_minutes=minutes)


def test_of_logs_and_of_the_smallest_data() -> None:
    assert LINES == 200
    assert TRAIN >= 100
    assert EVAL >= 30
