"""A scripted policy of mixed quality for the tests of the gates, run in the real environment without a model."""

from __future__ import annotations

import re
from random import Random

from askgate_env.actions import say
from askgate_env.types import Episode, Level, Sample, Turn
from tests.reward import dialogues

MAX_TURNS = 6
"""As in the configs of the tests."""


def act(sample: Sample, random: Random, level: Level | None = None) -> Episode:
    """An episode that mostly follows the demonstration, sometimes ends with a wrong answer, sometimes hardly tries."""
    shown = [turn for turn in sample.dialogue if turn.by == "assistant"]
    habit = random.random()
    if habit < 0.45:
        said = [say(turn) for turn in shown]
    elif habit < 0.65:
        said = [*(say(turn) for turn in shown[:-1]), f"<answer>{_slip(sample, random)}</answer>"]
    elif habit < 0.80:
        said = [f"<answer>{_guess(sample, random)}</answer>"]
    elif habit < 0.90:
        said = ["<wiki>nothing in particular</wiki>", f"<answer>{_guess(sample, random)}</answer>"]
    else:
        said = ["well, let me see", "hm hm", f"<answer>{_guess(sample, random)}</answer>"]
    return run_episode(sample, said, random, level)


def run_episode(sample: Sample, said: list[str], random: Random, level: Level | None = None) -> Episode:
    return dialogues.run_episode(sample, said, MAX_TURNS, random.randrange(1000), level)


def ask_first(sample: Sample, random: Random, needless: float, asks: int = 1) -> Episode:
    """An episode that follows the demonstration, in some cases after a needless ask."""
    said = [say(turn) for turn in sample.dialogue if turn.by == "assistant"]
    if not sample.needs_clarification and random.random() < needless:
        said = [say(Turn("assistant", "ask", "Which one do you mean?"))] * asks + said
    if random.random() < 0.3:
        said = [*said[:-1], f"<answer>{_slip(sample, random)}</answer>"]
    return run_episode(sample, said, random)


def _slip(sample: Sample, random: Random) -> str:
    """A wrong answer that occurred in the dialogue; the old rules do not detect it."""
    if sample.task == "strategyqa":
        return "no" if sample.answer.strip().casefold() in ("yes", "是") else "yes"
    seen = re.findall(r"\d+", sample.prompt) if sample.task == "gsm8k" else [one.title for one in sample.context]
    return random.choice([one for one in seen if one != sample.answer] or ["0"])


def _guess(sample: Sample, random: Random) -> str:
    if sample.task == "strategyqa":
        return random.choice(["yes", "no"])
    return str(random.randint(10_001, 99_999)) if sample.task == "gsm8k" else f"Nobody {random.randint(1, 999)}"
