"""From an item to a sample: a template words the prompt, and the steps become a dialogue with true tool results."""

from __future__ import annotations

from hashlib import blake2b
from random import Random
from typing import Literal

from ...agents.tools import calc, wiki
from ...core.types import Provenance, Sample, Turn, join_sentences
from ..quality.consistency import occurs
from .source import Item, Step
from .templates import Pack, TaskTemplate, render

PROMPT_TRIES = 20
_SHARED = tuple(name for name in Item.__struct_fields__ if name in Sample.__struct_fields__)
"""Fields that a sample takes from its item as they are."""


def item_to_sample(
    item: Item, pack: Pack, tools: tuple[str, ...], split: Literal["train", "shadow"], seed: int
) -> Sample:
    """The sample of an item. The same item, pack and seed give the same sample."""
    rng = Random(f"dress:{seed}:{item.source_id}")
    template = pack.choose(rng, item.task, item.lang)
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
        **{name: getattr(item, name) for name in _SHARED},
    )


def _prompt(item: Item, template: TaskTemplate, rng: Random) -> str:
    """The first user message. The template's own words may contain the hidden span; then others are drawn."""
    for _ in range(PROMPT_TRIES):
        clue = render(rng.choice(template.clue), clue=item.clue) if item.clue else ""
        topic = render(rng.choice(template.topic), topic=item.topic) if item.topic else ""
        body = join_sentences([topic, item.premise, clue, item.question])
        prompt = render(rng.choice(template.user), question=body)
        if item.hidden is None or not occurs(item.hidden.span, prompt):
            return prompt
    raise ValueError(f"{item.source_id}: the task itself contains the span that it hides: {item.hidden}")


def _dialogue(
    item: Item, prompt: str, template: TaskTemplate, pack: Pack, tools: tuple[str, ...], rng: Random
) -> list[Turn]:
    turns = [Turn("user", "say", prompt)]
    titles = {article.title for article in item.context}
    clarify = pack.choose_clarify(rng, item.task, item.lang, template.role) if item.hidden else None
    thanks = ""
    for number, step in enumerate((*item.steps, None)):
        if item.hidden and clarify and number == min(item.ask_after, len(item.steps)):
            turns.append(Turn("assistant", "ask", render(rng.choice(clarify.ask), missing=item.hidden.missing)))
            turns.append(Turn("user", "say", render(rng.choice(clarify.reply), span=item.hidden.span)))
            thanks = rng.choice(clarify.thanks)
        if step is not None and step.tool in tools:
            thought = step.note or _thought(step, template, titles, rng)
            result = calc(step.input) if step.tool == "calc" else wiki(item.context, step.input)
            turns.append(Turn("assistant", "call", step.input, join_sentences([thanks, thought]), step.tool))
            turns.append(Turn("tool", "result", result, tool=step.tool))
            thanks = ""
    thought = render(rng.choice(template.answer), answer=item.answer)
    turns.append(Turn("assistant", "answer", item.answer, join_sentences([thanks, thought])))
    return turns


def _thought(step: Step, template: TaskTemplate, titles: set[str], rng: Random) -> str:
    if step.tool == "calc":
        return render(rng.choice(template.compute), expression=step.input)
    return render(rng.choice(template.open if step.input in titles else template.search), name=step.input)
