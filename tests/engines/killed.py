"""A small real training run for the kill tests, started like a user's run: `askgate train --resume`."""

from __future__ import annotations

import importlib
import itertools
import json
import os
import resource
import shutil
import signal
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from src.checkpoint.store import CheckpointStore, Write
from src.cli import main
from src.pages import render
from tests import disk_faults
from tests.training.tiny_run import make_model_and_data, write_config

WEIGHTS = {"form": 0.25, "economy": 0.25, "support": 0.25, "asking": 0.25}


def warm() -> None:
    """Imports and loads what every run needs, once for all runs."""
    for name in ("accelerate", "peft", "tensorboardX"):
        importlib.import_module(name)
    for name in (
        "callbacks.eval_shadow",
        "callbacks.logging",
        "engines.pure_pt",
        "pages.results",
        "training.run",
        "training.sampler",
    ):
        importlib.import_module(f"src.{name}")
    for name in ("base.html", "trial.html"):  # compiled once, at the first use
        render._static_pages().get_template(name)
    torch.set_num_threads(1)
    shape = transformers.Qwen3Config(
        vocab_size=8, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1, head_dim=8
    )
    with tempfile.TemporaryDirectory() as folder:  # the library fills its tables at the first load
        transformers.Qwen3ForCausalLM(shape).save_pretrained(folder)
        transformers.AutoModelForCausalLM.from_pretrained(folder)


def furnish(folder: str, steps: int, every_steps: int) -> int:
    """Creates data, config and a policy.

    The policy has seen enough demonstrations to ask and answer, and the reward has many terms, so that the rewards of
    every batch differ: a batch of equal rewards teaches PPO nothing.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from askgate_env.types import Sample
    from src.agents.render import TagRenderer
    from src.core.jsonl import read_records
    from src.data.collate import demo_tokens
    from src.engines.sft import Demo, SftPlan, fine_tune

    place = Path(folder)
    make_model_and_data(place)
    (place / "weights.json").write_text(json.dumps({"weights": WEIGHTS}))
    write_config(
        place,
        batch_size=8,
        rollout={"max_turns": 2, "max_tokens": 400, "slots": 8},
        reward={"weights": "weights.json", "dimensions": 1.0},
        steps=steps,
        checkpoint={"every_steps": every_steps, "keep": 2},
        eval={"every_steps": 4, "n": 2},
        # A policy that has hardly learned anything: the watch would end its run.
        watch={"spike": 1000.0, "malformed": 1.0, "bare_answer": 1.0, "ask_spam": 1.0, "echo": 1.0},
        optimizer={"minibatches": 2},
    )
    renderer = TagRenderer(AutoTokenizer.from_pretrained(place / "model"))
    policy = AutoModelForCausalLM.from_pretrained(place / "model")
    pairs = [demo_tokens(one, renderer, thoughts=False) for one in read_records(place / "data/pool.jsonl", Sample)]
    demos = [Demo(np.array(tokens, np.int32), np.array(said, np.bool_)) for tokens, said in pairs]
    fine_tune(policy, demos, SftPlan(tokens=60_000, lr=2e-2, batch_tokens=2000, seed=0))
    policy.save_pretrained(place / "model")
    return 0


def train(folder: str, fault: Mapping[str, Any] | None = None, room: int | None = None) -> int:
    """Trains. `fault`: how the disk fails at operation `at` of the save of `step`. `room`: maximum bytes of a file."""
    os.chdir(folder)
    os.dup2(os.open("said", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666), 2)
    if fault:
        _break_disk(fault["kind"], fault["at"], fault["step"])
    if room:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    try:
        main(["train", "--config", "own.yaml", "--resume"])
    except SystemExit as left:
        return int(left.code or 0)
    return 0


def die_at_each(folder: str, kind: disk_faults.Kind, step: int, into: str) -> int:
    """Trains up to the save of `step`. There, for operation 1, 2, 3 ..., it forks a copy in a copy of the folder.

    Each copy continues and is killed at its operation. The folders are in `into` under their number; the last copy
    finishes.
    """
    whole = CheckpointStore.save

    def save(self: CheckpointStore, number: int, write: Write, marks: Mapping[str, Any]) -> Path:
        if number != step:
            return whole(self, number, write, marks)
        for at in itertools.count(1):
            copy = Path(into) / str(at)
            shutil.copytree(".", copy, symlinks=True)
            if (child := os.fork()) == 0:
                os.chdir(copy)
                disk_faults.install(kind, at, self.root)
                whole(self, number, write, marks)
                os._exit(0)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if code != -signal.SIGKILL:
                os._exit(code)
        raise AssertionError

    CheckpointStore.save = save  # type: ignore[method-assign, assignment]
    return train(folder)


def _break_disk(kind: disk_faults.Kind, at: int, step: int) -> None:
    whole = CheckpointStore.save

    def save(self: CheckpointStore, number: int, write: Write, marks: Mapping[str, Any]) -> Path:
        if number != step:
            return whole(self, number, write, marks)
        faulty = disk_faults.install(kind, at, self.root)
        path = whole(self, number, write, marks)
        disk_faults.uninstall()
        Path("survived").write_text(str(faulty.steps))
        return path

    CheckpointStore.save = save  # type: ignore[method-assign, assignment]


JOBS: dict[str, Callable[..., int]] = {"furnish": furnish, "train": train, "die_at_each": die_at_each}
