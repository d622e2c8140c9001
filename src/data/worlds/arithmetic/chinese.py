"""Chinese as a `Tongue`."""

from __future__ import annotations

from random import Random

from ....core.types import Lang
from . import (
    scraps_zh,
    zh_land,
    zh_more_goods,
    zh_more_money,
    zh_more_time,
    zh_people,
    zh_trade,
    zh_work,
)
from .expr import Number
from .lexicon_zh import (
    CURRENCIES,
    DOCUMENTS,
    FIELDS,
    MEN,
    NUMBER_WORDS,
    PLACE_HEADS,
    PLACE_TAILS,
    SURNAMES,
    WHEN,
    WOMEN,
)
from .lists import entries, templates
from .tongue import Slots, digits, pick
from .wording import read_wordings


class Chinese:
    lang: Lang = "zh"

    def __init__(self) -> None:
        self.opening = read_wordings(zh_trade.TEXT, zh_work.TEXT, zh_land.TEXT, zh_people.TEXT)
        self.further = read_wordings(zh_more_money.TEXT, zh_more_goods.TEXT, zh_more_time.TEXT)
        self.remarks = templates(scraps_zh.REMARKS)
        self.leads = templates(scraps_zh.LEADS)
        self.intros = templates(scraps_zh.INTROS)
        self.lines = templates(scraps_zh.LINES)
        self.documents = DOCUMENTS
        self.joints: tuple[str, ...] = ("，", "；", "，而", "，同时", "，另外")
        self.plain_joints: tuple[str, ...] = ("，", "；")
        self.tokens_per_character = 0.96
        self.fields = {name: entries(block) for name, block in FIELDS.items()} | {
            "when": entries(WHEN),
            "month": tuple(f"{month}月" for month in range(1, 13)),
        }

    def cast(self, slots: Slots, rng: Random) -> None:
        first = rng.random() < 0.5
        slots["N"] = self._person(first, rng)
        slots["N2"] = self._person(True, rng)
        while slots["N2"] == slots["N"]:
            slots["N2"] = self._person(True, rng)
        slots["he"] = slots["him"] = slots["his"] = "她" if first else "他"
        slots["currency"] = pick(rng, CURRENCIES)

    def _person(self, woman: bool, rng: Random) -> str:
        return pick(rng, SURNAMES) + pick(rng, WOMEN if woman else MEN)

    def place(self, kinds: tuple[str, ...], rng: Random) -> str:
        return pick(rng, PLACE_HEADS) + pick(rng, PLACE_TAILS) + pick(rng, kinds)

    def title(self, document: str, place: str) -> str:
        return f"{place}{document}"

    def noun(self, slot: str, category: str, slots: Slots, rng: Random) -> None:
        noun, _, measure = pick(rng, self.fields[category]).partition("/")
        slots[slot], slots[f"{slot}_m"] = noun, measure or "份"

    def filler(self, name: str, slots: Slots, rng: Random) -> str:
        return self._person(True, rng) if name == "N2" else pick(rng, self.fields[name])

    def quantity(self, name: str, kind: str, number: Number, slots: Slots, in_words: float, rng: Random) -> None:
        if kind == "M":
            slots[name], slots[f"next_{name}"] = f"{int(number)}月", f"{int(number) + 1}月"
        elif kind == "$":
            slots[name] = slots["currency"].replace("{}", digits(number))
        elif kind == "%":
            slots[name] = f"{digits(number)}%" if rng.random() < 0.6 else f"百分之{digits(number)}"
        elif kind == "n" and number < len(NUMBER_WORDS) and rng.random() < in_words:
            slots[name] = NUMBER_WORDS[int(number)]
        else:
            slots[name] = digits(number)

    def tidy(self, text: str) -> str:
        return text.strip()

    def sentence(self, text: str) -> str:
        return f"{text}。"

    def question(self, lead: str, text: str) -> str:
        return lead + text
