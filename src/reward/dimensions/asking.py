"""Was what was missing asked for, and nothing else? Told by the user's replies and by what the tools showed."""

from __future__ import annotations

from ...agents.user_simulator import informs
from .grounding import known_numbers
from .readings import two_readings
from .seen import Seen


def asking(seen: Seen) -> float:
    """The share of asks that brought something new; without an ask, whether no sign of a gap was passed over.

    An ask that the user answers with "nothing is missing", with a question or with what was said before was for
    nothing. Who goes on although two readings were shown and nobody chose one, or calculates with a number that nobody
    gave, has not asked for what was missing.
    """
    if seen.asked:
        known: set[str] = set()
        useful = 0
        for _, reply in seen.asked:
            useful += reply is not None and informs(reply) and reply not in known
            known.add(reply or "")
        return useful / len(seen.asked)
    return float(all(known_numbers(seen)) and not two_readings(seen))
