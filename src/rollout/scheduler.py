"""Many episodes at once: each slot holds one dialogue, and a slot that is done takes the next job.

In every pass each slot reads what it has not read yet: the token that was sampled last, a whole reply, or the opening
of a new dialogue. Where another slot has read the same from the beginning on (episodes of one sample that asked the
same thing, openings with the same system text), its keys and values are copied. Nothing is tokenized twice.
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
from .attention import inner
from .limits import Limits, Talk
from .slots import Slots

WORTH = 16
"""Shared tokens from which taking them over is worth a copy, or a wait for the slot that is about to read them."""
READ_AT_ONCE = 16_384
"""Tokens of openings and replies in one pass; more take more memory and no less time."""


def rollout(
    model: nn.Module,
    renderer: Renderer,
    jobs: Sequence[Job],
    talk: Talk,
    *,
    device: torch.device,
    generator: torch.Generator | None = None,
    greedy: bool = False,
    dtype: torch.dtype | None = None,
    progress: Callable[[int], None] | None = None,
    keep_hidden: bool = False,
) -> list[Trajectory]:
    """An episode for every job, in the order of the jobs.

    Each job has its own stream of chance, made from `generator`: what is said in it does not depend on the number of
    slots or on what runs beside it. `dtype` is what is computed in where that is not the type of the weights.
    `progress` hears how many episodes are done. `keep_hidden` keeps the states that a critic reads: here they are at
    hand, and no second pass is needed.
    """
    if talk.temperature <= 0:
        raise ValueError("the temperature must be above 0; `greedy` takes the likeliest token")
    seeds = [0] * len(jobs) if greedy else _seeds(len(jobs), generator)
    every = [Dialogue(job, seed, renderer, talk, talk.tools) for job, seed in zip(jobs, seeds, strict=True)]
    queue = [one for one in every if not one.over]
    half = dtype if dtype in (torch.bfloat16, torch.float16) else None
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode(), torch.autocast(device.type, half, enabled=half is not None):
            cache = Slots(model, min(talk.slots, len(queue)), talk.max_tokens, device, dtype or inner(model).dtype)
            floor = Floor(cache, queue)
            kept: list[tuple[list[Dialogue], Tensor]] = []
            while going := floor.fill():
                chance = None if greedy else np.array([one.chance() for one in going.values()])
                logits, hidden = cache.read([(slot, one.unread()) for slot, one in going.items()])
                if keep_hidden:
                    kept.append((list(going.values()), hidden))
                for one, token, logp in zip(going.values(), *choose(logits, talk.temperature, chance), strict=True):
                    one.take(token, logp)
                    if one.over and progress is not None:
                        progress(sum(each.over for each in every))
    finally:
        model.train(was_training)
    states = handed_out(kept) if keep_hidden and kept else {}
    return [one.trajectory(states.get(id(one))) for one in every]


def handed_out(kept: list[tuple[list[Dialogue], Tensor]]) -> dict[int, Tensor]:
    """The states of each dialogue in the order of its tokens."""
    rows: dict[int, list[int]] = {}
    for row, talk in enumerate(talk for talks, _ in kept for talk in talks):
        rows.setdefault(id(talk), []).append(row)
    states = torch.cat([hidden_NH for _, hidden_NH in kept])
    return {talk: states[at] for talk, at in rows.items()}


def finest(device: torch.device) -> torch.dtype:
    """The most exact numbers of a device: Metal has none of 64 bits."""
    return torch.float32 if device.type == "mps" else torch.float64


def choose(logits_NV: Tensor, temperature: float, chance_N: np.ndarray | None) -> tuple[list[int], list[float]]:
    """A token for each row and its log-probability. Without chance, the likeliest.

    One number between 0 and 1 picks a token from the cumulated probabilities: a thousandth of the random numbers that
    a noise on every logit takes, and those are half of the time of a small model.
    """
    exact = finest(logits_NV.device)
    logp_NV = torch.log_softmax(logits_NV.float() / temperature, dim=-1)
    if chance_N is None:
        token_N1 = logp_NV.argmax(-1, keepdim=True)
    else:
        below_NV = logp_NV.exp().cumsum(-1, dtype=exact)
        # In 32 bits a number just below 1 becomes 1, and would pick a token that cannot be.
        chance = torch.from_numpy(chance_N).to(exact).clamp_(max=1 - torch.finfo(exact).eps / 2)
        chance = chance.to(logits_NV.device, non_blocking=True)
        at_N1 = chance[:, None] * below_NV[:, -1:]
        token_N1 = torch.searchsorted(below_NV, at_N1, right=True).clamp_(max=logp_NV.shape[-1] - 1)
    # One copy to the host: every token number is exact, in 32 bits too (up to 16 million).
    tokens, logps = torch.cat((token_N1.to(exact), logp_NV.gather(-1, token_N1).to(exact)), 1).T.cpu().numpy()
    if not np.isfinite(logps).all():
        raise FloatingPointError("the model's logits are not finite: the policy has diverged")
    return tokens.astype(np.int64).tolist(), logps.tolist()


class Dialogue:
    """One job under way."""

    def __init__(self, job: Job, seed: int | None, renderer: Renderer, limits: Limits, tools: Sequence[str]) -> None:
        self.job, self.renderer, self.limits = job, renderer, limits
        self.env = Env(job.sample, limits.max_turns, tools)
        self.tokens = renderer.opening(self.env.opening(), self.env.system())[: limits.max_tokens]
        self.policy = [False] * len(self.tokens)
        self.logp = [0.0] * len(self.tokens)
        self.turn = len(self.tokens)
        """Where the policy's turn began."""
        self.read = 0
        self._seed = seed
        self._chance: Iterator[float] | None = None
        if self.turn == limits.max_tokens:
            self.env.finish("length")

    @property
    def over(self) -> bool:
        return self.env.end is not None

    def unread(self) -> list[int]:
        """What the model has to read before it speaks."""
        new = self.tokens[self.read :]
        self.read = len(self.tokens)
        return new

    def chance(self) -> float:
        if self._chance is None:
            self._chance = iter(np.random.Generator(np.random.Philox(key=self._seed)).random(self.limits.max_tokens))
        return next(self._chance)

    def take(self, token: int, logp: float) -> None:
        """The policy said one more token."""
        self._add([token], True, logp)
        if token not in self.renderer.stop_ids:
            if len(self.tokens) == self.limits.max_tokens:
                return self.env.finish("length", self.renderer.decode(self.tokens[self.turn :]))
            if len(self.tokens) - self.turn < self.limits.max_new_tokens:
                return None
        reply = self.env.step(self.renderer.decode(self.tokens[self.turn :]))
        if token not in self.renderer.stop_ids:
            # Cut off: the turn is closed for it.
            self._add(self.renderer.policy("")[-1:], False)
        if reply is None:
            return None
        heard = self.renderer.reply(reply.by, reply.text)
        if len(self.tokens) + len(heard) >= self.limits.max_tokens:
            return self.env.finish("length")
        self._add(heard, False)
        self.turn = len(self.tokens)
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


class Floor:
    """Which dialogue is in which slot, and what they have in common."""

    def __init__(self, slots: Slots, queue: Sequence[Dialogue]) -> None:
        self.slots, self.queue = slots, deque(queue)
        self.busy: dict[int, Dialogue] = {}
        count, room = slots.keys.shape[1], slots.keys.shape[3]
        self.rows = np.full((count, room), -1, np.int32)
        """What each slot had before it when it last read more than a word; it stays until the slot is used again."""

    def fill(self) -> dict[int, Dialogue]:
        """Dialogues that are over leave, others come. Those that read in this pass, by slot; none when all is done."""
        self.busy = {slot: talk for slot, talk in self.busy.items() if not talk.over}
        for slot in range(len(self.rows)):
            if slot not in self.busy and self.queue:
                self.busy[slot] = self.queue.popleft()
        going, at_once = {}, 0
        # In the order of the slots the whole cache can be looked at where it lies.
        for slot, talk in sorted(self.busy.items()):
            if talk.read == 0 or len(talk.tokens) - talk.read >= WORTH:
                if at_once >= READ_AT_ONCE or not self._ready(slot, talk):
                    continue
                at_once += len(talk.tokens) - talk.read
            going[slot] = talk
        return going

    def _ready(self, slot: int, talk: Dialogue) -> bool:
        """Takes over what another slot has read. False where one reads the same in this pass: then this one waits."""
        # The last token is read in any case: it says what comes next.
        same = self.rows[:, : len(talk.tokens) - 1] == np.array(talk.tokens[:-1], np.int32)
        soon = np.where(same.all(1), same.shape[1], same.argmin(1))
        now = np.minimum(soon, self.slots.lengths)
        source = int(now.argmax())
        shared = max(int(now[source]), talk.read)
        if soon.max() - shared >= WORTH:
            return False
        if shared - talk.read < WORTH:
            shared = talk.read
        self.slots.take_over(slot, source, talk.read, shared)
        talk.read = shared
        self.rows[slot] = -1
        self.rows[slot, : len(talk.tokens)] = talk.tokens
        return True


def _seeds(count: int, generator: torch.Generator | None) -> list[int]:
    device = generator.device if generator is not None else None
    seeds: list[int] = torch.randint(2**62, (count,), generator=generator, device=device).tolist()
    return seeds
