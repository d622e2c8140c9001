"""Names of the people, towns, works, companies and events of a world. No name comes twice in one world."""

from __future__ import annotations

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


class Names:
    """Draws the names of one world in its language."""

    def __init__(self, lang: Lang, rng: Random) -> None:
        self.lists: EnglishLists | ChineseLists
        if lang == "en":
            self.lists = load_text("names_en.yaml", EnglishLists)
        else:
            self.lists = load_text("names_zh.yaml", ChineseLists)
        self.rng, self.rivers = rng, self.lists.rivers
        self.tags = self.lists.tags
        """Kind -> descriptors that tell namesakes apart: professions, regions, trades."""
        self._used: set[str] = set()

    def new(self, kind: str) -> str:
        """Draw a name that this world does not have yet."""
        woman = kind == "person" and self.rng.random() < 0.5
        while (name := self._draw(kind, woman)) in self._used:
            pass
        self._used.add(name)
        return name

    def _draw(self, kind: str, woman: bool) -> str:
        if isinstance(self.lists, ChineseLists):
            return _chinese_name(self.lists, self.rng, kind)
        return _english_name(self.lists, self.rng, kind, woman)


def _english_name(lists: EnglishLists, rng: Random, kind: str, woman: bool) -> str:
    pick = rng.choice

    def surname() -> str:
        return pick(lists.surname_heads) + pick(lists.surname_tails)

    def described() -> str:
        return f"{pick(lists.adjectives)} {pick(lists.nouns)}"

    if kind == "person":
        return f"{pick(lists.women if woman else lists.men)} {surname()}"
    if kind == "town":
        return pick(lists.town_heads) + pick(lists.town_tails)
    if kind == "company" and rng.random() < 0.6:
        return f"{surname()} {pick(lists.company_tails)}"
    if kind != "work":
        return f"{described()} {pick(lists.company_tails if kind == 'company' else lists.event_tails)}"
    form = rng.randrange(4)
    if form == 0:
        return f"The {described()}"
    if form == 1:
        return f"{pick(lists.nouns)} of the {pick(lists.nouns)}"
    if form == 2:
        return f"{capitalize(with_article(pick(lists.nouns)))} for {pick(lists.women + lists.men)}"
    return f"{described()}, {described()}"


def _chinese_name(lists: ChineseLists, rng: Random, kind: str) -> str:
    forms: dict[str, tuple[Words, ...]] = {
        "person": (lists.surnames, lists.given),
        "town": (lists.places, lists.places, lists.place_ends),
        "work": (lists.given, lists.places, lists.title_tails),
        "company": (lists.places, lists.places, lists.company_heads, lists.company_tails),
        "event": (lists.places, lists.given, lists.event_heads, lists.event_tails),
    }
    name = "".join(map(rng.choice, forms[kind]))
    if kind == "person" and rng.random() < 0.8:
        return name + rng.choice(lists.given)
    return f"《{name}》" if kind == "work" else name
