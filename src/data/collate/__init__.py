"""A demonstration as tokens, in exactly the layout of an episode, so that SFT teaches what a rollout produces."""

from __future__ import annotations

from msgspec.structs import replace

from askgate_env.actions import say
from askgate_env.types import Sample

from ...agents.render import Exchange, Renderer, without_thought


def demo_tokens(
    sample: Sample, renderer: Renderer, thoughts: bool, system: str | None = None
) -> tuple[list[int], list[bool]]:
    """Tokens of the whole dialogue, and a mask of those that the policy produces: its turns with their end tokens.
    Without `thoughts` the turns have only their actions. Nothing follows the answer."""
    return demo_segments(sample, renderer, thoughts, system, drop=False)[0]


def demo_segments(
    sample: Sample, renderer: Renderer, thoughts: bool, system: str | None = None, *, drop: bool
) -> list[tuple[list[int], list[bool]]]:
    """The segments of a demonstration where thoughts are dropped after a user reply (`rollout.thoughts: drop`); without
    `drop` a single one."""
    tokens = list(renderer.opening(sample.prompt, system))
    found: list[tuple[list[int], list[bool]]] = []
    policy, exchanges, said, dropped = [False] * len(tokens), list[Exchange](), "", False
    for turn in sample.dialogue[1:]:
        if turn.by == "assistant":
            said = say(turn if thoughts else replace(turn, thought=""), renderer.closes)
            part = renderer.policy(said)
        else:
            action = without_thought(said)
            exchanges.append(Exchange(action, turn.by, turn.text))
            # A renderer that opens every thought itself has one to drop even where the demonstration has none.
            dropped = dropped or action != said or (renderer.think is not None and renderer.think.is_open)
            if drop and dropped and turn.by == "user":
                found.append((tokens, policy))
                tokens, dropped = renderer.history(sample.prompt, system, exchanges), False
                policy = [False] * len(tokens)
                continue
            part = renderer.reply(turn.by, turn.text)
        tokens, policy = [*tokens, *part], [*policy, *[turn.by == "assistant"] * len(part)]
    return [*found, (tokens, policy)]
