"""Rollouts: many dialogues in parallel slots. A slot whose dialogue is over takes the next job.

    trajectories = generate(model, renderer, jobs, limits, device=device, generator=generator)

In every forward pass each slot reads its new tokens: the one sampled last, a whole reply, or the opening of a new
dialogue. Where another slot has read the same prefix (episodes of one sample that asked the same, openings with the
same system prompt), its keys and values are copied. Nothing is tokenized twice.

Two backends compute the passes: `kv_cache.py` (any device) and `cuda.py` (CUDA graphs). The second one starts a pass
before it has read the tokens of the pass before. A dialogue whose turn has ended in the meantime ignores that pass.
With `vllm.py` servers compute whole turns instead.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, cast

import numpy as np
import torch
from torch import Tensor, nn

from askgate_env.env import Env, Watch, unwatched
from askgate_env.users import User, rules

from ..agents.render import Exchange, Renderer, without_thought
from ..agents.trajectory import Job, Trajectory
from ..config.train_config import RolloutLimits
from .attention import unwrap
from .cuda import cuda_backend
from .kv_cache import KVCache
from .sampling import Sampled
from .vllm import roll_out as roll_out_by_vllm

MIN_SHARED = 16
"""Number of shared tokens that is worth a copy, or a wait for the slot that is about to read them."""


class Backend(Protocol):
    """Keys and values of many dialogues, and the forward pass that reads new tokens and samples the next ones."""

    count: int
    """Number of slots."""
    room: int
    """Tokens of a slot."""
    lengths: list[int]
    """Tokens read so far in each slot."""
    ahead: int
    """Number of passes that are started before the tokens of an earlier pass are read."""
    max_prefill: int
    """Tokens of openings and replies in one pass."""
    tile: int | None
    """Openings and replies are read in chunks whose length is a multiple of this; None: always as a whole."""
    min_prefill: int
    """Tokens at the end of a shared opening or reply that each slot reads itself: 1, because the last one predicts the
    next; 2 where a read of one token would be rounded otherwise than one of many."""

    def copy_prefix(self, slot: int, source: int, start: int, end: int) -> None: ...

    def start(
        self, pieces: Sequence[tuple[int, Sequence[int]]], temperature: float, uniform_N: np.ndarray | None
    ) -> Callable[[], Sampled]:
        """Reads new tokens, as pairs of slot and tokens; no tokens stand for the one that the pass before sampled.

        Returns a function that waits for the sampled tokens.
        """
        ...


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
    watch: Watch = unwatched,
    batch_invariant: bool = False,
) -> list[Trajectory]:
    """Rolls out one episode per job, or those at the places `only`. Returns them in the order of the jobs.

    Each job has its own random stream, seeded from `generator`, so an episode does not depend on the number of slots or
    on the episodes beside it. `dtype` is the type of the arithmetic where it differs from that of the weights.
    `progress` is called with 1 for each finished episode. `keep_hidden` keeps the hidden states that a critic
    reads, which saves a second forward pass. `watch` gets the turns of all episodes as they are made.
    With `batch_invariant`, on a CPU, log-probabilities and hidden states are rounded the same in any number of slots.
    """
    if limits.temperature <= 0:
        raise ValueError("the temperature must be above 0; `greedy` takes the likeliest token")
    seeds = [0] * len(jobs) if greedy else _seeds(len(jobs), generator)
    places = range(len(jobs)) if only is None else only
    dialogues = [Dialogue(jobs[place], seeds[place], renderer, limits, user, watch) for place in places]
    finished = (lambda one: progress(1)) if progress else None
    states_NH = _run(model, dialogues, limits, device, greedy, dtype, finished, keep_hidden, batch_invariant)
    return [one.trajectory(states_NH) for one in dialogues]


def complete(
    model: nn.Module,
    renderer: Renderer,
    prompts: Sequence[list[int]],
    limits: RolloutLimits,
    *,
    device: torch.device,
    generator: torch.Generator | None = None,
    greedy: bool = False,
    finished: Callable[[int, str], None],
) -> None:
    """One reply to each prompt, without environment. `finished` gets place and text of each as it ends.

    A prompt is the tokens up to the cue to speak. One that fills the context gets an empty reply.
    """
    seeds = [0] * len(prompts) if greedy else _seeds(len(prompts), generator)
    replies = [Completion(tokens, seed, renderer, limits) for tokens, seed in zip(prompts, seeds, strict=True)]
    places = {id(one): place for place, one in enumerate(replies)}
    for one in replies:
        if one.over:
            finished(places[id(one)], "")

    def tell(one: Dialogue) -> None:
        assert isinstance(one, Completion)
        finished(places[id(one)], one.text)

    _run(model, replies, limits, device, greedy, None, tell)


def _run(
    model: nn.Module,
    dialogues: Sequence[Dialogue],
    limits: RolloutLimits,
    device: torch.device,
    greedy: bool,
    dtype: torch.dtype | None,
    finished: Callable[[Dialogue], None] | None,
    keep_hidden: bool = False,
    batch_invariant: bool = False,
) -> Tensor | None:
    """Runs dialogues to their ends and returns the hidden states that are kept. `finished` gets each as it ends."""
    queue = [one for one in dialogues if not one.over]
    half = dtype if dtype in (torch.bfloat16, torch.float16) else None
    was_training = model.training
    model.eval()
    try:
        if limits.backend == "vllm":
            roll_out_by_vllm(model, queue, limits, greedy, finished)
            return None
        with torch.inference_mode(), torch.autocast(device.type, half, enabled=half is not None):
            dtype, room = dtype or unwrap(model).dtype, limits.max_tokens
            backend: Backend
            if limits.backend == "cuda" or (limits.backend == "auto" and device.type == "cuda"):
                backend = cuda_backend(model, limits.slots, room, device, dtype)
            else:
                backend = KVCache(model, min(limits.slots, len(queue)), room, device, dtype, batch_invariant)
            scheduler = RolloutScheduler(backend, queue)
            started: deque[tuple[list[Read], Callable[[], Sampled]]] = deque()
            kept: list[Tensor] = []
            kept_rows = 0
            while True:
                reads = scheduler.next_pass()
                if reads:
                    uniform = None if greedy else np.array([read.uniform for read in reads])
                    pieces = [(read.slot, read.tokens) for read in reads]
                    started.append((reads, backend.start(pieces, limits.temperature, uniform)))
                if not started:
                    break
                if reads and len(started) <= backend.ahead:
                    continue
                passed, wait = started.popleft()
                tokens, logps, hidden_NH = wait()
                for row, read in enumerate(passed):
                    if not read.is_next:
                        continue
                    one = read.dialogue
                    one.take(tokens[row], logps[row])
                    one.hidden_rows.append(kept_rows + row)
                    if one.over and finished is not None:
                        finished(one)
                if keep_hidden:
                    kept.append(hidden_NH)
                    kept_rows += len(passed)
    finally:
        model.train(was_training)
    return torch.cat(kept) if kept else None


class Dialogue:
    """One job in progress: its environment, its tokens and its random stream."""

    def __init__(
        self,
        job: Job,
        seed: int | None,
        renderer: Renderer,
        limits: RolloutLimits,
        user: User = rules,
        watch: Watch = unwatched,
    ) -> None:
        self.job, self.renderer, self.limits = job, renderer, limits
        self.env = Env(job.sample, limits.max_turns, limits.tools, user, watch)
        self._begin(renderer.opening(self.env.opening(), self.env.system()), seed)
        if self.turn_start == limits.max_tokens:
            self.env.finish("length")

    def _begin(self, tokens: list[int], seed: int | None) -> None:
        renderer, limits = self.renderer, self.limits
        self.tokens = tokens[: limits.max_tokens]
        self.policy = [False] * len(self.tokens)
        self.logp = [0.0] * len(self.tokens)
        self.think = renderer.think if limits.think_tokens is not None else None
        self.cut_thoughts = self.cut_turns = 0
        self._start_turn()
        self.read = 0
        """Number of tokens that the model has read."""
        self.hidden_rows: list[int] = []
        """For each policy token, the row of the kept hidden states that it was predicted from."""
        self._seed = seed
        self._uniform: list[float] | None = None
        self.exchanges: list[Exchange] = []
        self.dropped = False
        """Whether a turn since the last segment's start had a thought."""
        self.segments: list[tuple[list[int], list[bool], list[float]]] = []
        """Tokens, mask and log-probabilities of earlier segments (`rollout.thoughts: drop`)."""

    @property
    def over(self) -> bool:
        return self.env.end is not None

    def uniform(self, place: int) -> float:
        """The number, between 0 and 1, that picks the policy token of that place."""
        if self._uniform is None:
            rng = np.random.Generator(np.random.Philox(key=self._seed))
            segments = self.limits.max_turns if self.limits.thoughts == "drop" else 1
            self._uniform = rng.random(self.limits.max_tokens * segments).tolist()
        return self._uniform[place]

    def turn_seed(self) -> int:
        """The seed of what the policy says next, for a server that samples by itself."""
        return int(np.random.default_rng([self._seed or 0, sum(self.policy), len(self.segments)]).integers(2**62))

    def _start_turn(self) -> None:
        self.turn_start = self.action_start = len(self.tokens)
        """Positions at which the policy's current turn began, and its action after the thought."""
        self.thinking = self.think is not None and self.think.is_open

    def turn_room(self) -> int:
        """Number of tokens that the policy may say before its thought, its turn or the episode is cut off."""
        start, most = self.action_start, self.limits.max_new_tokens
        if self.thinking and self.limits.think_tokens is not None:
            start, most = self.turn_start, self.limits.think_tokens
        return min(most - (len(self.tokens) - start), self.limits.max_tokens - len(self.tokens))

    def take(self, token: int, logp: float) -> None:
        """Adds a token of the policy. At the end of its turn, adds the reply of user or tool."""
        self._add([token], True, logp)
        stopped = token in self.renderer.stop_ids
        if not stopped:
            self._follow_thought(token)
            if len(self.tokens) >= self.limits.max_tokens:
                self.cut_turns += 1
                return self.env.finish("length", self.renderer.decode(self.tokens[self.turn_start :]))
            if self.turn_room() > 0:
                return None
        said = self.renderer.decode(self.tokens[self.turn_start :])
        reply = self.env.step(said)
        if not stopped:
            # The turn was cut off: its stop token is added, but not as one of the policy.
            self._add(self.renderer.policy("")[-1:], False)
            self.cut_turns += self.env.last_act == "say"
        if reply is None:
            return None
        if self.limits.thoughts == "drop":
            action = without_thought(said)
            self.exchanges.append(Exchange(action, reply.by, reply.text))
            self.dropped = self.dropped or action != said
            if self.dropped and reply.by == "user":
                return self._start_segment()
        reply_tokens = self.renderer.reply(reply.by, reply.text)
        if len(self.tokens) + len(reply_tokens) >= self.limits.max_tokens:
            return self.env.finish("length")
        self._add(reply_tokens, False)
        return self._start_turn()

    def _start_segment(self) -> None:
        """Reads the dialogue so far without its thoughts, as context of a new segment."""
        tokens = self.renderer.history(self.env.opening(), self.env.system(), self.exchanges)
        if len(tokens) >= self.limits.max_tokens:
            return self.env.finish("length")
        self.segments.append((self.tokens, self.policy, self.logp))
        self.tokens, self.policy, self.logp = tokens, [False] * len(tokens), [0.0] * len(tokens)
        self.read, self.dropped = 0, False
        return self._start_turn()

    def _follow_thought(self, token: int) -> None:
        """Notes where a thought begins and ends. Closes it when its tokens are spent."""
        if self.think is None:
            return
        if not self.thinking:
            self.thinking = token == self.think.open_id and len(self.tokens) == self.turn_start + 1
        elif token == self.think.close_id:
            self.thinking, self.action_start = False, len(self.tokens)
        elif self.turn_room() <= 0 and len(self.tokens) + len(self.think.forced_close) < self.limits.max_tokens:
            self._add(self.think.forced_close, False)
            self.thinking, self.action_start = False, len(self.tokens)
            self.cut_thoughts += 1

    def trajectory(self, states_NH: Tensor | None) -> Trajectory:
        segments = [*self.segments, (self.tokens, self.policy, self.logp)]
        tokens, policy, logp = ([x for part in parts for x in part] for parts in zip(*segments, strict=True))
        return Trajectory(
            tokens=np.array(tokens, np.int32),
            policy=np.array(policy, np.bool_),
            logp=np.array(logp, np.float32),
            episode=self.env.episode(self.job.seed, self.job.level),
            hidden_NH=None if states_NH is None else states_NH[self.hidden_rows],
            cut_thoughts=self.cut_thoughts,
            cut_turns=self.cut_turns,
            segment_lengths=tuple(len(part) for part, _, _ in segments) if self.segments else (),
        )

    def _add(self, tokens: list[int], policy: bool, logp: float = 0.0) -> None:
        self.tokens += tokens
        self.policy += [policy] * len(tokens)
        self.logp += [logp] * len(tokens)


class Completion(Dialogue):
    """One reply to a prompt: a single turn without environment."""

    def __init__(self, prompt: list[int], seed: int | None, renderer: Renderer, limits: RolloutLimits) -> None:
        self.renderer, self.limits = renderer, limits
        self._begin(prompt, seed)
        self._over = self.turn_start == limits.max_tokens

    @property
    def over(self) -> bool:
        return self._over

    @property
    def text(self) -> str:
        return self.renderer.decode(self.tokens[self.turn_start :])

    def take(self, token: int, logp: float) -> None:
        """Adds a token of the policy. The turn ends with a stop token, or when its room is used up."""
        self._add([token], True, logp)
        if token not in self.renderer.stop_ids:
            self._follow_thought(token)
            if len(self.tokens) < self.limits.max_tokens and self.turn_room() > 0:
                return
        self._over = True


class Read(NamedTuple):
    """What a slot reads in one pass."""

    slot: int
    dialogue: Dialogue
    tokens: list[int]
    """The new tokens; none stand for the token that the pass before sampled and that is not known yet."""
    end: int
    """Number of tokens of the dialogue that the model has read after the pass."""
    uniform: float
    """Picks the token that follows."""
    segment: int
    """Number of the dialogue's segment that was read."""

    @property
    def is_next(self) -> bool:
        """Whether the sampled token continues the dialogue. False if only a chunk of a reply was
        read, or if the turn had ended or a new segment had begun before."""
        one = self.dialogue
        return not one.over and len(one.tokens) == self.end and len(one.segments) == self.segment


class RolloutScheduler:
    """Assigns dialogues to slots of the backend, and finds prefixes that slots share."""

    def __init__(self, backend: Backend, queue: Sequence[Dialogue]) -> None:
        self.backend, self.queue = backend, deque(queue)
        self.active: dict[int, Dialogue] = {}
        self.tokens_read = np.full((backend.count, backend.room), -1, np.int32)
        """Tokens of each slot when it last read more than one. They stay until the slot is used again."""

    def next_pass(self) -> list[Read]:
        """Refills free slots. Returns what each slot reads in this pass; nothing when all dialogues are over."""
        self.active = {slot: one for slot, one in self.active.items() if not one.over}
        for slot in range(self.backend.count):
            if slot not in self.active and self.queue:
                self.active[slot] = self.queue.popleft()
        reads: list[Read] = []
        prefill = 0
        # In the order of the slots, so that attention can read the whole cache in place.
        for slot, one in sorted(self.active.items()):
            new = len(one.tokens) - one.read
            is_long = one.read == 0 or new >= MIN_SHARED
            if is_long:
                if prefill >= self.backend.max_prefill or not self._share_prefix(slot, one):
                    continue
                new = len(one.tokens) - one.read
            if self.backend.tile and new > 1:
                new = min(new, (self.backend.max_prefill - prefill) // self.backend.tile * self.backend.tile)
                if new == 0:
                    continue
                prefill += -(-new // self.backend.tile) * self.backend.tile
            elif is_long:
                prefill += new
            if is_long:
                self.tokens_read[slot] = -1
                self.tokens_read[slot, : one.read + new] = one.tokens[: one.read + new]
            tokens = one.tokens[one.read : one.read + new]
            one.read += max(new, 1)
            said = len(one.hidden_rows) + (new == 0)
            reads.append(Read(slot, one, tokens, one.read, one.uniform(said), len(one.segments)))
        return reads

    def _share_prefix(self, slot: int, one: Dialogue) -> bool:
        """Copies the longest prefix that another slot has read. False: a slot reads it in this pass, so wait for it."""
        most = len(one.tokens) - self.backend.min_prefill
        same = self.tokens_read[:, :most] == np.array(one.tokens[:most], np.int32)
        after_pass = np.where(same.all(1), same.shape[1], same.argmin(1))
        now = np.minimum(after_pass, self.backend.lengths)
        source = int(now.argmax())
        shared = max(int(now[source]), one.read)
        if after_pass.max() - shared >= MIN_SHARED:
            return False
        if shared - one.read < MIN_SHARED:
            shared = one.read
        self.backend.copy_prefix(slot, source, one.read, shared)
        one.read = shared
        return True


def _seeds(count: int, generator: torch.Generator | None) -> list[int]:
    device = generator.device if generator is not None else None
    return cast(list[int], torch.randint(2**62, (count,), generator=generator, device=device).tolist())
