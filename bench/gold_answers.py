"""Gold answers computed again, by a program that shares no code with the pool builder.

    python bench/gold_answers.py POOL...                       built-in samples, from their text alone
    python bench/gold_answers.py --data-dir data POOL...       samples of dataset files, against these files

Built-in questions over articles: the sentences of a sample's own articles are read back into facts, its question into
relations, by the sentence forms in `templates/worlds`; then every reading is followed. The hidden fact chooses one.
Word problems: the sentences of the message, the notes and the hidden fact are read back into quantities by the forms in
`scenes_*.yaml`; what is computed with them is read from `programs.yaml`, which no program can check. A person has to.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
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
    return yaml.safe_load((ROOT / "templates/worlds" / name).read_text())


@cache
def synonyms() -> tuple[re.Pattern[str], dict[str, str]]:
    words = {word: others.split() for word, others in texts("dialect_zh.yaml")["words"].items()}
    either = {word: f"(?:{'|'.join(map(re.escape, others))})" for word, others in words.items()}
    return re.compile("|".join(words)), either


def literal(text: str, lang: str) -> str:
    """The pattern of a piece of a form; Chinese words may be replaced by their synonyms."""
    if lang == "en":
        return re.escape(text)
    found, either = synonyms()
    out, at = "", 0
    for match in found.finditer(text):
        out += re.escape(text[at : match.start()]) + either[match[0]]
        at = match.end()
    return out + re.escape(text[at:])


@cache
def pieces(form: str, lang: str) -> tuple[tuple[str, Any], ...]:
    """A form as literals and slots, in order."""
    out: list[tuple[str, Any]] = []
    for place, piece in enumerate(re.split(r"\{([\w ]+)\}", form)):
        if place % 2:
            out.append(("slot", piece))
        elif piece:
            out.append(("text", re.compile(literal(piece, lang))))
    return tuple(out)


def bind(
    form: str, text: str, lang: str, known: Bound | None = None, numeric: frozenset[str] = NUMERIC
) -> Iterator[Bound]:
    """Every way to fill the slots of a form, those that are known included, so that it reads like the text."""
    parts = pieces(form, lang)

    def follow(number: int, at: int, bound: Bound) -> Iterator[Bound]:
        if number == len(parts):
            if at == len(text):
                yield bound
            return
        kind, piece = parts[number]
        if kind == "text":
            if match := piece.match(text, at):
                yield from follow(number + 1, match.end(), bound)
            return
        if piece in bound:
            ends = [at + len(bound[piece])] if text.startswith(bound[piece], at) else []
        elif number + 1 == len(parts):
            ends = [len(text)]
        else:
            following, after = parts[number + 1]
            ends = [end for end in range(at + 1, len(text)) if following == "slot" or after.match(text, end)]
        for end in ends:
            value = text[at:end]
            if value and (value.isdigit() or not (piece in numeric or piece.startswith("year"))):
                yield from follow(number + 1, end, bound | {piece: value})

    yield from follow(0, 0, known or {})


class Page:
    """One article, read back into facts: relation -> values with their years."""

    def __init__(self, title: str, sentences: list[str], lang: str) -> None:
        self.title = title
        self.name = re.sub(r" \([^()]*\)$|（[^（）]*）$", "", title)
        self.kind = ""
        self.facts: dict[str, list[tuple[str, str]]] = {}
        self.unread: list[str] = []
        for sentence in sentences:
            if not self._read(re.sub(r", known for [^.]+\.$", ".", sentence), lang):
                self.unread.append(sentence)

    def _read(self, sentence: str, lang: str) -> bool:
        for kind, page in texts(f"articles_{lang}.yaml")["pages"].items():
            if self.kind not in ("", kind):
                continue
            for one in page:
                for bound in self._bindings(one, sentence, lang):
                    self.kind = kind
                    for relation in one["states"].split():
                        first = bound.get(relation, bound.get("value", ""))
                        values = [(first, bound.get("year", "") if "more" in one else "")]
                        if "year2" in bound:
                            values.append((bound.get("value2", first), bound["year2"]))
                        self.facts[relation] = values
                    return True
        return False

    def _bindings(self, one: Row, sentence: str, lang: str) -> Iterator[Bound]:
        stop = texts(f"articles_{lang}.yaml")["full_stop"]
        ends = [""]
        if "more" in one:
            further = [*one["more"], *([one["again"]] if "again" in one else [])]
            ends = [
                stop,
                *(form.replace("{value}", "{value2}").replace("{year}", "{year2}") + stop for form in further),
            ]
        for form in one["text"].splitlines():
            for article in ("a ", "an "):
                for end in ends:
                    whole = (form + end).replace("{a tag}", article + "{tag}")
                    numbers = one["states"] in ("population", "staff", "visitors")
                    slots = NUMERIC | ({"value", "value2"} if numbers else set())
                    for bound in bind(whole, sentence, lang, {"name": self.name}, slots):
                        if (
                            not any(re.search(r"\d{4}|，|, ", bound.get(slot, "")) for slot in ("value", "value2"))
                            or numbers
                        ):
                            yield bound


class Solver:
    """All answers that the articles of one sample allow for its question."""

    def __init__(self, sample: Row) -> None:
        self.lang: str = sample["lang"]
        self.text = texts(f"questions_{self.lang}.yaml")
        self.pages = [Page(one["title"], one["sentences"], self.lang) for one in sample["context"]]
        self.hidden: Row | None = sample["hidden"]

    def year_forms(self, form: str) -> Iterator[str]:
        """A form without a year, and with one in each place where it may be."""
        year = self.text["year_phrase"]
        yield form.replace("{when}", "")
        if "{when}" in form:
            yield form.replace("{when}", year)
            yield form.replace("{when}", "") + year

    def values(self, page: Page, relation: str, year: str) -> list[str]:
        found = page.facts.get(relation, [])
        meant = year or (
            re.sub(r"\D", "", self.hidden["span"]) if self.hidden and self.hidden["kind"] == "year" else ""
        )
        if meant and any(when == meant for _, when in found):
            found = [one for one in found if one[1] == meant]
        elif year:
            return []
        return list(dict.fromkeys(value for value, _ in found))

    def named(self, name: str, tag: str = "", kind: str = "") -> list[Page]:
        found = [page for page in self.pages if page.name == name and kind in ("", page.kind)]
        if tag:
            found = [page for page in found if page.facts.get("tag", [("", "")])[0][0] == tag]
        if self.hidden and self.hidden["kind"] == "entity":
            meant = self.hidden["readings"][0][-1]
            if any(page.title == meant for page in found):
                found = [page for page in found if page.title == meant]
        return found

    def things(self, phrase: str) -> list[Page]:
        """The pages that a noun phrase may mean."""
        found: dict[str, Page] = {}
        lowered = phrase[:1].lower() + phrase[1:]
        for said in dict.fromkeys((phrase, lowered)):
            for mentions in (self.text["mention"], self.text["mention_with_tag"]):
                for kind, form in mentions.items():
                    for bound in bind(form, said, self.lang):
                        found |= {one.title: one for one in self.named(bound["name"], bound.get("tag", ""), kind)}
            for relation, forms in self.text["nouns"].items():
                for line in forms.splitlines():
                    for form in self.year_forms(line):
                        for bound in bind(form, said, self.lang):
                            for owner in self.things(bound["x"]):
                                for value in self.values(owner, relation, bound.get("year", "")):
                                    pages = self.named(value, kind=LEADS_TO[relation]) or [Page(value, [], self.lang)]
                                    found |= {page.title: page for page in pages}
        return list(found.values())

    def amounts(self, phrase: str, fact: str, year: str = "") -> list[tuple[Page, str]]:
        kind, relation = fact.split(".")
        found = [
            (page, value)
            for page in self.things(phrase)
            if page.kind == kind
            for value in self.values(page, relation, year)
        ]
        if not year:
            for form in {self.text["amount_of_year"], self.text["amount_of_year_bracketed"]}:
                for bound in bind(form, phrase, self.lang):
                    found += self.amounts(bound["phrase"], fact, bound["year"])
        return found

    def answers(self, question: str) -> set[str]:
        return self._bridge(question) | self._compared(question) | self._yes_no(question)

    def _bridge(self, question: str) -> set[str]:
        asked: list[tuple[str, str | None]] = [(question, None)]
        gap = texts(f"articles_{self.lang}.yaml")["sentence_gap"]
        for lead in self.text["leads"].splitlines():
            asked += [(b["rest"], b["x"]) for b in bind(lead + gap + "{rest}", question, self.lang)]
        out: set[str] = set()
        for ask, subject in asked:
            for fact, forms in self.text["asks"].items():
                kind, relation = fact.split(".")
                for line in forms.splitlines():
                    for form in self.year_forms(line):
                        for bound in bind(form, ask, self.lang) or bind(form, ask[:1].lower() + ask[1:], self.lang):
                            if subject is not None:
                                said = bound["x"][:1].lower() + bound["x"][1:]
                                stand_ins = self.text["stand_ins"][kind].splitlines()
                                if not any(list(bind(one, said, self.lang)) for one in stand_ins):
                                    continue
                            for page in self.things(subject or bound["x"]):
                                if page.kind == kind:
                                    out |= set(self.values(page, relation, bound.get("year", "")))
        return out

    def _compared(self, question: str) -> set[str]:
        out: set[str] = set()
        for fact, forms in self.text["comparisons"].items():
            for one in forms:
                ((pick, form),) = one.items()
                for bound in bind(form, question, self.lang):
                    for (a, first), (b, second) in itertools.product(
                        self.amounts(bound["a"], fact), self.amounts(bound["b"], fact)
                    ):
                        a_first = int(first) < int(second)
                        out.add(a.name if a_first == (pick == "min") else b.name)
        return out

    def _yes_no(self, question: str) -> set[str]:
        out: set[str] = set()
        year = self.text["year_phrase"]
        for name, (left, right, holds) in YES_NO.items():
            for line in self.text["strategy"][name].splitlines():
                for a_year, b_year in itertools.product(
                    ("", year.replace("year", "year_a")), ("", year.replace("year", "year_b"))
                ):
                    if (a_year and "{a_when}" not in line) or (b_year and "{b_when}" not in line):
                        continue
                    form = line.replace("{a_when}", a_year).replace("{b_when}", b_year)
                    for bound in bind(form, question, self.lang):
                        pairs = itertools.product(
                            self.amounts(bound["a"], left, bound.get("year_a", "")),
                            self.amounts(bound["b"], right, bound.get("year_b", "")),
                        )
                        for (_, a), (_, b) in pairs:
                            numbers = not left.endswith((".tag", ".river"))
                            verdict = holds(int(a), int(b), int(bound.get("n", 0))) if numbers else holds(a, b, 0)
                            out.add(self.text["answer_yes"] if verdict else self.text["answer_no"])
        return out


MONTHS = "January February March April May June July August September October November December".split()
DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
MONEY = r"[$€£]?{0}(?: (?:dollars|euros|pounds|crowns|francs|rand))?(?:元|块钱)?"


@cache
def number_words(lang: str) -> dict[str, Fraction]:
    listed = texts(f"problems_{lang}.yaml")["number_words"].split()
    return {word: Fraction(value) for value, word in enumerate(listed)}


@cache
def quantity_pattern(kind: str, lang: str) -> str:
    """How a quantity may be written: `12`, `twelve`, `$12`, `12 percent`, `March`."""
    if kind == "name":
        return r"[A-Z]\w+" if lang == "en" else r"\w{2,4}"
    if kind == "M":
        return "|".join(MONTHS) if lang == "en" else r"\d+月"
    digits = r"\d[\d,]*(?:\.\d+)?"
    if kind == "$":
        return MONEY.format(digits)
    if kind == "%":
        return rf"{digits}(?:%| percent)|百分之{digits}"
    return "|".join([digits, *sorted(number_words(lang), key=len, reverse=True)])


def number(text: str, lang: str) -> Fraction:
    if text in MONTHS:
        return Fraction(MONTHS.index(text) + 1)
    word = number_words(lang).get(text.lower())
    return word if word is not None else Fraction(re.sub(r"[^\d.]", "", text))


@cache
def form_pattern(form: str, kinds: tuple[tuple[str, str], ...], lang: str) -> re.Pattern[str]:
    """The pattern of a form with choices in brackets; the quantities are its named groups."""
    own, out = dict(kinds), ""
    for piece in re.split(r"(\{[\w ]+\}|[\[\]|])", form):
        if piece in ("[", "]", "|"):
            out += {"[": "(?:", "]": ")", "|": "|"}[piece]
        elif piece.startswith("{"):
            name = piece[1:-1]
            if name in own and f"(?P<{name}>" not in out:
                out += f"(?P<{name}>{quantity_pattern(own[name], lang)})"
            else:
                out += r"[^.;。；?？]+?"
        else:
            # An empty choice leaves a blank behind that the text does not have.
            out += re.escape(piece).replace(r"\ ", " ?")
    return re.compile(out, re.IGNORECASE)


class WordProblem:
    """The quantities that a word problem states, scene by scene, and all results that they allow."""

    def __init__(self, sample: Row) -> None:
        self.lang: str = sample["lang"]
        told = " ".join((sample["premise"], sample["clue"]))
        self.clauses = self._clauses(told)
        self.question: str = sample["question"]
        message = f"{told} {self.question}"
        notes = [one for one in sample["context"] if self._place(one["title"]) in message]
        self.notes = [sentence for one in notes for sentence in one["sentences"]]
        self.hidden = [(sample["hidden"] or {}).get("span", "")]
        self.scenes, self.programs = texts(f"scenes_{self.lang}.yaml"), texts("programs.yaml")

    def _place(self, title: str) -> str:
        form = texts(f"problems_{self.lang}.yaml")["title"]
        documents = texts(f"problems_{self.lang}.yaml")["documents"].values()
        for document in "; ".join(documents).split("; "):
            for bound in bind(form.replace("{document}", document), title, self.lang):
                return bound["place"]
        return "\0"

    def _clauses(self, text: str) -> list[tuple[int, str]]:
        """Every run of words between two marks, with its place: a fact is one of them, wherever it was put."""
        ends = [0, *(m.end() for m in re.finditer(r"[.;](?: |$)|, (?:and )?|[。；，]", text)), len(text)]
        starts = sorted(set(ends))
        runs = [(a, text[a:b]) for a, b in itertools.combinations(starts, 2) if b - a < 250]
        stripped = [(at, re.sub(r"(?:[.;]|, and|,|[。；，])\s*$", "", run).strip()) for at, run in runs]
        return sorted(stripped, key=lambda one: len(one[1]))

    def quantities(self, scene: Row, program: Row) -> tuple[dict[str, Fraction], list[int]] | None:
        """The quantities of a scene and where the message states them; `None` if one is stated nowhere."""
        kinds = {name: text.split(" ", 1)[0] for name, text in program["quantities"].items()}
        stated = tuple((name, kind) for name, kind in kinds.items() if kind != "a")
        found: dict[str, Fraction] = {}
        where = [*self.clauses, *((-1, one.rstrip(".。")) for one in self.hidden)]
        people = self._people(scene)
        places = [self._search(forms, stated, where, found, people) for forms in scene["facts"].values()]
        for name, forms in scene.get("listing", {}).items():
            if name not in found:
                self._search(forms, stated, [(-1, note.rstrip(".。")) for note in self.notes], found, people)
        complete = all(name in found for name, _ in stated)
        return (found, [at for at in places if at >= 0]) if complete else None

    def _people(self, scene: Row) -> dict[str, str]:
        """Who is who in a scene with two people, by its opening sentence."""
        if not any("{N2}" in forms for forms in scene["facts"].values()):
            return {}
        for form in scene.get("open", "").splitlines():
            pattern = form_pattern(form, (("N", "name"), ("N2", "name")), self.lang)
            for _, clause in self.clauses:
                if match := pattern.fullmatch(clause):
                    return {f"{{{name}}}": who for name, who in match.groupdict().items()}
        return {}

    def _search(
        self,
        forms: str,
        stated: tuple[tuple[str, str], ...],
        where: list[tuple[int, str]],
        found: dict[str, Fraction],
        people: dict[str, str],
    ) -> int:
        for slot, who in people.items():
            forms = forms.replace(slot, who)
        for form in forms.splitlines():
            pattern = form_pattern(form.rstrip(".。"), stated, self.lang)
            for at, clause in where:
                if match := pattern.fullmatch(clause):
                    found.update({name: number(text, self.lang) for name, text in match.groupdict().items() if text})
                    return at
        return -1

    def asks(self, scene: Row) -> bool:
        forms = [*scene["ask"].splitlines(), *scene.get("far", "").splitlines()]
        return any(
            re.search(form_pattern(form, (), self.lang).pattern + r"\s*$", self.question, re.I) for form in forms
        )

    def results(self) -> set[str]:
        """Results of every chain of scenes, in the order of the message, whose quantities are all stated and whose last
        one asks the question; of those the ones with the most quantities."""
        stated = {
            (part, name): values
            for part, programs in self.programs.items()
            for name, program in programs.items()
            if (values := self.quantities(self.scenes[part][name], program)) is not None
        }
        chains: list[tuple[int, Fraction]] = []

        def follow(kind: str, name: str, prev: Fraction, size: int, end: int) -> None:
            values, places = stated[kind, name]
            if kind == "further" and places and min(places) <= end:
                return
            program = self.programs[kind][name]
            result, size, end = self._compute(program, values, prev), size + len(values), max([end, *places])
            if self.asks(self.scenes[kind][name]):
                chains.append((size, result))
            for part, further in stated:
                if (
                    part == "further"
                    and further != name
                    and program["gives"] in self.programs[part][further]["takes"].split()
                ):
                    follow(part, further, result, size, end)

        for kind, name in stated:
            if kind == "opening":
                follow(kind, name, Fraction(0), 0, -1)
        most = max((size for size, _ in chains), default=0)
        return {written(value) for size, value in chains if size == most}

    def _compute(self, program: Row, given: dict[str, Fraction], prev: Fraction) -> Fraction:
        values: dict[str, Any] = {**given, "prev": prev}
        if "m" in given:
            values["days_in_month"] = Fraction(DAYS[int(given["m"]) - 1])
        last = Fraction(0)
        for step, text in program["steps"].items():
            formula = re.sub(r"\b(\d+)\b", r"Fraction(\1)", text.split(" = ", 1)[1])
            values[step] = last = eval(formula, {"Fraction": Fraction, "__builtins__": {}}, values)
        return last


def written(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.10f}".rstrip("0")


def builtin(sample: Row) -> set[str]:
    """All answers that a built-in sample allows, with its hidden fact."""
    return WordProblem(sample).results() if sample["task"] == "gsm8k" else Solver(sample).answers(sample["question"])


# --- Samples of dataset files: the answer that the file has for the question ---


class SourceFiles:
    """The records of the dataset files, by the words of their question or by their id."""

    def __init__(self, folder: Path) -> None:
        self.gsm8k = {_flat(row["question"]): row for row in _rows(folder / "gsm8k")}
        self.hotpotqa = {row["_id"]: row for row in _rows(folder / "hotpotqa")}
        self.strategyqa = {row["qid"]: row for row in _rows(folder / "strategyqa")}
        self.ambignq = {row["id"]: row for row in _rows(folder / "ambignq")}

    def answers(self, sample: Row) -> set[str]:
        """The answers that the source file has for what the sample asks, hidden fact included."""
        name, _, key = sample["provenance"]["source_id"].partition(":")
        if name == "gsm8k":
            record = self.gsm8k[_flat(sample["original"])]
            steps = re.findall(r"<<[^<>=]*=([^<>]*)>>", record["answer"])
            final = record["answer"].rpartition("####")[2]
            same = written(_amount(final)) == written(_amount(steps[-1]))
            return {written(_amount(final))} if same else set()
        if name == "hotpotqa":
            record = self.hotpotqa[key]
            return (
                {record["answer"].strip()}
                if _flat(record["question"]).strip("?. ") in _flat(sample["prompt"])
                else set()
            )
        if name == "strategyqa":
            record = self.strategyqa[key]
            return (
                {"yes" if record["answer"] else "no"} if _flat(record["question"]) in _flat(sample["prompt"]) else set()
            )
        record = self.ambignq[key.partition("/")[0]]
        readings = [one for some in record["disambiguations"] for one in some]
        if sample["hidden"]:
            # The reading that says what the user would say: the words of the hidden fact, in a row if one has them so.
            said = [word for word in re.findall(r"\w+", sample["hidden"]["span"].lower()) if word not in ("the", "one")]
            asked = [(re.findall(r"\w+", one["question"].lower()), one["answer"][0]) for one in readings]
            exact = {answer for words, answer in asked if f" {' '.join(said)} " in f" {' '.join(words)} "}
            return exact or {answer for words, answer in asked if set(said) <= set(words)}
        if _flat(record["question"]).rstrip("?") == _flat(sample["question"]).rstrip("?") and record["answer"]:
            return {record["answer"][0]}
        return {
            one["answer"][0]
            for one in readings
            if _flat(one["question"]).rstrip("?") == _flat(sample["question"]).rstrip("?")
        }


def _rows(folder: Path) -> list[Row]:
    rows: list[Row] = []
    for path in sorted(folder.glob("*.json*")):
        if path.suffix == ".jsonl":
            rows += map(json.loads, path.read_text().splitlines())
        elif isinstance(found := json.loads(path.read_text()), list):
            rows += found
    return rows


def _flat(text: str) -> str:
    return " ".join(re.sub(r"\s+(?=[?,.])", "", " ".join(text.split())).lower().split())


def _amount(text: str) -> Fraction:
    return Fraction(re.sub(r"[^\d.\-]", "", text).rstrip("."))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pools", nargs="+", type=Path)
    parser.add_argument("--data-dir", type=Path, help="folder of the dataset files")
    parser.add_argument("--per-group", type=int, default=0, help="samples of each task and language; 0: all")
    wanted = parser.parse_args()
    files = SourceFiles(wanted.data_dir) if wanted.data_dir else None
    seen: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for path in wanted.pools:
        for line in path.read_text().splitlines():
            sample = json.loads(line)
            group = f"{sample['provenance']['source_id'].partition(':')[0]} {sample['task']} {sample['lang']}"
            group += " incomplete" if sample["hidden"] else " complete"
            if wanted.per_group and seen[group] >= wanted.per_group:
                continue
            found = files.answers(sample) if files else builtin(sample)
            seen[group] += 1
            right[group] += found == {sample["answer"]}
            if found != {sample["answer"]}:
                print(f"{sample['id']}: gold {sample['answer']!r}, found {sorted(found)}\n    {sample['prompt']}")
    for group in sorted(seen):
        print(f"{group}: {right[group]} of {seen[group]} agree")
    print(f"{sum(seen.values()) - sum(right.values())} of {sum(seen.values())} differ")
    sys.exit(sum(seen.values()) != sum(right.values()))


if __name__ == "__main__":
    main()
