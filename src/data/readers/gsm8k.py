"""GSM8K: word problems with annotated calculations. One annotation is one `calc` call.

What a problem leaves out may stand in the notes, an article beside it. The prompt is the same either way, so whether
to ask takes looking there.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from random import Random

from msgspec import Struct

from ...agents.tools.calc import number_text
from ...core.tokenize import words
from ...core.types import Article, Hidden
from ..difficulty.words import FUNCTION_WORDS, names_en
from ..pool.source import Item, Step, Want
from ..pool.strength import calls_wanted, followed
from .annotations import Calculation, merge, parse_number, parse_solution
from .listed import listed
from .omit import NUMBER_WORDS, Omission, numbers_in, omissions
from .raw import GsmRecord
from .reading import Mode
from .restate import choose_clue
from .sentences import split_sentences
from .shape import OVERLAP_BANDS, misfit, turns

NOTES_SENTENCES = 2
_DATES = listed(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december christmas easter halloween thanksgiving
    """
)


class Problem(Struct, frozen=True):
    source_id: str
    premise: tuple[str, ...]
    question: str
    answer: Fraction
    steps: tuple[Calculation, ...]
    omissions: tuple[Omission, ...]
    notes_title: str


def source_id(record: GsmRecord) -> str:
    """From the text, so that a file in another order keeps its ids."""
    flat = " ".join(record.question.lower().split())
    return f"gsm8k:{hashlib.sha256(flat.encode()).hexdigest()[:16]}"


def read(record: GsmRecord) -> Problem | None:
    """`None` where the annotations do not compute or do not end on the answer, or there is nothing but the question."""
    solution, mark, final = record.answer.rpartition("####")
    answer = parse_number(final)
    steps = parse_solution(solution)
    sentences = split_sentences(record.question)
    if not mark or answer is None or not steps or steps[-1].value != answer:
        return None
    if len(sentences) < 2 or not sentences[-1].endswith("?"):
        return None
    premise, question = sentences[:-1], sentences[-1]
    return Problem(
        source_id=source_id(record),
        premise=premise,
        question=question,
        answer=answer,
        steps=steps,
        omissions=omissions(premise, question, steps),
        notes_title=_notes_title(premise, question),
    )


def make_item(problem: Problem, mode: Mode, want: Want, seed: int) -> Item | None:
    """The item that comes nearest to the level asked for; `None` where the record cannot be told in this mode."""
    want = followed(want, problem.source_id)
    rng = Random(f"{seed}:{problem.source_id}")
    if mode != "intact" and not problem.omissions:
        return None
    left_out = rng.choice(problem.omissions) if mode != "intact" else None
    visible = tuple(one for place, one in enumerate(problem.premise) if left_out is None or place != left_out.index)
    notes = _notes(problem, visible, left_out if mode == "twin" else None, rng)
    has_notes = mode != "intact" or rng.random() < 0.5
    best: tuple[float, Item] | None = None
    for calculations in _ways(problem, want, mode):
        for premise, clue in _tellings(problem, visible, want):
            item = Item(
                task="gsm8k",
                lang="en",
                source="",
                source_id=problem.source_id,
                premise=premise,
                clue=clue,
                question=problem.question,
                original=" ".join((*problem.premise, problem.question)),
                context=(notes,) if has_notes else (),
                support=problem.premise,
                answer=number_text(problem.answer),
                aliases=(),
                steps=_steps(calculations, problem.notes_title if mode != "intact" else ""),
                hidden=_hidden(left_out) if mode == "hidden" and left_out else None,
                ask_after=1 if mode == "hidden" else 0,
                ambiguity=("left-out-quantity",) if left_out else (),
            )
            if turns(item) > want.max_turns:
                continue
            off = misfit(item, want)
            if best is None or off < best[0] - 1e-9:
                best = (off, item)
            if off == 0:
                return item
    return best[1] if best else None


def _hidden(left_out: Omission) -> Hidden:
    return Hidden(kind="quantity", span=left_out.sentence, missing=left_out.missing, about=left_out.about)


def _ways(problem: Problem, want: Want, mode: Mode) -> Iterator[tuple[Calculation, ...]]:
    """The calculation in fewer or more calls, those first that come nearest to the calls asked for."""
    given = numbers_in(" ".join((*problem.premise, problem.question)))
    looks = mode != "intact"
    most = want.max_turns - 1 - looks - (mode == "hidden")
    counts = range(1, min(len(problem.steps), most) + 1)
    for count in sorted(counts, key=lambda count: abs(count + looks - calls_wanted(want))):
        merged = merge(problem.steps, count, given)
        if merged is not None:
            yield merged


def _tellings(problem: Problem, visible: tuple[str, ...], want: Want) -> Iterator[tuple[str, str]]:
    """(premise, clue): an easy problem has some of its sentences right before the question, none twice."""
    if want.level == "easy":
        low, high = OVERLAP_BANDS["easy"]
        aim = high - (high - low) * want.paraphrase
        last = len(visible) - 1
        chosen = choose_clue(visible, problem.question, problem.premise, aim, lambda some: max(some) == last)
        chosen = chosen or choose_clue(visible, problem.question, problem.premise, aim, lambda some: True)
        if chosen:
            rest = " ".join(one for place, one in enumerate(visible) if place not in chosen)
            yield rest, " ".join(visible[place] for place in chosen)
            return
    yield " ".join(visible), ""


def _steps(calculations: tuple[Calculation, ...], notes_title: str) -> tuple[Step, ...]:
    look = (Step("wiki", notes_title),) if notes_title else ()
    return (*look, *(Step("calc", one.expression, one.note) for one in calculations))


def _notes(problem: Problem, visible: tuple[str, ...], holds: Omission | None, rng: Random) -> Article:
    """A few sentences of the problem; only in a complete twin is the one among them that the message leaves out."""
    count = NOTES_SENTENCES - (holds is not None)
    said = rng.sample(visible, min(count, len(visible)))
    told = [*said, holds.sentence] if holds is not None else said
    rng.shuffle(told)
    return Article(problem.notes_title, tuple(told))


def _notes_title(premise: tuple[str, ...], question: str) -> str:
    """`Notes of Natalia`, else after the word that the problem repeats most.

    A capital says little at the start of a sentence, except of the first: there somebody is introduced.
    """
    text = " ".join((*premise, question))
    plainly = set(re.findall(r"\b[a-z]+\b", text)) | _DATES
    starts = {0} | {match.end() for match in re.finditer(r"[.?!] ", text)}
    named = [(at, name) for at, name in names_en(text) if re.fullmatch(r"[a-z]{3,}", name) and name not in plainly]
    counted = Counter(name for at, name in named)
    known = [name for at, name in named if at == 0 or at not in starts or counted[name] > 1]
    if known:
        return f"Notes of {max(dict.fromkeys(known), key=lambda name: counted[name]).capitalize()}"
    plain = [word for word in words(text) if len(word) > 3 and word.isalpha() and word not in FUNCTION_WORDS]
    common = Counter(word for word in plain if word not in NUMBER_WORDS).most_common(1)
    return f"Notes on {common[0][0]}" if common else "Notes"
