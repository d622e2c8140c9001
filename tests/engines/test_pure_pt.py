"""One step of the engine: what it measures, which weights learn, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from askgate_env.reward import TrainingReward
from askgate_env.types import Episode, Sample
from src.config.train_config import OptimizerSection
from src.core.api import Batch, Callback, Engine, StepResult, Stop, Targets
from src.core.errors import BadInput
from src.engines.base import StepTimer, lr_scale
from src.engines.collect import collect, early_rewards
from src.engines.packed import pack
from src.engines.pure_pt import PurePT, logp_gap, split_minibatches
from src.strategies.grpo import GRPO
from src.strategies.ppo import PPO
from tests.engines.toy import fingerprint, make_job
from tests.reproducible_metrics import reproducible_metrics


def test_a_step_reports_time_and_memory(taught: Path) -> None:
    metrics = PurePT(make_job(taught, PPO(), steps=1, batch=16)).take_step().metrics
    parts = ["draw", "rollout", "reward", "reference", "forward_backward", "optimizer"]
    spent = [metrics[f"time/{part}"] for part in parts]
    assert all(seconds > 0 for seconds in spent)
    assert sum(spent) <= metrics["time/step"]
    assert metrics["memory/peak_mb"] > 1
    assert not any(name.startswith(("time/", "memory/")) for name in reproducible_metrics(metrics))
    assert {"reward", "reward/outcome", "success", "kl", "loss", "lr", "grad_norm"} <= reproducible_metrics(
        metrics
    ).keys()


def test_a_step_records_the_tokens_of_its_first_episodes(taught: Path) -> None:
    result = PurePT(make_job(taught, PPO(), steps=1, batch=16)).take_step()
    assert [trace.line for trace in result.tokens] == [0, 1, 2, 3]
    for trace, episode in zip(result.tokens, result.episodes, strict=False):
        assert len(trace.text) == len(trace.logp) == len(trace.kl) == len(trace.value) == len(trace.turns)
        assert max(trace.turns) + 1 == episode.policy_turns
        assert episode.turns[-1].text in "".join(trace.text)
        assert max(map(abs, trace.kl)) < 1e-3  # the policy is still its reference
    without = PurePT(make_job(taught, GRPO(), steps=1, batch=16)).take_step().tokens
    assert without[0].value == []


def test_rollout_and_training_agree_on_every_token(taught: Path) -> None:
    engine = PurePT(make_job(taught, PPO(), steps=2, batch=64, lr=1e-2))
    gaps = [engine.take_step().metrics["logp_gap"] for _ in range(2)]
    assert max(gaps) < 1e-4


def test_a_turn_earns_on_its_last_token() -> None:
    said = [
        SimpleNamespace(policy=np.array([0, 1, 1, 0, 1, 0, 1, 1], dtype=bool)),
        SimpleNamespace(policy=np.ones(2, bool)),
    ]
    assert early_rewards(said, [[0.5, 0.0, -0.1], [0.2]]).tolist() == pytest.approx([0, 0.5, 0, 0, -0.1, 0, 0.2])
    # A thought that was closed in the middle of its turn: three runs of tokens, two turns of the episode.
    assert early_rewards(said[:1], [[0.5, 0.1]]).tolist() == [0.0] * 5


def test_the_rollout_training_gap_has_mean_and_tail() -> None:
    gap = logp_gap(torch.arange(200.0), torch.zeros(200))
    assert {name: float(value) for name, value in gap.items()} == {
        "logp_gap": 99.5, "logp_gap_p99": 197.0, "logp_gap_max": 199.0,
    }  # fmt: skip
    assert float(logp_gap(torch.tensor([2.0]), torch.tensor([3.0]))["logp_gap_p99"]) == 1


def test_gradient_checkpointing_does_not_change_the_weights(taught: Path) -> None:
    """Bit by bit, on a CPU."""
    found = []
    for on in (False, True):
        engine = PurePT(make_job(taught, PPO(), steps=2, batch=16, lr=1e-3, gradient_checkpointing=on))
        for _ in range(2):
            engine.take_step()
        found.append(fingerprint(engine.learner))
    assert found[0] == found[1]


def test_only_the_critic_learns_during_warm_up(taught: Path) -> None:
    engine = PurePT(make_job(taught, PPO(), steps=2, batch=16, lr=1e-2, critic_warmup_steps=1))

    def weights(module: torch.nn.Module) -> torch.Tensor:
        return torch.cat([weight.detach().flatten().clone() for weight in module.parameters()])

    policy, critic = weights(engine.policy), weights(engine.learner.critic)
    engine.take_step()
    assert torch.equal(weights(engine.policy), policy)
    assert not torch.equal(weights(engine.learner.critic), critic)
    engine.take_step()
    assert not torch.equal(weights(engine.policy), policy)


def test_each_update_sees_whole_groups(taught: Path) -> None:
    class Watched(GRPO):
        parts: list[tuple[list[int], int]] = []  # noqa: RUF012

        def loss(self, logp_N: Any, entropy_N: Any, value_N: Any, part: Batch, targets: Targets) -> Any:
            self.parts.append((part.group_E.tolist(), len(logp_N)))
            return super().loss(logp_N, entropy_N, value_N, part, targets)

    PurePT(make_job(taught, Watched(group_size=4), steps=1, batch=32, epochs=2, minibatches=2)).take_step()
    assert len(Watched.parts) == 4
    epochs = [
        sorted(group for groups, _ in part for group in groups) for part in (Watched.parts[:2], Watched.parts[2:])
    ]
    assert epochs[0] == epochs[1] == sorted([*set(epochs[0])] * 4), "whole groups, each once an epoch"
    assert all(groups == sorted(groups) for groups, _ in Watched.parts)
    assert Watched.parts[:2] != Watched.parts[2:]


def test_groups_without_signal_are_not_computed(taught: Path) -> None:
    """The update is the same as if they were: their gradient is 0, and they still count in the means."""
    tokens: dict[str, int] = {}

    class Counted(GRPO):
        name = "without"

        def loss(self, logp_N: Any, *given: Any) -> Any:
            tokens[self.name] = len(logp_N)
            return super().loss(logp_N, *given)

    class Whole(Counted):
        name = "with"

        def targets(self, batch: Batch) -> Targets:
            return {key: value for key, value in super().targets(batch).items() if key != "teaches_E"}

    weights = []
    for strategy in (Counted(group_size=2), Whole(group_size=2)):
        engine = PurePT(make_job(taught, strategy, steps=1, batch=32, lr=1e-3))
        share = engine.take_step().metrics["teaching_share"]
        weights.append(torch.cat([weight.detach().flatten() for weight in engine.policy.parameters()]))
    assert 0 < share < 1
    assert tokens["without"] < tokens["with"]
    torch.testing.assert_close(weights[0], weights[1], atol=2e-5, rtol=0)


class EqualReward(TrainingReward):
    def __call__(self, episode: Episode, sample: Sample, judged: Any = None) -> dict[str, float]:
        return {"outcome": 0.5}


def test_a_batch_of_equal_rewards_makes_no_update(taught: Path) -> None:
    for strategy in (GRPO(group_size=2), PPO()):
        job = make_job(taught, strategy, steps=2, batch=8, lr=1e-2, critic_epochs=1)
        engine = PurePT(replace(job, reward=EqualReward()))
        before = fingerprint(engine.policy)
        result = engine.take_step()
        assert fingerprint(engine.policy) == before
        assert result.metrics["teaching_share"] == 0


class Recorder:
    def __init__(self, stop_at: int = 99) -> None:
        self.heard: list[str] = []
        self.stop_at = stop_at

    def on_start(self, engine: Engine) -> None:
        self.heard.append("start")

    def on_step(self, engine: Engine, result: StepResult) -> None:
        assert engine.step == result.step
        self.heard.append(str(result.step))
        if result.step == self.stop_at:
            raise Stop("enough")

    def on_end(self, engine: Engine) -> None:
        self.heard.append("end")


def test_callbacks_are_called_once_per_step(taught: Path) -> None:
    first, second = Recorder(), Recorder()
    callbacks: list[Callback] = [first, second]
    PurePT(make_job(taught, PPO(), steps=2, batch=8)).fit(callbacks)
    assert first.heard == second.heard == ["start", "1", "2", "end"]


def test_a_callback_can_stop_the_run_after_a_step(taught: Path) -> None:
    recorder = Recorder(stop_at=1)
    engine = PurePT(make_job(taught, PPO(), steps=5, batch=8))
    with pytest.raises(Stop, match="enough"):
        engine.fit([recorder])
    assert engine.step == 1


def test_a_loss_that_is_not_finite_stops_the_run(taught: Path) -> None:
    class Broken(PPO):
        def loss(self, *given: Any) -> Any:
            loss, figures = super().loss(*given)
            return loss * float("nan"), figures

    with pytest.raises(BadInput, match="step 1: loss is nan"):
        PurePT(make_job(taught, Broken(), steps=1, batch=8)).take_step()


def test_impossible_jobs_are_refused_before_a_model_is_loaded(taught: Path) -> None:
    job = make_job(taught, GRPO(group_size=4), steps=1, batch=30)
    with pytest.raises(BadInput, match="batch_size: 30 episodes cannot be split into groups of 4"):
        PurePT(replace(job, model="nowhere"))
    with pytest.raises(BadInput, match="a CPU does not train in fp16"):
        PurePT(replace(job, batch_size=8, dtype=torch.float16, model="nowhere"))


def test_an_opening_that_fills_the_episode_is_refused(taught: Path) -> None:
    job = make_job(taught, PPO(), steps=1, batch=8)
    with pytest.raises(BadInput, match=r"rollout\.max_tokens"):
        PurePT(replace(job, rollout=job.rollout.model_copy(update={"max_tokens": 3}))).take_step()


def test_the_learning_rate_rises_then_falls() -> None:
    cosine = OptimizerSection(warmup_steps=2, schedule="cosine")
    shares = [lr_scale(cosine, step, 10) for step in range(10)]
    assert shares[:3] == [0.5, 1.0, 1.0]
    assert shares[2:] == sorted(shares[2:], reverse=True)
    assert 0 < shares[-1] < 0.1
    assert lr_scale(OptimizerSection(), 7, 10) == 1.0


def test_more_minibatches_than_groups_leave_none_empty() -> None:
    parts = split_minibatches(torch.tensor([0, 0, 1, 1, 2, 2]), 5, np.random.default_rng(0))
    assert sorted(row for part in parts for row in part.tolist()) == [0, 1, 2, 3, 4, 5]
    assert [len(part) for part in parts] == [2, 2, 2]


def test_rollout_values_equal_those_of_training(taught: Path) -> None:
    engine = PurePT(make_job(taught, PPO(), steps=2, batch=16, lr=1e-2))
    engine.take_step()
    got = collect(engine.job, engine.policy, engine.step, StepTimer(engine.job.device), engine.learner.critic)
    with torch.no_grad():
        values = [engine.learner(stream).value_N for stream in pack(got.trajectories, 64, engine.job.device)]
    assert got.batch.value_N is not None
    assert float(got.batch.value_N.abs().max()) > 0
    assert torch.allclose(got.batch.value_N, torch.cat(values), atol=1e-5)


def test_critic_epochs_improve_the_critic_and_leave_the_policy_unchanged(taught: Path) -> None:
    explained = []
    for epochs in (0, 8):
        engine = PurePT(make_job(taught, PPO(), steps=6, batch=32, critic_warmup_steps=6, critic_epochs=epochs))
        before = torch.cat([weight.detach().flatten().clone() for weight in engine.policy.parameters()])
        explained.append([engine.take_step().metrics["value_explained"] for _ in range(6)][-1])
        assert torch.equal(torch.cat([weight.detach().flatten() for weight in engine.policy.parameters()]), before)
    assert explained[1] > explained[0]


def test_the_kl_weight_is_constant_during_critic_warm_up(taught: Path) -> None:
    engine = PurePT(make_job(taught, PPO(), steps=3, batch=16, lr=1e-3, critic_warmup_steps=2))
    assert [engine.take_step().metrics["kl_coef"] for _ in range(3)] == [0.02, 0.02, 0.02]
    assert engine.take_step().metrics["kl_coef"] != 0.02


def test_weights_that_are_not_finite_are_not_saved(taught: Path, tmp_path: Path) -> None:
    engine = PurePT(make_job(taught, PPO(), steps=3, batch=16, lr=1e-3))
    next(engine.policy.parameters()).data[0] = float("nan")
    with pytest.raises(BadInput, match="is not finite, so the checkpoint is not saved"):
        engine.save(tmp_path)
    assert not list(tmp_path.iterdir())
