"""Votes: a judge's reply parsed as scores, and K votes on one dialogue aggregated to a verdict. Pure.

Judges give 0 to 10 per dimension; scores are 0 to 1. The reply of a judge that is asked yes-or-no questions is the
probability of each next token; its score of a dimension is

    (P(Yes | good question) + P(No | bad question)) / 2,   where P(Yes) + P(No) = 1

Parsing is strict: a reply that does not fit is never guessed at. A failed vote is missing; it never
counts as 0.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from statistics import fmean, median, pvariance

from askgate_env.types import Record

TOP = 10
"""The highest mark a judge can give."""
YES_NO = "yes-no-"
"""Start of the versions of prompts with yes-or-no questions."""
ANSWERED_MIN = 0.05
"""Minimum probability of Yes and No together. Below it the judge did not answer the question."""
_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL)
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


class BadReply(Exception):
    """The reply is not a vote. The message says why."""


def parse_scores(reply: str, dimensions: tuple[str, ...]) -> dict[str, float]:
    """The scores of a JSON reply, which must have exactly these dimensions, each a number from 0 to 10.

    Reasoning models put a reasoning block before the JSON and a code fence around it; both are removed.

    >>> parse_scores('{"logic": 7}', ("logic",))
    {'logic': 0.7}
    """
    text = without_thought(reply)
    if fenced := _FENCE.match(text):
        text = fenced[1]
    if not text:
        raise BadReply("it is empty")
    try:
        marks = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadReply(f"not JSON: {error}") from None
    if not isinstance(marks, dict):
        raise BadReply(f"a JSON object was asked for, not {type(marks).__name__}")
    if absent := [name for name in dimensions if name not in marks]:
        raise BadReply(f"dimension {absent[0]} is missing")
    if unexpected := sorted(set(marks) - set(dimensions)):
        raise BadReply(f"dimension {unexpected[0][:40]} was not asked for")
    return {name: _score(name, marks[name]) for name in dimensions}


def parse_answers(reply: str, dimensions: tuple[str, ...]) -> dict[str, float]:
    """The scores of a reply to yes-or-no questions: for each dimension the token probabilities of two answers.

    >>> parse_answers('[{" Yes": 0.6, " No": 0.2}, {" Yes": 0.3, " No": 0.3}]', ("logic",))
    {'logic': 0.625}
    """
    try:
        answers = json.loads(reply, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise BadReply("no token probabilities") from None
    if not isinstance(answers, list) or len(answers) != 2 * len(dimensions):
        raise BadReply(f"not the token probabilities of {2 * len(dimensions)} answers")
    yes = [_yes(answer) for answer in answers]
    return {name: (yes[2 * place] + 1 - yes[2 * place + 1]) / 2 for place, name in enumerate(dimensions)}


def _yes(answer: object) -> float:
    """Probability of Yes, given that the answer is Yes or No."""
    if not isinstance(answer, dict) or not all(
        isinstance(p, float | int) and not isinstance(p, bool) and 0 <= p <= 1 for p in answer.values()
    ):
        raise BadReply("an answer has no token probabilities")
    yes, no = (sum(p for token, p in answer.items() if token.strip().lower() == word) for word in ("yes", "no"))
    if yes + no < ANSWERED_MIN:
        raise BadReply(f"neither Yes nor No: together they have probability {yes + no:.3f}")
    return float(yes / (yes + no))


def without_thought(reply: str) -> str:
    """The reply after its reasoning block."""
    return _THOUGHT.sub("", reply, count=1).strip()


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The object of these pairs. Refuses a key that occurs twice: which value is meant would be a guess."""
    for name, count in Counter(name for name, _ in pairs).items():
        if count > 1:
            raise BadReply(f"dimension {name[:40]} is given {count} times")
    return dict(pairs)


def _refuse_constant(name: str) -> object:
    raise BadReply(f"{name} is not a number")


def _score(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadReply(f"{name} is not a number")
    if not 0 <= value <= TOP:
        # Cut, because an integer in JSON may have any length.
        raise BadReply(f"{name} is {str(value)[:20]}, outside 0..{TOP}")
    return value / TOP


class Verdict(Record, frozen=True):
    """The aggregate of the votes on one dialogue. `variance` is that of the dimension with the largest one."""

    scores: dict[str, float]
    overall: float
    variance: float
    votes: int


def aggregate(votes: list[dict[str, float]]) -> Verdict:
    """Median per dimension; overall is the median of the votes' means. Needs at least one vote.

    >>> aggregate([{"logic": 0.2}, {"logic": 0.4}, {"logic": 1.0}]).scores
    {'logic': 0.4}
    """
    return Verdict(
        scores={name: median(vote[name] for vote in votes) for name in votes[0]},
        overall=median(fmean(vote.values()) for vote in votes),
        variance=max(pvariance([vote[name] for vote in votes]) for name in votes[0]),
        votes=len(votes),
    )


def votes_wanted(votes: list[dict[str, float]], k: int, k_max: int, variance_max: float) -> int:
    """Number of votes still to ask for: K at first, then one or two while they disagree, never past `k_max`.

    Beyond K the count is odd, so that the median is one of the votes.

    >>> far_apart = [{"logic": 0.0}, {"logic": 1.0}]
    >>> [votes_wanted(far_apart, 2, k_max, 0.08) for k_max in (2, 3, 4)]
    [0, 1, 1]
    >>> [votes_wanted([*far_apart, {"logic": 0.0}], 3, k_max, 0.08) for k_max in (3, 4, 5)]
    [0, 0, 2]
    """
    if len(votes) < k:
        return k - len(votes)
    if aggregate(votes).variance <= variance_max:
        return 0
    more = 1 + len(votes) % 2
    return more if len(votes) + more <= k_max else 0


def training_weight(variance: float, variance_max: float) -> float:
    """Weight of a sample in training: 1 up to the variance limit, then falling, so that noisy scores count less.

    >>> training_weight(0.05, 0.08), training_weight(0.16, 0.08)
    (1.0, 0.5)
    """
    return 1.0 if variance <= variance_max else variance_max / variance
