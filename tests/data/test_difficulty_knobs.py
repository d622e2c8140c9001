"""The difficulty flags make samples harder or easier as they say; at their defaults samples keep their level."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from askgate_env.types import LANGS, LEVELS, Level
from src.data.difficulty.metrics import RISING
from src.data.difficulty.text_features import operators
from src.data.pool.source import SCORES, USUAL_KNOB, Item, Want, effective_want, operations_missed, points_missed
from src.data.readers import article_items as pages
from src.data.readers import gsm8k
from src.data.readers.articles import HotpotRecord, read_hotpotqa
from src.data.readers.gsm8k import GsmRecord
from src.data.readers.level_fit import misfit, score, turns
from src.data.worlds.arithmetic.problem import make_problem
from tests.data.dataset_records import hotpot


def want(
    level: Level, clarify: bool = False, hops: int = USUAL_KNOB, ops: int = USUAL_KNOB, max_turns: int = 6
) -> Want:
    return Want("en", level, clarify, max_turns, hops, ops, 0.5)


def long_sum(terms: int) -> gsm8k.WordProblem:
    """A running sum with one annotation per term."""
    told = [f"On day {day} the mill grinds {100 + 7 * day} sacks." for day in range(1, terms + 1)]
    marks, total = [], 107
    for day in range(2, terms + 1):
        marks.append(f"<<{total}+{100 + 7 * day}={total + 100 + 7 * day}>>")
        total += 100 + 7 * day
    text = " ".join(["Ada runs a mill.", *told, "How many sacks does the mill grind?"])
    problem = gsm8k.read(GsmRecord(text, "\n".join([*marks, f"#### {total}"])))
    assert isinstance(problem, gsm8k.WordProblem)
    return problem


def calc_operations(item: Item) -> int:
    return sum(operators(step.input) for step in item.steps if step.tool == "calc")


@pytest.mark.parametrize("level", LEVELS)
def test_at_the_defaults_only_the_level_counts(level: Level) -> None:
    low, high = SCORES[level]
    usual = want(level)
    assert effective_want(usual, "any") == usual
    assert [points_missed(points, usual, USUAL_KNOB) for points in (low, high)] == [0, 0]
    assert points_missed(high + 2, usual, USUAL_KNOB) == 2
    assert points_missed(low - 1, usual, USUAL_KNOB) == 1


def test_a_knob_relaxes_only_the_bound_it_moves_toward() -> None:
    assert points_missed(16, want("medium"), 8) == 0
    assert points_missed(0, want("medium"), 8) == 6
    assert points_missed(0, want("hard"), 1) == 0
    assert points_missed(16, want("medium"), 1) == 8
    assert points_missed(7, want("easy"), 8) == 2


def test_more_medium_samples_follow_a_knob_turned_further() -> None:
    def following(hops: int) -> int:
        turned = want("medium", hops=hops)
        return sum(effective_want(turned, str(key)) == turned for key in range(400))

    assert 60 < following(6) < 140 < following(8) < 260
    assert following(2) == following(6)
    assert all(effective_want(want("hard", hops=8), str(key)).tool_hops == 8 for key in range(20))


def test_medium_samples_want_half_the_operations_of_hard_ones() -> None:
    assert [operations_missed(count, want("hard", ops=4)) for count in (2, 4, 6, 9)] == [2, 0, 0, 3]
    assert [operations_missed(count, want("medium", ops=4)) for count in (1, 2, 4, 5)] == [1, 0, 0, 1]
    assert operations_missed(9, want("easy", ops=1)) == 0


@pytest.mark.parametrize("lang", LANGS)
def test_builtin_arithmetic_gets_harder_with_either_knob(lang: str) -> None:
    def made(hops: int, ops: int) -> tuple[int, float, float]:
        items = [
            make_problem(Want(lang, level, number % 3 == 0, 6, hops, ops, 0.5), f"{level}{number}")  # type: ignore[arg-type]
            for level in LEVELS[1:]
            for number in range(60)
        ]
        assert max(map(turns, items)) <= 6
        many = sum(calc_operations(item) > RISING["ops_numeric"][1] for item in items)
        return many, sum(map(calc_operations, items)), sum(len(item.steps) for item in items)

    usual = made(USUAL_KNOB, USUAL_KNOB)
    assert made(USUAL_KNOB, 1)[0] < usual[0] < made(USUAL_KNOB, 8)[0]
    assert made(USUAL_KNOB, 1)[1] < usual[1] < made(USUAL_KNOB, 8)[1]
    assert made(1, USUAL_KNOB)[2] < usual[2] < made(8, USUAL_KNOB)[2]


@pytest.mark.parametrize(("hops", "calls"), [(1, 2), (2, 2), (4, 4), (5, 5), (8, 5)])
def test_hard_gsm8k_items_take_the_calls_asked_for(hops: int, calls: int) -> None:
    item = gsm8k.make_item(long_sum(9), "intact", want("hard", hops=hops), seed=1)
    assert item is not None
    assert len(item.steps) == calls


def test_hard_gsm8k_records_have_about_the_operations_asked_for() -> None:
    def off(terms: int, ops: int) -> float:
        asked = want("hard", ops=ops)
        item = gsm8k.make_item(long_sum(terms), "intact", asked, seed=1)
        assert item is not None
        return misfit(item, asked)

    assert off(9, 8) < off(6, 8) < off(4, 8)
    assert off(3, 1) < off(6, 1) < off(9, 1)


def test_article_questions_take_fewer_or_more_calls() -> None:
    reading = read_hotpotqa(msgspec.convert(hotpot(3), HotpotRecord))
    assert reading is not None
    others = [read_hotpotqa(msgspec.convert(hotpot(number), HotpotRecord)) for number in range(10, 30)]
    spares = [article for other in others if other for article in other.gold]
    found: dict[int, Item] = {}
    for hops in (1, 3, 4, 8):
        asked = want("hard", hops=hops)
        item = pages.make_item(reading, asked, 1, spares)
        assert item is not None
        assert turns(item) <= 6
        found[hops] = item
    calls = {hops: len(item.steps) for hops, item in found.items()}
    assert [calls[hops] for hops in (1, 3, 4)] == [3, 3, 4]  # a search comes first
    assert calls[8] >= 4
    assert score(found[1], 0.15) < score(found[4], 0.15)


def test_medium_article_questions_follow_the_knob() -> None:
    calls: Counter[int] = Counter()
    for number in range(12):
        reading = read_hotpotqa(msgspec.convert(hotpot(number), HotpotRecord))
        assert reading is not None
        for hops in (4, 8):
            item = pages.make_item(reading, want("medium", hops=hops), 1, [])
            assert item is not None
            calls[hops] += len(item.steps)
    assert calls[4] < calls[8]
