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
    """The segments of a demonstration, each as `demo_tokens` returns it. With `drop` (`rollout.thoughts: drop`) a user
    reply after a thought begins a new segment, which has no earlier thoughts; without it there is one segment."""
    tokens = list(renderer.opening(sample.prompt, system))
    segments: list[tuple[list[int], list[bool]]] = []
    mask, exchanges, policy_text, dropped = [False] * len(tokens), list[Exchange](), "", False
    for turn in sample.dialogue[1:]:
        if turn.by == "assistant":
            policy_text = say(turn if thoughts else replace(turn, thought=""), renderer.closes)
            added = renderer.policy(policy_text)
        else:
            action = without_thought(policy_text)
            exchanges.append(Exchange(action, turn.by, turn.text))
            # A renderer that opens every thought itself has one to drop even where the demonstration has none.
            dropped = dropped or action != policy_text or (renderer.think is not None and renderer.think.is_open)
            if drop and dropped and turn.by == "user":
                segments.append((tokens, mask))
                tokens, dropped = renderer.history(sample.prompt, system, exchanges), False
                mask = [False] * len(tokens)
                continue
            added = renderer.reply(turn.by, turn.text)
        tokens, mask = [*tokens, *added], [*mask, *[turn.by == "assistant"] * len(added)]
    return [*segments, (tokens, mask)]
