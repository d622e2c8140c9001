"""`askgate sft` and a run with a warm start: two phases of one run, in one chain of seals."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from askgate_env.types import Episode
from src.checkpoint.seal import SEAL_FILE, read_seal
from src.core.files import sha256_file
from src.core.jsonl import read_records
from tests.conftest import Askgate

from .run_outputs import assert_refused, lines, only_run, same_metrics, weights
from .tiny_run import write_config

WARM = {"warm_start": {"steps": 2, "tokens": 4000, "lr": 0.01, "batch_tokens": 1000}}
CHECKPOINTS = Path("checkpoints/local")


def test_a_warm_start_plus_the_rest_equals_the_run(place: Path, askgate: Askgate) -> None:
    config = write_config(place, steps=3, **WARM)
    assert askgate("train", "--config", config).code == 0
    whole, metrics = weights(place), same_metrics(place / "logs/metrics.jsonl")
    started = (CHECKPOINTS / "warm_start/model.safetensors").read_bytes()
    only_run().rename(place / "whole")

    done = askgate("sft", "--config", config)
    assert done.code == 0, done.err
    assert f"to continue: askgate train --resume --config {config}" in done.out
    assert (CHECKPOINTS / "warm_start/model.safetensors").read_bytes() == started
    assert not (CHECKPOINTS / "final_model").exists()
    assert [line["step"] for line in lines(place / "logs/eval.jsonl")] == [0, 2]
    again = askgate("sft", "--config", config, "--resume")
    assert "the warm start was complete already" in again.err
    again = askgate("sft", "--config", config, "--resume", "--set", "checkpoint.keep=5")
    assert f"to continue: askgate train --resume --config {config} --set checkpoint.keep=5\n" in again.out
    done = askgate("train", "--config", config, "--resume")
    assert done.code == 0, done.err
    assert (weights(place), same_metrics(place / "logs/metrics.jsonl")) == (whole, metrics)


def test_a_run_that_is_all_warm_start_says_so(place: Path, askgate: Askgate) -> None:
    config = write_config(place, steps=1, **{"warm_start": {**WARM["warm_start"], "steps": 1}})
    done = askgate("train", "--config", config)
    assert done.code == 0, done.err
    assert "all 1 steps are the warm start (SFT on demonstrations); there is no step of ppo" in done.err
    assert "1 steps, all SFT" in " ".join(done.out.split())


def test_a_warm_start_step_without_a_batch_says_so(place: Path, askgate: Askgate) -> None:
    config = write_config(place, steps=2, warm_start={"steps": 2, "tokens": 100, "batch_tokens": 4000}, eval={"n": 2})
    done = askgate("train", "--config", config)
    assert "step 2/2 no update: the warm start has fewer batches" in done.err


def test_models_and_checkpoints_name_the_seal_of_the_warm_start(place: Path, askgate: Askgate) -> None:
    looks = {"every_steps": 3, "control": True, "control_tokens": 3000, "control_lr": 0.01}
    done = askgate("train", "--config", write_config(place, steps=3, eval=looks, **WARM))
    assert done.code == 0, done.err
    warm, final = read_seal(CHECKPOINTS / "warm_start"), read_seal(CHECKPOINTS / "final_model")
    chain = sha256_file(CHECKPOINTS / "warm_start" / SEAL_FILE)
    assert (warm.step, final.step) == (2, 3)
    assert [final.marks["warm_start"], read_seal(CHECKPOINTS / "step_00002").marks["warm_start"]] == [chain, chain]
    assert "warm_start" not in read_seal(CHECKPOINTS / "step_00001").marks
    assert warm.marks["sources"]["base_model"] == final.marks["sources"]["base_model"]
    header = " ".join(done.out.partition("need-ask")[0].split())
    assert "base SFT SFT control SFT (time) trained change" in header, done.out
    (path,) = (place / "reports").glob("ppo_eval_*.json")
    pooled = json.loads(path.read_text())["pooled"]
    for side in ("over_warm_start", "over_control", "over_time_control"):
        assert pooled[side]["success"]["base"]["n"] == 8
    page = path.with_suffix(".html").read_text()
    assert "warm start: SFT on 4,000 tokens in the first 2 steps" in page
    assert "SFT control, same time" in page
    keys = [json.loads((place / f"logs/eval/{name}.key.json").read_text()) for name in ("control", "control_time")]
    assert keys[1]["tokens"] == 3000
    assert keys[0]["tokens"] > sum(line.get("sft_tokens", 0) for line in lines(place / "logs/metrics.jsonl")) >= 4000


def test_a_lost_evaluation_of_the_warm_start_is_made_again(place: Path, askgate: Askgate) -> None:
    config = write_config(place, steps=3, **WARM)
    assert askgate("train", "--config", config).code == 0
    file = place / "logs/eval/step_00002.jsonl"
    before = list(read_records(file, Episode))
    file.unlink()
    done = askgate("train", "--config", config, "--resume")
    assert done.code == 0, done.err
    assert list(read_records(file, Episode)) == before


def test_a_lost_warm_start_comes_back_from_the_mirror(place: Path, askgate: Askgate) -> None:
    config = write_config(place, steps=3, checkpoint={"every_steps": 1, "mirror": str(place / "mirror")}, **WARM)
    assert askgate("sft", "--config", config).code == 0
    seal = (CHECKPOINTS / "warm_start" / SEAL_FILE).read_bytes()
    shutil.rmtree((CHECKPOINTS / "warm_start").resolve())
    done = askgate("train", "--config", config, "--resume")
    assert done.code == 0, done.err
    assert (CHECKPOINTS / "warm_start" / SEAL_FILE).read_bytes() == seal


def test_a_gated_warm_start_needs_a_ticket(place: Path, askgate: Askgate) -> None:
    assert_refused(askgate("sft", "--gated", "--config", write_config(place, **WARM)), "there is no evidence yet in")


PLAIN = {"engine": "their_engine:Plain"}


@pytest.mark.parametrize(
    ("changes", "key", "what"),
    [
        ({}, "warm_start", "there is no warm start in this config"),
        (WARM | PLAIN, "warm_start", "their_engine:Plain does not train on demonstrations"),
    ],
)
def test_a_warm_start_that_cannot_be_made_is_refused(
    place: Path, askgate: Askgate, changes: dict[str, Any], key: str, what: str
) -> None:
    members = "step = 0\n    def fit(self, callbacks): ...\n    save = load = save_model = fit"
    Path("their_engine.py").write_text(f"class Plain:\n    strategies = frozenset({{'ppo'}})\n    {members}\n")
    assert_refused(askgate("sft", "--config", write_config(place, **changes)), key, what)
    assert not (place / "runs").exists()
