"""One sample as an episode: the policy speaks, the user simulator or a tool replies. Pure Python, text only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..core.defaults import TOOLS
from ..core.types import End, Episode, Level, Sample, Turn
from .actions import malformed, parse, system
from .success import correct
from .tools import calc, wiki
from .user_simulator import informs, reply


@dataclass(frozen=True)
class Reply:
    by: Literal["user", "tool"]
    text: str


class Env:
    """The dialogue so far. A turn without an act costs a turn; at the last turn nothing but an answer counts."""

    def __init__(self, sample: Sample, max_turns: int, tools: Sequence[str] = TOOLS) -> None:
        self.sample, self.max_turns, self.tools = sample, max_turns, tuple(tools)
        self.turns = [Turn("user", "say", sample.prompt)]
        self.end: End | None = None
        self.answer: str | None = None
        self.told = False
        self._spoken = 0

    def opening(self) -> str:
        """The first message of the user."""
        return self.sample.prompt

    def system(self) -> str:
        """The grammar in the language of the sample, for models that have to be told."""
        return system(self.sample.lang, self.tools)

    def step(self, text: str) -> Reply | None:
        """Takes the policy's turn; None when the episode is over."""
        if self.end is not None:
            raise RuntimeError("the episode is over")
        self._spoken += 1
        act = parse(text, self.tools)
        self.turns.append(Turn("assistant", "say" if act.kind == "none" else act.kind, act.text, act.thought, act.tool))
        if act.kind == "answer":
            self.answer, self.end = act.text, "answer"
            return None
        if self._spoken >= self.max_turns:
            self.end = "turns"
            return None
        if act.kind == "ask":
            said = reply(self.sample, act.text)
            self.told = self.told or (self.sample.hidden is not None and informs(said))
            return self._say("user", said)
        if act.kind == "call":
            return self._say("tool", self._call(act.tool, act.text), act.tool)
        return self._say("tool", malformed(self.sample.lang, self.tools))

    def finish(self, end: End, text: str = "") -> None:
        """Ends the episode from outside, out of tokens; `text` is what the policy had said of its turn."""
        if self.end is not None:
            raise RuntimeError("the episode is over")
        if text:
            self.turns.append(Turn("assistant", "say", text))
        self.end = end

    def episode(self, seed: int, level: Level | None = None) -> Episode:
        """The record of a finished episode, its reward yet to be measured."""
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
            told=self.told,
        )

    def _call(self, tool: str, text: str) -> str:
        return calc(text) if tool == "calc" else wiki(self.sample.context, text)

    def _say(self, by: Literal["user", "tool"], text: str, tool: str = "") -> Reply:
        self.turns.append(Turn(by, "say" if by == "user" else "result", text, tool=tool))
        return Reply(by, text)
