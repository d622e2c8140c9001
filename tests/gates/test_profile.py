"""Profiles are data: complete, strict, and with the same quality thresholds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from src.config.loader import load_train_config, read_yaml
from src.config.profile import NAMES, ledgers, load_profile, scoring_for
from src.core.errors import BadInput
from src.gates.ambers import weaker_thresholds
from tests.gates.run_folder import ROOT

OTHERWISE: dict[str, Any] = {
    "counts": True, "disk_free_gb_min": True, "config": True, "judge": {"required"}, "calibration": {"l2"},
    "trial_required": True,
}  # fmt: skip
"""Differences between the profiles: sizes, machine, training config, whether a judge that does not read is red, and how
close the fitted weights stay to the old ones, and whether a trial comes before the training."""


def test_both_profiles_ask_for_the_same_quality() -> None:
    quickstart, rc1 = (load_profile(name).thresholds.model_dump(exclude=OTHERWISE) for name in NAMES)
    assert quickstart == rc1


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
def test_an_invalid_threshold_is_refused_with_its_path(
    change: dict[str, object], where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = yaml.safe_load((ROOT / "configs/gates/rc1.yaml").read_text(encoding="utf-8"))
    found["thresholds"] |= change
    Path("configs/gates").mkdir(parents=True)
    Path("configs/gates/rc1.yaml").write_text(yaml.safe_dump(found), encoding="utf-8")
    with pytest.raises(BadInput, match=where):
        load_profile("rc1")


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("pool", "leak_ngram", -1),
        ("pool", "leak_ngram", 0),
        ("pool", "max_len", 0),
        ("pool", "max_dup_pct", -2.0),
        ("difficulty", "turns_max", -8),
        ("config", "target_kl_max", -0.05),
    ],
)
def test_an_out_of_range_threshold_is_refused_with_path(
    section: str, key: str, value: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An n-gram of -1 tokens would be no threshold but a crash."""
    monkeypatch.chdir(tmp_path)
    found = yaml.safe_load((ROOT / "configs/gates/rc1.yaml").read_text(encoding="utf-8"))
    found["thresholds"][section][key] = value
    Path("configs/gates").mkdir(parents=True)
    Path("configs/gates/rc1.yaml").write_text(yaml.safe_dump(found), encoding="utf-8")
    with pytest.raises(BadInput, match=rf"{section}\.{key}: it should be greater than or equal to"):
        load_profile("rc1")


def test_a_profile_under_the_name_of_another_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("configs/gates").mkdir(parents=True)
    other = read_yaml(ROOT / "configs/gates/quickstart.yaml")
    Path("configs/gates/rc1.yaml").write_text(yaml.safe_dump(other), encoding="utf-8")
    with pytest.raises(BadInput, match="says that it is 'quickstart'"):
        load_profile("rc1")
    with pytest.raises(BadInput, match="there is no profile"):
        load_profile("mine")


def test_fewer_fresh_samples_than_shipped_are_weaker_thresholds() -> None:
    profile = load_profile("rc1")
    fewer = profile.model_copy(update={"sizes": profile.sizes.model_copy(update={"fresh": 1})})
    assert weaker_thresholds(profile) == []
    assert weaker_thresholds(fewer) == ["sizes.fresh is 1, shipped 50"]


@pytest.mark.parametrize(
    ("config", "ledger"),
    [
        ("configs/ppo_scale.yaml", "scoring_ledger.jsonl"),
        ("configs/quickstart_gated.yaml", "quickstart_scoring_ledger.jsonl"),
        ("configs/quickstart.yaml", "local_scoring_ledger.jsonl"),
        ("configs/train_local.yaml", "local_scoring_ledger.jsonl"),
    ],
)
def test_scores_of_an_unprofiled_config_have_their_own_ledger(config: str, ledger: str) -> None:
    """A paid judge that scores episodes of quickstart.yaml by hand does not mix with the quickstart's judge."""
    found = scoring_for(load_train_config(Path(config)), Path(config))
    assert found.ledger == Path("reports/rc1") / ledger
    assert found.ledger in ledgers()
