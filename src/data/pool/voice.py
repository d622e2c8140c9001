"""The voice of the demonstrations: how the assistant thinks and asks, in `templates/voice_*.yaml`.

Personas and registers belong to the user. The assistant has one neutral voice for all templates, so that a policy
learns when to ask and not a manner of speaking.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from random import Random
from typing import Literal

from askgate_env.tokenize import occurs
from askgate_env.types import LANGS, Hidden, Lang, Record, Turn

from ...core.files import sha256_file, shipped
from ..worlds.texts import Lines, Parts, capitalize, compiled, load_text, render
from .source import Thought

FOLDER = Path("templates")
SILENT = 0.25
"""Share of the tool calls and answers without a thought. An ask always has one: its reason."""
OPTIONS_SHARE = 0.5
"""Share of the asks that list the options, where the tool replies showed them and the ask can name its subject without
them. Others always list them."""
MAX_OPTIONS = 4
PLAIN_ASKS = 4
"""Number of the first forms of an ask that say nothing about why."""
UNCLEAR: dict[str, Thought] = {"year": "unclear_year", "quantity": "unclear_quantity", "entity": "unclear_name"}
"""Kind of what is hidden -> reason for the ask."""

_YEAR = re.compile(r"\d{3,4}")
_LAST_NUMBER = re.compile(r" (\d{1,2})$")

Ask = Literal["entity", "entity_options", "year", "year_options", "quantity"]


class VoiceText(Record, frozen=True):
    """`voice_*.yaml`."""

    thoughts: dict[Thought, Lines]
    asks: dict[Ask, Lines]
    options_gap: str
    options_last: str
    facts: dict[str, str]
    """Fact (`founder`, or `person.tag`) -> how a thought names it."""
    options_both: str = ""
    """Text before the last of several years: `1875 and 1901`."""


class Voice:
    """Thoughts and asks in one language."""

    def __init__(self, lang: Lang) -> None:
        self.lang = lang
        self.text = load_text(f"voice_{lang}.yaml", VoiceText, FOLDER)

    def thought(self, kind: Thought, rng: Random, **slots: str) -> str:
        return capitalize(render(rng.choice(self.text.thoughts[kind]), rng, slots))

    def ask(self, hidden: Hidden, seen: Sequence[str], rng: Random) -> tuple[str, str]:
        """Return the reason for an ask and the ask, after the tool replies in `seen`."""
        # The reasons and most forms speak of names, years, figures and pages, which do not fit a sense, a preference or
        # a premise, nor an ask before anything was looked up.
        is_plain = hidden.kind not in UNCLEAR or not seen
        kind: Ask = hidden.kind if hidden.kind in ("year", "quantity") and not is_plain else "entity"
        reasons = [] if is_plain else self._fitting(self.text.thoughts[UNCLEAR[hidden.kind]], hidden, seen)
        reason = capitalize(render(rng.choice(reasons), rng, {})) if reasons else ""
        options = [] if occurs(hidden.span, hidden.missing) else _options(hidden, seen)
        # `The Early Ship` where the subject is `work called "The Early Ship"`.
        name = hidden.subject.rpartition(" called ")[2].removeprefix("the ").strip('"')
        slots = {"missing": hidden.missing, "subject": hidden.subject, "name": name}
        # Of namesakes with the same tag, `您说的安泰工厂是哪一家` does not say what distinguishes them.
        must_list = not hidden.subject or (self.lang == "zh" and _same_tag(hidden))
        if len(options) > 1 and kind != "quantity" and (rng.random() < OPTIONS_SHARE or must_list):
            rng.shuffle(options)
            if all(map(_YEAR.search, options)):
                options.sort(key=lambda option: int(_YEAR.findall(option)[-1]))
            elif all(map(_LAST_NUMBER.search, options)):  # `season 2`
                options.sort(key=lambda option: int(_LAST_NUMBER.findall(option)[0]))
            kind = "year_options" if kind == "year" else "entity_options"
            slots["options"] = self.text.options_gap.join(options[:-1]) + self.text.options_last + options[-1]
            slots["years"] = self.text.options_gap.join(options[:-1]) + self.text.options_both + options[-1]
        # Every ask names what it is about, also one that lists options.
        names = ("{missing}", "{subject}", "{name}") if hidden.subject else ("{missing}",)
        forms = [form for form in self.text.asks[kind] if any(name in form for name in names)]
        forms = self._fitting(forms, hidden, seen)
        if is_plain:
            forms = forms[:PLAIN_ASKS]
        elif kind == "entity" and hidden.subject and self.lang == "zh":
            forms = forms[PLAIN_ASKS:]  # `您说的周安是哪一位` alone does not say that there are namesakes
        return reason, capitalize(render(rng.choice(forms), rng, slots))

    def _fitting(self, lines: Sequence[str], hidden: Hidden, seen: Sequence[str]) -> list[str]:
        """Return the lines that speak of a name, an article or two candidates only where there is one, or two."""
        if self.lang == "zh":
            return list(lines)
        unfit = []
        if hidden.kind != "quantity" and not re.search("[A-Z]", hidden.missing):
            unfit.append("name")  # `which director you mean` has no name that several articles could share
        if hidden.kind == "year" and all(text.startswith("1. ") for text in seen):
            unfit.append("article|page|changed|figures|always")  # only search results were seen
        if len(hidden.readings) > 2:
            unfit.append("two|both")
        pattern = re.compile(rf"\b(?:{'|'.join(unfit)})\b", re.I) if unfit else None
        return [line for line in lines if pattern is None or not pattern.search(line)]

    def fact(self, name: str) -> str:
        """Return how a thought names a fact; a fact that the voice does not know is named by its own words."""
        return self.text.facts.get(name) or self.text.facts.get(name.rpartition(".")[2], name)

    def matches(self, turn: Turn) -> bool:
        """Whether thought and ask of an assistant's turn are in this voice."""
        thoughts, asks = _patterns(self.lang)
        ask_matches = turn.act != "ask" or asks.fullmatch(turn.text) is not None
        return ask_matches and _is_thought(turn.thought, thoughts)


def _options(hidden: Hidden, seen: Sequence[str]) -> list[str]:
    """Return the readings that the tool replies named: none if there are too many to list, or only one."""
    shown = [reading for reading in hidden.readings if any(occurs(phrase, text) for phrase in reading for text in seen)]
    if len(shown) != len(hidden.readings) or not 2 <= len(shown) <= MAX_OPTIONS:
        return []
    if hidden.kind != "year":
        return [reading[0] for reading in shown]
    years = [re.search(r"\d{3,4}年?", reading[0]) for reading in shown]
    return [year[0] if year else reading[0] for year, reading in zip(years, shown, strict=True)]


def _same_tag(hidden: Hidden) -> bool:
    """Whether a fact beside the tag tells the namesakes apart, as in the titles of their articles."""
    return hidden.kind == "entity" and any(
        reading[-1].endswith(f"，{reading[-2]}）") for reading in hidden.readings if len(reading) > 1
    )


@lru_cache(maxsize=100_000)
def _is_thought(text: str, thoughts: re.Pattern[str]) -> bool:
    """Whether a text is one thought, or the one after a reply and another one."""
    return not text or thoughts.fullmatch(text) is not None


@cache
def _patterns(lang: Lang) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns that match the thoughts and the asks of a language."""
    text = voice_in(lang).text
    any_thought = "|".join(_pattern(line) for lines in text.thoughts.values() for line in lines)
    after = "|".join(_pattern(line) for line in text.thoughts["after_reply"])
    asks = "|".join(_pattern(line) for lines in text.asks.values() for line in lines)
    return re.compile(f"(?:(?:{after}) ?)?(?:{any_thought})?", re.I | re.S), re.compile(asks, re.I | re.S)


def _pattern(template: str) -> str:
    return _alternatives((compiled(template),))


def _alternatives(options: tuple[Parts, ...]) -> str:
    return "(?:" + "|".join("".join(map(_part, parts)) for parts in options) + ")"


def _part(part: str | tuple[str] | tuple[tuple[Parts, ...], int]) -> str:
    if isinstance(part, str):
        return re.escape(part)
    if len(part) == 2:
        return _alternatives(part[0])
    return r"[-+*/()%<>=.\d ]+" if part[0] == "expression" else ".+"


voice_in = cache(Voice)


def voice_fingerprints() -> dict[str, str]:
    """SHA-256 of the voice files by name, for the sidecar of a pool."""
    return {f"voice_{lang}.yaml": sha256_file(shipped(FOLDER / f"voice_{lang}.yaml")) for lang in LANGS}
