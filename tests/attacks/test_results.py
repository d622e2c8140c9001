"""Attacks on the results of a gated run: edited reports and episodes, exchanged models, appended records."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from src.checkpoint.seal import COMPLETE, MANIFEST, read_seal, seal
from src.config.loader import load_train_config
from src.core.errors import BadInput
from src.core.files import sha256_file
from src.core.paths import newest_evaluation
from src.gates import manifest
from src.gates.ticket import TICKET, Admission
from src.release.verify_results import verify_results
from src.training import results
from src.training.preflight import preflight
from src.training.resume import source_hashes
from src.training.run import run
from tests.training.tiny_run import make_model_and_data, write_config

ROOT = Path(__file__).resolve().parents[2]
MODEL = Path("checkpoints/rc1/final_model")
TRAINED, BASE = Path("logs/eval/step_00003.jsonl"), Path("logs/eval/step_00000.jsonl")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run that was trained behind a ticket; the ticket itself is another test's matter."""
    folder = tmp_path_factory.mktemp("trained")
    make_model_and_data(folder)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("HF_HUB_OFFLINE", "1")
        config = write_config(folder, steps=3, lr=0.05, eval={"every_steps": 3, "control": False})
        TICKET.parent.mkdir(parents=True)
        TICKET.write_text("{}")
        sources = source_hashes(preflight(config))
        run(config, False, Admission("quickstart", sha256_file(TICKET), "run", sources))
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)
    return folder


@pytest.fixture
def place(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True, symlinks=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def silent(text: str) -> None:
    pass


def reseal(folder: Path) -> None:
    marks, step = read_seal(folder).marks, read_seal(folder).step
    for name in (MANIFEST, COMPLETE):
        (folder / name).unlink()
    seal(folder, step, marks)


def test_the_honest_run_is_proved(place: Path) -> None:
    told: list[str] = []
    assert verify_results(True, told.append) is not None
    assert any("8 of 8 dialogues are what checkpoints/rc1/final_model says" in line for line in told)
    assert any("8 of 8 dialogues are what model says" in line for line in told)


def edit_report(change: Any) -> Path:
    path = newest_evaluation()
    assert path
    found = json.loads(path.read_text())
    change(found)
    path.write_text(json.dumps(found))
    return path


def test_a_figure_edited_in_the_report_is_refused(place: Path) -> None:
    path = edit_report(lambda found: found["pooled"]["changes"]["success"]["trained"].update(value=0.999))
    with pytest.raises(BadInput, match="not in the manifest: no run recorded it as it is"):
        verify_results(False, silent)
    manifest.Manifest().record([path])
    with pytest.raises(BadInput, match="its pooled do not follow from the episodes"):
        verify_results(False, silent)


def test_a_verdict_edited_in_the_report_is_refused(place: Path) -> None:
    path = edit_report(lambda found: [one.update(threshold=-9.0, passed=True) for one in found["checks"]])
    manifest.Manifest().record([path])
    with pytest.raises(BadInput, match="its checks do not follow"):
        verify_results(False, silent)


def test_a_report_with_the_config_of_another_version_is_one_message(place: Path) -> None:
    path = edit_report(lambda found: found["config"]["rollout"].update(invented=1))
    manifest.Manifest().record([path])
    with pytest.raises(BadInput, match=r"config is of another version of AskGate \(rollout.invented\)"):
        verify_results(False, silent)


def test_success_written_into_the_episodes_is_refused(place: Path) -> None:
    lines = [json.loads(line) | {"success": True} for line in TRAINED.read_text().splitlines()]
    TRAINED.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    manifest.Manifest().record([TRAINED])
    with pytest.raises(BadInput, match=r"step_00003\.jsonl:\d+: is not what the sample gives"):
        verify_results(False, silent)


def test_an_evaluation_is_recorded_by_its_name_in_the_run_folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "verify_report", lambda *given: None)  # the ticket is another test's matter
    results.evaluate(load_train_config(Path("own.yaml")), "again")
    named = [Path(name) for name in manifest.Manifest().newest() if "ppo_eval" in name]
    assert {path.parts[0] for path in named} == {"runs"}
    assert named[-1].name == "ppo_eval_again.json"
    found = verify_results(False, silent)
    assert found is not None
    assert found.evidence.arguments["tag"] == "again"


def test_a_report_that_no_run_recorded_is_refused(place: Path) -> None:
    path = newest_evaluation()
    assert path
    path.rename(path.with_name("ppo_eval_zzz.json"))
    with pytest.raises(BadInput, match="not in the manifest"):
        verify_results(False, silent)


def test_untrained_weights_under_a_new_seal_are_named_by_deep(place: Path) -> None:
    """The forger also appends to the manifest, so that every checksum fits."""
    shutil.copy("model/model.safetensors", MODEL / "model.safetensors")
    reseal(MODEL)
    manifest.Manifest().record([MODEL / MANIFEST])
    with pytest.raises(BadInput, match="does not say what is recorded here"):
        verify_results(True, silent)


def test_base_episodes_sold_as_trained_are_named_by_deep(place: Path) -> None:
    shutil.copy(BASE, TRAINED)
    from src.config.train_config import TrainConfig
    from src.training.results import write_results

    path = newest_evaluation()
    assert path
    config = TrainConfig.model_validate(json.loads(path.read_text())["config"])
    write_results(config, path.stem.removeprefix("ppo_eval_"))
    manifest.Manifest().record([TRAINED, path])
    with pytest.raises(BadInput, match="does not say what is recorded here"):
        verify_results(True, silent)


def test_a_manifest_cut_before_the_results_is_refused(place: Path) -> None:
    lines = manifest.MANIFEST.read_bytes().splitlines(keepends=True)
    manifest.MANIFEST.write_bytes(b"".join(lines[:-2]))
    with pytest.raises(BadInput, match="not in the manifest"):
        verify_results(False, silent)


ARM = Path("data/episodes/quickstart_ablation/seed_1")


def ablated(**episodes: Path) -> None:
    """An ablation whose two runs have the trained policy as their final model."""
    Path("configs/gates").mkdir(parents=True)
    text = (ROOT / "configs/gates/quickstart.yaml").read_text().replace("configs/quickstart_ablation", "own")
    Path("configs/gates/quickstart.yaml").write_text(text)
    ARM.mkdir(parents=True)
    marks, step = read_seal(MODEL).marks, read_seal(MODEL).step
    for side, file in episodes.items():
        model = Path(f".askgate/ablation/own/{side}-1/checkpoints/local/final_model")
        shutil.copytree(MODEL, model, ignore=lambda folder, names: [MANIFEST, COMPLETE])
        seal(model, step, marks | {"config": marks["config"] | {"profile": "local"}})
        shutil.copy(model / MANIFEST, ARM / f"{side}.seal.json")
        shutil.copy(file, ARM / f"{side}.jsonl")


def test_the_models_of_an_ablation_repeat_their_dialogues(place: Path) -> None:
    ablated(without=TRAINED, **{"with": TRAINED})
    told: list[str] = []
    verify_results(True, told.append)
    assert sum("8 of 8 dialogues are what .askgate/ablation/own/" in line for line in told) == 2
    shutil.rmtree(".askgate/ablation")
    verify_results(True, told.append)
    assert sum("its model is not in this folder any more" in line for line in told) == 2


def test_ablation_episodes_of_another_policy_are_named_by_deep(place: Path) -> None:
    ablated(without=TRAINED, **{"with": BASE})
    with pytest.raises(BadInput, match="does not say what is recorded here") as caught:
        verify_results(True, silent)
    assert caught.value.where == str(ARM / "with.jsonl")
