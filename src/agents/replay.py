"""Does a stored episode follow from its sample? User simulator and tools are played again on what the policy said.

Nothing of a record is believed but the policy's own words: whether it succeeded, whether it was told what was missing
and what the tools answered are all derived.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.defaults import TOOLS
from ..core.types import Episode, Sample, Turn
from .actions import malformed
from .success import correct
from .tools import calc, wiki
from .user_simulator import informs, reply


def follows(episode: Episode, sample: Sample, tools: Sequence[str] = TOOLS) -> bool:
    """Whether every word that is not the policy's, and every fact of the record, is what the sample gives."""
    if not episode.turns or episode.turns[0] != Turn("user", "say", sample.prompt):
        return False
    said, told = episode.turns[1::2], False
    replies = episode.turns[2::2]
    for place, turn in enumerate(said):
        if turn.by != "assistant" or (turn.act == "answer" and place != len(said) - 1):
            return False
        if place < len(replies):
            expected = _reply(turn, sample, tools)
            if replies[place] != expected:
                return False
            told = told or (turn.act == "ask" and sample.hidden is not None and informs(expected.text))
    answer = said[-1].text if said and said[-1].act == "answer" else None
    facts = (sample.id, sample.task, sample.lang, sample.needs_clarification, answer, correct(sample, answer), told)
    stated = (
        episode.sample_id,
        episode.task,
        episode.lang,
        episode.needs_clarification,
        episode.answer,
        episode.success,
        episode.told,
    )
    return facts == stated and (episode.end == "answer") == (answer is not None)


def _reply(turn: Turn, sample: Sample, tools: Sequence[str]) -> Turn:
    if turn.act == "ask":
        return Turn("user", "say", reply(sample, turn.text))
    if turn.act == "call":
        text = calc(turn.text) if turn.tool == "calc" else wiki(sample.context, turn.text)
        return Turn("tool", "result", text, tool=turn.tool)
    return Turn("tool", "result", malformed(sample.lang, tools))
