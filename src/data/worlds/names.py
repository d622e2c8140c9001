"""Names of the people, towns, works, companies and events of a world. No name comes twice in one world."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from random import Random

from ...core.types import Lang, Record
from .grammar import capitalize, with_article
from .texts import Phrases, Words, load_text


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
        self.rng = rng
        self.rivers: Sequence[str] = lists.rivers
        self._tags = lists.tags
        self._used: set[str] = set()

    def tags(self, kind: str) -> Sequence[str]:
        """Return the descriptors that tell namesakes of this kind apart: professions, regions, trades."""
        return self._tags[kind]

    def person(self) -> tuple[str, bool]:
        """Return a new name and whether it is a woman's."""
        woman = self.rng.random() < 0.5
        return self._new(lambda: self._person(woman)), woman

    def town(self) -> str:
        return self._new(self._town)

    def work(self) -> str:
        return self._new(self._work)

    def company(self) -> str:
        return self._new(self._company)

    def event(self) -> str:
        return self._new(self._event)

    def _new(self, make: Callable[[], str]) -> str:
        """Return the first name from `make` that this world does not have yet."""
        while (name := make()) in self._used:
            pass
        self._used.add(name)
        return name

    def _joined(self, *lists: Sequence[str]) -> str:
        return "".join(map(self.rng.choice, lists))

    def _spaced(self, *lists: Sequence[str]) -> str:
        return " ".join(map(self.rng.choice, lists))

    @abstractmethod
    def _person(self, woman: bool) -> str: ...

    @abstractmethod
    def _town(self) -> str: ...

    @abstractmethod
    def _work(self) -> str: ...

    @abstractmethod
    def _company(self) -> str: ...

    @abstractmethod
    def _event(self) -> str: ...


class EnglishNames(Names):
    def __init__(self, rng: Random) -> None:
        self.lists = load_text("names_en.yaml", EnglishLists)
        super().__init__(self.lists, rng)

    def _surname(self) -> str:
        return self._joined(self.lists.surname_heads, self.lists.surname_tails)

    def _person(self, woman: bool) -> str:
        return f"{self.rng.choice(self.lists.women if woman else self.lists.men)} {self._surname()}"

    def _town(self) -> str:
        return self._joined(self.lists.town_heads, self.lists.town_tails)

    def _work(self) -> str:
        adjectives, nouns = self.lists.adjectives, self.lists.nouns
        form = self.rng.randrange(4)
        if form == 0:
            return f"The {self._spaced(adjectives, nouns)}"
        if form == 1:
            return f"{self.rng.choice(nouns)} of the {self.rng.choice(nouns)}"
        if form == 2:
            gift = capitalize(with_article(self.rng.choice(nouns)))
            return f"{gift} for {self.rng.choice(self.lists.women + self.lists.men)}"
        return f"{self._spaced(adjectives, nouns)}, {self._spaced(adjectives, nouns)}"

    def _company(self) -> str:
        if self.rng.random() < 0.6:
            return f"{self._surname()} {self.rng.choice(self.lists.company_tails)}"
        return self._spaced(self.lists.adjectives, self.lists.nouns, self.lists.company_tails)

    def _event(self) -> str:
        return self._spaced(self.lists.adjectives, self.lists.nouns, self.lists.event_tails)


class ChineseNames(Names):
    def __init__(self, rng: Random) -> None:
        self.lists = load_text("names_zh.yaml", ChineseLists)
        super().__init__(self.lists, rng)

    def _person(self, woman: bool) -> str:
        name = self._joined(self.lists.surnames, self.lists.given)
        return name + self.rng.choice(self.lists.given) if self.rng.random() < 0.8 else name

    def _town(self) -> str:
        return self._joined(self.lists.places, self.lists.places, self.lists.place_ends)

    def _work(self) -> str:
        return f"《{self._joined(self.lists.given, self.lists.places, self.lists.title_tails)}》"

    def _company(self) -> str:
        lists = self.lists
        return self._joined(lists.places, lists.places, lists.company_heads, lists.company_tails)

    def _event(self) -> str:
        return self._joined(self.lists.places, self.lists.given, self.lists.event_heads, self.lists.event_tails)


NAME_MAKERS: dict[Lang, Callable[[Random], Names]] = {"en": EnglishNames, "zh": ChineseNames}
