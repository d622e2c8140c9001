"""Answers to built-in word problems, from the text of a sample alone; `gold_answers.py` is the command.

The sentences of the message, the notes and the hidden fact are read back into quantities by the forms in
`scenes_*.yaml`; what is computed with them is read from `programs.yaml`, which no program can check. A person has to.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any

from bench.gold_articles import Row, bind, texts

MONTHS = "January February March April May June July August September October November December".split()
DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
DIGITS = r"\d[\d,]*(?:\.\d+)?"
Clause = tuple[int, str]
"""Words of a problem and their place in the message, -1 if they are not in it."""


@cache
def number_words(lang: str) -> dict[str, Fraction]:
    return {word: Fraction(value) for value, word in enumerate(texts(f"problems_{lang}.yaml")["number_words"].split())}


@cache
def quantity_pattern(kind: str, lang: str) -> str:
    """How a quantity may be written: `12`, `twelve`, `$12`, `12 percent`, `March`."""
    if kind == "name":
        return r"[A-Z]\w+" if lang == "en" else r"\w{2,4}"
    if kind == "M":
        return "|".join(MONTHS) if lang == "en" else r"\d+月"
    if kind == "$":
        return rf"[$€£]?{DIGITS}(?: (?:dollars|euros|pounds|crowns|francs|rand))?(?:元|块钱)?"
    if kind == "%":
        return rf"{DIGITS}(?:%| percent)"
    return "|".join([DIGITS, *sorted(number_words(lang), key=len, reverse=True)])


def number(text: str, lang: str) -> Fraction:
    if text in MONTHS:
        return Fraction(MONTHS.index(text) + 1)
    word = number_words(lang).get(text.lower())
    return word if word is not None else Fraction(re.sub(r"[^\d.]", "", text))


def written(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.10f}".rstrip("0")


@cache
def form_pattern(form: str, kinds: tuple[tuple[str, str], ...], lang: str) -> re.Pattern[str]:
    """The pattern of a form with choices in brackets; the quantities are its named groups."""
    own, out = dict(kinds), ""
    for piece in re.split(r"(\{[\w ]+\}|[\[\]|])", form.rstrip(".。")):
        name = piece.strip("{}")
        if piece in ("[", "]", "|"):
            out += {"[": "(?:", "]": ")", "|": "|"}[piece]
        elif name == piece:
            # An empty choice leaves a blank behind that the text does not have.
            out += re.escape(piece).replace(r"\ ", " ?")
        elif name in own and f"(?P<{name}>" not in out:
            out += f"(?P<{name}>{quantity_pattern(own[name], lang)})"
        else:
            out += r"[^.;。；?？]+?"
    return re.compile(out, re.IGNORECASE)


class WordProblem:
    """The quantities that a word problem states, scene by scene, and all results that they allow."""

    def __init__(self, sample: Row) -> None:
        self.lang: str = sample["lang"]
        told = " ".join((sample["premise"], sample["clue"]))
        self.question: str = sample["question"]
        self.told = self._clauses(told)
        hidden = (sample["hidden"] or {}).get("span", "")
        self.stated = [*self.told, (-1, hidden.rstrip(".。"))]
        notes = [one for one in sample["context"] if self._place(one["title"]) in f"{told} {self.question}"]
        self.notes = [(-1, sentence.rstrip(".。")) for one in notes for sentence in one["sentences"]]
        self.scenes, self.programs = texts(f"scenes_{self.lang}.yaml"), texts("programs.yaml")

    def _place(self, title: str) -> str:
        text = texts(f"problems_{self.lang}.yaml")
        for document in "; ".join(text["documents"].values()).split("; "):
            for bound in bind(text["title"].replace("{document}", document), title, self.lang):
                return bound["place"]
        return "\0"

    def _clauses(self, text: str) -> list[Clause]:
        """Every run of words between two marks, the shortest first: a fact is one of them, wherever it was put."""
        ends = {0, *(m.end() for m in re.finditer(r"[.;](?: |$)|, (?:and )?|[。；，]", text)), len(text)}
        runs = [(a, text[a:b]) for a, b in combinations(sorted(ends), 2) if b - a < 250]
        stripped = [(at, re.sub(r"(?:[.;]|, and|,|[。；，])\s*$", "", run).strip()) for at, run in runs]
        return sorted(stripped, key=lambda one: len(one[1]))

    def quantities(self, scene: Row, program: Row) -> tuple[dict[str, Fraction], list[int]] | None:
        """The quantities of a scene and where the message states them; `None` if one is stated nowhere."""
        kinds = [(name, text.split(" ", 1)[0]) for name, text in program["quantities"].items()]
        kinds = [(name, kind) for name, kind in kinds if kind != "a"]
        people = self._people(scene)
        found: dict[str, Fraction] = {}
        places: list[int] = []

        def search(forms: str, where: list[Clause]) -> None:
            for slot, who in people.items():
                forms = forms.replace(slot, who)
            for form, (at, clause) in product(forms.splitlines(), where):
                if match := form_pattern(form, tuple(kinds), self.lang).fullmatch(clause):
                    found.update({name: number(said, self.lang) for name, said in match.groupdict().items() if said})
                    places.append(at)
                    return

        for forms in scene["facts"].values():
            search(forms, self.stated)
        for name, forms in scene.get("listing", {}).items():
            if name not in found:
                search(forms, self.notes)
        complete = all(name in found for name, _ in kinds)
        return (found, [at for at in places if at >= 0]) if complete else None

    def _people(self, scene: Row) -> dict[str, str]:
        """Who is who in a scene with two people, by its opening sentence."""
        if any("{N2}" in forms for forms in scene["facts"].values()):
            for form in scene.get("open", "").splitlines():
                pattern = form_pattern(form, (("N", "name"), ("N2", "name")), self.lang)
                for match in filter(None, (pattern.fullmatch(clause) for _, clause in self.told)):
                    return {f"{{{name}}}": who for name, who in match.groupdict().items()}
        return {}

    def asks(self, scene: Row) -> bool:
        question = self.question.rstrip(".。")
        return any(
            re.search(form_pattern(form, (), self.lang).pattern + r"\s*$", question, re.IGNORECASE)
            for form in (scene["ask"] + scene.get("far", "")).splitlines()
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
        further = {name for part, name in stated if part == "further"}
        chains: list[tuple[int, Fraction]] = []

        def follow(part: str, name: str, prev: Fraction, size: int, end: int) -> None:
            values, places = stated[part, name]
            if part == "further" and places and min(places) <= end:
                return
            program = self.programs[part][name]
            result, size, end = compute(program, values, prev), size + len(values), max([end, *places])
            if self.asks(self.scenes[part][name]):
                chains.append((size, result))
            for other in further - {name}:
                if program["gives"] in self.programs["further"][other]["takes"].split():
                    follow("further", other, result, size, end)

        for part, name in stated:
            if part == "opening":
                follow(part, name, Fraction(0), 0, -1)
        most = max((size for size, _ in chains), default=0)
        return {written(value) for size, value in chains if size == most}


def compute(program: Row, given: dict[str, Fraction], prev: Fraction) -> Fraction:
    values: dict[str, Any] = {**given, "prev": prev}
    if "m" in given:
        values["days_in_month"] = Fraction(DAYS[int(given["m"]) - 1])
    last = Fraction(0)
    for step, text in program["steps"].items():
        formula = re.sub(r"\b(\d+)\b", r"Fraction(\1)", text.split(" = ", 1)[1])
        values[step] = last = eval(formula, {"Fraction": Fraction, "__builtins__": {}}, values)
    return last
