"""A sample's demonstration as tokens: exactly the layout that an episode of it would have, so that what SFT teaches is
what a rollout continues.
"""

from __future__ import annotations

from msgspec.structs import replace

from ...agents.actions import say
from ...agents.render import Renderer
from ...core.types import Sample, Turn


def demo_tokens(
    sample: Sample, renderer: Renderer, thoughts: bool, system: str | None = None
) -> tuple[list[int], list[bool]]:
    """Tokens of the whole dialogue, and which of them the policy says: its words and the token that ends its turn.

    Without `thoughts` the policy acts at once. After the answer nothing follows.
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
