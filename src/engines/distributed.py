"""Training by several processes (ranks) that `torchrun` starts: what they exchange, and how the weights are sharded.

    torchrun --nproc-per-node 4 -m train.ppo_runner --config configs/ppo_scale.yaml

Rank 0 does what a single process does: gates, judge, logs, callbacks, checkpoints. Every other rank has the same engine
and repeats the engine calls that rank 0 announces. In each step

    every rank draws the same samples; rank r rolls out rows r, r + W, r + 2W, ... of the W ranks
    episodes are gathered once; rewards and advantages are computed from the whole batch, on every rank alike
    every rank scores its share of a minibatch; scores are exchanged, so the loss is that of the whole minibatch
    every rank carries the gradient at its own tokens into the weights; gradients are summed over the ranks

Full fine-tuning shards weights, gradients and optimizer with FSDP2, layer by layer, and keeps an unsharded copy of the
policy for rollouts; a single rank has nothing to shard. Adapters are small and their base is frozen, so LoRA and QLoRA
hold all weights on every rank and sum the gradients.
"""

from __future__ import annotations

import copy
import logging
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import cache
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard, register_fsdp_forward_method
from torch.distributed.tensor import DTensor, distribute_tensor

from ..core.defaults import RESUME
from ..rollout.attention import unwrap
from .packed import Learner, Stream, TokenScores, clip_gradients

TIMEOUT = timedelta(days=1)
"""Timeout of an exchange between ranks: meanwhile rank 0 may evaluate, or wait for a judge. A rank that has died is
noticed by torchrun at once."""
END = ""
"""Announced when the run is over."""

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


class Ranks:
    """The processes of a run. In a run without torchrun there is one, and nothing is exchanged."""

    def __init__(self, rank: int = 0, world: int = 1, distributed: bool = False) -> None:
        self.rank, self.world, self.distributed = rank, world, distributed

    def announce(self, call: str, *args: Any) -> None:
        """On rank 0: announces a call for the other ranks to repeat (`training.run.follow`)."""
        if self.rank == 0 and self.world > 1:
            dist.broadcast_object_list([(call, args)], src=0)

    def announced(self) -> tuple[str, tuple[Any, ...]]:
        """On other ranks: waits for the next call that rank 0 announces, and returns it."""
        received: list[Any] = [None]
        dist.broadcast_object_list(received, src=0)
        call, args = received[0]
        return call, args

    def on_rank_0(self, make: Callable[[], _T]) -> _T:
        """Calls `make` on rank 0 only, and returns its result on every rank."""
        if self.world == 1:
            return make()
        made = [make()] if self.rank == 0 else [None]
        dist.broadcast_object_list(made, src=0)
        return made[0]  # type: ignore[return-value]

    def local(self, rows: Sequence[_T]) -> Sequence[_T]:
        """This rank's share of the rows of a batch: every `world`-th one."""
        return rows[self.rank :: self.world]

    def gather(self, local: Sequence[_T]) -> list[_T]:
        """The rows of all ranks, in the order of the batch; `local` are those of this rank."""
        if self.world == 1:
            return list(local)
        parts: list[Any] = [None] * self.world
        dist.all_gather_object(parts, list(local))
        return [parts[row % self.world][row // self.world] for row in range(sum(map(len, parts)))]

    def gather_tokens(self, local_M: Tensor, episode_N: Tensor) -> Tensor:
        """Values of the tokens of all ranks, from those of this rank's tokens. Only the latter carry a gradient."""
        if self.world == 1:
            return local_M
        index_M = (episode_N % self.world == self.rank).nonzero()[:, 0]
        all_N = torch.zeros(len(episode_N), dtype=local_M.dtype, device=local_M.device)
        all_N.index_copy_(0, index_M, local_M.detach())
        dist.all_reduce(all_N)  # exact: all other ranks add 0
        return all_N.index_copy(0, index_M, local_M)

    def gather_scores(self, episode_N: Tensor, local: TokenScores) -> TokenScores:
        """The scores of all tokens of a minibatch, from those of this rank's tokens."""
        if self.world == 1:
            return local
        logp_N, entropy_N = (self.gather_tokens(x, episode_N) for x in (local.logp_N, local.entropy_N))
        value_N = None if local.value_N is None else self.gather_tokens(local.value_N, episode_N)
        return TokenScores(logp_N, entropy_N, value_N)

    def pad_streams(self, streams: list[Stream], device: torch.device) -> list[Stream]:
        """Adds blank streams until every rank has equally many: every pass gathers sharded weights from all ranks."""
        if self.world == 1:
            return streams
        count = torch.tensor(len(streams))
        dist.all_reduce(count, dist.ReduceOp.MAX)
        empty = torch.zeros(0, dtype=torch.long, device=device)
        blank = Stream(torch.zeros(2, dtype=torch.long, device=device), (2,), empty, empty)
        return [blank] * (int(count) - len(streams)) + streams

    def sum(self, x: Tensor) -> Tensor:
        """The sum over the ranks, in place."""
        if self.world > 1:
            dist.all_reduce(x)
        return x

    def sum_gradients(self, weights: Iterable[Tensor]) -> None:
        """Sums the gradients of unsharded weights over the ranks. FSDP2 has summed those of sharded weights."""
        grads = [x.grad for x in weights if x.grad is not None and not isinstance(x, DTensor)]
        if self.world > 1 and grads:
            flat = self.sum(torch.cat([grad.reshape(-1) for grad in grads]))
            for grad, part in zip(grads, torch.split(flat, [grad.numel() for grad in grads]), strict=True):
                grad.copy_(part.view_as(grad))

    def clip(self, weights: Sequence[Tensor], max_norm: float) -> Tensor:
        """Sums gradients over the ranks and clips their norm. Returns the norm before clipping."""
        self.sum_gradients(weights)
        return full(clip_gradients(weights, max_norm))


SINGLE_PROCESS = Ranks()


@cache
def ranks() -> Ranks:
    """The ranks of this run. The first call joins the others, where torchrun has started this process."""
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        return Ranks()
    rank, local_rank, local_world = (
        int(os.environ.get(name, 0)) for name in ("RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
    )
    gpus, backend = torch.cuda.device_count(), "gloo"
    if gpus:
        # NCCL refuses processes that share a GPU. gloo takes them, but has only sums and broadcasts of GPU tensors.
        torch.cuda.set_device(local_rank % gpus)
        os.environ.setdefault("ACCELERATE_TORCH_DEVICE", f"cuda:{local_rank % gpus}")
        backend = "gloo" if local_world > gpus else "cpu:gloo,cuda:nccl"
    dist.init_process_group(backend, timeout=TIMEOUT)
    _end_with_torchrun(rank)
    return Ranks(rank, dist.get_world_size(), distributed=True)


def leave() -> None:
    """Tells the other ranks that the run is over. Not called after an error in a step, where they do not listen."""
    if ranks().distributed:
        ranks().announce(END)
        dist.destroy_process_group()


def _end_with_torchrun(rank: int) -> None:
    """Ends this process at once when torchrun asks for it, also while it waits for a rank that is gone."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    # The handler writes the number of the signal to the pipe, whatever the main thread is doing.
    signal.signal(signal.SIGTERM, lambda *_: None)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def wait() -> None:
        while signal.SIGTERM not in os.read(reader, 1):
            pass
        message = f"rank {rank}: torchrun ends it, because another rank has ended; torchrun names that rank"
        _log.error("%s; %s resumes from the newest checkpoint", message, RESUME)
        sys.stderr.write(f"askgate: {message}\n")
        sys.stderr.flush()
        os._exit(128 + signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


def shard(learner: Learner, device: torch.device, dtype: torch.dtype) -> None:
    """Shards the policy over all ranks with FSDP2: every decoder layer by itself, the rest of the policy together.

    The critic stays whole: it is small, and is also called by itself. Layers are gathered in the arithmetic's type.
    """
    # Nothing here changes the scores of the learner in place.
    warnings.filterwarnings("ignore", message="FSDP2-wrapped module .* returned a view tensor")
    mesh = init_device_mesh(device.type, (dist.get_world_size(),))
    # The residual stream stays in float32, as in one process.
    precision = MixedPrecisionPolicy(param_dtype=dtype, reduce_dtype=torch.float32, cast_forward_inputs=False)
    policy: Any = unwrap(learner.policy)
    for layer in policy.get_decoder().layers:
        fully_shard(layer, mesh=mesh, mp_policy=precision)
    unsharded = set() if learner.critic is None else {*learner.critic.parameters()}
    fully_shard(learner, mesh=mesh, reshard_after_forward=True, ignored_params=unsharded)
    register_fsdp_forward_method(learner, "call")
    for module in learner.modules():
        if isinstance(module, FSDPModule):
            # A sum, not a mean: the loss is that of the whole minibatch.
            module.set_force_sum_reduction_for_comms(True)
            module.set_gradient_divide_factor(1.0)


def rollout_copy(policy: Any, dtype: torch.dtype) -> Any:
    """An unsharded copy of the policy for rollouts, with the matrices of its layers in the type of the arithmetic."""
    copied = copy.deepcopy(policy).requires_grad_(False)
    base: Any = unwrap(copied)
    for module in base.get_decoder().layers.modules():
        if isinstance(module, nn.Linear):
            module.to(dtype)
    return copied


@torch.no_grad()
def refresh_rollout_copy(copied: nn.Module, policy: nn.Module) -> None:
    """Copies the current weights of the policy into its rollout copy."""
    for target, weight in zip(copied.parameters(), policy.parameters(), strict=True):
        target.copy_(full(weight))


def full(weight: Tensor) -> Tensor:
    """The unsharded tensor, on every rank."""
    return weight.full_tensor() if isinstance(weight, DTensor) else weight


def full_on_rank_0(tree: Any) -> Any:
    """A tree of state whose sharded tensors are gathered into the memory of rank 0; on other ranks they are None."""
    if isinstance(tree, Mapping):
        return {key: full_on_rank_0(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [full_on_rank_0(value) for value in tree]
    if not isinstance(tree, DTensor):
        return tree
    whole = tree.full_tensor()  # one at a time, so no rank holds the whole model twice
    return whole.cpu() if ranks().rank == 0 else None


def sharded_like(value: Tensor, weight: Tensor) -> Tensor:
    """The value, sharded as `weight` is, or unsharded. Every rank passes the same value."""
    if isinstance(weight, DTensor) and not isinstance(value, DTensor):
        value = value.to(weight.device)
        return distribute_tensor(value, weight.device_mesh, weight.placements, src_data_rank=None)
    return value if isinstance(weight, DTensor) else full(value)


def sharded_state(state: Mapping[str, Any], optimizer: Any) -> dict[str, Any]:
    """The state of an optimizer, sharded as its weights are."""
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    sharded = {
        number: {
            name: sharded_like(x, weights[number]) if isinstance(x, Tensor) and x.shape == weights[number].shape else x
            for name, x in moments.items()
        }
        for number, moments in state["state"].items()
    }
    return {**state, "state": sharded}
