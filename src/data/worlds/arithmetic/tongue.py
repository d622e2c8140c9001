"""What a language brings: wordings, fillers, and how numbers, money and sentences are written in it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Protocol, TypeVar

from ....agents.tools.calc import number_text
from ....core.types import Lang
from .expr import Number
from .wording import Wording

T = TypeVar("T")


def pick(rng: Random, options: Sequence[T]) -> T:
    """`rng.choice`, three times as fast: a problem makes about a hundred choices."""
    return options[int(rng.random() * len(options))]


def digits(number: Number) -> str:
    return number_text(Fraction(number))


class Slots(dict[str, str]):
    """Fillers of one story. A slot that nobody set is drawn from the language's lists when a template first asks."""

    def __init__(self, tongue: Tongue, rng: Random) -> None:
        super().__init__()
        self.tongue, self.rng = tongue, rng

    def copy(self) -> Slots:
        twin = Slots(self.tongue, self.rng)
        twin.update(self)
        return twin

    def __missing__(self, name: str) -> str:
        self[name] = text = self.tongue.filler(name, self, self.rng)
        return text


class Tongue(Protocol):
    lang: Lang
    opening: dict[str, Wording]
    further: dict[str, Wording]
    remarks: tuple[str, ...]
    leads: tuple[str, ...]
    intros: tuple[str, ...]
    lines: tuple[str, ...]
    documents: dict[str, tuple[str, ...]]
    joints: tuple[str, ...]
    """What may stand between two facts in one sentence."""
    plain_joints: tuple[str, ...]
    """Those without a connecting word."""
    tokens_per_character: float

    def cast(self, slots: Slots, rng: Random) -> None:
        """Set the people of the story (the second is a woman: some scenes have a sister), pronouns and currency."""

    def place(self, kinds: tuple[str, ...], rng: Random) -> str: ...

    def title(self, document: str, place: str) -> str: ...

    def noun(self, slot: str, category: str, slots: Slots, rng: Random) -> None:
        """Set the slots of a noun."""

    def filler(self, name: str, slots: Slots, rng: Random) -> str: ...

    def quantity(self, name: str, kind: str, number: Number, slots: Slots, in_words: float, rng: Random) -> None:
        """Set the slot of a quantity; `in_words` is the chance that a small number is spelled out."""

    def tidy(self, text: str) -> str:
        """Without the blanks that an empty choice leaves behind."""

    def sentence(self, text: str) -> str:
        """A clause as a sentence of its own."""

    def question(self, lead: str, text: str) -> str:
        """The asking sentence, with a lead before it or none."""
