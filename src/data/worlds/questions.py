"""Questions about the encyclopedia.

`multihop_item` makes questions shaped like HotpotQA: bridges of two to four hops, and comparisons of two entities.
`strategy_item` makes yes/no questions that need two or more facts which the question does not state, shaped like
StrategyQA. Both draw until a question comes out that the solver confirms.
"""

from __future__ import annotations

import operator
from functools import cache
from operator import itemgetter

import msgspec

from askgate_env.types import Record

from ...core.files import package_yaml
from ..pool.source import Item, Step, Want
from .articles import Chain, Combine, Hop, Result, plain_value
from .build_item import Question, QuestionRejected, build_item
from .encyclopedia import CHANGING, Entity, World
from .texts import capitalize, fill
from .wording import LONG_DESCRIPTION, WorldText, world_text

LITERAL_RELATIONS = frozenset(
    {"born", "died", "tag", "river", "founded", "elevation", "population", "year", "staff", "first", "visitors"}
)
"""Relations whose values are numbers or words: a chain can only end there."""
TAG_RATE, YEAR_RATE = 0.25, 0.5
"""Shares of the mentions that show the tag, and of the changing hops that show the year."""
EASY_YEAR_RATE = 0.25
"""Share of the easy bridges whose last hop shows the year."""
COMPARISON_RATE = 0.4
LEAD_RATE = 0.4
"""Share of the bridges that name their subject in a sentence of its own."""
LONG_CHAINS = ((2, 1), (1, 2))
"""Hops of the two chains of a hard question."""
STRATEGY_TRIES = 12
"""Draws of a yes/no family before another family is chosen."""
DEAD_END = "no chain of the wanted length starts here"
TIE = "the two values are equal, or so close that wording does not decide"
NOT_AT_THIS_LEVEL = "the level has no such question"

Amount = int | str


class StrategyFamily(Record, frozen=True):
    """A kind of yes/no question: a comparison of two facts, or of their difference with a figure."""

    name: str
    a: str
    """`kind.relation`."""
    b: str
    compare: str
    figures: tuple[int, ...] = (0,)
    """Numbers that the question may name, such as an age. With one the comparison is between `b - a` and it."""

    def holds(self, a: Amount, b: Amount, n: int) -> bool:
        compare = _COMPARISONS[self.compare]
        return bool(compare(int(b) - int(a), n) if n else compare(a, b))

    def formula(self, a: Amount, b: Amount, n: int) -> str:
        """Return what to calculate; empty where the two values only have to be compared by eye."""
        if self.compare == "==":
            return ""
        return f"{b} - {a} {self.compare} {n}" if n else f"{a} {self.compare} {b}"


_COMPARISONS = {"<": operator.lt, ">": operator.gt, ">=": operator.ge, "==": operator.eq}


@cache
def _families() -> tuple[StrategyFamily, ...]:
    return msgspec.convert(package_yaml("templates/strategy_families.yaml"), tuple[StrategyFamily, ...])


def multihop_item(world: World, want: Want, source_id: str) -> Item:
    """Make a multi-hop item; a world rarely needs more than two tries."""
    drawer = _QuestionDrawer(world, want)
    while True:
        try:
            question = drawer.comparison() if world.rng.random() < COMPARISON_RATE else drawer.bridge()
            return build_item("hotpotqa", source_id, world, drawer.text, want, question)
        except QuestionRejected:
            continue


def strategy_item(world: World, want: Want, source_id: str) -> Item:
    """Make a yes/no item. The answer is drawn first, so that yes and no are equally common."""
    drawer = _QuestionDrawer(world, want)
    while True:
        wanted_yes = world.rng.random() < 0.5
        family = world.rng.choice(_families())
        for _ in range(STRATEGY_TRIES):
            try:
                question = drawer.yes_or_no(family, wanted_yes)
                return build_item("strategyqa", source_id, world, drawer.text, want, question)
            except QuestionRejected:
                continue


class _QuestionDrawer:
    """Draws questions about a world at the wanted level. Nothing here depends on whether a question will have a gap."""

    def __init__(self, world: World, want: Want) -> None:
        self.world, self.want, self.rng = world, want, world.rng
        self.text = world_text(want.lang)

    def bridge(self) -> Question:
        """Draw a chain of hops and ask for its last value."""
        level = self.want.level
        if level == "easy":
            # The clue restates the first hop, so the question names where that leads. The second year may be open.
            chain = self._walk(2, tag_rate=0.0, last_open=True)
            chain.known = 1
            return self._bridge(chain)
        # Two descriptions, one in the other, are as many as a reader can undo.
        chain = self._walk(2 if level == "medium" else 3, tag_rate=TAG_RATE)
        return self._bridge(chain)

    def comparison(self) -> Question:
        comparisons, level = self.text.questions.comparisons, self.want.level
        fact = self.rng.choice(list(comparisons))
        ((pick, form),) = self.rng.choice(comparisons[fact]).items()
        # Drawn at every level, because the random stream of a sample must stay what it was.
        long = self.rng.choice(LONG_CHAINS)
        lengths = long if level == "hard" else (1, 1)
        first, second = chains = self._chains_to((fact, fact), lengths)
        if first.hops[-1].value.what == second.hops[-1].value.what:
            raise QuestionRejected(TIE)
        # A long description comes last.
        a, b = sorted(map(self._noun_phrase, chains), key=lambda phrase: len(phrase.split()) > LONG_DESCRIPTION)
        best = min if pick == "min" else max

        def combine(choice: tuple[Result, ...]) -> str:
            if choice[0][1] == choice[1][1]:
                raise QuestionRejected(TIE)
            return best(choice, key=itemgetter(1))[0].name

        return Question(chains, combine, capitalize(fill(form, a=a, b=b)))

    def yes_or_no(self, family: StrategyFamily, wanted_yes: bool) -> Question:
        rng, level = self.rng, self.want.level
        # A tag tells namesakes apart. Shown, it would answer the question, so one of the two must be a hop away.
        by_tag = family.a.endswith(".tag")
        if by_tag and level == "easy":
            raise QuestionRejected(NOT_AT_THIS_LEVEL)
        lengths = rng.choice(LONG_CHAINS) if by_tag or level == "hard" else (1, 1)
        first, second = chains = self._chains_to((family.a, family.b), lengths)
        n = rng.choice(family.figures)
        a, b = first.hops[-1].value.what, second.hops[-1].value.what
        assert not isinstance(a, Entity)
        assert not isinstance(b, Entity)
        if family.holds(a, b, n) != wanted_yes:
            raise QuestionRejected("the answer is not the wanted yes or no")
        formula = family.formula(a, b, n)
        if formula and int(b) - int(a) in (0, n):
            raise QuestionRejected(TIE)
        phrases = [self._noun_phrase(chain) for chain in chains]
        forms = self._near_or_far(self.text.questions.strategy[family.name])
        form = rng.choice(self.text.with_long_phrase_last(forms, phrases) or forms)
        question = capitalize(self.text.compare(form, phrases, [chain.hops[-1].year for chain in chains], n))
        calculations = (Step("calc", formula),) if formula else ()
        return Question(chains, _verdict(self.text, family, n), question, calculations)

    def _walk(self, hops: int, tag_rate: float, last_open: bool = False) -> Chain:
        """Draw a chain of that many relations from a random start that passes no entity twice.

        With `last_open`, the last relation changes over time and mostly shows no year.
        """
        rng, asks = self.rng, self.text.questions.asks
        start = rng.choice(self.world.entities())
        here, seen = start, {start}
        walked: list[Hop] = []
        for step in range(hops):
            last = step == hops - 1
            options = [
                relation
                for relation in here.facts
                if (last and f"{here.kind}.{relation}" in asks and (not last_open or relation in CHANGING))
                or (not last and relation not in LITERAL_RELATIONS)
            ]
            if not options:
                raise QuestionRejected(DEAD_END)
            relation = rng.choice(options)
            value = rng.choice(here.facts[relation])
            if value.what in seen:
                raise QuestionRejected(DEAD_END)
            year_shown = relation in CHANGING and not last_open and rng.random() < YEAR_RATE
            # A year in the middle of a description is hard to place.
            year_shown = year_shown and (last or step == 0)
            walked.append(Hop(here, relation, value, year_shown))
            if isinstance(value.what, Entity):
                here = value.what
                seen.add(here)
        if last_open:
            # A first hop without its year would be a second gap beside the last.
            walked[0].year_shown = walked[0].is_open
            walked[-1].year_shown = rng.random() < EASY_YEAR_RATE
        return Chain(walked, rng.random() < tag_rate)

    def _chains_to(self, facts: tuple[str, str], lengths: tuple[int, int]) -> list[Chain]:
        """Draw two chains that end with these facts, from different entities and at different entities."""
        first, second = chains = list(map(self._chain_to, facts, lengths))
        ends = [chain.hops[-1] for chain in chains]
        if first.start is second.start or ends[0].owner is ends[1].owner:
            raise QuestionRejected("both chains start or end at the same entity")
        if self.text.questions.nests_at == "start" and {hop.relation for hop in ends} <= CHANGING:
            # A year on one side only reads as the year of both. The year of an amount follows a name only.
            shown = first.hops[-1].year_shown and len(second.hops) == 1
            for hop in ends:
                hop.year_shown = shown
        # The clue of an easy question restates the second fact; what may be open is then the first.
        second.known = int(self.want.level == "easy")
        return chains

    def _chain_to(self, fact: str, length: int) -> Chain:
        """Draw a chain of one or two hops that ends with a fact. Easy chains show neither tag nor year."""
        rng, entities = self.rng, self.world.entities()
        kind, relation = fact.split(".")
        hops: list[Hop] = []
        if length == 1:
            owner = rng.choice([entity for entity in entities if entity.kind == kind])
        else:
            first_hops = [
                (entity, first, value, value.what)
                for entity in entities
                for first, values in entity.facts.items()
                for value in values
                if isinstance(value.what, Entity) and value.what.kind == kind and value.what is not entity
            ]
            if not first_hops:
                raise QuestionRejected(DEAD_END)
            start, first, value, owner = rng.choice(first_hops)
            hops.append(Hop(start, first, value))
        hops.append(Hop(owner, relation, rng.choice(owner.facts[relation])))
        if self.want.level == "easy":
            return Chain(hops)
        for hop in hops:
            # The year of an amount follows a name only: see `_bridge_text`.
            may_show = length == 1 or hop is not hops[-1]
            hop.year_shown = hop.relation in CHANGING and rng.random() < YEAR_RATE and may_show
        return Chain(hops, tag_shown=length > 1 and rng.random() < TAG_RATE)

    def _bridge(self, chain: Chain) -> Question:
        # One description in another is hard enough to read in a sentence of its own.
        has_lead = not chain.known and (self.rng.random() < LEAD_RATE or len(chain.hops) > 2)
        text = self._bridge_text(chain, has_lead)
        return Question([chain], plain_value, text, asked_for=chain.hops[-1].fact, has_lead=has_lead)

    def _bridge_text(self, chain: Chain, has_lead: bool) -> str:
        rng, questions = self.rng, self.text.questions
        last = chain.hops[-1]
        forms = self._near_or_far(questions.asks[f"{last.owner.kind}.{last.relation}"])
        when = self.text.year_phrase(last.year)
        # A Chinese lead holds the first description, the question the second: 我在查洛镇的镇长。这位镇长的老师是谁？
        split = len(chain.hops) > 2 and questions.nests_at == "start"
        phrase = self._noun_phrase(Chain(chain.hops[:2], chain.tag_shown) if split else chain)
        if has_lead:
            forms = self.text.direct(forms) or forms
        described = "的" if split else "" if chain.known or has_lead else phrase
        ask = rng.choice(self.text.fitting(forms, described, when) or forms)
        if not has_lead:
            return capitalize(fill(ask, x=phrase, when=when))
        lead = capitalize(fill(rng.choice(questions.leads), x=phrase))
        named = chain.hops[0 if split else -2]
        kind = chain.hops[1].owner.kind if split else last.owner.kind
        stand_in = rng.choice(self.text.stand_ins(named.relation, kind, phrase, ask))
        if split:
            nouns = self._near_or_far(questions.nouns[chain.hops[1].relation])
            stand_in = self.text.describe(rng.choice(nouns), stand_in, None)
        return lead + self.text.articles.sentence_gap + capitalize(fill(ask, x=stand_in, when=when))

    def _noun_phrase(self, chain: Chain) -> str:
        """Name the last owner of a chain: the mention, and a phrase for every hop but the last.

        `the teacher of the founder of Harrow Mills`.
        """
        start, nouns = chain.start, self.text.questions.nouns
        phrase = self.text.mention(start.kind, start.name, start.tag if chain.tag_shown else "")
        if chain.known:
            owner = chain.hops[-1].owner
            return self.text.mention(owner.kind, owner.name, "")
        bare = not chain.tag_shown or start.kind == "person"
        nests_first = self.text.questions.nests_at == "start" and len(chain.hops) > 2
        for depth, hop in enumerate(chain.hops[:-1]):
            forms = self._near_or_far(nouns[hop.relation])
            if hop.relation in CHANGING:
                # `Salham's mayor`, but `the mayor Salham elected in 1892`.
                forms = tuple(form for form in forms if self.text.takes_year(form, hop.year))
            # A possessive takes a bare name only, or `the poet Ida Moss`; deeper phrases must nest in a way that a
            # reader can undo.
            usable = [
                form
                for form in forms
                if (self.text.can_nest(form) if depth or nests_first else not form.startswith("{x}'s") or bare)
            ]
            if chain.tag_shown and start.kind == "town":
                # `the person who became mayor of Salham in Marrin`, not `the mayor Salham in Marrin elected`.
                usable = [form for form in usable if " of {x}" in form] or usable
            possessive = [form for form in usable if form.startswith("{x}'s")]
            if possessive and len(chain.hops) > 2:
                # `the mentor of Ida Moss's tutor` rather than `the mentor of the tutor of Ida Moss`.
                usable = possessive
            if depth:
                usable = list(self.text.without_stacked_de(tuple(usable), {"x": phrase}))
            form = self.rng.choice(usable or nouns[hop.relation][:1])
            phrase = self.text.describe(form, phrase, hop.year)
        return phrase

    def _near_or_far(self, forms: tuple[str, ...]) -> tuple[str, ...]:
        """Return the half of the forms that keeps the article's words, or the half that keeps its distance."""
        half = len(forms) // 2
        far = self.rng.random() < self.want.paraphrase * self.text.questions.far_share[self.want.level]
        return forms[half:] if far else forms[:half]


def _verdict(text: WorldText, family: StrategyFamily, n: int) -> Combine:
    """Answer with yes or no."""

    def combine(choice: tuple[Result, ...]) -> str:
        (_, a), (_, b) = choice
        assert not isinstance(a, Entity)
        assert not isinstance(b, Entity)
        if family.formula(a, b, n) and int(b) - int(a) in (0, n):
            # Checked for every interpretation: for equal values `after` and `not before` have different answers.
            raise QuestionRejected(TIE)
        return text.questions.answer_yes if family.holds(a, b, n) else text.questions.answer_no

    return combine
