"""Attacks on the results of a gated run: edited reports, episodes and curves, appended records."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from askgate_env.types import Episode
from src.checkpoint.seal import SEAL_FILE
from src.config.loader import load_train_config
from src.core.errors import BadInput
from src.core.files import json_bytes, sha256_file
from src.core.jsonl import read_records, write_records
from src.core.paths import EFFECTIVE_CONFIG, EPISODES, GATED_CHECKPOINTS, evaluations, open_run, run_of
from src.eval import replay
from src.eval.metrics import HARD_READING
from src.gates import manifest
from src.gates.admission import Admission
from src.gates.manifest import newest_evaluation
from src.gates.ticket import TICKET
from src.release.card import model_evidence
from src.training import results
from src.training import run as training
from src.training import verify_results as verify_module
from src.training.preflight import preflight
from src.training.results import evaluate
from src.training.resume import source_hashes
from src.training.verify_results import verify_results
from tests.attacks.gated_run import MODEL, TRAINED, record, report_again, reseal, silent
from tests.gates.run_folder import edit_profile
from tests.gates.test_trial import change


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


def test_a_figure_that_is_in_the_report_twice_is_refused(place: Path) -> None:
    """The last one counts, and a reader sees the first."""
    path = newest_evaluation()
    assert path
    path.write_bytes(path.read_bytes().replace(b"{", b'{\n  "figures": {"delta_pp": {"success": 99.9}},', 1))
    record(path)
    with pytest.raises(BadInput, match="is not written as AskGate writes it"):
        verify_results(False, silent)


def test_the_card_of_a_forged_tickets_run_is_refused(place: Path) -> None:
    """The results follow from the episodes, but no round wrote this ticket."""
    assert verify_results(False, silent)
    with pytest.raises(BadInput) as caught:
        model_evidence(MODEL, silent)
    assert caught.value.where == str(TICKET)


@pytest.mark.parametrize("parallel_from", [1, 1_000], ids=["several processes", "this process"])
def test_success_written_into_the_episodes_is_refused(
    place: Path, parallel_from: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "PARALLEL_FROM", parallel_from)
    monkeypatch.setattr(verify_module, "usable_cores", lambda most: 2)
    episodes = [replace(one, success=True) for one in read_records(TRAINED, Episode)]
    with TRAINED.open("wb") as handle:
        write_records(handle, episodes)
    record(TRAINED)
    for report in (lambda: verify_results(False, silent), report_again):  # a trainer started again only reports
        with pytest.raises(BadInput, match=r"step_00003\.jsonl:\d+: does not match a replay of"):
            report()


def test_an_episode_with_a_key_twice_is_refused(place: Path) -> None:
    """The last one counts, and a reader sees the first."""
    TRAINED.write_bytes(TRAINED.read_bytes().replace(b"{", b'{"success":true,', 1))
    record(TRAINED)
    with pytest.raises(BadInput, match=r"step_00003\.jsonl:1: is not written as AskGate writes it"):
        verify_results(False, silent)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param(lambda key: {"greedy": not key["greedy"]}, "made with another greedy", id="greedy"),
        pytest.param(lambda key: {"rollout": key["rollout"] | {"max_turns": 1}}, "the settings", id="turns"),
        pytest.param(lambda key: {"reward": key["reward"] | {"outcome": 9.0}}, "the settings", id="reward"),
        pytest.param(lambda key: {"base_model": "0" * 64}, "the settings", id="base"),
        pytest.param(lambda key: {"dtype": "success 99.9%"}, "the settings", id="dtype"),
        pytest.param(lambda key: {"success": 0.999}, "the settings", id="one more"),
    ],
)
def test_an_evaluation_with_settings_of_another_run_is_refused(place: Path, change: Any, why: str) -> None:
    """Such as sampled dialogues, said to be those of a greedy policy."""
    key = run_of(GATED_CHECKPOINTS) / "logs/eval/key.json"
    stated = json.loads(key.read_bytes())
    key.write_bytes(json_bytes(stated | change(stated)))
    record(key)
    with pytest.raises(BadInput, match=why) as caught:
        verify_results(False, silent)
    assert Path(caught.value.where).name == "key.json"


@pytest.mark.parametrize("field", ["ts", "started", "version"])
def test_a_sentence_as_time_or_version_is_refused(place: Path, field: str) -> None:
    """The time of the report is in the first lines of RC1.html."""
    path = newest_evaluation()
    assert path
    found = json.loads(path.read_bytes())
    (found if field == "ts" else found["evidence"])[field] = "today: success 99.9%"
    path.write_bytes(json_bytes(found))
    record(path)
    with pytest.raises(BadInput, match=r"for a time|is not written as AskGate writes it"):
        verify_results(False, silent)


def test_a_file_recorded_as_one_of_the_run_is_refused(place: Path) -> None:
    """It would be packed, and nothing derives what it says."""
    more = run_of(GATED_CHECKPOINTS) / "logs/eval/results.json"
    more.write_text('{"success": 0.999}')
    record(more)
    with pytest.raises(BadInput, match="no run records such a file"):
        verify_results(False, silent)


def test_a_comment_in_the_effective_config_is_refused(place: Path) -> None:
    """No manifest has this file; its settings are compared with the seal."""
    file = run_of(GATED_CHECKPOINTS) / EFFECTIVE_CONFIG
    file.write_text("# success 99.9%\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(BadInput, match="does not have the settings of the final model"):
        verify_results(False, silent)


@pytest.mark.parametrize("kind", ["report", "episodes of a step", "folder of episodes"])
def test_a_report_that_is_a_link_is_refused(place: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it leads to may be exchanged after it was verified."""
    path = newest_evaluation() if kind == "report" else TRAINED if "step" in kind else TRAINED.parent.resolve()
    monkeypatch.setattr(verify_module, "outputs", lambda config: [])  # a step in the middle of a run is not among them
    assert path
    path.rename("elsewhere.json")
    path.symlink_to(Path("elsewhere.json").absolute())
    with pytest.raises(BadInput, match="is a link") as caught:
        verify_results(False, silent)
    assert path.name in Path(caught.value.where).parts


def test_an_evaluation_is_recorded_under_its_tag_in_the_run(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    path.write_bytes(json_bytes(report))
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
    (MODEL / SEAL_FILE).rename("seal.json")
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
        digest = sha256_file(Path(entry.path)) if entry.path in (str(run / name), str(path)) else entry.digest
        kept.append(msgspec.json.encode(replace(entry, digest=digest, before=head)))
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


def test_two_runs_with_one_ticket_are_told_apart(place: Path) -> None:
    """A second run recorded its evaluations after this one, under the same names in its own folder."""
    other = Path("runs/20990101T000000000Z-ab12")
    shutil.copytree(run_of(GATED_CHECKPOINTS), other)
    key = other / "logs/eval/key.json"
    key.write_text(key.read_text() + " ")
    manifest.Manifest().record([key, other / TRAINED])
    assert verify_results(False, silent)


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


def at_scale() -> tuple[Path, Admission]:
    """A config at scale whose trial is the finished run, and an admission for it."""
    Path("scale.yaml").write_text("extends: own.yaml\nsteps: 9\n", encoding="utf-8")
    edit_profile(lambda found: found["paths"].update(config="scale.yaml", trial="own.yaml"))
    edit_profile(lambda found: found["thresholds"].update(trial_required=True))
    sources = source_hashes(preflight(Path("scale.yaml")))
    return Path("scale.yaml"), Admission("quickstart", sha256_file(TICKET), "run", sources)


def test_a_trial_is_not_resumed_as_the_run_at_scale(place: Path) -> None:
    """Only their steps differ, so the checkpoints of the trial could be resumed. Nobody has evaluated it."""
    with pytest.raises(BadInput, match="there is no report of a trial"):
        training.run(at_scale()[0], False, at_scale()[1])


def test_a_trial_with_invented_figures_starts_no_run_at_scale(place: Path) -> None:
    """The forger also appends to the manifest."""
    scale, admission = at_scale()
    config = load_train_config(Path("own.yaml")).model_copy(update={"profile": "quickstart"})
    path = run_of(GATED_CHECKPOINTS) / results.write_results(config, "quickstart_trial")[1][0]
    record(path)
    training._verify_trial(config, path)
    with pytest.raises(BadInput, match="the trial failed"):
        training.run(scale, False, admission)
    found = json.loads(path.read_bytes())
    found["pooled"]["changes"] |= {
        "need_ask_success": msgspec.to_builtins(change(0.2, 0.4)),
        "overclar_rate": msgspec.to_builtins(change(0.3, 0.1)),
        "avg_turns": msgspec.to_builtins(change(3.0, 2.9)),
        f"success_{HARD_READING}": msgspec.to_builtins(change(0.3, 0.5)),
    }
    path.write_bytes(json_bytes(found))
    record(path)
    with pytest.raises(BadInput, match="pooled: not what episodes, seals and ticket give"):
        training.run(scale, False, admission)
