"""Economy of turns: how many of them brought the dialogue on?"""

from __future__ import annotations

from ...agents.user_simulator import informs
from .seen import Seen

NOTHING = "nothing found"


def economy(seen: Seen) -> float:
    """The share of turns that were of use.

    Of no use are a turn without an act, a call that finds nothing, fails or returns what was returned before, an ask
    that brings nothing new, and the turn on which an episode ran out.
    """
    if not seen.said:
        return 0.0
    known: set[str] = set()
    useful = 0
    replies = (*seen.turns[1:], None)
    for turn, reply in zip(seen.turns, replies, strict=True):
        if turn.by != "assistant":
            continue
        if turn.act == "answer":
            useful += 1
        elif reply is not None and reply.text not in known and turn.act != "say":
            useful += _brings(reply.text) if turn.act == "call" else informs(reply.text)
        known.add(reply.text if reply else "")
    return useful / len(seen.said)


def _brings(result: str) -> bool:
    return result != NOTHING and not result.startswith("error")
