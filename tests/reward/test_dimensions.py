"""Every dimension separates a good episode from a bad one and stays between 0 and 1."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest
from msgspec.structs import replace

from askgate_env.dimensions import RULES
from askgate_env.episode_view import EpisodeView
from askgate_env.old_reward import OLD
from askgate_env.reward import BY_RULE
from askgate_env.two_readings import two_readings
from askgate_env.types import Article, Sample
from src.core.defaults import MIX, TEMPLATES
from src.core.jsonl import read_records
from src.data.pool.build import build_pool
from src.data.pool.plan import BuildPlan
from src.reward.weights import read_baseline

from .dialogues import BERGS, WHICH, seen

EGGS = "A box holds twelve eggs. How many eggs are in 7 boxes?"
BIRTH = "In what year was the town founded in which Ada Berg, the potter, was born?"
READ = seen("hotpotqa", BIRTH, "<wiki>Ada Berg (potter)</wiki>", "<wiki>Lund</wiki>", "<answer>1246</answer>")
MADE_UP = seen("hotpotqa", BIRTH, "<wiki>Ada Bjerg</wiki>", "<wiki>Ada Bjerg</wiki>", "<answer>Tromsø</answer>")
COUNTED = seen("gsm8k", EGGS, "<calc>12 * 7</calc>", "<answer>84</answer>")
SILENT = seen("gsm8k", EGGS, "no idea", "hm", "well", "so", "then", "bye")

GOOD_AND_BAD: dict[str, tuple[EpisodeView, EpisodeView]] = {
    "calculation": (
        seen("gsm8k", EGGS, "So 12 * 7 = 84. <answer>84</answer>"),
        seen("gsm8k", EGGS, "So 12 * 7 = 94. <answer>94</answer>"),
    ),
    "grounding": (COUNTED, seen("gsm8k", EGGS, "<calc>13 * 5</calc>", "<answer>65</answer>")),
    "support": (READ, MADE_UP),
    "asking": (
        seen("hotpotqa", "Where was Ada Berg born?", "<ask>Which Ada Berg do you mean?</ask>", hidden=WHICH),
        seen("hotpotqa", "Where was Ada Berg born?", "<ask>Which Ada Berg do you mean?</ask>"),
    ),
    "form": (COUNTED, seen("gsm8k", EGGS, "<calc>12 * 7</calc>", "<answer>84 or so, maybe 90</answer>")),
    "economy": (READ, MADE_UP),
    "logic_rigor": (READ, MADE_UP),
    "calc_accuracy": (COUNTED, seen("gsm8k", EGGS, "<answer>95</answer>")),
    "expression_clarity": (READ, seen("hotpotqa", BIRTH, "<wiki>沙菊浦</wiki>", "<answer>玉泉�</answer>")),
    "completeness": (READ, SILENT),
    "clarification": (
        seen("gsm8k", EGGS, "<ask>How many boxes are there?</ask>"),
        seen("gsm8k", EGGS, "<ask>boxes</ask>", "<ask>boxes</ask>"),
    ),
    "naturalness": (READ, MADE_UP),
    "educational": (
        seen("gsm8k", EGGS, "Twelve in each of 7: <calc>12 * 7</calc>", "<answer>84</answer>"),
        seen("gsm8k", EGGS, "<calc>12 boxes</calc>", "<answer>84</answer>"),
    ),
}


def test_every_dimension_has_a_good_and_a_bad_episode_here() -> None:
    assert set(GOOD_AND_BAD) == set(BY_RULE) == {*RULES, *OLD}


@pytest.mark.parametrize("name", GOOD_AND_BAD)
def test_a_good_episode_scores_higher_than_a_bad_one(name: str) -> None:
    good, bad = GOOD_AND_BAD[name]
    assert 0 <= BY_RULE[name](bad) < BY_RULE[name](good) <= 1


@pytest.mark.parametrize("name", GOOD_AND_BAD)
def test_every_dimension_stays_in_range_whatever_was_said(name: str) -> None:
    odd = [SILENT, seen("strategyqa", "", "<answer>？</answer>"), seen("gsm8k", "5", *["<calc>1/0</calc>"] * 6)]
    endless = "1" * 5000
    said = (f"So 1 + 1 = {endless}. <calc>{endless} + 1</calc>", f"<answer>{endless}</answer>")
    odd += [seen("gsm8k", f"{endless} eggs, {'二' * 5000} more?", *said)]
    odd += [seen("hotpotqa", "Who?"), seen("hotpotqa", "谁？", "<ask>谁</ask>", "<answer>\n</answer>", lang="zh")]
    values = [BY_RULE[name](one) for pair in GOOD_AND_BAD.values() for one in (*pair, *odd)]
    assert all(0 <= value <= 1 for value in values)


def test_the_old_score_of_a_made_up_answer_is_lower() -> None:
    weights = read_baseline().weights
    made_up, read = (sum(weights[name] * OLD[name](one) for name in OLD) for one in (MADE_UP, READ))
    assert made_up < read


def test_number_words_and_unit_sizes_are_known_numbers() -> None:
    weighed = "Eight crates hold 250 grams each. How many kilograms is that?"
    steps = ("<calc>8 * 250</calc>", "<calc>2000 / 1000</calc>", "<answer>2</answer>")
    assert RULES["grounding"](seen("gsm8k", weighed, *steps)) == 1
    assert RULES["grounding"](seen("gsm8k", "八箱，每箱250克，共几千克？", *steps, lang="zh")) == 1
    assert RULES["grounding"](seen("gsm8k", weighed, "<calc>8 * 365</calc>", "<answer>2920</answer>")) == 0.5


def test_a_verdict_must_follow_the_last_comparison() -> None:
    older = "Is Lund older than 500 years in 1900?"
    steps = ("<wiki>Lund</wiki>", "<calc>1900 - 1246 > 500</calc>")
    assert RULES["support"](seen("strategyqa", older, *steps, "<answer>yes</answer>")) == 1
    assert RULES["support"](seen("strategyqa", older, *steps, "<answer>no</answer>")) == 0
    assert RULES["support"](seen("strategyqa", older, "<answer>yes</answer>")) == 0


def test_options_of_the_question_are_half_supported_by_reading() -> None:
    support = RULES["support"]
    assert support(READ) == 1
    either = "Is Lund or Vell the older town?"
    assert support(seen("hotpotqa", either, "<wiki>Lund</wiki>", "<answer>Lund</answer>")) == 0.5
    assert support(seen("hotpotqa", either, "<answer>Lund</answer>")) == 0
    assert support(seen("hotpotqa", either, "<wiki>the town of Vell</wiki>", "<answer>Lund</answer>")) == 0.5
    hits = seen("hotpotqa", "Where was she born?", "<wiki>Ada Berg</wiki>", "<answer>Lund</answer>")
    assert support(hits) == 0.5


def test_comparing_a_number_with_itself_is_no_calculation() -> None:
    older = ("strategyqa", "Was Lund founded before 1300?", "<wiki>Lund</wiki>")
    assert RULES["calculation"](seen(*older, "<calc>1246 < 1300</calc>", "<answer>yes</answer>")) == 1
    assert RULES["calculation"](seen(*older, "<calc>1300 < 1300</calc>", "<answer>no</answer>")) == 0


def test_two_namesakes_are_ambiguous_until_the_user_chooses() -> None:
    steps = ("<wiki>Ada Berg</wiki>", "<answer>Lund</answer>")
    assert two_readings(seen("hotpotqa", "Where was Ada Berg born?", *steps))
    assert not two_readings(seen("hotpotqa", "Where was the potter Ada Berg born?", *steps))
    asked = ("<wiki>Ada Berg</wiki>", "<ask>Which Ada Berg do you mean?</ask>", "<answer>Lund</answer>")
    assert not two_readings(seen("hotpotqa", "Where was Ada Berg born?", *asked, hidden=WHICH))


def test_lists_by_year_are_ambiguous_until_a_year_is_named() -> None:
    steps = ("<wiki>Vell</wiki>", "<answer>Nils Sand</answer>")
    assert two_readings(seen("hotpotqa", "Who was mayor of Vell?", *steps))
    assert not two_readings(seen("hotpotqa", "Who became mayor of Vell in 1889?", *steps))


OPERA = Article("Ada Berg (opera)", ("Ada Berg, which came out in 1901, is an opera created by Nils Sand.",))


def test_a_namesake_of_another_kind_is_no_second_reading() -> None:
    question, steps = "Where was Ada Berg born?", ("<wiki>Ada Berg</wiki>", "<answer>Lund</answer>")
    assert not two_readings(seen("hotpotqa", question, *steps, context=(BERGS[0], OPERA)))
    assert two_readings(seen("hotpotqa", question, *steps, context=(*BERGS, OPERA)))


def test_namesakes_that_say_the_same_are_no_second_reading() -> None:
    pages = [Article(f"Ada Berg ({tag})", (f"Ada Berg was a {tag} born in Lund.",)) for tag in ("potter", "poet")]
    steps = ("<wiki>Ada Berg</wiki>", "<answer>Lund</answer>")
    assert not two_readings(seen("hotpotqa", "Where was Ada Berg born?", *steps, context=(*pages, OPERA)))


@pytest.mark.parametrize(("year", "matters"), [("1850", True), ("1700", False)])
def test_namesakes_matter_only_if_they_change_a_comparison(year: str, matters: bool) -> None:
    context = (
        Article("Holm (Almark)", ("Holm is a town in Almark, founded in 1812.",)),
        Article("Holm (Isel)", ("Founded in 1888, Holm is a town in Isel.",)),
        Article("Vell", (f"Vell is a town in Isel, founded in {year}.",)),
    )
    looked = ("<wiki>Holm</wiki>", "<wiki>Vell</wiki>")
    compared = (f"<calc>1812 < {year}</calc>", "<answer>no</answer>")
    older = seen("strategyqa", "Is Holm older than Vell?", *looked, *compared, context=context)
    assert two_readings(older) is matters
    choice = seen("hotpotqa", "Which town is older, Holm or Vell?", *looked, "<answer>Vell</answer>", context=context)
    assert two_readings(choice) is matters


@pytest.mark.parametrize(("died", "matters"), [("1956", False), ("1970", True)])
def test_lives_are_compared_however_an_article_gives_them(died: str, matters: bool) -> None:
    context = (
        Article("Ada Berg (poet)", ("Ada Berg (born in Lund in 1861, died in 1929) was a poet.",)),
        Article("Ada Berg (potter)", (f"Ada Berg (1880-{died}) was a potter born in Vell.",)),
    )
    steps = ("<wiki>Ada Berg</wiki>", "<calc>1929 >= 1961</calc>", "<answer>no</answer>")
    assert two_readings(seen("strategyqa", "Was Ada Berg alive in 1961?", *steps, context=context)) is matters


def test_work_and_event_of_one_name_differ_in_kind() -> None:
    context = (
        Article("Vell Cup (comedy)", ("Vell Cup is a comedy by Ada Berg, first published in 1875.",)),
        Article("Vell Cup (chess tournament)", ("The Vell Cup is a chess tournament in Lund, first held in 1862.",)),
    )
    steps = ("<wiki>Vell Cup</wiki>", "<calc>1868 < 1862</calc>", "<answer>no</answer>")
    assert not two_readings(seen("strategyqa", "Did the Vell Cup start after 1868?", *steps, context=context))


def test_demonstrations_without_their_ask_pass_over_a_gap(tmp_path: Path) -> None:
    build_pool(BuildPlan(n=600, mix=MIX, seed=3, langs=(), templates_dir=TEMPLATES), tmp_path / "pool.jsonl")
    flagged: dict[bool, list[bool]] = {True: [], False: []}
    for sample in read_records(tmp_path / "pool.jsonl", Sample):
        asked = [place for place, turn in enumerate(sample.dialogue) if turn.act == "ask"]
        left_out = {*asked, *(place + 1 for place in asked)}
        turns = tuple(replace(turn, thought="") for at, turn in enumerate(sample.dialogue) if at not in left_out)
        view = EpisodeView(
            sample.task, sample.lang, sample.prompt, sample.context, turns, end="answer", answer=turns[-1].text
        )
        flagged[sample.needs_clarification].append(RULES["asking"](view) == 0)
    assert fmean(flagged[True]) >= 0.90
    assert fmean(flagged[False]) <= 0.10


def test_a_value_that_holds_for_all_years_needs_no_year() -> None:
    again = Article("Vell", ("Ada Berg was elected mayor of Vell in 1868 and again in 1872.",))
    steps = ("<wiki>Vell</wiki>", "<answer>Ada Berg</answer>")
    assert not two_readings(seen("hotpotqa", "Who was mayor of Vell?", *steps, context=(again,)))


def test_a_choice_by_years_is_of_the_right_kind() -> None:
    prompt = "查一下毛萱和吴建树是哪年逝世的，谁早一些？"
    assert RULES["form"](seen("hotpotqa", prompt, "<answer>毛萱</answer>", lang="zh")) == 1
    assert RULES["form"](seen("hotpotqa", "毛萱是哪年逝世的？", "<answer>毛萱</answer>", lang="zh")) == 0


@pytest.mark.parametrize(
    "said", ["<answer>", "<answer>yes</answer>", f"<answer>{BIRTH}</answer>", f"<ask>{BIRTH}</ask>"]
)
def test_empty_form_is_worth_far_less_than_an_honest_try(said: str) -> None:
    hack = seen("hotpotqa", BIRTH, *[said] * 6)
    assert sum(rule(hack) for rule in RULES.values()) < sum(rule(READ) for rule in RULES.values()) - 2


def test_ignoring_an_open_question_does_not_count_as_asking() -> None:
    asking = RULES["asking"]
    assert asking(seen("hotpotqa", "Who was mayor of Vell?", "<wiki>Vell</wiki>", "<answer>Nils Sand</answer>")) == 0
    assert asking(seen("gsm8k", "How much are 7 boxes?", "<calc>7 * 19</calc>", "<answer>133</answer>")) == 0
    assert asking(COUNTED) == 1


def test_a_repeated_ask_counts_as_needless() -> None:
    twice = ("<ask>Which Ada Berg do you mean?</ask>",) * 2
    assert RULES["asking"](seen("hotpotqa", "Where was Ada Berg born?", *twice, hidden=WHICH)) == 0.5
