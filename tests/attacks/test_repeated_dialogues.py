"""Attacks that `verify --deep` finds: the models do not say what is recorded of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
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
from src.checkpoint.seal import COMPLETE, SEAL_FILE, read_seal, seal
from src.config.loader import load_train_config
from src.config.train_config import TrainConfig
from src.core.errors import BadInput
from src.core.files import sha256_file
from src.core.jsonl import read_records, write_records
from src.eval.metrics import LOGGED, figures, flat, mean_reward
from src.gates import manifest
from src.reward.configured import make_reward
from src.training import repeat_dialogues as repeating
from src.training import results
from src.training.data import held_out
from src.training.verify_results import verify_results
from tests.attacks.gated_run import BASE, MODEL, TRAINED, record, report_again, reseal, silent, train_gated
from tests.gates.run_folder import edit_profile


def test_the_honest_run_is_proved(place: Path) -> None:
    told: list[str] = []
    assert verify_results(True, told.append) is not None
    assert any(": checkpoints/rc1/final_model repeats 8 of 8 dialogues" in line for line in told)
    assert any(": model repeats 8 of 8 dialogues" in line for line in told)


def test_untrained_weights_under_a_new_seal_are_named_by_deep(place: Path) -> None:
    shutil.copy("model/model.safetensors", MODEL / "model.safetensors")
    reseal(MODEL)
    record(MODEL / SEAL_FILE)
    with pytest.raises(BadInput, match="evidence: not what"):
        verify_results(False, silent)
    record(report_again())
    with pytest.raises(BadInput, match="does not repeat the recorded dialogues"):
        verify_results(True, silent)


def swap_two_tokens(text: str) -> str:
    found = json.loads(text)
    vocabulary = found["model"]["vocab"]
    first, second = sorted(vocabulary, key=vocabulary.__getitem__)[300:302]
    vocabulary[first], vocabulary[second] = vocabulary[second], vocabulary[first]
    return json.dumps(found, ensure_ascii=False)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        pytest.param("tokenizer.json", swap_two_tokens, id="tokenizer"),
        pytest.param("chat_template.jinja", lambda text: "{{ messages }}", id="chat template"),
        pytest.param("generation_config.json", lambda text: json.dumps(json.loads(text) | {"top_k": 1}), id="sampling"),
        pytest.param("config.json", lambda text: json.dumps(json.loads(text) | {"rope_theta": 7.0}), id="config"),
        pytest.param("system_prompt.json", lambda text: text.replace("ask", "guess"), id="system prompt"),
        pytest.param("SERVING.md", lambda text: f"{text}\nSuccess: 99.9%\n", id="recipe"),
    ],
)
def test_files_beside_the_weights_are_those_of_the_base(place: Path, name: str, change: Callable[[str], str]) -> None:
    """Whoever serves the model uses them; the dialogues that it repeats are rendered with those of the base."""
    file = MODEL / name
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    file.write_text(change(text), encoding="utf-8")
    assert file.read_text(encoding="utf-8") != text
    reseal(MODEL)
    record(MODEL / SEAL_FILE, report_again())
    assert verify_results(False, silent)
    with pytest.raises(BadInput, match=r"is not what the base model gives|does not repeat the recorded") as caught:
        verify_results(True, silent)
    assert caught.value.where == str(file)


def test_base_episodes_sold_as_trained_are_named_by_deep(place: Path) -> None:
    shutil.copy(BASE, TRAINED)
    record(TRAINED, report_again())
    with pytest.raises(BadInput, match="does not repeat the recorded dialogues"):
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
        line = msgspec.json.encode(replace(entry, digest=forged.get(entry.path, entry.digest), before=head))
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
    for name in (SEAL_FILE, COMPLETE):
        (MODEL / name).unlink()
    seal(MODEL, step, marks | {"machine": {"torch": "2.0", "threads": 64, "cpu": "AVX2"}})
    record(MODEL / SEAL_FILE, report_again())
    torch.set_num_threads(1)  # nothing here depends on it, and two threads on a busy machine wait for each other


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
    assert sum("repeats 32 of 32 dialogues exactly" in line for line in told) == 2
    rewrite(TRAINED, invented(1))
    with pytest.raises(BadInput, match="does not repeat the recorded dialogues: 1 differ"):
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


def test_the_forger_cannot_choose_the_dialogues(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def record_draw(*given: Any, **_: Any) -> dict[int, Episode]:
        drawn.append(given[5](8))
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


def test_adapters_are_proved_and_exchanged_adapters_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    targets = [{"memory_gb": 0, "modules": ["q_proj", "v_proj"]}]
    train_gated(tmp_path, finetune={"method": "lora", "rank": 4, "targets": targets}, lr=0.5)
    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    verify_results(True, told.append)
    assert any(": checkpoints/rc1/final_model repeats 8 of 8 dialogues" in line for line in told)
    assert any(": model repeats 8 of 8 dialogues" in line for line in told)
    assert TRAINED.read_bytes() != BASE.read_bytes()
    weights = MODEL / "adapter_model.safetensors"
    save_file({name: value * 0 for name, value in load_file(weights).items()}, weights)
    reseal(MODEL)
    record(MODEL / SEAL_FILE, report_again())
    with pytest.raises(BadInput, match="does not repeat the recorded dialogues"):
        verify_results(True, silent)


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
        shutil.copytree(MODEL, model, ignore=lambda folder, names: [SEAL_FILE, COMPLETE])
        seal(model, step, marks | {"config": marks["config"] | {"profile": "local"}})
        shutil.copy(model / SEAL_FILE, ARM / f"{side}.seal.json")
        shutil.copy(file, ARM / f"{side}.jsonl")


def test_the_models_of_an_ablation_repeat_their_dialogues(place: Path) -> None:
    ablated(without=TRAINED, **{"with": TRAINED})
    told: list[str] = []
    verify_results(True, told.append)
    repeats = [line for line in told if ": .askgate/ablation/own/" in line]
    assert sum("repeats 8 of 8 dialogues exactly" in line for line in repeats) == 2
    shutil.rmtree(".askgate/ablation")
    verify_results(True, told.append)
    assert sum("its model is not in this folder any more" in line for line in told) == 2


def test_ablation_episodes_of_another_policy_are_named_by_deep(place: Path) -> None:
    ablated(without=TRAINED, **{"with": BASE})
    with pytest.raises(BadInput, match="does not repeat the recorded dialogues") as caught:
        verify_results(True, silent)
    assert caught.value.where == str(ARM / "with.jsonl")
