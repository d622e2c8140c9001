"""A finished word problem: its message, the articles around it, and the demonstrated tool calls.

The message is drawn first; whether it needs an ask decides only what the articles state. The article that states the
left-out quantity and the one that does not are made the same way, up to that one line.

Message and articles fix their own difficulty points (names and numbers, connectors, overlap, length). What is left to
choose, to bring a problem to the wanted level, is invisible in the prompt: over how many tool calls the operations are
spread. So no word of the message depends on whether it needs an ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random

from askgate_env.quantity_questions import unit_asked
from askgate_env.tokenize import tokens
from askgate_env.tools import number_text
from askgate_env.types import Article, Hidden, Lang, Level, join_sentences

from ...difficulty.metrics import RISING, clarification_points, density_points, overlap_points, rising_points
from ...difficulty.text_features import asked_arithmetic, char_trigrams, connector_density, names, numbers
from ...pool.source import Item, Step, Want, calls_wanted, effective_want, points_missed
from ..texts import capitalize, fill, render
from .language import Language, Slots, digits, language_of, pick
from .program import EMPTY, expressions, extend, plausible_others, scene_plans
from .story import TRIES_TO_OPEN, KeyQuantity, Story, draw_slots, draw_story

LEFT_OUT_THOUGH_COMPLETE = 0.75
"""Share of the complete problems whose message lacks a quantity that the place's article states. All incomplete ones
lack one, so with this share the message does not tell which is which."""
ARTICLE_THOUGH_COMPLETE = 0.5
"""Share of the messages without anything left out that have an article about the story's place."""
UNSTATED = "unstated-quantity"
MESSAGE_TRIES = 12
ARTICLE_LINES = (2, 5)
LINE_TRIES = 6
MAX_FIGURES = 3
"""Maximum number of quantities that the article about the story's place states."""
GOODS = "shop"
"""Scenes about goods, which any place may sell."""
ALIKE_SHARE = 0.6
"""Share of the other places that are of the same kind; their articles state their own number of the key quantity."""
TEMPLATE_TOKENS = 60
"""Most tokens that a template adds to the message."""
MESSAGE_POINTS: dict[Level, tuple[int, int]] = {"easy": (0, 2), "medium": (2, 3), "hard": (1, 6)}
"""Points of a message with which it reaches its level with and without an ask. Other messages are drawn again."""
OVERLAP: dict[Level, tuple[float, float, float]] = {
    "easy": (0.42, 0.50, 0.60),
    "medium": (0.20, 0.26, 0.38),
    "hard": (0.105, 0.14, 0.20),
}
"""Least, wanted and most overlap of clue and question with the story."""
OVERLAP_TRIES = 4
CLUE_SENTENCES = 3
"""Most sentences of a clue that is not easy."""
CHARACTERS_PER_TRIGRAM = 1.2
"""Characters of a story sentence per new trigram: some trigrams repeat or are in the question already."""
LENGTH_POINTS: dict[Level, tuple[int, ...]] = {"easy": (0,), "medium": (1, 1, 2), "hard": (1, 1, 1, 2)}
"""Length points to draw from, with or without an ask: few articles must not mean that something is missing."""
SHORTEST = 64
"""Least tokens of message and articles; the pool's length gate refuses shorter samples."""
LENGTH_TOKENS = ((0, 0), (235, 470), (640, 820))
"""Tokens of message and articles, by length points, that keep these points whatever a template adds."""
ARTICLE_TOKENS = 90
SHORTEST_ARTICLE = 45


def make_problem(want: Want, source_id: str) -> Item:
    """Make a problem in `want.lang` at `want.level`; the same arguments give the same problem."""
    rng = Random(source_id)
    want = effective_want(want, source_id)
    language = language_of(want.lang)
    lacks = rng.random() < LEFT_OUT_THOUGH_COMPLETE
    left_out = want.clarify or lacks
    story, premise, clue, points = _draw_message(language, want, left_out, rng)
    visible = " ".join([*premise, *clue, story.question])
    points += rising_points("ops_numeric", story.program.operations + asked_arithmetic(story.question))
    spare_tokens = RISING["len_tokens"][0] - TEMPLATE_TOKENS - len(tokens(visible))
    calls, length = choose_shape(want, points, len(story.program.steps), left_out, spare_tokens, rng)
    title = _title(language, story, story.key.slots["P"], rng)
    least, most = article_tokens(length, visible, rng)
    articles = []
    if left_out or rng.random() < ARTICLE_THOUGH_COMPLETE:
        # An article that leaves the quantity open has as many figures: of other things.
        lines = [_key_line(story.key, story.key.slots, rng)] if left_out and not want.clarify else []
        count = 1 + int(rng.random() * MAX_FIGURES)
        lines += _other_figures(language, story, count - len(lines), rng)
        articles = [_article(language, story, title, lines, most, rng)]
    used = sum(_count_tokens(language, article.title, article.sentences) for article in articles)
    articles += _other_articles(language, story, title, least - used, rng)
    rng.shuffle(articles)
    hidden = _hidden(story, want.lang, rng)
    steps = [Step("wiki", title, hidden.missing, "page_for")] if left_out else []
    if calls:
        steps += [Step("calc", expression) for expression in expressions(story.program, calls)]
    return Item(
        task="gsm8k",
        lang=want.lang,
        source="builtin",
        source_id=source_id,
        premise=join_sentences(premise),
        clue=join_sentences(clue),
        question=story.question,
        original=join_sentences([*story.sentences, story.question]),
        context=tuple(articles),
        support=story.sentences,
        answer=number_text(story.program.answer),
        steps=tuple(steps),
        hidden=hidden if want.clarify else None,
        ask_after=int(left_out and want.clarify),
        ambiguity=(UNSTATED,) if left_out else (),
    )


def _draw_message(
    language: Language, want: Want, left_out: bool, rng: Random
) -> tuple[Story, list[str], list[str], int]:
    """Draw the story, premise and clue as the user tells them, and their points, without regard to `want.clarify`."""
    low, high = MESSAGE_POINTS[want.level]
    least, _, most = OVERLAP[want.level]
    for _ in range(MESSAGE_TRIES):
        story = draw_story(language, want, left_out, rng)
        premise, clue, overlap = split_message(story, left_out, want.level)
        if left_out:
            premise = [sentence for sentence in premise if sentence != story.key_sentence]
        points = message_points(" ".join([*premise, *clue, story.question]), overlap, want.lang)
        restates = want.level != "easy" or least <= overlap <= most
        if low <= points <= high and restates:
            break
    return story, premise, clue, points


def _hidden(story: Story, lang: Lang, rng: Random) -> Hidden:
    """Return the missing quantity: the sentence that states it, and how a clarifying question asks for it."""
    key = story.key
    missing = render(key.scene.missing[key.name], rng, key.slots)
    return Hidden(
        kind="quantity",
        span=story.key_sentence,
        missing=missing,
        about=tuple(render(word, rng, key.slots) for word in key.scene.about[key.name]),
        unit=unit_asked(missing, lang),
    )


def _title(language: Language, story: Story, place: str, rng: Random) -> str:
    return fill(language.text.title, document=pick(rng, language.text.documents[story.group]), place=place)


def _other_articles(language: Language, story: Story, own_title: str, wanted: int, rng: Random) -> list[Article]:
    """Make articles about other places, until they have about that many tokens."""
    articles: list[Article] = []
    titles = {own_title}
    kinds = [scene.places for scene in language.scenes.opening.values()]
    while wanted > 0:
        alike = rng.random() < ALIKE_SHARE
        place = language.place(story.places if alike else pick(rng, kinds), rng)
        title = _title(language, story, place, rng)
        if title in titles or place == story.key.slots["P"]:
            continue
        lines = [_key_line_elsewhere(language, story, place, rng)] if alike else []
        articles.append(_article(language, story, title, lines, ARTICLE_TOKENS, rng))
        titles.add(title)
        wanted -= _count_tokens(language, title, articles[-1].sentences)
    return articles


def _key_line(key: KeyQuantity, slots: Slots, rng: Random) -> str:
    return capitalize(render(pick(rng, key.scene.listing[key.name]), rng, slots))


def _key_line_elsewhere(language: Language, story: Story, place: str, rng: Random) -> str:
    """Return the same line about another place, with other people and another number."""
    key, program = story.key, story.program
    slots = key.slots.copy()
    currency = slots["currency"]
    language.cast(slots, rng)
    slots["P"], slots["currency"] = place, currency
    number = pick(rng, plausible_others(program.givens[key.name], program.kinds[key.name]))
    language.quantity(key.name, program.kinds[key.name], number, slots, 0.0, rng)
    return _key_line(key, slots, rng)


def _other_figures(language: Language, story: Story, count: int, rng: Random) -> list[str]:
    """Return lines of the place's article that state quantities of things that the story does not mention.

    Each is of another scene, so that no two contradict each other.
    """
    key = story.key
    key_number = digits(story.program.givens[key.name])
    told, asked = set(key.slots.values()), set(key.scene.about[key.name])
    plans = scene_plans().opening
    lines: dict[str, str] = {}
    for scenes in (*[_scenes_of(story.group)] * 6, *[_scenes_of(GOODS)] * 20):
        if len(lines) >= count:
            break
        name = pick(rng, scenes)
        scene, quantity = language.scene(name), pick(rng, plans[name].hideable)
        program = extend(EMPTY, plans[name], rng, TRIES_TO_OPEN)
        if name in lines or scene is key.scene or program is None or asked.intersection(scene.about[quantity]):
            continue
        slots = draw_slots(language, scene, program, 0.0, rng, key.slots["currency"])
        slots["P"] = key.slots["P"]
        line = capitalize(render(pick(rng, scene.listing[quantity]), rng, slots))
        if key_number not in line and not any(slots[slot] in told for slot in scene.nouns):
            lines[name] = line
    return list(lines.values())


@cache
def _scenes_of(group: str) -> tuple[str, ...]:
    return tuple(name for name, plan in scene_plans().opening.items() if plan.group == group and plan.hideable)


def _article(language: Language, story: Story, title: str, figures: Sequence[str], most: int, rng: Random) -> Article:
    """Make an article of these lines and random others, with at most about `most` tokens.

    Each kind of other line comes once: an article with two opening hours would contradict itself.
    """
    low, high = ARTICLE_LINES
    count = low + int(rng.random() * (high - low + 1))
    key_number = digits(story.program.givens[story.key.name])
    templates = rng.sample(language.text.lines, count)
    if rng.random() < 0.5:
        templates.insert(0, pick(rng, language.text.intros))
    others = [line for template in templates if (line := _line(language, template, key_number, rng))]
    while others and len(others) + len(figures) > 2 and _count_tokens(language, title, [*figures, *others]) > most:
        others.pop()
    lines = list(others)
    for figure in figures:
        lines.insert(int(rng.random() * (len(lines) + 1)), figure)
    return Article(title, tuple(lines))


def _line(language: Language, template: str, key_number: str, rng: Random) -> str:
    """Return a line without the key number, which may only be where it is stated; empty where that is not possible."""
    for _ in range(LINE_TRIES):
        slots = Slots(language, rng)
        slots["x1"], slots["x2"] = str(4 + int(rng.random() * 15)), str(20 + int(rng.random() * 4))
        line = render(template, rng, slots)
        if key_number not in line:
            return line
    return ""


def _count_tokens(language: Language, title: str, lines: Sequence[str]) -> int:
    """Estimate the tokens of an article. Counting them would take as long as writing them."""
    return round((len(title) + sum(map(len, lines))) * language.text.tokens_per_character) + 1


def split_message(story: Story, left_out: bool, level: Level) -> tuple[list[str], list[str], float]:
    """Split a story into premise and clue, so that clue and question restate as much of it as the level asks for. Also
    return their overlap with the story. The sentence that is left out is never restated, although it supports the
    answer."""
    sentences, question = story.sentences, story.question
    support = char_trigrams(" ".join(sentences))
    least, wanted, most = OVERLAP[level]
    best = _overlap([], question, support)
    chosen: tuple[int, ...] = ()
    if best < least:
        free = [index for index in range(len(sentences)) if not (left_out and index == story.key_at)]
        facts = [index for index in free if index >= story.facts_at]
        new = len(char_trigrams(question) - support)
        characters = CHARACTERS_PER_TRIGRAM * (wanted - best) * (len(support) + new)
        clues = _ends_by_size(sentences, facts, level, characters)
        for clue in [*clues, tuple(free)] if level == "easy" else clues:
            overlap = _overlap([sentences[index] for index in clue], question, support)
            if abs(overlap - wanted) < abs(best - wanted):
                best, chosen = overlap, clue
            if least <= best <= most:
                break
    premise = [sentence for index, sentence in enumerate(sentences) if index not in chosen]
    return premise, [sentences[index] for index in chosen], best


def _ends_by_size(sentences: Sequence[str], facts: list[int], level: Level, characters: float) -> list[tuple[int, ...]]:
    """Return ends of the story worth trying, those with about the wanted number of characters first.

    A clue is the end of the story, so that the facts keep their order: a few sentences, or any number when easy.
    """
    most = len(facts) if level == "easy" else min(CLUE_SENTENCES, len(facts))
    ends = [tuple(facts[-size:]) for size in range(1, most + 1)]
    ends.sort(key=lambda some: abs(sum(len(sentences[at]) for at in some) - characters))
    return ends[:OVERLAP_TRIES]


def _overlap(clue: list[str], question: str, support: frozenset[str]) -> float:
    asked = char_trigrams(f"{join_sentences(clue)} {question}")
    shared = len(asked & support)
    return shared / (len(asked) + len(support) - shared)


def message_points(visible: str, overlap: float, lang: Lang) -> int:
    """Return the points that the message alone decides: names and numbers, connectors, overlap."""
    entities = len({name for _, name in names(visible, lang, ())}) + len(numbers(visible))
    density, rounded_overlap = round(connector_density(visible), 2), round(overlap, 4)
    return rising_points("entities", entities) + density_points(density) + overlap_points(rounded_overlap)


def choose_shape(
    want: Want, points: int, steps: int, left_out: bool, spare_tokens: int, rng: Random
) -> tuple[int, int]:
    """Choose the number of `calc` calls and the length points of a problem: the cheapest choice that fits the level.

    `points` are those of message and operations; `spare_tokens` may be added before the problem earns length points.
    """
    asks = int(want.clarify)
    most_calls = want.max_turns - 1 - asks
    length = rng.choice(LENGTH_POINTS[want.level])
    if spare_tokens < SHORTEST_ARTICLE:
        length = max(length, 1)
    best, lowest_cost = (0, length), float("inf")
    for calc_calls in range(0 if most_calls <= left_out else 1, steps + 1):
        hops = calc_calls + left_out
        if hops > most_calls:
            break
        turns = hops + asks + 1
        score = points + length + rising_points("turns", turns) + rising_points("tool_hops", hops)
        score += clarification_points(want.clarify, turns)
        missed = points_missed(score, want, want.tool_hops, want.ops_numeric)
        cost = 100 * missed + _cost(want, left_out, calc_calls, length) + rng.random()
        if cost < lowest_cost:
            best, lowest_cost = (calc_calls, length), cost
    return best


def _cost(want: Want, opens_article: bool, calc_calls: int, length: int) -> float:
    """Return how far a shape is from the usual one of its level."""
    if want.level == "easy":
        return 2.0 * (calc_calls - 1) + length
    if want.level == "medium":
        return 0.6 * abs(calc_calls - calls_wanted(want)) + (0.3, 0.0, 0.8)[length]
    return 1.5 * abs(calc_calls + opens_article - calls_wanted(want)) + (4.0, 0.0, 0.5)[length]


def article_tokens(length: int, visible: str, rng: Random) -> tuple[int, int]:
    """Return the least and most tokens of articles that bring message and articles to that many length points."""
    used = len(tokens(visible))
    if length == 0:
        return SHORTEST - used, RISING["len_tokens"][0] - TEMPLATE_TOKENS - used
    low, high = LENGTH_TOKENS[length]
    wanted = low + int(rng.random() * (high - low))
    return wanted - used, wanted - used + ARTICLE_TOKENS
