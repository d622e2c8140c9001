"""The environment of one sample: the policy speaks, the user simulator or a tool replies. Pure Python, text only.

`matches_replay` checks a stored episode by replaying it: only the policy's own words are trusted, everything else is
derived from the sample again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec.structs import replace

from .actions import TOOLS, malformed, parse, replay_text, system
from .success import correct
from .tools import calc, wiki
from .types import End, Episode, Level, Sample, Turn
from .user_simulator import informs
from .users import User, rules

MAX_TURNS = 6
"""Default of the maximum number of policy turns."""
Watch = Callable[[Turn], None]
"""Gets every turn of a dialogue as it is made, except the first message of the user."""


def unwatched(turn: Turn) -> None:
    """The `Watch` that does nothing."""


class Env:
    """One dialogue in progress. A turn without an action costs a turn; in the last turn only an answer counts."""

    def __init__(
        self,
        sample: Sample,
        max_turns: int = MAX_TURNS,
        tools: Sequence[str] = TOOLS,
        user: User = rules,
        watch: Watch = unwatched,
    ) -> None:
        self.sample, self.max_turns, self.tools, self.user = sample, max_turns, tuple(tools), user
        self._watch = watch
        self.turns = [Turn("user", "say", sample.prompt)]
        self.end: End | None = None
        self.answer: str | None = None
        self.received_info = False
        """Whether the user gave the missing information."""
        self._policy_turns = 0

    def opening(self) -> str:
        """The first message of the user."""
        return self.sample.prompt

    def system(self) -> str:
        """The system prompt in the language of the sample, for models that do not know the actions."""
        return system(self.sample.lang, self.tools)

    def step(self, text: str) -> Turn | None:
        """Takes a turn of the policy. Returns the reply, or None when the episode is over."""
        if self.end is not None:
            raise RuntimeError("the episode is over")
        self._policy_turns += 1
        action = parse(text, self.tools)
        act: Literal["say", "ask", "call", "answer"] = "say" if action.kind == "none" else action.kind
        turn = Turn("assistant", act, action.text, action.thought, action.tool)
        self._add(turn)
        if action.kind == "answer":
            self.answer, self.end = action.text, "answer"
            return None
        if self._policy_turns >= self.max_turns:
            self.end = "turns"
            return None
        reply = self._reply(turn)
        if turn.act == "ask" and self.sample.hidden is not None and informs(reply.text):
            self.received_info = True
        self._add(reply)
        return reply

    def _reply(self, turn: Turn) -> Turn:
        """The reply of the user or of a tool to the policy's latest turn."""
        if turn.act == "ask":
            return Turn("user", "say", self.user(self.sample, turn.text, self.turns[:-1]))
        if turn.act == "call":
            result = calc(turn.text) if turn.tool == "calc" else wiki(self.sample.context, turn.text)
            return Turn("tool", "result", result, tool=turn.tool)
        return Turn("tool", "result", malformed(self.sample.lang, self.tools))

    @property
    def last_act(self) -> str:
        """The action of the policy's latest turn; `say` for a turn without one."""
        return next(turn.act for turn in reversed(self.turns) if turn.by == "assistant")

    def finish(self, end: End, text: str = "") -> None:
        """Ends the episode from outside, when tokens run out. `text` is the part of the turn that was sampled."""
        if self.end is not None:
            raise RuntimeError("the episode is over")
        if text:
            self._add(Turn("assistant", "say", text))
        self.end = end

    def _add(self, turn: Turn) -> None:
        self.turns.append(turn)
        self._watch(turn)

    def episode(self, seed: int, level: Level | None = None) -> Episode:
        """The record of a finished episode, still without its reward."""
        if self.end is None:
            raise RuntimeError("the episode is not over")
        return Episode(
            sample_id=self.sample.id,
            task=self.sample.task,
            lang=self.sample.lang,
            level=level,
            needs_clarification=self.sample.needs_clarification,
            turns=tuple(self.turns),
            end=self.end,
            answer=self.answer,
            success=correct(self.sample, self.answer),
            seed=seed,
            received_info=self.received_info,
        )


def play(sample: Sample, policy_texts: Sequence[str], max_turns: int = MAX_TURNS) -> Episode:
    """The episode of a policy that says these texts, one a turn. If they do not end it, its end is `length`."""
    env = Env(sample, max_turns)
    for text in policy_texts:
        env.step(text)
    if env.end is None:
        env.finish("length")
    return env.episode(seed=0)


def matches_replay(
    episode: Episode, sample: Sample, tools: Sequence[str] = TOOLS, max_turns: int | None = None, user: User = rules
) -> bool:
    """Whether the environment makes the same episode again from the policy's turns.

    Without `max_turns`, any number of turns is accepted where the episode ran out of turns. That an episode ran out of
    tokens cannot be replayed and is accepted as recorded. `user` must be deterministic: the rules or the noisy user,
    not a language model.
    """
    policy_turns = [turn for turn in episode.turns if turn.by == "assistant"]
    cut_off = episode.end == "length" and episode.turns[-1:] == tuple(policy_turns[-1:])
    if not max_turns:
        # One turn more than the episode has, so that only an episode that ran out of turns ends for that reason.
        max_turns = len(policy_turns) if episode.end == "turns" else len(policy_turns) + 1
    env = Env(sample, max_turns, tools, user)
    for turn in policy_turns[:-1] if cut_off else policy_turns:
        if env.end is not None:
            return False
        env.step(replay_text(turn))
    if env.end is None and episode.end == "length":
        env.finish("length", policy_turns[-1].text if cut_off else "")
    if env.end is None:
        return False
    derived = env.episode(episode.seed, episode.level)
    return replace(derived, reward=episode.reward, live=episode.live) == episode
