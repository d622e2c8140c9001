"""The index finds episodes by their facts and by their text, and follows the logs."""

from __future__ import annotations

import tempfile
from dataclasses import replace as replace_dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from src.board.compare import group_pairs, read_pairs
from src.board.episodes import Filter, episode_totals, list_episodes
from src.board.index import Indexer, reading
from src.core.check import now
from src.core.errors import BadInput
from src.eval.compare import compare, compare_shared
from src.pages.rc1_report import choose_pairs
from src.scoring.ledger import Ledger
from src.scoring.types import ScoringEntry
from tests.board.small_run import BASE, TRAINED, TRAINING, episode, small_run, write_episodes, write_step
from tests.pages.test_rc1_report import sample


@pytest.fixture
def indexer(tmp_path: Path) -> Any:
    made = Indexer(small_run(tmp_path / "run"))
    made.update()
    yield made
    made.close()


def names(indexer: Indexer, **wanted: str) -> list[str]:
    with reading(indexer.path) as store:
        return [f"{row['path']}:{row['line']}" for row in list_episodes(store, Filter(**wanted))]


def how_many(indexer: Indexer, **wanted: str) -> int:
    with reading(indexer.path) as store:
        return int(episode_totals(store, Filter(**wanted))["n"])


def plan(indexer: Indexer, **wanted: str) -> str:
    """SQLite's query plan for the count."""
    asked: list[str] = []
    with reading(indexer.path) as store:
        store.set_trace_callback(asked.append)
        episode_totals(store, Filter(**wanted))
        store.set_trace_callback(None)
        return " ".join(row["detail"] for row in store.execute(f"EXPLAIN QUERY PLAN {asked[-1]}"))


def test_counts_use_a_covering_index(indexer: Indexer) -> None:
    """Counting 100,000 rows one by one is too slow: counts come from totals of files or from one narrow index."""
    for whole in ({}, {"set": TRAINING}, {"step": "2"}, {"order": "reward", "page": "2"}):
        assert plan(indexer, **whole) == "SCAN e"
        assert how_many(indexer, **whole) == len(names(indexer, **(whole | {"page": ""})))
    for part in ({"task": "gsm8k"}, {"right": "no", "asked": "yes"}, {"variance": "0.1", "level": "hard"}):
        assert plan(indexer, **part) == "SCAN e USING COVERING INDEX by_facts"


def test_totals_of_files_equal_those_of_episodes(indexer: Indexer) -> None:
    with reading(indexer.path) as store:
        for wanted in (Filter(), Filter(set=BASE), Filter(step="2")):
            parts = [episode_totals(store, replace_dataclass(wanted, right=answer)) for answer in ("yes", "no")]
            whole, n = episode_totals(store, wanted), sum(part["n"] for part in parts)
            assert (whole["n"], whole["right"]) == (n, parts[0]["n"])
            assert whole["asked"] == sum(part["asked"] for part in parts)
            assert whole["reward"] == pytest.approx(sum(part["n"] * (part["reward"] or 0) for part in parts) / n)
        assert episode_totals(store, Filter(set="none"))["n"] == 0


def test_two_boards_can_share_a_run_folder(indexer: Indexer) -> None:
    other = Indexer(indexer.root)
    write_step(indexer.root, 3)
    indexer._store.execute("BEGIN IMMEDIATE")
    other._store.execute("PRAGMA busy_timeout=10")
    with pytest.raises(BadInput, match="busy"):
        other.update()
    indexer.update()
    other.update()
    assert how_many(other, set=TRAINING) == how_many(other, set=TRAINING, q="Question") == 24
    other.close()


def test_a_read_only_folder_gets_a_temporary_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = small_run(tmp_path / "run")
    (root / ".askgate").write_text("in the way")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = Indexer(root)
    made.update()
    assert how_many(made) == 40
    assert made.path.parent.parent == tmp_path
    made.close()
    assert not made.path.parent.exists()


def test_every_episode_of_the_run_is_indexed(indexer: Indexer) -> None:
    assert how_many(indexer) == 2 * 8 + 2 * 12
    assert how_many(indexer, set=TRAINING) == 16
    assert how_many(indexer, set=TRAINING, step="2") == 8


@pytest.mark.parametrize(
    ("wanted", "kept"),
    [
        ({"task": "gsm8k"}, lambda one: one.task == "gsm8k"),
        ({"level": "hard"}, lambda one: one.level == "hard"),
        ({"asked": "yes"}, lambda one: one.asks > 0),
        ({"asked": "no"}, lambda one: one.asks == 0),
        ({"right": "no"}, lambda one: not one.success),
        ({"needs": "no", "right": "yes"}, lambda one: not one.needs_clarification and one.success),
        ({"lang": "zh"}, lambda one: one.lang == "zh"),
    ],
)
def test_each_filter_keeps_matching_episodes(indexer: Indexer, wanted: dict[str, str], kept: Any) -> None:
    every = [episode(n, success=n % 2 == 0, asks=n % 4 == 1) for n in range(100, 112)]
    assert how_many(indexer, set=BASE, **wanted) == sum(kept(one) for one in every) > 0


def test_unknown_filter_values_are_ignored(indexer: Indexer) -> None:
    assert how_many(indexer, task="x' OR 1=1", order="1; DROP TABLE episodes", variance="a lot") == how_many(indexer)


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("river Yarra", 1),
        ('"where does the river"', 1),
        ('"river the where"', 0),
        ("RIVER", 1),
        ("菲利普港", 1),
        ("雅拉", 1),
        ("湾", 1),
        ("海湾", 0),
        ("look it up", 1),
        ('bay "Question 104"', 1),
        ('"', 0),
        ("NEAR(river) OR *", 0),
        ("ends\nin", 1),
    ],
)
def test_search_finds_words_phrases_and_chinese_of_any_length(indexer: Indexer, typed: str, found: int) -> None:
    hits = [name for name in names(indexer, q=typed, set=BASE) if name == f"{BASE}:4"]
    assert len(hits) == found


def test_a_search_never_matches_across_messages(indexer: Indexer) -> None:
    assert how_many(indexer, q='"end?look"') == 0
    assert how_many(indexer, q='"bay.in the bay"') == 0


def test_the_index_follows_new_and_deleted_steps(indexer: Indexer) -> None:
    write_step(indexer.root, 3)
    indexer.update()
    assert how_many(indexer, set=TRAINING) == 24
    (indexer.root / TRAINING / "step_00003.jsonl").unlink()
    write_episodes(indexer.root, f"{TRAINING}/step_00002.jsonl", [episode(1, success=True, text="another dialogue")])
    indexer.update()
    assert how_many(indexer, set=TRAINING) == 9
    assert how_many(indexer, q='"another dialogue"') == 1
    assert how_many(indexer, q="Question", set=TRAINING) == 8


def test_text_of_deleted_episodes_does_not_pile_up(indexer: Indexer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("src.board.index.BATCH", 10)
    for round_ in range(12):
        many = [episode(n, success=True, text=f"round {round_} says {n}") for n in range(20)]
        write_episodes(indexer.root, f"{TRAINING}/step_00002.jsonl", many)
        indexer.update()
    with reading(indexer.path) as store:
        kept = store.execute("SELECT value FROM facts WHERE name='worded'").fetchone()[0]
    assert kept <= 2 * how_many(indexer) + 10
    assert how_many(indexer, q='"round 11 says"') == 20
    assert how_many(indexer, q='"round 10 says"') == 0


def test_variance_comes_from_judge_scores(tmp_path: Path) -> None:
    recorded = [
        {"id": f"r/{n}", "source_id": "s", "split": "train", "model": "m",
         "episode": to_builtins(replace(episode(n, success=True), live=True))}
        for n in range(3)
    ]  # fmt: skip
    write_episodes(tmp_path, "data/episodes/shadow.jsonl", recorded)
    score = {"key": "k", "provider": "p", "model": "m", "live": True, "overall": 0.5}
    scores = [{**score, "id": "r/0", "variance": 0.2}, {**score, "id": "r/1", "variance": 0.01}]
    write_episodes(tmp_path, "data/episodes/shadow.scores.jsonl", scores)
    judged = ScoringEntry(
        "1", "train/7/4/1/hotpotqa-0000", "p", "m", 3, 0.6, {"logic": 0.6}, 0.3, False, 0, 110, True, "", now()
    )
    Ledger(tmp_path / "reports/rc1/scoring_ledger.jsonl").append([judged])
    live = [replace(episode(n, success=True), live=True) for n in (1, 0)]
    write_episodes(tmp_path, f"{TRAINING}/step_00004.jsonl", live)
    made = Indexer(tmp_path)
    made.update()
    assert names(made, variance="0.08") == [f"{TRAINING}/step_00004.jsonl:1", "data/episodes/shadow.jsonl:0"]
    assert names(made, variance="0.001", order="variance")[0] == f"{TRAINING}/step_00004.jsonl:1"
    assert how_many(made, variance="0.001") == 3
    made.close()


def test_unreadable_lines_are_counted_and_skipped(indexer: Indexer) -> None:
    path = indexer.root / TRAINING / "step_00001.jsonl"
    path.write_bytes(b'{"broken\n' + path.read_bytes())
    indexer.update()
    assert indexer.progress().unreadable == 1
    assert how_many(indexer, set=TRAINING) == 16


def test_an_unreadable_index_is_rebuilt(tmp_path: Path) -> None:
    root = small_run(tmp_path / "run")
    (root / ".askgate").mkdir()
    (root / ".askgate" / "board.sqlite").write_bytes(b"no database" * 100)
    made = Indexer(root)
    made.update()
    assert how_many(made) == 40
    made.close()


def test_sets_are_compared_on_their_common_samples(indexer: Indexer) -> None:
    base = [episode(n, success=n % 2 == 0, asks=n % 4 == 1) for n in range(100, 112)]
    trained = [episode(n, success=n != 101, asks=n % 4 == 0) for n in range(100, 112)]
    write_episodes(indexer.root, TRAINED, [*trained, trained[0], episode(200, success=True)])
    indexer.update()
    pairs = read_pairs(indexer.path, BASE, indexer.path, TRAINED)
    assert len(pairs) == 12
    changes = compare_shared(base, [*trained, trained[0], episode(200, success=True)])
    assert changes == compare(base, trained, min(one.seed for one in trained))
    assert changes["success"].delta == pytest.approx(11 / 12 - 0.5, abs=1e-6)
    overclar = [one.asks > 0 for one in base if not one.needs_clarification]
    assert changes["overclar_rate"].base.value == pytest.approx(sum(overclar) / len(overclar))


def test_samples_gained_and_lost_are_those_of_the_rc1_report(indexer: Indexer) -> None:
    """A right answer counts in both, lucky guess or not."""
    base = [episode(n, success=n % 2 == 0, asks=n % 4 == 1) for n in range(100, 112)]
    trained = [episode(n, success=n != 101, asks=n % 4 == 0) for n in range(100, 112)]
    write_episodes(indexer.root, TRAINED, trained)
    indexer.update()
    pairs = read_pairs(indexer.path, BASE, indexer.path, TRAINED)
    board = {name: len(found) for name, found in group_pairs(pairs).items()}
    samples = {one.sample_id: sample(one.sample_id) for one in base}
    report = choose_pairs(base, trained, samples, seed=1).counts
    assert {name: board[name] for name in report} == report
    assert report["gained"] == sum(after.success > before.success for before, after in zip(base, trained, strict=True))
