"""The user simulator: gives the hidden information to a question that asks for it, in whatever words, and no other.

    reply(sample, "Do you mean the botanist or the linguist?")     # 'Sorry, the linguist'

It follows rules, without chance. A quantity is found by competitive matching (`quantity_questions.py`). A referent or a
year is found by what the question points at: its name, its kind, or the readings that the material offers
(`Hidden.readings`). A choice among readings gets the right one, a right guess a yes, a wrong guess a no. The words,
synonyms and patterns of both languages are in `templates/user_simulator.json`.

The gold answer is never read. A question that gets nothing gets the same words whether or not something is missing, so
that an ask does not reveal the label. "Please clarify" is asked back; a repeated prompt and ten questions in one get
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache

from ..core.files import package_json
from ..core.tokenize import words
from ..core.types import Hidden, Lang, Sample
from .concepts import Concepts, concepts_of, fold, language, names_in, normalize, token_of, tokens, union
from .quantity_questions import Quantity, Verdict

REPLIES: dict[str, dict[Lang, str]] = package_json("templates/dialogue.json")["user"]
"""Fixed texts of the user, by kind and language."""
_UNINFORMATIVE = {text for kind in ("ask_back", "refusal", "no", "evasive") for text in REPLIES[kind].values()}
MOST_QUESTIONS = 3
MOST_WORDS = 60
"""Longest ask, in different content words."""
REPEATED = 0.6
"""Share of the prompt's words from which an ask counts as a repetition of the prompt."""


def reply(sample: Sample, ask: str) -> str:
    """The user's reply to a question. The same question always gets the same reply."""
    lang, asked = sample.lang, normalize(ask, sample.lang)
    if sample.hidden is not None:
        titles = tuple(article.title for article in sample.context)
        slot = _slot(sample.hidden, lang, sample.prompt, sample.question, sample.original, titles)
        parts = _questions(asked, lang)
        verdicts = [] if slot.is_fishing(asked, parts) else [slot.understand(part) for part in parts]
        if len(verdicts) > 1 and not any(verdicts):
            parts, verdicts = [asked], [slot.understand(asked)]
        if found := [verdict for verdict in verdicts if verdict]:
            said = _said(sample, sample.hidden, "give" if "give" in found else found[0])
            more = any(verdict is None and _asks(part, lang) for part, verdict in zip(parts, verdicts, strict=True))
            return REPLIES["rest"][lang].format(said=said) if more and informs(said) else said
    return REPLIES["refusal" if tokens(asked, lang) else "ask_back"][lang]


def informs(said: str) -> bool:
    """Whether a reply gives information, judged by the reply alone."""
    return said not in _UNINFORMATIVE


def gives(hidden: Hidden, lang: Lang, said: str) -> bool:
    """Whether a text contains the hidden information: its numbers, or words that only the intended reading has."""
    text, span, numbers = fold(said), fold(hidden.span), language(lang).find["number"]
    if span in text:
        return True
    if hidden.kind in ("quantity", "condition", "year"):
        return bool(numbers.search(span)) and set(numbers.findall(span)) <= set(numbers.findall(text))
    return 0 in Pointing(_slot(hidden, lang, "", "", "", ()), text).mentioned


def _said(sample: Sample, hidden: Hidden, verdict: Verdict) -> str:
    """The user's words: the hidden information as the demonstration words it, or yes or no."""
    if verdict == "give":
        for turn, after in zip(sample.dialogue, sample.dialogue[1:], strict=False):
            if turn.act == "ask" and after.by == "user" and hidden.span in after.text:
                return after.text
    # With two readings, no to one names the other.
    kind = "no_but" if verdict == "no" and len(hidden.readings) == 2 else verdict
    return REPLIES[kind][sample.lang].format(span=hidden.span)


def _questions(asked: str, lang: Lang) -> list[str]:
    """The questions of an ask; a statement belongs to the question after it."""
    pieces = language(lang).find["question_end"].split(asked)
    return [piece for piece in pieces if piece.strip(" ?!.。！")] or [asked]


def _asks(part: str, lang: Lang) -> bool:
    """Whether a part of an ask is a question with content of its own."""
    is_question = language(lang).find["question_word"].search(part) is not None
    return is_question and any(not token.soft for token in tokens(part, lang))


class Slot:
    """The hidden information of a sample, prepared for comparison with questions."""

    def __init__(
        self, hidden: Hidden, lang: Lang, prompt: str, question: str, original: str, titles: Sequence[str]
    ) -> None:
        self.hidden, self.lang, self.lists = hidden, lang, language(lang)
        self.prompt, self.question, self.original = prompt, question, original
        self.missing = normalize(hidden.missing, lang)
        self.name = _bare(hidden.about[0]) if hidden.about else ""
        """The name or the noun that is referred to; for a year, whose fact it is."""
        self.name_words = [token.concepts for token in tokens(self.name, lang)]
        self.kind_words = concepts_of(hidden.about[1:], lang)
        self.readings = [[fold(phrase).strip("《》") for phrase in reading] for reading in hidden.readings]
        own = {self.name, *(_bare(phrase) for reading in self.readings for phrase in reading)}
        self.other_titles = sorted({_bare(title) for title in titles} - own, key=len, reverse=True)

    def understand(self, asked: str) -> Verdict | None:
        """What a question in lower case gets; None where it is not about the hidden information.

        What comes before its last clause may have nothing to do with it: `Sorry, bad line; how many eggs was it?`
        """
        if self.missing in asked:
            return "give"
        verdict = self._understand(asked)
        if verdict is None:
            *before, last = self.lists.find["clause"].split(asked)
            if before and (self.hidden.kind not in ("entity", "subject") or self.name in last):
                return self._understand(last)
        return verdict

    def _understand(self, asked: str) -> Verdict | None:
        if self.hidden.kind in ("quantity", "condition"):
            return self.quantity.understand(asked)
        return _year(self, asked) if self.hidden.kind == "year" else _referent(self, asked)

    def is_fishing(self, asked: str, parts: Sequence[str]) -> bool:
        """Whether an ask is for everything at once: many questions, or the prompt again."""
        said = {token.concepts for token in tokens(asked, self.lang)}
        if len(parts) > MOST_QUESTIONS or len(said) > MOST_WORDS:
            return True
        return len(said) > 8 and len(self.prompt_words & said) > REPEATED * len(self.prompt_words)

    @cached_property
    def quantity(self) -> Quantity:
        return Quantity(self.hidden, self.lang, self.prompt, self.question, self.original)

    @cached_property
    def prompt_names(self) -> Concepts:
        return names_in(self.prompt, self.lang)

    @cached_property
    def prompt_words(self) -> set[Concepts]:
        return {token.concepts for token in tokens(fold(self.prompt), self.lang)}

    @cached_property
    def known(self) -> Concepts:
        """Concepts of the name, of its kind and of all readings."""
        return self.kind_words.union(*self.name_words, *self.reading_words)

    @cached_property
    def reading_words(self) -> list[Concepts]:
        return [concepts_of(reading, self.lang) for reading in self.readings]

    @cached_property
    def telling(self) -> list[Concepts]:
        """Concepts that only one reading has, by reading."""
        common, own = self.kind_words.union(*self.name_words), self.reading_words
        return [own[at] - common.union(*own[:at], *own[at + 1 :]) for at in range(len(own))]

    @cached_property
    def phrases(self) -> list[tuple[str, int]]:
        """Phrases that name a reading, the longest first, with the number of the reading."""
        found = {(phrase, at) for at, own in enumerate(self.readings) for phrase in own if phrase != self.name}
        if self.lang == "en":
            found = {(f" {' '.join(words(phrase))} ", at) for phrase, at in found}
        else:
            found |= {(re.sub("(?<=..)[省道河江溪水年]$", "", phrase), at) for phrase, at in found}
        return sorted(found, key=lambda pair: (-len(pair[0]), pair))

    @cached_property
    def relation(self) -> Concepts:
        """Concepts of the fact whose year is missing."""
        is_time = self.lists.find["time_word"].fullmatch
        return concepts_of((word for word in self.hidden.about[1:] if not is_time(word)), self.lang)


@lru_cache(maxsize=4096)
def _slot(hidden: Hidden, lang: Lang, prompt: str, question: str, original: str, titles: tuple[str, ...]) -> Slot:
    return Slot(hidden, lang, prompt, question, original, titles)


def _bare(name: str) -> str:
    """A title in lower case without its bracket and quotation marks."""
    return re.sub(r"\s*\([^()]*\)$", "", fold(name)).strip("《》 ")


class Pointing:
    """What a question points at."""

    def __init__(self, slot: Slot, asked: str) -> None:
        self.slot = slot
        text = asked
        for title in slot.other_titles:
            text = text.replace(title, " ")
        self.named = self._is_named(text)
        self.adjacent = self._which_of_it(text)
        self.mentioned, rest = self._readings(text.replace(slot.name, " ") if slot.lang == "zh" and slot.name else text)
        said = tokens(rest, slot.lang)
        others = [token for token in said if not token.concepts & slot.known and not token.soft]
        names = [token for token in others if token.concepts & slot.prompt_names]
        self.other = text != asked or bool(names)
        """Whether it names something else of the prompt or of the articles."""
        self.foreign = len(others) - len(names)
        """Number of words that belong to nothing known."""
        self.attribute = any(token.concepts & slot.lists.attributes for token in others)
        """Whether it asks for a fact that articles state."""
        self.kind = any(token.concepts & slot.kind_words for token in said)
        self.related = slot.hidden.kind == "year" and any(
            token.concepts & slot.relation and not token.soft for token in said
        )
        self.which, self.points, self.chooses, self.yes_no, self.how_many, self.time, self.bare = (
            slot.lists.find[name].search(rest) is not None
            for name in ("which", "points", "or", "yes_no", "how_many", "time", "bare")
        )

    def _is_named(self, asked: str) -> bool:
        """Whether a question has the name that is referred to, or half of its words."""
        slot = self.slot
        if slot.lang == "zh":
            return bool(slot.name) and slot.name in asked
        present = union(token.concepts for token in tokens(asked, slot.lang))
        hits = sum(bool(name & present) for name in slot.name_words)
        return hits > 0 and 2 * hits >= len(slot.name_words)

    def _readings(self, asked: str) -> tuple[list[int], str]:
        """Numbers of the readings that a question names, and a Chinese question without them.

        A reading is named by one of its phrases, the longest first, or by a word that only it has.
        """
        slot, found = self.slot, set[int]()
        if slot.lang == "zh":
            for phrase, at in slot.phrases:
                if phrase in asked:
                    found.add(at)
                    asked = asked.replace(phrase, " ")
            return sorted(found), asked
        spaced = f" {' '.join(words(asked))} "
        said = [concept for token in tokens(asked, "en") for concept in token.concepts]
        found.update(at for phrase, at in slot.phrases if phrase in spaced)
        for at, telling in enumerate(slot.telling):
            if any(_alike(concept, own) for concept in said for own in telling):
                found.add(at)
        return sorted(found), asked

    def _which_of_it(self, asked: str) -> bool:
        """Whether *which* stands right before the name or the kind of thing: `which other Lund`, 哪位林宁."""
        slot = self.slot
        if slot.lang == "zh":
            before, name, after = asked.partition(slot.name)
            return bool(name) and not {"哪", "何"}.isdisjoint(before[-4:] + after[:6])
        text = words(asked)
        for at, word in enumerate(text):
            for near in text[at + 1 : at + 5] if word in ("which", "what") else ():
                if near in _VERBS:
                    break
                token = token_of(near, "en")
                if token is not None and any(token.concepts & known for known in (slot.kind_words, *slot.name_words)):
                    return True
        return False


_VERBS = frozenset("is was are were does did do s has have had".split())


def _alike(one: str, other: str) -> bool:
    """The same concept, or the same root: `botany` and `botanist`."""
    short = min(len(one), len(other)) - 2
    return one == other or (short > 2 and one[0] != "=" and one[:5] == other[:5] and one[:short] == other[:short])


def _referent(slot: Slot, asked: str) -> Verdict | None:
    it = Pointing(slot, asked)
    if it.foreign > (12 if it.named and len(it.mentioned) > 1 else 5 if it.named else 2):
        return None
    if len(it.mentioned) > 1 or (it.mentioned and it.chooses):
        return "give"
    if it.mentioned:
        if it.attribute or it.how_many or it.foreign > 3:
            return None
        if it.which and not it.yes_no:
            return "give" if it.points or it.adjacent else None
        return "yes" if it.mentioned == [0] else "no"
    if not it.named and (it.other or it.foreign or not it.kind):
        return "give" if it.bare and not it.foreign and not it.other else None
    if it.time and not it.kind and not it.bare:
        return None
    if it.adjacent and (it.points or not it.attribute):
        return "give"
    if it.attribute or it.how_many:
        return None
    if it.chooses and it.named:
        return "give"
    if it.which:
        return "give" if it.points or not it.foreign else None
    if it.named and it.yes_no and (it.other or 0 < it.foreign < 4):
        return "no"
    return "give" if it.points and it.foreign < 2 and not it.yes_no else None


def _year(slot: Slot, asked: str) -> Verdict | None:
    it = Pointing(slot, asked)
    years = [set(_YEAR.findall(reading[0])) for reading in slot.readings]
    named = set(_YEAR.findall(asked))
    mentioned = [at for at, own in enumerate(years) if own & named] or it.mentioned
    if len(mentioned) > 1 or (mentioned and it.chooses):
        return "give"
    if it.attribute and not it.related:
        return None
    if it.time and not (it.attribute and it.foreign > 2):
        return "give"
    if it.how_many or (it.which and not it.points):
        return None
    if mentioned and not it.which:
        return "yes" if mentioned == [0] else "no"
    if it.which:
        return "give" if it.related and not it.attribute and it.foreign < 3 else None
    return "no" if named and it.yes_no and it.foreign < 2 else None


_YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")
