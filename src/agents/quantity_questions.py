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

from ..core.tokenize import words
from ..core.types import Hidden, Lang
from .concepts import Concepts, Token, concepts_of, fold, language, names_in, normalize, tokens, union

Verdict = Literal["give", "yes", "no"]
"""What a question gets: the hidden information, or yes or no to a guess."""
NEAR = 0.5
"""Share of a question's weight that the hidden fact must explain."""
SURE = 0.85
"""The same where the question does not say what kind of quantity it wants."""
SYNONYM = 0.85
"""Share of a word's weight that a fact explains which has a synonym of it, or only implies it."""
FOREIGN, SOFT, SCENE, NAME, UNKNOWN = 0.45, 0.35, 0.2, 0.2, 0.05
"""Weights of words that the sample does not have, of words that say little, of words that only describe the scene, of
people's names, and of words that say little and that the sample does not have."""
TIE = 1e-9
UNITS = ("percent", "area", "weight", "volume", "length", "money", "time", "rate")
"""Kinds of quantity. Where a word may mean two, the first counts: a pound is a weight, then money."""


def unit_asked(text: str, lang: Lang) -> str:
    """What the quantity that a question asks for measures: `how many hours a nap takes` -> time.

    >>> [unit_asked(text, "en") for text in ("what a ticket costs", "how many kilometres a lap is", "how many eggs")]
    ['money', 'length', 'count']
    """
    units = units_asked(fold(text), lang)
    return next((unit for unit in UNITS if unit in units), "count")


def units_asked(asked: str, lang: Lang) -> set[str]:
    """Kinds of quantity that a question asks for, `any` where it does not say; empty where it asks for none."""
    lists, units = language(lang), set[str]()
    if lists.find["no_amount"].search(asked):
        return units
    concepts = concepts_of([asked], lang)
    typed = {unit for concept, unit in lists.unit_of_concept.items() if concept in concepts}
    for found in lists.find["how"].finditer(asked):
        rest = f"{asked[found.end() : found.end() + 30]}?"
        unit = _unit_at(rest, 3 if found[1] == "many" else 1, lang)
        by_word = "count" if rest[0] in lists.measures else lists.how.get(found[1], "")
        units.update((unit or by_word).split())
        if rest.startswith("块?"):  # coins, or pieces
            units.add("count")
    if units <= {"any"} and typed:
        units = {"money"} if "money" in typed else units | typed
    if units == {"any"} and lists.find["how_much_is"].search(asked):
        units = {"money"}
    if "length" in units and lists.find["rate"].search(asked):
        units = units - {"length"} | {"rate"}
    return units or ({"any"} if concepts & lists.amount_nouns else units)


def _unit_at(text: str, within: int, lang: Lang) -> str:
    """Kinds that the first unit at the start of a text may be of, within so many words; empty if there is none."""
    near = words(text)[:within] if lang == "en" else [text[:size] for size in (3, 2, 1)]
    known = language(lang).unit_of_word
    return next((known[word] for word in near if word in known), "")


class Fact:
    """A sentence: its words, the kinds of quantity in it, and the things that it counts."""

    def __init__(self, sentence: str, lang: Lang) -> None:
        lists = language(lang)
        self.said = tokens(sentence, lang)
        self.concepts = union(token.concepts for token in self.said)
        self.units: set[str] = set()
        self.counted: Concepts = frozenset()
        for number in lists.find["number"].finditer(sentence):
            after = f"{sentence[number.end() : number.end() + 24]}?"
            things = concepts_of(words(after)[:2] if lang == "en" else after[:1], lang)
            unit = _unit_at(after, 2, lang) or ("count" if things else "number")
            if sentence[: number.start()].rstrip(".").endswith(("$", "£", "€")):
                unit = "money"
            self.units.update(["rate"] if unit == "length" and lists.find["rate"].search(after) else unit.split())
            self.counted |= things
        self.implied = self.concepts | {one for one in lists.types if lists.unit_of_concept[one] in self.units}
        """Its concepts and those that its quantities imply: *cost* for an amount of money."""


class Quantity:
    """The hidden quantity of a sample, and the facts of the prompt that compete with it."""

    def __init__(self, hidden: Hidden, lang: Lang, prompt: str, question: str, original: str) -> None:
        self.lang, self.lists, find = lang, language(lang), language(lang).find
        missing, span, self.final_text, story = (
            normalize(text, lang) for text in (hidden.missing, hidden.span, question, prompt)
        )
        about, self.prompt_names = concepts_of(hidden.about, lang), names_in(prompt, lang)
        self.span, self.names = span, about & self.prompt_names
        self.is_rate = any(find["rate"].search(text) for text in (missing, span))
        self.units = {hidden.unit} | {unit for one, unit in self.lists.unit_of_concept.items() if one in about}
        self.concepts = concepts_of((missing, span), lang) | about
        if find["subject"].search(span):  # *he* may be anybody in the prompt
            self.concepts |= self.prompt_names
        self.implied = self.concepts | {
            one for one in self.lists.types if self.lists.unit_of_concept[one] in self.units
        }
        if self.is_rate:
            self.implied |= {"=speed", "=rate"}
        if find["pronoun"].search(span):  # a pronoun may stand for a word of the sentence before
            before = normalize(original, lang).partition(span)[0].strip()
            self.implied |= concepts_of(find["sentence"].split(before)[-1:], lang)
        self.counted = _counted(missing, lang)
        self.each = concepts_of((found for text in (missing, span) for found in find["each"].findall(text)), lang)
        """Things that the quantity is given for: `how many steps one floor has` -> floor."""
        self.numbers = set(find["number"].findall(span))
        self.facts = [Fact(sentence, lang) for sentence in find["sentence"].split(story) if sentence]
        self.final = Fact(self.final_text, lang)
        self.final_units = units_asked(self.final_text, lang)

    def understand(self, asked: str) -> Verdict | None:
        """What a question in lower case gets; None where it asks for something else."""
        find, units = self.lists.find, units_asked(asked, self.lang)
        numbers = set(find["number"].findall(asked))
        guess = bool(numbers) and not units and find["yes_no"].search(asked) is not None
        fits = guess or "any" in units or bool(units & self.units) or ("rate" in units and self.is_rate)
        if not fits and not self._may_fit(asked, units):
            return None
        if find["now"].search(asked) and find["then"].search(self.span):
            return None
        comparable = units | self.units | {"number"}
        rivals = [fact for fact in self.facts if fact.units and (guess or "any" in units or fact.units & comparable)]
        said = tokens(find["how_phrase"].sub(" ", asked), self.lang)
        if not self._is_nearest(said, asked, rivals, units, NEAR if fits else SURE):
            return None
        if self._counts_another(asked) or self._repeats_final(asked, said) or self._names_another(said):
            return None
        if guess:
            return "yes" if numbers & self.numbers else "no"
        return "give"

    def _may_fit(self, asked: str, units: set[str]) -> bool:
        """Whether a question may want this quantity although it does not say so: `what is a lap?`, `eggs per hen?`"""
        find = self.lists.find
        if find["no_amount"].search(asked) or (units and find["how"].search(asked)):
            return False
        return any(find[name].search(asked) for name in ("what", "how")) or not find["question_word"].search(asked)

    def _is_nearest(
        self, said: Sequence[Token], asked: str, rivals: Sequence[Fact], units: set[str], least: float
    ) -> bool:
        """Whether the hidden fact explains the words of a question, and no other fact explains them better."""
        counted = _counted(asked, self.lang)
        weights = [self._weight(token, rivals, counted) for token in said]

        def explained(fact: Fact | Quantity) -> list[float]:
            return [
                weight * (1.0 if token.stem in fact.concepts else SYNONYM if token.concepts & fact.implied else 0.0)
                for token, weight in zip(said, weights, strict=True)
            ]

        own = explained(self)
        content = [at for at, token in enumerate(said) if weights[at] > SCENE and not self._is_type(token)]
        chosen = content or range(len(said) if least == NEAR else 0)
        total = sum(weights[at] for at in chosen)
        if not total or sum(own[at] for at in chosen) < least * total:
            return False
        for fact in rivals:
            other = explained(fact)
            # On a tie, the hidden fact must explain every word that the other one explains.
            lost = any(theirs and not ours for theirs, ours in zip(other, own, strict=True))
            if sum(other) > sum(own) + (-TIE if lost else TIE):
                return False
        return not units & self.final_units or sum(explained(self.final)) <= sum(own) + TIE

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
        if token.concepts & counted:
            return 1.0
        return SCENE if times else FOREIGN

    def _is_type(self, token: Token) -> bool:
        """Whether a word only says what kind of quantity is meant, or says little."""
        return token.soft or bool(token.concepts & self.lists.types)

    def _counts_another(self, asked: str) -> bool:
        """Whether a question counts what the prompt counts, or what the hidden quantity is given for."""
        find, counted = self.lists.find, _counted(asked, self.lang)
        each = concepts_of(find["each"].findall(asked), self.lang)
        if each & self.counted and not each & self.each:
            return True
        if find["how_big"].search(asked) and self.counted & concepts_of([asked], self.lang):
            return True
        per = concepts_of(find["per"].findall(asked), self.lang)
        if per and not per & self.implied and not self.each and not self.is_rate:
            return True
        if not counted or counted & self.counted:
            return False
        elsewhere = any(counted & fact.counted for fact in self.facts)
        return bool(counted & self.each) or (elsewhere and not counted & self.concepts)

    def _repeats_final(self, asked: str, said: Sequence[Token]) -> bool:
        """Whether a question is the final question of the prompt again."""
        compares = self.lists.find["compares"]
        if compares.search(asked) and not compares.search(self.final_text):
            return False
        present = union(token.concepts for token in said)
        # A pronoun may stand for the names of the final question.
        names = self.prompt_names if not present & self.prompt_names else frozenset()
        final = [token for token in self.final.said if not token.concepts & names]
        missed = sum(not token.concepts & present for token in final)
        return 4 * missed <= len(final) and all(token.concepts & self.final.concepts for token in said)

    def _names_another(self, said: Sequence[Token]) -> bool:
        """Whether a question names people, and none of those whom the quantity is about."""
        names = union(token.concepts for token in said) & self.prompt_names
        return bool(names and self.names and not names & self.names)


def _counted(text: str, lang: Lang) -> Concepts:
    """The thing that a question counts: `how many wooden crates` -> crate."""
    return concepts_of(language(lang).find["counted"].findall(text)[:1], lang)
