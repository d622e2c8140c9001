"""The vocabulary of runs: what a policy did on a sample, and what it was worth."""

from __future__ import annotations

from typing import Literal

from msgspec import field

from .types import Lang, Level, Record, Task, Turn

End = Literal["answer", "turns", "length"]
"""How an episode came to its end: it answered, it used up its turns, or it ran out of tokens."""


class Episode(Record, frozen=True):
    """One multi-turn run of a policy on a sample. A line of `logs/episodes/`."""

    sample_id: str
    task: Task
    lang: Lang
    level: Level | None
    """None where nobody measured the sample's difficulty."""
    needs_clarification: bool
    turns: tuple[Turn, ...]
    """The dialogue from the user's first message on, untruncated."""
    end: End
    answer: str | None
    success: bool
    """The answer fits the gold answer. Whether it was asked for first where it had to be is another question."""
    seed: int
    told: bool = False
    """The user told what was missing, because the policy asked for it."""
    reward: dict[str, float] = field(default_factory=dict)
    """The reward taken apart by term; they sum to what was trained on."""
    live: bool = False

    @property
    def asks(self) -> int:
        return sum(turn.act == "ask" for turn in self.turns)

    @property
    def policy_turns(self) -> int:
        return sum(turn.by == "assistant" for turn in self.turns)

    @property
    def need_ask_success(self) -> bool:
        """Right, and asked for what was missing before it answered. Who asks something else and then guesses right has
        been lucky, and luck is no asking."""
        return self.needs_clarification and self.success and self.told
