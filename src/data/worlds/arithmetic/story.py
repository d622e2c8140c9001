"""The visible text, drawn before anybody decides whether the left-out quantity can be found.

Which quantity may be left out is drawn here too, for every story, so that its sentence is written the same way whether
it is kept, moved into an article or withheld.
"""

from __future__ import annotations

from random import Random

from msgspec import Struct

from ....core.types import Level
from ...pool.source import OPERATIONS_MORE, USUAL, Want
from .expr import operators
from .grammar import render
from .program import EMPTY, Plan, Program, consistent_answers, extend, operations, told_numbers
from .scenes import FURTHER, OPENING
from .tongue import Slots, Tongue, pick
from .wording import Wording

TRIES_TO_OPEN = 30
TRIES_TO_GO_ON = 12
MOST_SCENES = 6
MOST_OPERATIONS, MOST_STEPS = 8, 5
"""What a hard story is asked for at most; it may have a few more."""
WORDS_FOR_NUMBERS: dict[Level, float] = {"easy": 0.75, "medium": 0.25, "hard": 0.15}
REMARK_CHANCE: dict[Level, float] = {"easy": 0.1, "medium": 0.45, "hard": 0.5}
REMARK_CHANCE_MORE_IF_LEFT_OUT = 0.3
"""Makes up for the sentence that is gone, so that a short message tells nothing."""
JOIN_CHANCE: dict[Level, float] = {"easy": 0.4, "medium": 0.3, "hard": 0.4}
LEAD_CHANCE = 0.3


def _plan_operations(plan: Plan) -> int:
    return sum(operators(step.formula) for step in plan.steps)


_FIRST: dict[Level, tuple[Plan, ...]] = {
    "easy": tuple(plan for plan in OPENING.values() if _plan_operations(plan) <= 3),
    "medium": tuple(OPENING.values()),
    "hard": tuple(plan for plan in OPENING.values() if plan.gives != "none"),
}
_NEXT: dict[str, tuple[Plan, ...]] = {
    kind: tuple(plan for plan in FURTHER.values() if kind in plan.takes)
    for kind in {plan.gives for plan in (*OPENING.values(), *FURTHER.values())}
}


class Key(Struct, frozen=True):
    """The quantity that may be left out, and how it can be told."""

    name: str
    wording: Wording
    slots: Slots
    """Fillers as they stood at its scene."""


class Story(Struct, frozen=True):
    program: Program
    group: str
    places: tuple[str, ...]
    """Kinds of place that the story could play at."""
    key: Key
    sentences: tuple[str, ...]
    """The complete story, in order."""
    key_at: int
    """Where in it the quantity's own sentence stands."""
    question: str


def draw_story(tongue: Tongue, want: Want, left_out: bool, rng: Random) -> Story:
    while True:
        plans, program = _draw_program(want, rng)
        # What a scene in the middle left out, the question could not be seen to need.
        scenes = {plans[0].key: plans[0], plans[-1].key: plans[-1]}
        keys = [name for plan in scenes.values() for name in plan.hideable if _can_be_missed(program, name)]
        if keys:
            return _tell(tongue, want, left_out, plans, program, pick(rng, keys), rng)


def _can_be_missed(program: Program, name: str) -> bool:
    """Its number stands nowhere else in the story, and without it there is more than one answer."""
    number = program.givens[name]
    if number in [other for told, other in told_numbers(program) if told != name]:
        return False
    return len(consistent_answers(program, name)) > 1


def _draw_program(want: Want, rng: Random) -> tuple[list[Plan], Program]:
    while True:
        plans = [pick(rng, _FIRST[want.level])]
        program = extend(EMPTY, plans[0], rng, TRIES_TO_OPEN)
        if program is None or want.level == "easy":
            if program is not None:
                return plans, program
            continue
        if want.level == "medium":
            fewest, steps = max(want.ops_numeric // 2, 1), _steps(want, 2)
            goal, most = fewest + int(rng.random() < 0.5), max(fewest, steps) + OPERATIONS_MORE
        else:
            fewest, steps = min(want.ops_numeric, MOST_OPERATIONS), _steps(want, 1)
            goal, most = fewest + int(rng.random() * 3), max(fewest, steps) + OPERATIONS_MORE + 3
        while (operations(program) < goal or len(program.steps) < steps) and len(plans) < MOST_SCENES:
            longer = _go_on(program, plans, rng)
            if longer is None:
                break
            plans, program = longer
        if fewest <= operations(program) <= most and len(program.steps) >= steps:
            return plans, program


def _steps(want: Want, part: int) -> int:
    """One for every call wanted. Every step has an operation, so where few are wanted there are fewer steps."""
    wanted = want.tool_hops if want.ops_numeric >= USUAL else min(want.tool_hops, want.ops_numeric)
    return min(max(wanted // part, 1), MOST_STEPS)


def _go_on(program: Program, plans: list[Plan], rng: Random) -> tuple[list[Plan], Program] | None:
    options = [plan for plan in _NEXT[plans[-1].gives] if plan not in plans]
    while options:
        plan = options.pop(int(rng.random() * len(options)))
        longer = extend(program, plan, rng, TRIES_TO_GO_ON)
        if longer is not None:
            return [*plans, plan], longer
    return None


def _tell(
    tongue: Tongue, want: Want, left_out: bool, plans: list[Plan], program: Program, key: str, rng: Random
) -> Story:
    opening = tongue.opening[plans[0].key]
    slots = Slots(tongue, rng)
    tongue.cast(slots, rng)
    slots["P"] = tongue.place(opening.places, rng)
    for slot, category in opening.nouns.items():
        tongue.noun(slot, category, slots, rng)
    for name, number in program.givens.items():
        kind = program.kinds.get(name, "a")
        if kind != "a":
            tongue.quantity(name, kind, number, slots, WORDS_FOR_NUMBERS[want.level], rng)

    clauses: list[tuple[str, str]] = []
    key_words: Key | None = None
    for plan in plans:
        wording = opening if plan is plans[0] else tongue.further[plan.key]
        if key in plan.hideable:
            key_words = Key(key, wording, slots.copy())
        facts = [
            (name, tongue.tidy(render(pick(rng, variants), rng, slots))) for name, variants in wording.facts.items()
        ]
        if not wording.fixed:
            rng.shuffle(facts)
        clauses += facts
        if plan is plans[-1]:
            question = _ask(tongue, wording, want.paraphrase, slots, rng)
        if wording.things:
            _count_on(wording, slots, rng)
    assert key_words is not None

    joints = tongue.plain_joints if want.level == "easy" else tongue.joints
    _join_some(clauses, key, JOIN_CHANCE[want.level], joints, rng)
    chance = REMARK_CHANCE[want.level] + (REMARK_CHANCE_MORE_IF_LEFT_OUT if left_out else 0.0)
    for template in rng.sample(tongue.remarks, 2 if want.level == "hard" else 1):
        if rng.random() < chance:
            remark = tongue.tidy(render(template, rng, slots))
            clauses.insert(int(rng.random() * (len(clauses) + 1)), ("", remark))
    first = tongue.sentence(tongue.tidy(render(pick(rng, opening.open), rng, slots)))
    return Story(
        program=program,
        group=plans[0].group,
        places=opening.places,
        key=key_words,
        sentences=(first, *(tongue.sentence(text) for _, text in clauses)),
        key_at=1 + [name for name, _ in clauses].index(key),
        question=question,
    )


def _count_on(wording: Wording, slots: Slots, rng: Random) -> None:
    """From here on `{things}` are what this scene counted; `{base}` is their plain name."""
    things = render(wording.things, rng, slots)
    if "{base}" not in wording.things:
        slots["base"], slots["unit"] = things, render(wording.unit, rng, slots)
    slots["things"] = things


def _ask(tongue: Tongue, wording: Wording, paraphrase: float, slots: Slots, rng: Random) -> str:
    far = wording.far and rng.random() < paraphrase
    text = render(pick(rng, wording.far if far else wording.ask), rng, slots)
    lead = ""
    if text[-1] in "?？" and rng.random() < LEAD_CHANCE:
        lead = render(pick(rng, tongue.leads), rng, slots)
    return tongue.question(lead, text)


def _join_some(clauses: list[tuple[str, str]], key: str, chance: float, joints: tuple[str, ...], rng: Random) -> None:
    """Now and then two facts share a sentence. The one that may be left out always keeps its own."""
    at = 0
    while at + 1 < len(clauses):
        (left, first), (right, second) = clauses[at], clauses[at + 1]
        if key not in (left, right) and rng.random() < chance:
            clauses[at : at + 2] = [(f"{left}+{right}", f"{first}{pick(rng, joints)}{second}")]
        at += 1
