"""A fresh checkout with a few changed configs, and the environment in which its commands run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
BEYOND_A_TINY_RUN: dict[str, Any] = {
    "rank_corr_gain_pct_min": -1e9,
    "mae_change_pct_max": 1e9,
    "spearman_min": -1.0,
    "top10_min": 0.0,
    "corr_improve_pct_min": -1e9,
    "overclar_change_pct_max": 1e9,
    "turns_change_max": 1e9,
    "success_drop_points_max": 100.0,
    "disk_free_gb_min": 1.0,
    "judge": {"required": False},
    "trial_required": False,
}
"""Thresholds of a profile that a tiny judge and a tiny policy reach on a small disk, whatever they do."""


def fresh_checkout(target: Path) -> Path:
    """Copies all files that git tracks, in their current state. The judge gives one vote instead of three."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    change(target / "configs/default.yaml", {"scoring": {"votes": {"k": 1, "k_max": 1}}})
    return target


def change(path: Path, values: dict[str, Any]) -> None:
    def merge(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
        return old | {
            key: merge(old.get(key, {}), value) if isinstance(value, dict) else value for key, value in new.items()
        }

    path.write_text(yaml.safe_dump(merge(yaml.safe_load(path.read_text()), values), sort_keys=False))


def environment() -> dict[str, str]:
    """The environment variables of the work orders, with the local judge."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SCORER_")}
    path = os.pathsep.join([str(Path(sys.executable).parent), kept["PATH"]])
    return {**kept, "PATH": path, "RUN_MODE": "prod", "REWARD_LIVE_MODE": "1", "SCORER_PROVIDER": "local"}
