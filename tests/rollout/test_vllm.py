"""Rollouts by vLLM servers: tokens and log-probabilities, adapters, lost servers, and servers that answer wrongly."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from copy import copy, deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from transformers import AutoModelForCausalLM

from askgate_env.types import Sample
from src.agents.render import TagRenderer
from src.agents.trajectory import Trajectory
from src.config.loader import load_train_config
from src.config.train_config import FinetuneSection, RolloutLimits
from src.core.errors import BadInput
from src.core.files import HOME
from src.engines.models import with_adapters
from src.engines.packed import hidden_before, pack, score_tokens
from src.engines.pure_pt import PurePT
from src.rollout import vllm
from src.strategies.ppo import PPO
from tests.engines.toy import make_job, make_model
from tests.rollout.test_scheduler import TEMPERATURE, model, one_thread, renderer, roll_out
from tests.rollout.vllm_server import VllmServer, serve

__all__ = ["model", "one_thread", "renderer"]
TARGETS = ("q_proj", "v_proj", "down_proj")


@pytest.fixture
def policy(model: nn.Module) -> nn.Module:
    """The base with adapters that change what it says."""
    torch.manual_seed(3)
    adapted = with_adapters(deepcopy(model), FinetuneSection(method="lora", rank=4), TARGETS)
    for name, weight in adapted.named_parameters():
        if "lora_B" in name:
            weight.data.normal_(std=0.5)
    return adapted


@pytest.fixture
def server(model: nn.Module, monkeypatch: pytest.MonkeyPatch) -> Iterator[VllmServer]:
    monkeypatch.setattr(vllm.Server, "loaded", {})
    with serve(model) as one:
        yield one


def by_servers(
    policy: nn.Module, renderer: TagRenderer, samples: list[Sample], folder: Path, *servers: VllmServer, **changes
) -> list[Trajectory]:
    urls = tuple(one.url for one in servers)
    settings = {"max_turns": 2, "max_new_tokens": 6, "slots": 4, "adapter_dir": str(folder), **changes}
    return roll_out(policy, renderer, samples, backend="vllm", url=urls, **settings)


def assert_trainable(policy: nn.Module, made: list[Trajectory]) -> None:
    """The log-probabilities are those that training computes on the same tokens."""
    streams = pack(made, 500, torch.device("cpu"))
    with torch.no_grad():
        scored = [score_tokens(policy, hidden_before(policy, x), x.label_N, TEMPERATURE)[0] for x in streams]
    measured = torch.from_numpy(np.concatenate([one.logp[one.policy] for one in made]))
    torch.testing.assert_close(torch.cat(scored), measured, atol=1e-3, rtol=0)


@pytest.mark.parametrize("thoughts", ["keep", "drop"])
def test_episodes_are_made_of_the_servers_tokens(policy, renderer, pool, server, tmp_path, thoughts: str) -> None:
    always = copy(renderer)
    always.think = renderer.think._replace(is_open=True)
    made = by_servers(policy, always, pool[:4], tmp_path, server, think_tokens=3, thoughts=thoughts, max_turns=3)
    assert all(one.policy.any() and one.episode.end is not None for one in made)
    assert [one.episode.sample_id for one in made] == [sample.id for sample in pool[:4]]
    assert sum(one.cut_thoughts for one in made) > 0
    assert_trainable(policy, made)
    assert all(body["max_tokens"] <= 6 and body["top_p"] == 1 for body in server.bodies)
    again = by_servers(policy, always, pool[:4], tmp_path, server, think_tokens=3, thoughts=thoughts, max_turns=3)
    assert [one.tokens.tolist() for one in again] == [one.tokens.tolist() for one in made]


def test_every_server_gets_the_adapters_of_each_iteration(policy, renderer, pool, server, model, tmp_path) -> None:
    with serve(model) as other:
        by_servers(policy, renderer, pool[:4], tmp_path, server, other)
        [first] = server.adapters
        assert [*other.adapters] == [first]
        next(weight for weight in policy.parameters() if weight.requires_grad).data.add_(0.1)
        made = by_servers(policy, renderer, pool[:4], tmp_path, server, other)
    [second] = server.adapters
    assert second != first
    assert server.unloaded == other.unloaded == [first]
    assert [folder.name for folder in tmp_path.iterdir()] == [second]
    assert {body["model"] for body in server.bodies} == {first, second}
    assert_trainable(policy, made)


def test_others_take_the_dialogues_of_a_lost_server(
    policy, renderer, pool, server, model, tmp_path, caplog: pytest.LogCaptureFixture
) -> None:
    with serve(model) as other, caplog.at_level(logging.WARNING):
        server.dies_after = 2
        made = by_servers(policy, renderer, pool[:6], tmp_path, server, other)
        assert all(one.episode.end is not None for one in made)
        assert_trainable(policy, made)
        assert f"{server.url} is lost" in caplog.text
        other.dies_after = 0
        with pytest.raises(BadInput, match="no vLLM server answers"):
            by_servers(policy, renderer, pool[:2], tmp_path, server, other)
        server.dies_after = None  # it is there again
        by_servers(policy, renderer, pool[:2], tmp_path, server, other)


def test_a_server_that_was_started_again_loads_the_adapters_again(policy, renderer, pool, server, tmp_path) -> None:
    by_servers(policy, renderer, pool[:2], tmp_path, server)
    server.adapters.clear()
    by_servers(policy, renderer, pool[:2], tmp_path, server)
    assert len(server.adapters) == 1


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("stale", "stale weights: it answered with askgate-of-the-step-before"),
        ("reads other tokens", "other tokens than the"),
        ("unknown tokens", "tokens that the model does not have"),
        ("no ids", "without token ids"),
        ("fewer logprobs", "log-probabilities"),
    ],
)
def test_a_wrong_reply_ends_the_rollout(policy, renderer, pool, server, tmp_path, fault: str, message: str) -> None:
    server.faults.add(fault)
    with pytest.raises(BadInput, match=message):
        by_servers(policy, renderer, pool[:2], tmp_path, server)


def test_other_weights_are_noticed(policy, renderer, pool, server, model, tmp_path) -> None:
    other = deepcopy(model)
    other.lm_head.weight.data.mul_(-1)
    server.base = other
    with pytest.raises(BadInput, match="log-probabilities differ from the model's by"):
        by_servers(policy, renderer, pool[:2], tmp_path, server)


def test_a_server_without_adapters_says_what_to_start(policy, renderer, pool, server, tmp_path) -> None:
    server.faults.add("no adapters")
    with pytest.raises(BadInput) as caught:
        by_servers(policy, renderer, pool[:2], tmp_path, server)
    assert "--enable-lora" in str(caught.value)


def test_ppo_trains_on_what_servers_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm.Server, "loaded", {})
    folder = make_model(tmp_path / "toy")
    job = replace(
        make_job(folder, PPO(), steps=2, batch=8, lr=1e-2), finetune=FinetuneSection(method="lora"),
        lora_targets=TARGETS,
    )  # fmt: skip
    with serve(AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)) as one:
        limits = {**job.rollout.model_dump(), "backend": "vllm", "url": (one.url,), "adapter_dir": str(tmp_path / "a")}
        engine = PurePT(replace(job, rollout=RolloutLimits(**limits)))
        gaps = [engine.take_step().metrics["logp_gap"] for _ in range(2)]
        assert len({body["model"] for body in one.bodies}) == 2
    assert max(gaps) < 1e-3


def test_the_config_names_servers_and_adapters() -> None:
    good = load_train_config(
        HOME / "configs/ppo_scale.yaml", ["rollout.backend=vllm", "rollout.url=http://127.0.0.1:8000"]
    )
    assert good.rollout.url == ("http://127.0.0.1:8000",)
    for changes in (
        ["rollout.backend=vllm"],
        ["rollout.url=http://127.0.0.1:8000"],
        ["rollout.backend=vllm", "rollout.url=127.0.0.1:8000"],
        ["rollout.backend=vllm", "rollout.url=http://me:secret@127.0.0.1:8000"],
        ["rollout.backend=vllm", "rollout.url=http://127.0.0.1:8000", "finetune.method=full"],
    ):
        with pytest.raises(BadInput):
            load_train_config(HOME / "configs/ppo_scale.yaml", changes)
