"""The articles around a problem: the paper of the story's own place, and papers of other places that only look like it.

The paper that holds the left-out quantity and the paper that does not are made the same way, up to that one line.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from ....core.types import Article
from ..grammar import capitalize, render
from .language import Language, Slots, digits, pick
from .program import plausible_others
from .story import Key, Story

LINES_OF_A_PAPER = (3, 6)
OTHER_IS_ALIKE = 0.6
"""How often another place is of the same kind; its paper then tells its own number of what may be left out."""
LONGEST_PAPER = 90


def own_title(language: Language, story: Story, rng: Random) -> str:
    return language.title(pick(rng, language.text.documents[story.group]), story.key.slots["P"])


def own_paper(language: Language, story: Story, title: str, telling: bool, most: int, rng: Random) -> Article:
    """The paper of the story's place; `telling` puts the quantity in."""
    line = _listing(story.key, story.key.slots, rng) if telling else ""
    return _paper(language, story, title, line, most, rng)


def other_papers(language: Language, story: Story, taken: str, wanted: int, rng: Random) -> list[Article]:
    """Papers of other places, until they have that many tokens."""
    papers: list[Article] = []
    titles = {taken}
    kinds = [scene.places for scene in language.scenes.opening.values()]
    while wanted > 0:
        alike = rng.random() < OTHER_IS_ALIKE
        place = language.place(story.places if alike else pick(rng, kinds), rng)
        title = language.title(pick(rng, language.text.documents[story.group]), place)
        if title in titles or place == story.key.slots["P"]:
            continue
        line = _listing_elsewhere(language, story, place, rng) if alike else ""
        papers.append(_paper(language, story, title, line, LONGEST_PAPER, rng))
        titles.add(title)
        wanted -= tokens_of(language, papers[-1])
    return papers


def tokens_of(language: Language, paper: Article) -> int:
    """About right, which is enough to fill a page: counting them would take as long as writing them."""
    return _tokens(language, paper.title, paper.sentences)


def _tokens(language: Language, title: str, lines: Sequence[str]) -> int:
    return round((len(title) + sum(map(len, lines))) * language.text.tokens_per_character) + 1


def _listing(key: Key, slots: Slots, rng: Random) -> str:
    return capitalize(render(pick(rng, key.scene.listing[key.name]), rng, slots))


def _listing_elsewhere(language: Language, story: Story, place: str, rng: Random) -> str:
    """The same kind of fact about another place and other people."""
    key, program = story.key, story.program
    slots = key.slots.copy()
    currency = slots["currency"]
    language.cast(slots, rng)
    slots["P"], slots["currency"] = place, currency
    number = pick(rng, plausible_others(program.givens[key.name], program.kinds[key.name]))
    language.quantity(key.name, program.kinds[key.name], number, slots, 0.0, rng)
    return _listing(key, slots, rng)


def _paper(language: Language, story: Story, title: str, line: str, most: int, rng: Random) -> Article:
    low, high = LINES_OF_A_PAPER
    count = low + int(rng.random() * (high - low + 1))
    telltale = digits(story.program.givens[story.key.name])
    lines = list(dict.fromkeys(_line(language, language.text.lines, telltale, rng) for _ in range(count)))
    if line:
        lines.insert(int(rng.random() * (len(lines) + 1)), line)
    if rng.random() < 0.5:
        lines.insert(0, _line(language, language.text.intros, telltale, rng))
    while len(lines) > 2 and _tokens(language, title, lines) > most:
        lines.remove(next(one for one in reversed(lines) if one != line))
    return Article(title, tuple(lines))


def _line(language: Language, templates: tuple[str, ...], telltale: str, rng: Random) -> str:
    """A line of house news without the number that may be asked for: it can be found only where it is told."""
    while True:
        slots = Slots(language, rng)
        slots["x1"], slots["x2"] = str(4 + int(rng.random() * 15)), str(20 + int(rng.random() * 4))
        line = render(pick(rng, templates), rng, slots)
        if telltale not in line:
            return line
