"""A demonstration as tokens, in exactly the layout of an episode, so that SFT teaches what a rollout produces."""

from __future__ import annotations

from msgspec.structs import replace

from askgate_env.actions import say
from askgate_env.types import Sample

from ...agents.render import Renderer


def demo_tokens(
    sample: Sample, renderer: Renderer, thoughts: bool, system: str | None = None
) -> tuple[list[int], list[bool]]:
    """Tokens of the whole dialogue, and a mask of those that the policy produces: its turns with their end tokens.

    Without `thoughts` the turns have only their actions. Nothing follows the answer.
    """
    tokens = list(renderer.opening(sample.prompt, system))
    policy = [False] * len(tokens)
    for turn in sample.dialogue[1:]:
        if turn.by == "assistant":
            part = renderer.policy(say(turn if thoughts else replace(turn, thought=""), renderer.closes))
        else:
            part = renderer.reply(turn.by, turn.text)
        tokens += part
        policy += [turn.by == "assistant"] * len(part)
    return tokens, policy
