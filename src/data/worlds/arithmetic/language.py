"""The language of the arithmetic problems: how scenes are told, how people, numbers, money and sentences are written.

All texts are in `templates/worlds/problems_*.yaml` and `scenes_*.yaml`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from random import Random
from typing import TypeVar

from msgspec import field

from askgate_env.tools import number_text
from askgate_env.types import Lang, Record

from ..texts import Lines, Phrases, Words, capitalize, fill, load_text, with_article
from .program import Number

T = TypeVar("T")


class SceneText(Record, frozen=True):
    """Texts of one scene."""

    facts: dict[str, Lines]
    """`per` -> sentences that state it; `long+wide` -> sentences that state both. Told in the order of the file."""
    ask: Lines
    far: Lines
    """Questions that keep away from the words of the story."""
    places: Phrases = Phrases()
    nouns: dict[str, str] = field(default_factory=dict)
    """Slot -> list of fillers."""
    also: dict[str, str] = field(default_factory=dict)
    """Slot -> list of fillers, for what a further scene says of the result: whose money it is and what it is for."""
    things: str = ""
    """Things that the result counts, for scenes that continue from it."""
    unit: str = ""
    open: Lines = Lines()
    remarks: Lines = Lines()
    """Sentences that belong to an opening scene and do not matter; those of `problems_*.yaml` where there are none."""
    listing: dict[str, Lines] = field(default_factory=dict)
    """The fact as an article states it, for the quantities that may be left out of the message."""
    missing: dict[str, str] = field(default_factory=dict)
    """Object of a clarifying question."""
    about: dict[str, Phrases] = field(default_factory=dict)
    """Words of which such a question uses at least one."""


class SceneTexts(Record, frozen=True):
    """`scenes_*.yaml`."""

    opening: dict[str, SceneText]
    further: dict[str, SceneText]


class ProblemText(Record, frozen=True):
    """`problems_*.yaml`."""

    women: Words
    men: Words
    surnames: Words
    pronouns: dict[str, dict[str, str]]
    place: str
    title: str
    second_form_suffix: str
    """Ends the slot of a noun's second form, which follows a slash: its plural, or its measure word."""
    second_form: str
    """Second form of a noun that has none of its own."""
    named_by_first_name: Words
    """Slots that any first name fills."""
    percent: Lines
    percent_first_chance: float
    money_decimals: int
    full_stop: str
    lead_gap: str
    joints: tuple[str, ...]
    """Text between two facts in one sentence."""
    plain_joints: tuple[str, ...]
    """Joints without a connecting word, for easy stories; an easy story joins nothing where there are none."""
    tokens_per_character: float
    months: Words
    number_words: Words
    currencies: Phrases
    """Ways to write money; a problem keeps to one."""
    place_heads: Words
    place_tails: Words
    documents: dict[str, Phrases]
    fillers: dict[str, Phrases]
    remarks: Lines
    leads: Lines
    intros: Lines
    lines: Lines


def pick(rng: Random, options: Sequence[T]) -> T:
    """`rng.choice`, three times as fast: a problem makes about a hundred choices."""
    return options[int(rng.random() * len(options))]


def digits(number: Number) -> str:
    return number_text(Fraction(number))


class Slots(dict[str, str]):
    """Fillers of one story. A slot that nobody set is drawn from the language's lists when a template first asks."""

    def __init__(self, language: Language, rng: Random) -> None:
        super().__init__()
        self.language, self.rng = language, rng

    def copy(self) -> Slots:
        twin = Slots(self.language, self.rng)
        twin.update(self)
        return twin

    def __missing__(self, name: str) -> str:
        self[name] = text = self.language.filler(name, self, self.rng)
        return text


class Language:
    """Writes the parts of a problem in one language."""

    def __init__(self, lang: Lang) -> None:
        self.text = load_text(f"problems_{lang}.yaml", ProblemText)
        self.scenes = load_text(f"scenes_{lang}.yaml", SceneTexts)
        first_names = self.text.women + self.text.men
        self._fillers: dict[str, Sequence[str]] = {
            **self.text.fillers,
            "month": self.text.months,
            **dict.fromkeys(self.text.named_by_first_name, first_names),
        }

    def scene(self, key: str) -> SceneText:
        return self.scenes.opening.get(key) or self.scenes.further[key]

    def cast(self, slots: Slots, rng: Random) -> None:
        """Set the people of the story (the second is a woman: some scenes have a sister), pronouns and currency."""
        woman = rng.random() < 0.5
        slots["N"] = self._person(woman, rng)
        slots["N2"] = self._person(True, rng)
        while slots["N2"] == slots["N"]:
            slots["N2"] = self._person(True, rng)
        slots.update(self.text.pronouns["woman" if woman else "man"])
        slots["currency"] = pick(rng, self.text.currencies)

    def _person(self, woman: bool, rng: Random) -> str:
        surname = pick(rng, self.text.surnames) if self.text.surnames else ""
        return surname + pick(rng, self.text.women if woman else self.text.men)

    def place(self, kinds: Sequence[str], rng: Random) -> str:
        head, tail = pick(rng, self.text.place_heads), pick(rng, self.text.place_tails)
        return fill(self.text.place, head=head, tail=tail, kind=pick(rng, kinds))

    def noun(self, slot: str, category: str, slots: Slots, rng: Random) -> None:
        """Set the slots of a noun and of its second form."""
        noun, _, second = pick(rng, self._fillers[category]).partition("/")
        slots[slot] = noun
        slots[slot + self.text.second_form_suffix] = second or fill(self.text.second_form, noun=noun)

    def filler(self, name: str, slots: Slots, rng: Random) -> str:
        if name.startswith("a "):
            return with_article(slots[name[2:]])
        if name in self._fillers:
            return pick(rng, self._fillers[name])
        if name == "N2":
            return self._person(True, rng)
        raise KeyError(name)

    def quantity(self, name: str, kind: str, number: Number, slots: Slots, in_words: float, rng: Random) -> None:
        """Set the slot of a quantity; `in_words` is the chance that a small number is spelled out."""
        text = self.text
        if kind == "M":
            slots[name], slots[f"next_{name}"] = text.months[int(number) - 1], text.months[int(number)]
        elif kind == "$":
            whole = number.denominator == 1 or not text.money_decimals
            amount = digits(number) if whole else f"{float(number):.{text.money_decimals}f}"
            slots[name] = fill(slots["currency"], amount=amount)
        elif kind == "%":
            form = text.percent[0 if rng.random() < text.percent_first_chance else 1]
            slots[name] = fill(form, number=digits(number))
        elif kind == "n" and number < len(text.number_words) and rng.random() < in_words:
            slots[name] = text.number_words[int(number)]
        else:
            slots[name] = digits(number)

    def tidy(self, text: str) -> str:
        """Remove the blanks that an empty choice leaves behind."""
        return text.strip().replace("  ", " ").replace(" ,", ",").replace(" ?", "?")

    def sentence(self, text: str) -> str:
        """Make a clause a sentence of its own."""
        return capitalize(text) + self.text.full_stop


language_of = cache(Language)
