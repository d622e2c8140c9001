"""Rollouts with real samples, a small tokenizer, and a model with random weights that prefers its marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
import torch
from peft import LoraConfig, get_peft_model
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import nn
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from askgate_env.env import Env
from askgate_env.types import Sample
from src.agents.render import END, MARKS, PAD, SPOKEN, TagRenderer
from src.agents.trajectory import Job, Trajectory
from src.config.train_config import RolloutLimits
from src.rollout import sampling
from src.rollout.sampling import sample_tokens
from src.rollout.scheduler import MIN_SHARED, generate
from tests.rollout.packed import packed_logits

CPU = torch.device("cpu")
TEMPERATURE = 0.8


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def renderer(pool: list[Sample]) -> TagRenderer:
    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=600, initial_alphabet=alphabet, show_progress=False)
    words.train_from_iterator([sample.prompt for sample in pool[:200]], trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token=PAD, eos_token=END)
    tokenizer.add_special_tokens({"additional_special_tokens": [mark for mark in MARKS if mark not in (PAD, END)]})
    return TagRenderer(tokenizer)


@pytest.fixture(scope="module")
def model(renderer: TagRenderer) -> nn.Module:
    torch.manual_seed(2)
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(renderer.tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=8,
            tie_word_embeddings=False,
        )
    )
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(8)
        loud = renderer.tokenizer.convert_tokens_to_ids([END, *SPOKEN[:4]])
        model.lm_head.weight[loud] *= 2
    return model


def roll_out(model: nn.Module, renderer: TagRenderer, samples: Sequence[Sample], **changes) -> list[Trajectory]:
    """Trajectories on these samples. `changes` are limits or other arguments of `generate`."""
    limits = RolloutLimits(max_turns=3, max_new_tokens=12, max_tokens=400, temperature=TEMPERATURE, slots=4)
    limits = limits.model_copy(
        update={name: changes.pop(name) for name in [*changes] if name in RolloutLimits.model_fields}
    )
    jobs = [Job(sample, "easy", seed) for seed, sample in enumerate(samples)]
    settings = {"device": CPU, "generator": torch.Generator().manual_seed(5), **changes}
    return generate(model, renderer, jobs, limits, **settings)


def assert_same(one: Sequence[Trajectory], two: Sequence[Trajectory]) -> None:
    for a, b in zip(one, two, strict=True):
        assert a.tokens.tolist() == b.tokens.tolist()
        assert a.policy.tolist() == b.policy.tolist()
        assert a.episode == b.episode
        assert np.abs(a.logp - b.logp).max() < 1e-4


def turns_of(one: Trajectory) -> list[tuple[int, int]]:
    """Start and end of each stretch of policy tokens."""
    edges = np.flatnonzero(np.diff(one.policy.astype(int), prepend=0, append=0)).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))


def test_rollout_logprobs_equal_those_of_training(model, renderer, pool) -> None:
    trajectories = roll_out(model, renderer, pool[:12])
    assert sum(len(turns_of(one)) for one in trajectories) > 20
    tokens = torch.from_numpy(np.concatenate([one.tokens for one in trajectories])).long()
    with torch.no_grad():
        logits = packed_logits(model, tokens, [len(one.tokens) for one in trajectories])
    said = torch.from_numpy(np.concatenate([one.policy for one in trajectories])).nonzero()[:, 0]
    expected = (logits / TEMPERATURE).log_softmax(-1)[said - 1, tokens[said]]
    measured = torch.from_numpy(np.concatenate([one.logp[one.policy] for one in trajectories]))
    torch.testing.assert_close(measured, expected, atol=1e-4, rtol=0)
    assert all((one.logp[~one.policy] == 0).all() for one in trajectories)


def test_an_episode_is_opening_turns_and_replies_only(model, renderer, pool) -> None:
    """The policy's turns are replayed: the environment's replies fill every gap, token by token."""
    for sample, one in zip(pool[:30], roll_out(model, renderer, pool[:30]), strict=True):
        env = Env(sample, max_turns=3)
        expected = renderer.opening(env.opening())
        policy = [False] * len(expected)
        for start, end in turns_of(one):
            said = one.tokens[start:end].tolist()
            assert not renderer.stop_ids & set(said[:-1])
            expected += said
            policy += [True] * len(said)
            reply = env.step(renderer.decode(said))
            added = [] if said[-1] in renderer.stop_ids else sorted(renderer.stop_ids)
            if added:
                assert len(said) == 12
            added += renderer.reply(reply.by, reply.text) if reply else []
            expected += added
            policy += [False] * len(added)
        assert one.tokens.tolist() == expected
        assert one.policy.tolist() == policy
        assert one.episode.turns == tuple(env.turns)
        assert one.episode.end == env.end


def test_the_test_episodes_cover_every_kind(model, renderer, pool) -> None:
    """Otherwise the other tests would pass for lack of cases."""
    trajectories = roll_out(model, renderer, pool[:30])
    assert {one.episode.end for one in trajectories} >= {"answer", "turns"}
    assert {turn.act for one in trajectories for turn in one.episode.turns} >= {"ask", "call", "answer", "result"}
    cut = [one.tokens[end - 1] not in renderer.stop_ids for one in trajectories for _, end in turns_of(one)]
    assert any(cut)
    assert not all(cut)


def test_trajectories_come_back_in_job_order(model, renderer, pool) -> None:
    reported: list[int] = []
    trajectories = roll_out(model, renderer, pool[:9], slots=2, progress=reported.append)
    assert [one.episode.sample_id for one in trajectories] == [sample.id for sample in pool[:9]]
    assert [one.episode.seed for one in trajectories] == list(range(9))
    assert {one.episode.level for one in trajectories} == {"easy"}
    assert reported == [1] * 9
    assert roll_out(model, renderer, []) == []


@pytest.mark.parametrize("greedy", [True, False])
@pytest.mark.parametrize("slots", [1, 3, 64])
def test_episodes_do_not_depend_on_the_number_of_slots(model, renderer, pool, greedy, slots) -> None:
    samples = [sample for sample in pool[:5] for _ in range(3)]
    assert_same(
        roll_out(model, renderer, samples, greedy=greedy, slots=4),
        roll_out(model, renderer, samples, greedy=greedy, slots=slots),
    )


@pytest.mark.parametrize("slots", [1, 3, 64])
def test_batch_invariant_rollouts_have_equal_bits_for_any_slot_count(model, renderer, pool, slots) -> None:
    samples = [sample for sample in pool[:5] for _ in range(3)]
    settings = {"keep_hidden": True, "batch_invariant": True}
    whole = roll_out(model, renderer, samples, slots=4, **settings)
    some = roll_out(model, renderer, samples, slots=slots, only=range(1, 15, 2), **settings)
    for a, b in zip(some, whole[1::2], strict=True):
        assert a.tokens.tolist() == b.tokens.tolist()
        assert a.logp.tolist() == b.logp.tolist()
        assert torch.equal(a.hidden_NH, b.hidden_NH)


def test_randomness_comes_from_the_generator(model, renderer, pool) -> None:
    samples = [pool[0]] * 4
    one, again = roll_out(model, renderer, samples), roll_out(model, renderer, samples)
    assert_same(one, again)
    other = roll_out(model, renderer, samples, generator=torch.Generator().manual_seed(6))
    assert [t.tokens.tolist() for t in one] != [t.tokens.tolist() for t in other]
    assert len({tuple(t.tokens.tolist()) for t in one}) > 1


def test_sampling_frequencies_match_probabilities() -> None:
    logits = torch.randn(40, generator=torch.Generator().manual_seed(2)) * 2
    expected = (logits.double() / TEMPERATURE).softmax(-1).numpy()
    drawn, logps = sample_tokens(logits.expand(20_000, -1), TEMPERATURE, np.random.default_rng(3).random(20_000))
    share = np.bincount(drawn, minlength=40) / 20_000
    assert (np.abs(share - expected) < 4.5 * np.sqrt(expected * (1 - expected) / 20_000) + 1e-4).all()
    assert np.allclose(logps, np.log(expected)[drawn], atol=1e-5)


def test_tokens_of_probability_zero_are_never_sampled() -> None:
    logits = torch.full((3, 5), -torch.inf)
    logits[:, 2] = 1.0
    assert sample_tokens(logits, 1.0, np.array([0.0, 0.5, 1 - 2**-53]))[0] == [2, 2, 2]


def test_greedy_takes_the_likeliest_token(model, renderer, pool) -> None:
    for one in roll_out(model, renderer, pool[:3], greedy=True):
        tokens = torch.from_numpy(one.tokens).long()
        with torch.no_grad():
            best = packed_logits(model, tokens, [len(tokens)]).argmax(-1)
        said = torch.from_numpy(one.policy).nonzero()[:, 0]
        assert torch.equal(best[said - 1], tokens[said])


def test_an_episode_ends_when_tokens_run_out(model, renderer, pool) -> None:
    """The last turn is truncated, or the reply is not read; everything before is unchanged."""
    sample, whole = next(
        (sample, one)
        for sample in pool
        for one in roll_out(model, renderer, [sample])
        if len(turns_of(one)) == 3 and one.episode.end != "length"
    )
    opening = len(renderer.opening(sample.prompt))
    cut_turns = unread_replies = 0
    for room in range(opening + 1, len(whole.tokens), 5):
        (one,) = roll_out(model, renderer, [sample], max_tokens=room)
        assert one.episode.end == "length"
        assert one.episode.answer is None
        assert one.policy.any()
        assert len(one.tokens) <= room
        assert whole.tokens[: len(one.tokens)].tolist() == one.tokens.tolist()
        if one.episode.turns[-1].by == "assistant":
            assert len(one.tokens) == room
            assert one.policy[-1]
            start, end = turns_of(one)[-1]
            assert one.episode.turns[-1].text == renderer.decode(one.tokens[start:end].tolist())
            cut_turns += 1
        else:
            unread_replies += 1
    assert cut_turns
    assert unread_replies


def test_an_opening_that_fills_the_episode_ends_it(model, renderer, pool) -> None:
    short, long = sorted(pool[:30], key=lambda sample: len(renderer.opening(sample.prompt)))[::29]
    room = len(renderer.opening(long.prompt))
    one, two = roll_out(model, renderer, [long, short], max_tokens=room)
    assert (one.episode.end, one.policy.any(), len(one.tokens)) == ("length", False, room)
    assert two.policy.any()


def test_no_episode_has_more_turns_than_allowed(model, renderer, pool) -> None:
    trajectories = roll_out(model, renderer, pool[:20], max_turns=2)
    assert max(one.episode.policy_turns for one in trajectories) == 2
    assert {one.episode.end for one in trajectories if one.episode.policy_turns == 2} >= {"turns"}


@pytest.mark.parametrize("slots", [6, 64])
def test_shared_prefixes_are_read_once(model, renderer, pool, slots) -> None:
    """Eight identical episodes of a sample read the opening and the replies once."""
    read = []
    hook = model.model.embed_tokens.register_forward_hook(lambda module, args, out: read.append(out.shape[1]))
    try:
        trajectories = roll_out(model, renderer, [s for s in pool[:4] for _ in range(8)], slots=slots, greedy=True)
    finally:
        hook.remove()
    once = sum(len(one.tokens) for one in trajectories[::8])
    again = sum(int(one.policy.sum()) + len(turns_of(one)) * MIN_SHARED for one in trajectories)
    assert once < sum(read) <= once + again
    assert once + again < sum(len(one.tokens) for one in trajectories) / 2


def test_rollouts_work_with_adapters_during_training(model, renderer, pool) -> None:
    plain = roll_out(model, renderer, pool[:6])
    adapted = get_peft_model(
        Qwen3ForCausalLM(model.config), LoraConfig(r=4, lora_dropout=0.5, target_modules=["q_proj", "v_proj"])
    )
    adapted.get_base_model().load_state_dict(model.state_dict(), strict=False)
    weights = dict(model.named_parameters())
    with torch.no_grad():
        for name, weight in adapted.get_base_model().named_parameters():
            if "lora" not in name:
                weight.copy_(weights[name.replace("base_layer.", "")])
    adapted.train()
    assert_same(roll_out(adapted, renderer, pool[:6]), plain)
    assert adapted.training
    with torch.no_grad():
        for name, weight in adapted.named_parameters():
            if "lora_B" in name:
                weight.normal_(std=0.5)
    changed = roll_out(adapted, renderer, pool[:6])
    assert [one.tokens.tolist() for one in changed] != [one.tokens.tolist() for one in plain]


def test_training_works_after_a_rollout(model, renderer, pool) -> None:
    (one,) = roll_out(model, renderer, pool[:1])
    logits = packed_logits(model, torch.from_numpy(one.tokens).long(), [len(one.tokens)])
    logits.square().mean().backward()
    assert all(weight.grad is not None for weight in model.parameters())
    model.zero_grad()


def test_a_diverged_policy_raises(renderer, model, pool) -> None:
    broken = Qwen3ForCausalLM(model.config)
    with torch.no_grad():
        broken.lm_head.weight.fill_(float("nan"))
    with pytest.raises(FloatingPointError, match="diverged"):
        roll_out(broken, renderer, pool[:2])
    with pytest.raises(ValueError, match="greedy"):
        roll_out(model, renderer, pool[:2], temperature=0.0)


def test_sampling_in_32_bits_picks_the_same_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert sampling.exact_dtype(torch.device("mps")) is torch.float32
    logits = torch.randn(500, 300, generator=torch.Generator().manual_seed(1))
    chance = np.random.default_rng(3).random(500)
    logits[:, -1], chance[0] = -torch.inf, 1 - 2**-53
    exact = sample_tokens(logits, 1.0, chance)[0]
    monkeypatch.setattr(sampling, "exact_dtype", lambda device: torch.float32)
    assert np.mean(np.array(sample_tokens(logits, 1.0, chance)[0]) == exact) > 0.99
