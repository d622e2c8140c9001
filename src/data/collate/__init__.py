"""A demonstration as tokens, in exactly the layout of an episode, so that SFT teaches what a rollout produces."""

from __future__ import annotations

from msgspec.structs import replace

from ...agents.actions import say
from ...agents.render import Renderer
from ...core.types import Sample, Turn


def demo_tokens(
    sample: Sample, renderer: Renderer, thoughts: bool, system: str | None = None
) -> tuple[list[int], list[bool]]:
    """Tokens of the whole dialogue, and a mask of those that the policy produces: its turns with their end tokens.

    Without `thoughts` the turns have only their actions. Nothing follows the answer.
    """
    tokens = list(renderer.opening(sample.prompt, system))
    policy = [False] * len(tokens)
    for turn in sample.dialogue[1:]:
        part = _part(turn, renderer, thoughts)
        tokens += part
        policy += [turn.by == "assistant"] * len(part)
    return tokens, policy


def _part(turn: Turn, renderer: Renderer, thoughts: bool) -> list[int]:
    if turn.by != "assistant":
        return renderer.reply(turn.by, turn.text)
    return renderer.policy(say(turn if thoughts else replace(turn, thought=""), renderer.closes))
