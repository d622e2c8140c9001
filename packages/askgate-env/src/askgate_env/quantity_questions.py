"""Whether a question asks for the hidden quantity of a word problem: competitive matching.

The question is compared with the hidden fact, with every fact of the prompt and with the final question. It asks for
the hidden quantity if

- it wants that kind of quantity (an amount of money is no answer to *how many*),
- the hidden fact explains most of its words, weighted by how rare a word is in the prompt,
- no fact of the prompt explains them better, and it is not the final question again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from .concepts import Concepts, Token, concepts_of, fold, language, names_in, normalize, tokens, union, unknown_words
from .tokenize import words
from .types import Hidden, Lang

Verdict = Literal["give", "yes", "no"]
"""The user's answer to a question: the hidden information, or yes or no to a guess."""
MIN_EXPLAINED = 0.5
"""Share of a question's weight that the hidden fact must explain."""
MIN_EXPLAINED_WITHOUT_KIND = 0.72
"""The same share for a question that does not say what kind of quantity it asks for."""
SYNONYM = 0.85
"""Credit for a word whose synonym is in the fact, or that the fact only implies. An exact match counts 1."""
FOREIGN = 0.45
"""Weight of a word that the sample does not have."""
SOFT = 0.35
"""Weight of a word that carries little meaning."""
SCENE = 0.2
"""Weight of a word that only describes the scene."""
NAME = 0.2
"""Weight of a person's name."""
UNKNOWN = 0.05
"""Weight of a word that carries little meaning and that the sample does not have."""
MIN_LEAD = 0.25
"""Where the hidden fact explains less than `MIN_EXPLAINED` of a question, it must explain more than every other fact by
this margin."""
MIN_CONTRAST = 2.0
"""Minimum ratio of two weights of a question's words: those that only the hidden fact explains, and those that only
another fact of the same kind explains."""
TIE = 1e-9
"""Sums of weights that differ by less are equal."""
UNITS = ("percent", "energy", "area", "weight", "volume", "length", "money", "time", "rate")
"""Kinds of quantity. Where a word may mean two, the first counts: a pound is a weight, then money."""


def unit_asked(text: str, lang: Lang) -> str:
    """The kind of quantity that a question asks for: `how many hours a nap takes` -> time.

    >>> [unit_asked(text, "en") for text in ("what a ticket costs", "how many kilometres a lap is", "how many eggs")]
    ['money', 'length', 'count']
    """
    units = units_asked(fold(text), lang)
    return next((unit for unit in UNITS if unit in units), "count")


def units_asked(asked: str, lang: Lang) -> set[str]:
    """Kinds of quantity that a question asks for, `any` where it does not say; empty where it asks for none."""
    lists, units = language(lang), set[str]()
    if lists.patterns["no_amount"].search(asked):
        return set()
    concepts = concepts_of([asked], lang)
    typed = {unit for concept, unit in lists.unit_of_concept.items() if concept in concepts}
    for found in lists.patterns["how"].finditer(asked):
        rest = f"{lists.patterns['per_what'].split(asked[found.end() : found.end() + 30])[0]}?"
        unit = _unit_at(rest, 3 if found[1] == "many" else 1, lang)
        by_word = "count" if rest[0] in lists.measures else lists.how.get(found[1], "")
        kinds = set((unit or by_word).split())
        # `How high` may ask for several kinds; in `how high is the fee` another word decides.
        units |= (typed - {"any"} or kinds) if len(kinds) > 2 else kinds
        if rest.startswith("块?"):  # coins, or pieces
            units.add("count")
    if units <= {"any"} and typed:
        units = {"money"} if "money" in typed <= {"money", "any"} and "=rate" not in concepts else units | typed
    if "length" in units and lists.patterns["rate"].search(asked):
        units = units - {"length"} | {"rate"}
    wanted = concepts & lists.amount_nouns or lists.patterns["lacks"].search(asked)
    return units or ({"any"} if wanted else set())


def _unit_at(text: str, within: int, lang: Lang) -> str:
    """Kinds of quantity of the first unit among the first `within` words of a text; empty if there is none."""
    near = words(text)[:within] if lang == "en" else [text[:size] for size in (3, 2, 1)]
    known = language(lang).unit_of_word
    return next((known[word] for word in near if word in known), "")


class Fact:
    """A sentence: its words, the kinds of quantity in it, and the things that it counts."""

    def __init__(self, sentence: str, lang: Lang) -> None:
        lists = language(lang)
        self.tokens = tokens(sentence, lang)
        self.concepts = union(token.concepts for token in self.tokens)
        self.units: set[str] = set()
        self.counted: Concepts = frozenset()
        for number in lists.patterns["number"].finditer(sentence):
            after = f"{sentence[number.end() : number.end() + 24]}?"
            things = concepts_of(words(after)[:2] if lang == "en" else after[:1], lang)
            unit = _unit_at(after, 2, lang) or _unit_at(after.removeprefix("个"), 2, lang)
            unit = unit or ("count" if things or after[0] in lists.measures else "number")
            if sentence[: number.start()].rstrip(".").endswith(("$", "£", "€")):
                unit = "money"
            self.units.update(
                ["rate"] if unit == "length" and lists.patterns["rate"].search(sentence) else unit.split()
            )
            self.counted |= things
        self.is_rate, self.is_each = (lists.patterns[name].search(sentence) is not None for name in ("rate", "per"))
        self.counted |= concepts_of(lists.patterns["single"].findall(sentence), lang)
        self.implied = self.concepts | lists.implied_types(self.units)
        """Its concepts and those that its quantities imply: *cost* for an amount of money."""


class Quantity:
    """The hidden quantity of a sample, and the facts of the prompt that compete with it."""

    def __init__(self, hidden: Hidden, lang: Lang, prompt: str, question: str, original: str) -> None:
        self.lang, self.lists, patterns = lang, language(lang), language(lang).patterns
        missing, span, self.final_text, story = (
            normalize(text, lang) for text in (hidden.missing, hidden.span, question, prompt)
        )
        self.final_text = patterns["sentence"].split(self.final_text)[-1]  # without `if he takes 20 trips a day`
        about, self.prompt_names = concepts_of(hidden.about, lang), names_in(prompt, lang)
        self.span, self.names = span, about & self.prompt_names
        self.is_rate = any(patterns["rate"].search(text) for text in (missing, span))
        stated = Fact(span, lang).units & {*UNITS, "count"}
        self.units = (stated or {hidden.unit}) | ({hidden.unit} - {"count"})
        self.units |= {unit for concept, unit in self.lists.unit_of_concept.items() if concept in about}
        self.concepts = concepts_of((missing, span), lang) | about
        if patterns["subject"].search(span):  # *he* may be anybody in the prompt
            self.concepts |= self.prompt_names
        self.implied = self.concepts | self.lists.implied_types(self.units)
        if patterns["pronoun"].search(span):  # a pronoun may stand for a word of the sentence before
            before = normalize(original, lang).partition(span)[0].strip()
            self.implied |= concepts_of(patterns["sentence"].split(before)[-1:], lang)
        self.missing_stems = {token.stem for token in tokens(patterns["how_phrase"].sub(" ", missing), lang)}
        self.counted = _counted(missing, lang)
        self.measured = concepts_of(patterns["measured"].findall(missing), lang)
        """What is measured: `how many litres of milk a cow gives` -> milk."""
        self.each = concepts_of((found for text in (missing, span) for found in patterns["each"].findall(text)), lang)
        """Things that the quantity is given for: `how many steps one floor has` -> floor."""
        self.numbers = set(patterns["number"].findall(span))
        if self.each:
            self.implied |= {"=each"}
        self.facts = [Fact(sentence, lang) for sentence in _sentences(story, lang)]
        self.final = Fact(self.final_text, lang)
        self.final_units = units_asked(self.final_text, lang)

    def understand(self, asked: str) -> Verdict | None:
        """The verdict on a question in lower case; None where it asks for something else."""
        patterns = self.lists.patterns
        units = units_asked(asked, self.lang)
        numbers = set(patterns["number"].findall(asked)) or set(patterns["one"].findall(asked))
        guess = bool(numbers) and not patterns["how"].search(asked) and patterns["yes_no"].search(asked) is not None
        fits = guess or "any" in units or bool(units & self.units) or ("rate" in units and self.is_rate)
        if units and units <= {"any", "money"}:  # `how much is an answer worth` for the points that it is worth
            fits = fits or self._names_its_type(asked)
        fits = fits or bool(_counted(asked, self.lang) & self.measured)  # `how many beans` for their grams
        is_certain = (
            ("rate" in units and self.is_rate and not self._is_other_rate(asked, units))
            or ("percent" in units & self.units and not any("percent" in fact.units for fact in self.facts))
            or ((fits or not units) and self._is_other_one(asked))
        )
        if is_certain:
            return "give"
        other_time = patterns["now"].search(asked) and patterns["then"].search(self.span)
        other_sign = patterns["negated"].search(asked) and not patterns["negated"].search(self.span)
        if not (fits or self._may_fit(asked, units)) or other_time or other_sign:
            return None
        comparable = (units if fits and not guess else units | self.units) | {"number"}
        rivals = [fact for fact in self.facts if fact.units and (guess or "any" in units or fact.units & comparable)]
        if counted := self._counted_per_unit(asked):
            # A fact that counts something else, such as the rows of the hall, does not compete.
            rivals = [fact for fact in rivals if fact.is_each or fact.is_rate or counted & fact.counted]
        asked_tokens = tokens(patterns["how_phrase"].sub(" ", asked), self.lang)
        least = MIN_EXPLAINED if fits else MIN_EXPLAINED_WITHOUT_KIND
        is_about_another = (
            not self._is_nearest(asked_tokens, asked, rivals, units, least)
            or self._counts_another(asked)
            or self._repeats_final(asked, asked_tokens)
            or self._names_another(asked_tokens)
            or self._measures_another(asked, units)
            or self._adds_up(asked)
            or self._lacks_unit(asked, asked_tokens)
        )
        if is_about_another:
            return None
        if guess:
            return "yes" if numbers & self.numbers else "no"
        return "give"

    def _names_its_type(self, asked: str) -> bool:
        """Whether a question has a word for the kind of the hidden quantity that the hidden fact has too: a *cost*."""
        return bool(concepts_of([asked], self.lang) & self.lists.types & self.concepts)

    def _may_fit(self, asked: str, units: set[str]) -> bool:
        """Whether a question may want this quantity although it does not say so: `what is a lap?`, `eggs per hen?`"""
        patterns = self.lists.patterns
        if patterns["no_amount"].search(asked) or (units and patterns["how"].search(asked)):
            return False
        if units - {"any"} and not self._names_its_type(asked):
            return False
        if (noun := patterns["what_noun"].search(asked)) and not any(
            self._is_type(token) or token.concepts & self.lists.amount_nouns for token in tokens(noun[1], self.lang)
        ):
            return False  # `what film was showing`
        is_question = patterns["question_word"].search(asked) is not None
        return not is_question or any(patterns[name].search(asked) for name in ("what", "how"))

    def _is_nearest(
        self, asked_tokens: Sequence[Token], asked: str, rivals: Sequence[Fact], units: set[str], least: float
    ) -> bool:
        """Whether the hidden fact explains the words of a question, and no other fact explains them better."""
        patterns, counted = self.lists.patterns, _counted(asked, self.lang)
        strict = frozenset[str]() if self._counted_per_unit(asked) else counted
        weights = [self._weight(token, rivals, strict) for token in asked_tokens]
        if self.lang == "zh":  # characters of one unknown word share its weight
            letters = {letter for word in unknown_words(asked, "zh") if len(word) > 1 for letter in word}
            weights = [
                weight / (1 + (token.stem in letters)) for token, weight in zip(asked_tokens, weights, strict=True)
            ]

        def explained(fact: Fact | Quantity) -> list[float]:
            """For each word, the part of its weight that a fact explains."""
            # Another quantity of the kind may be of the same stuff: litres of milk that go into the yoghurt.
            implied = fact.implied | self.measured if fact.units & self.units else fact.implied
            return [
                weight * (1.0 if token.stem in fact.concepts else SYNONYM if token.concepts & implied else 0.0)
                for token, weight in zip(asked_tokens, weights, strict=True)
            ]

        hidden = explained(self)
        content = [i for i, token in enumerate(asked_tokens) if weights[i] > SCENE and not self._is_type(token)]
        compared = content or range(len(asked_tokens) if least == MIN_EXPLAINED else 0)
        total = sum(weights[i] for i in compared)
        others = [explained(fact) for fact in rivals]
        best = max(map(sum, (*others, explained(self.final))))
        # A question with many words of its own still asks for what is missing if it fits nothing that is given.
        things = tokens(" ".join(patterns["counted"].findall(asked)[:1]), self.lang)
        counts_unknown = bool(things) and not things[0].concepts & self.implied
        fits_nothing_else = (
            least == MIN_EXPLAINED
            and not counts_unknown
            and sum(hidden) > best + MIN_LEAD
            and any(hidden[i] for i in content if not asked_tokens[i].concepts & self.lists.times)
        )
        if not fits_nothing_else and (not total or sum(hidden[i] for i in compared) < least * total):
            return False
        says_of_how_many = any(patterns[name].search(asked) for name in ("each", "unit_price", "total"))
        is_distinctive = [
            not (self._is_type(token) or token.concepts & self.lists.times or token.stem in self.lists.measures)
            for token in asked_tokens
        ]
        for fact, other in zip(rivals, others, strict=True):
            counts = fact.units & self.units == {"count"} and counted and not counted & fact.counted
            if fact.units & self.units and fact.is_rate == self.is_rate and not counts:
                # What only another quantity of the kind explains counts double: a child's ticket, not an adult's.
                by_word = zip(hidden, other, is_distinctive, strict=True)
                pairs = [(ours, theirs) for ours, theirs, distinctive in by_word if distinctive]
                only_hidden = sum(ours for ours, theirs in pairs if not theirs)
                only_other = sum(theirs for ours, theirs in pairs if not ours)
                if only_other and only_hidden < MIN_CONTRAST * only_other:
                    return False
            # On a tie, the hidden fact must explain every word that the other one explains.
            # A question without *per hour* is rather for what is not given per hour.
            is_total = not fact.units & self.units and patterns["total"].search(asked) is not None
            is_of_all = self.each and not fact.is_each and bool(fact.units & self.units) and not says_of_how_many
            is_no_rate = self.is_rate and not fact.is_rate and bool(fact.units & (self.units | {"number"}))
            loses_tie = (
                any(theirs and not ours for theirs, ours in zip(other, hidden, strict=True))
                or is_total
                or is_of_all
                or (is_no_rate and not self._asks_for_rate(asked))
            )
            if sum(other) > sum(hidden) + (-TIE if loses_tie else TIE):
                return False
        return not units & self.final_units or sum(explained(self.final)) <= sum(hidden) + TIE

    def _weight(self, token: Token, rivals: Sequence[Fact], counted: Concepts) -> float:
        """Weight of a word: the rarer in the prompt, the more it tells."""
        if token.concepts & self.lists.amount_nouns:
            return 0.0
        competes = token.concepts & self.implied or any(token.concepts & fact.concepts for fact in rivals)
        if self._is_type(token):
            return SOFT if competes else UNKNOWN
        if token.concepts & self.prompt_names:
            return NAME
        times = sum(bool(token.concepts & fact.concepts) for fact in self.facts)
        if competes:
            return 1 / (1 + 0.5 * times)
        if token.stem in self.lists.measures:
            return UNKNOWN
        if token.concepts & counted:
            return 1.0
        return SCENE if times else FOREIGN

    def _is_type(self, token: Token) -> bool:
        """Whether a word only says what kind of quantity is meant, or carries little meaning."""
        groups = token.concepts - {token.stem} - self.lists.attributes  # *hold* as in *hold a festival*
        soft = token.soft or (bool(groups) and groups <= self.lists.soft)
        return soft or bool(token.concepts & self.lists.types) or "=each" in token.concepts

    def _counted_per_unit(self, asked: str) -> Concepts:
        """The hidden thing that a question counts, if it does so per hidden unit: `seats in each row`; else empty."""
        each = concepts_of(self.lists.patterns["each"].findall(asked), self.lang) - self.lists.soft - self.lists.types
        counted = _counted(asked, self.lang) or concepts_of([asked], self.lang)
        per_unit = each & self.each and not counted & self.lists.types
        return counted & (self.counted | self.measured) if per_unit else frozenset()

    def _counts_another(self, asked: str) -> bool:
        """Whether a question counts what the prompt counts, or what the hidden quantity is given for."""
        patterns, counted = self.lists.patterns, _counted(asked, self.lang)
        each = concepts_of(patterns["each"].findall(asked), self.lang) - self.lists.types
        if each & self.counted and not each & self.each:
            return True
        if patterns["how_big"].search(asked) and self.counted & concepts_of([asked], self.lang):
            return True
        stuff = concepts_of(patterns["stuff"].findall(asked), self.lang)
        if stuff and self.measured and not stuff & self.implied:
            return True
        container = concepts_of(patterns["container"].findall(asked), self.lang)
        if container and self.each and not container & self.implied:
            return True
        if not counted or counted & self.counted:
            return False
        elsewhere = any(counted & fact.counted for fact in self.facts)
        return bool(counted & self.each) or (elsewhere and not counted & self.concepts)

    def _is_other_one(self, asked: str) -> bool:
        """Whether a question names a quantity that is given, then asks for the other one of its kind."""
        if (other := self.lists.patterns["other_one"].search(asked)) is None:
            return False
        before, after = (concepts_of([text], self.lang) for text in (asked[: other.start()], asked[other.start() :]))
        given = [fact for fact in self.facts if fact.units & self.units and fact.concepts & before - self.concepts]
        named = max(given, key=lambda fact: len(fact.concepts & before), default=None)
        return named is not None and bool(after & self.implied) and not after & named.concepts - self.implied

    def _measures_another(self, asked: str, units: set[str]) -> bool:
        """Whether a question is for another quantity of the kind: a width for a length, the wood for the birdhouse."""
        if concepts_of([asked], self.lang) & self.lists.distinct - self.concepts:
            return True
        part = self.lists.patterns["part"].search(asked)
        if part is None or "any" in units:
            return False
        piece, whole = (concepts_of([noun], self.lang) for noun in part.groups())
        is_new = not piece & self.implied and not any(piece & fact.concepts for fact in (*self.facts, self.final))
        return bool(piece) and is_new and bool(whole & self.concepts)

    def _is_other_rate(self, asked: str, units: set[str]) -> bool:
        """Whether a question for a rate may be for one of the prompt. Pounds an hour and hours a day are no speeds."""
        ignored = {"money", "time"} - units
        rates = [fact for fact in self.facts if fact.is_rate]
        shared = {token.stem for token in tokens(asked, self.lang) if not self._is_type(token)} & self.concepts
        only_hidden_fits = shared and self.units - ignored and not any(fact.units - ignored for fact in rates)
        return bool(rates) and not only_hidden_fits

    def _asks_for_rate(self, asked: str) -> bool:
        concepts = concepts_of([asked], self.lang)
        has_rate = self.lists.patterns["rate"].search(asked) is not None
        return has_rate or bool(concepts & {"=speed", "=rate", *self.lists.times})

    def _adds_up(self, asked: str) -> bool:
        """Whether a question is for a total, and the hidden quantity is given for each of something."""
        total, each = (self.lists.patterns[name] for name in ("total", "each"))
        if not (self.is_rate or self.each) or total.search(self.span) or not total.search(asked):
            return False
        return not concepts_of(each.findall(asked), self.lang) & (self.each | self.lists.times)

    def _repeats_final(self, asked: str, asked_tokens: Sequence[Token]) -> bool:
        """Whether a question is the final question of the prompt again."""
        unit_price = self.lists.patterns["unit_price"]
        asks_other_price = unit_price.search(asked) and not unit_price.search(self.final_text)
        if asks_other_price or {token.stem for token in asked_tokens} == self.missing_stems:
            return False
        present = union(token.concepts for token in asked_tokens)
        # A pronoun may stand for the names of the final question.
        names = self.prompt_names if not present & self.prompt_names else frozenset()
        final = [token for token in self.final.tokens if not token.concepts & names]
        missed = sum(not token.concepts & present for token in final)
        return 4 * missed <= len(final) and all(token.concepts & self.final.concepts for token in asked_tokens)

    def _names_another(self, asked_tokens: Sequence[Token]) -> bool:
        """Whether a question names people, and none of those whom the quantity is about."""
        names = union(token.concepts for token in asked_tokens) & self.prompt_names
        return bool(names and self.names and not names & self.names)

    def _lacks_unit(self, asked: str, asked_tokens: Sequence[Token]) -> bool:
        """Whether a question counts the hidden things for something else than their unit: `points needed to pass`."""
        counted = _counted(asked, self.lang) & self.counted
        if not counted or not self.each or self.lists.patterns["per"].search(asked):
            return False
        ignored = counted | self.lists.amount_nouns
        content = [token.concepts for token in asked_tokens if not (self._is_type(token) or token.concepts & ignored)]
        known = self.prompt_names.union(*(fact.concepts for fact in self.facts))
        return any(not word & known for word in content) and not any(word & self.implied for word in content)


def _sentences(text: str, lang: Lang) -> list[str]:
    """Sentences of a story, and their parts that state a quantity. What comes before belongs to the part after it."""
    parts, before, patterns = list[str](), "", language(lang).patterns
    for sentence in patterns["stop"].split(text):
        for part in patterns["sentence"].split(sentence):
            before = f"{before} {part}".strip()
            if patterns["number"].search(part):
                parts.append(before)
                before = ""
        if before:
            parts.append(before)
        before = ""
    return parts


def _counted(text: str, lang: Lang) -> Concepts:
    """The thing that a question counts: `how many wooden crates` -> crate."""
    return concepts_of(language(lang).patterns["counted"].findall(text)[:1], lang)
