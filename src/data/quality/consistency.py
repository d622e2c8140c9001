"""Consistency of a sample with itself, and of a pool with its sidecar."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from operator import attrgetter

import msgspec

from askgate_env.tokenize import occurs
from askgate_env.tools import calc, wiki
from askgate_env.types import Sample, Task

from ...core.check import Check, check, remedies
from ...core.defaults import MIX_TOLERANCE
from ..pool.meta import PoolMeta
from ..pool.voice import voice_in
from .needed import hidden_article_is_findable, rest_is_complete


def contradictions(sample: Sample, meta: PoolMeta) -> list[str]:
    """Names of the rules that the sample breaks.

    SFT imitates the demonstration: it must be true, look before it asks, and speak in the one voice of the assistant.
    """
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
        "does_not_end_with_the_gold_answer": not turns
        or (turns[-1].by, turns[-1].act, turns[-1].text) != ("assistant", "answer", sample.answer),
        "asks_before_looking": bool(sample.context) and "wiki" in meta.tools and _asks_before_looking(sample),
        "asks_more_than_once": sum(turn.act == "ask" for turn in said) > 1,
        "ask_is_not_a_question": any(turn.act == "ask" and turn.text[-1:] not in ("?", "？") for turn in said),
        "speaks_in_another_voice": not all(voice_in(sample.lang).is_own(turn) for turn in said),
        "calls_a_tool_that_is_not_offered": any(turn.tool not in meta.tools for turn in said if turn.act == "call"),
        "tool_result_is_not_true": not _results_are_true(sample),
        "hidden_article_is_findable": hidden_article_is_findable(sample),
        "rest_is_complete": rest_is_complete(sample),
        "too_many_turns": len(said) > meta.max_turns,
        "comes_from_elsewhere": (origin.source, origin.split, origin.seed) != (meta.source, meta.split, meta.seed),
    }
    return [name for name, is_broken in broken.items() if is_broken]


def _asks_before_looking(sample: Sample) -> bool:
    """Whether the first ask comes before the first look-up."""
    acts = [(turn.act, turn.tool) for turn in sample.dialogue]
    return ("ask", "") in acts and ("result", "wiki") not in acts[: acts.index(("ask", ""))]


def _replies_give_the_span(sample: Sample) -> bool:
    if sample.hidden is None:
        return True
    after_ask = [reply for turn, reply in zip(sample.dialogue, sample.dialogue[1:], strict=False) if turn.act == "ask"]
    return all(reply.by == "user" and sample.hidden.span in reply.text for reply in after_ask)


def _results_are_true(sample: Sample) -> bool:
    """Whether every call is followed by what the tool really returns."""
    for turn, result in zip(sample.dialogue, (*sample.dialogue[1:], None), strict=False):
        if turn.act == "call":
            true = calc(turn.text) if turn.tool == "calc" else wiki(sample.context, turn.text)
            if result is None or result.act != "result" or result.text != true:
                return False
        elif turn.act == "result" and turn.by != "tool":
            return False
    return True


def mix_checks(counts: Mapping[Task, int], mix: Mapping[Task, float]) -> list[Check]:
    """One check per task: its share of the samples, in percentage points off the mix that was asked for.

    A task that was not asked for has a wanted share of 0. Without samples no share can be measured.
    """
    n, asked = sum(counts.values()), sum(mix.values())
    checks = []
    for task in dict.fromkeys([*mix, *counts]):
        wanted = mix.get(task, 0.0) / asked if asked else 0.0
        off = abs(counts.get(task, 0) / n - wanted) * 100 if n else None
        checks.append(check(f"mix[{task}]", off, "<=", 100 * MIX_TOLERANCE, *remedies("pool")["mix"]))
    return checks


_made_by_source = attrgetter(
    *"id task lang premise clue question original context support answer aliases hidden provenance.source_id".split()
)


def task_hash(sample: Sample) -> int:
    """Hash of everything that the source made, without the wording of the templates.

    The arguments in a sidecar give the same tasks again. An edited pool can get a sidecar with a matching SHA-256,
    but the builder will not produce its edited tasks.
    """
    return int.from_bytes(blake2b(msgspec.json.encode(_made_by_source(sample)), digest_size=8).digest())


def count_differing(pool: Iterable[int], rebuilt: Iterable[int]) -> int:
    """Number of rebuilt tasks (by `task_hash`) that differ from the pool's at the same position."""
    return sum(ours != theirs for ours, theirs in zip(pool, rebuilt, strict=False))
