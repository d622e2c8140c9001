"""The watch on reward hacking: ask spam, form without content, spikes in the spread of rewards. A breach stops the run.

    watch, stop = Watch(seed, config.watch, StepLog(METRICS)), DeferredStop()
    callbacks = [..., Deferred(watch, stop), Logging(...), ..., Checkpoints(...), stop]

- *ask spam*: the policy asks although nothing is missing, or asks more than once if something is.
- *malformed*: turns without a valid action, an empty tag among them.
- *bare answer*: an answer and nothing else, no thought, no search, no calculation and no ask before it.
- *echo*: an ask or an answer that repeats the user's question.

It measures before the step is logged, so that its metrics are in the log. Its `Stop` is deferred until the step is
saved, so that the run can be inspected and resumed. `Checkpoints` marks the checkpoint with the breach.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean, median, pstdev

from askgate_env.tokenize import words
from askgate_env.types import Episode, Turn

from ..config.train_config import WatchSection
from ..core.api import Callback, Engine, StepResult, Stop
from ..runtime.logs import StepLog

SPREAD = "watch/reward_std"
FIRST_SHARE, FIRST_COUNT = 0.1, 3
"""The first right answers of a weak policy are no spike, up to this share or this number of a batch."""
DEFAULT_SPIKE = float(WatchSection.model_fields["spike"].default)
"""At this `watch.spike`, exactly so many right answers are no spike."""


class Watch(Callback):
    """Adds metrics `watch/...` to every step and finds breaches. A resumed run reads earlier metrics from the log."""

    def __init__(self, seed: int, limits: WatchSection, logged: StepLog) -> None:
        self.seed, self.limits, self.logged = seed, limits, logged
        self.breach = ""
        self._past: deque[Mapping[str, float]] = deque(maxlen=limits.window)
        self._first: Mapping[str, float] = {}

    def on_start(self, engine: Engine) -> None:
        self.logged.cut(self.seed, engine.step)
        measured = [line for line in self.logged.lines(self.seed) if SPREAD in line]
        self._past.extend(measured[-self.limits.window :])
        self._first = measured[0] if measured else {}

    def on_step(self, engine: Engine, result: StepResult) -> None:
        if not result.episodes:
            return
        metrics = {f"watch/{name}": share(result.episodes) for name, (share, _) in SHARES.items()}
        # A turn that was cut off before its action says something about the budget, not about the policy.
        cut = result.metrics.get("cut_turn_share", 0.0)
        metrics["watch/malformed"] = max(0.0, metrics["watch/malformed"] - cut)
        metrics[SPREAD] = pstdev(sum(one.reward.values()) for one in result.episodes)
        result.metrics.update(metrics)
        spike = self._find_spike(metrics[SPREAD], len(result.episodes))
        self._past.append(metrics)
        self._first = self._first or metrics
        self.breach = self._find_high_share() or spike
        if self.breach:
            raise Stop(
                f"reward hacking: {self.breach} (step {result.step}); read its episodes in logs/episodes. If nothing "
                "is wrong with them, or the policy did so from the start, raise that limit: --resume --set "
                "watch.NAME=VALUE, or without --resume if this was the last step (for a gated run in config and "
                "profile, and run both rounds again)"
            )

    def _find_high_share(self) -> str:
        if len(self._past) < self.limits.window:
            return ""
        for name, (_, meaning) in SHARES.items():
            limit = getattr(self.limits, name)
            level = fmean(metrics[f"watch/{name}"] for metrics in self._past)
            if level > limit:
                return (
                    f"{name} is {level:.2f} over {len(self._past)} steps, above watch.{name} = {limit:.2f} "
                    f"({meaning}; {self._first[f'watch/{name}']:.2f} in the first step)"
                )
        return ""

    def _find_spike(self, spread: float, batch_size: int) -> str:
        if len(self._past) < self.limits.window:
            return ""
        first = min(0.5, max(FIRST_SHARE, FIRST_COUNT / batch_size))
        # If this share of the answers earns 1 and the others 0, the standard deviation is the root.
        usual = max(median(metrics[SPREAD] for metrics in self._past), sqrt(first * (1 - first)) / DEFAULT_SPIKE)
        if spread <= self.limits.spike * usual + 1e-9:  # rounding
            return ""
        limit = f"watch.spike = {self.limits.spike:g}"
        return f"the rewards spread by {spread:.2f}, more than {limit} times the usual {usual:.2f}"


SAME = 0.8
"""Minimum share of the question's words in a message that repeats the question."""
MIN_WORDS = 5
"""Minimum number of words of such a question: to repeat a shorter one may be to mention a name in it."""


def ask_spam(episodes: Sequence[Episode]) -> float:
    """The larger of two shares: complete samples with an ask, and need-ask samples with two or more asks."""
    needless = _share([one.asks > 0 for one in episodes if not one.needs_clarification])
    return max(needless, _share([one.asks > 1 for one in episodes if one.needs_clarification]))


def malformed(episodes: Sequence[Episode]) -> float:
    """The share of the policy's turns that have no valid action."""
    return _share([turn.act == "say" for one in episodes for turn in one.turns if turn.by == "assistant"])


def bare_answers(episodes: Sequence[Episode]) -> float:
    """The share of episodes that are an answer and nothing else."""
    policy_turns = [[turn for turn in one.turns if turn.by == "assistant"] for one in episodes]
    return _share([len(turns) == 1 and turns[0].act == "answer" and not turns[0].thought for turns in policy_turns])


def echoes(episodes: Sequence[Episode]) -> float:
    """The share of episodes in which the policy repeats the question."""
    return _share([any(_repeats(turn, one.turns[0].text) for turn in one.turns[1:]) for one in episodes])


def _repeats(turn: Turn, question: str) -> bool:
    if turn.by != "assistant" or turn.act not in ("ask", "answer"):
        return False
    message_words, question_words = Counter(words(turn.text)), Counter(words(question))
    common = (message_words & question_words).total()
    return question_words.total() >= MIN_WORDS and common >= SAME * question_words.total()


def _share(verdicts: Sequence[bool]) -> float:
    return sum(verdicts) / len(verdicts) if verdicts else 0.0


SHARES = {
    "ask_spam": (
        ask_spam,
        "the larger of two shares: complete samples with an ask, and need-ask samples with two or more asks",
    ),
    "malformed": (malformed, "share of turns without a valid action"),
    "bare_answer": (bare_answers, "share of episodes with an answer and nothing before it"),
    "echo": (echoes, "share of episodes that hand the question back"),
}
"""The shares that the watch measures, with their meaning. Each has its limit in the config, under the same name."""
