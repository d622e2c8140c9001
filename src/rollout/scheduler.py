"""Rollouts: many dialogues in parallel slots. A slot whose dialogue is over takes the next job.

    trajectories = generate(model, renderer, jobs, limits, device=device, generator=generator)

In every forward pass each slot reads its new tokens: the one sampled last, a whole reply, or the opening of a new
dialogue. Where another slot has read the same prefix (episodes of one sample that asked the same, openings with the
same system prompt), its keys and values are copied. Nothing is tokenized twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from ..agents.env import Env
from ..agents.render import Renderer
from ..agents.trajectory import Job, Trajectory
from ..agents.users import User, rules
from ..config.train_config import RolloutLimits
from .attention import unwrap
from .kv_cache import KVCache

MIN_SHARED = 16
"""Number of shared tokens that is worth a copy, or a wait for the slot that is about to read them."""
MAX_PREFILL = 16_384
"""Tokens of openings and replies in one pass. More take more memory and no less time."""


def generate(
    model: nn.Module,
    renderer: Renderer,
    jobs: Sequence[Job],
    limits: RolloutLimits,
    *,
    device: torch.device,
    generator: torch.Generator | None = None,
    greedy: bool = False,
    dtype: torch.dtype | None = None,
    progress: Callable[[int], None] | None = None,
    keep_hidden: bool = False,
    only: Sequence[int] | None = None,
    user: User = rules,
) -> list[Trajectory]:
    """Rolls out one episode per job, or those at the places `only`. Returns them in the order of the jobs.

    Each job has its own random stream, seeded from `generator`, so an episode does not depend on the number of slots or
    on the episodes beside it. `dtype` is the type of the arithmetic where it differs from that of the weights.
    `progress` is called with 1 for each finished episode. `keep_hidden` keeps the hidden states that a critic
    reads, which saves a second forward pass.
    """
    if limits.temperature <= 0:
        raise ValueError("the temperature must be above 0; `greedy` takes the likeliest token")
    seeds = [0] * len(jobs) if greedy else _seeds(len(jobs), generator)
    places = range(len(jobs)) if only is None else only
    dialogues = [Dialogue(jobs[place], seeds[place], renderer, limits, user) for place in places]
    queue = [one for one in dialogues if not one.over]
    half = dtype if dtype in (torch.bfloat16, torch.float16) else None
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode(), torch.autocast(device.type, half, enabled=half is not None):
            slots = min(limits.slots, len(queue))
            cache = KVCache(model, slots, limits.max_tokens, device, dtype or unwrap(model).dtype)
            scheduler = RolloutScheduler(cache, queue)
            kept: list[tuple[list[Dialogue], Tensor]] = []
            while active := scheduler.next_pass():
                uniform = None if greedy else np.array([one.next_uniform() for one in active.values()])
                logits, hidden = cache.read([(slot, one.unread()) for slot, one in active.items()])
                if keep_hidden:
                    kept.append((list(active.values()), hidden))
                tokens, logps = sample_tokens(logits, limits.temperature, uniform)
                for one, token, logp in zip(active.values(), tokens, logps, strict=True):
                    one.take(token, logp)
                    if one.over and progress is not None:
                        progress(1)
    finally:
        model.train(was_training)
    hidden_of = _by_dialogue(kept) if keep_hidden and kept else {}
    return [one.trajectory(hidden_of.get(id(one))) for one in dialogues]


def _by_dialogue(kept: list[tuple[list[Dialogue], Tensor]]) -> dict[int, Tensor]:
    """The hidden states of each dialogue, by its id, in the order of its tokens."""
    rows: dict[int, list[int]] = {}
    for row, dialogue in enumerate(dialogue for dialogues, _ in kept for dialogue in dialogues):
        rows.setdefault(id(dialogue), []).append(row)
    states = torch.cat([hidden_NH for _, hidden_NH in kept])
    return {dialogue: states[at] for dialogue, at in rows.items()}


def exact_dtype(device: torch.device) -> torch.dtype:
    """The most exact floating-point type of a device: Metal has no 64-bit type."""
    return torch.float32 if device.type == "mps" else torch.float64


def sample_tokens(logits_NV: Tensor, temperature: float, uniform_N: np.ndarray | None) -> tuple[list[int], list[float]]:
    """One token per row and its log-probability; the likeliest where no uniform numbers are given.

    One number between 0 and 1 picks a token by the inverse of the cumulated probabilities. Gumbel noise would take
    V random numbers per token, which is half of the time of a small model.
    """
    exact = exact_dtype(logits_NV.device)
    logp_NV = torch.log_softmax(logits_NV.float() / temperature, dim=-1)
    if uniform_N is None:
        token_N1 = logp_NV.argmax(-1, keepdim=True)
    else:
        cumulated_NV = logp_NV.exp().cumsum(-1, dtype=exact)
        # In 32 bits a number just below 1 becomes 1, and would pick a token of probability 0.
        uniform = torch.from_numpy(uniform_N).to(exact).clamp_(max=1 - torch.finfo(exact).eps / 2)
        uniform = uniform.to(logits_NV.device, non_blocking=True)
        at_N1 = uniform[:, None] * cumulated_NV[:, -1:]
        token_N1 = torch.searchsorted(cumulated_NV, at_N1, right=True).clamp_(max=logp_NV.shape[-1] - 1)
    # One copy to the host for both: token numbers are exact, in 32 bits too (up to 16 million).
    tokens, logps = torch.cat((token_N1.to(exact), logp_NV.gather(-1, token_N1).to(exact)), 1).T.cpu().numpy()
    if not np.isfinite(logps).all():
        raise FloatingPointError("the model's logits are not finite: the policy has diverged")
    return tokens.astype(np.int64).tolist(), logps.tolist()


class Dialogue:
    """One job in progress: its environment, its tokens and its random stream."""

    def __init__(
        self, job: Job, seed: int | None, renderer: Renderer, limits: RolloutLimits, user: User = rules
    ) -> None:
        self.job, self.renderer, self.limits = job, renderer, limits
        self.env = Env(job.sample, limits.max_turns, limits.tools, user)
        self.tokens = renderer.opening(self.env.opening(), self.env.system())[: limits.max_tokens]
        self.policy = [False] * len(self.tokens)
        self.logp = [0.0] * len(self.tokens)
        self.turn_start = len(self.tokens)
        """Position at which the policy's current turn began."""
        self.read = 0
        """Number of tokens that the model has read."""
        self._seed = seed
        self._uniform: Iterator[float] | None = None
        if self.turn_start == limits.max_tokens:
            self.env.finish("length")

    @property
    def over(self) -> bool:
        return self.env.end is not None

    def unread(self) -> list[int]:
        """The tokens that the model has not read yet. Counts them as read."""
        new = self.tokens[self.read :]
        self.read = len(self.tokens)
        return new

    def next_uniform(self) -> float:
        """The next number, between 0 and 1, of this dialogue's random stream."""
        if self._uniform is None:
            rng = np.random.Generator(np.random.Philox(key=self._seed))
            self._uniform = iter(rng.random(self.limits.max_tokens))
        return next(self._uniform)

    def take(self, token: int, logp: float) -> None:
        """Adds a token of the policy. At the end of its turn, adds the reply of user or tool."""
        self._add([token], True, logp)
        stopped = token in self.renderer.stop_ids
        if not stopped:
            if len(self.tokens) == self.limits.max_tokens:
                return self.env.finish("length", self.renderer.decode(self.tokens[self.turn_start :]))
            if len(self.tokens) - self.turn_start < self.limits.max_new_tokens:
                return None
        reply = self.env.step(self.renderer.decode(self.tokens[self.turn_start :]))
        if not stopped:
            # The turn was cut off: its stop token is added, but not as one of the policy.
            self._add(self.renderer.policy("")[-1:], False)
        if reply is None:
            return None
        reply_tokens = self.renderer.reply(reply.by, reply.text)
        if len(self.tokens) + len(reply_tokens) >= self.limits.max_tokens:
            return self.env.finish("length")
        self._add(reply_tokens, False)
        self.turn_start = len(self.tokens)
        return None

    def trajectory(self, hidden_NH: Tensor | None) -> Trajectory:
        return Trajectory(
            tokens=np.array(self.tokens, np.int32),
            policy=np.array(self.policy, np.bool_),
            logp=np.array(self.logp, np.float32),
            episode=self.env.episode(self.job.seed, self.job.level),
            sample_index=self.job.sample_index,
            hidden_NH=hidden_NH,
        )

    def _add(self, tokens: list[int], policy: bool, logp: float = 0.0) -> None:
        self.tokens += tokens
        self.policy += [policy] * len(tokens)
        self.logp += [logp] * len(tokens)


class RolloutScheduler:
    """Assigns dialogues to slots of the cache, and finds prefixes that slots share."""

    def __init__(self, cache: KVCache, queue: Sequence[Dialogue]) -> None:
        self.cache, self.queue = cache, deque(queue)
        self.active: dict[int, Dialogue] = {}
        count, room = cache.keys.shape[1], cache.keys.shape[3]
        self.tokens_read = np.full((count, room), -1, np.int32)
        """Tokens of each slot when it last read more than one. They stay until the slot is used again."""

    def next_pass(self) -> dict[int, Dialogue]:
        """Refills free slots. Returns the dialogues that read in this pass, by slot; none when all are done."""
        self.active = {slot: one for slot, one in self.active.items() if not one.over}
        for slot in range(len(self.tokens_read)):
            if slot not in self.active and self.queue:
                self.active[slot] = self.queue.popleft()
        reading, prefill = {}, 0
        # In the order of the slots, so that attention can read the whole cache in place.
        for slot, one in sorted(self.active.items()):
            if one.read == 0 or len(one.tokens) - one.read >= MIN_SHARED:
                if prefill >= MAX_PREFILL or not self._share_prefix(slot, one):
                    continue
                prefill += len(one.tokens) - one.read
            reading[slot] = one
        return reading

    def _share_prefix(self, slot: int, one: Dialogue) -> bool:
        """Copies the longest prefix that another slot has read. False: a slot reads it in this pass, so wait for it."""
        # The last token is read in any case: its output predicts the next one.
        same = self.tokens_read[:, : len(one.tokens) - 1] == np.array(one.tokens[:-1], np.int32)
        after_pass = np.where(same.all(1), same.shape[1], same.argmin(1))
        now = np.minimum(after_pass, self.cache.lengths)
        source = int(now.argmax())
        shared = max(int(now[source]), one.read)
        if after_pass.max() - shared >= MIN_SHARED:
            return False
        if shared - one.read < MIN_SHARED:
            shared = one.read
        self.cache.copy_prefix(slot, source, one.read, shared)
        one.read = shared
        self.tokens_read[slot] = -1
        self.tokens_read[slot, : len(one.tokens)] = one.tokens
        return True


def _seeds(count: int, generator: torch.Generator | None) -> list[int]:
    device = generator.device if generator is not None else None
    seeds: list[int] = torch.randint(2**62, (count,), generator=generator, device=device).tolist()
    return seeds
