"""Consistency of a sample with itself, and of a pool with its sidecar.

Questions of people over real articles and problems (sources `dir` and `hf`) are also checked for whether an ask is
needed, which no construction guarantees there: what is hidden cannot be found, and what is left is no complete problem
of its own. The builder vetoes such records by the annotations of the dataset; here only the finished sample is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from hashlib import blake2b
from itertools import pairwise
from operator import attrgetter

import msgspec

from askgate_env.tokenize import occurs, words
from askgate_env.tools import CalcError, calc, evaluate, search, wiki
from askgate_env.types import Article, Sample, Task

from ...core.check import Check, check, remedies
from ...core.defaults import MIX_TOLERANCE
from ..pool.meta import PoolMeta
from ..pool.voice import voice_in

REAL_SOURCES = ("dir", "hf")
_NUMBER = re.compile(r"(?<![\w.])(?:\d+\.?\d*|\.\d+)(?![\w.])")
_COMPARED = re.compile(r"\b(?:than|as|of|half|twice|double|triple|times)\b", re.IGNORECASE)


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
        "speaks_in_another_voice": not all(voice_in(sample.lang).matches(turn) for turn in said),
        "calls_a_tool_that_is_not_offered": any(turn.tool not in meta.tools for turn in said if turn.act == "call"),
        "tool_result_is_not_true": not _results_are_true(sample),
        "hidden_article_is_findable": hidden_article_is_findable(sample),
        "rest_is_complete": rest_is_complete(sample),
        "too_many_turns": len(said) > meta.max_turns,
        "comes_from_elsewhere": (origin.source, origin.split) != (meta.source, meta.split)
        or origin.seed not in range(meta.seed, meta.seed + meta.reuse),
    }
    return [name for name, is_broken in broken.items() if is_broken]


def _asks_before_looking(sample: Sample) -> bool:
    acts = [(turn.act, turn.tool) for turn in sample.dialogue]
    return ("ask", "") in acts and ("result", "wiki") not in acts[: acts.index(("ask", ""))]


def _replies_give_the_span(sample: Sample) -> bool:
    hidden = sample.hidden
    replies = [reply for turn, reply in pairwise(sample.dialogue) if turn.act == "ask"]
    return hidden is None or all(reply.by == "user" and hidden.span in reply.text for reply in replies)


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


def hidden_article_is_findable(sample: Sample) -> bool:
    """Whether the hidden article is the only one of its noun, or the first hit of a search for the noun."""
    hidden = sample.hidden
    if hidden is None or sample.provenance.source not in REAL_SOURCES or hidden.kind not in ("entity", "subject"):
        return False
    noun = hidden.about[0]
    meant = [page for page in sample.context if _is_named(page, hidden.span)]
    others = [page for page in sample.context if page not in meant and page.title not in sample.prompt]
    rivals = [page for page in others if {noun, f"{noun}s"} & {*words(f"{page.title} {page.sentences[0]}")}]
    return not rivals or any(hit in meant for hit in search(sample.context, noun)[:1])


def _is_named(page: Article, span: str) -> bool:
    bare = re.sub(r"\s*\([^()]*\)$", "", page.title).lower()
    return span.lower() in (bare, bare.split(",")[0], bare.removeprefix("the "))


def rest_is_complete(sample: Sample) -> bool:
    """Whether a word problem without its hidden sentence is another problem that lacks nothing.

    It is if the calculations do not use the hidden number. It also is if they have a positive result with 0 in its
    place, and nothing in the prompt is compared with the people or things of the hidden sentence.
    """
    hidden = sample.hidden
    if hidden is None or sample.provenance.source not in REAL_SOURCES or sample.task != "gsm8k":
        return False
    calls = [turn.text for turn in sample.dialogue if turn.act == "call" and turn.tool == "calc"]
    numbers = {Fraction(digits.replace(",", "")) for digits in re.findall(r"\d[\d,]*(?:\.\d+)?", hidden.span)}
    if not numbers:
        return False  # a number in words: the calculations cannot be compared with it
    used = {Fraction(digits) for call in calls for digits in _NUMBER.findall(call)} & numbers
    if not used:
        return True
    without = _result(calls, dict.fromkeys(numbers, Fraction(0)))
    if without is None or without <= 0:
        return False
    names = set(re.findall(r"\b[A-Z][a-z]+\b", hidden.span))
    about = {word.removesuffix("s") for word in words(hidden.span) if len(word) > 3}
    comparisons = [sentence for sentence in re.split(r"(?<=[.?!])\s", sample.prompt) if _COMPARED.search(sentence)]
    return not any(
        names & set(re.findall(r"\w+", sentence))
        or len(about & {word.removesuffix("s") for word in words(sentence)}) > 1
        for sentence in comparisons
    )


def _result(calls: list[str], replacements: dict[Fraction, Fraction]) -> Fraction | None:
    """The last result of some calculations in which numbers are replaced; `None` if it cannot be computed. Where a
    result changes, later calculations use the new one."""
    changed = dict(replacements)
    result = None
    for call in calls:
        try:
            before = evaluate(call)
            after = evaluate(_NUMBER.sub(lambda match: f"({changed.get(Fraction(match[0]), match[0])})", call))
        except CalcError:
            return None
        if isinstance(before, bool) or isinstance(after, bool):
            return None
        changed.setdefault(before, after)
        result = after
    return result


def mix_checks(counts: Mapping[Task, int], mix: Mapping[Task, float]) -> list[Check]:
    """One check per task: how many percentage points its share of the samples is off the mix that was asked for.

    A task that was not asked for has a wanted share of 0. Without samples no share can be measured.
    """
    n, asked = sum(counts.values()), sum(mix.values()) or 1.0
    off = {
        task: abs(counts.get(task, 0) / n - mix.get(task, 0.0) / asked) * 100 if n else None
        for task in dict.fromkeys([*mix, *counts])
    }
    remedy = remedies("pool")["mix"]
    return [check(f"mix[{task}]", points, "<=", 100 * MIX_TOLERANCE, *remedy) for task, points in off.items()]


_made_by_source = attrgetter(
    *"id task lang premise clue question original context support answer aliases hidden provenance.source_id".split()
)


def task_hash(sample: Sample) -> int:
    """Hash of everything that the source made, without the wording of the templates.

    The arguments in a sidecar give the same tasks again. An edited pool can get a sidecar with a matching SHA-256,
    but the builder will not produce its edited tasks.
    """
    return int.from_bytes(blake2b(msgspec.json.encode(_made_by_source(sample)), digest_size=8).digest())
