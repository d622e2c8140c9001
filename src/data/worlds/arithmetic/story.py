"""The story of a word problem, drawn before anybody decides whether its left-out quantity can be found.

Which quantity may be left out is drawn here too, for every story, so that its sentence is written the same way whether
it is kept, moved into an article or withheld.
"""

from __future__ import annotations

from functools import cache
from random import Random

from msgspec import Struct

from askgate_env.types import Level

from ...pool.source import OPERATIONS_MORE, USUAL_KNOB, Want
from ..texts import capitalize, render
from .language import Language, SceneText, Slots, pick
from .program import EMPTY, Program, can_be_missed, extend, scene_plans

TRIES_TO_OPEN, TRIES_TO_CONTINUE = 30, 12
"""Draws of the numbers of an opening and of a further scene."""
MAX_SCENES = 6
MAX_OPERATIONS, MAX_STEPS = 8, 5
"""Maximum numbers of operations and steps that a hard story is asked for; it may have a few more."""
NUMBER_WORD_CHANCE: dict[Level, float] = {"easy": 0.75, "medium": 0.25, "hard": 0.15}
"""Chance that a small number is spelled out."""
REMARK_CHANCE: dict[Level, float] = {"easy": 0.05, "medium": 0.1, "hard": 0.1}
"""Chance of a sentence that does not matter."""
REMARK_CHANCE_ADDED_IF_LEFT_OUT = 0.14
"""Makes up for the sentence that is left out, so that a short message gives nothing away."""
JOIN_CHANCE: dict[Level, float] = {"easy": 0.4, "medium": 0.3, "hard": 0.4}
LEAD_CHANCE = 0.3
"""Chance that the question has a lead, such as `In the end,`."""

Clauses = list[tuple[str, str]]
"""Names of the quantities that a clause states, and its text."""


class KeyQuantity(Struct, frozen=True):
    """The quantity that may be left out, and how it can be told."""

    name: str
    scene: SceneText
    slots: Slots
    """Fillers at the time of its scene."""


class Story(Struct, frozen=True):
    program: Program
    group: str
    places: tuple[str, ...]
    """Kinds of place where the story could happen."""
    key: KeyQuantity
    sentences: tuple[str, ...]
    facts_at: int
    """Index of the first sentence that states a fact; before it are the opening and what does not matter."""
    key_at: int
    """Index of the sentence that states the key quantity and nothing else."""
    question: str

    @property
    def key_sentence(self) -> str:
        return self.sentences[self.key_at]


def draw_story(language: Language, want: Want, left_out: bool, rng: Random) -> Story:
    while True:
        plans, program = _draw_program(want, rng)
        # A quantity of a scene in the middle is no option: the question would not show that it is needed.
        hideable = [name for key in dict.fromkeys((plans[0], plans[-1])) for name in scene_plans()[key].hideable]
        keys = [name for name in hideable if can_be_missed(program, name)]
        if keys:
            return _word_story(language, want, left_out, plans, program, pick(rng, keys), rng)


@cache
def _opening_plans(level: Level) -> tuple[str, ...]:
    plans = scene_plans().opening.items()
    if level == "easy":
        return tuple(key for key, plan in plans if plan.operations <= 3)
    return tuple(key for key, plan in plans if level == "medium" or plan.gives != "none")


def _draw_program(want: Want, rng: Random) -> tuple[list[str], Program]:
    """Draw scenes (keys of their plans) until the program has as many operations and steps as the level wants."""
    while True:
        plans = [pick(rng, _opening_plans(want.level))]
        program = extend(EMPTY, scene_plans()[plans[0]], rng, TRIES_TO_OPEN)
        if program is None:
            continue
        if want.level == "easy":
            return plans, program
        if want.level == "medium":
            fewest, steps = max(want.ops_numeric // 2, 1), _steps_wanted(want, 2)
            goal, most = fewest + int(rng.random() < 0.5), max(fewest, steps) + OPERATIONS_MORE
        else:
            fewest, steps = min(want.ops_numeric, MAX_OPERATIONS), _steps_wanted(want, 1)
            goal, most = fewest + int(rng.random() * 3), max(fewest, steps) + OPERATIONS_MORE + 3
        while (program.operations < goal or len(program.steps) < steps) and len(plans) < MAX_SCENES:
            longer = _continue(program, plans, rng)
            if longer is None:
                break
            plans, program = longer
        if fewest <= program.operations <= most and len(program.steps) >= steps:
            return plans, program


def _steps_wanted(want: Want, divisor: int) -> int:
    """Return one step for every wanted call. Each step has an operation: few operations allow few steps."""
    wanted = want.tool_hops if want.ops_numeric >= USUAL_KNOB else min(want.tool_hops, want.ops_numeric)
    return min(max(wanted // divisor, 1), MAX_STEPS)


def _continue(program: Program, plans: list[str], rng: Random) -> tuple[list[str], Program] | None:
    """Add a scene that continues from the last result; None where none fits."""
    kind = scene_plans()[plans[-1]].gives
    options = [key for key, plan in scene_plans().further.items() if kind in plan.takes and key not in plans]
    while options:
        plan = options.pop(int(rng.random() * len(options)))
        longer = extend(program, scene_plans()[plan], rng, TRIES_TO_CONTINUE)
        if longer is not None:
            return [*plans, plan], longer
    return None


def _word_story(
    language: Language, want: Want, left_out: bool, plans: list[str], program: Program, key: str, rng: Random
) -> Story:
    opening = language.scene(plans[0])
    slots = draw_slots(language, opening, program, NUMBER_WORD_CHANCE[want.level], rng)
    clauses: Clauses = []
    key_quantity: KeyQuantity | None = None
    for plan in plans:
        scene = language.scene(plan)
        if key in scene_plans()[plan].hideable:
            key_quantity = KeyQuantity(key, scene, slots.copy())
        facts = [
            (name, language.tidy(render(pick(rng, variants), rng, slots))) for name, variants in scene.facts.items()
        ]
        clauses += facts
        if plan == plans[-1]:
            question = _word_question(language, scene, want.paraphrase, slots, rng)
        if scene.things:
            _name_result(scene, slots, rng)
    assert key_quantity is not None

    joints = language.text.plain_joints if want.level == "easy" else language.text.joints
    starts = {next(iter(language.scene(plan).facts)) for plan in plans}
    if joints:
        _join_some(clauses, key, starts, JOIN_CHANCE[want.level], joints, rng)
    chance = REMARK_CHANCE[want.level] + (REMARK_CHANCE_ADDED_IF_LEFT_OUT if left_out else 0.0)
    if rng.random() < chance:
        # A remark comes right after the opening; between the facts it would break what they tell.
        remarks = opening.remarks or language.text.remarks
        clauses.insert(0, ("", language.tidy(render(pick(rng, remarks), rng, slots))))
    first = language.sentence(language.tidy(render(pick(rng, opening.open), rng, slots)))
    return Story(
        program=program,
        group=scene_plans()[plans[0]].group,
        places=opening.places,
        key=key_quantity,
        sentences=(first, *(language.sentence(text) for _, text in clauses)),
        facts_at=1 + sum(not name for name, _ in clauses),
        key_at=1 + [name for name, _ in clauses].index(key),
        question=question,
    )


def draw_slots(
    language: Language, opening: SceneText, program: Program, number_words: float, rng: Random, currency: str = ""
) -> Slots:
    """Draw the people, the place and the nouns of a story, and write its numbers."""
    slots = Slots(language, rng)
    language.cast(slots, rng)
    if currency:
        slots["currency"] = currency
    slots["P"] = language.place(opening.places, rng)
    for slot, category in opening.nouns.items():
        language.noun(slot, category, slots, rng)
    for slot, category in opening.also.items():
        slots[slot] = render(language.filler(category, slots, rng), rng, slots)
    for name, number in program.givens.items():
        kind = program.kinds.get(name, "a")
        if kind != "a":
            language.quantity(name, kind, number, slots, number_words, rng)
    return slots


def _name_result(scene: SceneText, slots: Slots, rng: Random) -> None:
    """From here on `{things}` are what this scene counted; `{base}` is their plain name."""
    things = render(scene.things, rng, slots)
    if "{base}" not in scene.things:
        slots["base"], slots["unit"] = things, render(scene.unit, rng, slots)
    slots["things"] = things


def _word_question(language: Language, scene: SceneText, paraphrase: float, slots: Slots, rng: Random) -> str:
    far = scene.far and rng.random() < paraphrase
    text = render(pick(rng, scene.far if far else scene.ask), rng, slots)
    lead = ""
    if text[-1] in "?？" and rng.random() < LEAD_CHANCE:
        lead = render(pick(rng, language.text.leads), rng, slots)
    return capitalize(language.tidy(f"{lead}{language.text.lead_gap}{text}"))


def _join_some(
    clauses: Clauses, key: str, starts: set[str], chance: float, joints: tuple[str, ...], rng: Random
) -> None:
    """Put some neighbouring facts of one scene into one sentence; `starts` are the first facts of the scenes. The key
    quantity always keeps a sentence of its own."""
    at = 0
    while at + 1 < len(clauses):
        (left, first), (right, second) = clauses[at], clauses[at + 1]
        if key not in (left, right) and right not in starts and rng.random() < chance:
            clauses[at : at + 2] = [(f"{left}+{right}", f"{first}{pick(rng, joints)}{second}")]
        at += 1
