"""A run with a ticket: the same training, in its own place, and marked as what a gate has seen."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from msgspec.structs import replace

from src.cli.train_gated import require_ours
from src.cli.train_run import run as train
from src.core.errors import BadInput
from src.core.files import sha256_file
from src.core.sealed import read_seal
from src.evaluation.record import model_sha256
from src.gates.admit import Admission
from tests.cli.training import furnish, write_config

TICKET = "a" * 64


def admitted(config: Path) -> Admission:
    """For the files as they are now."""
    stands_on = {
        "config": sha256_file(config),
        "base_model": model_sha256(Path("model")),
        "seed_pool": sha256_file(Path("data/pool.jsonl")),
        "shadow_set": sha256_file(Path("data/shadow.jsonl")),
    }
    return Admission("quickstart", TICKET, "b" * 32, stands_on)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    torch.set_num_threads(1)
    furnish(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_gated_run_is_marked_and_has_its_own_checkpoints(folder: Path) -> None:
    config = write_config(folder, steps=2)
    train(config, False, admitted(config))
    assert not Path("checkpoints/local").exists()
    marks = read_seal(Path("checkpoints/rc1/latest")).marks
    assert marks["gated"] is True
    assert marks["releasable"] is True
    assert marks["ticket"] == TICKET
    assert marks["profile"] == "quickstart"
    report = json.loads(next(Path("reports").glob("ppo_eval_*.json")).read_text())
    assert (report["gated"], report["ticket"]) == (True, TICKET)

    again = write_config(folder, steps=3)
    train(again, True, admitted(again))
    assert read_seal(Path("checkpoints/rc1/latest")).step == 3


def test_a_run_that_was_broken_off_goes_on_by_itself(folder: Path) -> None:
    config = write_config(folder, steps=3)
    train(config, False, admitted(config))
    whole = sha256_file(Path("checkpoints/rc1/final_model/model.safetensors"))
    _break_off_after(2)
    train(config, False, admitted(config))
    assert not list(Path("checkpoints").glob("rc1_before_*"))
    assert "going on after step 2" in Path("logs/train.log").read_text()
    assert sha256_file(Path("checkpoints/rc1/final_model/model.safetensors")) == whole


@pytest.mark.parametrize("other", ["ended", "ticket", "config"])
def test_a_run_that_ended_or_is_another_is_moved_aside(folder: Path, other: str) -> None:
    config = write_config(folder, steps=2)
    train(config, False, admitted(config))
    if other != "ended":
        _break_off_after(1)
    again = write_config(folder, steps=2, **({"lr": 2.0e-3} if other == "config" else {}))
    ticket = admitted(again)
    train(again, False, replace(ticket, ticket_sha256="c" * 64) if other == "ticket" else ticket)
    (aside,) = Path("checkpoints").glob("rc1_before_*")
    assert (aside / "step_00001").is_dir()
    assert "going on after" not in Path("logs/train.log").read_text()


def _break_off_after(step: int) -> None:
    """What a kill right after that step's checkpoint leaves."""
    root = Path("checkpoints/rc1")
    shutil.rmtree(root / "final_model")
    for folder in root.glob("step_*"):
        if int(folder.name.removeprefix("step_")) > step:
            shutil.rmtree(folder)
    (root / "latest").unlink()
    (root / "latest").symlink_to(f"step_{step:05d}")


def test_what_no_gate_has_seen_does_not_become_gated_by_going_on(folder: Path) -> None:
    config = write_config(folder, steps=1)
    train(config, False)
    Path("checkpoints/local").rename("checkpoints/rc1")
    longer = write_config(folder, steps=2)
    with pytest.raises(BadInput, match=r"profile|no gate has seen"):
        train(longer, True, admitted(longer))


@pytest.mark.parametrize("key", ["config", "base_model", "seed_pool", "shadow_set"])
def test_what_is_exchanged_after_the_ticket_was_checked_is_not_trained_on(folder: Path, key: str) -> None:
    config = write_config(folder, steps=1)
    honest = admitted(config)
    with pytest.raises(BadInput, match=f"{key}: changed after the ticket was checked"):
        train(config, False, replace(honest, stands_on={**honest.stands_on, key: "0" * 64}))
    assert not Path("checkpoints").exists()


def test_a_gated_run_goes_on_from_its_own_checkpoints_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match="no checkpoint here"):
        require_ours(Path("checkpoints/rc1/latest"))
    Path("checkpoints/rc1/step_00001").mkdir(parents=True)
    Path("checkpoints/rc1/latest").symlink_to("step_00001")
    require_ours(Path("checkpoints/rc1/latest"))
    require_ours(Path("checkpoints/rc1"))
    with pytest.raises(BadInput, match=r"from its newest checkpoint.*give checkpoints/rc1/latest"):
        require_ours(Path("checkpoints/rc1/step_00001"))
    Path("checkpoints/local/step_00001").mkdir(parents=True)
    with pytest.raises(BadInput, match="goes on from what lies in"):
        require_ours(Path("checkpoints/local/step_00001"))
    Path("checkpoints/rc1/elsewhere").symlink_to("../local/step_00001")
    with pytest.raises(BadInput, match="goes on from what lies in"):
        require_ours(Path("checkpoints/rc1/elsewhere"))


def test_several_seeds_have_their_latest_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("checkpoints/rc1/seed_1/latest").mkdir(parents=True)
    for folder in ("latest", "seed_1/latest", "seed_1"):
        require_ours(Path("checkpoints/rc1") / folder)
