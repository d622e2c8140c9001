"""The balanced pool is the largest one that keeps task mix and difficulty shares, and takes no sample twice."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askgate_env.types import LEVELS, TASKS, Level, Sample, Task
from src.core.errors import BadInput
from src.core.files import sha256_file, sidecar
from src.core.jsonl import read_records
from src.data.difficulty.bucketize import apportion, difficulty_bucketize, exact, largest_balanced, split
from src.data.difficulty.metrics import LevelCounts, difficulty_metrics
from src.data.pool.meta import read_meta
from tests.data.difficulty_samples import TARGET, even_supply, graded, graded_samples
from tests.data.samples import MIX, measure, write_pool

ONE_TASK: dict[Task, float] = {"gsm8k": 1.0}


def measured_pool(
    folder: Path, samples: list[Sample], mix: dict[Task, float] = MIX, seed: int = 7
) -> tuple[Path, Path]:
    pool = write_pool(folder / "seed.jsonl", samples, mix=mix, seed=seed)
    metrics = folder / "seed.metrics.jsonl"
    difficulty_metrics(pool, metrics)
    return pool, metrics


def size_of(counts: LevelCounts) -> int:
    return sum(sum(levels.values()) for levels in counts.values())


def balance(
    folder: Path, samples: list[Sample], mix: dict[Task, float] = MIX, seed: int = 7
) -> tuple[LevelCounts, Path]:
    _, metrics = measured_pool(folder, samples, mix=mix, seed=seed)
    out = folder / "seed.balanced.jsonl"
    return difficulty_bucketize(metrics, TARGET, [task for task in TASKS if mix.get(task)], out), out


def test_shares_hold_in_every_task_and_the_mix_is_kept(tmp_path: Path) -> None:
    done, out = balance(tmp_path, graded_samples(even_supply(30, 30, 30)))
    found = Counter((one.task, measure(one).level) for one in read_records(out, Sample))
    assert {task: {level: found[task, level] for level in LEVELS} for task in TASKS} == done
    for task in TASKS:
        size = sum(done[task].values())
        assert done[task]["hard"] / size >= 0.30
        assert done[task]["easy"] / size <= 0.25
        assert abs(size / size_of(done) - MIX[task]) < 1 / size_of(done)


def test_lines_are_copied_unchanged_in_order_and_never_twice(tmp_path: Path) -> None:
    done, out = balance(tmp_path, graded_samples(even_supply(20, 30, 40)))
    pool_lines = (tmp_path / "seed.jsonl").read_bytes().splitlines()
    lines = out.read_bytes().splitlines()
    places = [pool_lines.index(line) for line in lines]
    assert places == sorted(set(places))
    assert len(lines) == size_of(done) > 30


def test_the_sidecar_says_where_the_balanced_pool_comes_from(tmp_path: Path) -> None:
    done, out = balance(tmp_path, graded_samples(even_supply(9, 9, 9)))
    meta = read_meta(out)
    assert (meta.kind, meta.n, meta.sha256) == ("balanced", size_of(done), sha256_file(out))
    assert (meta.parent, meta.parent_sha256) == ("seed.jsonl", sha256_file(tmp_path / "seed.jsonl"))


def test_same_seed_same_bytes_and_another_seed_another_choice(tmp_path: Path) -> None:
    samples = graded_samples(even_supply(30, 30, 30))
    written = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / name).mkdir()
        written.append(balance(tmp_path / name, samples, seed=seed)[1].read_bytes())
    assert written[0] == written[1] != written[2]


def test_a_last_line_without_newline_is_still_a_whole_line(tmp_path: Path) -> None:
    samples = [graded(f"{level}{number}", "gsm8k", level) for level in LEVELS for number in range(9)]
    pool = write_pool(tmp_path / "seed.jsonl", samples, mix=ONE_TASK)
    pool.write_bytes(pool.read_bytes().rstrip(b"\n"))
    meta = msgspec.structs.replace(read_meta(pool), sha256=sha256_file(pool))
    sidecar(pool).write_bytes(msgspec.json.encode(meta))
    difficulty_metrics(pool, tmp_path / "m.jsonl")
    done = difficulty_bucketize(tmp_path / "m.jsonl", TARGET, ["gsm8k"], tmp_path / "out.jsonl")
    assert len(list(read_records(tmp_path / "out.jsonl", Sample))) == size_of(done)
    assert (tmp_path / "out.jsonl").read_bytes().endswith(b"}\n")


def test_an_empty_bucket_is_named_with_its_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    supply = even_supply(9, 9, 9)
    supply["gsm8k"]["hard"] = 0
    with pytest.raises(BadInput, match=r"gsm8k has 0 hard samples.*--ops-numeric.*--target"):
        balance(tmp_path, graded_samples(supply))
    monkeypatch.setenv("ASKGATE_LANG", "zh")
    with pytest.raises(BadInput, match=r"gsm8k 的 hard 样本只有 0 条.*调高"):
        balance(tmp_path, graded_samples(supply))
    assert not (tmp_path / "seed.balanced.jsonl").exists()


def test_advice_on_a_fixed_source_names_only_the_target(tmp_path: Path) -> None:
    samples = [graded(f"{level}{number}", "gsm8k", level) for level in ("easy", "medium") for number in range(9)]
    pool = write_pool(tmp_path / "seed.jsonl", samples, mix=ONE_TASK, source="messages")
    metrics, out = tmp_path / "seed.metrics.jsonl", tmp_path / "balanced.jsonl"
    difficulty_metrics(pool, metrics)
    with pytest.raises(BadInput) as refused:
        difficulty_bucketize(metrics, TARGET, ["gsm8k"], out)
    assert "--target" in str(refused.value)
    assert "--tool-hops" not in str(refused.value)
    assert size_of(difficulty_bucketize(metrics, {"easy": 0.5, "medium": 0.5, "hard": 0.0}, ["gsm8k"], out)) == 18


def test_too_few_easy_samples_name_the_remedy(tmp_path: Path) -> None:
    supply = even_supply(9, 9, 9)
    supply["hotpotqa"]["easy"] = 0
    with pytest.raises(BadInput, match=r"hotpotqa has 0 easy samples.*lower --tool-hops"):
        balance(tmp_path, graded_samples(supply))


def test_metrics_without_sidecar_are_refused(tmp_path: Path) -> None:
    _, metrics = measured_pool(tmp_path, graded_samples(even_supply(3, 3, 3)))
    sidecar(metrics).unlink()
    with pytest.raises(BadInput, match="sidecar"):
        difficulty_bucketize(metrics, TARGET, TASKS, tmp_path / "out.jsonl")


def test_a_pool_changed_or_gone_since_measuring_is_refused(tmp_path: Path) -> None:
    pool, metrics = measured_pool(tmp_path, graded_samples(even_supply(3, 3, 3)))
    pool.write_bytes(pool.read_bytes().replace(b"Anna", b"Inga"))
    with pytest.raises(BadInput, match="changed since it was measured"):
        difficulty_bucketize(metrics, TARGET, TASKS, tmp_path / "out.jsonl")
    pool.unlink()
    with pytest.raises(BadInput, match="is not at"):
        difficulty_bucketize(metrics, TARGET, TASKS, tmp_path / "out.jsonl")


def test_metrics_edited_by_hand_are_refused(tmp_path: Path) -> None:
    _, metrics = measured_pool(tmp_path, graded_samples(even_supply(3, 3, 3)))
    metrics.write_bytes(metrics.read_bytes().replace(b'"easy"', b'"hard"'))
    with pytest.raises(BadInput, match="changed since its sidecar"):
        difficulty_bucketize(metrics, TARGET, TASKS, tmp_path / "out.jsonl")


def test_an_id_that_comes_twice_is_refused(tmp_path: Path) -> None:
    samples = [graded("same", "gsm8k", level) for level in LEVELS]
    with pytest.raises(BadInput, match="'same' occurs twice"):
        balance(tmp_path, samples, mix=ONE_TASK)


@pytest.mark.parametrize("by_task", [["gsm8k"], ["gsm8k", "hotpotqa", "strategyqa", "gsm8k"], []])
def test_every_task_of_the_pool_is_named_once(tmp_path: Path, by_task: list[Task]) -> None:
    _, metrics = measured_pool(tmp_path, graded_samples(even_supply(3, 3, 3)))
    with pytest.raises(BadInput, match="--by-task"):
        difficulty_bucketize(metrics, TARGET, by_task, tmp_path / "out.jsonl")


@pytest.mark.parametrize(
    "target",
    [{"easy": 0.5, "hard": 0.5}, {"easy": 0.3, "medium": 0.3, "hard": 0.3}, {"easy": -0.1, "medium": 0.8, "hard": 0.3}],
)
def test_shares_that_are_not_shares_are_refused(tmp_path: Path, target: dict[Level, float]) -> None:
    with pytest.raises(BadInput, match="add up to 1"):
        difficulty_bucketize(tmp_path / "m.jsonl", target, TASKS, tmp_path / "out.jsonl")


def test_shares_that_sum_to_one_after_rounding_are_accepted(tmp_path: Path) -> None:
    _, metrics = measured_pool(tmp_path, graded_samples(even_supply(9, 9, 9)))
    third = {"easy": 0.3333333, "medium": 0.3333333, "hard": 0.3333333}
    assert difficulty_bucketize(metrics, third, TASKS, tmp_path / "out.jsonl")
    with pytest.raises(BadInput, match=r"^--target: "):
        difficulty_bucketize(metrics, third | {"easy": 0.3333}, TASKS, tmp_path / "out.jsonl")


def test_neither_pool_nor_metrics_are_overwritten(tmp_path: Path) -> None:
    pool, metrics = measured_pool(tmp_path, graded_samples(even_supply(9, 9, 9)))
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for out, owner in ((pool, "the measured pool"), (metrics, "--metrics")):
        with pytest.raises(BadInput, match=f"^--out: .* would overwrite a file of {owner}"):
            difficulty_bucketize(metrics, TARGET, TASKS, out)
    with pytest.raises(BadInput, match=r"does not end in \.jsonl"):
        difficulty_bucketize(metrics, TARGET, TASKS, tmp_path / "seed.json")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_without_room_for_its_sidecar_no_balanced_pool_appears(tmp_path: Path) -> None:
    _, metrics = measured_pool(tmp_path, graded_samples(even_supply(9, 9, 9)))
    sidecar(tmp_path / "out.jsonl").mkdir()
    with pytest.raises(BadInput, match="is a folder"):
        difficulty_bucketize(metrics, TARGET, TASKS, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


counts = st.integers(0, 60)
levels = st.fixed_dictionaries(dict.fromkeys(LEVELS, counts))


@settings(deadline=None)
@given(st.fixed_dictionaries(dict.fromkeys(TASKS, levels)))
def test_no_larger_pool_would_fit(supply: dict[Task, dict[Level, int]]) -> None:
    plan = largest_balanced(supply, MIX, TARGET)
    shares = {task: exact(MIX[task]) for task in TASKS}
    wanted = {level: exact(TARGET[level]) for level in LEVELS}

    def fits(n: int) -> bool:
        sizes = {task: split(size, wanted) for task, size in apportion(n, shares).items()}
        return all(0 < sizes[task][level] <= supply[task][level] for task in TASKS for level in LEVELS)

    total = sum(sum(one.values()) for one in supply.values())
    assert size_of(plan or {}) == max((n for n in range(1, total + 1) if fits(n)), default=0)


@given(st.integers(1, 10_000))
def test_rounding_never_costs_hard_or_favours_easy(n: int) -> None:
    sizes = split(n, {level: exact(TARGET[level]) for level in LEVELS})
    assert sum(sizes.values()) == n
    assert sizes["hard"] / n >= 0.30
    assert sizes["easy"] / n <= 0.25
    assert sizes["hard"] < n * Fraction(3, 10) + 1
