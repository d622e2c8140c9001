"""How hard a sample is: its metrics, its points in eight dimensions, its bucket.

Pure: a `Sample` in, a `DifficultyRecord` out. The fields, the table and the limits are the owner's; SPEC D7 joins them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.types import Lang, Level, Record, Sample, Task
from ..quality.tokenstream import count_tokens
from .ambiguity import ambiguity_flags
from .clue_overlap import clue_overlap
from .words import asked_arithmetic, connector_density, names, numbers, operators, pronouns

EASY_MAX_SCORE = 5
HARD_MIN_SCORE = 9
"""Eight dimensions give 0 (easy), 1 or 2 (hard) points each, 0..16 together. A sample is in the bucket whose conditions
it mostly hits: up to 5 points at least three dimensions are plainly easy and the rest mostly medium, from 9 on more
than half of the points there are were scored, which takes at least one hard dimension and mostly several."""

# Per dimension: the last easy value and the last medium value, higher is harder.
LEN_TOKENS = (199, 600)
TURNS = (2, 4)
TOOL_HOPS = (1, 3)
OPS_NUMERIC = (1, 3)
ENTITIES = (3, 6)
CONNECTOR_DENSITY_MEDIUM = (3.0, 6.0)
CLUE_OVERLAP_MEDIUM = (0.20, 0.40)
TURNS_OF_HARD_CLARIFICATION = 4


class DifficultyRecord(Record, frozen=True):
    """One line of a metrics file. Ratios are rounded first, bucketed after: a record proves its own level."""

    id: str
    task: Task
    len_tokens: int
    """Tokens of the prompt and all context."""
    turns: int
    """Assistant turns: asks, tool calls, the answer."""
    tool_hops: int
    entities: int
    """Distinct names and numbers in what the user says."""
    ops_numeric: int
    """Operators in `calc` calls, and comparisons and differences that the question asks for in words."""
    connector_density: float
    """Logical connectors in 100 words of what the user says."""
    coref_pronouns: int
    clue_overlap: float
    ambiguity_flags: tuple[str, ...]
    needs_clarification: bool
    lang: Lang
    level: Level
    score: int


def measure(sample: Sample) -> DifficultyRecord:
    return measure_all([sample])[0]


def measure_all(samples: Sequence[Sample]) -> list[DifficultyRecord]:
    """Many at once, because their tokens are counted in bulk."""
    lengths = count_tokens([_prompt_and_context(sample) for sample in samples])
    return [_record(sample, int(length)) for sample, length in zip(samples, lengths, strict=True)]


def _prompt_and_context(sample: Sample) -> str:
    pages = [part for article in sample.context for part in (article.title, *article.sentences)]
    return "\n".join([sample.prompt, *pages])


def _record(sample: Sample, len_tokens: int) -> DifficultyRecord:
    said = " ".join(part for part in (sample.premise, sample.clue, sample.question) if part)
    named = names(said, sample.lang, [article.title for article in sample.context])
    turns = sum(turn.by == "assistant" for turn in sample.dialogue)
    calls = [turn for turn in sample.dialogue if turn.act == "call"]
    ops = sum(operators(turn.text) for turn in calls if turn.tool == "calc") + asked_arithmetic(sample.question)
    entities = len({name for _, name in named}) + len(numbers(said))
    density = round(connector_density(said), 2)
    overlap = round(clue_overlap(f"{sample.clue} {sample.question}", " ".join(sample.support)), 4)
    points = (
        _rising(len_tokens, LEN_TOKENS)
        + _rising(turns, TURNS)
        + _rising(len(calls), TOOL_HOPS)
        + _rising(ops, OPS_NUMERIC)
        + _rising(entities, ENTITIES)
        + density_points(density)
        + overlap_points(overlap)
        + clarification_points(sample.needs_clarification, turns)
    )
    return DifficultyRecord(
        id=sample.id,
        task=sample.task,
        len_tokens=len_tokens,
        turns=turns,
        tool_hops=len(calls),
        entities=entities,
        ops_numeric=ops,
        connector_density=density,
        coref_pronouns=pronouns(said),
        clue_overlap=overlap,
        ambiguity_flags=ambiguity_flags(sample, said, named),
        needs_clarification=sample.needs_clarification,
        lang=sample.lang,
        level=level_of(points),
        score=points,
    )


def level_of(score: int) -> Level:
    if score <= EASY_MAX_SCORE:
        return "easy"
    return "hard" if score >= HARD_MIN_SCORE else "medium"


def _rising(value: int, last: tuple[int, int]) -> int:
    easy, medium = last
    return 0 if value <= easy else 1 if value <= medium else 2


def density_points(density: float) -> int:
    low, high = CONNECTOR_DENSITY_MEDIUM
    return 0 if density < low else 1 if density <= high else 2


def overlap_points(overlap: float) -> int:
    """The less of its clue a question restates, the harder it is."""
    low, high = CLUE_OVERLAP_MEDIUM
    return 0 if overlap > high else 1 if overlap >= low else 2


def clarification_points(needed: bool, turns: int) -> int:
    return 0 if not needed else 2 if turns >= TURNS_OF_HARD_CLARIFICATION else 1
