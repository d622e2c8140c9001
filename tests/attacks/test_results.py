"""Attacks on the results of a gated run: edited reports and episodes, exchanged models, appended records."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from msgspec.structs import replace
from safetensors.torch import load_file, save_file

from askgate_env.actions import say
from askgate_env.env import Env
from askgate_env.types import Episode, Sample
from src.checkpoint.seal import COMPLETE, MANIFEST, read_seal, seal
from src.config.loader import load_train_config
from src.config.train_config import TrainConfig
from src.core.errors import BadInput
from src.core.files import sha256_file
from src.core.jsonl import read_records, write_records
from src.core.paths import EFFECTIVE_CONFIG, EPISODES, GATED_CHECKPOINTS, evaluations, open_run, run_of
from src.eval.metrics import LOGGED, figures, flat, mean_reward
from src.gates import manifest
from src.gates.manifest import newest_evaluation
from src.gates.ticket import TICKET, Admission, ended_early, verify_final_model
from src.release import repeat_dialogues as repeating
from src.release.verify_results import verify_results
from src.reward.configured import make_reward
from src.training import results
from src.training.data import held_out
from src.training.preflight import preflight
from src.training.results import evaluate, write_results
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
    """A small run that was trained behind a ticket; the ticket itself is another test's matter."""
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


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_gated(tmp_path_factory.mktemp("trained"))


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
    record(path)
    with pytest.raises(BadInput, match="pooled: not what episodes, seals and ticket give"):
        verify_results(False, silent)


def test_a_verdict_edited_in_the_report_is_refused(place: Path) -> None:
    path = edit_report(lambda found: [one.update(threshold=-9.0, passed=True) for one in found["checks"]])
    record(path)
    with pytest.raises(BadInput, match="checks: not what episodes, seals and ticket give"):
        verify_results(False, silent)


def test_success_written_into_the_episodes_is_refused(place: Path) -> None:
    lines = [json.loads(line) | {"success": True} for line in TRAINED.read_text().splitlines()]
    TRAINED.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    record(TRAINED)
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
    with pytest.raises(BadInput, match="has no report in the manifest"):
        verify_results(False, silent)


def test_untrained_weights_under_a_new_seal_are_named_by_deep(place: Path) -> None:
    shutil.copy("model/model.safetensors", MODEL / "model.safetensors")
    reseal(MODEL)
    record(MODEL / MANIFEST)
    with pytest.raises(BadInput, match="evidence: not what"):
        verify_results(False, silent)
    record(report_again())
    with pytest.raises(BadInput, match="does not say what is recorded here"):
        verify_results(True, silent)


def test_base_episodes_sold_as_trained_are_named_by_deep(place: Path) -> None:
    shutil.copy(BASE, TRAINED)
    record(TRAINED, report_again())
    with pytest.raises(BadInput, match="does not say what is recorded here"):
        verify_results(True, silent)


def rewrite(file: Path, change: Callable[[Sample, Episode], Episode]) -> None:
    """Other dialogues in a file of held-out episodes, as the environment and the reward give them; all is recorded."""
    config = load_train_config(Path("own.yaml")).model_copy(update={"profile": "quickstart"})
    stored, reward = list(read_records(file, Episode)), make_reward(config)
    with open(file, "wb") as handle:
        for sample, one in zip(held_out(config)[0], stored, strict=True):
            new = change(sample, one)
            write_records(handle, [replace(new, level=one.level, seed=one.seed, reward=reward(new, sample))])
    forge_curves(config, file)
    record(file, report_again())


def forge_curves(config: TrainConfig, file: Path) -> None:
    """The curves show the figures of the new dialogues, and the manifest never held others."""
    episodes, step = list(read_records(file, Episode)), int(file.stem.removeprefix("step_"))
    shown = flat(figures(episodes)) | {"reward": mean_reward(episodes)}
    for curve, prefix in zip(results.curves(config), ("", LOGGED), strict=True):
        lines = [json.loads(line) for line in curve.read_text().splitlines()]
        for line in lines:
            if line["step"] == step:
                line |= {f"{prefix}{name}": value for name, value in shown.items()}
        curve.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    forged = {str(curve): sha256_file(curve) for curve in results.curves(config)}
    entries, head, chain = manifest.Manifest().entries, manifest.START, b""
    for entry in entries:
        line = msgspec.json.encode(replace(entry, sha256=forged.get(entry.path, entry.sha256), before=head))
        head, chain = sha256(line).hexdigest(), chain + line + b"\n"
    manifest.MANIFEST.write_bytes(chain)


def invented(count: int) -> Callable[[Sample, Episode], Episode]:
    """Replaces this many dialogues where asking is needed by an ask and the right answer."""
    left = iter(range(count))

    def change(sample: Sample, one: Episode) -> Episode:
        if not sample.needs_clarification or next(left, None) is None:
            return one
        env = Env(sample, 2)
        env.step(next(say(turn) for turn in sample.dialogue if turn.act == "ask"))
        env.step(f"<answer>{sample.answer}</answer>")
        return env.episode(one.seed, one.level)

    return change


def made_elsewhere() -> None:
    """The seal names another machine, which is the forger's to write."""
    marks, step = read_seal(MODEL).marks, read_seal(MODEL).step
    for name in (MANIFEST, COMPLETE):
        (MODEL / name).unlink()
    seal(MODEL, step, marks | {"machine": {"torch": "2.0", "threads": 64, "cpu": "AVX2"}})
    record(MODEL / MANIFEST, report_again())


@pytest.fixture(scope="module")
def trained_on_32(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_gated(tmp_path_factory.mktemp("trained_on_32"), held_out_samples=32)


@pytest.fixture
def place_32(trained_on_32: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A run with 32 held-out samples, made with one thread and verified by a process that has two."""
    shutil.copytree(trained_on_32, tmp_path, dirs_exist_ok=True, symlinks=True)
    monkeypatch.chdir(tmp_path)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    yield tmp_path
    torch.set_num_threads(threads)


def test_one_invented_dialogue_is_refused_on_the_machine_that_trained(place_32: Path) -> None:
    told: list[str] = []
    verify_results(True, told.append, dialogues=100)
    assert sum("32 of 32 dialogues are what" in line for line in told) == 2
    rewrite(TRAINED, invented(1))
    with pytest.raises(BadInput, match="does not say what is recorded here: 1 dialogues are others"):
        verify_results(True, silent, dialogues=100)


def test_invented_dialogues_buy_no_gate_whatever_machine_the_seal_names(place_32: Path) -> None:
    made_elsewhere()
    verify_results(True, silent)
    rewrite(TRAINED, invented(4))
    report = verify_results(False, silent)
    assert report is not None
    assert report.checks[0].passed
    with pytest.raises(BadInput, match=r"need_ask_success_pp is .* which is another verdict"):
        verify_results(True, silent, dialogues=32)


def test_figures_outside_their_interval_are_refused_though_no_gate_changes(place_32: Path) -> None:
    """Base and trained policy get the same invented dialogues, so that no change shows."""
    made_elsewhere()
    for file in (BASE, TRAINED):
        rewrite(file, invented(8))
    with pytest.raises(BadInput, match=r"success \(base\) is .* outside the interval"):
        verify_results(True, silent, dialogues=32)


def test_other_words_with_the_same_outcome_hold_on_another_machine(place_32: Path) -> None:
    def reworded(sample: Sample, one: Episode) -> Episode:
        turns = [replace(turn, text=f"{turn.text} x") if turn.by == "assistant" else turn for turn in one.turns]
        is_rewordable = sample.id in chosen and all(turn.act == "say" for turn in turns if turn.by == "assistant")
        return replace(one, turns=tuple(turns)) if is_rewordable else one

    made_elsewhere()
    chosen = {one.sample_id for one in list(read_records(TRAINED, Episode))[:6]}
    rewrite(TRAINED, reworded)
    told: list[str] = []
    assert verify_results(True, told.append, dialogues=32)
    assert any("so all were repeated: " in line for line in told)
    assert told[-1].startswith("results: with the dialogues of this machine every verdict is the same")


def test_a_manifest_cut_before_the_results_is_refused(place: Path) -> None:
    lines = manifest.MANIFEST.read_bytes().splitlines(keepends=True)
    manifest.MANIFEST.write_bytes(b"".join(lines[:-2]))
    with pytest.raises(BadInput, match="has no report in the manifest"):
        verify_results(False, silent)


def stray(name: str, **changes: Any) -> Path:
    """A report with invented figures beside the honest one, newer than that."""
    honest = newest_evaluation()
    assert honest
    path = honest.with_name(f"ppo_eval_{name}.json")
    report = json.loads(honest.read_text()) | changes
    report["evidence"]["arguments"]["tag"] = name
    path.write_text(json.dumps(report))
    return path


def test_an_older_report_is_derived_too(place: Path) -> None:
    """Invented figures in a report that was recorded before the one that counts."""
    invented, honest = stray("full"), newest_evaluation()
    assert honest
    record(invented)
    assert verify_results(False, silent, honest)
    report = json.loads(invented.read_text())
    report["figures"]["delta_pp"]["success"] = 55.5
    invented.write_text(json.dumps(report))
    before = honest.read_bytes()
    honest.write_bytes(before + b"\n")
    record(invented, honest)
    honest.write_bytes(before)
    record(honest)
    assert newest_evaluation() == honest
    with pytest.raises(BadInput, match="figures: not what episodes, seals and ticket give") as caught:
        verify_results(False, silent)
    assert caught.value.where == str(invented)


@pytest.mark.parametrize("gated", [True, False])
def test_a_report_that_says_it_is_not_gated_is_refused(place: Path, gated: bool) -> None:
    path = stray("zzz", gated=gated)
    with pytest.raises(BadInput, match="not in the manifest") as caught:
        verify_results(False, silent)
    assert caught.value.where == str(path)
    record(path)
    with nullcontext() if gated else pytest.raises(BadInput, match="gated: not what"):
        verify_results(False, silent)


def test_the_report_recorded_last_is_the_newest_whatever_its_time(place: Path) -> None:
    honest, second = newest_evaluation(), stray("1")
    assert honest
    os.utime(second, (0, 0))
    assert newest_evaluation() == honest
    record(second)
    assert newest_evaluation() == second
    os.utime(honest)
    assert newest_evaluation() == second


def test_a_model_without_a_recorded_report_is_refused(place: Path) -> None:
    """Base weights, sealed anew; reports deleted, and what training recorded cut off the manifest."""
    shutil.copy("model/model.safetensors", MODEL / "model.safetensors")
    reseal(MODEL)
    for path in evaluations(run_of(GATED_CHECKPOINTS)):
        path.unlink()
    manifest.MANIFEST.write_bytes(manifest.MANIFEST.read_bytes().splitlines(keepends=True)[0])
    with pytest.raises(BadInput, match="has no report in the manifest"):
        verify_results(False, silent)


def test_an_evaluation_while_the_seal_is_moved_away_is_refused(place: Path) -> None:
    config = load_train_config(Path("own.yaml")).model_copy(update={"profile": "quickstart"})
    (MODEL / MANIFEST).rename("seal.json")
    with pytest.raises(BadInput, match="has no final model of a gated run"):
        evaluate(config, "zzz")


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("config", lambda found: found["config"]["eval"].update(control=True)),
        ("profile", lambda found: found.update(profile="rc1")),
        ("figures", lambda found: found["figures"]["delta_pp"].update(success=99.9)),
        ("evidence", lambda found: found["evidence"]["inputs"].update({"logs/eval.jsonl": "0" * 64})),
        ("ambers", lambda found: found.update(ambers=found["checks"][:1])),
        ("more", lambda found: found.update(more="invented")),
    ],
)
def test_no_part_of_the_report_proves_itself(place: Path, part: str, change: Any) -> None:
    record(edit_report(change))
    with pytest.raises(BadInput, match=f"{part}: not what episodes, seals and ticket give"):
        verify_results(False, silent)


def edit_curve(name: str) -> None:
    curve, before = Path(name), Path(name).read_bytes()
    curve.write_bytes(before.replace(b'success":0', b'success":9'))
    assert curve.read_bytes() != before


@pytest.mark.parametrize("name", ["logs/metrics.jsonl", "logs/eval.jsonl"])
def test_a_curve_edited_after_the_run_is_refused(place: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    edit_curve(name)
    with pytest.raises(BadInput, match="not in the manifest: no run recorded it as it is"):
        verify_results(False, silent)
    monkeypatch.setattr(results, "verify_report", lambda *given: None)  # the ticket is another test's matter
    with pytest.raises(BadInput, match="has changed since the run recorded it") as caught:
        evaluate(load_train_config(Path("own.yaml")).model_copy(update={"profile": "quickstart"}), "zzz")
    assert Path(str(caught.value.where)).name == Path(name).name
    record(Path(name), report_again())
    with pytest.raises(BadInput, match="was recorded twice"):
        verify_results(False, silent)


@pytest.mark.parametrize("name", ["logs/metrics.jsonl", "logs/eval.jsonl"])
def test_figures_of_evaluations_in_a_curve_are_derived(place: Path, name: str) -> None:
    """The chain of the manifest is made anew, so that the edited curve is the only one on record."""
    edit_curve(name)
    run, path, head = run_of(GATED_CHECKPOINTS), report_again(), manifest.START
    kept = []
    for entry in manifest.Manifest().entries:
        digest = sha256_file(Path(entry.path)) if entry.path in (str(run / name), str(path)) else entry.sha256
        kept.append(msgspec.json.encode(replace(entry, sha256=digest, before=head)))
        head = sha256(kept[-1]).hexdigest()
    manifest.MANIFEST.write_bytes(b"".join(line + b"\n" for line in kept))
    with pytest.raises(BadInput, match=r"step .* of seed .* is not what the stored evaluation gives"):
        verify_results(False, silent)


def test_settings_and_training_episodes_edited_after_the_run_are_refused(place: Path) -> None:
    run = run_of(GATED_CHECKPOINTS)
    settings, episodes = run / EFFECTIVE_CONFIG, sorted((run / EPISODES).glob("*.jsonl"))[0]
    for file, old, new in ((settings, b"lr: 0.05", b"lr: 0.01"), (episodes, b'"success":false', b'"success":true')):
        before = file.read_bytes()
        file.write_bytes(before.replace(old, new))
        assert file.read_bytes() != before
        with pytest.raises(BadInput, match=r"settings of the final model|changed since the run recorded it"):
            verify_results(False, silent)
        file.write_bytes(before)
    assert verify_results(False, silent)


def test_a_model_of_settings_that_the_ticket_does_not_cover_is_refused(place: Path) -> None:
    marks, step = read_seal(MODEL).marks, read_seal(MODEL).step
    for name in (MANIFEST, COMPLETE):
        (MODEL / name).unlink()
    seal(MODEL, step, marks | {"config": marks["config"] | {"shadow_set": "data/easy.jsonl"}})
    with pytest.raises(BadInput, match=r"not trained with the settings of own\.yaml"):
        verify_results(False, silent)


def sealed_with(step: int, **changed: Any) -> None:
    """The final model under another seal."""
    marks = read_seal(MODEL).marks
    for name in (MANIFEST, COMPLETE):
        (MODEL / name).unlink()
    seal(MODEL, step, marks | changed)


def test_a_model_of_an_earlier_step_is_no_final_model(place: Path) -> None:
    verify_final_model(MODEL)
    sealed_with(2)
    with pytest.raises(BadInput, match="is no final model: it is of step 2, and the config has 3 steps"):
        verify_results(False, silent)


@pytest.mark.parametrize("mark", ["stopped", "reward_hacking"])
def test_a_model_of_a_run_that_was_stopped_is_no_final_model(place: Path, mark: str) -> None:
    sealed_with(3, **{mark: "ask_spam is 0.71"})
    with pytest.raises(BadInput, match=r"is of a run that was stopped after step 3: ask_spam is 0\.71"):
        verify_results(False, silent)


def test_an_own_engine_may_end_early_and_that_is_said(place: Path) -> None:
    sealed_with(2, config=read_seal(MODEL).marks["config"] | {"engine": "coach:Coach"})
    verify_final_model(MODEL)
    assert ended_early(MODEL) == "it is of step 2, and the config has 3 steps"


def test_two_runs_with_one_ticket_are_told_apart(place: Path) -> None:
    """A second run recorded its evaluations after this one, under the same names in its own folder."""
    other = Path("runs/20990101T000000000Z-ab12")
    shutil.copytree(run_of(GATED_CHECKPOINTS), other)
    key = other / "logs/eval/key.json"
    key.write_text(key.read_text() + " ")
    manifest.Manifest().record([key, other / TRAINED])
    assert verify_results(False, silent)


def test_the_forger_cannot_choose_the_dialogues(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def record_draw(*given: Any, **_: Any) -> dict[int, Episode]:
        drawn.append(given[4](8))
        return {}

    monkeypatch.setattr(repeating, "_regenerate", record_draw)
    draws = []
    for _ in range(4):
        drawn: list[list[int]] = []
        told: list[str] = []
        verify_results(True, told.append, dialogues=4)
        assert any("drawn with the random seed" in line for line in told)
        draws.append(tuple(map(tuple, drawn)))
    assert len(set(draws)) > 1


def test_a_run_with_adapters_is_proved_and_exchanged_adapters_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = [{"memory_gb": 0, "modules": ["q_proj", "v_proj"]}]
    train_gated(tmp_path, finetune={"method": "lora", "rank": 4, "targets": targets}, lr=0.5)
    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    verify_results(True, told.append)
    assert any("8 of 8 dialogues are what checkpoints/rc1/final_model says" in line for line in told)
    assert any("8 of 8 dialogues are what model says" in line for line in told)
    assert TRAINED.read_bytes() != BASE.read_bytes()
    weights = MODEL / "adapter_model.safetensors"
    save_file({name: value * 0 for name, value in load_file(weights).items()}, weights)
    reseal(MODEL)
    record(MODEL / MANIFEST, report_again())
    with pytest.raises(BadInput, match="does not say what is recorded here"):
        verify_results(True, silent)


def test_evaluate_finds_the_run_of_its_config(place: Path) -> None:
    """A run of another config began after this one, and the links lead to it."""
    first, other = run_of(GATED_CHECKPOINTS), Path("runs/20990101T000000000Z-ab12")
    open_run(other, GATED_CHECKPOINTS)
    config = load_train_config(Path("own.yaml")).model_copy(update={"profile": "quickstart"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("src.training.results.verify_report", lambda *given: None)
        _, (report, _) = evaluate(config, "again")
    assert run_of(GATED_CHECKPOINTS) == first
    assert newest_evaluation() == first / report
    assert verify_results(False, silent)


ARM = Path("data/episodes/quickstart_ablation/seed_1")


def ablated(**episodes: Path) -> None:
    """An ablation whose two runs have the trained policy as their final model."""
    profile = Path("configs/gates/quickstart.yaml")
    profile.write_text(profile.read_text().replace("configs/quickstart_ablation", "own"))
    edit_profile(lambda found: found["sizes"].update(ablation={"steps": 3, "seeds": [1], "samples": 8}))
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
