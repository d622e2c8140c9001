"""English as a `Tongue`."""

from __future__ import annotations

from random import Random

from ....core.types import Lang
from . import (
    en_land,
    en_more_goods,
    en_more_money,
    en_more_time,
    en_people,
    en_trade,
    en_work,
    scraps_en,
)
from .expr import Number
from .lexicon_en import (
    CURRENCIES,
    DOCUMENTS,
    FIELDS,
    MEN,
    MONTHS,
    NUMBER_WORDS,
    PLACE_HEADS,
    PLACE_TAILS,
    WHEN,
    WOMEN,
)
from .lists import entries, templates
from .tongue import Slots, digits, pick
from .wording import read_wordings


class English:
    lang: Lang = "en"

    def __init__(self) -> None:
        self.opening = read_wordings(en_trade.TEXT, en_work.TEXT, en_land.TEXT, en_people.TEXT)
        self.further = read_wordings(en_more_money.TEXT, en_more_goods.TEXT, en_more_time.TEXT)
        self.remarks = templates(scraps_en.REMARKS)
        self.leads = templates(scraps_en.LEADS)
        self.intros = templates(scraps_en.INTROS)
        self.lines = templates(scraps_en.LINES)
        self.documents = DOCUMENTS
        self.joints: tuple[str, ...] = (", and ", "; ", ", while ", "; besides, ", ", and besides ")
        self.plain_joints: tuple[str, ...] = ("; ",)
        self.tokens_per_character = 0.205
        self.fields = {name: entries(block) for name, block in FIELDS.items()} | {
            "when": entries(WHEN),
            "month": MONTHS,
            "pet": WOMEN + MEN,
            "N2": WOMEN + MEN,
        }

    def cast(self, slots: Slots, rng: Random) -> None:
        first = rng.random() < 0.5
        slots["N"] = pick(rng, WOMEN if first else MEN)
        slots["N2"] = pick(rng, WOMEN)
        while slots["N2"] == slots["N"]:
            slots["N2"] = pick(rng, WOMEN)
        slots["he"], slots["him"], slots["his"], slots["himself"] = (
            ("she", "her", "her", "herself") if first else ("he", "him", "his", "himself")
        )
        slots["currency"] = pick(rng, CURRENCIES)

    def place(self, kinds: tuple[str, ...], rng: Random) -> str:
        head, tail = pick(rng, PLACE_HEADS), pick(rng, PLACE_TAILS)
        return f"{head}{tail} {pick(rng, kinds)}"

    def title(self, document: str, place: str) -> str:
        return f"{document} of {place}"

    def noun(self, slot: str, category: str, slots: Slots, rng: Random) -> None:
        singular, _, plural = pick(rng, self.fields[category]).partition("/")
        slots[slot], slots[f"{slot}s"] = singular, plural or singular

    def filler(self, name: str, slots: Slots, rng: Random) -> str:
        if name.startswith("a "):
            word = slots[name[2:]]
            return f"{'an' if word[0] in 'aeiouAEIOU' and not word.startswith('uni') else 'a'} {word}"
        return pick(rng, self.fields[name])

    def quantity(self, name: str, kind: str, number: Number, slots: Slots, in_words: float, rng: Random) -> None:
        if kind == "M":
            slots[name], slots[f"next_{name}"] = MONTHS[int(number) - 1], MONTHS[int(number)]
        elif kind == "$":
            text = digits(number) if number.denominator == 1 else f"{float(number):.2f}"
            slots[name] = slots["currency"].replace("{}", text)
        elif kind == "%":
            slots[name] = digits(number) + (" percent" if rng.random() < 0.5 else "%")
        elif kind == "n" and number < len(NUMBER_WORDS) and rng.random() < in_words:
            slots[name] = NUMBER_WORDS[int(number)]
        else:
            slots[name] = digits(number)

    def tidy(self, text: str) -> str:
        return text.strip().replace("  ", " ").replace(" ,", ",").replace(" ?", "?")

    def sentence(self, text: str) -> str:
        return f"{text[0].upper()}{text[1:]}."

    def question(self, lead: str, text: str) -> str:
        text = self.tidy(f"{lead} {text}")
        return f"{text[0].upper()}{text[1:]}"
