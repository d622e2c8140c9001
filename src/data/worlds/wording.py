"""Wording of the encyclopedia in one language: articles, mentions, questions and the phrases around them."""

from __future__ import annotations

import re
from functools import cache
from random import Random
from typing import Literal

from msgspec import field

from askgate_env.types import Lang, Level, Record

from .encyclopedia import Entity, Facts, Value
from .texts import Lines, Words, capitalize, fill, load_text, render, with_article

KNOWN_FOR_RATE = 0.7
"""Share of the articles that say what their subject is known for, where the language has such phrases."""
_PREPOSITION = re.compile(r"\b(?:of|in|at|for|to|by) \{x\}")
LONG_DESCRIPTION = 6
"""Most words of a description in the middle of a question."""
Sentence = tuple[str, tuple[str, ...]]
"""A sentence and the relations that it states."""


class ArticleSentence(Record, frozen=True):
    """Variants of one sentence of an article."""

    states: Words
    text: Lines
    more: tuple[str, ...] = ()
    """Continuations for a second and later value of a relation that changes over time."""
    again: str = ""
    """Continuation if the second value is the first one again."""
    place: int | None = None
    """Place in the article, where it is not the last."""


class ArticleText(Record, frozen=True):
    """`articles_*.yaml`."""

    full_stop: str
    sentence_gap: str
    title: str
    title_with_fact: str
    pages: dict[str, tuple[ArticleSentence, ...]]
    known_for_phrase: str = ""
    known_for: dict[str, Lines] = field(default_factory=dict)


class QuestionText(Record, frozen=True):
    """`questions_*.yaml`."""

    answer_yes: str
    answer_no: str
    year_phrase: str
    year_span: str
    """A year as a reply gives it."""
    nests_at: Literal["start", "end"]
    """Position of a nested noun phrase in its phrase: English nests at the end (`the teacher of {x}`)."""
    amount_of_year: str
    amount_of_year_bracketed: str
    far_share: dict[Level, float]
    """Share of the wanted paraphrase that each level gets: phrases that keep their distance from the article."""
    mention: dict[str, str]
    mention_with_tag: dict[str, str]
    which: Lines
    which_year: Lines
    year_facts: dict[str, str]
    """Relation that changes over time -> the fact whose year a clarifying question asks for."""
    tag_span: dict[str, str]
    fact_span: dict[str, str]
    year_words: Words
    relation_words: dict[str, Words]
    """Relation that changes over time -> words of a question about its year."""
    kind_words: dict[str, Words]
    """Kind of entity -> words that ask which of its namesakes is meant."""
    fact_words: dict[str, Words]
    """`kind_words` for namesakes that a fact tells apart because they have the same tag."""
    queries: dict[str, str]
    nouns: dict[str, Lines]
    stand_ins: dict[str, Lines]
    """Relation that led to the subject, or kind of the subject -> how a question after a lead names it."""
    leads: Lines
    """Said before a question that then uses a stand-in."""
    asides_two: Lines
    """Said before hard questions: two articles that do not help."""
    asides_one: Lines
    asks: dict[str, Lines]
    """`kind.relation` -> questions for that fact."""
    comparisons: dict[str, tuple[dict[Literal["min", "max"], str], ...]]
    """`kind.relation` -> questions which of two has the smaller or the larger value."""
    strategy: dict[str, Lines]
    """Name of a yes/no family -> its questions. They say exactly what the family tests and no more."""
    answer_forms: dict[str, Lines] = field(default_factory=dict)
    """Relation -> other ways to write a value of it as an answer: with its unit, with a preposition."""
    measure_words: dict[str, str] = field(default_factory=dict)
    called: dict[str, str] = field(default_factory=dict)
    """Kind of entity -> what `which` asks for where its name alone does not fit: `which work called "The Mill"`."""
    called_with_tag: dict[str, str] = field(default_factory=dict)
    """`called` where the user gave the tag too: `which poet called Ida Moss`."""
    year_owner: dict[str, str] = field(default_factory=dict)
    """Relation -> how a clarifying question names the owner of a fact that the question only describes by it."""
    direct: Words = Words()
    """First words of the questions that may follow a lead; any may where there are none."""


class WorldText:
    """The wording of the encyclopedia in one language."""

    def __init__(self, lang: Lang) -> None:
        self.articles = load_text(f"articles_{lang}.yaml", ArticleText)
        self.questions = load_text(f"questions_{lang}.yaml", QuestionText)

    def year_phrase(self, year: int | None) -> str:
        """Return ` in 1931`, or nothing without a year."""
        return fill(self.questions.year_phrase, year=year) if year else ""

    def mention(self, kind: str, name: str, tag: str) -> str:
        """Return the name as a text mentions it, with its tag where one is given."""
        forms = self.questions.mention_with_tag if tag else self.questions.mention
        return fill(forms[kind], name=name, tag=tag)

    def amount(self, phrase: str, year: int | None) -> str:
        """Return a phrase for an amount with its year, in brackets where it could be taken for a part of the phrase.
        `Harrow Mills in 1931`, but `the firm that Ida Moss joined (figures of 1931)`."""
        if year is None:
            return phrase
        is_long = self._may_hold_a_year(phrase)
        form = self.questions.amount_of_year_bracketed if is_long else self.questions.amount_of_year
        return fill(form, phrase=phrase, year=year)

    def _may_hold_a_year(self, phrase: str) -> bool:
        """Whether a phrase is more than a name, so that a year after it could be taken for a part of it."""
        return any(word != "the" and word.islower() for word in phrase.split())

    def compare(self, form: str, phrases: list[str], years: list[int | None], n: int) -> str:
        """Word a yes/no question about two phrases. `{a_when}` and `{b_when}` are places of their years."""
        slots: dict[str, str | int] = {"n": n}
        for slot, phrase, year in zip("ab", phrases, years, strict=True):
            own_place = f"{{{slot}_when}}" in form and not self._may_hold_a_year(phrase)
            slots[slot] = phrase if own_place else self.amount(phrase, year)
            slots[f"{slot}_when"] = self.year_phrase(year) if own_place else ""
        return fill(form, **slots)

    def several(self, kind: str, name: str, tag: str) -> str:
        """Return what several entities of one name are, after `which` and `more than one`: `Hidden Mill Cup`, but
        `work called "The Early Ship"`."""
        form = self.questions.called_with_tag.get(kind) if tag else self.questions.called.get(kind)
        return fill(form, name=name, tag=tag) if form else self.mention(kind, name, tag).removeprefix("the ")

    def describe(self, form: str, name: str, year: int | None) -> str:
        """Word a noun phrase with its year last: `the firm that hired Ida Moss in 1931`."""
        if self.questions.nests_at == "end" and form.endswith("{x}"):
            form = form.replace("{when}", "") + "{when}"
        if name.endswith("s"):
            form = form.replace("{x}'s", "{x}'")
        return fill(form, x=name, when=self.year_phrase(year), year=year or "")

    def fitting(self, forms: tuple[str, ...], description: str, when: str) -> tuple[str, ...]:
        """Return the questions that fit a description, or a name where it is empty.

        A year after a description could be a part of it: `the mayor of the town where Ida Moss was born in 1931`. Long
        descriptions come last.
        """
        if self.questions.nests_at == "start":
            return self.without_stacked_de(forms, {"x": description})
        if not description:
            return tuple(form for form in forms if not when or form.endswith(("{when}?", "{when}.")))
        usable = tuple(form for form in forms if "{x}'s" not in form and not (when and "{x}{when}" in form))
        if len(description.split()) <= LONG_DESCRIPTION:
            return usable
        return tuple(form for form in usable if form.replace("{when}", "").endswith(("{x}?", "{x}."))) or usable

    def direct(self, forms: tuple[str, ...]) -> tuple[str, ...]:
        """Return the questions that may follow a lead: `I have a question about {x}. Could you tell me` asks twice."""
        starts = self.questions.direct
        if not starts:
            return forms
        found = tuple(form for form in forms if form.split()[0] in starts)
        # `How many inhabitants did it have` rather than `What was the population of the town`.
        return tuple(form for form in found if not _PREPOSITION.search(form)) or found

    def stand_ins(self, relation: str, kind: str, phrase: str, ask: str) -> tuple[str, ...]:
        """Return what a question after a lead may call its subject: the noun of the lead, or a pronoun.

        A pronoun, which is one word, fits no `of {x}`.
        """
        found = self.questions.stand_ins.get(relation) or self.questions.stand_ins[kind]
        if self.questions.nests_at == "start":
            return found
        words, asked = phrase.split(), ask.split()
        fits = not _PREPOSITION.search(ask) and "{x}'s" not in ask
        # Not `What kind of company is the company`.
        usable = [one for one in found if (one.split()[-1] not in asked if " " in one else fits)]
        places = {one: words.index(one.split()[-1]) for one in usable if one.split()[-1] in words}
        named = [one for one in places if places[one] == min(places.values())]
        pronouns = [one for one in usable if " " not in one]
        return (*named, *pronouns) or tuple(usable[:1]) or found[:1]

    def with_long_phrase_last(self, forms: tuple[str, ...], phrases: list[str]) -> tuple[str, ...]:
        """Return the yes/no questions in which a long description comes last."""
        if self.questions.nests_at == "start":
            return self.without_stacked_de(forms, dict(zip("ab", phrases, strict=True)))
        slot, phrase = max(zip("ab", phrases, strict=True), key=lambda one: len(one[1].split()))
        if len(phrase.split()) <= LONG_DESCRIPTION:
            return forms
        ends = (f"{{{slot}}}?", f"{{{slot}}}{{{slot}_when}}?")
        return tuple(form for form in forms if form.endswith(ends))

    def without_stacked_de(self, forms: tuple[str, ...], phrases: dict[str, str]) -> tuple[str, ...]:
        """Return the Chinese forms that put no 的 after a description, which has one already: 镇长的老师的职业."""
        described = [slot for slot, phrase in phrases.items() if "的" in phrase]
        stacked = tuple(f"{{{slot}}}{when}的" for slot in described for when in ("", "{when}"))
        return tuple(form for form in forms if not any(one in form for one in stacked)) or forms

    def can_nest(self, form: str) -> bool:
        """Tell whether a noun phrase may hold another one that a reader can still undo.

        Not `the person the person Ida studied under studied under`, nor `the mayor of the seat of Harrow Mills in 1920
        in 1931`.
        """
        return form.endswith("{x}") if self.questions.nests_at == "end" else form.startswith("{x}")

    def takes_year(self, form: str, year: int | None) -> bool:
        """Tell whether a noun phrase for a fact that changes over time can show this year, or none."""
        return "{when}" in form or ("{year}" in form) == (year is not None)

    def title(self, name: str, tag: str, fact: int | str | None) -> str:
        """Return the title of an article whose subject has namesakes."""
        form = self.articles.title_with_fact if fact else self.articles.title
        return fill(form, name=name, tag=tag, fact=fact or "")

    def page(self, entity: Entity, facts: Facts, rng: Random) -> list[Sentence]:
        """Word the article of an entity: its sentences with the relations that each states."""
        slots = {relation: name_of(values[0].what) for relation, values in facts.items()}
        described = with_article(entity.tag)
        slots |= {"name": entity.name, "tag": entity.tag, "a tag": described, "A tag": capitalize(described)}
        page: list[Sentence] = []
        for sentence in self.articles.pages[entity.kind]:
            if [relation for relation in sentence.states if relation not in facts]:  # faster than any()
                continue
            template = rng.choice(sentence.text)
            if sentence.more:
                values = facts[sentence.states[0]]
                repeats = len(values) > 1 and values[0].what == values[1].what
                more = (sentence.again,) if repeats and sentence.again else sentence.more
                text = self._values_by_year(entity, values, template, more, rng)
            else:
                text = render(template, rng, slots)
            page.insert(len(page) if sentence.place is None else sentence.place, (text, sentence.states))
        if self.articles.known_for and rng.random() < KNOWN_FOR_RATE:
            first, states = page[0]
            stop = self.articles.full_stop
            known = fill(self.articles.known_for_phrase, what=rng.choice(self.articles.known_for[entity.kind]))
            page[0] = (first.removesuffix(stop) + known + stop, states)
        return page

    def restated(self, entity: Entity, sentence: str) -> str:
        """Return a sentence of an entity's article as a user restates it: without what the entity is known for, and
        with a title as a title."""
        if self.articles.known_for:
            before, known, _ = sentence.partition(fill(self.articles.known_for_phrase, what=""))
            sentence = before + self.articles.full_stop if known else sentence
        is_work = entity.kind == "work"
        return sentence.replace(entity.name, self.mention("work", entity.name, "")) if is_work else sentence

    def _values_by_year(
        self, entity: Entity, values: list[Value], first: str, others: tuple[str, ...], rng: Random
    ) -> str:
        # A single form takes no draw: the random stream of a sample must stay what it was.
        other = others[0] if len(others) == 1 else rng.choice(others)
        forms = [first, *[other] * (len(values) - 1)]
        texts = [
            fill(form, name=entity.name, value=name_of(value.what), year=value.year or "")
            for form, value in zip(forms, values, strict=True)
        ]
        return "".join(texts) + self.articles.full_stop


world_text = cache(WorldText)


def name_of(what: Entity | int | str) -> str:
    return what.name if isinstance(what, Entity) else str(what)


class DialectText(Record, frozen=True):
    """`dialect_zh.yaml`."""

    words: dict[str, Words]


def draw_dialect(lang: Lang, rng: Random) -> dict[str, str]:
    """Draw the words that a world prefers in articles and questions.

    A Chinese firm is a 企业 in one world and a 公司 in another, so that a reader of many worlds meets the language and
    not a form letter.
    """
    if lang != "zh":
        return {}
    return {word: rng.choice(others) for word, others in load_text("dialect_zh.yaml", DialectText).words.items()}
