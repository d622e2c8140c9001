"""Whether a question asks which thing or which year is meant, whatever its words.

A question points at the hidden referent by its name, by its kind, by the readings that the material offers
(`Hidden.readings`), or by what the article of a reading says: `the one born in 1866`. A question for a fact of it, or
for something else that prompt or articles name, gets nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from .concepts import Concepts, Token, concepts_of, fold, language, names_in, token_of, tokens, union, unknown_words
from .quantity_questions import Verdict
from .tokenize import words
from .types import Article, Hidden, Lang

_BRACKET = re.compile(r"\(([^()]*)\)$")
_PARTS = re.compile(r",\s*")
_NUMBER = re.compile(r"\d{3,}")
_CLAUSE = re.compile(r"[,，。.;；]\s*|\band\b")
_YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")
_YEAR_FIRST = re.compile(r"((?:^|[,，。.;；])\s*(?:In )?[12]\d{3}年?)[,，]\s*")


class Referent:
    """The hidden thing or year of a sample, prepared for comparison with questions."""

    def __init__(self, hidden: Hidden, lang: Lang, prompt: str, question: str, context: Sequence[Article]) -> None:
        self.hidden, self.lang, self.lists = hidden, lang, language(lang)
        self.prompt, self.question, self.context = prompt, question, context
        self.name = _bare(hidden.about[0]) if hidden.about else ""
        """The name or the noun that is referred to; for a year, whose fact it is."""
        self.name_words = [token.concepts for token in tokens(self.name, lang)]
        self.readings = [[fold(phrase).strip("《》") for phrase in reading] for reading in hidden.readings]
        own = {self.name, *(_bare(phrase) for reading in self.readings for phrase in reading)}
        titles = {_bare(article.title) for article in context}
        others = {title for title in titles if not any(title in phrase for phrase in own)}
        self.other_titles = sorted(others, key=len, reverse=True)
        self.prompt_names = names_in(prompt, lang)
        self.prompt_stems = {token.stem for token in tokens(fold(prompt), lang)}
        around = fold(prompt).replace(fold(question), " ")
        self.prompt_around = around if len(around) < len(prompt) else ""
        """The prompt around its question: who asks, and what for."""
        self.scene = concepts_of([self.prompt_around], lang)
        self.differs_in_time = any(self.lists.find["time_word"].fullmatch(word) for word in hidden.about[1:])
        common, said = self.kind_words.union(*self.name_words), [concepts_of(one, lang) for one in self.readings]
        self.known = common.union(*said)
        """Concepts of the name, of its kind and of all readings."""
        self.telling = [own - common.union(*said[:at], *said[at + 1 :]) for at, own in enumerate(said)]
        """Concepts that only one reading has, by reading."""

    def understand(self, asked: str) -> Verdict | None:
        """What a question in lower case gets; None where it is not about the referent."""
        it = Pointing(self, asked)
        if it.aside and not ((it.described and (it.points or it.guesses)) or (it.named and it.telling)):
            return None
        return _year(self, it, asked) if self.hidden.kind == "year" else _referent(self, it)

    def mentions(self, asked: str) -> list[int]:
        """Numbers of the readings that a text names."""
        return Pointing(self, asked).mentioned

    def is_elsewhere(self, asked: str) -> bool:
        """Whether a question names something else, and not the referent."""
        it = Pointing(self, asked)
        return not it.named and (it.other or it.foreign > 1)

    @cached_property
    def shared(self) -> Concepts:
        """Concepts that the titles of all readings have in their brackets: `Ada Lund (physicist, 1867)`.

        They usually tell such things apart, but not here, so a question for them is for something else.
        """
        parts = [set(_PARTS.split(found[1])) for own in self.readings if (found := _BRACKET.search(own[-1]))]
        return concepts_of(set.intersection(*parts), self.lang) if len(parts) == len(self.readings) > 1 else frozenset()

    @cached_property
    def kind_words(self) -> Concepts:
        """Concepts of the kind of thing, and of what tells such things apart.

        A word of several meanings has those that another word here has too: a *work* beside a *title* is no job.
        """
        said = [token.concepts for word in self.hidden.about[1:] for token in tokens(fold(word), self.lang)]
        clear = union(concepts for concepts in said if len(concepts) < 3)
        counts = Counter(concept for concepts in said for concept in concepts)
        return (clear | {one for one, times in counts.items() if times > 1 or one[0] != "="}) - self.lists.soft

    @cached_property
    def kind_phrases(self) -> list[str]:
        """Chinese words for the kind of thing. A long name ends in one: 临沙湖光集团."""
        ends = (self.name[-2:],) if len(self.name) > 4 else ()
        words = (*map(fold, self.hidden.about[1:]), *ends)
        return [word for word in words if not (self.shared and word in self.lists.tags)]

    def is_familiar(self, word: str) -> bool:
        """Whether an unknown Chinese word is of the prompt, or means the kind of thing or a reading."""
        texts = [self.prompt_around, *self.kind_phrases, *(phrase for own in self.readings for phrase in own)]
        size = 1 if len(word) < 3 else 2
        parts = [word[at : at + size] for at in range(len(word) - size + 1)]
        return 2 * sum(any(part in text for text in texts) for part in parts) >= len(parts)

    @cached_property
    def asides(self) -> Concepts:
        """Concepts of the English sentences about who asks and what for: all of the prompt that lack the name."""
        sentences = self.lists.find["stop"].split(self.prompt_around) if self.lang == "en" else []
        apart = [sentence for sentence in sentences if self.name not in sentence]
        named = [sentence for sentence in sentences if self.name in sentence]
        return concepts_of(apart, self.lang) - concepts_of((fold(self.question), *named), self.lang) - self.known

    @cached_property
    def pages(self) -> list[str]:
        """The article of each reading, or what the article says about its year; empty where there is none."""
        if self.hidden.kind == "year":
            texts = [_YEAR_FIRST.sub(r"\1 ", page.text) for page in self.context if _bare(page.title) == self.name]
            clauses = [clause for text in texts for clause in _CLAUSE.split(text)]
            years = [_YEAR.findall(own[0]) for own in self.readings]
            return [" ".join(one for one in clauses if any(year in one for year in own)) for own in years]
        by_title = {fold(article.title).strip("《》"): article.text for article in self.context}
        return [next((by_title[phrase] for phrase in own if phrase in by_title), "") for own in self.readings]

    @cached_property
    def facts(self) -> list[Concepts]:
        """Numbers and names that only the article of one reading has, by reading."""
        prompt = names_in(self.question, "en") | set(_NUMBER.findall(self.question))
        own = [names_in(page, "en") | set(_NUMBER.findall(page)) for page in self.pages]
        common = prompt.union(*self.name_words, self.lists.groups, self.lists.neutral)
        return [one - common.union(*own[:at], *own[at + 1 :]) for at, one in enumerate(own)]

    @cached_property
    def differing(self) -> Concepts:
        """Groups of words for the facts in which the articles of the readings differ: the river, the founder."""
        pairs = [
            {(one, clause) for clause in _CLAUSE.split(fold(page)) for one in concepts_of([clause], self.lang)}
            for page in self.pages
        ]
        same = {one for one, _ in set.intersection(*pairs)} if pairs else set()
        return frozenset(one for own in pairs for one, _ in own if one[0] == "=") - same

    def described(self, asked: str) -> set[int]:
        """Numbers of the readings that a question describes by a number or a name of their articles."""
        if self.lang == "en":
            said = {language("en").stem(word) for word in words(asked)}
            return {at for at, facts in enumerate(self.facts) if facts & said}
        found = set[int]()
        for word in {*unknown_words(asked.replace(self.name, " "), "zh"), *_NUMBER.findall(asked)}:
            size = len(word) if word[0].isdigit() else min(len(word), 3)
            parts = {word[at : at + size] for at in range(len(word) - size + 1)} if size > 1 else set()
            for part in parts:
                holders = [at for at, page in enumerate(self.pages) if part in page]
                if len(holders) == 1 and part not in self.prompt:
                    found.add(holders[0])
        return found

    def is_name(self, word: str) -> bool:
        """Whether an English word is one of the name."""
        token = token_of(word, "en")
        return token is not None and any(token.concepts & name for name in self.name_words)

    @cached_property
    def phrases(self) -> list[tuple[str, int]]:
        """Phrases that name a reading, the longest first, with the number of the reading."""
        found = {(phrase, at) for at, own in enumerate(self.readings) for phrase in own if phrase != self.name}
        if self.hidden.kind == "year":  # whom the prompt names anyway tells no year
            found = {(phrase, at) for phrase, at in found if phrase not in fold(self.prompt)}
        if self.lang == "en":
            found = {(f" {' '.join(words(phrase))} ", at) for phrase, at in found}
        else:
            found |= {(re.sub("(?<=..)[省道河江溪水年]$", "", phrase), at) for phrase, at in found}
        return sorted(found, key=lambda pair: (-len(pair[0]), pair))

    @cached_property
    def relation(self) -> Concepts:
        """Concepts of the fact whose year is missing."""
        is_time = self.lists.find["time_word"].fullmatch
        said = concepts_of((word for word in self.hidden.about[1:] if not is_time(word)), self.lang)
        facts = Counter(
            one for word in self.hidden.about[1:] for one in concepts_of([word], self.lang) & self.lists.attributes
        )
        return said - {one for one in facts if facts[one] < max(facts.values())}


def _bare(name: str) -> str:
    """A title in lower case without its bracket and quotation marks."""
    return re.sub(r"\s*\([^()]*\)$", "", fold(name)).strip("《》 ")


class Pointing:
    """What a question points at."""

    def __init__(self, slot: Referent, asked: str) -> None:
        self.slot, find = slot, slot.lists.find
        text = asked
        for title in slot.other_titles:
            text = text.replace(title, " ")
        self.named = self._is_named(text)
        self.adjacent = self._which_of_it(text)
        self.mentioned, rest = self._readings(text.replace(slot.name, " ") if slot.lang == "zh" and slot.name else text)
        said = tokens(rest, slot.lang)
        others = [token for token in said if not token.concepts & slot.known and not token.soft]
        names = [token for token in others if token.concepts & slot.prompt_names]
        self.kind = self._is_kind(rest, said)
        self.repeats = any(token.concepts & slot.shared for token in said)
        """Whether it says what all readings share."""
        self.which, self.chooses, self.yes_no, self.how_many, self.time, self.bare, self.several, self.order = (
            find[name].search(rest) is not None
            for name in ("which", "or", "yes_no", "how_many", "time", "bare", "several", "order")
        )
        self.points, self.identity, self.guesses, self.aside, self.precise, self.yours = (
            find[name].search(text) is not None for name in ("points", "identity", "guess", "aside", "precise", "yours")
        )
        self.fact = any(token.concepts & slot.kind_words & slot.lists.attributes for token in said)
        """Whether it names the fact in which the readings differ."""
        self.lacks = find["lacks"].search(text) is not None
        mine = find["personal"].search(rest)
        thing = concepts_of([mine[1]], slot.lang) if mine else frozenset()
        self.personal = bool(thing) and not thing & slot.known
        """Whether it asks about the user's own life: `your next match`."""
        self.new = len([word for word in unknown_words(rest, slot.lang) if word not in slot.prompt_stems])
        """Number of words that the prompt does not have."""
        described = slot.described(asked)
        fact = any(token.concepts & slot.lists.attributes for token in others)
        guessed = self.guesses and self.yes_no and not (self.which or self.chooses) and (fact or text == asked)
        listed = (self.several or self.chooses) and len(described) > 1
        if not (self.named or self.kind or self.mentioned or guessed or listed):
            described = set()
        self.titled = text != asked and not (described and self.named) and len(described) < 2
        self.other = (
            bool(names)
            or self.titled
            or any(name in slot.prompt_around for name in _long_words(rest, slot.lang))
            or sum(bool(token.concepts & slot.asides) for token in others) > 1
        )
        """Whether it names something else of the prompt or of the articles."""
        self.foreign = self._foreign(rest, [token for token in others if token not in names], described)
        """Number of words that belong to nothing known."""
        if find["namesakes"].search(text) and (self.kind or self.mentioned or self._is_class(text)):
            # Who says that two things have the name points at it, unless other names or years show that it is another.
            unheard = set(_NUMBER.findall(rest)).difference(*map(_NUMBER.findall, (*slot.pages, slot.prompt)))
            alien = self.other or unheard or any(not slot.is_familiar(word) for word in _long_words(rest, slot.lang))
            few = len(described) > 1 or self.foreign < (3 if slot.lang == "en" else 5)
            self.named = self.named or (few and not alien)
        unknown = others if slot.lang == "en" else unknown_words(rest, "zh")
        self.plain = not self.foreign and not self.other and (self.kind or not unknown)
        """Whether it has no words of its own."""
        self.attribute = fact or (bool(slot.shared) and any(token.concepts & slot.lists.tags for token in said))
        """Whether it asks for a fact that articles state."""
        # Inhabitants and employees are both people, but a question for one is not for the other.
        facts = [token.concepts & slot.lists.attributes or token.concepts for token in said if not token.soft]
        stated = [fact for fact in facts if self.other and fact <= slot.lists.attributes]
        self.related = slot.hidden.kind == "year" and any(fact & slot.relation for fact in stated or facts)
        self.tagged = any(token.concepts & slot.kind_words & slot.lists.tags for token in said)
        """Whether it asks for what tells such things apart: the profession, the region."""
        self.telling = self.yours and any(token.concepts & slot.differing for token in said)
        """Whether it asks for a fact in which the articles differ: `Which river is your Lund on?`"""
        self.described = bool(described)
        self.mentioned = sorted({*self.mentioned, *described})

    def _foreign(self, rest: str, others: Sequence[Token], described: set[int]) -> int:
        slot = self.slot
        if slot.lang == "en":
            familiar = slot.scene.union(*slot.facts) if described else slot.scene
            return sum(not token.concepts & familiar for token in others)
        listed = [token for token in others if len(token.concepts) > 1 or token.stem in slot.lists.tags]
        grouped = sum(not token.concepts & slot.scene for token in listed)
        strange = [word for word in unknown_words(rest, "zh") if not slot.is_familiar(word)]
        strange = [word for word in strange if not (described and slot.described(word))]
        return grouped + sum((len(word) + 1) // 2 for word in strange)

    def _is_kind(self, rest: str, said: Sequence[Token]) -> bool:
        """Whether a question names the kind of thing, or what tells such things apart. A character is no word."""
        slot = self.slot
        if slot.lang == "en":
            name = union(slot.name_words)
            return any(token.concepts & slot.kind_words for token in said if token.stem not in name)
        listed = any(token.concepts & slot.kind_words for token in said if len(token.concepts) > 1)
        return listed or any(word in rest for word in slot.kind_phrases)

    def _is_class(self, asked: str) -> bool:
        """Whether a Chinese question has the measure word of the thing that is referred to: 哪家 for a company."""
        wanted, said = (self.slot.lists.find["class"].findall(text) for text in (self.slot.hidden.missing, asked))
        return not {*wanted}.isdisjoint(said)

    def _is_named(self, asked: str) -> bool:
        """Whether a question has the name that is referred to, or half of its words."""
        slot = self.slot
        if slot.lang == "zh":
            return bool(slot.name) and slot.name in asked
        present = union(token.concepts for token in tokens(asked, slot.lang))
        hits = sum(any(_short_for(one, own) for one in present for own in name) for name in slot.name_words)
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
            letters = {letter for word in unknown_words(asked, "zh") for letter in word}
            if not found and self.named:  # 下棋 and 棋手
                found = {at for at, telling in enumerate(slot.telling) if telling & letters}
            return sorted(found), asked
        spaced = f" {' '.join(words(asked))} "
        said = [concept for token in tokens(asked, "en") for concept in token.concepts]
        found.update(at for phrase, at in slot.phrases if phrase in spaced)
        for at, telling in enumerate(slot.telling):
            if any(_alike(concept, own) for concept in said for own in telling):
                found.add(at)
        return sorted(found), asked

    def _which_of_it(self, asked: str) -> bool:
        """Whether *which* or *name of* is right before the name or the kind of thing: `which other Lund`, 哪位林宁."""
        slot = self.slot
        if slot.lang == "zh":
            before, name, after = asked.partition(slot.name)
            return bool(name) and not {"哪", "何"}.isdisjoint(before[-4:] + after[:6])
        text = words(asked)
        for at, word in enumerate(text):
            if word == "who" and any(slot.is_name(near) for near in text[at + 2 : at + 4]):
                return True
            for near in text[at + 1 : at + 5] if word in ("which", "what", "name", "title") else ():
                if near in _VERBS:
                    break
                token = token_of(near, "en")
                if token is not None and any(token.concepts & known for known in (slot.kind_words, *slot.name_words)):
                    return True
        return False


def _long_words(text: str, lang: Lang) -> list[str]:
    """Unknown Chinese words that are long enough to be names."""
    return [word for word in unknown_words(text, lang) if len(word) > 2] if lang == "zh" else []


_VERBS = frozenset("is was are were does did do s has have had".split())


def _short_for(one: str, other: str) -> bool:
    """The same concept, or short for it: `exec` and `executive`."""
    return one == other or (len(one) > 3 and other.startswith(one))


def _alike(one: str, other: str) -> bool:
    """The same concept, or the same root: `botany` and `botanist`."""
    short = min(len(one), len(other)) - 2
    return one == other or (short > 2 and one[0] != "=" and one[:5] == other[:5] and one[:short] == other[:short])


def _referent(slot: Referent, it: Pointing) -> Verdict | None:
    """What a question for a thing gets."""
    pointed = it.named or (it.points and bool(it.mentioned))
    if it.foreign > (12 if it.named and len(it.mentioned) > 1 else 5 if pointed else 2):
        return None
    if it.order and slot.differs_in_time and (it.named or it.kind) and not it.other:
        return "give"
    if it.how_many and it.attribute and not (it.chooses or it.which):
        return None
    if len(it.mentioned) > 1 or (it.mentioned and it.chooses):
        return "give"
    if it.bare and it.several and it.named and not it.other:
        return "give"
    if it.mentioned:
        if it.titled and not (it.named or it.described):
            return None
        guesses = (it.yes_no or not (it.which or it.time)) and (it.points or it.guesses or it.described)
        if it.how_many or it.foreign > 3 + 2 * it.points or (it.attribute and not guesses):
            return None
        if it.which and not it.yes_no:
            return "give" if it.points or it.adjacent else None
        return "yes" if it.mentioned == [0] else "no"
    if it.personal and not it.named:
        return None
    tells = (it.telling and (it.which or it.time)) or (it.tagged and not it.attribute and it.foreign < 2)
    if it.named and tells and not (it.other or it.how_many):
        return "give"
    if it.time and not it.bare:
        if not slot.differs_in_time or not (it.named or it.repeats or it.fact) or it.other:
            return None
        if it.attribute and not it.fact:
            return None
        return "give" if it.named or it.points or it.telling or not it.foreign else None
    if it.named and it.precise and it.foreign < 2 and not (it.attribute or it.how_many):
        return "give"
    if it.several and it.named and (it.which or it.lacks or it.points) and not (it.how_many or it.yes_no):
        return "give"
    if not it.named and (it.other or it.foreign or not it.kind):
        new_word = (it.identity or (it.kind and slot.lang == "zh")) and it.points and it.which and it.new == 1
        if it.other or it.attribute or it.how_many:
            return None
        return "give" if (it.bare and not it.foreign) or (new_word and it.foreign < 2) else None
    if it.adjacent and (it.points or not it.attribute):
        return "give"
    if it.attribute or it.how_many:
        return None
    if it.chooses and it.named:
        return None if it.repeats else "give"
    if it.which:
        return "give" if it.points or it.plain or (it.kind and it.foreign < 2) else None
    if it.named and it.yes_no and it.guesses and (it.other or 0 < it.foreign < 4):
        return "no"
    return "give" if it.points and it.foreign < 2 and not it.yes_no else None


def _year(slot: Referent, it: Pointing, asked: str) -> Verdict | None:
    """What a question for a year gets."""
    years = [set(_YEAR.findall(reading[0])) for reading in slot.readings]
    named = set(_YEAR.findall(asked))
    mentioned = [at for at, own in enumerate(years) if own & named] or it.mentioned
    if len(mentioned) > 1 or (mentioned and it.chooses) or (it.order and (it.named or it.related)):
        return "give"
    if it.attribute and not it.related:
        return None
    elsewhere = it.other and not (it.named or it.related)
    if named and it.chooses and not it.foreign and "the one " not in asked:  # `the one from 1872` is a thing
        return "give"
    if it.time:
        strange = it.foreign > 2 and it.new > 1 and not (it.related or it.named or it.points)
        elsewhere = elsewhere or it.personal or strange
        return None if elsewhere or (it.attribute and it.foreign > 2) else "give"
    if (it.which and not it.points) or (it.how_many and not (named and it.named)):
        return None
    if mentioned and (it.yes_no or not it.which):
        return "yes" if mentioned == [0] else "no"
    if it.which:
        return "give" if it.related and not it.attribute and not it.foreign else None
    return "no" if named and it.yes_no and it.foreign < 2 and not (it.chooses or elsewhere) else None
