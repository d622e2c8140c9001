"""Attacks on the models: plain `verify` looks at the base model and at the final weights."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from src.checkpoint.seal import COMPLETE, MANIFEST, read_seal, seal
from src.core.errors import BadInput
from src.gates.verify import verify
from tests.release.packing import MODEL, WARM_START, silent, trained


def test_verify_accepts_the_honest_models(run: Path) -> None:
    trained()
    told: list[str] = []
    verify(False, told.append)
    assert "models: the base model, and 1 trained behind this ticket" in told


def test_verify_names_final_weights_that_were_exchanged(run: Path) -> None:
    trained()
    weights = MODEL / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    with pytest.raises(BadInput, match=r"model.safetensors was changed"):
        verify(False, silent)


@pytest.mark.parametrize("attack", ["weights", "another, sealed anew", "removed"])
def test_verify_names_a_warm_start_that_was_exchanged(run: Path, attack: str) -> None:
    """The final model names the seal of the policy that it was trained from."""
    trained()
    weights = WARM_START / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    if attack == "removed":
        shutil.rmtree(WARM_START)
    elif attack != "weights":
        before = read_seal(WARM_START)
        for name in (MANIFEST, COMPLETE):
            (WARM_START / name).unlink()
        seal(WARM_START, before.step, before.marks)
    with pytest.raises(BadInput) as refusal:
        verify(False, silent)
    assert refusal.value.where == str(WARM_START)


def test_verify_names_a_final_model_of_another_ticket(run: Path) -> None:
    trained(ticket="0" * 64)
    with pytest.raises(BadInput, match="was not trained behind the ticket"):
        verify(False, silent)


def test_verify_names_an_exchanged_base_model(run: Path) -> None:
    weights = Path("model/model.safetensors")
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    with pytest.raises(BadInput, match="is not the model that the rounds measured"):
        verify(False, silent)
