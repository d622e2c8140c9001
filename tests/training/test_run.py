"""`askgate train`: a run from config to table, its files, and refusals before anything is written."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from askgate_env.types import Episode, Sample
from src.chat.policies import open_policy
from src.checkpoint.seal import read_seal
from src.core.errors import BadInput
from src.core.jsonl import read_records
from src.data.pool.shadow_set import evenly_spaced
from src.training.preflight import plan, preflight
from src.training.run import _marks, _prepare_seed, run
from src.training.sft_control import tokens_seen
from tests.conftest import Askgate

from .run_outputs import assert_refused, lines
from .tiny_run import write_config


def test_a_run_writes_its_files_and_ends_with_a_table(place: Path, askgate: Askgate) -> None:
    done = askgate("train", "--config", write_config(place))
    assert done.code == 0, done.err
    for row in ("need-ask success", "over-clarification", "success", "mean turns"):
        assert re.search(rf"^{row} ", done.out, flags=re.MULTILINE), done.out
    assert "step 3/3 reward" in done.err

    metrics = lines(place / "logs" / "metrics.jsonl")
    assert [(line["seed"], line["step"]) for line in metrics] == [(1, 1), (1, 2), (1, 3)]
    assert all(isinstance(line["loss"], float) for line in metrics)
    assert ["eval/success" in line for line in metrics] == [False, True, True]
    assert os.readlink(place / "reports" / "metrics.jsonl") == "../logs/metrics.jsonl"
    assert (place / "reports" / "metrics.jsonl").read_bytes() == (place / "logs" / "metrics.jsonl").read_bytes()

    episodes = [list(read_records(place / f"logs/episodes/step_0000{step}.jsonl", Episode)) for step in (1, 2, 3)]
    assert [len(batch) for batch in episodes] == [4, 4, 4]
    for batch, line in zip(episodes, metrics, strict=True):
        rewards = [sum(episode.reward.values()) for episode in batch]
        assert line["reward"] == pytest.approx(sum(rewards) / len(rewards))
        assert {term for episode in batch for term in episode.reward} == {"outcome", "overclar"}

    assert [line["step"] for line in lines(place / "logs" / "eval.jsonl")] == [0, 2, 3]
    assert yaml.safe_load((place / "reports" / "config_effective.yaml").read_text())["target_kl"] == 0.03
    assert "step 3/3 reward" in (place / "logs" / "train.log").read_text()
    assert list((place / "logs" / "tensorboard").glob("events.*"))
    assert not list((place / "reports").glob("ERROR_*"))


def test_a_plan_trains_nothing_and_shows_what_to_type(place: Path, askgate: Askgate) -> None:
    config = write_config(place, steps=2, warm_start={"steps": 1, "tokens": 400}, eval={"n": 2})
    before = sorted(place.rglob("*"))
    done = askgate("train", "--config", config, "--plan")
    assert done.code == 0, done.err
    assert re.search(r"all steps .* for 2 steps, 1 of them warm start", done.out)
    assert "judge" not in done.out
    assert sorted(place.rglob("*")) == before
    done = askgate("train", "--config", config)
    assert "2 steps, 1 of them warm start" in done.err
    assert f"askgate eval --config {config}" in done.out
    assert "askgate chat checkpoints/local/final_model" in done.out
    assert "(local: it has no ticket, so report and package are not for it)" in askgate("status").out
    judged = askgate("eval", "--config", config).out
    assert "AMBER task_success" in judged
    assert "sign" not in judged, "a local run has no sign-off"
    done = askgate("train", "--config", config, "--resume", "--set", "steps=3")
    assert re.search(r"forecast: all steps: .* for 1 step\n", done.err), done.err


@pytest.mark.parametrize("flags", [(), ("--plan",)])
def test_a_model_of_another_family_is_one_message(place: Path, askgate: Askgate, flags: tuple[str, ...]) -> None:
    Path("gpt2").mkdir()
    Path("gpt2/config.json").write_text(json.dumps({"model_type": "gpt2", "n_embd": 16, "n_layer": 1, "n_head": 1}))
    done = askgate("train", "--config", write_config(place, base_model="gpt2"), *flags)
    assert done.code == 2
    assert "gpt2: models of type gpt2 are not supported" in done.err
    assert "name a model of type llama, mistral, qwen2, qwen3" in done.err
    gguf = ("export-gguf", "--model", "gpt2", "--out", "gpt2.gguf")
    for other in (("chat", "gpt2"), ("eval", "--model", "gpt2", "--config", write_config(place)), gguf):
        assert "gpt2: models of type gpt2 are not supported" in askgate(*other).err


def test_a_model_without_a_tokenizer_is_named_as_such(place: Path, askgate: Askgate) -> None:
    shutil.copytree("model", "bare", ignore=shutil.ignore_patterns("tokenizer*"))
    done = askgate("train", "--config", write_config(place, base_model="bare"))
    assert (done.code, "bare: has no tokenizer: tokenizer.json is missing" in done.err) == (2, True), done.err


def test_a_plan_before_the_data_is_built_checks_the_strategy(place: Path) -> None:
    with pytest.raises(BadInput, match="strategy: pure_pt does not run nonsense"):
        plan(write_config(place, strategy="nonsense"))
    with pytest.raises(BadInput, match="batch_size"):
        plan(write_config(place, strategy="grpo", batch_size=5))


def test_measuring_one_model_builds_no_pool(askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = ("--config", "configs/quickstart.yaml", "--set", "build.shadow_n=30", "--n", "2")
    done = askgate("eval", "--model", "models/tiny", *config)
    assert done.code == 0, done.err
    assert Path("data/quickstart_shadow.jsonl").exists()
    assert not Path("data/rollouts").exists()


def test_a_small_evaluation_has_both_kinds_of_samples(place: Path) -> None:
    samples = list(read_records(place / "data/pool.jsonl", Sample))
    need = [one for one in samples if one.needs_clarification][:4]
    rest = [one for one in samples if not one.needs_clarification][:8]
    mixed = [one for place in range(4) for one in (rest[2 * place], need[place], rest[2 * place + 1])]
    assert evenly_spaced(mixed, None) == mixed
    assert evenly_spaced(mixed, 6) == mixed[::2]  # it has both
    assert [one.needs_clarification for one in mixed[::3]] == [False] * 4
    assert [one.needs_clarification for one in evenly_spaced(mixed, 4)].count(True) == 1
    assert len(evenly_spaced(mixed, 2)) == 2
    assert len(evenly_spaced(mixed, 1)) == 1


def test_an_interrupted_run_says_what_to_type(
    place: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def interrupt(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("src.training.run._run_seeds", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run(write_config(place), resume=False, overrides=["steps=2"])
    command = f"askgate train --config {place / 'own.yaml'} --set steps=2"
    assert f"interrupted; to start again: {command}" in caplog.text, "there is no checkpoint yet"


EARLY = """
from dataclasses import replace
from src.engines.pure_pt import PurePT

class Early(PurePT):
    def __init__(self, job):
        super().__init__(replace(job, max_steps=2))
"""


def test_an_engine_that_ends_early_is_reported_with_steps(place: Path, askgate: Askgate) -> None:
    (place / "early.py").write_text(EARLY)
    done = askgate("train", "--config", write_config(place, engine="early:Early", steps=5, eval={"every_steps": 5}))
    assert done.code == 0, done.err
    assert "the engine ended after step 2 of 5" in done.err
    (file,) = (place / "reports").glob("ppo_eval_*.json")
    report = json.loads(file.read_text())
    assert (report["seeds"][0]["steps"], report["pooled"]["steps"], report["evidence"]["arguments"]["steps"]) == (
        2,
        2,
        2,
    )
    assert "logs/eval/step_00002.jsonl" in report["evidence"]["inputs"]
    assert "wrote" in askgate("evaluate", "--config", place / "own.yaml", "--tag", "again").out


def test_checkpoints_of_a_local_run_are_marked_ungated(place: Path, askgate: Askgate) -> None:
    assert askgate("train", "--config", write_config(place, steps=1)).code == 0
    for name in ("latest", "final_model"):
        marks = json.loads((place / "checkpoints" / "local" / name / "manifest.json").read_text())["marks"]
        assert (marks["gated"], marks["releasable"], marks["profile"]) == (False, False, "local")


def test_a_control_needs_an_engine_that_counts_tokens() -> None:
    with pytest.raises(BadInput, match="does not count the tokens") as refusal:
        tokens_seen(object())
    assert refusal.value.where == "eval.control"


def test_tools_come_from_the_pool_and_adapters_from_the_checkpoint(place: Path) -> None:
    meta = place / "data" / "pool.meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"tools": ["calc"]}))
    adapters = {"method": "lora", "rank": 2, "targets": [{"memory_gb": 0, "modules": ["q_proj"]}]}
    ready = preflight(write_config(place, finetune=adapters))
    made = _prepare_seed(ready, 1, ("v_proj",))
    assert made.job.rollout.tools == ("calc",)
    assert made.job.lora_targets == ("v_proj",)
    assert _marks(ready, made)["lora_targets"] == ["v_proj"]


def test_the_control_is_compared_with_the_trained_policy(place: Path, askgate: Askgate) -> None:
    looks = {"every_steps": 2, "control": True, "control_lr": 0.01}
    done = askgate("train", "--config", write_config(place, steps=1, eval=looks))
    assert done.code == 0, done.err
    assert re.search(r"^seed 1, 1 steps +base +SFT control +trained ", done.out, flags=re.MULTILINE), done.out
    tokens = sum(line["tokens"] * 4 for line in lines(place / "logs" / "metrics.jsonl"))
    assert f"control: SFT of the base on {tokens:.0f} tokens" in done.err
    assert len(list(read_records(place / "logs" / "eval" / "control.jsonl", Episode))) == 8
    assert read_seal(place / "checkpoints" / "local" / "control").marks["tokens"] == tokens
    (path,) = (place / "reports").glob("ppo_eval_*.json")
    report = json.loads(path.read_text())
    assert report["gated"] is False
    assert report["seeds"][0]["over_control"]["success"]["base"]["n"] == 8


def test_json_output_has_the_changes_of_every_seed(place: Path, askgate: Askgate) -> None:
    (found,) = json.loads(askgate("train", "--config", write_config(place, steps=1), "--json").out)
    assert (found["seed"], found["steps"]) == (1, 1)
    assert found["changes"]["success"]["base"]["n"] == 8


OWN = """
from src.strategies.ppo import PPO

class Mine(PPO):
    def __init__(self, boldness: float, **others):
        super().__init__(**others)
        if boldness > 1:
            raise RuntimeError("too bold, with key sk-own-123456")
"""


def test_a_user_strategy_in_the_working_folder_is_used(place: Path, askgate: Askgate) -> None:
    (place / "own_strategy_used.py").write_text(OWN)
    mine = {"strategy": "own_strategy_used:Mine", "strategy_options": {"boldness": 0.5}}
    done = askgate("train", "--config", write_config(place, steps=1, **mine))
    assert done.code == 0, done.err


OWN_CALLBACK = """
from src.core.api import Stop

class Enough:
    def on_start(self, engine): ...
    def on_step(self, engine, result):
        if result.step == 2:
            raise Stop("two steps will do")
    def on_end(self, engine): ...
"""


def test_a_user_callback_may_end_the_run(place: Path, askgate: Askgate) -> None:
    (place / "own_callback.py").write_text(OWN_CALLBACK)
    done = askgate("train", "--config", write_config(place, callbacks=["own_callback:Enough"]))
    assert done.code == 1
    resumes = "to resume from the newest checkpoint, step 2: askgate train --resume --config "
    assert f"a callback ended the run: two steps will do; {resumes}" in done.err
    assert [line["step"] for line in lines(place / "logs" / "metrics.jsonl")] == [1, 2]
    assert not list((place / "reports").glob("ERROR_*"))
    saved = place / "checkpoints" / "local"
    assert (saved / "latest").resolve().name == "step_00002", "the step that it stopped at, due or not"
    assert not (saved / "final_model").exists()


def test_only_adapters_are_saved(place: Path, askgate: Askgate) -> None:
    adapters = {"method": "lora", "rank": 2, "targets": [{"memory_gb": 0, "modules": ["q_proj"]}]}
    done = askgate("train", "--config", write_config(place, steps=1, finetune=adapters))
    assert done.code == 0, done.err
    final = place / "checkpoints" / "local" / "final_model"
    assert (final / "adapter_model.safetensors").exists()
    assert not (final / "model.safetensors").exists()


def test_missing_data_is_built_by_the_build_section(place: Path, askgate: Askgate) -> None:
    shutil.rmtree(place / "data")
    done = askgate("train", "--config", write_config(place, steps=1, build={"n": 60, "shadow_n": 5, "lang": ["en"]}))
    assert done.code == 0, done.err
    assert (place / "data" / "pool.meta.json").exists()
    assert len(lines(place / "data" / "shadow.jsonl")) == 5


def test_a_task_that_cannot_be_built_is_refused(place: Path, askgate: Askgate) -> None:
    shutil.rmtree(place / "data")
    done = askgate("train", "--config", write_config(place, datasets={"detect": 1.0}, build={"n": 60}))
    assert done.code == 2
    assert "datasets: `build` makes samples of hotpotqa, strategyqa, gsm8k only" in done.err


class TestFailure:
    """Any exception after the start leaves a report."""

    @pytest.fixture
    def failed(self, place: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
        monkeypatch.setenv("SCORER_API_KEY", "sk-own-123456")
        (place / "own_failing.py").write_text(
            "from src.strategies.ppo import PPO\n"
            "class Failing(PPO):\n"
            "    def loss(self, *_):\n"
            "        raise RuntimeError('refused with sk-own-123456')\n"
        )
        done = askgate("train", "--config", write_config(place, strategy="own_failing:Failing"), defect=True)
        assert (done.code, "sk-own" in done.err) == (2, False)
        (path,) = (place / "reports").glob("ERROR_*.json")
        report: dict[str, Any] = json.loads(path.read_text())
        return report

    def test_has_the_trace_and_the_log(self, failed: dict[str, Any]) -> None:
        assert failed["error"] == "RuntimeError"
        assert "own_failing.py" in "\n".join(failed["trace"])
        assert any("evaluated after step 0" in line for line in failed["log"])

    def test_has_no_secret(self, failed: dict[str, Any], place: Path) -> None:
        assert failed["message"] == "refused with ***"
        assert "sk-own" not in json.dumps(failed) + (place / "logs" / "train.log").read_text()


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "unknown key": ({"learning_rate": 0.1}, "learning_rate: no such setting"),
    "wrong type": ({"steps": "many"}, "steps: it should be a valid integer"),
    "out of range": ({"steps": 2001}, "steps: 2001 steps; a run with profile local takes at most 2000"),
    "a gated profile": ({"profile": "rc1"}, "profile: this is a run of profile rc1"),
    "live mode that asks nobody": ({"live_mode": True}, "reward.live_share: live_mode is on"),
    "no such strategy": ({"strategy": "magic"}, "strategy: pure_pt does not run magic. What to do: "),
    "a strategy of nobody": ({"strategy": "no_such_module:Mine"}, "strategy: no_such_module:Mine: No module named"),
    "no such engine": ({"engine": "magic"}, "engine: unknown engine 'magic'"),
    "an option of another": ({"strategy_options": {"beta": 0.1}}, "strategy_options.beta: ppo has no option 'beta'"),
    "an option with a key of its own": (
        {"strategy_options": {"clip": 0.1}},
        "strategy_options.clip: clip is a setting",
    ),
    "an option of another type": (
        {"strategy_options": {"group_size": 7.9}},
        "strategy_options.group_size: 7.9 is not of type int",
    ),
    "a penalty that cannot grow": ({"kl_coef": 0.0}, "kl_coef: a coefficient of 0 never adapts"),
    "an option out of range": ({"strategy_options": {"lam": 2.0}}, "strategy_options.lam: 2.0 is out of range"),
    "episodes that make no groups": ({"strategy": "grpo"}, "batch_size: 4 episodes cannot be split into groups of 8"),
    "a callback of nobody": ({"callbacks": ["no_such_module:Mine"]}, "callbacks: no_such_module:Mine: No module named"),
    "a callback that is none": ({"callbacks": ["json:JSONDecoder"]}, "callbacks: json:JSONDecoder is not a callback"),
    "4 bits without CUDA": (
        {"finetune": {"method": "qlora"}, "device_pref": ["cpu"]},
        "finetune.method: 4-bit weights need CUDA",
    ),
    "no such model": ({"base_model": "models/none"}, "base_model: no model can be read from models/none"),
    "no pool": ({"seed_pool": "data/none.jsonl"}, "What to do: make it: askgate build-rollout-pool --mix "),
    "no balanced pool": ({"seed_pool": "data/no.balanced.jsonl"}, "askgate difficulty-bucketize --metrics data/no.me"),
    "no shadow set": ({"shadow_set": "data/none.jsonl"}, "make it: askgate shadow-run --stratify --mix hotpotqa:0.45"),
    "no minimal data": ({"seed_pool": "data/train_min.jsonl"}, "What to do: make it: askgate make-min-data."),
    "another mix": ({"datasets": {"gsm8k": 1.0}}, "datasets.hotpotqa: data/pool.jsonl has a share of 0.45"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_config_is_refused_before_anything_is_written(case: str, place: Path, askgate: Askgate) -> None:
    changes, said = REFUSED[case]
    config = write_config(place, **changes)
    before = sorted(place.rglob("*"))
    assert_refused(askgate("train", "--config", config), said, f"{config}: ")
    assert sorted(path for path in place.rglob("*") if "__pycache__" not in path.parts) == before


@pytest.mark.parametrize("missing", ["tokenizer.json", "config.json", "model.safetensors"])
def test_an_incomplete_model_folder_is_refused_in_one_line(missing: str, place: Path, askgate: Askgate) -> None:
    shutil.copytree(place / "model", place / "part")
    (place / "part" / missing).unlink()
    said = f"{missing.replace('model.', '*.')} is missing"
    assert_refused(askgate("train", "--config", write_config(place, base_model="part")), said, "part: ")
    with pytest.raises(BadInput, match=re.escape(said)), open_policy("part"):
        pass


def test_a_sliding_window_is_refused_before_the_weights_are_loaded(place: Path, askgate: Askgate) -> None:
    shutil.copytree("model", "slides")
    facts = json.loads(Path("slides/config.json").read_text())
    facts |= {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 0}
    facts["layer_types"] = ["sliding_attention"] * facts["num_hidden_layers"]
    Path("slides/config.json").write_text(json.dumps(facts))
    Path("slides/model.safetensors").write_bytes(b"never read")
    said = "slides: the model has layers with a sliding window"
    assert said in askgate("train", "--config", write_config(place, base_model="slides"), "--plan").err
    assert said in askgate("chat", "slides").err


def test_a_typed_model_is_named_by_its_flag(place: Path, askgate: Askgate) -> None:
    done = askgate("train", "--config", write_config(place), "--model", "/none")
    assert "--model: no model can be read from /none" in done.err
    assert "hub" not in done.err


def test_a_gguf_file_is_told_its_backend(place: Path, askgate: Askgate) -> None:
    config = write_config(place)
    assert "none.gguf: no such file" in askgate("eval", "--model", "none.gguf", "--config", config).err
    Path("policy.gguf").write_bytes(b"GGUF")
    done = askgate("eval", "--model", "policy.gguf", "--config", config)
    assert "policy.gguf: is a GGUF file. What to do: add --backend llamacpp" in done.err


def test_trl_ppo_refuses_ppo_with_a_remedy(place: Path, askgate: Askgate) -> None:
    pytest.importorskip("trl", reason="TRL is not installed (pip install 'askgate[trl]')")
    assert_refused(
        askgate("train", "--config", write_config(place, engine="trl_ppo")),
        "strategy: TRL has no PPO",
        "engine: pure_pt",
    )


def test_a_missing_config_is_refused(place: Path, askgate: Askgate) -> None:
    assert_refused(
        askgate("train", "--config", place / "none.yaml"), "none.yaml: cannot be read (No such file or directory)"
    )
    assert not (place / "logs").exists()


def test_a_full_disk_is_refused(place: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9 - 1000, 1000))
    assert_refused(
        askgate("train", "--config", write_config(place)), "checkpoint.keep: 0.0 GB are free, the run needs about"
    )
    assert not (place / "logs").exists()
