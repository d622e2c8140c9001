"""A warm start: SFT in the first steps of a run, then the strategy from its result; resumed to the same bits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from src.agents.trajectory import Trajectory
from src.config.train_config import FinetuneSection
from src.engines.job import WarmStart
from src.engines.models import load_policy
from src.engines.pure_pt import PurePT
from src.engines.sft import SftPlan, fine_tune, sft_batches
from src.strategies.grpo import GRPO
from src.strategies.ppo import PPO
from tests.engines.toy import demos, fingerprint, make_job, renderer_of
from tests.reproducible_metrics import reproducible_metrics

WARM = 2
PLAN = SftPlan(tokens=2000, lr=1e-2, batch_tokens=200, seed=7)


def engine(folder: Path, strategy: Any = PPO, method: Any = "full", **settings: Any) -> PurePT:
    job = make_job(folder, strategy(), seed=7, steps=5, batch=16, lr=1e-3, **settings)
    warm = WarmStart(WARM, PLAN, lambda: demos(renderer_of(folder)))
    finetune = FinetuneSection(method=method, rank=4, alpha=8.0)
    return PurePT(replace(job, warm_start=warm, finetune=finetune, lora_targets=("q_proj", "v_proj")))


def steps(one: PurePT, count: int) -> list[dict[str, float]]:
    return [reproducible_metrics(one.take_step().metrics) for _ in range(count)]


@pytest.mark.parametrize(
    ("strategy", "method", "killed_after"),
    [(PPO, "full", 1), (PPO, "full", WARM), (PPO, "lora", 3), (lambda: GRPO(group_size=4), "full", 3)],
)
def test_a_resumed_run_equals_the_unbroken_one(
    taught: Path, tmp_path: Path, strategy: Any, method: str, killed_after: int
) -> None:
    whole = engine(taught, strategy, method, schedule="linear", critic_warmup_steps=1)
    wanted = steps(whole, 5)
    first = engine(taught, strategy, method, schedule="linear", critic_warmup_steps=1)
    begun = steps(first, killed_after)
    first.save(tmp_path)
    torch.manual_seed(99)
    second = engine(taught, strategy, method, schedule="linear", critic_warmup_steps=1)
    second.load(tmp_path)
    assert second.step == killed_after
    assert begun + steps(second, 5 - killed_after) == wanted
    assert fingerprint(second.learner) == fingerprint(whole.learner)
    assert second.tokens_seen == whole.tokens_seen


def test_the_warm_start_is_plain_fine_tuning(taught: Path) -> None:
    one = engine(taught)
    found = [one.take_step() for _ in range(WARM)]
    alone = load_policy(str(taught), one.job.finetune, (), one.job.device, one.job.dtype)
    facts = fine_tune(alone, demos(renderer_of(taught)), PLAN)
    assert fingerprint(one.policy) == fingerprint(alone)
    assert sum(result.metrics["sft_updates"] for result in found) == facts["updates"]
    assert one.tokens_seen == facts["tokens"] == sum(result.metrics["sft_tokens"] for result in found)
    assert [len(result.episodes) for result in found] == [0, 0]


def test_a_batch_in_several_passes_makes_the_same_update(taught: Path) -> None:
    """A card with little memory has packs that are smaller than a batch of the warm start."""
    one, several = engine(taught), engine(taught, pack_tokens=64)
    wanted, found = steps(one, WARM), steps(several, WARM)
    assert [each["loss"] for each in found] == pytest.approx([each["loss"] for each in wanted], rel=1e-4)
    own, other = one.policy.state_dict(), several.policy.state_dict()
    torch.testing.assert_close(other, own, rtol=1e-2, atol=2e-3)


def test_parts_of_the_budget_are_the_whole(taught: Path) -> None:
    shown = demos(renderer_of(taught))
    parts = [batch for at in range(4) for batch in sft_batches(shown, PLAN, at / 4, (at + 1) / 4)]
    assert parts == list(sft_batches(shown, PLAN))


@pytest.mark.parametrize("method", ["full", "lora"])
def test_the_warm_start_is_the_reference(taught: Path, method: str) -> None:
    one = engine(taught, method=method)
    steps(one, WARM)
    before = fingerprint(one.policy)
    first, second = (one.take_step().metrics for _ in range(2))
    assert first["kl"] == pytest.approx(0, abs=1e-6)
    assert second["kl"] > 1e-6
    assert one.frozen is not None
    with one.frozen() as frozen:
        assert fingerprint(frozen) == before
    assert fingerprint(one.policy) != before


class Runaway(PPO):
    """PPO whose KL divergence is always too high."""

    def metrics(self) -> dict[str, float]:
        return {**super().metrics(), "kl": 9.0}


def test_a_rollback_without_a_checkpoint_returns_to_the_warm_start(taught: Path) -> None:
    one = engine(taught, Runaway)
    one.guard.level = 0.5
    steps(one, WARM)
    warm = fingerprint(one.policy)
    steps(one, 2)
    assert fingerprint(one.policy) != warm
    steps(one, 1)
    assert (fingerprint(one.policy), one.step) == (warm, 5)


def test_demonstrations_are_read_only_for_the_warm_start(taught: Path, tmp_path: Path) -> None:
    one = engine(taught)
    steps(one, WARM)
    one.save(tmp_path)

    def refuse() -> list[Trajectory]:
        raise AssertionError("the warm start is complete")

    job = replace(one.job, warm_start=WarmStart(WARM, PLAN, refuse))  # type: ignore[arg-type]
    again = PurePT(job)
    again.load(tmp_path)
    steps(again, 1)
    assert again.step == WARM + 1
