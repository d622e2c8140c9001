"""Runs of several ranks for tests and `bench/distributed.py`, forked by torchrun's own agent."""

from __future__ import annotations

import itertools
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from src.checkpoint.store import CheckpointStore, Write
from src.cli import main
from src.config.train_config import FinetuneSection
from src.core.disk import Disk, disk
from src.engines import distributed
from src.engines.job import WarmStart
from src.engines.pure_pt import PurePT
from src.engines.sft import SftPlan
from src.strategies.dpo import DPO
from src.strategies.grpo import GRPO
from src.strategies.ppo import PPO
from tests.engines import killed, toy
from tests.reproducible_metrics import reproducible_metrics

MAKE: dict[str, Any] = {"ppo": PPO, "grpo": lambda: GRPO(group_size=4), "dpo": lambda: DPO(group_size=4)}
# Packs of two or three episodes: ranks have different numbers of them.
SETTINGS: dict[str, Any] = {"lr": 1e-3, "epochs": 2, "minibatches": 2, "pack_tokens": 40, "critic_epochs": 1}


def warm() -> None:
    killed.warm()


def launch(ranks: int, work: Callable[..., None], *arguments: Any) -> int:
    """Runs `work` on so many ranks, as torchrun does; on 0 in one process without it. Returns the exit code."""
    if not ranks:
        work(*arguments)
        return 0
    settings = LaunchConfig(
        min_nodes=1, max_nodes=1, nproc_per_node=ranks, run_id="ranks", rdzv_backend="c10d",
        rdzv_endpoint="localhost:0", start_method="fork", max_restarts=0, monitor_interval=0.1,
    )  # fmt: skip
    try:
        elastic_launch(settings, work)(*arguments)
    except ChildFailedError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def make_engine(folder: str, name: str, method: Any, warm_steps: int = 0) -> PurePT:
    job = toy.make_job(Path(folder), MAKE[name](), seed=7, steps=4 + warm_steps, batch=16, **SETTINGS)
    if warm_steps:
        plan = SftPlan(tokens=2000, lr=1e-3, batch_tokens=300, seed=3)
        job = replace(job, warm_start=WarmStart(warm_steps, plan, lambda: toy.demos(job.renderer)))
    return PurePT(
        replace(job, finetune=FinetuneSection(method=method, rank=4, alpha=8.0), lora_targets=("q_proj", "v_proj"))
    )


def take_steps(make: Callable[[], PurePT], count: int, out: str, load: str = "", save: str = "") -> None:
    """Takes steps, and writes metrics, episodes, first gradients and state of the engine to `out`."""
    torch.set_num_threads(1)
    gradients = record_gradients()
    engine, here = make(), distributed.ranks()
    if here.rank:
        call, arguments = here.announced()
        while call != distributed.END:
            getattr(engine, call)(*arguments)
            call, arguments = here.announced()
        return distributed.leave()
    if load:
        engine.load(Path(load))
    before = tensors_of(engine.state())
    results = [engine.take_step() for _ in range(count)]
    if save:
        Path(save).mkdir()
        engine.save(Path(save))
    after = engine.state()
    distributed.leave()
    with open(out, "wb") as file:
        found = {
            "metrics": [reproducible_metrics(one.metrics) for one in results],
            "episodes": [one.episodes for one in results],
            "gradients": gradients,
            "before": before,
            "after": tensors_of(after),
        }
        pickle.dump(found, file)
    return None


def record_gradients() -> list[torch.Tensor]:
    """A list that will hold the policy's gradients of the first update, before they are clipped."""
    found: list[torch.Tensor] = []
    clip = distributed.clip_gradients

    def recording(weights: Any, most: float) -> torch.Tensor:
        if not found:
            found.extend(distributed.full(x.grad).clone() for x in weights if x.grad is not None)
        return clip(weights, most)

    distributed.clip_gradients = recording
    return found


def tensors_of(tree: Any, path: str = "") -> dict[str, torch.Tensor]:
    """Tensors of weights, optimizer and warm start, by path."""
    if isinstance(tree, torch.Tensor):
        return {path: tree.clone()}
    if not isinstance(tree, Mapping):
        return {}
    parts = [tensors_of(value, f"{path}.{key}") for key, value in tree.items() if key != "rng"]
    return {key: value for part in parts for key, value in part.items()}


def steps(
    folder: str, ranks: int, name: str, method: str, out: str, count: int = 2, load: str = "", save: str = "",
    warm_steps: int = 0,
) -> int:  # fmt: skip
    def make() -> PurePT:
        return make_engine(folder, name, method, warm_steps)

    return launch(ranks, take_steps, make, count, out, load, save)


def train(folder: str, ranks: int, step: int = 0, at: int = 0, victim: int = 0, gradients: bool = False) -> int:
    """`askgate train --resume` by several ranks. Rank `victim` gets SIGKILL at operation `at` of the save of `step`."""
    os.chdir(folder)
    os.dup2(os.open("said", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666), 2)
    return launch(ranks, _train, step, at, victim, gradients)


def _train(step: int, at: int, victim: int, gradients: bool) -> None:
    torch.set_num_threads(1)
    rank = os.environ.get("RANK", "0")
    Path(f"pid_{rank}").write_text(str(os.getpid()))
    if step and rank == "0":
        _kill_at(step, at, victim)
    found = record_gradients() if gradients else []
    try:
        main(["train", "--config", "own.yaml", "--resume"])
    except SystemExit as left:
        if left.code:
            raise
    if found and rank == "0":
        Path("gradients").write_bytes(pickle.dumps(found))


def _kill_at(step: int, at: int, victim: int) -> None:
    whole, count = CheckpointStore.save, itertools.count(1)

    def counted(operation: Callable[..., Any], *arguments: Any) -> Any:
        if next(count) == at:
            Path("killed_at").write_text(str(time.time()))
            os.kill(int(Path(f"pid_{victim}").read_text()), signal.SIGKILL)
            time.sleep(60)  # torchrun ends this rank meanwhile
        return operation(*arguments)

    def save(self: CheckpointStore, number: int, write: Write, marks: Mapping[str, Any]) -> Path:
        if number != step:
            return whole(self, number, write, marks)
        for name in [name for name in vars(Disk) if not name.startswith("_")]:
            operation = getattr(disk, name)
            setattr(disk, name, lambda *arguments, operation=operation: counted(operation, *arguments))
        path = whole(self, number, write, marks)
        disk.__dict__.clear()
        Path("operations").write_text(str(next(count) - 1))
        return path

    CheckpointStore.save = save  # type: ignore[method-assign, assignment]


JOBS: dict[str, Callable[..., int]] = {"furnish": killed.furnish, "steps": steps, "train": train}
