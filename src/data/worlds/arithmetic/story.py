"""The visible text, drawn before anybody decides whether the left-out quantity can be found.

Which quantity may be left out is drawn here too, for every story, so that its sentence is written the same way whether
it is kept, moved into an article or withheld.
"""

from __future__ import annotations

from functools import cache
from random import Random

from msgspec import Struct

from ....core.types import Level
from ...pool.source import OPERATIONS_MORE, USUAL, Want
from ..grammar import render
from .expr import operators
from .language import Language, SceneText, Slots, pick
from .program import EMPTY, Plan, Program, consistent_answers, extend, operations, scene_plans, told_numbers

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


@cache
def _opening_plans(level: Level) -> tuple[Plan, ...]:
    plans = tuple(scene_plans().opening.values())
    if level == "easy":
        return tuple(plan for plan in plans if _plan_operations(plan) <= 3)
    return tuple(plan for plan in plans if plan.gives != "none") if level == "hard" else plans


@cache
def _plans_after(kind: str) -> tuple[Plan, ...]:
    return tuple(plan for plan in scene_plans().further.values() if kind in plan.takes)


class Key(Struct, frozen=True):
    """The quantity that may be left out, and how it can be told."""

    name: str
    scene: SceneText
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


def draw_story(language: Language, want: Want, left_out: bool, rng: Random) -> Story:
    while True:
        plans, program = _draw_program(want, rng)
        # What a scene in the middle left out, the question could not be seen to need.
        scenes = {plans[0].key: plans[0], plans[-1].key: plans[-1]}
        keys = [name for plan in scenes.values() for name in plan.hideable if _can_be_missed(program, name)]
        if keys:
            return _tell(language, want, left_out, plans, program, pick(rng, keys), rng)


def _can_be_missed(program: Program, name: str) -> bool:
    """Its number stands nowhere else in the story, and without it there is more than one answer."""
    number = program.givens[name]
    if number in [other for told, other in told_numbers(program) if told != name]:
        return False
    return len(consistent_answers(program, name)) > 1


def _draw_program(want: Want, rng: Random) -> tuple[list[Plan], Program]:
    while True:
        plans = [pick(rng, _opening_plans(want.level))]
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
    options = [plan for plan in _plans_after(plans[-1].gives) if plan not in plans]
    while options:
        plan = options.pop(int(rng.random() * len(options)))
        longer = extend(program, plan, rng, TRIES_TO_GO_ON)
        if longer is not None:
            return [*plans, plan], longer
    return None


def _tell(
    language: Language, want: Want, left_out: bool, plans: list[Plan], program: Program, key: str, rng: Random
) -> Story:
    opening = language.scene(plans[0].key)
    slots = Slots(language, rng)
    language.cast(slots, rng)
    slots["P"] = language.place(opening.places, rng)
    for slot, category in opening.nouns.items():
        language.noun(slot, category, slots, rng)
    for name, number in program.givens.items():
        kind = program.kinds.get(name, "a")
        if kind != "a":
            language.quantity(name, kind, number, slots, WORDS_FOR_NUMBERS[want.level], rng)

    clauses: list[tuple[str, str]] = []
    key_words: Key | None = None
    for plan in plans:
        scene = opening if plan is plans[0] else language.scene(plan.key)
        if key in plan.hideable:
            key_words = Key(key, scene, slots.copy())
        facts = [
            (name, language.tidy(render(pick(rng, variants), rng, slots))) for name, variants in scene.facts.items()
        ]
        if not scene.fixed_order:
            rng.shuffle(facts)
        clauses += facts
        if plan is plans[-1]:
            question = _ask(language, scene, want.paraphrase, slots, rng)
        if scene.things:
            _count_on(scene, slots, rng)
    assert key_words is not None

    joints = language.text.plain_joints if want.level == "easy" else language.text.joints
    _join_some(clauses, key, JOIN_CHANCE[want.level], joints, rng)
    chance = REMARK_CHANCE[want.level] + (REMARK_CHANCE_MORE_IF_LEFT_OUT if left_out else 0.0)
    for template in rng.sample(language.text.remarks, 2 if want.level == "hard" else 1):
        if rng.random() < chance:
            remark = language.tidy(render(template, rng, slots))
            clauses.insert(int(rng.random() * (len(clauses) + 1)), ("", remark))
    first = language.sentence(language.tidy(render(pick(rng, opening.open), rng, slots)))
    return Story(
        program=program,
        group=plans[0].group,
        places=opening.places,
        key=key_words,
        sentences=(first, *(language.sentence(text) for _, text in clauses)),
        key_at=1 + [name for name, _ in clauses].index(key),
        question=question,
    )


def _count_on(scene: SceneText, slots: Slots, rng: Random) -> None:
    """From here on `{things}` are what this scene counted; `{base}` is their plain name."""
    things = render(scene.things, rng, slots)
    if "{base}" not in scene.things:
        slots["base"], slots["unit"] = things, render(scene.unit, rng, slots)
    slots["things"] = things


def _ask(language: Language, scene: SceneText, paraphrase: float, slots: Slots, rng: Random) -> str:
    far = scene.far and rng.random() < paraphrase
    text = render(pick(rng, scene.far if far else scene.ask), rng, slots)
    lead = ""
    if text[-1] in "?？" and rng.random() < LEAD_CHANCE:
        lead = render(pick(rng, language.text.leads), rng, slots)
    return language.question(lead, text)


def _join_some(clauses: list[tuple[str, str]], key: str, chance: float, joints: tuple[str, ...], rng: Random) -> None:
    """Now and then two facts share a sentence. The one that may be left out always keeps its own."""
    at = 0
    while at + 1 < len(clauses):
        (left, first), (right, second) = clauses[at], clauses[at + 1]
        if key not in (left, right) and rng.random() < chance:
            clauses[at : at + 2] = [(f"{left}+{right}", f"{first}{pick(rng, joints)}{second}")]
        at += 1
