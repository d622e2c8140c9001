"""`askgate runs`: the runs of a folder with names, tags, state and figures, and what may be deleted."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from src.core.model_files import model_sha256
from src.core.paths import all_runs, run_of
from src.runtime.lock import lock_folder
from tests.conftest import Askgate

from .run_outputs import files_of
from .tiny_run import write_config


def listed(askgate: Askgate, *flags: str) -> list[dict[str, object]]:
    done = askgate("runs", *flags, "--json")
    assert done.code == 0, done.err
    return list(json.loads(done.out))


def test_runs_are_listed_named_tagged_and_deleted(place: Path, askgate: Askgate) -> None:
    assert "no training runs here" in askgate("runs").out
    assert askgate("train", "--config", write_config(place, steps=1)).code == 0
    (first,) = all_runs()
    before = files_of(first)
    assert askgate("train", "--config", write_config(place, steps=2)).code == 0
    (second, _) = all_runs()

    done = askgate("runs", first.name, "--name", "small", "--tag", "keep", "--tag", "en")
    assert done.code == 0, done.err
    assert f"small ({first.name})  [keep, en]" in done.out
    newest, oldest = listed(askgate)
    assert (oldest["id"], oldest["name"], oldest["tags"]) == (first.name, "small", ["keep", "en"])
    assert (oldest["state"], oldest["step"], oldest["steps"]) == ("finished", 1, 1)
    assert (newest["name"], newest["step"], newest["profile"]) == ("", 2, "local")
    assert "overclar_rate" in oldest["figures"]  # type: ignore[operator]
    assert [one["name"] for one in listed(askgate, "--tag", "keep")] == ["small"]
    assert files_of(first) == before, "naming changes no file of the run"
    assert (oldest["passed"], oldest["gated"]) == (False, False)
    assert "a check failed (no ticket)" in done.out

    assert askgate("runs", second.name, "--name", "small").code == 2
    assert "there is no run 'huge'" in askgate("runs", "huge").err
    assert askgate("runs", "small", "--untag", "en", "--json").code == 0
    killed = Path("runs/.deleted-20200101-000000")
    killed.mkdir()
    assert askgate("runs", "latest", "--delete", "--yes").code == 0
    assert all_runs() == [first]
    assert not killed.exists(), "what a killed deletion left is removed"
    assert (
        run_of(Path("checkpoints/local")) == run_of(Path("runs/latest")) == run_of(Path("logs/metrics.jsonl")) == first
    )
    assert files_of(first) == before
    assert listed(askgate)[0]["tags"] == ["keep"]


STOPS = """
from src.core.api import Callback, Stop

class Stops(Callback):
    def on_step(self, engine, result):
        raise Stop("one step will do")
"""


def test_messages_name_the_run_and_model_that_are_meant(
    place: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert askgate("train", "--config", write_config(place, steps=1)).code == 0
    (finished,) = all_runs()
    assert "askgate make-min-data" in askgate("train", "--resume").err, "no run is stopped"
    Path("stops.py").write_text(STOPS)
    write_config(place, callbacks=["stops:Stops"]).rename("stopped.yaml")
    assert askgate("train", "--config", "stopped.yaml").code == 1
    named = f"{finished}/checkpoints/local/final_model, the newest finished model"
    gone = "checkpoints/local/final_model"
    commands = ("chat", gone), ("eval", "--model", gone), ("export-gguf", "--model", gone, "--out", "a.gguf")
    for command in commands:
        assert f"{gone}: no such" in askgate(*command).err
        assert f"What to do: name {named}." in askgate(*command).err
    bare = askgate("train", "--resume").err
    assert (
        "data/train_min.jsonl is not there. What to do: resume the newest stopped run: askgate train --resume" in bare
    )
    assert bare.endswith("--config stopped.yaml.\n")
    rows = askgate("train", "--model", "model").err
    assert "What to do: give your own rows with --data FILE, or make it: askgate make-min-data." in rows
    monkeypatch.setenv("ASKGATE_LANG", "zh")
    assert "继续最近一次停止的运行：askgate train --resume --config stopped.yaml" in askgate("train", "--resume").err
    assert "请用 --data 文件 给出自己的数据" in askgate("train", "--model", "model").err
    assert f"请写 {finished}/checkpoints/local/final_model" in askgate("chat", gone).err


def test_a_run_that_a_release_names_is_not_deleted(place: Path, askgate: Askgate) -> None:
    assert askgate("train", "--config", write_config(place, steps=1)).code == 0
    (run,) = all_runs()
    model = model_sha256(run / "checkpoints/local/final_model")
    report = Path("reports/rc1/RC1.json")
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(json.dumps({"models": {"checkpoints/rc1/final_model": model}}))
    refused = askgate("runs", "latest", "--delete", "--yes")
    assert refused.code == 2
    assert "reports/rc1/RC1.json names the model of this run" in refused.err
    assert all_runs() == [run]
    report.write_text(json.dumps({"models": {"checkpoints/rc1/final_model": "0" * 64}}))
    held = lock_folder(place / "logs")
    assert "is running" in askgate("runs", "latest", "--delete", "--yes").err
    assert listed(askgate)[0]["state"] == "running"
    os.close(held)
    assert askgate("runs", "latest", "--delete", "--yes").code == 0
    assert all_runs() == []
    assert not Path("runs/latest").is_symlink()
