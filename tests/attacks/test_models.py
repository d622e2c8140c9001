"""Attacks on the models: plain `verify` looks at the base model, at the final weights and at their seals."""

from __future__ import annotations

import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from src.checkpoint.seal import COMPLETE, SEAL_FILE, read_seal, seal
from src.core.errors import BadInput
from src.gates.final_models import ended_early, verify_final_model
from src.gates.manifest import Manifest
from src.gates.verify import verify
from src.training.verify_results import verify_results
from tests.release.packing import MODEL, RUN, WARM_START, silent, trained


def test_verify_accepts_the_honest_models(run: Path) -> None:
    trained()
    told: list[str] = []
    verify(False, told.append)
    assert "models: the base model, and 1 trained with this ticket" in told


def test_verify_names_final_weights_that_were_exchanged(run: Path) -> None:
    trained()
    weights = MODEL / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    with pytest.raises(BadInput, match=r"model.safetensors was changed"):
        verify(False, silent)


def test_verify_names_final_weights_that_are_a_link(run: Path) -> None:
    """What it leads to may be exchanged after it was verified."""
    trained()
    weights = MODEL / "model.safetensors"
    weights.rename("elsewhere.safetensors")
    weights.symlink_to(Path("elsewhere.safetensors").absolute())
    with pytest.raises(BadInput, match=r"model.safetensors is a link"):
        verify(False, silent)


@pytest.mark.parametrize("name", ["README.md", "results.json"])
def test_a_page_that_is_sealed_with_the_model_is_refused(run: Path, name: str) -> None:
    """The forger also appends to the manifest."""
    trained()
    (MODEL / name).write_text("success 99.9%, verified")
    before = read_seal(MODEL)
    for one in (SEAL_FILE, COMPLETE):
        (MODEL / one).unlink()
    seal(MODEL, before.step, before.marks)
    Manifest().record([RUN / MODEL / SEAL_FILE])
    with pytest.raises(BadInput, match="is sealed with the model, and no run saves such a file") as caught:
        verify(False, silent)
    assert caught.value.where == str(MODEL / name)


def test_a_seal_with_a_key_twice_is_refused(run: Path) -> None:
    """The last one counts, and a reader sees the first."""
    trained()
    text = (MODEL / SEAL_FILE).read_bytes().replace(b"{", b'{\n  "step": 5000,', 1)
    (MODEL / SEAL_FILE).write_bytes(text)
    (MODEL / COMPLETE).write_text(f"{sha256(text).hexdigest()}\n")
    Manifest().record([RUN / MODEL / SEAL_FILE])
    with pytest.raises(BadInput, match="such as with a key twice"):
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
        for name in (SEAL_FILE, COMPLETE):
            (WARM_START / name).unlink()
        seal(WARM_START, before.step, before.marks)
    with pytest.raises(BadInput) as refusal:
        verify(False, silent)
    assert refusal.value.where == str(WARM_START)


def test_verify_names_a_final_model_of_another_ticket(run: Path) -> None:
    trained(ticket="0" * 64)
    with pytest.raises(BadInput, match="was not trained with the ticket"):
        verify(False, silent)


@pytest.mark.parametrize("key", ["seed_pool", "shadow_set", "reward.weights", "base_model", "code of AskGate"])
def test_a_model_that_was_trained_on_other_files_is_refused(run: Path, key: str) -> None:
    """A model of another run under the ticket's name; its seal says what it was trained with."""
    trained()
    before = read_seal(MODEL)
    for one in (SEAL_FILE, COMPLETE):
        (MODEL / one).unlink()
    seal(MODEL, before.step, before.marks | {"sources": before.marks["sources"] | {key: "0" * 64}})
    Manifest().record([RUN / MODEL / SEAL_FILE])
    with pytest.raises(BadInput, match=f"was trained with another {key} than the rounds measured"):
        verify(False, silent)


def test_verify_names_an_exchanged_base_model(run: Path) -> None:
    weights = Path("model/model.safetensors")
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    with pytest.raises(BadInput, match="is not the model that the rounds measured"):
        verify(False, silent)


def test_a_model_whose_settings_the_ticket_lacks_is_refused(place: Path) -> None:
    marks, step = read_seal(MODEL).marks, read_seal(MODEL).step
    for name in (SEAL_FILE, COMPLETE):
        (MODEL / name).unlink()
    seal(MODEL, step, marks | {"config": marks["config"] | {"shadow_set": "data/easy.jsonl"}})
    with pytest.raises(BadInput, match=r"not trained with the settings of own\.yaml"):
        verify_results(False, silent)


def sealed_with(step: int, **changed: Any) -> None:
    """The final model under another seal."""
    marks = read_seal(MODEL).marks
    for name in (SEAL_FILE, COMPLETE):
        (MODEL / name).unlink()
    seal(MODEL, step, marks | changed)


def test_a_model_of_an_earlier_step_is_no_final_model(place: Path) -> None:
    verify_final_model(MODEL)
    sealed_with(2)
    with pytest.raises(BadInput, match="is no final model: it is of step 2, and the config has 3 steps"):
        verify_results(False, silent)


@pytest.mark.parametrize("mark", ["stopped", "reward_hacking"])
def test_the_model_of_a_stopped_run_is_no_final_model(place: Path, mark: str) -> None:
    sealed_with(3, **{mark: "ask_spam is 0.71"})
    with pytest.raises(BadInput, match=r"is of a run that was stopped after step 3: ask_spam is 0\.71"):
        verify_results(False, silent)


def test_an_own_engine_may_end_early_and_that_is_said(place: Path) -> None:
    sealed_with(2, config=read_seal(MODEL).marks["config"] | {"engine": "coach:Coach"})
    verify_final_model(MODEL)
    assert ended_early(MODEL) == "it is of step 2, and the config has 3 steps"
