"""Does a sample say the same thing in all its fields? A policy learns from the demonstration what is written there."""

from __future__ import annotations

from ..core.types import Sample
from ..core.words import tokens


def contradictions(sample: Sample, max_turns: int) -> list[str]:
    """Names of the rules that the sample breaks."""
    needs = sample.needs_clarification
    turns = [turn for turn in sample.dialogue if turn.by == "assistant"]
    last = sample.dialogue[-1] if sample.dialogue else None
    answered = last is not None and last.by == "assistant" and last.act == "answer" and last.text == sample.answer
    broken = {
        "hidden_span_without_need_or_need_without_span": needs != (sample.hidden is not None),
        "hidden_span_is_in_the_prompt": sample.hidden is not None and occurs(sample.hidden.span, sample.prompt),
        "asks_without_need_or_does_not_ask": needs != any(turn.act == "ask" for turn in turns),
        "does_not_end_with_the_gold_answer": not answered,
        "too_many_turns": len(turns) > max_turns,
    }
    return [name for name, is_broken in broken.items() if is_broken]


def occurs(span: str, text: str) -> bool:
    """As whole tokens, in any case: a hidden 5 does not occur in 15. A span without tokens hides nothing."""
    wanted, given = tokens(span.lower()), tokens(text.lower())
    return any(given[i : i + len(wanted)] == wanted for i in range(len(given) - len(wanted) + 1))
