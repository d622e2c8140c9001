"""A package trains again behind its own ticket and ends with the same weights. Takes minutes: both rounds run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
import yaml

from src.cli import main
from src.core.errors import BadInput
from src.core.paths import GATED_CHECKPOINTS
from src.release.reproduce import check, run_again, unpacked
from tests.gates import run_folder
from tests.gates.run_folder import both_rounds, build_run

pytestmark = pytest.mark.slow
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
        data()

    monkeypatch.setattr(run_folder, "_data", with_a_model)
    build_run()
    small = yaml.safe_load(CONFIG.read_text()) | {"steps": 10, "batch_size": 8, "eval": {"n": 8, "every_steps": 10}}
    small["warm_start"] = {"steps": 2, "tokens": 8000, "batch_tokens": 2000}
    small["optimizer"] = {"critic_warmup_steps": 0, "minibatches": 1}
    CONFIG.write_text(yaml.safe_dump(small))
    assert [one.passed for one in both_rounds()] == [True, True]
    assert command("ppo_runner", "--config", str(CONFIG)) == 0
    assert command("package", "--config", str(CONFIG), "--out", "package.tgz") == 0
    assert command("reproduce", "package.tgz", "--rerun") == 0

    told: list[str] = []
    with unpacked(Path("package.tgz")) as folder:
        facts = check(folder, told.append, None)
        weights = folder / GATED_CHECKPOINTS / "final_model/model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-4] + b"\0\0\0\1")
        with pytest.raises(BadInput, match="the weights are different"):
            run_again(folder, facts, told.append)
