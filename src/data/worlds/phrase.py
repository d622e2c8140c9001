"""Noun phrases for the legs of a question: `the teacher of the founder of Harrow Mills`."""

from __future__ import annotations

from random import Random

from ..pool.source import Want
from .grammar import fill
from .scene import Leg
from .wording import WorldText


def near_or_far(text: WorldText, forms: tuple[str, ...], want: Want, rng: Random) -> tuple[str, ...]:
    """The first half of the forms keeps the article's words, the second half keeps its distance."""
    half = len(forms) // 2
    far = rng.random() < want.paraphrase * text.questions.far_share[want.level]
    return forms[half:] if far else forms[:half]


def noun_phrase(text: WorldText, want: Want, rng: Random, leg: Leg) -> str:
    """The last owner of a leg, as the text names it: the mention and a phrase for every hop but the last."""
    phrase = text.mention(leg.start.kind, leg.start.name, leg.start.tag if leg.tag_shown else "")
    hops = zip(leg.relations[:-1], leg.values, leg.year_shown, strict=False)
    for depth, (relation, value, shown) in enumerate(hops):
        forms = near_or_far(text, text.questions.nouns[relation], want, rng)
        # A possessive takes a bare name only; deeper phrases must nest in a way that a reader can undo.
        usable = [
            form
            for form in forms
            if (text.can_nest(form) if depth else not (form.startswith("{x}'s") and leg.start.kind == "event"))
        ]
        form = rng.choice(usable or text.questions.nouns[relation][:1])
        phrase = fill(form, x=phrase, when=text.year_phrase(value.year if shown else None))
    return phrase
