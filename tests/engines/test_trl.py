"""TRL as an engine: the same job, the same episodes, the same updates as `pure_pt`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from askgate_env.types import Episode, Sample
from src.agents.render import END, MARKS, PAD
from src.config.train_config import FinetuneSection
from src.core.api import Engine, StepResult, Strategy
from src.core.errors import BadInput
from src.engines.job import Drawn, TrainJob
from src.engines.pure_pt import PurePT
from src.strategies.dpo import DPO
from src.strategies.grpo import GRPO
from src.training.components import load_engine
from tests.agents.small_tokenizer import small_tokenizer
from tests.data.build_samples import built, small_plan
from tests.engines.toy import StepRecorder, ToySampler, fingerprint, make_job, renderer_of

pytest.importorskip("trl", reason="TRL is not installed (pip install 'askgate[trl]')")

from src.engines.trl_ppo import TrlEngine, padded_pair, split

BOTH = pytest.mark.parametrize(
    "strategy", [lambda: GRPO(group_size=4, kl_coef=0.3), lambda: DPO(group_size=4)], ids=["grpo", "dpo"]
)
Make = Callable[[], Strategy]


def trained(engine: Any) -> list[StepResult]:
    recorder = StepRecorder()
    engine.fit([recorder])
    return recorder.results


def weights(policy: torch.nn.Module) -> torch.Tensor:
    return torch.cat([weight.detach().flatten() for _, weight in sorted(policy.state_dict().items())])


def assert_same_weights(start: torch.Tensor, one: torch.nn.Module, other: torch.nn.Module) -> None:
    """Both policies end with nearly the same weights, relative to the change in training.

    They are not bit-equal: where a gradient is nearly 0, Adam turns rounding errors into a full step.
    """
    assert sorted(one.state_dict()) == sorted(other.state_dict())
    change = (weights(one) - start).norm()
    assert change > 0.01
    assert (weights(one) - weights(other)).norm() < 0.002 * change


class QuarterWeightSampler(ToySampler):
    """A sampler in which half of the samples have a weight of a quarter."""

    def draw(self, step: int, count: int) -> Sequence[Drawn]:
        return [replace(each, weight=(1.0, 0.25)[row % 2]) for row, each in enumerate(super().draw(step, count))]


@BOTH
def test_both_engines_make_the_same_episodes_and_the_same_updates(taught: Path, strategy: Make) -> None:
    """Two steps of two updates each. That user and tool tokens are masked alike is part of it: `pure_pt` does not even
    have them in its loss."""
    ours, theirs = (
        engine(make_job(taught, strategy(), steps=2, batch=16, lr=1e-3, epochs=2)) for engine in (PurePT, TrlEngine)
    )
    start = weights(ours.policy)
    here, there = trained(ours), trained(theirs)
    assert [one.episodes for one in here] == [one.episodes for one in there]
    assert ours.job.sampler.seen == theirs.job.sampler.seen
    for name in ("loss", "reward", "kl", "lr"):
        (first, second), (first_there, second_there) = ([one.metrics[name] for one in run] for run in (here, there))
        assert first_there == pytest.approx(first, abs=1e-5)
        # The weights differ a little by then.
        assert second_there == pytest.approx(second, abs=5e-5)
    assert_same_weights(start, ours.policy, theirs.policy)


@pytest.mark.parametrize("strategy", [GRPO(group_size=4, kl_coef=1e-9), DPO(group_size=4)], ids=["grpo", "dpo"])
def test_episode_weights_scale_updates_on_both_engines(taught: Path, strategy: Strategy) -> None:
    job = make_job(taught, strategy, steps=1, batch=16, lr=1e-3)
    ours, theirs = (engine(replace(job, sampler=QuarterWeightSampler(0))) for engine in (PurePT, TrlEngine))
    start = weights(ours.policy)
    trained(ours)
    trained(theirs)
    assert_same_weights(start, ours.policy, theirs.policy)


def test_splitting_a_minibatch_does_not_change_the_update(taught: Path) -> None:
    whole, parts = (
        TrlEngine(make_job(taught, GRPO(group_size=4), steps=1, batch=16, lr=1e-3, minibatches=2, pack_tokens=tokens))
        for tokens in (8192, 64)
    )
    assert (whole.trainer.args.per_device_train_batch_size, parts.trainer.args.per_device_train_batch_size) == (8, 2)
    start = weights(whole.policy)
    trained(whole)
    trained(parts)
    assert_same_weights(start, whole.policy, parts.policy)


@BOTH
def test_a_resumed_run_is_equal_bit_by_bit(taught: Path, tmp_path: Path, strategy: Make) -> None:
    def engine() -> TrlEngine:
        return TrlEngine(make_job(taught, strategy(), steps=2, batch=16, lr=1e-3, minibatches=2, schedule="linear"))

    class SavesOnce(StepRecorder):
        def on_step(self, engine: Engine, result: StepResult) -> None:
            super().on_step(engine, result)
            if result.step == 1:
                engine.save(tmp_path)

    straight, recorder = engine(), SavesOnce()
    straight.fit([recorder])
    resumed = engine()
    resumed.load(tmp_path)
    assert resumed.step == 1
    (second,) = trained(resumed)
    assert second.episodes == recorder.results[1].episodes
    assert second.metrics["loss"] == recorder.results[1].metrics["loss"]
    assert fingerprint(resumed.policy) == fingerprint(straight.policy)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".safetensors"]


def test_only_adapters_learn_and_the_base_is_the_reference(taught: Path, tmp_path: Path) -> None:
    job = make_job(taught, GRPO(group_size=4, kl_coef=0.3), steps=2, batch=16, lr=1e-2)
    job = replace(job, finetune=FinetuneSection(method="lora", rank=4), lora_targets=("q_proj", "v_proj"))
    ours, theirs = PurePT(job), TrlEngine(replace(job, strategy=GRPO(group_size=4, kl_coef=0.3), sampler=ToySampler(0)))
    start = weights(ours.policy)
    here, there = trained(ours), trained(theirs)
    assert there[1].metrics["kl"] > 0
    assert there[1].metrics["kl"] == pytest.approx(here[1].metrics["kl"], rel=1e-3)
    assert_same_weights(start, ours.policy, theirs.policy)
    theirs.save_model(tmp_path)
    assert (tmp_path / "adapter_model.safetensors").is_file()
    assert not (tmp_path / "ref").exists()


@pytest.mark.parametrize("saved", [True, False], ids=["checkpoint", "base"])
def test_three_consecutive_alerts_roll_back(taught: Path, tmp_path: Path, saved: bool) -> None:
    """The first step has a KL of exactly 0 and is good; every later step raises an alert."""
    kept = tmp_path / "good"
    kept.mkdir()
    job = make_job(taught, GRPO(group_size=4), steps=5, batch=16, lr=1e-2, kl_alert=1e-9)
    engine = TrlEngine(replace(job, last_good=lambda before: kept if saved else None))
    fingerprints = [fingerprint(engine.policy)]

    class SavesFirstStep(StepRecorder):
        def on_step(self, engine: Any, result: StepResult) -> None:
            super().on_step(engine, result)
            fingerprints.append(fingerprint(engine.policy))
            if result.step == 1:
                engine.save(kept)

    recorder = SavesFirstStep()
    engine.fit([recorder])
    assert [one.metrics["kl_alerts"] for one in recorder.results[:4]] == [0, 1, 2, 0]
    assert [one.metrics["rollbacks"] for one in recorder.results[:4]] == [0, 0, 0, 1]
    assert fingerprints[4] == fingerprints[1 if saved else 0]
    assert fingerprints[3] != fingerprints[4]
    assert recorder.results[4].metrics["lr"] == pytest.approx(0.5e-2)


def acts(episode: Episode, sample: Sample, judged: Mapping[str, float] | None = None) -> dict[str, float]:
    """A reward for acting at all: random weights answer nothing right, so success cannot tell episodes apart."""
    spoken = [turn for turn in episode.turns if turn.by == "assistant"]
    return {"acts": sum(turn.act != "say" for turn in spoken) / 4, "words": -len(spoken[-1].text) / 1000}


@pytest.fixture(scope="module")
def chance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Qwen3 model with random weights and a byte-level vocabulary."""
    folder = tmp_path_factory.mktemp("chance")
    tokenizer = small_tokenizer(MARKS, eos=END)
    tokenizer.pad_token = PAD
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=16, max_position_embeddings=4096,
    )  # fmt: skip
    Qwen3ForCausalLM(config).save_pretrained(folder)
    return folder


class Pool(ToySampler):
    """Samples as the pool builder makes them."""

    def draw(self, step: int, count: int) -> Sequence[Drawn]:
        return [Drawn(sample) for sample in built(small_plan(12))[:count]]


def real_job(folder: Path, strategy: Strategy) -> TrainJob:
    job = make_job(folder, strategy, steps=1, batch=16, lr=1e-3)
    rollout = job.rollout.model_copy(update={"max_new_tokens": 24, "max_tokens": 4096})
    return replace(job, sampler=Pool(0), reward=acts, rollout=rollout)


@BOTH
def test_a_step_on_real_samples_with_tools(chance: Path, strategy: Make) -> None:
    engine = TrlEngine(real_job(chance, strategy()))
    before = fingerprint(engine.policy)
    (result,) = trained(engine)
    assert engine.step == result.step == 1
    assert fingerprint(engine.policy) != before
    assert len(result.episodes) == 16
    assert all(set(episode.reward) == {"acts", "words"} for episode in result.episodes)
    assert any(turn.by == "tool" for episode in result.episodes for turn in episode.turns)
    assert max(episode.policy_turns for episode in result.episodes) == 3


def test_trl_masks_exactly_the_policy_tokens(chance: Path) -> None:
    engine = TrlEngine(real_job(chance, GRPO(group_size=4)))
    got = engine._collect()
    cue = renderer_of(chance).opening("")[-1]
    several = [one for one in got.trajectories if one.episode.policy_turns > 1]
    assert several
    for one in several:
        said = one.tokens[one.policy].tolist()
        prompt, completion, mask, logp = split(one, filler=0)
        assert prompt + completion == one.tokens[: len(prompt) + len(completion)].tolist()
        assert not one.policy[: len(prompt)].any()
        assert [token for token, own in zip(completion, mask, strict=True) if own] == said
        assert np.count_nonzero(logp) <= sum(mask)
        others = [token for token, own in zip(completion, mask, strict=True) if not own]
        replies = [turn for turn in one.episode.turns[1:] if turn.by != "assistant"]
        assert others[-1] == cue
        assert others.count(cue) == len(replies)
        pair = padded_pair(one, got.trajectories[0])
        assert pair["input_ids"][0][pair["completion_mask"][0].bool()].tolist() == said
        assert int(pair["attention_mask"][1].sum()) == len(got.trajectories[0].tokens)


def test_ppo_is_refused_with_the_reason_and_the_way_out() -> None:
    with pytest.raises(BadInput, match=r"removed in 1\.13.*engine: pure_pt.*strategy: grpo"):
        load_engine("trl_ppo", "ppo")


def test_a_users_loss_is_refused_by_trl(taught: Path) -> None:
    class Mine(GRPO):
        pass

    with pytest.raises(BadInput, match=r"not that of Mine.*engine: pure_pt"):
        TrlEngine(make_job(taught, Mine(), steps=1))


@pytest.mark.parametrize(
    ("strategy", "more", "where"),
    [
        (GRPO(group_size=4, kl_coef=0.0), {}, "kl_coef"),
        (GRPO(group_size=4), {"minibatches": 3}, "optimizer.minibatches"),
        (GRPO(group_size=5), {}, "batch_size"),
    ],
)
def test_what_trl_cannot_do_is_refused_at_the_start(
    taught: Path, strategy: Strategy, more: dict[str, Any], where: str
) -> None:
    with pytest.raises(BadInput) as refused:
        TrlEngine(make_job(taught, strategy, steps=1, batch=16, **more))
    assert refused.value.where == where


def test_dpo_at_another_temperature_is_refused(taught: Path) -> None:
    job = make_job(taught, DPO(group_size=4), steps=1, batch=16)
    with pytest.raises(BadInput, match=r"temperature 0\.7"):
        TrlEngine(replace(job, rollout=job.rollout.model_copy(update={"temperature": 0.7})))


def test_without_trl_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, TrlEngine.__module__)
    for name in [name for name in sys.modules if name.partition(".")[0] == "trl"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [NoTrl(), *sys.meta_path])
    with pytest.raises(BadInput, match=r"trl is not installed.*pip install 'askgate\[trl\]'"):
        load_engine("trl_ppo", "grpo")


class NoTrl:
    """Finds everything but TRL, as on a machine without it."""

    def find_spec(self, name: str, *_: object) -> None:
        if name.partition(".")[0] == "trl":
            raise ModuleNotFoundError(f"No module named {name!r}", name="trl")
