"""Pools that `validate_pool` refuses to measure, and contradictions in a sample.

Its gates are tested in tests/poison.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from askgate_env.types import TASKS, Hidden, Sample, Turn
from src.core.check import Check, Report, check
from src.core.errors import BadInput
from src.data.quality.consistency import contradictions
from src.data.quality.validate_pool import validate_pool, with_fitting_remedy
from tests.data.samples import changed, make_sample, pool_meta, write_lines, write_pool
from tests.data.worded_samples import V1, V2, wordy
from tests.rc1 import POOL_LIMITS

HONEST = wordy(1_200, V2)
REFERENCE = wordy(1_200, V1, seed=7)


def validated(pool: Path, **thresholds: Any) -> Report:
    out = pool.with_name("report.json")
    rest = {"leak_check": None, "by_task": TASKS, **thresholds}
    limits = POOL_LIMITS.model_copy(update={name: rest.pop(name) for name in POOL_LIMITS.model_dump() if name in rest})
    return validate_pool(pool, limits, reference=lambda meta, n: REFERENCE[:n], out=out, **rest)


def failed(report: Report) -> set[str]:
    return {check.name for check in report.checks if not check.passed}


def by_name(report: Report) -> dict[str, Check]:
    return {check.name: check for check in report.checks}


def test_the_lengths_count_context_and_tool_results(tmp_path: Path) -> None:
    report = validated(write_pool(tmp_path / "pool.jsonl", HONEST), min_len=100_000)
    lengths = report.figures["lengths"]
    assert lengths["outside"] == len(HONEST)
    assert by_name(report)["len_min"].value == lengths["min"] > 64


def test_too_little_text_passes_nothing(tmp_path: Path) -> None:
    report = validated(write_pool(tmp_path / "pool.jsonl", wordy(40, V2)))
    assert {"distinct2[gsm8k]", "distinct2[strategyqa]"} <= failed(report)


def test_the_remedy_fits_the_source() -> None:
    found = check("dup_pct", 5.0, "<=", 2.0, "use more templates", "")
    assert with_fitting_remedy(found, "builtin").remedy.startswith("use a larger source or more templates")
    for source in ("messages", "dir"):
        assert "remove or reword one of each pair in your file" in with_fitting_remedy(found, source).remedy
    assert (
        "too small to measure"
        in with_fitting_remedy(check("shortcut_auc[gsm8k]", None, "<=", 0.7, "", ""), "dir").remedy
    )


def test_a_task_that_the_pool_lacks_is_refused(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool.jsonl", [one for one in HONEST if one.task != "gsm8k"])
    with pytest.raises(BadInput, match="no samples of gsm8k"):
        validated(pool)


def test_an_edited_pool_is_refused(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool.jsonl", HONEST[:50])
    pool.write_bytes(pool.read_bytes().replace(b"42", b"43", 1))
    with pytest.raises(BadInput, match="sidecar"):
        validated(pool)


def test_a_pool_without_a_sidecar_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="sidecar"):
        validated(write_lines(tmp_path / "pool.jsonl", HONEST[:50]))


def test_a_repeated_id_is_refused_with_both_lines(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool.jsonl", [*HONEST[:5], changed(HONEST[6], id=HONEST[2].id)])
    with pytest.raises(BadInput, match=r"pool\.jsonl:6: .* line 3"):
        validated(pool)


def test_empty_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="pool is empty"):
        validated(write_pool(tmp_path / "pool.jsonl", []))
    empty = write_pool(tmp_path / "shadow.jsonl", [], kind="shadow")
    with pytest.raises(BadInput, match="shadow set is empty"):
        validated(write_pool(tmp_path / "pool.jsonl", HONEST[:50]), leak_check=empty)


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    shadow = write_pool(tmp_path / "shadow.jsonl", HONEST[:5], kind="shadow")
    shadow.write_text('{"id": 1}\n', encoding="utf-8")
    with pytest.raises(BadInput, match=r"shadow\.jsonl:1"):
        validated(write_pool(tmp_path / "pool.jsonl", HONEST[:50]), leak_check=shadow)


OPENING = (Turn("user", "say", "How many?"),)
CALL, RESULT = Turn("assistant", "call", "6*7", tool="calc"), Turn("tool", "result", "42", tool="calc")
ASK, LAST = Turn("assistant", "ask", "Can you tell me how many crates?"), Turn("assistant", "answer", "42")
WRONG, SHRUG = Turn("tool", "result", "nothing found", tool="calc"), Turn("user", "say", "no idea")
ELSEWHERE = replace(make_sample("a", "How many?").provenance, split="shadow")
SPAN = Hidden("quantity", "15 crates", "how many crates", ("crates",))


@pytest.mark.parametrize(
    ("sample", "rules"),
    [
        (make_sample("a", "How many are left?"), []),
        (make_sample("a", "How many of 5 crates are left?", hidden=SPAN), []),
        (make_sample("a", "How many of 15 Crates are left?", hidden=SPAN), ["hidden_span_is_in_the_prompt"]),
        (
            changed(make_sample("a", "How many?", hidden=SPAN), hidden=None),
            ["hidden_span_without_need_or_need_without_span"],
        ),
        (
            changed(make_sample("a", "How many?", hidden=SPAN), dialogue=make_sample("b", "How many?").dialogue),
            ["asks_without_need_or_does_not_ask"],
        ),
        (changed(make_sample("a", "How many?"), answer="41"), ["does_not_end_with_the_gold_answer"]),
        (
            changed(make_sample("a", "How many?"), dialogue=()),
            ["does_not_open_with_the_prompt", "does_not_end_with_the_gold_answer"],
        ),
        (changed(make_sample("a", "How many?"), question="Which one?"), ["prompt_lacks_a_part_of_the_task"]),
        (
            changed(
                make_sample("a", "How many?"), dialogue=(*OPENING, CALL, Turn("tool", "result", "nothing found"), LAST)
            ),
            ["tool_result_is_not_true"],
        ),
        (
            changed(make_sample("a", "How many?"), dialogue=(*OPENING, *[CALL, RESULT] * 6, LAST)),
            ["too_many_turns"],
        ),
        (
            changed(
                make_sample("a", "How many?", hidden=SPAN), dialogue=(*OPENING, ASK, Turn("user", "say", "?"), LAST)
            ),
            ["reply_does_not_give_the_span"],
        ),
        (
            changed(make_sample("a", "How many?", hidden=SPAN), original="How many?"),
            ["hidden_span_is_not_in_the_original"],
        ),
        (
            changed(make_sample("a", "How many?"), dialogue=(*OPENING, replace(CALL, tool="shell"), RESULT, LAST)),
            ["calls_a_tool_that_is_not_offered", "tool_result_is_not_true"],
        ),
        (changed(make_sample("a", "How many?"), provenance=ELSEWHERE), ["comes_from_elsewhere"]),
    ],
)
def test_a_sample_must_not_contradict_itself(sample: Sample, rules: list[str]) -> None:
    assert contradictions(sample, pool_meta()) == rules
