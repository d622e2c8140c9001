"""Is the answer supported by what the tools returned?"""

from __future__ import annotations

from ...agents.success import number, verdict
from .mention import mentioned
from .seen import Seen

ELSEWHERE = 0.5
"""What an answer is worth that something supports, but not the last thing that the policy found out."""


def support(seen: Seen) -> float:
    """1 where the last thing found out says it, half where something before does, 0 where nothing does."""
    if seen.answer is None:
        return 0.0
    if seen.task == "gsm8k":
        return _computed(seen, seen.answer)
    if seen.task == "strategyqa":
        return _decided(seen, seen.answer)
    return _read(seen, seen.answer)


def _computed(seen: Seen, answer: str) -> float:
    """A number: the result of the last calculation."""
    given = number(answer)
    results = [number(result or "") for turn, result in seen.calls if turn.tool == "calc"]
    if given is None or given not in results:
        return 0.0
    return 1.0 if given == results[-1] else ELSEWHERE


def _decided(seen: Seen, answer: str) -> float:
    """Yes or no: the last comparison. Without one it has to stand on what was read."""
    given = verdict(answer)
    compared = [found for turn, result in seen.calls if (found := verdict(result or "")) is not None]
    if given is None:
        return 0.0
    if compared:
        return float(given == compared[-1])
    return ELSEWHERE if any(turn.tool == "wiki" and result for turn, result in seen.calls) else 0.0


def _read(seen: Seen, answer: str) -> float:
    """A name, a year: in the article read last, or in an earlier one or a reply of the user."""
    results = [result for turn, result in seen.calls if turn.tool == "wiki" and result]
    if results and mentioned(answer, results[-1]):
        return 1.0
    replies = [reply for _, reply in seen.asked if reply]
    return ELSEWHERE if any(mentioned(answer, text) for text in (*results, *replies)) else 0.0
