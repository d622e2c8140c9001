"""Is the answer supported by what the tools returned?"""

from __future__ import annotations

from ...agents.success import number, verdict
from .mention import mentioned
from .seen import Seen

HALF = 0.5
"""What an answer is worth that something speaks for, but not enough."""
LIST = "1. "


def support(seen: Seen) -> float:
    """1 where what was found out last says it, half where something else speaks for it, 0 where nothing does."""
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
    return 1.0 if given == results[-1] else HALF


def _decided(seen: Seen, answer: str) -> float:
    """Yes or no: the last comparison. Without one it has to stand on what was read."""
    given = verdict(answer)
    compared = [found for turn, result in seen.calls if (found := verdict(result or "")) is not None]
    if given is None:
        return 0.0
    if compared:
        return float(given == compared[-1])
    return HALF if any(turn.tool == "wiki" and result for turn, result in seen.calls) else 0.0


def _read(seen: Seen, answer: str) -> float:
    """A name, a year: in an article that was opened. A list of hits shows only how articles begin.

    An answer that the question itself names is a choice between what it offers; reading about it is not yet a reason.
    """
    results = [result for turn, result in seen.calls if turn.tool == "wiki" and result]
    opened = [result for result in results if not result.startswith(LIST)]
    offered = mentioned(answer, seen.prompt)
    if not offered and any(mentioned(answer, article) for article in opened):
        return 1.0
    told = any(mentioned(answer, text) for text in (*results, *(reply or "" for _, reply in seen.asked)))
    return HALF if told or (offered and opened) else 0.0
