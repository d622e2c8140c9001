"""Runs of one process, of two and of four ranks agree; checkpoints fit all of them; a killed rank is named."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from src.cli import main
from src.config.train_config import FinetuneSection
from src.core.errors import BadInput
from src.engines import base
from src.engines.distributed import Ranks
from src.engines.pure_pt import PurePT
from src.strategies.ppo import PPO
from tests.engines.test_resume_kill import RUN, copied, outcome, said
from tests.engines.toy import make_job
from tests.fork_server import ForkServer


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    one = ForkServer(
        "tests.engines.ranks", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", COLUMNS="200", OMP_NUM_THREADS="1"
    )
    yield one
    one.close()


def result(fork_server: ForkServer, taught: Path, out: Path, ranks: int, **arguments: Any) -> dict[str, Any]:
    assert fork_server.run("steps", taught, ranks=ranks, out=str(out), **arguments) == 0
    found: dict[str, Any] = pickle.loads(out.read_bytes())
    return found


def apart(found: torch.Tensor, wanted: torch.Tensor) -> float:
    return float((found.double() - wanted.double()).norm() / wanted.double().norm().clamp(min=1e-12))


def assert_agree(found: dict[str, Any], alone: dict[str, Any]) -> None:
    assert found["episodes"] == alone["episodes"]
    assert len(found["gradients"]) == len(alone["gradients"]) > 0
    assert apart(*(torch.cat([x.flatten() for x in one["gradients"]]) for one in (found, alone))) < 1e-6
    for here, there in zip(found["metrics"], alone["metrics"], strict=True):
        # The margin of the first update is 0, and its sign is noise.
        there = {name: value for name, value in there.items() if name != "dpo_accuracy"}
        assert {name: here[name] for name in there} == pytest.approx(there, rel=1e-4, abs=1e-5)
    assert found["after"].keys() == alone["after"].keys()
    assert max(apart(found["after"][name], alone["after"][name]) for name in alone["after"]) < 1e-4


@pytest.mark.parametrize(
    ("name", "method", "ranks", "warm_steps"),
    [("ppo", "full", (1, 2), 0), ("grpo", "lora", (2,), 0), ("dpo", "full", (2,), 2)],
)
def test_ranks_agree_with_one_process(
    fork_server: ForkServer,
    taught: Path,
    tmp_path: Path,
    name: str,
    method: str,
    ranks: tuple[int, ...],
    warm_steps: int,
) -> None:
    settings: dict[str, Any] = {"name": name, "method": method, "warm_steps": warm_steps, "count": 2 + warm_steps}
    alone = result(fork_server, taught, tmp_path / "alone", 0, **settings)
    for count in ranks:
        assert_agree(result(fork_server, taught, tmp_path / str(count), count, **settings), alone)


def test_a_two_rank_checkpoint_resumes_on_one_and_four(fork_server: ForkServer, taught: Path, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"name": "ppo", "method": "full", "count": 1}
    saved = tmp_path / "saved"
    two = result(fork_server, taught, tmp_path / "two", 2, save=str(saved), **settings)
    resumed = {
        ranks: result(fork_server, taught, tmp_path / str(ranks), ranks, load=str(saved), **settings)
        for ranks in (0, 4)
    }
    for one in resumed.values():
        assert all(torch.equal(one["before"][name], two["after"][name]) for name in two["after"])
        assert_agree(one, resumed[0])


def test_a_killed_rank_is_named_and_the_run_resumes(fork_server: ForkServer, tmp_path: Path) -> None:
    """Killed twice: rank 1 and then rank 0, each while a checkpoint is written."""
    furnished = tmp_path / "furnished"
    furnished.mkdir()
    assert fork_server.run("furnish", furnished, steps=3, every_steps=1) == 0
    whole, place = copied(furnished, tmp_path / "whole"), copied(furnished, tmp_path / "run")
    assert fork_server.run("train", whole, ranks=2) == 0, said(whole)
    assert fork_server.run("train", place, ranks=2, step=1, at=7, victim=1) == 1
    assert "rank      : 1 (local_rank: 1)" in said(place)
    assert "Signal 9 (SIGKILL)" in said(place)
    assert "askgate: rank 0: torchrun ends it, because another rank has ended" in said(place)
    assert fork_server.run("train", place, ranks=2, step=2, at=12, victim=0) == 1
    assert "rank      : 0 (local_rank: 0)" in said(place)
    assert fork_server.run("train", place, ranks=2) == 0, said(place)
    assert outcome(place) == outcome(whole)
    assert not list((place / RUN).rglob(".saving*"))


def test_a_batch_smaller_than_the_ranks_is_refused(taught: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "ranks", lambda: Ranks(0, 4, distributed=True))
    with pytest.raises(BadInput, match="2 episodes are fewer than 4 processes"):
        PurePT(make_job(taught, PPO(), steps=1, batch=2))
    job = replace(make_job(taught, PPO(), steps=1, batch=4), dtype=torch.float16, device=torch.device("meta"))
    with pytest.raises(BadInput, match="fp16 trains in one process only"):
        PurePT(replace(job, finetune=FinetuneSection()))


def test_processes_that_share_a_gpu_do_not_shard(taught: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ranks of FSDP2 on one GPU over gloo ended with SIGSEGV (torch 2.11)."""
    monkeypatch.setattr(base, "ranks", lambda: Ranks(0, 2, distributed=True))
    monkeypatch.setattr(torch.distributed, "get_backend", lambda: "gloo")
    job = replace(make_job(taught, PPO(), steps=1, batch=4), device=torch.device("cuda"))
    with pytest.raises(BadInput, match="gloo has no all_gather there"):
        PurePT(job)


def test_own_data_is_planned_without_torchrun(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RANK", "0")
    with pytest.raises(SystemExit, match="2"):
        main(["train", "--data", "own.jsonl", "--model", "models/tiny"])
    assert "run it without torchrun first" in capsys.readouterr().err
