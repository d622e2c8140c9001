"""Noun phrases for the legs of a question: `the teacher of the founder of Harrow Mills`."""

from __future__ import annotations

from random import Random
from types import ModuleType

from ..pool.source import Want
from .scene import Leg


def near_or_far(words: ModuleType, forms: tuple[str, ...], want: Want, rng: Random) -> tuple[str, ...]:
    """The first half of the forms keeps the article's words, the second half keeps its distance."""
    half = len(forms) // 2
    far = rng.random() < want.paraphrase * words.FAR[want.level]
    return forms[half:] if far else forms[:half]


def noun_phrase(words: ModuleType, want: Want, rng: Random, leg: Leg) -> str:
    """The last owner of a leg, as the text names it: the mention and a phrase for every hop but the last."""
    phrase: str = words.mention(leg.start.kind, leg.start.name, leg.start.tag if leg.tag_shown else "")
    hops = zip(leg.relations[:-1], leg.values, leg.year_shown, strict=False)
    for depth, (relation, value, shown) in enumerate(hops):
        forms = near_or_far(words, words.NOUNS[relation], want, rng)
        # A possessive takes a bare name only; deeper phrases must nest in a way that a reader can undo.
        usable = [
            form
            for form in forms
            if (words.nests(form) if depth else not (form.startswith("{x}'s") and leg.start.kind == "event"))
        ]
        form = rng.choice(usable or words.NOUNS[relation][:1])
        phrase = form.format(x=phrase, when=words.when(value.year if shown else None))
    return phrase
