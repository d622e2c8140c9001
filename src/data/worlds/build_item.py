"""From a drawn question to a finished item: its articles, the gap if one is wanted, the clue, the tool calls."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import Literal

import msgspec
from msgspec.structs import replace

from askgate_env.tokenize import occurs
from askgate_env.types import Hidden, Level, Task, join_sentences

from ..difficulty.text_features import clue_overlap
from ..pool.source import Item, Step, Thought, Want
from .articles import ArticleSet, Chain, Combine, Gap, HarmlessReason
from .encyclopedia import Entity, World
from .texts import capitalize, fill
from .wording import WorldText, name_of

CONTEXT_TOKENS: dict[Level, tuple[int, int]] = {"easy": (40, 110), "medium": (420, 900), "hard": (640, 1000)}
"""Least and most tokens of context; the prompt adds some fifty. Must not depend on whether something is missing."""
USUAL_HOPS = 4
"""Tool calls of a hard sample at the default of `--tool-hops`."""
ASIDE_RATE: dict[Level, float] = {"easy": 0.0, "medium": 0.35, "hard": 0.5}
"""Share of the samples in which the user mentions articles that do not help."""

LIKE_A_GAP_RATE = 0.9
"""Share of the complete questions with several candidates where an incomplete one would have them."""
ELSEWHERE_RATE = 0.45
"""Share of the other names and open years with several candidates, in complete and in incomplete questions."""
HOMONYM_RATE = 0.2
"""Share of the namesakes beside which an entity of another kind has that name too."""
BRIEF_KEEPS = {False: 0.45, True: 0.3}
"""Shares of the sentences that nobody asks for in the brief articles of complete and of incomplete easy questions."""
UNASKED_ONE_YEAR = {False: 0.1, True: 0.3}
"""Shares of the facts beside the question that have one year only, in complete and in incomplete questions. The latter
have more, because the fact with the gap has several years."""
SAME_ANSWER_RATE = 0.65
"""Share of the harmless namesakes that lead to the same answer, where one can be made; others are of another kind."""
SAME_TAG_RATE = {False: 0.4, True: 0.1}
"""Shares of the namesakes of untagged names that have the same tag, and are told apart by a further fact, in complete
and in incomplete questions. Those of tagged names all have it in the latter, and few in the former."""
SAME_ANSWER_TRIES = 4
CLUE_OVERLAP = (0.36, 0.68)
"""Least and most overlap of clue and question with the supporting sentences."""


class QuestionRejected(Exception):
    """A drawn question cannot become an item, and why; the caller draws another."""


@dataclass(slots=True)
class Question:
    """A question as it was drawn, before its articles."""

    chains: list[Chain]
    combine: Combine
    text: str
    calculations: tuple[Step, ...] = ()
    """Calculations after the last article, when the answer takes one."""
    has_lead: bool = False
    """Whether a sentence of its own names the subject."""
    asked_for: str = ""
    """The relation whose value is the answer (`founded`, `person.tag`); empty where the answer is of another kind."""


def build_item(task: Task, source_id: str, world: World, text: WorldText, want: Want, question: Question) -> Item:
    """Build the item of a question, or raise `QuestionRejected` when the solver does not confirm the question."""
    rng, chains = world.rng, question.chains
    articles = ArticleSet(world, text, chains, question.combine)
    articles.answer = answer = _single_answer(articles, question)
    articles.gap = gap = _open_a_gap(articles) if want.clarify else None
    calls = sum(len(chain.hops) - chain.known for chain in chains)
    calls += want.clarify + (gap is not None and gap.kind == "name")
    _add_harmless_candidates(articles, want.max_turns - 1 - calls)
    articles.narrow_unasked(UNASKED_ONE_YEAR[want.clarify])
    steps, ask_after, answer_why = _steps(articles, 0)
    spare = want.max_turns - 1 - want.clarify - len(steps)
    if spare < 0:
        raise QuestionRejected("the tool calls do not fit into the turns")
    # A reader who is short of turns compares two numbers without the calculator.
    calculate = spare >= len(question.calculations) and (want.level == "hard" or not want.clarify)
    calculations = question.calculations if calculate else ()
    searches = _searches(want, len(steps) + len(calculations), spare - len(calculations))
    if searches:
        steps, ask_after, answer_why = _steps(articles, searches)
    clue = _clue(articles, question)
    premise = "" if question.has_lead and want.level != "hard" else _aside(articles, want.level)
    needed = {hop.relation for chain in chains for hop in chain.hops}
    brief = BRIEF_KEEPS[want.clarify] if want.level == "easy" else 1.0
    context = articles.articles(needed, brief, rng.randint(*CONTEXT_TOKENS[want.level]))
    hidden = _hidden(articles, gap) if gap else None
    if hidden is not None and occurs(hidden.span, f"{premise} {clue} {question.text}"):
        raise QuestionRejected("the message contains what should be missing")
    item = Item(
        task=task,
        lang=want.lang,
        source="builtin",
        source_id=source_id,
        premise=premise,
        clue=clue,
        question=question.text,
        context=context,
        support=tuple(articles.support()),
        answer=answer,
        aliases=tuple(fill(form, x=answer) for form in text.questions.answer_forms.get(question.asked_for, ())),
        steps=steps + calculations,
        hidden=hidden,
        ask_after=ask_after,
        answer_why=answer_why,
        ambiguity=_ambiguity(articles, question),
    )
    if world.dialect:
        item = _in_dialect(item, world.dialect)
    return replace(item, original=_original(item))


def _single_answer(articles: ArticleSet, question: Question) -> str:
    answers = articles.answers()
    if len(answers) != 1:
        raise QuestionRejected("the facts give no answer or several")
    (answer,) = answers
    if answer in question.text and len(question.chains) == 1:
        raise QuestionRejected("the question names its answer")
    return answer


def _open_a_gap(articles: ArticleSet) -> Gap:
    """Choose what is missing, and add the pages that make it matter."""
    gap = _draw_gap(articles)
    if gap is None:
        raise QuestionRejected("the text leaves nothing open that the clue does not give")
    same_tag = articles.rng.random() < SAME_TAG_RATE[True]
    if gap.kind == "name":
        articles.add_namesake(gap.chain, same_tag or gap.chain.tag_shown)
    else:
        articles.show_all_years(gap.chain, gap.hop)
    if len(articles.answers()) < 2 or articles.answers(gap) != {articles.answer}:
        raise QuestionRejected("the answer is the same without the missing information, or not restored by it")
    return gap


def _draw_gap(articles: ArticleSet) -> Gap | None:
    """Draw a name or a year that the text leaves open and the clue does not give; None if there is none."""
    gaps = [Gap("name", chain) for chain in articles.chains if not chain.known and chain.hops[0].relation != "tag"]
    for chain in articles.chains:
        gaps += [
            Gap("year", chain, index) for index, hop in enumerate(chain.hops) if hop.is_open and index >= chain.known
        ]
    return articles.rng.choice(gaps) if gaps else None


def _add_harmless_candidates(articles: ArticleSet, spare: int) -> None:
    """Add namesakes and further years that do not matter.

    A complete question gets them as often as an incomplete one has those that matter, and the other chains of an
    incomplete question sometimes. Otherwise a name in brackets or a second year would give away that something is
    missing. `spare` tool calls are free for comparing candidates.
    """
    rng, gap = articles.rng, articles.gap
    # In a complete question, something could have been missing here.
    main = gap or (_draw_gap(articles) if rng.random() < LIKE_A_GAP_RATE else None)
    if main is not None:
        articles.first = main.chain
    for chain in rng.sample(articles.chains, len(articles.chains)):
        is_main = main is not None and main.chain is chain
        if gap is not None and is_main:
            if gap.kind == "name" and rng.random() < HOMONYM_RATE:
                articles.add_homonym(chain)
            continue
        open_hops = [index for index, hop in enumerate(chain.hops) if hop.is_open and index >= chain.known]
        years = bool(open_hops) and (main.kind == "year" if main and is_main else rng.random() < ELSEWHERE_RATE)
        if years and _show_same_years(articles, chain, rng.choice(open_hops)):
            articles.harmless[chain] = "same_in_all_years"
        elif not chain.known and spare > 0 and (is_main or rng.random() < ELSEWHERE_RATE):
            spare -= _add_harmless_namesake(articles, chain, spare)


def _show_same_years(articles: ArticleSet, chain: Chain, index: int) -> bool:
    """State several years of a fact that lead to the same answer; False where there are none."""
    hop, before = chain.hops[index], articles.snapshot()
    if len(articles.chains) > 1:
        articles.show_all_years(chain, index)
        if articles.keeps_answer():
            return True
        articles.pages = {entity: dict(facts) for entity, facts in before.items()}
    if isinstance(hop.value.what, Entity) or len(articles.chains) > 1:
        articles.repeat_value(hop)
        if articles.keeps_answer():
            return True
    articles.pages = before
    return False


def _add_harmless_namesake(articles: ArticleSet, chain: Chain, spare: int) -> int:
    """Add a namesake that does not matter, and return the tool calls that comparing it takes."""
    rng, before = articles.rng, articles.snapshot()
    reason: HarmlessReason = "only_one"
    if chain.hops[0].relation == "tag":
        return 0
    if spare > 1 and rng.random() < SAME_ANSWER_RATE and _add_same_answer(articles, chain):
        reason = "same_for_both"
    elif chain.tag_shown:
        articles.add_namesake(chain, same_tag=False)
        reason = "named"
    if reason == "only_one" or rng.random() < HOMONYM_RATE:
        articles.add_homonym(chain)
    if not articles.keeps_answer() or not articles.shares_name(chain.start):
        articles.pages = before
        return 0
    articles.harmless[chain] = reason
    return 2 if reason == "same_for_both" else 1


def _add_same_answer(articles: ArticleSet, chain: Chain) -> bool:
    same_tag = chain.tag_shown or articles.rng.random() < SAME_TAG_RATE[articles.gap is not None]
    for _ in range(SAME_ANSWER_TRIES):
        before = articles.snapshot()
        if len(articles.chains) > 1:
            articles.add_namesake(chain, same_tag)
            if len(articles.namesakes(chain.start)) > 1 and articles.keeps_answer():
                return True
        elif articles.add_namesake_that_shares(chain, same_tag):
            return True
        articles.pages = before
    return False


def _searches(want: Want, calls: int, spare: int) -> int:
    """Return how many searches come before titles are opened, to reach the wanted number of tool calls."""
    wanted = {"easy": 0, "medium": want.tool_hops - USUAL_HOPS, "hard": want.tool_hops - calls}[want.level]
    return max(0, min(wanted, spare))


def _aside(articles: ArticleSet, level: Level) -> str:
    """Return what the user says to have read already.

    It is said whether or not something is missing, so it gives nothing away.
    """
    rng, questions = articles.rng, articles.text.questions
    if rng.random() >= ASIDE_RATE[level]:
        return ""
    names = {entity.name for entity in articles.pages}
    others = [entity for entity in articles.world.entities() if entity.name not in names]
    mentioned = rng.sample(others, 2 if level == "hard" else 1)
    for entity in mentioned:
        articles.add(entity)
    forms = questions.asides_two if level == "hard" else questions.asides_one
    mentions = [articles.text.mention(entity.kind, entity.name, "") for entity in mentioned]
    return capitalize(fill(rng.choice(forms), **dict(zip("ab", mentions, strict=False))))


def _clue(articles: ArticleSet, question: Question) -> str:
    """Return the sentences of the known hops, as the user restates them: without what the subject is known for."""
    known = [
        articles.text.restated(hop.owner, articles.sentence_stating(hop.owner, hop.relation))
        for chain in question.chains
        for hop in chain.hops[: chain.known]
    ]
    if not known:
        return ""
    gap = articles.text.articles.sentence_gap
    clue = gap.join(dict.fromkeys(known))
    if any(chain.start.name in clue for chain in question.chains if not chain.known):
        raise QuestionRejected("the clue says more of what the question leaves open")
    least, most = CLUE_OVERLAP
    if not least <= clue_overlap(clue + " " + question.text, gap.join(articles.support())) <= most:
        raise QuestionRejected("the clue restates too little or too much")
    return clue


def _steps(articles: ArticleSet, searches: int) -> tuple[tuple[Step, ...], int, Thought | Literal[""]]:
    """Return the calls that a careful reader makes, how many of them come before the clarifying question, and the kind
    of thought before the answer."""
    steps: list[Step] = []
    gap, ask_after = articles.gap, 0
    # Why the candidates of the last page do not matter; the thought before the next call or the answer says it.
    reason: Thought | Literal[""] = ""
    bridge = len(articles.chains) == 1

    def open_page(title: str, fact: str, why: Thought | Literal[""] = "", option: str = "") -> None:
        nonlocal reason
        steps.append(Step("wiki", title, fact, why or (reason if bridge else ""), option))
        reason = "" if bridge else reason

    for chain in sorted(articles.chains, key=lambda chain: chain is not articles.first):
        harmless = articles.harmless.get(chain)
        for index, hop in enumerate(chain.hops[chain.known :], start=chain.known):
            if searches:
                steps.append(Step("wiki", f"{hop.owner.name} {articles.text.questions.queries[hop.relation]}"))
                searches -= 1
            is_shared_name = index == 0 and articles.shares_name(chain.start)
            # Search results show the first sentence of an article.
            hits_state_it = hop.relation in articles.sentences(hop.owner)[0][1]
            if not is_shared_name:
                open_page(articles.title(hop.owner), hop.fact)
            else:
                open_page(hop.owner.name, hop.fact)
                if gap == Gap("name", chain):
                    ask_after = len(steps)
                if harmless == "same_for_both":
                    if not hits_state_it:
                        candidates = articles.namesakes(chain.start)
                        articles.rng.shuffle(candidates)
                        open_page(articles.title(candidates[0]), hop.fact, "check_both")
                        open_page(articles.title(candidates[1]), hop.fact)
                    reason = "same_for_both"
                elif not (hits_state_it and len(chain.hops) == 1):
                    why: Thought | Literal[""] = harmless if harmless in ("named", "only_one") else ""
                    open_page(articles.title(hop.owner), hop.fact, why, _reading(articles, hop.owner)[0])
            if gap == Gap("year", chain, index):
                ask_after = len(steps)
            if harmless == "same_in_all_years" and hop.is_open and len(articles.pages[hop.owner][hop.relation]) > 1:
                reason = "same_for_both"
    return tuple(steps), ask_after, reason


def _hidden(articles: ArticleSet, gap: Gap) -> Hidden:
    """Return the missing information: the span that restores it, and how a clarifying question asks for it."""
    chain, text = gap.chain, articles.text
    start, questions = chain.start, text.questions
    if gap.kind == "year":
        hop = chain.hops[gap.hop]
        values = sorted(articles.pages[hop.owner][hop.relation], key=lambda value: value != hop.value)
        # The value itself names a reading only where it is not the answer.
        last = gap.hop + 1 == len(chain.hops)
        readings = tuple(
            (fill(questions.year_span, year=v.year or ""), *([] if last else [name_of(v.what)])) for v in values
        )
        about = (hop.owner.name, *questions.year_words, *questions.relation_words[hop.relation])
        owner = text.mention(hop.owner.kind, hop.owner.name, "")
        if not chain.known and (gap.hop == 1 or questions.nests_at == "start"):
            tagged = chain.tag_shown and questions.nests_at == "end"
            described = text.mention(start.kind, start.name, start.tag if tagged else "")
            for before, after in itertools.pairwise(chain.hops[: gap.hop + 1]):
                owner = text.mention(after.owner.kind, after.owner.name, "")
                form = questions.year_owner.get(before.relation, "{x}")
                described = owner = fill(form, x=owner, y=described)
        fact = fill(questions.year_facts[hop.relation], x=owner)
        which = fill(articles.rng.choice(questions.which_year), fact=fact)
        return Hidden("year", readings[0][0], which, about, readings, subject=fact)
    measure = questions.measure_words.get(start.kind, "")
    subject = text.several(start.kind, start.name, start.tag if chain.tag_shown else "")
    which = fill(articles.rng.choice(questions.which), x=subject, measure=measure)
    namesakes = sorted(articles.namesakes(start), key=lambda entity: entity is not start)
    readings = tuple(_reading(articles, entity) for entity in namesakes)
    telling = questions.fact_words[start.kind] if articles.telling_value(start) else ()
    about = (start.name.strip("《》"), *questions.kind_words[start.kind], *telling)
    return Hidden("entity", readings[0][0], which, about, readings, subject=subject)


def _reading(articles: ArticleSet, entity: Entity) -> tuple[str, ...]:
    """Return the phrases that tell an entity apart from its namesakes: as a reply says it, alone, and as a title."""
    questions, value = articles.text.questions, articles.telling_value(entity)
    if value:
        return fill(questions.fact_span[entity.kind], value=value), str(value), articles.title(entity)
    return fill(questions.tag_span[entity.kind], tag=entity.tag), entity.tag, articles.title(entity)


def _ambiguity(articles: ArticleSet, question: Question) -> tuple[str, ...]:
    """Return in which ways the question sounds vague, whether or not the articles resolve it."""
    flags = []
    if any(articles.shares_name(chain.start) for chain in question.chains):
        flags.append("shared-name")
    if any(hop.is_open for chain in question.chains for hop in chain.hops):
        flags.append("no-year")
    return tuple(flags)


def _in_dialect(item: Item, dialect: dict[str, str]) -> Item:
    """Put every text of an item into the dialect of its world, in one pass over its JSON."""
    spoken = re.sub("|".join(dialect), lambda word: dialect[word[0]], msgspec.json.encode(item).decode())
    return msgspec.json.decode(spoken, type=Item)


def _original(item: Item) -> str:
    """Return what the user would have said with nothing left out: the span put back after the question."""
    message = join_sentences([item.premise, item.clue, item.question])
    if item.hidden is None:
        return message
    return f"{message} ({item.hidden.span})" if item.lang == "en" else f"{message}（{item.hidden.span}）"
