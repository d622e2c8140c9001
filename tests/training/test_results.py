"""`askgate evaluate` reports on a finished run from its stored episodes, and refuses those of other runs."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
import torch
from msgspec.structs import replace
from safetensors.torch import load_file

from askgate_env.actions import say
from askgate_env.types import Episode, Sample
from scripts.make_trained_model import make_trained
from src.agents.trajectory import Job
from src.chat.policies import open_policy
from src.checkpoint.seal import COMPLETE, SEAL_FILE, read_seal, seal
from src.cli.evaluate import show_results
from src.config.loader import load_train_config
from src.core.check import evidence, now
from src.core.errors import BadInput
from src.core.files import sha256_file
from src.core.jsonl import read_records, write_records
from src.core.paths import GATED_CHECKPOINTS, all_runs, open_run
from src.eval.trial import SeedRun, trial_report
from src.release.card import model_card, model_evidence
from src.reward.configured import make_reward
from src.training.data import held_out
from src.training.results import as_it_ran, derive
from tests.conftest import Askgate
from tests.eval.episodes import episode
from tests.gates.scripted_policy import run_episode
from tests.rc1 import THRESHOLDS

from .tiny_run import make_model_and_data, write_config

TICKET = {"gated": True, "ticket": "a" * 64, "profile": "quickstart"}
RUN: dict[str, Any] = {
    "steps": 1,
    "seeds": [1, 2],
    "eval": {"every_steps": 2, "control": True},
    "rollout": {"max_turns": 6, "max_tokens": 400, "slots": 4},
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run with two seeds."""
    from src.cli import main

    folder = tmp_path_factory.mktemp("ended")
    make_model_and_data(folder)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("HF_HUB_OFFLINE", "1")
        with pytest.raises(SystemExit) as left:
            main(["train", "--config", str(write_config(folder, **RUN))])
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)
    assert left.value.code == 0
    return folder


@pytest.fixture
def place(ended: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ended, tmp_path, dirs_exist_ok=True, symlinks=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report(place: Path, tag: str = "own") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place / f"reports/ppo_eval_{tag}.json").read_text())
    return found


def as_if(place: Path, good: bool) -> None:
    """Other episodes, as a policy would have made them: the trained one does well, or as badly as its base."""
    config = load_train_config(place / "own.yaml")
    samples, reward = held_out(config)[0], make_reward(config)
    for folder in (place / "logs/eval").glob("seed_*"):
        for name, right in (("step_00000", False), ("step_00001", good)):
            file = folder / f"{name}.jsonl"
            episodes = []
            for one, sample in zip(read_records(file, Episode), samples, strict=True):
                made = replace(_other_episode(sample, right), seed=one.seed, level=one.level)
                episodes.append(replace(made, reward=reward(made, sample)))
            with open(file, "wb") as handle:
                write_records(handle, episodes)


def _other_episode(sample: Sample, right: bool) -> Episode:
    if right:
        said = [say(turn) for turn in sample.dialogue if turn.by == "assistant"]
    else:
        asks = [] if sample.needs_clarification else ["<ask>Which one?</ask>", "<ask>Which one?</ask>"]
        said = [*asks, "<wiki>nothing</wiki>", "<wiki>more</wiki>", "<answer>nothing</answer>"]
    return run_episode(sample, said, Random(1))


def test_a_run_writes_report_and_page_when_it_ends(ended: Path) -> None:
    (found,) = (ended / "reports").glob("ppo_eval_*.json")
    assert found.with_suffix(".html").exists()
    content = json.loads(found.read_text())
    assert [one["seed"] for one in content["seeds"]] == [1, 2]
    assert content["gated"] is False


def test_an_improved_policy_passes_and_the_report_lists_its_inputs(place: Path, askgate: Askgate) -> None:
    as_if(place, good=True)
    done = askgate("evaluate", "--config", "own.yaml")
    assert done.code == 0, done.out + done.err
    assert "PASSED ppo_eval: 4 checks" in done.out
    assert "wrote reports/ppo_eval_own.html" in done.out
    found = report(place)
    trained = "logs/eval/seed_2/step_00001.jsonl"
    assert found["evidence"]["inputs"][trained] == sha256_file(place / trained)
    assert found["pooled"]["changes"]["need_ask_success"]["delta_pp"] == 100.0
    assert found["pooled"]["over_control"]["success"]["trained"]["value"] == 1.0
    assert b"PASSED" in (place / "reports/ppo_eval_own.html").read_bytes()


def test_a_run_without_improvement_fails_every_gate(place: Path, askgate: Askgate) -> None:
    as_if(place, good=False)
    done = askgate("evaluate", "--config", "own.yaml", "--tag", "second")
    assert done.code == 1
    for name in ("need_ask_success_pp", "overclar_relative", "success_hard_pp"):
        assert f"FAILED {name}" in done.out
    assert "seed 2" in done.out
    assert report(place, "second")["passed"] is False


def test_the_report_says_whether_the_run_was_gated(place: Path, askgate: Askgate) -> None:
    as_if(place, good=True)
    (run,) = all_runs()
    (run / "checkpoints/local").rename(run / "checkpoints/rc1")
    (place / "checkpoints/local").unlink()
    open_run(run, GATED_CHECKPOINTS)
    for folder in (place / "checkpoints/rc1").glob("seed_*/final_model"):
        marks = read_seal(folder).marks
        for name in (SEAL_FILE, COMPLETE):
            (folder / name).unlink()
        seal(folder, 1, marks | TICKET)
    content = derive(as_it_ran(load_train_config(place / "own.yaml")), "own")
    assert (content.gated, content.ticket, content.profile) == (True, "a" * 64, "quickstart")
    done = askgate("evaluate", "--config", "own.yaml")
    assert done.code == 2
    assert "round2_pass.json" in done.err


def test_an_edited_seal_is_refused(place: Path, askgate: Askgate) -> None:
    as_if(place, good=True)
    for manifest in (place / "checkpoints/local").glob("seed_*/final_model/manifest.json"):
        found = json.loads(manifest.read_text())
        manifest.write_text(json.dumps({**found, "marks": found["marks"] | TICKET}))
    done = askgate("evaluate", "--config", "own.yaml")
    assert done.code == 2
    assert "manifest.json is not the one that COMPLETE was written for" in done.err
    assert not (place / "reports/ppo_eval_own.json").exists()


def test_a_config_that_the_run_never_had_is_refused(place: Path, askgate: Askgate) -> None:
    done = askgate("evaluate", "--config", write_config(place, **RUN, lr=0.5))
    assert done.code == 2
    (run,) = all_runs()
    assert f"the run had another lr. What to do: name its config: askgate eval --config {run}/reports" in done.err
    write_config(place, **RUN).rename("trained.yaml")
    write_config(place, **RUN, lr=0.5)
    assert "name its config: askgate eval --config trained.yaml" in askgate("eval", "--config", "own.yaml").err


def test_the_curves_are_among_the_inputs(place: Path, askgate: Askgate) -> None:
    askgate("evaluate", "--config", "own.yaml")
    assert report(place)["evidence"]["inputs"]["logs/eval.jsonl"] == sha256_file(place / "logs/eval.jsonl")


def test_a_tag_with_a_path_is_refused(place: Path, askgate: Askgate) -> None:
    done = askgate("evaluate", "--config", "own.yaml", "--tag", "../../up")
    assert done.code == 2
    assert "--tag" in done.err


def test_shares_are_shown_in_percent_beside_a_missing_value(capsys: pytest.CaptureFixture[str]) -> None:
    """A policy that never asks has no precision; the base's is still printed as 50, not 0.50."""
    base = [episode("a", needs=True, asks=1), episode("b", asks=1)]
    trained = [episode("a", needs=True), episode("b")]
    about = {"ts": now(), "profile": "local", "gated": False, "ticket": None, "config": {}}
    show_results(trial_report([SeedRun(1, 1, base, trained, None)], about, THRESHOLDS, evidence([], [], {}, now())))
    rows = [line.split("  ") for line in capsys.readouterr().out.splitlines() if "precision" in line]
    cells = {label: [cell.strip() for cell in rest if cell] for label, *rest in rows}
    expected = ["50.0", "-", "-", "-"]
    assert cells == {"question precision": expected, "ask precision, by episode": expected}


def test_an_unfinished_run_is_refused(place: Path, askgate: Askgate) -> None:
    (place / "logs/eval/seed_2/step_00001.jsonl").unlink()
    done = askgate("evaluate", "--config", "own.yaml")
    assert done.code == 2
    assert "seed_2/step_00001.jsonl: no such evaluation" in done.err
    assert not (place / "reports/ppo_eval_own.json").exists()


def test_evaluations_on_another_shadow_set_are_refused(place: Path, askgate: Askgate) -> None:
    with open(place / "data/shadow.jsonl", "ab") as handle:
        handle.write(b"\n")
    done = askgate("evaluate", "--config", "own.yaml")
    assert done.code == 2
    assert "made with another shadow_set" in done.err


def test_evaluation_without_a_run_is_refused(place: Path, askgate: Askgate) -> None:
    shutil.rmtree(all_runs()[0] / "logs")
    done = askgate("evaluate", "--config", "own.yaml")
    assert done.code == 2
    assert "run the training to its end" in done.err
    assert "with --resume (ppo-runner: no flag)" in done.err, "a gated run resumes by itself"


GATED_CONFIG = Path("configs/quickstart_gated.yaml")


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def final_model(kind: str, profile: str, at: int) -> None:
    folder = Path("checkpoints") / kind / "final_model"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    seal(folder, 1, {"profile": profile})
    os.utime(folder / "manifest.json", (at, at))


@pytest.mark.usefixtures("empty_folder")
def test_without_a_run_the_profile_is_that_of_the_config() -> None:
    assert as_it_ran(load_train_config(GATED_CONFIG)).profile == "local"


@pytest.mark.usefixtures("empty_folder")
def test_the_newer_of_local_and_gated_run_is_evaluated() -> None:
    final_model("rc1", "quickstart", at=100)
    assert as_it_ran(load_train_config(GATED_CONFIG)).profile == "quickstart"
    final_model("local", "local", at=200)
    assert as_it_ran(load_train_config(GATED_CONFIG)).profile == "local"
    final_model("rc1", "quickstart", at=300)
    assert as_it_ran(load_train_config(GATED_CONFIG)).checkpoint_root.name == "rc1"


@pytest.mark.parametrize(
    "change",
    [{"success": True}, {"told": True}, {"reward": {"outcome": 1.0}}, {"needs_clarification": False}, {"seed": 9}],
)
def test_an_episode_that_claims_more_than_its_dialogue_is_refused(
    place: Path, askgate: Askgate, change: dict[str, Any]
) -> None:
    file = place / "logs/eval/seed_1/step_00001.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    at = next(at for at, line in enumerate(lines) if line["needs_clarification"] and not line["success"])
    lines[at] |= change
    file.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    done = askgate("evaluate", "--config", "own.yaml")
    assert done.code == 2
    assert f"step_00001.jsonl:{at + 1}: does not match a replay of" in done.err


def test_episodes_of_chosen_samples_are_refused(place: Path, askgate: Askgate) -> None:
    file = place / "logs/eval/seed_1/step_00001.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines[:-1], lines[0]]))
    done = askgate("evaluate", "--config", "own.yaml")
    assert done.code == 2
    assert "not those of the held-out samples" in done.err


def test_a_run_that_passed_becomes_the_model_of_the_demo(place: Path, askgate: Askgate) -> None:
    as_if(place, good=True)
    assert askgate("evaluate", "--config", "own.yaml").code == 0
    (place / "models").mkdir()
    final, out = Path("checkpoints/local/seed_1/final_model"), Path("models/tiny-trained")
    card = make_trained(final, out)
    assert f"--model {final} --out {out}" in card
    assert f"SHA-256 `{sha256_file(Path('reports/ppo_eval_own.json'))}`" in card
    assert "| Need-ask success | 0.0% | 0.0% | 100.0% | +100.0 |" in card
    assert (out / "README.md").read_text(encoding="utf-8") == card
    assert sha256_file(out / "run_seal.json") == sha256_file(final / SEAL_FILE)
    weights, trained = (load_file(folder / "model.safetensors") for folder in (out, final))
    assert all(torch.equal(weights[name], value.half()) for name, value in trained.items())
    assert not any(str(place) in file.read_text() for file in out.iterdir() if file.suffix in (".json", ".md"))
    with open_policy(str(out)) as policy:
        assert policy.rollout([Job(next(iter(read_records(Path("data/shadow.jsonl"), Sample))))], 2)


@pytest.mark.parametrize("good", [True, False])
def test_the_card_of_a_run_says_what_its_report_says(place: Path, askgate: Askgate, good: bool) -> None:
    as_if(place, good)
    assert askgate("evaluate", "--config", "own.yaml").code == (0 if good else 1)
    final = Path("checkpoints/local/seed_1/final_model")
    found = model_evidence(final, lambda line: None)
    card = model_card("me/asks", final, found)
    assert card.split("\n\n")[2].startswith("**Not gated.**")
    told = "The gates on the trained policy passed." if good else "**Red.**"
    assert card.split("\n\n")[3].startswith(told)
    assert ("- `need_ask_success_pp` is 0, must be" in card) is not good
    assert f"| Need-ask success | 0.0% | 0.0% | {'100.0% | +100.0' if good else '0.0% | +0.0'} |" in card
    assert "| builtin |" in card
    assert f"SHA-256 `{sha256_file(Path('reports/ppo_eval_own.json'))}`" in card
    assert str(place) not in card
    gated = dataclasses.replace(found, report=replace(found.report, gated=True), signed={"judge_noise": "Ada"})
    verdict = model_card("me/asks", final, gated)
    assert "Not gated" not in verdict
    assert ("Both rounds of gates passed before training" in verdict) is good
    assert "**Amber** `judge_noise` (signed off by Ada)" in verdict
    _forged(place)
    with pytest.raises(BadInput, match="figures: not what episodes, seals and ticket give"):
        model_evidence(final, lambda line: None)


def test_the_shipped_models_card_counts_sft_apart_from_ppo() -> None:
    folder = Path(__file__).resolve().parents[2] / "models/tiny-trained"
    sealed = json.loads((folder / "run_seal.json").read_bytes())
    warm = sealed["marks"]["config"]["warm_start"]
    told = f"SFT on {warm['tokens']:,} tokens, then PPO, {sealed['step'] - warm['steps']} steps of"
    assert told in (folder / "README.md").read_text(encoding="utf-8")


def _none(place: Path) -> None:
    for file in (place / "reports").glob("ppo_eval_*"):
        file.resolve().unlink()
        file.unlink()


def _forged(place: Path) -> None:
    path = place / "reports/ppo_eval_own.json"
    path.write_text(path.read_text().replace('"held_out": 8', '"held_out": 800'))


def _other_weights(place: Path) -> None:
    with open(place / "checkpoints/local/seed_1/final_model/model.safetensors", "r+b") as handle:
        handle.seek(-1, os.SEEK_END)
        handle.write(b"\x01")


@pytest.mark.parametrize(
    ("good", "spoil", "why"),
    [
        (True, _none, "has no report"),
        (True, _forged, "figures: not what episodes, seals and ticket give"),
        (True, _other_weights, "model.safetensors was changed"),
        (False, lambda place: None, r"did not pass \(need_ask_success_pp"),
    ],
)
def test_no_model_for_the_demo_without_a_valid_report(
    place: Path, askgate: Askgate, good: bool, spoil: Callable[[Path], None], why: str
) -> None:
    as_if(place, good)
    askgate("evaluate", "--config", "own.yaml")
    spoil(place)
    with pytest.raises(BadInput, match=why):
        make_trained(Path("checkpoints/local/seed_1/final_model"), Path("models/tiny-trained"))
    assert not Path("models/tiny-trained").exists()
