"""Packing changes memory, never the result; nothing is learned from tokens of user and tools."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from numpy.typing import NDArray
from torch import Tensor

from src.config.train_config import FinetuneSection
from src.core.api import Batch, Strategy
from src.engines.models import Critic, load_policy, recompute_layers
from src.engines.packed import Learner, Stream, TokenScores, _concatenate, backward, hidden_before, pack, score_tokens
from src.strategies.dpo import DPO
from src.strategies.grpo import GRPO
from src.strategies.ppo import PPO
from tests.engines.toy import make_model

CPU = torch.device("cpu")
TEMPERATURE = 0.7


@dataclass(frozen=True)
class Said:
    tokens: NDArray[np.int32]
    policy: NDArray[np.bool_]


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # With one layer keys and values would not depend on the tokens before.
    return make_model(tmp_path_factory.mktemp("model"), taught=False, layers=2)


def episodes(seed: int = 3, count: int = 6) -> list[Said]:
    """Episodes of different lengths and turns; some end with a reply, and in one the policy has no tokens."""
    dice = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        tokens = dice.integers(0, 20, size=int(dice.integers(6, 24))).astype(np.int32)
        policy = dice.random(len(tokens)) < 0.5
        policy[0], policy[2] = False, True
        made.append(Said(tokens, policy))
    made[2] = Said(made[2].tokens, np.zeros_like(made[2].policy))
    return made


def learner_of(folder: Path) -> Learner:
    torch.manual_seed(1)
    policy = load_policy(str(folder), FinetuneSection(), (), CPU, torch.float32)
    critic = Critic(32)
    torch.nn.init.normal_(critic.value.weight)
    return Learner(policy, critic, TEMPERATURE)


def batch_of(said: list[Said], learner: Learner) -> Batch:
    """A batch whose old policy, reference and critic differ slightly from the current ones."""
    with torch.no_grad():
        now = _concatenate([learner(one) for one in pack(said, 10_000, CPU)])
    assert now.value_N is not None
    dice = torch.Generator().manual_seed(5)

    def near(x_N: Tensor) -> Tensor:
        return x_N + 0.1 * torch.randn(x_N.shape, generator=dice)

    rows = np.arange(len(said))
    return Batch(
        logp_N=near(now.logp_N),
        episode_N=torch.from_numpy(np.repeat(rows, [int(one.policy.sum()) for one in said])),
        reward_E=torch.randn(len(said), generator=dice),
        group_E=torch.from_numpy(rows // 2),
        weight_E=torch.rand(len(said), generator=dice),
        ref_logp_N=near(now.logp_N),
        value_N=near(now.value_N),
    )


def gradient(folder: Path, strategy: Strategy, pack_tokens: int, said: list[Said]) -> tuple[float, Tensor]:
    learner = learner_of(folder)
    batch = batch_of(said, learner)
    targets = strategy.targets(batch)

    def loss_of(now: TokenScores) -> tuple[Tensor, dict[str, Tensor]]:
        return strategy.loss(now.logp_N, now.entropy_N, now.value_N, batch, targets)

    figures = backward(Accelerator(cpu=True), learner, pack(said, pack_tokens, CPU), loss_of)
    grads = [torch.zeros_like(w) if w.grad is None else w.grad for w in learner.parameters()]
    return float(figures["loss"]), torch.cat([grad.flatten() for grad in grads])


@pytest.mark.parametrize(
    "strategy",
    [PPO(entropy_coef=0.01), GRPO(entropy_coef=0.01, group_size=2), DPO(group_size=2)],
    ids=["ppo", "grpo", "dpo"],
)
@pytest.mark.parametrize("pack_tokens", [1, 24, 40, 60])
@pytest.mark.parametrize("shares", [False, True])
def test_loss_and_gradient_do_not_depend_on_packing(
    folder: Path, strategy: Strategy, pack_tokens: int, shares: bool
) -> None:
    said = alike() if shares else episodes()
    whole, small = gradient(folder, strategy, 10_000, said), gradient(folder, strategy, pack_tokens, said)
    (one,) = pack(said, 10_000, CPU)
    assert bool(one.shared) == shares
    assert len(pack(said, pack_tokens, CPU)) > 1
    assert small[0] == pytest.approx(whole[0], abs=1e-6)
    # Sums of float32 in another order differ by up to 2e-6.
    assert torch.allclose(small[1], whole[1], rtol=0, atol=2e-6)
    assert whole[1].abs().max() > 1e-3


def test_packed_logp_and_entropy_equal_those_of_single_episodes(folder: Path) -> None:
    learner, said = learner_of(folder), episodes()
    with torch.no_grad():
        now = _concatenate([learner(one) for one in pack(said, 30, CPU)])
        wanted: list[Tensor] = []
        entropy: list[Tensor] = []
        for one in said:
            logits = learner.policy(torch.from_numpy(one.tokens.astype(np.int64))[None]).logits[0] / TEMPERATURE
            own = torch.distributions.Categorical(logits=logits[:-1])
            place = torch.from_numpy(one.policy[1:])
            wanted.append(own.log_prob(torch.from_numpy(one.tokens[1:].astype(np.int64)))[place])
            entropy.append(own.entropy()[place])
    assert torch.allclose(now.logp_N, torch.cat(wanted), atol=1e-5)
    assert torch.allclose(now.entropy_N, torch.cat(entropy), atol=1e-5)


def alike() -> list[Said]:
    """Episodes of two samples. Those of a sample begin alike: by 40 tokens, by one more of the policy, or entirely."""
    dice = np.random.default_rng(7)
    made = []
    for size in (40, 50):
        start = dice.integers(0, 20, size=size)
        policy = np.arange(size) > size - 6
        ends = [[1, 2, 3], [1, 4], [5, 6, 7, 8], [5, 6], [5, 6, 7, 8], [5, 6, 7, 9]]
        for end in ends:
            tokens = np.concatenate([start, end]).astype(np.int32)
            made.append(Said(tokens, np.concatenate([policy, np.ones(len(end), np.bool_)])))
    return made


def test_episodes_that_begin_alike_share_tokens(folder: Path) -> None:
    said, learner = alike(), learner_of(folder)
    (stream,) = pack(said, 10_000, CPU)
    assert stream.shared is not None
    # Of the ends, which are read without their last token, five tokens are different: 1, 1 2, 5, 5 6 and 5 6 7.
    assert len(stream.tokens_T) == 40 + 50 + 2 * 5
    single = [learner(pack([one], 10_000, CPU)[0]) for one in said]
    together = learner(stream)
    for whole, parts in zip(together, _concatenate(single), strict=True):
        assert torch.allclose(whole, parts, atol=1e-5)


@pytest.mark.parametrize("pack_tokens", [60, 10_000])
def test_shared_tokens_get_the_gradients_of_all_their_episodes(folder: Path, pack_tokens: int) -> None:
    def gradient_of(streams: list[Stream]) -> Tensor:
        learner = learner_of(folder)
        weight_N = torch.linspace(-1, 1, sum(len(one.label_N) for one in streams))
        now = _concatenate([learner(one) for one in streams])
        (weight_N * (now.logp_N + 0.1 * now.entropy_N + now.value_N)).sum().backward()
        return torch.cat([w.grad.flatten() for w in learner.parameters() if w.grad is not None])

    apart = gradient_of([stream for one in alike() for stream in pack([one], 10_000, CPU)])
    shared = pack(alike(), pack_tokens, CPU)
    assert any(one.shared for one in shared)
    assert torch.allclose(gradient_of(shared), apart, atol=1e-5)
    assert apart.abs().max() > 1e-2


def test_a_stream_reads_a_limited_multiple_of_its_tokens(folder: Path) -> None:
    same = [Said(np.arange(50, dtype=np.int32) % 20, np.arange(50) > 40)] * 20
    streams = pack(same, 100, CPU)
    assert [len(one.tokens_T) for one in streams] == [49, 49, 49]
    assert [len(one.lengths) for one in streams] == [8, 8, 4]
    assert len(learner_of(folder)(streams[0]).logp_N) == 8 * 9


def test_no_gradient_from_user_and_tool_tokens(folder: Path) -> None:
    learner, said = learner_of(folder), episodes()
    (one,) = pack(said, 10_000, CPU)
    states: list[Tensor] = []

    def keep(module: torch.nn.Module, args: object, out: torch.nn.Module) -> None:
        out.last_hidden_state.retain_grad()  # type: ignore[operator]
        states.append(out.last_hidden_state)  # type: ignore[arg-type]

    learner.policy.get_decoder().register_forward_hook(keep)
    rows: list[int] = []
    learner.policy.get_output_embeddings().register_forward_hook(lambda m, args, out: rows.append(len(args[0])))
    now = learner(one)
    (now.logp_N.sum() + now.entropy_N.sum() + now.value_N.sum()).backward()
    grad_TH = states[0].grad
    assert grad_TH is not None
    elsewhere = torch.ones(len(one.tokens_T), dtype=torch.bool)
    elsewhere[one.position_N] = False
    assert rows == [len(one.position_N)]
    assert elsewhere.any()
    assert (grad_TH[0][elsewhere] == 0).all()
    assert (grad_TH[0][~elsewhere].abs().sum(-1) > 0).all()


def test_tokens_after_the_last_policy_token_change_nothing(folder: Path) -> None:
    said = [Said(np.array([1, 2, 3, 4, 5], dtype=np.int32), np.array([False, True, True, False, False]))]
    other = [
        replace(said[0], tokens=np.array([1, 2, 3, 9, 9, 9], dtype=np.int32), policy=np.append(said[0].policy, False))
    ]
    (a,), (b,) = pack(said, 100, CPU), pack(other, 100, CPU)
    assert torch.equal(a.tokens_T, b.tokens_T)
    assert a.lengths == b.lengths == (2,)


@pytest.mark.parametrize("critic_only", [False, True])
def test_the_value_loss_reaches_the_critic_alone(folder: Path, critic_only: bool) -> None:
    learner = learner_of(folder)
    now = learner(pack(episodes(), 10_000, CPU)[0], critic_only)
    assert learner.critic is not None
    now.value_N.sum().backward()
    assert learner.critic.read.weight.grad is not None
    assert all(weight.grad is None for weight in learner.policy.parameters())


@pytest.mark.parametrize("shares", [False, True])
def test_chunked_logits_give_the_same_result(folder: Path, monkeypatch: pytest.MonkeyPatch, shares: bool) -> None:
    def run() -> tuple[Tensor, Tensor]:
        learner = learner_of(folder)
        (one,) = pack(alike() if shares else episodes(), 10_000, CPU)
        hidden_NH = hidden_before(learner.policy, one)
        logp_N, entropy_N = score_tokens(learner.policy, hidden_NH, one.label_N, TEMPERATURE, shared=one.shared)
        (logp_N.sum() + 0.1 * entropy_N.sum()).backward()
        return logp_N.detach(), torch.cat([w.grad.flatten() for w in learner.policy.parameters()])

    whole = run()
    monkeypatch.setattr("src.engines.packed.LOGITS_AT_ONCE", 100)
    parts = run()
    assert torch.allclose(whole[0], parts[0], atol=1e-6)
    assert torch.allclose(whole[1], parts[1], atol=1e-5)


def test_entropy_carries_a_gradient_only_where_it_is_trained(folder: Path) -> None:
    learner = learner_of(folder)
    (one,) = pack(episodes(), 10_000, CPU)
    found = {}
    for kind in ("none", "reported", "trained"):
        hidden_NH = hidden_before(learner.policy, one)
        logp_N, entropy_N = score_tokens(learner.policy, hidden_NH, one.label_N, TEMPERATURE, kind)
        assert logp_N.requires_grad
        assert entropy_N.requires_grad == (kind == "trained")
        found[kind] = entropy_N.detach()
    assert torch.equal(found["reported"], found["trained"])
    assert (found["trained"] > 0).all()
    assert (found["none"] == 0).all()


def test_recomputed_layers_keep_no_activations_and_give_the_same_gradient(folder: Path) -> None:
    def run(recomputed: bool) -> tuple[Tensor, int, int]:
        learner, calls = learner_of(folder), []
        layers = learner.policy.get_decoder().layers
        layers[0].mlp.register_forward_pre_hook(lambda *_: calls.append(1))
        if recomputed:
            recompute_layers(learner.policy)
        kept: list[int] = []
        (one,) = pack(episodes(), 10_000, CPU)
        with torch.autograd.graph.saved_tensors_hooks(lambda x: (kept.append(x.numel()), x)[1], lambda x: x):
            logp_N = learner(one).logp_N
        logp_N.sum().backward()
        return torch.cat([w.grad.flatten() for w in learner.policy.parameters()]), len(calls), sum(kept)

    plain, plain_calls, plain_kept = run(False)
    recomputed, calls, kept = run(True)
    assert torch.equal(plain, recomputed)
    assert (plain_calls, calls) == (1, 2)
    assert kept < plain_kept
    learner, seen = learner_of(folder), []
    recompute_layers(learner.policy)
    learner.policy.get_decoder().layers[0].mlp.register_forward_pre_hook(lambda *_: seen.append(1))
    with torch.no_grad():
        learner(pack(episodes(), 10_000, CPU)[0])
    assert len(seen) == 1
