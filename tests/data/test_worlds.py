"""Items of the built-in encyclopedia: right answers, ambiguous only where intended, the same for the same key."""

from __future__ import annotations

import re
from itertools import product
from random import Random

import pytest
from msgspec.structs import replace

from askgate_env.tools import calc, wiki
from askgate_env.types import LANGS, LEVELS, Lang, Level, Task
from src.data.pool.source import Item, Want
from src.data.readers.builtin import BuiltinSource
from src.data.worlds.articles import ArticleSet, Chain, Gap, Hop, plain_value
from src.data.worlds.build_item import Question, QuestionRejected, build_item
from src.data.worlds.encyclopedia import Entity, Names, Value, make_namesake, make_world, share_fact
from src.data.worlds.wording import world_text

EACH = 30
ENCYCLOPEDIC: tuple[Task, ...] = ("hotpotqa", "strategyqa")


def want(lang: Lang, level: Level, clarify: bool) -> Want:
    return Want(lang, level, clarify, max_turns=6, tool_hops=4, ops_numeric=4, paraphrase=0.5)


def items(clarify: bool) -> list[Item]:
    source = BuiltinSource()
    return [
        source.item(task, f"train:{number}", want(lang, level, clarify), seed=3)
        for task, lang, level in product(ENCYCLOPEDIC, LANGS, LEVELS)
        for number in range(EACH)
    ]


@pytest.fixture(scope="module")
def complete() -> list[Item]:
    return items(clarify=False)


@pytest.fixture(scope="module")
def incomplete() -> list[Item]:
    return items(clarify=True)


def articles_of(chain: Chain) -> ArticleSet:
    rng = Random(1)
    return ArticleSet(make_world(Names("en", rng), rng), world_text("en"), [chain], plain_value)


def test_a_shared_name_has_an_answer_for_each_entity() -> None:
    here, there = Entity("town", "Torsk"), Entity("town", "Elm")
    old = Entity("person", "Vera Holt", "architect", facts={"born_in": [Value(here)], "born": [Value(1840)]})
    young = Entity("person", "Vera Holt", "chemist", facts={"born_in": [Value(there)], "born": [Value(1871)]})
    chain = Chain([Hop(young, "born_in", Value(there))])
    articles = articles_of(chain)
    assert articles.answers() == {"Elm"}
    articles.add(old)
    assert articles.answers() == {"Torsk", "Elm"}
    assert articles.answers(Gap("name", chain)) == {"Elm"}
    chain.tag_shown = True
    assert articles.answers() == {"Elm"}
    old.tag = "chemist"
    assert articles.answers() == {"Torsk", "Elm"}
    assert articles.answers(Gap("name", chain)) == {"Elm"}


def test_a_changing_fact_has_an_answer_for_each_year() -> None:
    early, late = Value(120, 1901), Value(800, 1950)
    chain = Chain([Hop(Entity("company", "Harrow Mills", facts={"staff": [early, late]}), "staff", late)])
    articles = articles_of(chain)
    assert articles.answers() == {"800"}
    articles.show_all_years(chain, 0)
    assert articles.answers() == {"120", "800"}
    assert articles.answers(Gap("year", chain)) == {"800"}
    chain.hops[0].year_shown = True
    assert articles.answers() == {"800"}
    chain.hops[0].value = Value(800, 1999)
    assert articles.answers() == set()


@pytest.mark.parametrize(
    ("text", "known", "clarify", "max_turns", "reason"),
    [
        ("Which river flows through the town on the {river}?", 0, False, 6, "names its answer"),
        ("Which river does {name} lie on?", 0, False, 1, "do not fit into the turns"),
        ("Which river does {name} lie on?", 1, True, 6, "leaves nothing open"),
    ],
)
def test_a_rejected_question_says_why(text: str, known: int, clarify: bool, max_turns: int, reason: str) -> None:
    rng = Random(1)
    world = make_world(Names("en", rng), rng)
    town = world.town[0]
    chain = Chain([Hop(town, "river", town.facts["river"][0])], known=known)
    asked = text.format(name=town.name, river=town.facts["river"][0].what)
    wanted = replace(want("en", "medium", clarify), max_turns=max_turns)
    with pytest.raises(QuestionRejected, match=reason):
        build_item("hotpotqa", "id", world, world_text("en"), wanted, Question([chain], plain_value, asked))


def test_demonstrated_calls_succeed_within_the_turns(complete: list[Item], incomplete: list[Item]) -> None:
    for item in [*complete, *incomplete]:
        assert len(item.steps) + (item.hidden is not None) + 1 <= 6
        for step in item.steps:
            shown = calc(step.input) if step.tool == "calc" else wiki(item.context, step.input)
            assert not shown.startswith(("error", "nothing")), step


def test_the_demonstration_reads_the_answer_of_a_bridge_question(complete: list[Item]) -> None:
    for item in complete:
        if item.task == "hotpotqa":
            read = "\n".join(wiki(item.context, step.input) for step in item.steps)
            assert item.answer in read + item.clue


def test_every_support_sentence_is_in_an_article(complete: list[Item], incomplete: list[Item]) -> None:
    for item in [*complete, *incomplete]:
        pages = [article.text for article in item.context]
        assert all(any(sentence in page for page in pages) for sentence in item.support)


def test_missing_information_is_nowhere_in_the_message(incomplete: list[Item]) -> None:
    for item in incomplete:
        assert item.hidden is not None
        assert item.hidden.span not in item.premise + item.clue + item.question
        assert item.hidden.span in item.original


def test_a_missing_name_shows_as_two_articles_before_asking(incomplete: list[Item]) -> None:
    named = [item for item in incomplete if item.hidden and item.hidden.kind == "entity"]
    assert len(named) > EACH
    for item in named:
        step = item.steps[item.ask_after - 1]
        namesakes = [a.title for a in item.context if a.title.startswith((f"{step.input} (", f"{step.input}（"))]
        assert len(namesakes) >= 2
        hits = wiki(item.context, step.input)
        assert all(title in hits for title in namesakes[:2])


def test_a_missing_year_shows_as_several_years_before_asking(incomplete: list[Item]) -> None:
    timed = [item for item in incomplete if item.hidden and item.hidden.kind == "year"]
    assert len(timed) > EACH
    for item in timed:
        assert item.hidden is not None
        assert item.hidden.span.strip("in 年") in wiki(item.context, item.steps[item.ask_after - 1].input)


def test_complete_questions_sound_as_vague_as_incomplete_ones(complete: list[Item], incomplete: list[Item]) -> None:
    """Bare names and omitted years are as common when nothing is missing."""

    def share_without_year(found: list[Item]) -> float:
        return sum("no-year" in item.ambiguity for item in found) / len(found)

    assert share_without_year(complete) > 0.2
    assert share_without_year(incomplete) > 0.2
    assert any("shared-name" in item.ambiguity for item in complete)


def test_yes_and_no_are_equally_common(complete: list[Item], incomplete: list[Item]) -> None:
    for found in (complete, incomplete):
        answers = [item.answer for item in found if item.task == "strategyqa"]
        assert set(answers) == {"yes", "no", "是", "否"}
        assert 0.4 < sum(answer in ("yes", "是") for answer in answers) / len(answers) < 0.6


@pytest.mark.parametrize("task", ENCYCLOPEDIC)
def test_an_item_depends_on_its_key_alone(task: Task) -> None:
    wanted = want("en", "hard", True)
    alone = BuiltinSource().item(task, "train:13", wanted, seed=5)
    source = BuiltinSource()
    for number in range(13):
        source.item(task, f"train:{number}", wanted, seed=5)
    assert source.item(task, "train:13", wanted, seed=5) == alone
    assert source.item(task, "train:13", wanted, seed=6) != alone
    assert source.item(task, "shadow:13", wanted, seed=5) != alone


def test_facts_of_a_world_fit_together_in_time() -> None:
    """Also those of namesakes: no work is older than its publisher, and nobody acts before birth or after death."""
    for seed in range(60):
        rng = Random(seed)
        world = make_world(Names("en" if seed % 2 else "zh", rng), rng)
        entities = world.entities()
        for of in world.entities():
            for relation in of.facts:
                entities.append(make_namesake(world, of, bool(rng.randrange(2)), relation))
                other = make_namesake(world, of, False, relation)
                if share_fact(world, other, of, relation):
                    assert other.facts[relation] == of.facts[relation]
                    entities.append(other)
        for entity in entities:
            _check_times(entity)


def _check_times(entity: Entity) -> None:
    facts = entity.facts
    if entity.kind == "person":
        assert facts["born"][0].what + 60 < facts["died"][0].what <= 2026
    for relation in ("mayor", "winner", "employer"):
        for value in facts.get(relation, ()):
            person = entity if relation == "employer" else value.what
            assert value.year - person.number("born") >= 16
            assert value.year <= person.number("died")
            assert relation != "employer" or value.what.number("founded") <= value.year
    for value in facts.get("teacher", ()):
        assert value.what.number("born") < entity.number("born") < value.what.number("died")
    if entity.kind == "work":
        author, house, year = facts["author"][0].what, facts["house"][0].what, entity.number("year")
        assert author.number("born") + 20 <= year <= author.number("died")
        assert house.number("founded") <= year
    if entity.kind == "company":
        founder, founded = facts["founder"][0].what, entity.number("founded")
        assert founder.number("born") + 20 <= founded <= founder.number("died")
        assert all(founded <= value.year <= 2026 for name in ("seat", "staff") for value in facts[name])
    if entity.kind == "event":
        assert all(
            entity.number("first") <= value.year <= 2026 for name in ("winner", "visitors") for value in facts[name]
        )


def test_complete_questions_have_candidates_that_do_not_matter(complete: list[Item], incomplete: list[Item]) -> None:
    """Brackets in the titles of the first reply are about as common with and without a need to ask."""

    def share(some: list[Item]) -> float:
        replies = [wiki(item.context, item.steps[0].input) for item in some if item.steps]
        return sum("(" in reply or "（" in reply for reply in replies) / len(replies)

    assert abs(share(complete) - share(incomplete)) < 0.2


def test_the_thoughts_say_why_candidates_do_not_matter(complete: list[Item]) -> None:
    reasons = {step.why for item in complete for step in item.steps} | {item.answer_why for item in complete}
    assert {"named", "only_one", "check_both", "same_for_both"} <= reasons


def test_answers_have_the_forms_in_which_people_write_them(complete: list[Item]) -> None:
    aliases = {alias.replace(item.answer, "#") for item in complete for alias in item.aliases}
    assert {"in #", "# inhabitants", "#年", "#人"} <= aliases
    elevation = {lang: world_text(lang).questions.answer_forms["elevation"] for lang in LANGS}
    assert {"{x} metres", "{x} m"} <= set(elevation["en"])
    assert "{x}米" in elevation["zh"]


def test_asks_name_the_entity_or_fact_without_year(incomplete: list[Item]) -> None:
    for item in incomplete:
        assert item.hidden is not None
        name = item.hidden.about[0]
        assert name in item.hidden.subject
        assert name in item.hidden.missing
        if item.hidden.kind == "year" and item.lang == "en":
            assert re.fullmatch(r"\d{4}", item.hidden.span)
            assert item.hidden.subject.startswith("the ")


def test_english_messages_quote_titles_and_restate_plainly(complete: list[Item]) -> None:
    """A firm may be called A Valley for Ida too; in quotes it is a work. Nobody repeats what a page is known for."""
    messages = [f"{item.premise} {item.clue} {item.question}" for item in complete if item.lang == "en"]
    titles = [(title, message) for message in messages for title in re.findall(r"An? [A-Z]\w+ for [A-Z]\w+", message)]
    assert len(titles) > 10
    assert all(f'"{title}"' in message for title, message in titles)
    assert not any(", known for " in message for message in messages)


def test_a_question_is_about_at_most_two_descriptions(complete: list[Item]) -> None:
    """Every fact but the last is a description, and a reader can undo two: `the teacher of the founder of X Works`."""
    bridges = [item for item in complete if item.task == "hotpotqa" and item.answer not in item.question]
    assert {len(item.support) for item in bridges} == {2, 3}


def test_at_most_a_third_of_the_messages_have_an_aside(complete: list[Item], incomplete: list[Item]) -> None:
    both = [item for item in complete + incomplete if item.task in ENCYCLOPEDIC]
    assert sum(bool(item.premise) for item in both) / len(both) <= 0.36
