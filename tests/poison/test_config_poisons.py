"""Poisons for the training config: it must say what was asked for, and name the files that the gates saw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.gates.run_folder import edit_profile

from .spoilt import caught
from .table import poison

CONFIG = Path("configs/quickstart_gated.yaml")
REWARD = {"weights": "configs/weights.json", "dimensions": 0.3}


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
        pytest.param({"reward": REWARD | {"alpha": 0.0}}, "reward.alpha", id="a penalty of nothing"),
        pytest.param({"reward": REWARD | {"cap": 0}}, "reward.cap", id="a penalty that counts no ask"),
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
