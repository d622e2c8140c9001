"""Demonstrators with habits that a base picks up and training has to take away again."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from msgspec.structs import replace

from ..agents.user_simulator import reply
from ..core.types import Lang, Sample, Turn

VAGUE: dict[Lang, tuple[str, ...]] = {
    "en": (
        "Could you clarify?",
        "What do you mean?",
        "Please clarify.",
        "Could you explain that?",
        "Can you be clearer?",
    ),
    "zh": ("请说清楚？", "能讲清楚些吗？", "什么意思？", "请再说明一下？", "可以具体一点吗？"),
}
WORDY: dict[Lang, tuple[str, ...]] = {
    "en": ("The answer is {}.", "I think it is {}.", "It must be {}."),
    "zh": ("答案是{}。", "我想是{}。", "应该是{}。"),
}


@dataclass(frozen=True)
class Habits:
    vague: float = 0.0
    """Share of the demonstrations with something missing in which the ask does not say what is wanted."""
    early: float = 0.0
    """Share of the other demonstrations that begin with such an ask, whether something is missing or not."""
    wordy: float = 0.0
    """Share of all demonstrations that answer in a sentence, where the answer alone is wanted."""

    def shown(self, sample: Sample, random: Random) -> Sample:
        vague, early, wordy = (random.random() < share for share in (self.vague, self.early, self.wordy))
        if wordy:
            sample = wordily(sample, random)
        if vague and sample.needs_clarification:
            return vaguely(sample, random)
        return early_on(sample, random) if early else sample


NONE = Habits()


def vaguely(sample: Sample, random: Random) -> Sample:
    """The demonstration of somebody who asks without saying for what, hears no more than that, and guesses."""
    turns = list(sample.dialogue)
    for at, turn in enumerate(sample.dialogue):
        if turn.act == "ask":
            asked, answered = _exchange(sample, random)
            turns[at] = replace(turn, text=asked.text)
            turns[at + 1] = replace(turns[at + 1], text=answered.text)
    return replace(sample, dialogue=tuple(turns))


def early_on(sample: Sample, random: Random) -> Sample:
    """The demonstration of somebody who asks before reading, is asked back what for, and then does as they should."""
    first, *rest = sample.dialogue
    return replace(sample, dialogue=(first, *_exchange(sample, random), *rest))


def wordily(sample: Sample, random: Random) -> Sample:
    """The demonstration of somebody who answers in a sentence, which is not the form that is wanted.

    For gsm8k it is right all the same: a number in a sentence still counts."""
    *before, answer = sample.dialogue
    said = random.choice(WORDY[sample.lang]).format(answer.text)
    return replace(sample, dialogue=(*before, replace(answer, text=said)))


def _exchange(sample: Sample, random: Random) -> tuple[Turn, Turn]:
    ask = random.choice(VAGUE[sample.lang])
    return Turn("assistant", "ask", ask), Turn("user", "say", reply(sample, ask))
