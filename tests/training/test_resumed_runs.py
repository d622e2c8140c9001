"""A resumed `askgate train`: equal to the unbroken run, or refused with the reason."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from src.core.errors import BadInput
from src.core.paths import all_runs, run_of
from src.training.preflight import preflight
from src.training.resume import require_same_sources, source_hashes
from src.training.run import _marks
from tests.conftest import Askgate

from .run_outputs import files_of, lines, only_run, same_metrics, weights
from .tiny_run import write_config


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
    assert f"{place / 'own.yaml'}: clip: is not what the run began with: it was 0.2 and is 0.5" in done.err
    assert done.err.count("\n") == 1
    assert not list(Path("reports").glob("ERROR_*"))
    done = askgate(
        "train", "--config", write_config(place, steps=2, warm_start={"steps": 1, "tokens": 500}), "--resume"
    )
    assert "warm_start.steps: is not what the run began with: it was None and is 1" in done.err


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
        require_same_sources(source_hashes(preflight(config)), then, config, None)
    assert refusal.value.where == f"{config}: {key}"


def test_resume_that_adds_or_drops_the_unstable_list_is_refused() -> None:
    with_list, without = {"seed_pool": "a", "reward.unstable": "b"}, {"seed_pool": "a"}
    for now, then, message in ((without, with_list, "is missing"), (with_list, without, "began without this file")):
        with pytest.raises(BadInput, match=message):
            require_same_sources(now, then, Path("own.yaml"), None)


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
