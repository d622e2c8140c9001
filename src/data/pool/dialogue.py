"""Turns an item into a sample: a template words the user's side, one voice the assistant's, and the tools reply."""

from __future__ import annotations

import re
from hashlib import blake2b
from random import Random
from typing import Literal

from askgate_env.tokenize import occurs
from askgate_env.tools import calc, wiki
from askgate_env.types import Provenance, Sample, Turn, join_sentences

from .source import Item, Step, Thought
from .templates import ClarifyTemplate, Pack, TaskTemplate, begins_with_question, render
from .voice import SILENT, Voice, voice_in

PROMPT_TRIES = 20
NATURAL = TaskTemplate("natural", "en", "user", "natural", ("{{ question }}",), ("{{ clue }}",), ("{{ topic }}",))
"""Template that leaves a question as its author wrote it."""
NATURAL_CLARIFY = ClarifyTemplate("natural-clarify", "en", "user", "natural", ("{{ span }}", "I mean {{ span }}."))
"""Replies to an ask. The second is for a phrase; a sentence is said as it is."""
_SENTENCE_END_INSIDE = re.compile(r"[.?!] |[。？！].")
"""Matches a question whose first sentence names its subject, as a lead would."""
_COPIED_FIELDS = tuple(name for name in Item.__struct_fields__ if name in Sample.__struct_fields__)
"""Fields that a sample takes from its item as they are."""


def item_to_sample(
    item: Item,
    pack: Pack,
    tools: tuple[str, ...],
    split: Literal["train", "shadow"],
    seed: int,
    is_reused: bool = False,
) -> Sample:
    """The sample of an item. The same item, pack and seed give the same sample.

    `is_reused`: the record has another sample, so a template puts words around its question even if people worded it.
    """
    rng = Random(f"dress:{seed}:{item.source_id}")
    natural = item.is_natural and not (is_reused and item.lang in pack.tasks.get(item.task, {}))
    template = NATURAL if natural else pack.choose(rng, item.task, item.lang)
    prompt = _prompt(item, template, rng)
    return Sample(
        id=f"{item.task}-{blake2b(f'{seed}:{item.source_id}'.encode(), digest_size=8).hexdigest()}",
        prompt=prompt,
        needs_clarification=item.hidden is not None,
        dialogue=tuple(_dialogue(item, prompt, template, pack, tools, rng)),
        provenance=Provenance(
            source=item.source,
            split=split,
            source_id=item.source_id,
            template_id=template.id,
            role=template.role,
            register=template.register,
            seed=seed,
        ),
        **{name: getattr(item, name) for name in _COPIED_FIELDS},
    )


def _prompt(item: Item, template: TaskTemplate, rng: Random) -> str:
    """The first user message. Drawn again if the template's own words contain the hidden span."""
    for _ in range(PROMPT_TRIES):
        clue = render(rng.choice(template.clue), clue=item.clue) if item.clue else ""
        topic = render(rng.choice(template.topic), topic=item.topic) if item.topic else ""
        user = rng.choice(template.user)
        # A lead introduces the question: one is enough, and nothing comes between them.
        has_lead = _SENTENCE_END_INSIDE.search(item.question) is not None
        clue_first = bool(clue) and item.lang == "en" and item.task != "gsm8k"
        if (has_lead or clue_first) and not begins_with_question(user):
            user = rng.choice([form for form in template.user if begins_with_question(form)] or [user])
        if item.task == "gsm8k" or item.is_natural:
            # A story comes before its question.
            parts = [topic, item.premise, clue, item.question]
        elif clue_first or (not has_lead and begins_with_question(user)):
            # The premise, what the user has read in vain, makes sense only after the question.
            parts = [topic, clue, item.question, item.premise]
        else:
            parts = [item.question, topic, item.premise, clue]
        prompt = render(user, question=join_sentences(parts))
        if item.hidden is None or not occurs(item.hidden.span, prompt):
            return prompt
    raise ValueError(f"{item.source_id}: the task itself contains the span that it hides: {item.hidden}")


def _dialogue(
    item: Item, prompt: str, template: TaskTemplate, pack: Pack, tools: tuple[str, ...], rng: Random
) -> list[Turn]:
    turns = [Turn("user", "say", prompt)]
    voice = voice_in(item.lang)
    titles = {article.title for article in item.context}
    after_reply = ""
    for number, step in enumerate((*item.steps, None)):
        if item.hidden and number == min(item.ask_after, len(item.steps)):
            clarify = NATURAL_CLARIFY
            if not item.is_natural:
                clarify = pack.choose_clarify(rng, item.task, item.lang, template.role)
            is_sentence = item.is_natural and (item.lang != "en" or item.hidden.span.endswith((".", "?", "!")))
            reply = clarify.reply[0] if is_sentence else rng.choice(clarify.reply)
            seen = [turn.text for turn in turns if turn.tool == "wiki" and turn.act == "result"]
            reason, ask = voice.ask(item.hidden, seen, rng)
            turns.append(Turn("assistant", "ask", ask, reason))
            turns.append(Turn("user", "say", render(reply, span=item.hidden.span)))
            after_reply = voice.thought("after_reply", rng)
        if step is not None and step.tool in tools:
            result = calc(step.input) if step.tool == "calc" else wiki(item.context, step.input)
            thought = join_sentences([after_reply, _thought(step, voice, titles, rng)])
            turns.append(Turn("assistant", "call", step.input, thought, step.tool))
            turns.append(Turn("tool", "result", result, tool=step.tool))
            after_reply = ""
    thought = ""
    if item.answer_why and item.answer_why != "nothing":
        thought = voice.thought(item.answer_why, rng)
    elif not item.answer_why and item.steps:  # without steps no page was read, and nothing follows from one
        thought = _maybe_thought("answer", voice, rng, item.answer)
    turns.append(Turn("assistant", "answer", item.answer, join_sentences([after_reply, thought])))
    return turns


def _thought(step: Step, voice: Voice, titles: set[str], rng: Random) -> str:
    if step.tool == "calc":
        kind: Thought = "compare" if any(sign in step.input for sign in "<>=") else "compute"
        return _maybe_thought(kind, voice, rng, step.input)
    if step.why:
        fact = voice.fact(step.fact)
        return voice.thought(step.why, rng, name=step.input, fact=fact, option=step.option)
    if step.fact:
        return _maybe_thought("open_for", voice, rng, step.input, voice.fact(step.fact))
    return _maybe_thought("open" if step.input in titles else "search", voice, rng, step.input)


def _maybe_thought(kind: Thought, voice: Voice, rng: Random, value: str, fact: str = "") -> str:
    """A thought about a value, or an empty one at the rate `SILENT`."""
    if rng.random() < SILENT:
        return ""
    return voice.thought(kind, rng, name=value, expression=value, answer=value, fact=fact)
