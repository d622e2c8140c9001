"""Attacks on the moment between the hash of a file and its use: the file is exchanged for the read, and put back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from src.checkpoint.state import pack_state, unpack_state
from src.checkpoint.store import CheckpointStore
from src.config.train_config import FinetuneSection
from src.core.errors import BadInput
from src.core.files import forget_reads, pinned, sha256_file, sha256_read
from src.core.model_files import base_sha256
from src.engines.models import load_policy
from src.gates.admission import Admission
from src.gates.checks.reward import weights_findings
from src.gates.rounds import refuse_changed
from src.training import components as making
from src.training import preflight as preparing
from src.training import run as running
from src.training.preflight import preflight
from src.training.resume import require_read_as_sealed, source_hashes
from tests.gates.run_folder import current_context
from tests.training.tiny_run import make_model_and_data, write_config

WEIGHTS = '{"weights": {"support": 0.5, "economy": 0.5}}'
FORGED = '{"weights": {"support": 0.5, "economy": 0.25, "asking": 0.25}}'
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    forget_reads()
    yield
    forget_reads()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    make_model_and_data(folder)
    (folder / "weights.json").write_text(WEIGHTS)
    write_config(folder, reward={"weights": "weights.json", "dimensions": 0.3})
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path


@contextmanager
def exchanged(file: Path, forged: bytes) -> Iterator[None]:
    """Another file has the name of this one for a moment; then the old one is back."""
    aside, planted = file.with_name("aside"), file.with_name("planted")
    planted.write_bytes(forged)
    file.rename(aside)
    planted.rename(file)
    try:
        yield
    finally:
        aside.rename(file)


def during(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, file: Path, forged: bytes) -> None:
    """Exchanges a file for as long as that function runs."""
    real: Callable[..., Any] = getattr(module, name)

    def attacked(*arguments: Any, **named: Any) -> Any:
        with exchanged(file, forged):
            return real(*arguments, **named)

    monkeypatch.setattr(module, name, attacked)


def test_a_pinned_file_is_the_one_that_was_hashed(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "file").write_bytes(b"honest")
    with pinned(folder / "file") as same:
        folder.rename(tmp_path / "aside")
        folder.mkdir()
        (folder / "file").write_bytes(b"forged")
        assert same.read_bytes() == b"honest"
    assert sha256_read(folder / "file") == sha256_file(tmp_path / "aside/file")


def test_a_pinned_file_that_is_written_to_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"honest")
    before = file.stat()

    def forge() -> None:
        with pinned(file):
            file.write_bytes(b"forged")
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    with pytest.raises(BadInput, match="changed while it was read"):
        forge()


def test_base_weights_exchanged_for_the_read_are_not_loaded(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = place / "model"
    honest = load_policy("model", FinetuneSection(method="full"), (), CPU, torch.float32).state_dict()
    real = transformers.AutoModelForCausalLM.from_pretrained

    def attacked(*arguments: Any, **named: Any) -> Any:
        shutil.copytree(folder, place / "planted")
        weights = place / "planted/model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-64] + bytes(64))
        folder.rename(place / "aside")
        (place / "planted").rename(folder)
        try:
            return real(*arguments, **named)
        finally:
            folder.rename(place / "planted")
            (place / "aside").rename(folder)

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", attacked)
    loaded = load_policy("model", FinetuneSection(method="full"), (), CPU, torch.float32)
    assert all(torch.equal(tensor, loaded.state_dict()[key]) for key, tensor in honest.items())
    assert base_sha256("model", sha256_read) == base_sha256("model")
    assert loaded.config.name_or_path == "model"


@pytest.mark.parametrize(
    ("module", "function", "file", "forge"),
    [
        (making, "make_reward", "weights.json", lambda data: FORGED.encode()),
        (making, "make_reward", "weights.json", lambda data: data),
        (preparing, "load_train_config", "own.yaml", lambda data: data.replace(b"lr: 0.001", b"lr: 0.002")),
        (preparing, "open_renderer", "model/tokenizer.json", lambda data: data + b" "),
    ],
    ids=["reward weights", "the same bytes", "config", "tokenizer"],
)
def test_a_file_exchanged_for_the_read_does_not_train(
    module: Any, function: str, file: str, forge: Callable[[bytes], bytes], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = place / "own.yaml"
    admission = Admission("quickstart", "0" * 64, "run", source_hashes(preflight(config)))
    admission.source_hashes["config"] = sha256_file(config)
    monkeypatch.setattr(running, "_fit_and_evaluate", lambda *given: None)
    monkeypatch.setattr(running, "write_results", lambda config, tag: ("report", (Path("report"),)))
    monkeypatch.setattr(running, "record_outputs", lambda *given: None)
    honest = Path(file).read_bytes()
    during(monkeypatch, module, function, place / file, forge(honest))
    if forge(honest) == honest:
        assert running.run(config, False, admission) == "report"  # type: ignore[comparison-overlap]
        return
    with pytest.raises(BadInput, match=r"changed (while it was read|after the ticket was checked)"):
        running.run(config, False, admission)


def test_a_checkpoint_exchanged_after_its_check_is_refused(tmp_path: Path) -> None:
    with CheckpointStore(tmp_path / "checkpoints", None, keep=2) as store:
        store.save(1, lambda folder: pack_state(folder, {"weights": torch.zeros(4)}), {})
        checked = store.newest()
        unpack_state(checked.path)
        require_read_as_sealed(checked)
        (tmp_path / "forged").mkdir()
        pack_state(tmp_path / "forged", {"weights": torch.ones(4)})
        with exchanged(checked.path / "state.safetensors", (tmp_path / "forged/state.safetensors").read_bytes()):
            assert unpack_state(checked.path)["weights"].sum() == 4
        with pytest.raises(BadInput, match=r"state\.safetensors changed between the check and the use"):
            require_read_as_sealed(checked)


def test_a_file_exchanged_while_a_gate_reads_it_is_refused(run: Path) -> None:
    context = current_context()
    file = context.profile.paths.weights
    findings = weights_findings(context)
    refuse_changed(findings, {}, context.fresh)
    with exchanged(file, file.read_bytes() + b"\n"):
        weights_findings(context)
    with pytest.raises(BadInput, match="changed while the round measured it"):
        refuse_changed(findings, {}, context.fresh)
