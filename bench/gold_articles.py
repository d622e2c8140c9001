"""Answers to built-in questions over articles, from the text of a sample alone; `gold_answers.py` is the command.

The sentences of a sample's own articles are read back into facts, its question into relations, by the sentence forms in
`templates/worlds`; then every reading is followed. The hidden fact chooses one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parents[1] / "templates/worlds"
Row = dict[str, Any]
Bound = dict[str, str]

LEADS_TO = {
    "born_in": "town", "setting": "town", "seat": "town", "town": "town", "teacher": "person", "mayor": "person",
    "author": "person", "founder": "person", "winner": "person", "employer": "company", "house": "company",
    "patron": "company",
}  # fmt: skip
"""Relations that lead to another article, and its kind."""
YES_NO: dict[str, tuple[str, str, Any]] = {
    "born_before_work": ("person.born", "work.year", lambda a, b, n: a < b),
    "born_before_firm": ("person.born", "company.founded", lambda a, b, n: a < b),
    "lived_to_event": ("person.died", "event.first", lambda a, b, n: a > b),
    "lived_to_work": ("person.died", "work.year", lambda a, b, n: a > b),
    "lived_to_firm": ("person.died", "company.founded", lambda a, b, n: a > b),
    "of_age": ("person.born", "event.first", lambda a, b, n: b - a >= n),
    "pupil": ("person.born", "person.died", lambda a, b, n: a < b),
    "downhill": ("town.elevation", "town.elevation", lambda a, b, n: a > b),
    "climb": ("town.elevation", "town.elevation", lambda a, b, n: b - a > n),
    "jobs": ("company.staff", "town.population", lambda a, b, n: a > b),
    "crowd": ("event.visitors", "town.population", lambda a, b, n: a > b),
    "crowd_staff": ("event.visitors", "company.staff", lambda a, b, n: a > b),
    "old_town": ("town.founded", "company.founded", lambda a, b, n: b - a >= n),
    "town_event": ("town.founded", "event.first", lambda a, b, n: b - a >= n),
    "work_firm": ("work.year", "company.founded", lambda a, b, n: a < b),
    "work_event": ("work.year", "event.first", lambda a, b, n: a < b),
    "same_region": ("town.tag", "town.tag", lambda a, b, n: a == b),
    "same_river": ("town.river", "town.river", lambda a, b, n: a == b),
    "same_calling": ("person.tag", "person.tag", lambda a, b, n: a == b),
    "same_trade": ("company.tag", "company.tag", lambda a, b, n: a == b),
}
"""What the yes/no questions of each name ask, by reading them: two facts and what must hold."""
NUMERIC = frozenset({"born", "died", "founded", "first", "n", "elevation"})
"""Slots that only digits fill."""


@cache
def texts(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text())


@cache
def synonyms() -> tuple[re.Pattern[str], dict[str, str]]:
    words = {word: others.split() for word, others in texts("dialect_zh.yaml")["words"].items()}
    return re.compile(f"({'|'.join(words)})"), {word: f"(?:{'|'.join(others)})" for word, others in words.items()}


def literal(text: str, lang: str) -> re.Pattern[str]:
    """The pattern of a piece of a form; Chinese words may be replaced by their synonyms."""
    if lang == "en":
        return re.compile(re.escape(text))
    found, either = synonyms()
    return re.compile("".join(either.get(piece, re.escape(piece)) for piece in found.split(text)))


@cache
def pieces(form: str, lang: str) -> tuple[tuple[str, re.Pattern[str] | None], ...]:
    """A form as slots and patterns of the text between them, in order."""
    parts = re.split(r"\{([\w ]+)\}", form)
    return tuple((one, None if i % 2 else literal(one, lang)) for i, one in enumerate(parts) if one)


def bind(form: str, text: str, lang: str, known: Bound | None = None, digits: frozenset[str] = NUMERIC) -> list[Bound]:
    """Every way to fill the slots of a form, those that are known included, so that it reads like the text."""
    parts = pieces(form, lang)

    def follow(number: int, at: int, bound: Bound) -> Iterator[Bound]:
        if number == len(parts):
            if at == len(text):
                yield bound
            return
        slot, pattern = parts[number]
        if pattern:
            if match := pattern.match(text, at):
                yield from follow(number + 1, match.end(), bound)
            return
        if slot in bound:
            ends = [at + len(bound[slot])] if text.startswith(bound[slot], at) else []
        elif number + 1 == len(parts):
            ends = [len(text)]
        else:
            after = parts[number + 1][1]
            ends = [end for end in range(at + 1, len(text)) if not after or after.match(text, end)]
        for end in ends:
            value = text[at:end]
            if value and (value.isdigit() or not (slot in digits or slot.startswith("year"))):
                yield from follow(number + 1, end, bound | {slot: value})

    return list(follow(0, 0, known or {}))


@cache
def article_forms(lang: str) -> list[tuple[str, Row, str, bool]]:
    """Every form of a sentence of an article: kind of article, its text, the form, whether its values are numbers."""
    out: list[tuple[str, Row, str, bool]] = []
    stop = texts(f"articles_{lang}.yaml")["full_stop"]
    for kind, page in texts(f"articles_{lang}.yaml")["pages"].items():
        for one in page:
            more = [form.format(value="{value2}", year="{year2}") for form in one.get("more", [])]
            more += [one["again"].replace("year", "year2")] if "again" in one else []
            ends = [end + stop for end in ("", *more)] if "more" in one else [""]
            wholes = [form + end for form in one["text"].splitlines() for end in ends]
            wholes = [form.replace("{a tag}", a + "{tag}") for form in wholes for a in ("a ", "an ")]
            numbers = one["states"] in ("population", "staff", "visitors")
            out += [(kind, one, form, numbers) for form in dict.fromkeys(wholes)]
    return out


class Page:
    """One article, read back into facts: relation -> values with their years."""

    def __init__(self, title: str, sentences: list[str], lang: str) -> None:
        self.title = title
        self.name = re.sub(r" \([^()]*\)$|（[^（）]*）$", "", title)
        self.kind = ""
        self.facts: dict[str, list[tuple[str, str]]] = {}
        for sentence in sentences:
            self._read(re.sub(r", known for [^.]+\.$", ".", sentence), lang)

    def _read(self, sentence: str, lang: str) -> None:
        for kind, one, form, numbers in article_forms(lang):
            if self.kind not in ("", kind):
                continue
            digits = NUMERIC | {"value", "value2"} if numbers else NUMERIC
            for bound in bind(form, sentence, lang, {"name": self.name}, digits):
                values = (bound.get("value", ""), bound.get("value2", ""))
                if not numbers and any(re.search(r"\d{4}|，|, ", value) for value in values):
                    continue
                self.kind = kind
                for relation in one["states"].split():
                    first = bound.get(relation, values[0])
                    self.facts[relation] = [(first, bound.get("year", "") if "more" in one else "")]
                    if "year2" in bound:
                        self.facts[relation].append((values[1] or first, bound["year2"]))
                return


class Solver:
    """All answers that the articles of one sample allow for its question."""

    def __init__(self, sample: Row) -> None:
        self.lang: str = sample["lang"]
        self.text = texts(f"questions_{self.lang}.yaml")
        self.pages = [Page(one["title"], one["sentences"], self.lang) for one in sample["context"]]
        self.hidden: Row = sample["hidden"] or {"kind": ""}

    def matches(self, lines: str, text: str) -> Iterator[Bound]:
        """Every way to read a text as one of the lines, without a year and with one wherever it may be."""
        year = self.text["year_phrase"]
        for line in lines.splitlines():
            plain = line.replace("{when}", "")
            forms = (plain, line.replace("{when}", year), plain + year) if "{when}" in line else (line,)
            for form in forms:
                yield from bind(form, text, self.lang)
                if "s' " in text:  # the possessive of a name that ends with s
                    yield from bind(form.replace("{x}'s ", "{x}' "), text, self.lang)

    def values(self, page: Page, relation: str, year: str) -> list[str]:
        found = page.facts.get(relation, [])
        meant = year or (re.sub(r"\D", "", self.hidden["span"]) if self.hidden["kind"] == "year" else "")
        if meant and any(when == meant for _, when in found):
            found = [one for one in found if one[1] == meant]
        elif year:
            return []
        return list(dict.fromkeys(value for value, _ in found))

    def named(self, name: str, kind: str, tag: str = "") -> list[Page]:
        found = [page for page in self.pages if page.name == name and page.kind == kind]
        if tag:
            found = [page for page in found if page.facts.get("tag", [("", "")])[0][0] == tag]
        meant = self.hidden["readings"][0][-1] if self.hidden["kind"] == "entity" else ""
        return [page for page in found if page.title == meant] or found

    def things(self, phrase: str) -> list[Page]:
        """The pages that a noun phrase may mean."""
        found: dict[str, Page] = {}
        for said in {phrase, phrase[:1].lower() + phrase[1:]}:
            for mentions in (self.text["mention"], self.text["mention_with_tag"]):
                for kind, form in mentions.items():
                    for bound in bind(form, said, self.lang):
                        found |= {page.title: page for page in self.named(bound["name"], kind, bound.get("tag", ""))}
            for relation, lines in self.text["nouns"].items():
                for bound in self.matches(lines, said):
                    for owner in self.things(bound["x"]):
                        for value in self.values(owner, relation, bound.get("year", "")):
                            pages = self.named(value, LEADS_TO[relation]) or [Page(value, [], self.lang)]
                            found |= {page.title: page for page in pages}
        return list(found.values())

    def amounts(self, phrase: str, fact: str, year: str) -> list[tuple[Page, str]]:
        kind, relation = fact.split(".")
        pages = [page for page in self.things(phrase) if page.kind == kind]
        found = [(page, value) for page in pages for value in self.values(page, relation, year)]
        if not year:
            for form in {self.text["amount_of_year"], self.text["amount_of_year_bracketed"]}:
                for bound in bind(form, phrase, self.lang):
                    found += self.amounts(bound["phrase"], fact, bound["year"])
        return found

    def answers(self, question: str) -> set[str]:
        return set(self._bridge(question)) | set(self._compared(question)) | set(self._yes_no(question))

    def _bridge(self, question: str) -> Iterator[str]:
        gap = texts(f"articles_{self.lang}.yaml")["sentence_gap"]
        asked = [(question, "")]
        for lead in self.text["leads"].splitlines():
            asked += [(bound["rest"], bound["x"]) for bound in bind(lead + gap + "{rest}", question, self.lang)]
        for (ask, subject), (fact, lines) in product(asked, self.text["asks"].items()):
            kind, relation = fact.split(".")
            for bound in self.matches(lines, ask):
                for phrase in self._after_lead(bound["x"], subject) if subject else [bound["x"]]:
                    for page in self.things(phrase):
                        if page.kind == kind:
                            yield from self.values(page, relation, bound.get("year", ""))

    def _after_lead(self, phrase: str, subject: str) -> Iterator[str]:
        """The phrase with the lead's subject in the place of the pronoun or noun that stands for it."""
        said = phrase[:1].lower() + phrase[1:]
        for stand_in in "\n".join(self.text["stand_ins"].values()).splitlines():
            pattern = literal(stand_in, self.lang)
            if pattern.fullmatch(said):
                yield subject
            elif self.lang == "zh" and (place := pattern.search(said)):
                yield said[: place.start()] + subject + said[place.end() :]

    def _pairs(self, line: str, question: str, left: str, right: str) -> Iterator[tuple[Page, str, Page, str, int]]:
        """Two pages, each with its value, and the number in the form that compares them."""
        year = self.text["year_phrase"]
        years = [("", year.replace("year", f"year_{one}")) if f"{{{one}_when}}" in line else ("",) for one in "ab"]
        for a_year, b_year in product(*years):
            form = line.replace("{a_when}", a_year).replace("{b_when}", b_year)
            for bound in bind(form, question, self.lang):
                first = self.amounts(bound["a"], left, bound.get("year_a", ""))
                second = self.amounts(bound["b"], right, bound.get("year_b", ""))
                for (page_a, a), (page_b, b) in product(first, second):
                    yield page_a, a, page_b, b, int(bound.get("n", 0))

    def _compared(self, question: str) -> Iterator[str]:
        for fact, forms in self.text["comparisons"].items():
            for ((pick, form),) in map(dict.items, forms):
                for page_a, a, page_b, b, _ in self._pairs(form, question, fact, fact):
                    yield page_a.name if (int(a) < int(b)) == (pick == "min") else page_b.name

    def _yes_no(self, question: str) -> Iterator[str]:
        for name, (left, right, holds) in YES_NO.items():
            for line in self.text["strategy"][name].splitlines():
                for _, a, _, b, n in self._pairs(line, question, left, right):
                    verdict = holds(int(a), int(b), n) if a.isdigit() else holds(a, b, n)
                    yield self.text["answer_yes" if verdict else "answer_no"]
