"""Profiles are data: complete, strict, and alike in what they ask of quality."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from src.config.profile import NAMES, load_profile
from src.core.errors import BadInput
from tests.gates.run_folder import ROOT

MACHINE = {"counts", "disk_free_gb_min", "config"}
"""What profiles may differ in: sizes, the machine and the training config."""


def test_both_profiles_ask_for_the_same_quality() -> None:
    quickstart, rc1 = (load_profile(name).thresholds.model_dump(exclude=MACHINE) for name in NAMES)
    assert quickstart == rc1


def test_rc1_asks_for_the_owners_numbers() -> None:
    wanted = load_profile("rc1").thresholds
    assert (wanted.spearman_min, wanted.top10_min, wanted.corr_improve_pct_min) == (0.75, 0.70, 10.0)
    assert (wanted.rank_corr_gain_pct_min, wanted.mae_change_pct_max) == (8.0, -5.0)
    assert (wanted.overclar_change_pct_max, wanted.turns_change_max, wanted.success_drop_points_max) == (
        -20.0,
        0.0,
        1.0,
    )
    assert (wanted.cache_hit_lt_round1, wanted.cache_hit_lt_round2, wanted.weight_max) == (0.90, 0.95, 0.5)
    assert (wanted.pool.min_distinct2, wanted.pool.kl3_min, wanted.pool.max_dup_pct) == (0.60, 0.15, 2.0)
    assert (wanted.difficulty.min_hard_pct, wanted.difficulty.max_easy_pct) == (0.30, 0.30)
    assert (wanted.disk_free_gb_min, wanted.config.steps_min, wanted.config.seeds_min) == (50.0, 50_000, 3)
    assert wanted.config.qlora
    assert wanted.config.datasets == {"hotpotqa": 0.45, "strategyqa": 0.30, "gsm8k": 0.25}


def test_rc1_names_the_seeds_files() -> None:
    paths = load_profile("rc1").paths
    assert str(paths.pool) == "data/rollouts/rc1_seed.jsonl"
    assert str(paths.shadow_set) == "data/shadow_eval_245.jsonl"
    assert (str(paths.config), str(paths.weights)) == ("configs/ppo_scale.yaml", "configs/weights.json")


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"spearman_minimum": 0.1}, "spearman_minimum"),
        ({"spearman_min": "high"}, "spearman_min"),
        ({"weight_max": 1.5}, "weight_max"),
    ],
)
def test_a_threshold_that_is_none_is_refused_with_its_path(
    change: dict[str, object], where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = yaml.safe_load((ROOT / "configs/gates/rc1.yaml").read_text(encoding="utf-8"))
    found["thresholds"] |= change
    Path("configs/gates").mkdir(parents=True)
    Path("configs/gates/rc1.yaml").write_text(yaml.safe_dump(found), encoding="utf-8")
    with pytest.raises(BadInput, match=where):
        load_profile("rc1")


def test_a_profile_under_the_name_of_another_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("configs/gates").mkdir(parents=True)
    Path("configs/gates/rc1.yaml").write_bytes((ROOT / "configs/gates/quickstart.yaml").read_bytes())
    with pytest.raises(BadInput, match="says that it is 'quickstart'"):
        load_profile("rc1")
    with pytest.raises(BadInput, match="there is no profile"):
        load_profile("mine")
