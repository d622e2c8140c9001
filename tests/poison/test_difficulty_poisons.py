"""For every gate of `validate_difficulty`, an input that it must reject and the honest pool that it must accept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from askgate_env.types import TASKS, Sample, Turn
from src.core.errors import BadInput
from src.core.jsonl import read_records
from src.data.difficulty.metrics import measure_all
from src.data.difficulty.validate_difficulty import validate_difficulty
from tests.rc1 import DIFFICULTY_LIMITS

from .conftest import Honest, failed, forge, judge_difficulty, validate_as_balanced
from .table import poison, twin


@twin("difficulty")
def test_the_honest_pool_is_accepted(honest: Honest, tmp_path: Path) -> None:
    report = judge_difficulty(forge(honest, tmp_path, lambda samples: samples), tmp_path)
    assert failed(report) == set()
    assert report.passed


@poison("difficulty/hard_share", "difficulty/easy_share")
def test_an_all_easy_pool_cannot_be_balanced(honest: Honest, tmp_path: Path) -> None:
    def easy(samples: list[Sample]) -> list[Sample]:
        records = measure_all(samples)
        return [sample for sample, record in zip(samples, records, strict=True) if record.level == "easy"]

    pool = forge(honest, tmp_path, easy)
    with pytest.raises(BadInput, match=r"has 0 (medium|hard) samples"):
        judge_difficulty(pool, tmp_path)
    # Handed over as if it were balanced, it fails by name.
    assert {"hard_share", "easy_share"} <= failed(
        validate_as_balanced(pool, list(read_records(pool, Sample)), tmp_path)
    )


@poison("difficulty/copied_unchanged")
def test_a_balanced_pool_whose_answers_were_rewritten_fails(honest: Honest, tmp_path: Path) -> None:
    assert judge_difficulty(forge(honest, tmp_path, lambda samples: samples), tmp_path).passed
    chosen = list(read_records(tmp_path / "forged.balanced.jsonl", Sample))
    spoilt = [replace(sample, answer="42") for sample in chosen]
    assert failed(validate_as_balanced(tmp_path / "forged.jsonl", spoilt, tmp_path)) == {"copied_unchanged"}


@poison("difficulty/mix")
def test_a_balanced_pool_of_nearly_one_task_fails(honest: Honest, tmp_path: Path) -> None:
    assert judge_difficulty(forge(honest, tmp_path, lambda samples: samples), tmp_path).passed
    chosen = list(read_records(tmp_path / "forged.balanced.jsonl", Sample))
    by_task = {task: [sample for sample in chosen if sample.task == task] for task in TASKS}
    kept = len(by_task["hotpotqa"]) // 98
    lopsided = [*by_task["hotpotqa"], *by_task["strategyqa"][:kept], *by_task["gsm8k"][:kept]]
    # A forger would let the sidecar ask for that mix; the pool that was measured did not.
    report = validate_as_balanced(
        tmp_path / "forged.jsonl", lopsided, tmp_path, mix={"hotpotqa": 0.98, "strategyqa": 0.01, "gsm8k": 0.01}
    )
    off = {one.name for one in report.checks if not one.passed}
    assert {f"mix[{task}]" for task in TASKS} <= off


@poison("difficulty/metrics_match")
def test_an_all_easy_pool_with_false_metrics_fails(honest: Honest, tmp_path: Path) -> None:
    def easy(samples: list[Sample]) -> list[Sample]:
        records = measure_all(samples)
        return [sample for sample, record in zip(samples, records, strict=True) if record.level == "easy"]

    def relabel(rows: list[Any]) -> list[Any]:
        labels = ("easy", "medium", "medium", "hard")
        return [{**row, "level": labels[number % 4]} for number, row in enumerate(rows)]

    caught = failed(judge_difficulty(forge(honest, tmp_path, easy), tmp_path, relabel))
    assert {"hard_share", "easy_share", "metrics_match"} <= caught


@poison("difficulty/clue_overlap_easy_min")
def test_easy_questions_that_do_not_restate_their_clue_fail(honest: Honest, tmp_path: Path) -> None:
    def without_clue(sample: Sample) -> Sample:
        return replace(sample, clue="")

    pool = forge(honest, tmp_path, lambda samples: [without_clue(sample) for sample in samples])
    assert "clue_overlap_easy_min" in failed(judge_difficulty(pool, tmp_path))


@poison("difficulty/clue_overlap_hard_max")
def test_hard_questions_that_copy_their_clue_fail(honest: Honest, tmp_path: Path) -> None:
    def copied(sample: Sample) -> Sample:
        return replace(sample, clue=" ".join(sample.support)[: len(" ".join(sample.support)) // 2])

    pool = forge(honest, tmp_path, lambda samples: [copied(sample) for sample in samples])
    assert "clue_overlap_hard_max" in failed(judge_difficulty(pool, tmp_path))


def of_level(level: str, change: Callable[[Sample], Sample]) -> Callable[[list[Sample]], list[Sample]]:
    def spoil(samples: list[Sample]) -> list[Sample]:
        records = measure_all(samples)
        return [change(one) if record.level == level else one for one, record in zip(samples, records, strict=True)]

    return spoil


@poison("difficulty/clue_overlap_easy_max")
def test_easy_questions_that_equal_their_supporting_text_fail(honest: Honest, tmp_path: Path) -> None:
    def whole(sample: Sample) -> Sample:
        text = " ".join(sample.support)
        return replace(sample, premise="", clue="", question=text, prompt=text)

    pool = forge(honest, tmp_path, of_level("easy", whole))
    assert "clue_overlap_easy_max" in failed(judge_difficulty(pool, tmp_path))


@poison("difficulty/clue_overlap_hard_min")
def test_hard_questions_unrelated_to_their_support_fail(honest: Honest, tmp_path: Path) -> None:
    def strange(sample: Sample) -> Sample:
        return replace(sample, premise="", clue="", question="Zqx vjk wpf?")

    pool = forge(honest, tmp_path, of_level("hard", strange))
    assert "clue_overlap_hard_min" in failed(judge_difficulty(pool, tmp_path))


@poison("difficulty/copies")
def test_a_balanced_pool_with_a_sample_twice_fails(honest: Honest, tmp_path: Path) -> None:
    assert judge_difficulty(forge(honest, tmp_path, lambda samples: samples), tmp_path).passed
    chosen = list(read_records(tmp_path / "forged.balanced.jsonl", Sample))
    hard = next(sample for sample, record in zip(chosen, measure_all(chosen), strict=True) if record.level == "hard")
    assert failed(validate_as_balanced(tmp_path / "forged.jsonl", [*chosen, hard], tmp_path)) == {"copies"}


@poison("difficulty/metrics_edited")
def test_metrics_that_are_not_those_of_their_sidecar_fail(honest: Honest, tmp_path: Path) -> None:
    assert judge_difficulty(forge(honest, tmp_path, lambda samples: samples), tmp_path).passed
    metrics = tmp_path / "forged.metrics.jsonl"
    metrics.write_bytes(metrics.read_bytes() + b"\n")
    report = validate_difficulty(metrics, tmp_path / "forged.balanced.jsonl", DIFFICULTY_LIMITS)
    assert failed(report) == {"metrics_edited"}


def _longer(sample: Sample) -> Sample:
    page = replace(sample.context[0], sentences=("word " * 3_600,))
    return replace(sample, context=(page, *sample.context[1:]))


def _busier(sample: Sample) -> Sample:
    calls = [Turn("assistant", "call", "2+2", tool="calc"), Turn("tool", "result", "4", tool="calc")] * 9
    return replace(sample, dialogue=(sample.dialogue[0], *calls, *sample.dialogue[1:]))


@pytest.mark.parametrize(
    ("spoil", "named"),
    [(_longer, {"len_tokens_past_limit"}), (_busier, {"turns_past_limit", "tool_hops_past_limit"})],
)
@poison("difficulty/*")
def test_samples_past_the_limits_fail(
    honest: Honest, tmp_path: Path, spoil: Callable[[Sample], Sample], named: set[str]
) -> None:
    def some(samples: list[Sample]) -> list[Sample]:
        records = measure_all(samples)
        # Hard ones stay hard, so that balancing keeps nearly all of them.
        return [
            spoil(sample) if record.level == "hard" and sample.context else sample
            for sample, record in zip(samples, records, strict=True)
        ]

    assert named <= failed(judge_difficulty(forge(honest, tmp_path, some), tmp_path))
