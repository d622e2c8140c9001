"""Does a sample say the same thing in all its fields? A policy learns from the demonstration what is written there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b

import msgspec

from ...agents.tools import calc, wiki
from ...core.check import Check, check
from ...core.tokenize import tokens
from ...core.types import Sample, Task, Turn
from ..pool.meta import PoolMeta
from .remedies import REMEDIES


def contradictions(sample: Sample, meta: PoolMeta) -> list[str]:
    """Names of the rules that the sample breaks."""
    needs, turns = sample.needs_clarification, sample.dialogue
    said = [turn for turn in turns if turn.by == "assistant"]
    origin = sample.provenance
    broken = {
        "hidden_span_without_need_or_need_without_span": needs != (sample.hidden is not None),
        "hidden_span_is_in_the_prompt": sample.hidden is not None and occurs(sample.hidden.span, sample.prompt),
        "hidden_span_is_not_in_the_original": sample.hidden is not None and sample.hidden.span not in sample.original,
        "asks_without_need_or_does_not_ask": needs != any(turn.act == "ask" for turn in said),
        "reply_does_not_give_the_span": not _replies_give_the_span(sample),
        "prompt_lacks_a_part_of_the_task": not all(
            part in sample.prompt for part in (sample.premise, sample.clue, sample.question)
        ),
        "does_not_open_with_the_prompt": not turns or (turns[0].by, turns[0].text) != ("user", sample.prompt),
        "does_not_end_with_the_gold_answer": not turns or not _answers(turns[-1], sample.answer),
        "calls_a_tool_that_is_not_offered": any(turn.tool not in meta.tools for turn in said if turn.act == "call"),
        "tool_result_is_not_true": not _results_are_true(sample),
        "too_many_turns": len(said) > meta.max_turns,
        "comes_from_elsewhere": (origin.source, origin.split, origin.seed) != (meta.source, meta.split, meta.seed),
    }
    return [name for name, is_broken in broken.items() if is_broken]


def occurs(span: str, text: str) -> bool:
    """As whole tokens, in any case: a hidden 5 does not occur in 15. A span without tokens hides nothing."""
    wanted, given = tokens(span.lower()), tokens(text.lower())
    return any(given[i : i + len(wanted)] == wanted for i in range(len(given) - len(wanted) + 1))


def _answers(turn: Turn, gold: str) -> bool:
    return turn.by == "assistant" and turn.act == "answer" and turn.text == gold


def _replies_give_the_span(sample: Sample) -> bool:
    if sample.hidden is None:
        return True
    after_ask = [reply for turn, reply in zip(sample.dialogue, sample.dialogue[1:], strict=False) if turn.act == "ask"]
    return all(reply.by == "user" and sample.hidden.span in reply.text for reply in after_ask)


def _results_are_true(sample: Sample) -> bool:
    """Every call is followed by what the tool really says."""
    for turn, result in zip(sample.dialogue, (*sample.dialogue[1:], None), strict=False):
        if turn.act == "call":
            true = calc(turn.text) if turn.tool == "calc" else wiki(sample.context, turn.text)
            if result is None or result.act != "result" or result.text != true:
                return False
        elif turn.act == "result" and turn.by != "tool":
            return False
    return True


# Is every task there with the share that was asked for?


MIX_POINTS = 3.0
"""Percentage points that a task's share may be off what was asked."""


def mix_checks(counts: Mapping[Task, int], mix: Mapping[Task, float]) -> list[Check]:
    """A task that was not asked for has a wanted share of 0. Of no samples at all, no share can be measured."""
    n, asked = sum(counts.values()), sum(mix.values())
    checks = []
    for task in dict.fromkeys([*mix, *counts]):
        wanted = mix.get(task, 0.0) / asked if asked else 0.0
        off = abs(counts.get(task, 0) / n - wanted) * 100 if n else None
        checks.append(check(f"mix[{task}]", off, "<=", MIX_POINTS, *REMEDIES["mix"]))
    return checks


# Is this the pool that its sidecar tells of? The same arguments give the same tasks, so some are made again.
#
# Whoever edits a pool can make the sidecar's hash fit. What they cannot do is make the builder give their samples.


def task_hash(sample: Sample) -> int:
    """Of everything that a source made. The wording is the template's, and the reference has another."""
    made = (
        sample.id,
        sample.task,
        sample.lang,
        sample.premise,
        sample.clue,
        sample.question,
        sample.original,
        sample.context,
        sample.support,
        sample.answer,
        sample.aliases,
        sample.hidden,
        sample.provenance.source_id,
    )
    return int.from_bytes(blake2b(msgspec.json.encode(made), digest_size=8).digest())


def differing(pool: Iterable[int], made_again: Iterable[int]) -> int:
    """How many of the tasks that were made again are not what stands in the pool at their place."""
    return sum(ours != theirs for ours, theirs in zip(pool, made_again, strict=False))
