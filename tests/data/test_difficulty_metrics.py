"""The difficulty of a sample is measured from its text, context and dialogue, by the owner's table."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import msgspec
import pytest

from askgate_env.tokenize import tokens
from askgate_env.types import TASKS, Article, Level, Task
from src.core.errors import BadInput
from src.core.files import sha256_file, sidecar
from src.core.jsonl import read_records
from src.data.difficulty import metrics as stage
from src.data.difficulty.metrics import (
    DifficultyRecord,
    clarification_points,
    density_points,
    difficulty_metrics,
    level_of,
    overlap_points,
)
from src.data.difficulty.text_features import asked_arithmetic, connector_density, names, operators, pronouns
from src.data.pool.meta import parent_of, read_meta
from src.runtime.workers import ProcessPool, Workers
from tests.data.difficulty_samples import dialogue, even_supply, graded, graded_samples, sample
from tests.data.samples import measure, write_meta, write_pool


def test_a_record_starts_with_the_required_fields() -> None:
    assert DifficultyRecord.__struct_fields__ == (
        *("id", "task", "len_tokens", "turns", "tool_hops", "entities", "ops_numeric", "connector_density"),
        *("coref_pronouns", "clue_overlap", "ambiguity_flags", "needs_clarification", "lang", "level", "score"),
    )


def test_length_counts_prompt_and_all_context() -> None:
    page = Article("Arnholt (town)", ("It lies by the sea.", "灯塔建于1962年。"))
    one = sample("a", question="Who built it?", context=(page,))
    text = f"{one.prompt}\n{page.title}\n" + "\n".join(page.sentences)
    assert measure(one).len_tokens == len(tokens(text)) == 21


def test_only_calls_are_hops_but_asks_and_answers_are_turns() -> None:
    one = sample("a", turns=dialogue([("wiki", "Arnholt"), ("calc", "3+4")], True, "7"))
    assert (measure(one).turns, measure(one).tool_hops) == (4, 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which Vera Lindqvist wrote The Harbor Lamp?", {"vera lindqvist", "the harbor lamp"}),
        (
            "Did Vera Lindqvist's cousin leave the University of Kettil in May?",
            {"vera lindqvist", "university of kettil", "may"},
        ),
        ("What is it? Then who paid?", set()),
        ("I gave Anna and Bo pens. Anna kept hers.", {"anna", "bo"}),
    ],
)
def test_english_names_are_capitalised_runs_without_sentence_openers(text: str, expected: set[str]) -> None:
    assert {name for _, name in names(text, "en", [])} == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("《长夜之歌》的作者是谁？", {"长夜之歌"}),
        ("他在青石镇的永昌公司工作过吗？", {"青石镇", "永昌公司"}),
        ("周安出生在哪座城市？", {"周安"}),
        ("维拉·林德奎斯特的故乡是哪里？", {"维拉·林德奎斯特"}),
        ("李华有很多苹果，小明买走一些。", {"李华", "小明"}),
        ("这家公司在哪个城市成立，一共有多少名员工？", set()),
    ],
)
def test_chinese_names_are_titles_quotes_and_places(text: str, expected: set[str]) -> None:
    assert {name for _, name in names(text, "zh", ["周安（建筑师）", "吴晨"])} == expected


def test_a_number_is_an_entity_once() -> None:
    assert (
        measure(sample("a", premise="Anna has 3 pens and 3 caps and 1,200 clips.", question="How many?")).entities == 3
    )


@pytest.mark.parametrize(
    ("expression", "count"),
    [("3+4", 1), ("-(48/2 + 24) > 3", 3), ("-5", 0), ("2**3 >= 7", 2), ("1979 - 1962", 1), ("", 0)],
)
def test_operators_are_counted_and_signs_are_not(expression: str, count: int) -> None:
    assert operators(expression) == count


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("How many years older is Anna than Bo?", 1),
        ("Was Anna born earlier than Bo?", 1),
        ("How many days between the two storms?", 1),
        ("Who wrote it?", 0),
        ("两座桥建成的年份相差多少年？", 1),
        ("周安和吴晨谁更早出生？", 1),
        ("作者是谁？", 0),
    ],
)
def test_comparisons_and_date_differences_in_the_question_are_counted(question: str, count: int) -> None:
    assert asked_arithmetic(question) == count


def test_operations_of_the_dialogue_and_of_the_question_add_up() -> None:
    one = sample(
        "a", "gsm8k", question="How many more has Anna than Bo?", turns=dialogue([("calc", "3*4+1")], False, "13")
    )
    assert measure(one).ops_numeric == 3


def test_connector_density_is_per_hundred_words_in_both_languages() -> None:
    assert connector_density("one two three four and six seven eight nine ten") == pytest.approx(10)
    assert connector_density("因此他走了又来看书啊啊啊啊啊啊") == pytest.approx(100 / (15 / 1.6))
    assert connector_density("") == 0


def test_pronouns_are_counted_and_look_alikes_are_not() -> None:
    assert pronouns("She gave it to them.") == 3
    assert pronouns("他们应该看看其他的书，其中那么多，它呢？") == 2


def test_ambiguity_flags_do_not_depend_on_the_label() -> None:
    shared = (Article("Vera Lindqvist (chemist)", ("A.",)), Article("Vera Lindqvist (painter)", ("B.",)))
    vague = sample("a", question="When was Vera Lindqvist born?", context=shared, ambiguity=("shared-name",))
    assert measure(vague).ambiguity_flags == ("shared-name", "multi-entity")
    assert measure(msgspec.structs.replace(vague, needs_clarification=True)).ambiguity_flags == (
        "shared-name",
        "multi-entity",
    )
    clear = sample("b", question="When was Vera Lindqvist (painter) born?", context=shared)
    assert measure(clear).ambiguity_flags == ()


def test_pronouns_pointing_words_and_missing_years_are_flagged() -> None:
    yearly = ("In 1950 it had 300 seats.", "In 1970 it had 900 seats.")
    hall = (Article("Arnholt Hall", yearly),)
    assert measure(sample("a", question="Was he born in Oslo?")).ambiguity_flags == ("unclear-reference",)
    assert measure(sample("b", question="Who directed that film?")).ambiguity_flags == ("under-specified",)
    assert measure(sample("c", question="Who directed a film that won?")).ambiguity_flags == ()
    seats = sample("d", question="How many seats has Arnholt Hall?", context=hall, support=yearly[:1])
    assert measure(seats).ambiguity_flags == ("time-unspecified",)
    dated = sample("e", question="How many seats had Arnholt Hall in 1950?", context=hall, support=yearly[:1])
    assert measure(dated).ambiguity_flags == ()


def test_points_change_at_the_edges_of_the_table() -> None:
    assert [density_points(value) for value in (2.99, 3.0, 6.0, 6.01)] == [0, 1, 1, 2]
    assert [overlap_points(value) for value in (0.41, 0.40, 0.20, 0.19)] == [0, 1, 1, 2]
    assert [clarification_points(*one) for one in ((False, 6), (True, 3), (True, 4))] == [0, 1, 2]
    assert [level_of(score) for score in (0, 5, 6, 8, 9, 16)] == ["easy", "easy", "medium", "medium", "hard", "hard"]


@pytest.mark.parametrize(("words", "points"), [(196, 0), (197, 1), (597, 1), (598, 2)])
def test_length_points_turn_at_200_and_past_600(words: int, points: int) -> None:
    page = Article("A", (" ".join(["word"] * words),))
    bare = sample("a", question="yes", support=("yes",))
    # One token of title, one of question; the clue of the bare sample restates its support fully.
    score = measure(msgspec.structs.replace(bare, prompt="one two", context=(page,))).score
    assert score - measure(bare).score == points


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("level", get_args(Level))
def test_graded_samples_measure_at_their_grade(task: Task, level: Level) -> None:
    assert measure(graded("s1", task, level)).level == level


def test_metrics_keep_the_pools_order_and_point_at_it(tmp_path: Path) -> None:
    samples = graded_samples(even_supply(3, 4, 5))
    (tmp_path / "pools").mkdir()
    pool = write_pool(tmp_path / "pools" / "seed.jsonl", samples)
    out = tmp_path / "seed.metrics.jsonl"
    assert difficulty_metrics(pool, out) == even_supply(3, 4, 5)
    assert list(read_records(out, DifficultyRecord)) == [measure(one) for one in samples]
    meta = read_meta(out)
    assert (meta.kind, meta.n, meta.sha256) == ("metrics", 36, sha256_file(out))
    assert (meta.parent, meta.parent_sha256) == ("pools/seed.jsonl", sha256_file(pool))
    assert meta.mix == read_meta(pool).mix


def test_two_processes_write_the_same_bytes_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = write_pool(tmp_path / "seed.jsonl", graded_samples(even_supply(20, 20, 20)))
    difficulty_metrics(pool, tmp_path / "one.metrics.jsonl")
    monkeypatch.setattr(stage, "CHUNK_LINES", 7)
    difficulty_metrics(pool, tmp_path / "two.metrics.jsonl", ProcessPool(2))
    assert (tmp_path / "one.metrics.jsonl").read_bytes() == (tmp_path / "two.metrics.jsonl").read_bytes()


@pytest.mark.parametrize("workers", [Workers(), ProcessPool(2)], ids=["one", "two"])
def test_a_broken_line_is_named_and_leaves_nothing_behind(tmp_path: Path, workers: Workers) -> None:
    pool = write_pool(tmp_path / "seed.jsonl", [graded("a", "gsm8k", "easy")])
    pool.write_bytes(pool.read_bytes() + b'{"id": "b"}\n')
    meta = msgspec.structs.replace(read_meta(pool), sha256=sha256_file(pool))
    write_meta(pool, meta)
    with pytest.raises(BadInput, match=r"seed\.jsonl:2: .*task"):
        difficulty_metrics(pool, tmp_path / "out.jsonl", workers)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["seed.jsonl", "seed.meta.json"]


def test_a_pool_without_sidecar_or_changed_is_refused(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "seed.jsonl", [graded("a", "gsm8k", "easy")])
    pool.write_bytes(pool.read_bytes().replace(b'"gsm8k"', b'"hotpotqa"'))
    with pytest.raises(BadInput, match="changed since"):
        difficulty_metrics(pool, tmp_path / "out.jsonl")
    sidecar(pool).unlink()
    with pytest.raises(BadInput, match="sidecar"):
        difficulty_metrics(pool, tmp_path / "out.jsonl")


def test_the_pool_is_not_overwritten_by_its_metrics(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "seed.jsonl", [graded("a", "gsm8k", "easy")])
    before = pool.read_bytes()
    with pytest.raises(BadInput, match=r"^--out: .* would overwrite a file of --in"):
        difficulty_metrics(pool, pool)
    assert pool.read_bytes() == before
    with pytest.raises(BadInput, match=r"^--out: .* does not end in \.jsonl"):
        difficulty_metrics(pool, tmp_path / "seed.json")


def test_without_room_for_their_sidecar_no_metrics_appear(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "seed.jsonl", [graded("a", "gsm8k", "easy")])
    out = tmp_path / "out" / "m.jsonl"
    sidecar(out).mkdir(parents=True)
    with pytest.raises(BadInput, match="is a folder"):
        difficulty_metrics(pool, out)
    assert list(out.parent.iterdir()) == [sidecar(out)]


def test_metrics_in_a_linked_folder_still_find_their_pool(tmp_path: Path) -> None:
    """In a linked folder, `..` is the parent of the link's target."""
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "away")
    pool = write_pool(tmp_path / "seed.jsonl", [graded("a", "gsm8k", "easy")])
    metrics = tmp_path / "link" / "m.jsonl"
    difficulty_metrics(pool, metrics)
    assert parent_of(metrics, read_meta(metrics)).samefile(pool)
