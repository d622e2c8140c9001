"""`askgate train`: a run from config to table, its files, its resume, and refusals before anything is written."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from src.core.errors import BadInput
from src.core.jsonl import read_records
from src.core.paths import LINKS, adopt_run, all_runs, evaluations, run_of
from src.core.types import Episode
from src.training.preflight import preflight
from src.training.resume import require_same_sources, source_hashes
from src.training.run import _marks, _prepare
from src.training.sft_control import tokens_seen
from tests.conftest import Askgate, Outcome
from tests.reproducible_metrics import reproducible_metrics

from .tiny_run import write_config


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def same_metrics(path: Path) -> list[dict[str, float]]:
    return [reproducible_metrics(line) for line in lines(path)]


def weights(folder: Path) -> bytes:
    return (folder / "checkpoints" / "local" / "final_model" / "model.safetensors").read_bytes()


def only_run() -> Path:
    (run,) = all_runs()
    return run


def refused(outcome: Outcome, *said: str) -> None:
    assert outcome.code == 2, outcome
    assert outcome.err.startswith("askgate: ")
    assert outcome.err.count("\n") == 1
    assert "What to do: " in outcome.err
    for words in said:
        assert words in outcome.err


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


EARLY = """
from dataclasses import replace
from src.engines.pure_pt import PurePT

class Early(PurePT):
    def __init__(self, job):
        super().__init__(replace(job, max_steps=2))
"""


def test_an_own_engine_that_ends_early_is_reported_with_its_steps(place: Path, askgate: Askgate) -> None:
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


def test_a_resumed_run_equals_the_unbroken_one(place: Path, askgate: Askgate) -> None:
    assert askgate("train", "--config", write_config(place, steps=4)).code == 0
    unbroken, whole = same_metrics(place / "logs" / "metrics.jsonl"), weights(place)
    assert whole != (place / "model" / "model.safetensors").read_bytes()
    evaluated = (place / "logs" / "eval.jsonl").read_bytes()

    # As if killed in step 4: the newest checkpoint is that of step 2, the logs know more and end in a torn line.
    for name in ("final_model", "step_00004", "step_00003"):
        shutil.rmtree(place / "checkpoints" / "local" / name)
    with open(place / "logs" / "metrics.jsonl", "ab") as file:
        file.truncate((place / "logs" / "metrics.jsonl").stat().st_size - 20)
    done = askgate("train", "--config", place / "own.yaml", "--resume")
    assert done.code == 0, done.err
    assert "resumed after step 2 of 4" in done.err
    assert same_metrics(place / "logs" / "metrics.jsonl") == unbroken
    assert (place / "logs" / "eval.jsonl").read_bytes() == evaluated
    assert weights(place) == whole


def test_resume_without_a_checkpoint_starts_at_the_beginning(place: Path, askgate: Askgate) -> None:
    done = askgate("train", "--config", write_config(place, steps=1), "--resume")
    assert done.code == 0
    assert "no checkpoint in checkpoints/local yet" in done.err


def test_resume_with_other_settings_is_refused_with_the_key(place: Path, askgate: Askgate) -> None:
    assert askgate("train", "--config", write_config(place, steps=1)).code == 0
    done = askgate("train", "--config", write_config(place, steps=2, clip=0.5), "--resume")
    assert done.code == 2
    assert f"{place / 'own.yaml'}: clip: is not what the run began with" in done.err


def test_a_refused_resume_changes_nothing(place: Path, askgate: Askgate) -> None:
    """Neither the files of the run that it refuses, nor the links, which may point to another one."""
    assert askgate("train", "--config", write_config(place, steps=1, clip=0.3)).code == 0
    first = only_run()
    assert askgate("train", "--config", write_config(place, steps=1)).code == 0
    second = run_of(Path("runs/latest"))
    before = {run: files_of(run) for run in (first, second)}
    for changes, key in (({"clip": 0.5}, "clip"), ({"base_model": "other"}, "base_model")):
        if key == "base_model":
            shutil.copytree(place / "model", place / "other")
        done = askgate("train", "--config", write_config(place, steps=2, **changes), "--resume")
        assert done.code == 2
        assert f"{key}: is not what the run began with" in done.err
    with open(place / "data/pool.jsonl", "ab") as handle:
        handle.write(b"\n")
    assert askgate("train", "--config", write_config(place, steps=2), "--resume").code == 2
    for run, files in before.items():
        assert {**files_of(run), "logs/train.log": b""} == {**files, "logs/train.log": b""}
    assert run_of(Path("runs/latest")) == second


def test_resume_takes_the_newest_run_that_has_no_checkpoint_yet(place: Path, askgate: Askgate) -> None:
    """Not an older one of the same config that has ended."""
    config = write_config(place, steps=1)
    assert askgate("train", "--config", config).code == 0
    first = only_run()
    assert askgate("train", "--config", config).code == 0
    second, _ = all_runs()
    shutil.rmtree(second / "checkpoints/local")
    (second / "checkpoints/local").mkdir()
    before = files_of(first)
    done = askgate("train", "--config", config, "--resume")
    assert done.code == 0, done.err
    assert "no checkpoint in checkpoints/local yet" in done.err
    assert run_of(Path("runs/latest")) == second
    assert files_of(first) == before


def test_a_checkpoint_of_an_older_version_is_named_as_such(
    place: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_an_older_version(*of_run: Any) -> dict[str, Any]:
        made = _marks(*of_run)
        del made["config"]["reward"]["cap"]
        return made

    with monkeypatch.context() as before:
        before.setattr("src.training.run._marks", of_an_older_version)
        assert askgate("train", "--config", write_config(place, steps=1)).code == 0
    done = askgate("train", "--config", write_config(place, steps=2), "--resume")
    assert done.code == 2
    assert "own.yaml: reward.cap: the checkpoint is of an older version, without this key" in done.err
    assert "start a new run" in done.err
    assert "put the old value back" not in done.err


def test_a_resumed_run_may_change_its_learning_rate(place: Path, askgate: Askgate) -> None:
    slow = {"critic_lr": 1e-4}
    assert askgate("train", "--config", write_config(place, steps=1)).code == 0
    done = askgate("train", "--config", write_config(place, steps=2, lr=1e-4, optimizer=slow), "--resume")
    assert done.code == 0, done.err
    assert "lr was 0.001 and is 0.0001 from here on" in done.err
    assert [line["lr"] for line in lines(place / "logs" / "metrics.jsonl")] == [1e-3, 1e-4]


def test_more_steps_are_refused_where_the_schedule_depends_on_them(place: Path, askgate: Askgate) -> None:
    falls = {"schedule": "linear"}
    assert askgate("train", "--config", write_config(place, steps=1, optimizer=falls)).code == 0
    done = askgate("train", "--config", write_config(place, steps=2, optimizer=falls), "--resume")
    assert done.code == 2
    assert "own.yaml: steps: is not what the run began with" in done.err


@pytest.mark.parametrize(
    ("key", "file"),
    [("base_model", "model/model.safetensors"), ("shadow_set", "data/shadow.jsonl"), ("seed_pool", "data/pool.jsonl")],
)
def test_resume_with_changed_base_or_data_is_refused(place: Path, askgate: Askgate, key: str, file: str) -> None:
    config = write_config(place, steps=1)
    assert askgate("train", "--config", config).code == 0
    ready = preflight(config)
    then = json.loads((place / "checkpoints/local/latest/manifest.json").read_text())["marks"]["sources"]
    assert source_hashes(ready) == then
    with open(place / file, "ab") as handle:
        handle.write(b"\n")
    with pytest.raises(BadInput, match="is not what the run began with") as refusal:
        require_same_sources(source_hashes(preflight(config)), then, config, gated=False)
    assert refusal.value.where == f"{config}: {key}"


def test_a_refused_start_leaves_the_earlier_run_in_place(place: Path, askgate: Askgate) -> None:
    config = write_config(place, steps=1)
    assert askgate("train", "--config", config).code == 0
    before = weights(place)
    (place / "data" / "shadow.meta.json").unlink()
    assert askgate("train", "--config", config).code == 2
    assert weights(place) == before
    assert len(all_runs()) == 1


def test_missing_or_outdated_evaluations_are_made_again(place: Path, askgate: Askgate) -> None:
    def go(steps: int, **looks: Any) -> dict[str, Any]:
        config = write_config(place, steps=steps, eval={"every_steps": 2, "control": True, **looks})
        done = askgate("train", "--config", config, "--resume", "--json")
        assert done.code == 0, done.err
        (found,) = json.loads(done.out)
        assert found["changes"] is not None
        key = json.loads((place / "logs/eval/control.key.json").read_text())
        return {"n": found["changes"]["success"]["base"]["n"], "tokens": key["tokens"], "greedy": key["greedy"]}

    first = go(1)
    assert (first["n"], first["greedy"]) == (8, True)
    assert not list((only_run() / "logs").glob("eval_before_*"))

    more = go(2)
    assert more["tokens"] > first["tokens"], "as many tokens as the run saw in all"
    assert not list((only_run() / "logs").glob("eval_before_*"))

    fewer = go(3, n=4, greedy=False)
    assert (fewer["n"], fewer["greedy"]) == (4, False)
    assert len(list((only_run() / "logs").glob("eval_before_*"))) == 1

    shutil.rmtree(only_run() / "logs")
    assert go(3, n=4, greedy=False) == fewer


def test_a_changed_base_is_evaluated_again(place: Path, askgate: Askgate) -> None:
    config = write_config(place, steps=1)
    assert askgate("train", "--config", config).code == 0
    shutil.rmtree(only_run() / "checkpoints" / "local")
    (only_run() / "checkpoints" / "local").mkdir()
    shutil.copytree(place / "model", place / "other")
    with open(place / "other" / "config.json", "a") as handle:
        handle.write("\n")
    assert askgate("train", "--config", write_config(place, steps=1, base_model="other"), "--resume").code == 0
    assert len(list((only_run() / "logs").glob("eval_before_*"))) == 1
    assert [line["step"] for line in lines(place / "logs" / "eval.jsonl")] == [0, 1]


def test_a_control_needs_an_engine_that_counts_tokens() -> None:
    with pytest.raises(BadInput, match="does not count the tokens") as refusal:
        tokens_seen(object())
    assert refusal.value.where == "eval.control"


def test_tools_come_from_the_pool_and_adapters_from_the_checkpoint(place: Path) -> None:
    meta = place / "data" / "pool.meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"tools": ["calc"]}))
    adapters = {"method": "lora", "rank": 2, "targets": [{"memory_gb": 0, "modules": ["q_proj"]}]}
    ready = preflight(write_config(place, finetune=adapters))
    made = _prepare(ready, 1, ("v_proj",))
    assert made.job.rollout.tools == ("calc",)
    assert made.job.lora_targets == ("v_proj",)
    assert _marks(ready, made)["lora_targets"] == ["v_proj"]


def files_of(run: Path) -> dict[str, bytes]:
    return {file.relative_to(run).as_posix(): file.read_bytes() for file in run.rglob("*") if file.is_file()}


def test_a_second_run_changes_no_file_of_the_first(place: Path, askgate: Askgate) -> None:
    config = write_config(place, steps=1)
    assert askgate("train", "--config", config).code == 0
    first = only_run()
    before = files_of(first)
    for name in ("logs/metrics.jsonl", "logs/eval.jsonl", "logs/train.log", "logs/episodes/step_00001.jsonl",
                 "logs/eval/step_00001.jsonl", "reports/config_effective.yaml",
                 "checkpoints/local/final_model/model.safetensors"):  # fmt: skip
        assert (place / name).read_bytes() == before[name], name
    assert askgate("train", "--config", config).code == 0
    assert files_of(first) == before
    second, _ = all_runs()
    assert second != first
    for link in ("logs/metrics.jsonl", "logs/eval", "checkpoints/local", "runs/latest"):
        assert run_of(Path(link)) == second, link
    assert len(lines(place / "logs" / "metrics.jsonl")) == 1
    (report,) = (second / "reports").glob("ppo_eval_*.json")
    assert (place / "reports" / report.name).read_bytes() == report.read_bytes()


def test_a_resume_finds_its_run_by_config(place: Path, askgate: Askgate) -> None:
    assert askgate("train", "--config", write_config(place, steps=1)).code == 0
    first = only_run()
    assert askgate("train", "--config", write_config(place, steps=1, clip=0.5)).code == 0
    (second,) = set(all_runs()) - {first}
    before = files_of(second)
    done = askgate("train", "--config", write_config(place, steps=2), "--resume")
    assert done.code == 0, done.err
    assert "resumed after step 1 of 2" in done.err
    assert len(lines(first / "logs" / "metrics.jsonl")) == 2
    assert run_of(Path("checkpoints/local")) == run_of(Path("runs/latest")) == first
    assert files_of(second) == before


def test_a_run_of_an_older_version_gets_its_own_folder(place: Path, askgate: Askgate) -> None:
    """Older versions wrote `logs/` and `checkpoints/` in place, without links."""
    config = write_config(place, steps=1)
    assert askgate("train", "--config", config).code == 0
    first = only_run()
    for name in (*LINKS, *(path.relative_to(first) for path in evaluations(first))):
        if name.is_symlink():
            name.unlink()
            if (first / name).exists():
                (first / name).rename(name)
    shutil.rmtree(place / "runs")
    assert askgate("train", "--config", write_config(place, steps=2), "--resume").code == 0
    assert [line["step"] for line in lines(only_run() / "logs" / "metrics.jsonl")] == [1, 2]
    assert run_of(Path("logs/metrics.jsonl")) == only_run()


def test_a_link_that_no_run_made_is_refused(place: Path, askgate: Askgate) -> None:
    (place / "checkpoints").mkdir()
    (place / "elsewhere").mkdir()
    (place / "checkpoints" / "local").symlink_to("../elsewhere")
    refused(
        askgate("evaluate", "--config", write_config(place)),
        "checkpoints/local: is a link to elsewhere, which no run made",
    )


def test_a_disk_without_links_is_refused(place: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    link = Path.symlink_to

    def no_links(path: Path, target: str) -> None:
        if not path.is_absolute() or path.is_relative_to(place):
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))
        link(path, target)

    monkeypatch.setattr(Path, "symlink_to", no_links)
    done = askgate("train", "--config", write_config(place, steps=1))
    assert done.code == 2
    assert "checkpoints/local: a link cannot be made here" in done.err


def test_the_mirror_has_the_checkpoints_of_each_run(place: Path, askgate: Askgate) -> None:
    config = write_config(place, steps=1, checkpoint={"mirror": "drive"})
    for _ in range(2):
        done = askgate("train", "--config", config)
        assert done.code == 0, done.err
    assert {path.name for path in (place / "drive").iterdir()} == {run.name for run in all_runs()}
    newest = place / "drive" / all_runs()[0].name / "local"
    assert (newest / "final_model" / "model.safetensors").read_bytes() == weights(place)


def test_every_seed_has_its_own_folder_and_table(place: Path, askgate: Askgate) -> None:
    done = askgate("train", "--config", write_config(place, steps=1, seeds=[1, 2]))
    assert done.code == 0, done.err
    assert re.findall(r"^seed (\d+), 1 steps", done.out, flags=re.MULTILINE) == ["1", "2"]
    finals = [place / f"checkpoints/local/seed_{seed}/final_model/model.safetensors" for seed in (1, 2)]
    assert finals[0].read_bytes() != finals[1].read_bytes()
    assert [line["seed"] for line in lines(place / "logs" / "metrics.jsonl")] == [1, 2]
    assert (place / "logs" / "episodes" / "seed_2" / "step_00001.jsonl").exists()


def test_the_control_is_compared_with_the_trained_policy(place: Path, askgate: Askgate) -> None:
    looks = {"every_steps": 2, "control": True, "control_lr": 0.01}
    done = askgate("train", "--config", write_config(place, steps=1, eval=looks))
    assert done.code == 0, done.err
    assert re.search(r"^seed 1, 1 steps +base +SFT control +trained ", done.out, flags=re.MULTILINE), done.out
    tokens = sum(line["tokens"] * 4 for line in lines(place / "logs" / "metrics.jsonl"))
    assert f"control: SFT of the base on {tokens:.0f} tokens" in done.err
    assert len(list(read_records(place / "logs" / "eval" / "control.jsonl", Episode))) == 8
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
    assert "a callback ended the run: two steps will do; --resume (train.ppo_runner: --resume-from) resumes" in done.err
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
    "no pool": ({"seed_pool": "data/none.jsonl"}, "What to do: make it: askgate build_rollout_pool --mix "),
    "no balanced pool": ({"seed_pool": "data/no.balanced.jsonl"}, "askgate difficulty_bucketize --metrics data/no.me"),
    "no shadow set": ({"shadow_set": "data/none.jsonl"}, "make it: askgate shadow_run --stratify --mix hotpotqa:0.45"),
    "no minimal data": ({"seed_pool": "data/train_min.jsonl"}, "What to do: make it: askgate make_min_data."),
    "another mix": ({"datasets": {"gsm8k": 1.0}}, "datasets.hotpotqa: data/pool.jsonl has a share of 0.45"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_config_is_refused_before_anything_is_written(case: str, place: Path, askgate: Askgate) -> None:
    changes, said = REFUSED[case]
    config = write_config(place, **changes)
    before = sorted(place.rglob("*"))
    refused(askgate("train", "--config", config), said, f"{config}: ")
    assert sorted(path for path in place.rglob("*") if "__pycache__" not in path.parts) == before


def test_trl_ppo_refuses_ppo_with_a_remedy(place: Path, askgate: Askgate) -> None:
    pytest.importorskip("trl", reason="TRL is not installed (pip install 'askgate[trl]')")
    refused(
        askgate("train", "--config", write_config(place, engine="trl_ppo")),
        "strategy: TRL has no PPO",
        "engine: pure_pt",
    )


def test_a_missing_config_is_refused(place: Path, askgate: Askgate) -> None:
    refused(askgate("train", "--config", place / "none.yaml"), "none.yaml: cannot be read (No such file or directory)")
    assert not (place / "logs").exists()


def test_a_full_disk_is_refused(place: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9 - 1000, 1000))
    refused(askgate("train", "--config", write_config(place)), "checkpoint.keep: 0.0 GB are free, the run needs about")
    assert not (place / "logs").exists()


def test_a_second_run_at_the_same_time_is_refused(place: Path, askgate: Askgate) -> None:
    from src.runtime.lock import lock_folder

    held = lock_folder(place / "logs")
    try:
        refused(askgate("train", "--config", write_config(place)), "logs: another run is writing here")
    finally:
        os.close(held)


def test_empty_folders_made_beforehand_are_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("checkpoints/rc1/best").mkdir(parents=True)
    assert adopt_run() is None
    assert not Path("checkpoints/rc1").exists()
    Path("checkpoints/rc1/best").mkdir(parents=True)
    Path("checkpoints/rc1/best/step_00002.json").touch()
    run = adopt_run()
    assert run is not None
    assert run_of(Path("checkpoints/rc1")) == run
    assert Path("checkpoints/rc1/best/step_00002.json").exists()


def test_a_run_adopted_in_two_attempts_is_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill between two renames: the rest goes to the same folder."""
    monkeypatch.chdir(tmp_path)
    for name, at in (("logs/metrics.jsonl", 1e9), ("checkpoints/rc1/step_00001/manifest.json", 2e9)):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("{}")
        os.utime(name, (at, at))

    def killed(run: Path) -> None:
        raise KeyboardInterrupt

    def killed_at_the_second(path: Path, target: Path) -> None:
        if path == Path("checkpoints/rc1"):
            raise KeyboardInterrupt
        os.rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", killed_at_the_second)
        with pytest.raises(KeyboardInterrupt):
            adopt_run()
    with pytest.raises(KeyboardInterrupt):
        adopt_run(killed)
    mirrored: list[Path] = []
    run = adopt_run(mirrored.append)
    assert [run] == all_runs() == mirrored
    assert run_of(Path("logs/metrics.jsonl")) == run_of(Path("checkpoints/rc1")) == run
    assert adopt_run() is None
