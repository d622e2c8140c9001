"""A package trains again with its own ticket and ends with the same weights. Takes minutes: both rounds run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
import yaml

from src.cli import main
from src.config.profile import load_profile
from src.core.errors import BadInput
from src.core.paths import GATED_CHECKPOINTS
from src.gates.ambers import open_ambers
from src.release.reproduce import check, run_again, unpacked
from tests.gates import run_folder
from tests.gates.run_folder import (
    COUNTS,
    PROFILE,
    both_rounds,
    build_run,
    edit_profile,
    small_thresholds_are_shipped,
)
from tests.in_process import run_here

pytestmark = pytest.mark.slow
LENIENT = {
    "counts": {**COUNTS, "eval_samples": 8},
    "need_ask_pp_min": -100,
    "overclar_change_pct_max": 1000,
    "turns_change_max": 100,
    "hard_pp_min": -100,
}
"""Thresholds that ten steps on eight samples reach: this test is about the weights."""
TINY = Path(__file__).resolve().parents[2] / "models/tiny"
CONFIG = Path("configs/quickstart_gated.yaml")


def command(*arguments: str) -> object:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    return left.value.code


def test_the_same_weights_come_out_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.set_num_threads(1)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.chdir(tmp_path)
    data = run_folder._data

    def with_a_model() -> None:
        """Replaces the placeholder folder of the scripted run with a model that can be trained."""
        shutil.copytree(TINY, run_folder.MODEL, dirs_exist_ok=True)
        edit_profile(lambda found: found["thresholds"].update(LENIENT))
        data()

    monkeypatch.setattr(run_folder, "_data", with_a_model)
    build_run()
    small_thresholds_are_shipped(monkeypatch)
    small = yaml.safe_load(CONFIG.read_text()) | {"steps": 10, "batch_size": 8, "eval": {"n": 8, "every_steps": 10}}
    small["warm_start"] = {"steps": 2, "tokens": 8000, "batch_tokens": 2000}
    small["optimizer"] = {"critic_warmup_steps": 0, "minibatches": 1}
    CONFIG.write_text(yaml.safe_dump(small))
    assert [one.to_do for one in both_rounds()] == [(), ()]
    assert command("ppo_runner", "--config", str(CONFIG)) == 0
    for one in open_ambers(load_profile(PROFILE)):
        assert command("sign-off", "--amber", one.name, "--by", "Ada", "--reason", "a test") == 0
    assert command("package", "--out", "package.tgz") == 0
    # In another process the thresholds would be weaker than the shipped ones.
    monkeypatch.setattr("src.release.reproduce.subprocess.run", run_here)
    assert command("reproduce", "package.tgz", "--rerun") == 0

    told: list[str] = []
    with unpacked(Path("package.tgz")) as folder:
        facts = check(folder, told.append, None)
        weights = folder / GATED_CHECKPOINTS / "final_model/model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-4] + b"\0\0\0\1")
        with pytest.raises(BadInput, match="the weights are different"):
            run_again(folder, facts, told.append)
