"""A template dresses a task: the prompt as a person puts it, and a demonstration dialogue with true tool results."""

from __future__ import annotations

from hashlib import blake2b
from random import Random
from typing import Literal

from ...agents.tools import calc, wiki
from ...core.types import Provenance, Sample, Turn, join_sentences
from ..quality.consistency import occurs
from .source import Item, Step
from .templates import ClarifyTemplate, Pack, TaskTemplate, render

PROMPT_TRIES = 20


def dress(item: Item, pack: Pack, tools: tuple[str, ...], split: Literal["train", "shadow"], seed: int) -> Sample:
    """The same item, pack and seed give the same sample."""
    rng = Random(f"dress:{seed}:{item.source_id}")
    voice = pack.choose(rng, item.task, item.lang)
    prompt = _prompt(item, voice, rng)
    return Sample(
        id=f"{item.task}-{blake2b(f'{seed}:{item.source_id}'.encode(), digest_size=8).hexdigest()}",
        task=item.task,
        lang=item.lang,
        prompt=prompt,
        premise=item.premise,
        clue=item.clue,
        question=item.question,
        original=item.original,
        context=item.context,
        support=item.support,
        answer=item.answer,
        aliases=item.aliases,
        needs_clarification=item.hidden is not None,
        dialogue=tuple(_dialogue(item, prompt, voice, pack, tools, rng)),
        provenance=Provenance(
            source=item.source,
            split=split,
            source_id=item.source_id,
            template_id=voice.id,
            role=voice.role,
            register=voice.register,
            seed=seed,
        ),
        hidden=item.hidden,
        ambiguity=item.ambiguity,
    )


def _prompt(item: Item, voice: TaskTemplate, rng: Random) -> str:
    """What the person says. A template's own words may happen to hold the hidden span; then other words are chosen."""
    for _ in range(PROMPT_TRIES):
        prompt = _worded(item, voice, rng)
        if item.hidden is None or not occurs(item.hidden.span, prompt):
            return prompt
    raise ValueError(f"{item.source_id}: the task itself holds the span that it hides: {item.hidden}")


def _worded(item: Item, voice: TaskTemplate, rng: Random) -> str:
    clue = render(rng.choice(voice.clue), clue=item.clue) if item.clue else ""
    topic = render(rng.choice(voice.topic), topic=item.topic) if item.topic else ""
    body = join_sentences([topic, item.premise, clue, item.question])
    return render(rng.choice(voice.user), question=body)


def _dialogue(
    item: Item, prompt: str, voice: TaskTemplate, pack: Pack, tools: tuple[str, ...], rng: Random
) -> list[Turn]:
    turns = [Turn("user", "say", prompt)]
    titles = {article.title for article in item.context}
    clarify = pack.choose_clarify(rng, item.task, item.lang, voice.role) if item.hidden else None
    thanks = ""
    for number, step in enumerate(item.steps):
        if clarify is not None and number == item.ask_after:
            turns += _ask(item, clarify, rng)
            thanks = rng.choice(clarify.thanks)
        if step.tool in tools:
            thought = step.note or _thought(step, voice, titles, rng)
            turns.append(Turn("assistant", "call", step.input, join_sentences([thanks, thought]), step.tool))
            turns.append(Turn("tool", "result", _result(item, step), tool=step.tool))
            thanks = ""
    if clarify is not None and item.ask_after >= len(item.steps):
        turns += _ask(item, clarify, rng)
        thanks = rng.choice(clarify.thanks)
    thought = render(rng.choice(voice.answer), answer=item.answer)
    turns.append(Turn("assistant", "answer", item.answer, join_sentences([thanks, thought])))
    return turns


def _ask(item: Item, clarify: ClarifyTemplate, rng: Random) -> list[Turn]:
    assert item.hidden is not None
    return [
        Turn("assistant", "ask", render(rng.choice(clarify.ask), missing=item.hidden.missing)),
        Turn("user", "say", render(rng.choice(clarify.reply), span=item.hidden.span)),
    ]


def _thought(step: Step, voice: TaskTemplate, titles: set[str], rng: Random) -> str:
    if step.tool == "calc":
        return render(rng.choice(voice.compute), expression=step.input)
    return render(rng.choice(voice.open if step.input in titles else voice.search), name=step.input)


def _result(item: Item, step: Step) -> str:
    return calc(step.input) if step.tool == "calc" else wiki(item.context, step.input)
