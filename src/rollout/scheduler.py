"""Rollouts: many dialogues in parallel slots. A slot whose dialogue is over takes the next job.

    trajectories = generate(model, renderer, jobs, limits, device=device, generator=generator)

In every forward pass each slot reads its new tokens: the one sampled last, a whole reply, or the opening of a new
dialogue. If another slot has read the same prefix (episodes of one sample that asked the same, openings with the same
system prompt), its keys and values are copied. Except with `rollout.thoughts: drop`, nothing is tokenized twice.

Two backends compute the passes: `kv_cache.py` (any device) and `cuda.py` (CUDA graphs). The second one starts a pass
before it has read the tokens of the previous pass; a dialogue whose turn has ended in the meantime ignores that pass.
With `vllm.py`, servers compute whole turns instead.
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
from .sampling import SampledTokens
from .vllm import roll_out as roll_out_by_vllm

MIN_SHARED = 16
"""Minimum number of shared tokens for which a slot copies them, or waits for the slot that is about to read them."""


class Backend(Protocol):
    """Keys and values of many dialogues, and the forward pass that reads new tokens and samples the next ones."""

    count: int
    """Number of slots."""
    room: int
    """Maximum number of tokens in a slot."""
    lengths: list[int]
    """Tokens read so far in each slot."""
    ahead: int
    """Number of passes that are started before the sampled tokens of an earlier pass are read."""
    max_prefill: int
    """Maximum number of tokens of openings and replies in one pass."""
    tile: int | None
    """Openings and replies are read in chunks whose length is a multiple of this; None: always as a whole."""
    min_prefill: int
    """Number of tokens at the end of a shared opening or reply that each slot reads itself: 1, because the last one
    predicts the next; 2 if reading a single token rounds differently from reading several."""

    def copy_prefix(self, slot: int, source: int, start: int, end: int) -> None: ...

    def start(
        self, pieces: Sequence[tuple[int, Sequence[int]]], temperature: float, uniform_N: np.ndarray | None
    ) -> Callable[[], SampledTokens]:
        """Starts a pass over new tokens, as pairs of slot and tokens. An empty list of tokens stands for the token that
        the previous pass sampled. Returns a function that waits for the sampled tokens.
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
    """Rolls out one episode per job, or only the jobs with the indices `only`. Returns them in the order of the jobs.

    Each job has its own random stream, seeded from `generator`, so an episode does not depend on the number of slots or
    on the episodes beside it. `dtype` is the type of the arithmetic if it differs from that of the weights. `progress`
    is called with 1 for each finished episode. `keep_hidden` keeps the hidden states for the critic, which saves a
    second forward pass. `watch` gets the turns of all episodes as they are made. With `batch_invariant`, on a CPU,
    log-probabilities and hidden states are rounded the same for any number of slots.
    """
    if limits.temperature <= 0:
        raise ValueError("the temperature must be above 0; `greedy` takes the likeliest token")
    seeds = [0] * len(jobs) if greedy else _seeds(len(jobs), generator)
    indices = range(len(jobs)) if only is None else only
    dialogues = [Dialogue(jobs[index], seeds[index], renderer, limits, user, watch) for index in indices]
    on_end = (lambda dialogue: progress(1)) if progress else None
    hidden_NH = _run_dialogues(model, dialogues, limits, device, greedy, dtype, on_end, keep_hidden, batch_invariant)
    return [dialogue.trajectory(hidden_NH) for dialogue in dialogues]


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
    """One reply to each prompt, without environment. `finished` gets index and text of each as it ends.

    A prompt is the tokens up to the cue for the policy to speak. A prompt that fills the context gets an empty reply.
    """
    seeds = [0] * len(prompts) if greedy else _seeds(len(prompts), generator)
    replies = [Completion(tokens, seed, renderer, limits) for tokens, seed in zip(prompts, seeds, strict=True)]
    index_of = {id(reply): index for index, reply in enumerate(replies)}
    for index, reply in enumerate(replies):
        if reply.over:
            finished(index, "")

    def on_end(reply: Dialogue) -> None:
        assert isinstance(reply, Completion)
        finished(index_of[id(reply)], reply.text)

    _run_dialogues(model, replies, limits, device, greedy, None, on_end)


def _run_dialogues(
    model: nn.Module,
    dialogues: Sequence[Dialogue],
    limits: RolloutLimits,
    device: torch.device,
    greedy: bool,
    dtype: torch.dtype | None,
    on_end: Callable[[Dialogue], None] | None,
    keep_hidden: bool = False,
    batch_invariant: bool = False,
) -> Tensor | None:
    """Runs dialogues to their ends; `on_end` gets each as it ends. Returns the hidden states, if they are kept."""
    queue = [dialogue for dialogue in dialogues if not dialogue.over]
    half = dtype if dtype in (torch.bfloat16, torch.float16) else None
    was_training = model.training
    model.eval()
    try:
        if limits.backend == "vllm":
            roll_out_by_vllm(model, queue, limits, greedy, on_end)
            return None
        with torch.inference_mode(), torch.autocast(device.type, half, enabled=half is not None):
            dtype, room = dtype or unwrap(model).dtype, limits.max_tokens
            backend: Backend
            if limits.backend == "cuda" or (limits.backend == "auto" and device.type == "cuda"):
                backend = cuda_backend(model, limits.slots, room, device, dtype)
            else:
                backend = KVCache(model, min(limits.slots, len(queue)), room, device, dtype, batch_invariant)
            scheduler = RolloutScheduler(backend, queue)
            started: deque[tuple[list[SlotRead], Callable[[], SampledTokens]]] = deque()
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
                    if not read.continues_dialogue:
                        continue
                    dialogue = read.dialogue
                    dialogue.take(tokens[row], logps[row])
                    dialogue.hidden_rows.append(kept_rows + row)
                    if dialogue.over and on_end is not None:
                        on_end(dialogue)
                if keep_hidden:
                    kept.append(hidden_NH)
                    kept_rows += len(passed)
    finally:
        model.train(was_training)
    return torch.cat(kept) if kept else None


class Dialogue:
    """An episode in progress: its environment, its tokens and its random stream."""

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
        """For each policy token, the row of the kept hidden states from which it was predicted."""
        self._seed = seed
        self._uniform: list[float] | None = None
        self.exchanges: list[Exchange] = []
        self.dropped = False
        """Whether a turn of the current segment had a thought, which the next segment drops."""
        self.segments: list[tuple[list[int], list[bool], list[float]]] = []
        """Tokens, mask and log-probabilities of earlier segments (`rollout.thoughts: drop`)."""

    @property
    def over(self) -> bool:
        return self.env.end is not None

    def uniform(self, index: int) -> float:
        """The random number between 0 and 1 that picks the policy token of this index."""
        if self._uniform is None:
            rng = np.random.Generator(np.random.Philox(key=self._seed))
            segments = self.limits.max_turns if self.limits.thoughts == "drop" else 1
            self._uniform = rng.random(self.limits.max_tokens * segments).tolist()
        return self._uniform[index]

    def turn_seed(self) -> int:
        """The seed of the policy's next tokens, for a server that samples by itself."""
        return int(np.random.default_rng([self._seed or 0, sum(self.policy), len(self.segments)]).integers(2**62))

    def _start_turn(self) -> None:
        self.turn_start = self.action_start = len(self.tokens)
        """Positions at which the policy's current turn began, and its action after the thought."""
        self.thinking = self.think is not None and self.think.is_open

    def turn_room(self) -> int:
        """Number of tokens that are left to the policy before its thought, its turn or the episode is cut off."""
        start, budget = self.action_start, self.limits.max_new_tokens
        if self.thinking and self.limits.think_tokens is not None:
            start, budget = self.turn_start, self.limits.think_tokens
        return min(budget - (len(self.tokens) - start), self.limits.max_tokens - len(self.tokens))

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
        text = self.renderer.decode(self.tokens[self.turn_start :])
        reply = self.env.step(text)
        if not stopped:
            # The turn was cut off: its stop token is added, but not as one of the policy.
            self._add(self.renderer.policy("")[-1:], False)
            self.cut_turns += self.env.last_act == "say"
        if reply is None:
            return None
        if self.limits.thoughts == "drop":
            action = without_thought(text)
            self.exchanges.append(Exchange(action, reply.by, reply.text))
            self.dropped = self.dropped or action != text
            if self.dropped and reply.by == "user":
                return self._start_segment()
        reply_tokens = self.renderer.reply(reply.by, reply.text)
        if len(self.tokens) + len(reply_tokens) >= self.limits.max_tokens:
            return self.env.finish("length")
        self._add(reply_tokens, False)
        return self._start_turn()

    def _start_segment(self) -> None:
        """Renders the dialogue so far without its thoughts, as the context of a new segment."""
        tokens = self.renderer.history(self.env.opening(), self.env.system(), self.exchanges)
        if len(tokens) >= self.limits.max_tokens:
            return self.env.finish("length")
        self.segments.append((self.tokens, self.policy, self.logp))
        self.tokens, self.policy, self.logp = tokens, [False] * len(tokens), [0.0] * len(tokens)
        self.read, self.dropped = 0, False
        return self._start_turn()

    def _follow_thought(self, token: int) -> None:
        """Tracks where a thought begins and ends. Closes it when `think_tokens` are used up."""
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

    def trajectory(self, hidden_NH: Tensor | None) -> Trajectory:
        """The finished episode. `hidden_NH`: the kept hidden states of all dialogues."""
        segments = [*self.segments, (self.tokens, self.policy, self.logp)]
        tokens, policy, logp = ([x for part in parts for x in part] for parts in zip(*segments, strict=True))
        return Trajectory(
            tokens=np.array(tokens, np.int32),
            policy=np.array(policy, np.bool_),
            logp=np.array(logp, np.float32),
            episode=self.env.episode(self.job.seed, self.job.level),
            hidden_NH=None if hidden_NH is None else hidden_NH[self.hidden_rows],
            cut_thoughts=self.cut_thoughts,
            cut_turns=self.cut_turns,
            segment_lengths=tuple(len(part) for part, _, _ in segments) if self.segments else (),
        )

    def _add(self, tokens: list[int], policy: bool, logp: float = 0.0) -> None:
        self.tokens += tokens
        self.policy += [policy] * len(tokens)
        self.logp += [logp] * len(tokens)


class Completion(Dialogue):
    """A reply to a prompt: a single turn without environment."""

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
        """Adds a token of the policy. The turn ends with a stop token, or when its budget is used up."""
        self._add([token], True, logp)
        if token not in self.renderer.stop_ids:
            self._follow_thought(token)
            if len(self.tokens) < self.limits.max_tokens and self.turn_room() > 0:
                return
        self._over = True


class SlotRead(NamedTuple):
    """The tokens that a slot reads in one pass."""

    slot: int
    dialogue: Dialogue
    tokens: list[int]
    """The new tokens; empty: the token that the previous pass samples, which is not known yet."""
    end: int
    """Number of tokens of the dialogue that the model has read after the pass."""
    uniform: float
    """The random number that picks the next token."""
    segment: int
    """Index of the dialogue's segment that is read."""

    @property
    def continues_dialogue(self) -> bool:
        """Whether the sampled token continues the dialogue. False if only a chunk of a reply was read, or if the turn
        ended or a new segment began before the pass was done."""
        dialogue = self.dialogue
        return not dialogue.over and len(dialogue.tokens) == self.end and len(dialogue.segments) == self.segment


class RolloutScheduler:
    """Assigns dialogues to slots of the backend, and finds prefixes that slots share."""

    def __init__(self, backend: Backend, queue: Sequence[Dialogue]) -> None:
        self.backend, self.queue = backend, deque(queue)
        self.active: dict[int, Dialogue] = {}
        self.tokens_read = np.full((backend.count, backend.room), -1, np.int32)
        """Tokens that each slot had read when it last read an opening or a long reply; kept until the slot is used
        again."""

    def next_pass(self) -> list[SlotRead]:
        """Refills free slots. Returns what each slot reads in this pass; empty when all dialogues are over."""
        self.active = {slot: dialogue for slot, dialogue in self.active.items() if not dialogue.over}
        for slot in range(self.backend.count):
            if slot not in self.active and self.queue:
                self.active[slot] = self.queue.popleft()
        reads: list[SlotRead] = []
        prefill = 0
        # In the order of the slots, so that attention can read the whole cache in place.
        for slot, dialogue in sorted(self.active.items()):
            new = len(dialogue.tokens) - dialogue.read
            is_long = dialogue.read == 0 or new >= MIN_SHARED
            if is_long:
                if prefill >= self.backend.max_prefill or not self._share_prefix(slot, dialogue):
                    continue
                new = len(dialogue.tokens) - dialogue.read
            if self.backend.tile and new > 1:
                new = min(new, (self.backend.max_prefill - prefill) // self.backend.tile * self.backend.tile)
                if new == 0:
                    continue
                prefill += -(-new // self.backend.tile) * self.backend.tile
            elif is_long:
                prefill += new
            if is_long:
                self.tokens_read[slot] = -1
                self.tokens_read[slot, : dialogue.read + new] = dialogue.tokens[: dialogue.read + new]
            tokens = dialogue.tokens[dialogue.read : dialogue.read + new]
            dialogue.read += max(new, 1)
            uniform = dialogue.uniform(len(dialogue.hidden_rows) + (new == 0))  # one token is on its way if new == 0
            reads.append(SlotRead(slot, dialogue, tokens, dialogue.read, uniform, len(dialogue.segments)))
        return reads

    def _share_prefix(self, slot: int, dialogue: Dialogue) -> bool:
        """Copies the longest prefix that another slot has read. False: a slot reads it in this pass, so wait for it."""
        length = len(dialogue.tokens) - self.backend.min_prefill
        same = self.tokens_read[:, :length] == np.array(dialogue.tokens[:length], np.int32)
        after_pass = np.where(same.all(1), same.shape[1], same.argmin(1))
        before_pass = np.minimum(after_pass, self.backend.lengths)
        source = int(before_pass.argmax())
        shared = max(int(before_pass[source]), dialogue.read)
        if after_pass.max() - shared >= MIN_SHARED:
            return False
        if shared - dialogue.read < MIN_SHARED:
            shared = dialogue.read
        self.backend.copy_prefix(slot, source, dialogue.read, shared)
        dialogue.read = shared
        return True


def _seeds(count: int, generator: torch.Generator | None) -> list[int]:
    """A seed for each dialogue, drawn from `generator`, or from the global one."""
    device = generator.device if generator is not None else None
    return cast(list[int], torch.randint(2**62, (count,), generator=generator, device=device).tolist())
