"""From a drawn question to a finished task: the scene, the gap if one is wanted, the clue, the steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from ...core.types import Article, Hidden
from ..difficulty.text_features import clue_overlap
from ..pool.source import Step, Want
from ..quality.consistency import occurs
from .grammar import capitalize, fill
from .kb import World
from .scene import Gap, Leg, Scene, fill_gap
from .solver import Combine
from .wording import WorldText, speak_dialect

LENGTHS = {"easy": (40, 110), "medium": (420, 900), "hard": (640, 1000)}
"""Tokens of context by level; the prompt adds some fifty. Nothing here may depend on whether something is missing."""
USUAL_HOPS = 4
"""Tool calls of a hard sample when nobody asks for more or fewer."""
ASIDE_RATE = {"easy": 0.0, "medium": 0.8, "hard": 1.0}
"""How often the user mentions articles that do not help."""


@dataclass(slots=True)
class Plan:
    """A question as it was drawn, before its scene. `known[i]` hops of leg i are restated in the clue."""

    legs: list[Leg]
    combine: Combine
    text: str
    known: list[int]
    closing: tuple[Step, ...] = ()
    """Calculations after the last article, when the answer takes one."""


@dataclass(slots=True)
class Draft:
    premise: str
    question: str
    clue: str
    answer: str
    context: tuple[Article, ...]
    support: tuple[str, ...]
    steps: tuple[Step, ...]
    hidden: Hidden | None
    ask_after: int
    ambiguity: tuple[str, ...]


def draft(world: World, text: WorldText, want: Want, rng: Random, plan: Plan) -> Draft | None:
    """None when the solver does not confirm the question; the caller draws another."""
    scene = Scene(world, text, rng)
    scene.stage(plan.legs)
    gold = scene.answers(plan.legs, plan.combine)
    if len(gold) != 1:
        return None
    answer = next(iter(gold))
    if answer in plan.text and len(plan.legs) == 1:
        return None
    gap = None
    if want.clarify:
        gaps = _gaps(plan)
        if not gaps:
            return None
        gap = rng.choice(gaps)
        if not fill_gap(scene, plan.legs, gap, plan.combine, answer):
            return None
    elif not _add_decoys(scene, plan, answer):
        return None
    calls = sum(len(leg.relations) - known for leg, known in zip(plan.legs, plan.known, strict=True))
    calls += sum(1 for leg, known in zip(plan.legs, plan.known, strict=True) if not known and _shared(scene, leg))
    room = want.max_turns - 1 - want.clarify - calls
    if room < 0:
        return None
    # A reader who is short of turns compares two numbers in the head.
    spare = room >= len(plan.closing) and (want.level == "hard" or not want.clarify)
    closing = plan.closing if spare else ()
    searches = _searches(want, calls + len(closing), room - len(closing)) if gap is None else 0
    clue = _clue(scene, plan)
    if clue is None:
        return None
    premise = _aside(scene, want)
    needed = {relation for leg in plan.legs for relation in leg.relations}
    low, high = LENGTHS[want.level]
    context = scene.articles(needed, want.level == "easy", rng.randint(low, high))
    hidden = _hidden(scene, plan, gap) if gap else None
    if hidden is not None and occurs(hidden.span, f"{premise} {clue} {plan.text}"):
        return None
    steps, ask_after = _steps(scene, plan, gap, searches)
    steps += closing
    return Draft(
        premise=premise,
        question=plan.text,
        clue=clue,
        answer=answer,
        context=context,
        support=tuple(scene.support(plan.legs)),
        steps=steps,
        hidden=hidden,
        ask_after=ask_after,
        ambiguity=_ambiguity(scene, plan),
    )


def _searches(want: Want, calls: int, room: int) -> int:
    """How often words are searched for before a title is opened, to reach the wanted number of tool calls."""
    wished = {"easy": 0, "medium": want.tool_hops - USUAL_HOPS, "hard": want.tool_hops - calls}[want.level]
    return max(0, min(wished, room))


def _shared(scene: Scene, leg: Leg) -> bool:
    return len(scene.namesakes(leg.start)) > 1


def _gaps(plan: Plan) -> list[Gap]:
    """Everything that the text leaves open and the clue does not settle."""
    found = [
        Gap("name", i)
        for i, (leg, known) in enumerate(zip(plan.legs, plan.known, strict=True))
        if known == 0 and leg.relations[0] != "tag"
    ]
    for i, leg in enumerate(plan.legs):
        found += [Gap("year", i, hop) for hop in leg.open_years() if hop >= plan.known[i]]
    return found


def _add_decoys(scene: Scene, plan: Plan, answer: str) -> bool:
    """Half of the names that carry a tag get a namesake which the tag rules out."""
    for leg in plan.legs:
        if leg.tag_shown and scene.rng.random() < 0.5:
            scene.add_decoy(leg)
    return scene.answers(plan.legs, plan.combine) == {answer}


def _aside(scene: Scene, want: Want) -> str:
    """What the user has read already. Said whether or not something is missing, so it tells nothing."""
    if scene.rng.random() >= ASIDE_RATE[want.level]:
        return ""
    names = {entity.name for entity in scene.pages}
    others = [entity for entity in scene.world.all() if entity.name not in names]
    questions = scene.text.questions
    forms = questions.asides_two if want.level == "hard" else questions.asides_one
    named = dict(zip("ab", scene.rng.sample(others, 2 if want.level == "hard" else 1), strict=False))
    for entity in named.values():
        scene.show(entity)
    ends = {end: scene.text.mention(entity.kind, entity.name, "") for end, entity in named.items()}
    return capitalize(fill(scene.rng.choice(forms), **ends))


def _clue(scene: Scene, plan: Plan) -> str | None:
    """The sentences of the known hops, as the user restates them. None when that restates too little or too much."""
    known = [
        scene.stating(owner, relation)
        for leg, count in zip(plan.legs, plan.known, strict=True)
        for owner, relation in list(zip(leg.owners, leg.relations, strict=True))[:count]
    ]
    if not known:
        return ""
    support = scene.text.articles.sentence_gap.join(scene.support(plan.legs))
    clue = scene.text.articles.sentence_gap.join(dict.fromkeys(known))
    return clue if 0.36 <= clue_overlap(clue + " " + plan.text, support) <= 0.68 else None


def _steps(scene: Scene, plan: Plan, gap: Gap | None, searches: int) -> tuple[tuple[Step, ...], int]:
    """The calls that a careful reader makes, and how many of them come before the ask."""
    steps: list[Step] = []
    ask_after = 0
    for i, (leg, known) in enumerate(zip(plan.legs, plan.known, strict=True)):
        for hop, owner in enumerate(leg.owners):
            if hop < known:
                continue
            if searches:
                steps.append(Step("wiki", scene.text.query(owner.name, leg.relations[hop])))
                searches -= 1
            if hop == 0 and _shared(scene, leg):
                steps.append(Step("wiki", owner.name))
                if gap == Gap("name", i):
                    ask_after = len(steps)
            if (
                hop == 0
                and hop == len(leg.relations) - 1
                and _shared(scene, leg)
                and leg.relations[0] in scene.headline(owner)
            ):
                continue  # the list of hits has shown it
            steps.append(Step("wiki", scene.title(owner)))
            if gap == Gap("year", i, hop):
                ask_after = len(steps)
    return tuple(steps), ask_after


def _hidden(scene: Scene, plan: Plan, gap: Gap) -> Hidden:
    leg, text = plan.legs[gap.leg], scene.text
    start = leg.start
    if gap.kind == "year":
        span = text.year_phrase(leg.values[gap.hop].year).strip()
        return Hidden("year", span, text.which_year(scene.rng), text.questions.year_words)
    full = scene.full_mention(leg)
    span = text.fact_span(start.kind, full.also[1]) if full.also else text.tag_span(start.kind, start.tag)
    return Hidden("entity", span, text.which(start.kind, start.name, scene.rng), text.name_words(start.name))


def _ambiguity(scene: Scene, plan: Plan) -> tuple[str, ...]:
    """How the question sounds vague, whether or not the scene settles it."""
    flags = []
    if any(_shared(scene, leg) for leg in plan.legs):
        flags.append("shared-name")
    if any(leg.open_years() for leg in plan.legs):
        flags.append("no-year")
    return tuple(flags)


def in_dialect(made: Draft, dialect: dict[str, str]) -> Draft:
    """Every text of the draft in the words of its world."""
    hidden = made.hidden
    texts = [made.premise, made.question, made.clue, made.answer, *made.support, *(step.input for step in made.steps)]
    texts += [text for article in made.context for text in (article.title, *article.sentences)]
    texts += [hidden.span, hidden.missing, *hidden.about] if hidden else []
    said = iter(speak_dialect(texts, dialect))
    return replace(
        made,
        premise=next(said),
        question=next(said),
        clue=next(said),
        answer=next(said),
        support=tuple(next(said) for _ in made.support),
        steps=tuple(Step(step.tool, next(said), step.note) for step in made.steps),
        context=tuple(Article(next(said), tuple(next(said) for _ in article.sentences)) for article in made.context),
        hidden=Hidden(hidden.kind, next(said), next(said), tuple(next(said) for _ in hidden.about)) if hidden else None,
    )
