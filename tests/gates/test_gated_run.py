"""A run with a ticket trains like any other, in its own folder, and its checkpoints are marked as gated."""

from __future__ import annotations

import json
import shutil
from contextlib import nullcontext as does_not_raise
from pathlib import Path

import pytest
import torch
from msgspec.structs import replace

from src.checkpoint.seal import COMPLETE, SEAL_FILE, read_seal, seal
from src.core.api import Stop
from src.core.defaults import CODE, SEED_POOL_FACTS
from src.core.errors import BadInput
from src.core.files import code_sha256, sha256_file
from src.core.model_files import model_sha256
from src.core.paths import all_runs, evaluations, run_of
from src.gates.admission import Admission
from src.gates.manifest import MANIFEST, Manifest, newest_evaluation
from src.training.resume import require_gated_folder
from src.training.run import run as train
from tests.training.tiny_run import make_model_and_data, write_config

TICKET = "a" * 64
FINAL_MODEL = Path("checkpoints/rc1/final_model/model.safetensors")


def admitted(config: Path) -> Admission:
    """Admission for the current files."""
    source_hashes = {
        "config": sha256_file(config),
        "base_model": model_sha256(Path("model")),
        "seed_pool": sha256_file(Path("data/pool.jsonl")),
        SEED_POOL_FACTS: sha256_file(Path("data/pool.meta.json")),
        "shadow_set": sha256_file(Path("data/shadow.jsonl")),
    }
    return Admission("quickstart", TICKET, "b" * 32, source_hashes)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    torch.set_num_threads(1)
    make_model_and_data(tmp_path)
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


def test_an_interrupted_run_resumes_by_itself(folder: Path) -> None:
    config = write_config(folder, steps=3)
    train(config, False, admitted(config))
    whole = sha256_file(FINAL_MODEL)
    _break_off_after(2)
    train(config, False, admitted(config))
    assert "resumed after step 2" in _logged()
    assert len(all_runs()) == 1
    assert sha256_file(FINAL_MODEL) == whole


def test_a_gated_warm_start_is_continued_by_the_same_run(folder: Path) -> None:
    config = write_config(folder, steps=2, warm_start={"steps": 1, "tokens": 2000, "batch_tokens": 1000})
    assert train(config, False, admitted(config), warm_start_only=True) is None
    warm = Path("checkpoints/rc1/warm_start")
    seal = read_seal(warm)
    assert (seal.marks["gated"], seal.marks["ticket"], seal.step) == (True, TICKET, 1)
    train(config, False, admitted(config))
    assert len(all_runs()) == 1
    assert read_seal(FINAL_MODEL.parent).marks["warm_start"] == sha256_file(warm / "manifest.json")


def test_a_new_ticket_for_the_same_files_resumes_the_run(folder: Path) -> None:
    config = write_config(folder, steps=2)
    train(config, False, admitted(config))
    _break_off_after(1)
    train(config, False, replace(admitted(config), ticket_sha256="c" * 64))
    assert "resumed after step 1" in _logged()
    assert read_seal(Path("checkpoints/rc1/final_model")).marks["ticket"] == "c" * 64


@pytest.mark.parametrize("readmitted", [True, False])
def test_a_run_of_earlier_code_resumes_after_its_readmission(
    folder: Path, monkeypatch: pytest.MonkeyPatch, readmitted: bool
) -> None:
    config, old, new = write_config(folder, steps=2), code_sha256(), "1" * 64
    train(config, False, admitted(config))
    _break_off_after(1)
    monkeypatch.setattr("src.training.resume.code_sha256", lambda: new)
    admission = admitted(config)
    admission.source_hashes[CODE] = new
    train(config, False, replace(admission, earlier_code=(old,) if readmitted else ()))
    assert len(all_runs()) == (1 if readmitted else 2)
    marks = read_seal(Path("checkpoints/rc1/final_model")).marks
    assert marks["sources"][CODE] == new
    assert marks["earlier_code"] == ([old] if readmitted else [])


@pytest.mark.parametrize("on_record", [False, True])
def test_a_run_restarted_after_its_last_step_takes_no_step(folder: Path, on_record: bool) -> None:
    """The run was killed before the final model was recorded, or finished by hand while a loop still waits for it."""
    config = write_config(folder, steps=2)
    train(config, False, admitted(config))
    if not on_record:
        lines = MANIFEST.read_bytes().splitlines(keepends=True)
        MANIFEST.write_bytes(b"".join(line for line in lines if b'"kind":"file"' not in line))
    for report in [*evaluations(Path(".")), *evaluations(all_runs()[0])]:
        report.unlink()
    train(config, False, admitted(config))
    assert "resumed after step 2 of 2" in _logged()
    assert list(Path("reports").glob("ppo_eval_*.json"))
    assert len(all_runs()) == 1


@pytest.mark.parametrize("other", ["ended", "config", "fewer steps", "file"])
def test_a_finished_or_changed_run_is_kept_beside_another(folder: Path, other: str) -> None:
    config = write_config(folder, steps=3)
    train(config, False, admitted(config))
    if other != "ended":
        _break_off_after(2)
    if other == "file":
        (folder / "model/generation_config.json").write_text("{}")
    again = write_config(folder, **{"config": {"lr": 2.0e-3}, "fewer steps": {"steps": 1}}.get(other, {}))
    train(again, False, replace(admitted(again), ticket_sha256="c" * 64))
    second, first = all_runs()
    assert (first / "checkpoints/rc1/step_00001").is_dir()
    assert run_of(Path("checkpoints/rc1")) == second
    assert "resumed after" not in _logged()


def test_a_checkpoint_beyond_the_last_step_is_not_resumed(folder: Path) -> None:
    """The final model would not be the policy that is evaluated."""
    config = write_config(folder, steps=3)
    train(config, False, admitted(config))
    fewer = write_config(folder, steps=2)
    with pytest.raises(BadInput, match="steps is 2, and the newest checkpoint is of step 3"):
        train(fewer, True, admitted(fewer))


def test_a_resumed_gated_run_may_not_change_its_learning_rate(folder: Path) -> None:
    """Weights trained at the old rate would be sealed with the config and the ticket of the new one."""
    config = write_config(folder, steps=2)
    train(config, False, admitted(config))
    again = write_config(folder, steps=2, lr=2.0e-3)
    with pytest.raises(BadInput, match="lr: is not what the run began with"):
        train(again, True, admitted(again))


def test_a_run_stopped_by_the_watch_gets_no_final_model(folder: Path) -> None:
    """It resumes only with `--resume-from`. Turns are long enough for some to end by themselves, without an action."""
    long = {"rollout_len": 256, "rollout": {"max_turns": 2, "max_tokens": 900, "slots": 8}, "batch_size": 8}
    config = write_config(folder, steps=2, watch={"malformed": 0.0, "window": 1}, **long)
    with pytest.raises(Stop):
        train(config, False, admitted(config))
    with pytest.raises(BadInput, match=r"stopped after step 1: malformed.*--resume-from"):
        train(config, False, admitted(config))
    with pytest.raises(Stop):
        train(config, True, admitted(config))
    for resume, told in ((False, "stopped after step 2"), (True, "the watch stopped the run at its last step")):
        with pytest.raises(BadInput, match=told):
            train(config, resume, admitted(config))
    assert not FINAL_MODEL.exists()


def _interrupt(*given: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("saved", "purpose"), [(0, "to start again"), (1, "to resume from the newest checkpoint, step 1")]
)
def test_the_same_command_continues_an_interrupted_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, saved: int, purpose: str
) -> None:
    config = write_config(folder, steps=2)
    if saved:
        train(config, False, admitted(config))
        _break_off_after(saved)
    monkeypatch.setattr("src.training.run._run_seed", _interrupt)
    with pytest.raises(KeyboardInterrupt):
        train(config, False, admitted(config))
    assert caplog.messages[-1] == f"interrupted; {purpose}: askgate ppo-runner --config {config}"


OWN_CALLBACK = """
from src.core.api import Callback, Stop

class Enough(Callback):
    def on_step(self, engine, result):
        raise Stop("one step will do")
"""


def test_only_a_stopped_run_needs_a_flag_to_resume(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "gated_callback.py").write_text(OWN_CALLBACK)
    config = write_config(folder, steps=2, callbacks=["gated_callback:Enough"])
    resumes = (
        "to resume from the newest checkpoint, step 1: "
        f"askgate ppo-runner --resume-from=checkpoints/rc1/latest --config {config}"
    )
    with pytest.raises(Stop):
        train(config, False, admitted(config))
    assert caplog.messages[-1] == f"a callback ended the run: one step will do; {resumes}"
    monkeypatch.setattr("src.training.run._run_seed", _interrupt)
    with pytest.raises(KeyboardInterrupt):
        train(config, True, admitted(config))
    assert caplog.messages[-1] == f"interrupted; {resumes}", "it has no newer checkpoint"


def test_damage_to_every_checkpoint_is_named(folder: Path) -> None:
    config = write_config(folder, steps=2)
    train(config, False, admitted(config))
    for weights in Path("checkpoints/rc1").glob("step_*/*.safetensors"):
        weights.write_bytes(b"damaged")
    with pytest.raises(BadInput, match="no checkpoint is whole"):
        train(config, False, admitted(config))


def test_a_run_of_one_seed_is_not_resumed_with_several(folder: Path) -> None:
    one = write_config(folder, steps=1)
    train(one, False, admitted(one))
    several = write_config(folder, steps=1, seeds=[1, 2])
    with pytest.raises(BadInput, match=r"no checkpoint for these seeds.*starts a new run"):
        train(several, True, admitted(several))


def test_a_run_resumes_from_the_mirror_alone(folder: Path) -> None:
    config = write_config(folder, steps=2, checkpoint={"every_steps": 1, "mirror": "drive"})
    train(config, False, admitted(config))
    (run,) = all_runs()
    shutil.rmtree("checkpoints")
    shutil.rmtree(run / "checkpoints")
    shutil.rmtree(f"drive/{run.name}/rc1/final_model")
    require_gated_folder(Path("checkpoints/rc1/latest"))
    train(config, False, admitted(config))
    assert "resumed after step 2 of 2" in _logged()
    assert f"move {run} and drive/{run.name}/rc1 away" in _logged()


def test_an_interrupted_run_is_found_behind_a_newer_one(folder: Path) -> None:
    config = write_config(folder, steps=3)
    train(config, False, admitted(config))
    (first,) = all_runs()
    whole = sha256_file(FINAL_MODEL)
    _break_off_after(2)
    other = write_config(folder, steps=1, lr=2.0e-3)
    train(other, False, admitted(other))
    second = run_of(Path("checkpoints/rc1"))
    assert second != first
    config = write_config(folder, steps=3)
    train(config, False, admitted(config))
    assert run_of(Path("checkpoints/rc1")) == first
    assert "resumed after step 2" in _logged()
    assert sha256_file(FINAL_MODEL) == whole
    assert {run.name for run in all_runs()} == {first.name, second.name}


def test_a_run_records_its_results_before_anybody_else_can_write(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run killed right before it records is started again: it takes no step, reports and records."""
    config = write_config(folder, steps=1)

    def killed(*given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("src.training.run.record_outputs", killed)
        with pytest.raises(KeyboardInterrupt):
            train(config, False, admitted(config))
    train(config, False, admitted(config))
    (run,) = all_runs()
    recorded = Manifest().newest()
    for name in ("checkpoints/rc1/final_model/manifest.json", "logs/eval/step_00001.jsonl", "logs/eval/key.json"):
        assert recorded[f"{run}/{name}"].digest == sha256_file(run / name)
    assert str(newest_evaluation()) in recorded
    assert "resumed after step 1 of 1" in _logged()


def test_a_refused_resume_leaves_the_run_and_its_ticket(folder: Path) -> None:
    Path("reports/preflight").mkdir(parents=True)
    ticket = Path("reports/preflight/round2_pass.json")
    ticket.write_text("the ticket")
    first = write_config(folder, steps=1)
    train(first, False, admitted(first))
    (run,) = all_runs()
    before = files_of(run)
    ticket.write_text("that of another config")
    other = write_config(folder, steps=1, lr=2.0e-3)
    with pytest.raises(BadInput, match="lr: is not what the run began with"):
        train(other, True, admitted(other))
    assert files_of(run) == before


def test_a_run_keeps_a_copy_of_its_ticket(folder: Path) -> None:
    Path("reports/preflight").mkdir(parents=True)
    Path("reports/preflight/round2_pass.json").write_text("the ticket")
    config = write_config(folder, steps=1)
    train(config, False, admitted(config))
    (run,) = all_runs()
    Path("reports/preflight/round2_pass.json").write_text("that of the next rounds")
    assert (run / "reports/preflight/round2_pass.json").read_text() == "the ticket"


def files_of(run: Path) -> dict[str, str]:
    """Checksums of all files of a run but its log, to which a refusal is appended."""
    files = [file for file in run.rglob("*") if file.is_file() and file.name != "train.log"]
    return {str(file): sha256_file(file) for file in files}


def _logged() -> str:
    return Path("logs/train.log").read_text()


def _break_off_after(step: int) -> None:
    """Leaves the files of a run that was killed right after the checkpoint of that step."""
    root = Path("checkpoints/rc1")
    shutil.rmtree(root / "final_model")
    for folder in root.glob("step_*"):
        if int(folder.name.removeprefix("step_")) > step:
            shutil.rmtree(folder)
    (root / "latest").unlink()
    (root / "latest").symlink_to(f"step_{step:05d}")


def test_an_ungated_run_does_not_become_gated_by_resuming(folder: Path) -> None:
    config = write_config(folder, steps=1)
    train(config, False)
    (run,) = all_runs()
    (run / "checkpoints/local").rename(run / "checkpoints/rc1")
    longer = write_config(folder, steps=2)
    with pytest.raises(BadInput, match=r"profile|no gate has seen"):
        train(longer, True, admitted(longer))


def test_a_checkpoint_that_was_sealed_anew_is_refused(folder: Path) -> None:
    """Foreign weights under the marks of the gated run: they are a checkpoint, but none that the run saved."""
    config = write_config(folder, steps=3)
    train(config, False, admitted(config))
    _break_off_after(2)
    newest = Path("checkpoints/rc1/step_00002")
    before = read_seal(newest)
    for name in (SEAL_FILE, COMPLETE):
        (newest / name).unlink()
    weights = newest / "state.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    seal(newest, before.step, before.marks)
    with pytest.raises(BadInput, match="no gated run saved this checkpoint"):
        train(config, False, admitted(config))


@pytest.mark.parametrize("key", ["config", "base_model", "seed_pool", SEED_POOL_FACTS, "shadow_set"])
def test_files_exchanged_after_the_ticket_check_are_refused(folder: Path, key: str) -> None:
    config = write_config(folder, steps=1)
    honest = admitted(config)
    with pytest.raises(BadInput, match=f"{key}: changed after the ticket was checked"):
        train(config, False, replace(honest, source_hashes={**honest.source_hashes, key: "0" * 64}))
    assert not Path("checkpoints").exists()


def test_a_gated_run_resumes_only_from_its_own_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    require_gated_folder(Path("checkpoints/rc1/latest"))  # the mirror may have it
    with pytest.raises(BadInput, match="no checkpoint here"):
        require_gated_folder(Path("checkpoints/rc1/seed_1"))
    Path("checkpoints/rc1/step_00001").mkdir(parents=True)
    Path("checkpoints/rc1/latest").symlink_to("step_00001")
    require_gated_folder(Path("checkpoints/rc1/latest"))
    require_gated_folder(Path("checkpoints/rc1"))
    with pytest.raises(BadInput, match=r"from its newest checkpoint.*give checkpoints/rc1/latest"):
        require_gated_folder(Path("checkpoints/rc1/step_00001"))
    Path("checkpoints/local/step_00001").mkdir(parents=True)
    with pytest.raises(BadInput, match="a gated run resumes from checkpoints in"):
        require_gated_folder(Path("checkpoints/local/step_00001"))
    Path("checkpoints/rc1/elsewhere").symlink_to("../local/step_00001")
    with pytest.raises(BadInput, match="a gated run resumes from checkpoints in"):
        require_gated_folder(Path("checkpoints/rc1/elsewhere"))


def test_each_seed_has_its_own_latest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("checkpoints/rc1/seed_1/latest").mkdir(parents=True)
    for folder in ("latest", "seed_1/latest", "seed_1"):
        with does_not_raise():
            require_gated_folder(Path("checkpoints/rc1") / folder)
    with pytest.raises(BadInput):
        require_gated_folder(Path("checkpoints/local"))
