"""Which text of a sample a metric reads."""

from __future__ import annotations

from ...core.types import Sample, Turn


def spoken(sample: Sample) -> str:
    """What user and assistant say and think: prompt, thoughts, asks, call inputs, replies, answer.

    Tool results and articles are left out: they are the world's words, and no template can make them more varied.
    """
    parts = [sample.prompt]
    for turn in after_prompt(sample):
        if turn.act != "result":
            parts += (turn.thought, turn.text)
    return "\n".join(parts)


def rendered(sample: Sample) -> str:
    """Everything that a model may have to read: prompt, articles, and the dialogue with its tool results."""
    parts = [sample.prompt]
    for article in sample.context:
        parts.append(article.title)
        parts += article.sentences
    for turn in after_prompt(sample):
        parts += (turn.thought, turn.text)
    return "\n".join(parts)


def after_prompt(sample: Sample) -> tuple[Turn, ...]:
    """The dialogue without the prompt, which may stand as its first turn: it is said once and counted once."""
    opening = sample.dialogue[:1]
    if opening and opening[0].by == "user" and opening[0].text == sample.prompt:
        return sample.dialogue[1:]
    return sample.dialogue
