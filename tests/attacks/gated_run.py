"""A small gated run, trained for real, and what a forger does to make its records fit."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from src.checkpoint.seal import COMPLETE, SEAL_FILE, read_seal, seal
from src.config.train_config import TrainConfig
from src.core.files import sha256_file
from src.core.paths import GATED_CHECKPOINTS, run_of
from src.gates import manifest
from src.gates.admission import Admission
from src.gates.manifest import newest_evaluation
from src.gates.ticket import TICKET
from src.training.preflight import preflight
from src.training.results import write_results
from src.training.resume import source_hashes
from src.training.run import run
from tests.gates.run_folder import edit_profile
from tests.training.tiny_run import make_model_and_data, write_config

ROOT = Path(__file__).resolve().parents[2]
MODEL = Path("checkpoints/rc1/final_model")
TRAINED, BASE = Path("logs/eval/step_00003.jsonl"), Path("logs/eval/step_00000.jsonl")


def write_ticket(config: str = "own.yaml") -> None:
    """A ticket for that config, as far as the results depend on one."""
    Path("configs/gates").mkdir(parents=True)
    for name in ("rc1", "quickstart"):
        shutil.copy(ROOT / f"configs/gates/{name}.yaml", "configs/gates")
    edit_profile(lambda found: found["paths"].update(config=config))
    TICKET.parent.mkdir(parents=True)
    facts = {"round": "round2", "pass": True, "profile": "quickstart", "ledger": {"lines": 0, "hash": ""}}
    texts = dict.fromkeys(("ts", "started", "version", "run", "after"), "")
    TICKET.write_text(json.dumps({**facts, **texts, "files": {}, "findings": [], "environment": {}}))


def train_gated(folder: Path, held_out_samples: int = 8, **changes: Any) -> Path:
    """A small run that was trained with a ticket; the ticket itself is another test's matter."""
    make_model_and_data(folder, held_out_samples)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("HF_HUB_OFFLINE", "1")
        config = write_config(folder, **{"steps": 3, "lr": 0.05, "eval": {"every_steps": 3}} | changes)
        write_ticket()
        sources = source_hashes(preflight(config))
        run(config, False, Admission("quickstart", sha256_file(TICKET), "run", sources))
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)
    return folder


@pytest.fixture(scope="session")
def gated_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished gated run. Tests must not write there."""
    return train_gated(tmp_path_factory.mktemp("trained"))


@pytest.fixture
def place(gated_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the finished gated run as the working folder."""
    shutil.copytree(gated_run, tmp_path, dirs_exist_ok=True, symlinks=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def silent(text: str) -> None:
    pass


def reseal(folder: Path) -> None:
    marks, step = read_seal(folder).marks, read_seal(folder).step
    for name in (SEAL_FILE, COMPLETE):
        (folder / name).unlink()
    seal(folder, step, marks)


def record(*files: Path) -> None:
    """The forger also appends to the manifest, so that every checksum fits."""
    run = run_of(GATED_CHECKPOINTS)
    manifest.Manifest().record([file if file.is_relative_to(run) else run / file for file in files])


def report_again() -> Path:
    """Writes the report again from what is there now."""
    path = newest_evaluation()
    assert path
    config = TrainConfig.model_validate(json.loads(path.read_text())["config"])
    write_results(config, path.stem.removeprefix("ppo_eval_"))
    return path
