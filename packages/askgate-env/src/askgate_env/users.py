"""The users that a policy may talk to: the rules (default), and a noisy one for evaluation.

A user is a function from a sample, a question and the turns before it to a reply. A third user, a language model behind
a server, is in `scoring/llm_user.py`. Whoever plays the user, a reply that gives nothing is one of the fixed texts in
`texts/dialogue.json`, so that `informs` can tell by the reply alone whether information was given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b

from .types import Sample, Turn
from .user_simulator import REPLIES, informs, reply

User = Callable[[Sample, str, Sequence[Turn]], str]
"""Replies to a question about a sample, after the turns before it."""


def rules(sample: Sample, ask: str, before: Sequence[Turn]) -> str:
    """The user simulator, which follows rules."""
    return reply(sample, ask)


class NoisyUser:
    """The user simulator on a bad day, for evaluation: terse, evasive when first asked, or changing its mind.

    Which of the three depends on seed and sample, so an evaluation can be repeated. The information that it gives in
    the end is right.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def __call__(self, sample: Sample, ask: str, before: Sequence[Turn]) -> str:
        usual, hidden, lang = reply(sample, ask), sample.hidden, sample.lang
        if hidden is None or not informs(usual):
            return usual
        digest = blake2b(f"{self.seed}:{sample.id}".encode(), digest_size=1).digest()
        manner = ("terse", "evasive", "changing")[digest[0] % 3]
        if manner == "terse":
            return hidden.span
        if manner == "evasive":
            evasive = REPLIES["evasive"][lang]
            return usual if any(turn.text == evasive for turn in before) else evasive
        other = hidden.readings[1][0] if len(hidden.readings) > 1 else REPLIES["unsure"][lang]
        return REPLIES["changed_mind"][lang].format(first=other, span=hidden.span)
