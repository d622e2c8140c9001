"""Names of the people, towns, works, companies and events of a world. No name comes twice in one world."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from random import Random

from ...core.types import Lang, Record
from .texts import Phrases, Words, capitalize, load_text, with_article


class EnglishLists(Record, frozen=True):
    """`names_en.yaml`."""

    women: Words
    men: Words
    surname_heads: Words
    surname_tails: Words
    town_heads: Words
    town_tails: Words
    adjectives: Words
    nouns: Words
    company_tails: Phrases
    event_tails: Phrases
    rivers: Words
    tags: dict[str, Phrases]


class ChineseLists(Record, frozen=True):
    """`names_zh.yaml`."""

    surnames: Words
    given: Words
    places: Words
    place_ends: Words
    title_tails: Words
    company_heads: Words
    company_tails: Words
    event_heads: Words
    event_tails: Words
    rivers: Words
    tags: dict[str, Phrases]


class Names(ABC):
    """Base class of the name makers. Subclasses know how a language builds names from its lists."""

    def __init__(self, lists: EnglishLists | ChineseLists, rng: Random) -> None:
        self.rng, self.rivers = rng, lists.rivers
        self.tags = lists.tags
        """Kind -> descriptors that tell namesakes apart: professions, regions, trades."""
        self._used: set[str] = set()

    def new(self, kind: str) -> str:
        """Draw a name that this world does not have yet."""
        woman = kind == "person" and self.rng.random() < 0.5
        while (name := self.draw(kind, woman)) in self._used:
            pass
        self._used.add(name)
        return name

    @abstractmethod
    def draw(self, kind: str, woman: bool) -> str:
        """Draw any name of a kind."""


class EnglishNames(Names):
    def __init__(self, rng: Random) -> None:
        self.lists = load_text("names_en.yaml", EnglishLists)
        super().__init__(self.lists, rng)

    def draw(self, kind: str, woman: bool) -> str:
        lists, pick = self.lists, self.rng.choice
        if kind == "person":
            return f"{pick(lists.women if woman else lists.men)} {self._surname()}"
        if kind == "town":
            return pick(lists.town_heads) + pick(lists.town_tails)
        if kind == "work":
            return self._title()
        if kind == "company" and self.rng.random() < 0.6:
            return f"{self._surname()} {pick(lists.company_tails)}"
        return f"{self._described()} {pick(lists.company_tails if kind == 'company' else lists.event_tails)}"

    def _surname(self) -> str:
        return self.rng.choice(self.lists.surname_heads) + self.rng.choice(self.lists.surname_tails)

    def _described(self) -> str:
        return f"{self.rng.choice(self.lists.adjectives)} {self.rng.choice(self.lists.nouns)}"

    def _title(self) -> str:
        lists, pick = self.lists, self.rng.choice
        form = self.rng.randrange(4)
        if form == 0:
            return f"The {self._described()}"
        if form == 1:
            return f"{pick(lists.nouns)} of the {pick(lists.nouns)}"
        if form == 2:
            return f"{capitalize(with_article(pick(lists.nouns)))} for {pick(lists.women + lists.men)}"
        return f"{self._described()}, {self._described()}"


class ChineseNames(Names):
    def __init__(self, rng: Random) -> None:
        lists = self.lists = load_text("names_zh.yaml", ChineseLists)
        super().__init__(lists, rng)
        self.forms: dict[str, tuple[Words, ...]] = {
            "person": (lists.surnames, lists.given),
            "town": (lists.places, lists.places, lists.place_ends),
            "work": (lists.given, lists.places, lists.title_tails),
            "company": (lists.places, lists.places, lists.company_heads, lists.company_tails),
            "event": (lists.places, lists.given, lists.event_heads, lists.event_tails),
        }

    def draw(self, kind: str, woman: bool) -> str:
        name = "".join(map(self.rng.choice, self.forms[kind]))
        if kind == "person" and self.rng.random() < 0.8:
            return name + self.rng.choice(self.lists.given)
        return f"《{name}》" if kind == "work" else name


NAME_MAKERS: dict[Lang, Callable[[Random], Names]] = {"en": EnglishNames, "zh": ChineseNames}
