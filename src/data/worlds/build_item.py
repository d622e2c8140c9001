"""From a drawn question to a finished item: its articles, the gap if one is wanted, the clue, the tool calls."""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from ...core.types import Hidden, Level, Task, join_sentences
from ..difficulty.text_features import clue_overlap
from ..pool.source import Item, Step, Want
from ..quality.consistency import occurs
from .articles import ArticleSet, Chain, Combine, Gap
from .encyclopedia import World
from .texts import capitalize, fill
from .wording import WorldText

CONTEXT_TOKENS: dict[Level, tuple[int, int]] = {"easy": (40, 110), "medium": (420, 900), "hard": (640, 1000)}
"""Least and most tokens of context; the prompt adds some fifty. Must not depend on whether something is missing."""
USUAL_HOPS = 4
"""Tool calls of a hard sample at the default of `--tool_hops`."""
ASIDE_RATE: dict[Level, float] = {"easy": 0.0, "medium": 0.8, "hard": 1.0}
"""Share of the samples in which the user mentions articles that do not help."""
DECOY_RATE = 0.5
"""Share of the tagged names that get a namesake which the tag rules out."""
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


def build_item(task: Task, source_id: str, world: World, text: WorldText, want: Want, question: Question) -> Item:
    """Build the item of a question, or raise `QuestionRejected` when the solver does not confirm the question."""
    rng, chains = world.rng, question.chains
    articles = ArticleSet(world, text)
    articles.add_chains(chains)
    answer = _single_answer(articles, question)
    gap = _open_a_gap(articles, question, answer) if want.clarify else None
    if gap is None:
        _add_decoys(articles, question, answer)
    calls = sum(len(chain.hops) - chain.known for chain in chains)
    calls += sum(not chain.known and articles.shares_name(chain.start) for chain in chains)
    spare = want.max_turns - 1 - want.clarify - calls
    if spare < 0:
        raise QuestionRejected("the tool calls do not fit into the turns")
    # A reader who is short of turns compares two numbers without the calculator.
    calculate = spare >= len(question.calculations) and (want.level == "hard" or not want.clarify)
    calculations = question.calculations if calculate else ()
    searches = _searches(want, calls + len(calculations), spare - len(calculations)) if gap is None else 0
    clue = _clue(articles, question)
    premise = _aside(articles, want.level)
    needed = {hop.relation for chain in chains for hop in chain.hops}
    context = articles.articles(needed, want.level == "easy", rng.randint(*CONTEXT_TOKENS[want.level]))
    hidden = _hidden(articles, gap) if gap else None
    if hidden is not None and occurs(hidden.span, f"{premise} {clue} {question.text}"):
        raise QuestionRejected("the message contains what should be missing")
    steps, ask_after = _steps(articles, question, gap, searches)
    item = Item(
        task=task,
        lang=want.lang,
        source="builtin",
        source_id=source_id,
        premise=premise,
        clue=clue,
        question=question.text,
        context=context,
        support=tuple(articles.support(chains)),
        answer=answer,
        steps=steps + calculations,
        hidden=hidden,
        ask_after=ask_after,
        ambiguity=_ambiguity(articles, question),
    )
    if world.dialect:
        item = _in_dialect(item, world.dialect)
    return replace(item, original=_original(item))


def _single_answer(articles: ArticleSet, question: Question) -> str:
    answers = articles.answers(question.chains, question.combine)
    if len(answers) != 1:
        raise QuestionRejected("the facts give no answer or several")
    (answer,) = answers
    if answer in question.text and len(question.chains) == 1:
        raise QuestionRejected("the question names its answer")
    return answer


def _open_a_gap(articles: ArticleSet, question: Question, answer: str) -> Gap:
    """Choose what the text leaves open and the clue does not give, and add the pages that make it matter."""
    gaps = [Gap("name", chain) for chain in question.chains if not chain.known and chain.hops[0].relation != "tag"]
    for chain in question.chains:
        gaps += [Gap("year", chain, at) for at, hop in enumerate(chain.hops) if hop.is_open and at >= chain.known]
    if not gaps:
        raise QuestionRejected("the text leaves nothing open that the clue does not give")
    gap = articles.rng.choice(gaps)
    if not articles.open_gap(question.chains, gap, question.combine, answer):
        raise QuestionRejected("the answer is the same without the missing information, or not restored by it")
    return gap


def _add_decoys(articles: ArticleSet, question: Question, answer: str) -> None:
    """Add namesakes with another tag: the text shows the tag, so it stays complete, but a reader has to compare."""
    for chain in question.chains:
        if chain.tag_shown and articles.rng.random() < DECOY_RATE:
            articles.add_namesake(chain, same_tag=False)
    if articles.answers(question.chains, question.combine) != {answer}:
        raise QuestionRejected("a namesake that the tag should rule out changes the answer")


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
    """Return the sentences of the known hops, as the user restates them."""
    known = [
        articles.sentence_stating(hop.owner, hop.relation)
        for chain in question.chains
        for hop in chain.hops[: chain.known]
    ]
    if not known:
        return ""
    gap = articles.text.articles.sentence_gap
    clue = gap.join(dict.fromkeys(known))
    least, most = CLUE_OVERLAP
    if not least <= clue_overlap(clue + " " + question.text, gap.join(articles.support(question.chains))) <= most:
        raise QuestionRejected("the clue restates too little or too much")
    return clue


def _steps(articles: ArticleSet, question: Question, gap: Gap | None, searches: int) -> tuple[tuple[Step, ...], int]:
    """Return the calls that a careful reader makes, and how many of them come before the clarifying question."""
    steps: list[Step] = []
    ask_after = 0
    for chain in question.chains:
        for at, hop in enumerate(chain.hops[chain.known :], start=chain.known):
            if searches:
                steps.append(Step("wiki", f"{hop.owner.name} {articles.text.questions.queries[hop.relation]}"))
                searches -= 1
            ambiguous = at == 0 and articles.shares_name(chain.start)
            if ambiguous:
                steps.append(Step("wiki", hop.owner.name))
                if gap == Gap("name", chain):
                    ask_after = len(steps)
            if ambiguous and len(chain.hops) == 1 and hop.relation in articles.sentences(hop.owner)[0][1]:
                continue  # the list of search hits shows the first sentence, which states it
            steps.append(Step("wiki", articles.title(hop.owner)))
            if gap == Gap("year", chain, at):
                ask_after = len(steps)
    return tuple(steps), ask_after


def _hidden(articles: ArticleSet, gap: Gap) -> Hidden:
    """Return the missing information: the span that restores it, and how a clarifying question asks for it."""
    chain, text = gap.chain, articles.text
    start, questions = chain.start, text.questions
    if gap.kind == "year":
        span = text.year_phrase(chain.hops[gap.hop].value.year).strip()
        return Hidden("year", span, articles.rng.choice(questions.which_year), questions.year_words)
    value = articles.telling_value(start)
    if value:
        span = fill(questions.fact_span[start.kind], value=value)
    else:
        span = fill(questions.tag_span[start.kind], tag=start.tag)
    measure = questions.measure_words.get(start.kind, "")
    which = fill(articles.rng.choice(questions.which), x=start.name, measure=measure)
    return Hidden("entity", span, which, text.name_words(start.name))


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
    message = join_sentences([item.premise, item.question])
    if item.hidden is None:
        return message
    return f"{message} ({item.hidden.span})" if item.lang == "en" else f"{message}（{item.hidden.span}）"
