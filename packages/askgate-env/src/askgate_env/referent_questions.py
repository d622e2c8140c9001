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
        names = {self.name, *(_bare(phrase) for reading in self.readings for phrase in reading)}
        titles = {_bare(article.title) for article in context}
        others = {title for title in titles if not any(title in name for name in names)}
        self.other_titles = sorted(others, key=len, reverse=True)
        self.prompt_names = names_in(prompt, lang)
        self.prompt_stems = {token.stem for token in tokens(fold(prompt), lang)}
        around = fold(prompt).replace(fold(question), " ")
        self.prompt_around = around if len(around) < len(prompt) else ""
        """The prompt around its question: who asks, and what for."""
        self.scene = concepts_of([self.prompt_around], lang)
        self.differs_in_time = any(self.lists.patterns["time_word"].fullmatch(word) for word in hidden.about[1:])
        common = self.kind_words.union(*self.name_words)
        said = [concepts_of(phrases, lang) for phrases in self.readings]
        self.known = common.union(*said)
        """Concepts of the name, of its kind and of all readings."""
        self.telling = [concepts - common.union(*said[:i], *said[i + 1 :]) for i, concepts in enumerate(said)]
        """Concepts that only one reading has, by reading."""

    def understand(self, asked: str) -> Verdict | None:
        """The verdict on a question in lower case; None where it is not about the referent."""
        ask = AskFeatures(self, asked)
        if ask.aside and not ((ask.described and (ask.points or ask.guesses)) or (ask.named and ask.telling)):
            return None
        return _judge_year(self, ask, asked) if self.hidden.kind == "year" else _judge_referent(self, ask)

    def mentions(self, asked: str) -> list[int]:
        """Numbers of the readings that a text names."""
        return AskFeatures(self, asked).mentioned

    def is_elsewhere(self, asked: str) -> bool:
        """Whether a question names something else, and not the referent."""
        ask = AskFeatures(self, asked)
        return not ask.named and (ask.other or ask.foreign > 1)

    @cached_property
    def shared(self) -> Concepts:
        """Concepts that the titles of all readings have in their brackets: `Ada Lund (physicist, 1867)`.

        They usually tell such things apart, but not here, so a question for them is for something else.
        """
        parts = [set(_PARTS.split(found[1])) for phrases in self.readings if (found := _BRACKET.search(phrases[-1]))]
        return concepts_of(set.intersection(*parts), self.lang) if len(parts) == len(self.readings) > 1 else frozenset()

    @cached_property
    def kind_words(self) -> Concepts:
        """Concepts of the kind of thing, and of what tells such things apart.

        A word of several meanings has those that another word here has too: a *work* beside a *title* is no job.
        """
        said = [token.concepts for word in self.hidden.about[1:] for token in tokens(fold(word), self.lang)]
        clear = union(concepts for concepts in said if len(concepts) < 3)
        counts = Counter(concept for concepts in said for concept in concepts)
        repeated = {concept for concept, times in counts.items() if times > 1 or concept[0] != "="}
        return (clear | repeated) - self.lists.soft

    @cached_property
    def kind_phrases(self) -> list[str]:
        """Chinese words for the kind of thing. A long name ends in one: 临沙湖光集团."""
        ends = (self.name[-2:],) if len(self.name) > 4 else ()
        words = (*map(fold, self.hidden.about[1:]), *ends)
        return [word for word in words if not (self.shared and word in self.lists.tags)]

    def is_familiar(self, word: str) -> bool:
        """Whether half of an unknown Chinese word is in the prompt, the words for the kind of thing or the readings."""
        texts = [self.prompt_around, *self.kind_phrases, *(phrase for phrases in self.readings for phrase in phrases)]
        size = 1 if len(word) < 3 else 2
        parts = [word[start : start + size] for start in range(len(word) - size + 1)]
        return 2 * sum(any(part in text for text in texts) for part in parts) >= len(parts)

    @cached_property
    def asides(self) -> Concepts:
        """Concepts of the English sentences about who asks and what for: all of the prompt that lack the name."""
        sentences = self.lists.patterns["stop"].split(self.prompt_around) if self.lang == "en" else []
        apart = [sentence for sentence in sentences if self.name not in sentence]
        named = [sentence for sentence in sentences if self.name in sentence]
        return concepts_of(apart, self.lang) - concepts_of((fold(self.question), *named), self.lang) - self.known

    @cached_property
    def pages(self) -> list[str]:
        """The article of each reading, or what the article says about its year; empty where there is none."""
        if self.hidden.kind == "year":
            texts = [_YEAR_FIRST.sub(r"\1 ", page.text) for page in self.context if _bare(page.title) == self.name]
            clauses = [clause for text in texts for clause in _CLAUSE.split(text)]
            years = [_YEAR.findall(phrases[0]) for phrases in self.readings]
            return [" ".join(clause for clause in clauses if any(year in clause for year in some)) for some in years]
        by_title = {fold(article.title).strip("《》"): article.text for article in self.context}
        return [next((by_title[phrase] for phrase in phrases if phrase in by_title), "") for phrases in self.readings]

    @cached_property
    def facts(self) -> list[Concepts]:
        """Numbers and names that only the article of one reading has, by reading."""
        prompt = names_in(self.question, "en") | set(_NUMBER.findall(self.question))
        stated = [names_in(page, "en") | set(_NUMBER.findall(page)) for page in self.pages]
        common = prompt.union(*self.name_words, self.lists.groups, self.lists.neutral)
        return [facts - common.union(*stated[:i], *stated[i + 1 :]) for i, facts in enumerate(stated)]

    @cached_property
    def differing(self) -> Concepts:
        """Groups of words for the facts in which the articles of the readings differ: the river, the founder."""
        pairs = [
            {(concept, clause) for clause in _CLAUSE.split(fold(page)) for concept in concepts_of([clause], self.lang)}
            for page in self.pages
        ]
        same = {concept for concept, _ in set.intersection(*pairs)} if pairs else set()
        return frozenset(concept for of_page in pairs for concept, _ in of_page if concept[0] == "=") - same

    def described(self, asked: str) -> set[int]:
        """Numbers of the readings that a question describes by a number or a name of their articles."""
        if self.lang == "en":
            said = {language("en").stem(word) for word in words(asked)}
            return {reading for reading, facts in enumerate(self.facts) if facts & said}
        found = set[int]()
        for word in {*unknown_words(asked.replace(self.name, " "), "zh"), *_NUMBER.findall(asked)}:
            size = len(word) if word[0].isdigit() else min(len(word), 3)
            parts = {word[start : start + size] for start in range(len(word) - size + 1)} if size > 1 else set()
            for part in parts:
                holders = [reading for reading, page in enumerate(self.pages) if part in page]
                if len(holders) == 1 and part not in self.prompt:
                    found.add(holders[0])
        return found

    def is_name(self, word: str) -> bool:
        """Whether an English word is part of the name."""
        token = token_of(word, "en")
        return token is not None and any(token.concepts & name for name in self.name_words)

    @cached_property
    def phrases(self) -> list[tuple[str, int]]:
        """Phrases that name a reading, the longest first, with the number of the reading."""
        found = {(phrase, i) for i, phrases in enumerate(self.readings) for phrase in phrases if phrase != self.name}
        if self.hidden.kind == "year":  # a phrase of the prompt fits every year
            found = {(phrase, i) for phrase, i in found if phrase not in fold(self.prompt)}
        if self.lang == "en":
            found = {(f" {' '.join(words(phrase))} ", i) for phrase, i in found}
        else:
            found |= {(re.sub("(?<=..)[省道河江溪水年]$", "", phrase), i) for phrase, i in found}
        return sorted(found, key=lambda pair: (-len(pair[0]), pair))

    @cached_property
    def relation(self) -> Concepts:
        """Concepts of the fact whose year is missing."""
        is_time = self.lists.patterns["time_word"].fullmatch
        said = concepts_of((word for word in self.hidden.about[1:] if not is_time(word)), self.lang)
        by_word = (concepts_of([word], self.lang) & self.lists.attributes for word in self.hidden.about[1:])
        facts = Counter(concept for concepts in by_word for concept in concepts)
        return said - {concept for concept in facts if facts[concept] < max(facts.values())}


def _bare(name: str) -> str:
    """A title in lower case without its bracket and quotation marks."""
    return re.sub(r"\s*\([^()]*\)$", "", fold(name)).strip("《》 ")


class AskFeatures:
    """What a question says about the referent and about other things, as input of the rules below."""

    def __init__(self, referent: Referent, asked: str) -> None:
        self.referent = referent
        is_chinese = referent.lang == "zh"
        # `text` is the question without the titles of other articles; a Chinese `rest` also lacks name and readings.
        text = asked
        for title in referent.other_titles:
            text = text.replace(title, " ")
        named = self._is_named(text)
        unnamed = text.replace(referent.name, " ") if is_chinese and referent.name else text
        mentioned, rest = self._readings(unnamed, named)
        said = tokens(rest, referent.lang)
        others = [token for token in said if not token.concepts & referent.known and not token.soft]
        names = [token for token in others if token.concepts & referent.prompt_names]

        def has(pattern: str, where: str) -> bool:
            return referent.lists.patterns[pattern].search(where) is not None

        self.which = has("which", rest)
        self.chooses = has("or", rest)
        self.yes_no = has("yes_no", rest)
        self.how_many = has("how_many", rest)
        self.time = has("time", rest)
        self.bare = has("bare", rest)
        """`Which one do you mean?`, without a noun."""
        self.several = has("several", rest)
        """`There are two of that name.`"""
        self.order = has("order", rest)
        """`The older or the younger one?`"""
        self.points = has("points", text)
        """`Do you mean`, `are you referring to`."""
        self.identity = has("identity", text)
        """`What is the name of the one you mean?`"""
        self.guesses = has("guess", text)
        self.aside = has("aside", text)
        self.precise = has("precise", text)
        """`Can you be more specific?`"""
        self.yours = has("yours", text)
        self.lacks = has("lacks", text)
        self.adjacent = self._which_of_it(text)
        self.kind = self._is_kind(rest, said)
        self.repeats = any(token.concepts & referent.shared for token in said)
        """Whether it says what all readings share."""
        self.fact = any(token.concepts & referent.kind_words & referent.lists.attributes for token in said)
        """Whether it names the fact in which the readings differ."""
        possession = referent.lists.patterns["personal"].search(rest)
        thing = concepts_of([possession[1]], referent.lang) if possession else frozenset()
        self.personal = bool(thing) and not thing & referent.known
        """Whether it asks about the user's own life: `your next match`."""
        self.new = len([word for word in unknown_words(rest, referent.lang) if word not in referent.prompt_stems])
        """Number of words that the prompt does not have."""
        described = referent.described(asked)
        fact = any(token.concepts & referent.lists.attributes for token in others)
        guessed = self.guesses and self.yes_no and not (self.which or self.chooses) and (fact or text == asked)
        listed = (self.several or self.chooses) and len(described) > 1
        if not (named or self.kind or mentioned or guessed or listed):
            described = set()
        self.titled = text != asked and not (described and named) and len(described) < 2
        """Whether it has the title of another article."""
        self.other = (
            bool(names)
            or self.titled
            or any(name in referent.prompt_around for name in _long_words(rest, referent.lang))
            or sum(bool(token.concepts & referent.asides) for token in others) > 1
        )
        """Whether it names something else of the prompt or of the articles."""
        self.foreign = self._foreign(rest, [token for token in others if token not in names], described)
        """Number of words that belong to nothing known."""
        if has("namesakes", text) and (self.kind or mentioned or self._is_class(text)):
            # To say that two things share the name is to name it, unless other names or years show that it is another.
            unheard = set(_NUMBER.findall(rest)).difference(*map(_NUMBER.findall, (*referent.pages, referent.prompt)))
            unfamiliar = any(not referent.is_familiar(word) for word in _long_words(rest, referent.lang))
            few = len(described) > 1 or self.foreign < (5 if is_chinese else 3)
            named = named or (few and not (self.other or unheard or unfamiliar))
        self.named = named
        unknown = unknown_words(rest, "zh") if is_chinese else others
        self.plain = not self.foreign and not self.other and (self.kind or not unknown)
        """Whether it has no words of its own."""
        self.attribute = fact or (bool(referent.shared) and any(token.concepts & referent.lists.tags for token in said))
        """Whether it asks for a fact that articles state."""
        # Inhabitants and employees are both people, but a question for one is not for the other.
        facts = [token.concepts & referent.lists.attributes or token.concepts for token in said if not token.soft]
        stated = [fact for fact in facts if self.other and fact <= referent.lists.attributes]
        self.related = referent.hidden.kind == "year" and any(fact & referent.relation for fact in stated or facts)
        """Whether it names the fact whose year is missing."""
        self.tagged = any(token.concepts & referent.kind_words & referent.lists.tags for token in said)
        """Whether it asks for what distinguishes such things: the profession, the region."""
        self.telling = self.yours and any(token.concepts & referent.differing for token in said)
        """Whether it asks for a fact in which the articles differ: `Which river is your Lund on?`"""
        self.described = bool(described)
        """Whether it describes a reading by a number or a name of its article."""
        self.mentioned = sorted({*mentioned, *described})
        """Numbers of the readings that it names or describes."""

    def _foreign(self, rest: str, others: Sequence[Token], described: set[int]) -> int:
        referent = self.referent
        if referent.lang == "en":
            familiar = referent.scene.union(*referent.facts) if described else referent.scene
            return sum(not token.concepts & familiar for token in others)
        listed = [token for token in others if len(token.concepts) > 1 or token.stem in referent.lists.tags]
        grouped = sum(not token.concepts & referent.scene for token in listed)
        strange = [word for word in unknown_words(rest, "zh") if not referent.is_familiar(word)]
        strange = [word for word in strange if not (described and referent.described(word))]
        return grouped + sum((len(word) + 1) // 2 for word in strange)

    def _is_kind(self, rest: str, said: Sequence[Token]) -> bool:
        """Whether a question names the kind of thing, or what tells such things apart. A character is no word."""
        referent = self.referent
        if referent.lang == "en":
            name = union(referent.name_words)
            return any(token.concepts & referent.kind_words for token in said if token.stem not in name)
        listed = any(token.concepts & referent.kind_words for token in said if len(token.concepts) > 1)
        return listed or any(word in rest for word in referent.kind_phrases)

    def _is_class(self, asked: str) -> bool:
        """Whether a Chinese question has the measure word of the thing that is referred to: 哪家 for a company."""
        wanted, said = (
            self.referent.lists.patterns["class"].findall(text) for text in (self.referent.hidden.missing, asked)
        )
        return not {*wanted}.isdisjoint(said)

    def _is_named(self, asked: str) -> bool:
        """Whether a question has the name that is referred to, or half of its words."""
        referent = self.referent
        if referent.lang == "zh":
            return bool(referent.name) and referent.name in asked
        present = union(token.concepts for token in tokens(asked, referent.lang))
        hits = sum(any(_short_for(one, other) for one in present for other in name) for name in referent.name_words)
        return hits > 0 and 2 * hits >= len(referent.name_words)

    def _readings(self, asked: str, named: bool) -> tuple[list[int], str]:
        """Numbers of the readings that a question names, and a Chinese question without them.

        A reading is named by one of its phrases, the longest first, or by a word that only it has.
        """
        referent, found = self.referent, set[int]()
        if referent.lang == "zh":
            for phrase, reading in referent.phrases:
                if phrase in asked:
                    found.add(reading)
                    asked = asked.replace(phrase, " ")
            letters = {letter for word in unknown_words(asked, "zh") for letter in word}
            if not found and named:  # 下棋 and 棋手
                found = {reading for reading, telling in enumerate(referent.telling) if telling & letters}
            return sorted(found), asked
        spaced = f" {' '.join(words(asked))} "
        said = [concept for token in tokens(asked, "en") for concept in token.concepts]
        found.update(reading for phrase, reading in referent.phrases if phrase in spaced)
        for reading, telling in enumerate(referent.telling):
            if any(_alike(concept, other) for concept in said for other in telling):
                found.add(reading)
        return sorted(found), asked

    def _which_of_it(self, asked: str) -> bool:
        """Whether *which* or *name of* is right before the name or the kind of thing: `which other Lund`, 哪位林宁."""
        referent = self.referent
        if referent.lang == "zh":
            before, name, after = asked.partition(referent.name)
            return bool(name) and not {"哪", "何"}.isdisjoint(before[-4:] + after[:6])
        text = words(asked)
        for i, word in enumerate(text):
            if word == "who" and any(referent.is_name(near) for near in text[i + 2 : i + 4]):
                return True
            for near in text[i + 1 : i + 5] if word in ("which", "what", "name", "title") else ():
                if near in _VERBS:
                    break
                token = token_of(near, "en")
                if token is not None and any(
                    token.concepts & known for known in (referent.kind_words, *referent.name_words)
                ):
                    return True
        return False


def _long_words(text: str, lang: Lang) -> list[str]:
    """Unknown Chinese words that are long enough to be names."""
    return [word for word in unknown_words(text, lang) if len(word) > 2] if lang == "zh" else []


_VERBS = frozenset("is was are were does did do s has have had".split())


def _short_for(one: str, other: str) -> bool:
    """Whether two concepts are the same, or the first is short for the second: `exec` and `executive`."""
    return one == other or (len(one) > 3 and other.startswith(one))


def _alike(one: str, other: str) -> bool:
    """Whether two concepts are the same, or have the same root: `botany` and `botanist`."""
    root = min(len(one), len(other)) - 2
    return one == other or (root > 2 and one[0] != "=" and one[:5] == other[:5] and one[:root] == other[:root])


def _judge_referent(referent: Referent, ask: AskFeatures) -> Verdict | None:
    """The verdict on a question about a thing. The first rule that applies decides."""
    pointed = ask.named or (ask.points and bool(ask.mentioned))
    if ask.foreign > (12 if ask.named and len(ask.mentioned) > 1 else 5 if pointed else 2):
        return None
    if ask.order and referent.differs_in_time and (ask.named or ask.kind) and not ask.other:
        return "give"
    if ask.how_many and ask.attribute and not (ask.chooses or ask.which):
        return None
    if len(ask.mentioned) > 1 or (ask.mentioned and ask.chooses):
        return "give"
    if ask.bare and ask.several and ask.named and not ask.other:
        return "give"
    if ask.mentioned:
        return _judge_one_reading(ask)
    if ask.personal and not ask.named:
        return None
    # `Which profession does your Ida Moss have?`
    tells = (ask.telling and (ask.which or ask.time)) or (ask.tagged and not ask.attribute and ask.foreign < 2)
    if ask.named and tells and not (ask.other or ask.how_many):
        return "give"
    # `When was the one you mean born?`, if the readings differ in a date.
    if ask.time and not ask.bare:
        asks_for_date = referent.differs_in_time and (ask.named or ask.repeats or ask.fact) and not ask.other
        if not asks_for_date or (ask.attribute and not ask.fact):
            return None
        return "give" if ask.named or ask.points or ask.telling or not ask.foreign else None
    # `Please specify which Ida Moss`, `there are several: which?`
    if ask.named and ask.precise and ask.foreign < 2 and not (ask.attribute or ask.how_many):
        return "give"
    if ask.several and ask.named and (ask.which or ask.lacks or ask.points) and not (ask.how_many or ask.yes_no):
        return "give"
    # Without the name: `which one do you mean?`, or one new word for the kind of thing.
    if not ask.named and (ask.other or ask.foreign or not ask.kind):
        if ask.other or ask.attribute or ask.how_many:
            return None
        is_pointing = (ask.identity or (ask.kind and referent.lang == "zh")) and ask.points and ask.which
        new_kind = is_pointing and ask.new == 1 and ask.foreign < 2
        return "give" if (ask.bare and not ask.foreign) or new_kind else None
    if ask.adjacent and (ask.points or not ask.attribute):
        return "give"
    if ask.attribute or ask.how_many:
        return None
    if ask.chooses and ask.named:
        return None if ask.repeats else "give"
    if ask.which:
        return "give" if ask.points or ask.plain or (ask.kind and ask.foreign < 2) else None
    # A guess at something that is no reading: `Do you mean Ida Moss the dentist?`
    if ask.named and ask.yes_no and ask.guesses and (ask.other or 0 < ask.foreign < 4):
        return "no"
    return "give" if ask.points and ask.foreign < 2 and not ask.yes_no else None


def _judge_one_reading(ask: AskFeatures) -> Verdict | None:
    """The verdict on a question that names one reading: yes or no to a guess, `give` to `Which poet do you mean?`"""
    if ask.titled and not (ask.named or ask.described):
        return None
    guesses = (ask.yes_no or not (ask.which or ask.time)) and (ask.points or ask.guesses or ask.described)
    if ask.how_many or ask.foreign > 3 + 2 * ask.points or (ask.attribute and not guesses):
        return None
    if ask.which and not ask.yes_no:
        return "give" if ask.points or ask.adjacent else None
    return "yes" if ask.mentioned == [0] else "no"


def _judge_year(referent: Referent, ask: AskFeatures, asked: str) -> Verdict | None:
    """The verdict on a question about a year. The first rule that applies decides."""
    years = [set(_YEAR.findall(reading[0])) for reading in referent.readings]
    asked_years = set(_YEAR.findall(asked))
    mentioned = [reading for reading, of_reading in enumerate(years) if of_reading & asked_years] or ask.mentioned
    if len(mentioned) > 1 or (mentioned and ask.chooses) or (ask.order and (ask.named or ask.related)):
        return "give"
    if ask.attribute and not ask.related:
        return None
    elsewhere = ask.other and not (ask.named or ask.related)
    if asked_years and ask.chooses and not ask.foreign and "the one " not in asked:  # `the one from 1872` is a thing
        return "give"
    if ask.time:
        is_foreign = ask.foreign > 2 and ask.new > 1 and not (ask.related or ask.named or ask.points)
        elsewhere = elsewhere or ask.personal or is_foreign
        return None if elsewhere or (ask.attribute and ask.foreign > 2) else "give"
    if (ask.which and not ask.points) or (ask.how_many and not (asked_years and ask.named)):
        return None
    if mentioned and (ask.yes_no or not ask.which):
        return "yes" if mentioned == [0] else "no"
    if ask.which:
        return "give" if ask.related and not ask.attribute and not ask.foreign else None
    guesses_other_year = asked_years and ask.yes_no and ask.foreign < 2 and not (ask.chooses or elsewhere)
    return "no" if guesses_other_year else None
