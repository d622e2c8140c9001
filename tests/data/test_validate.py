"""Each gate accepts an honest pool and rejects the poisoned one made for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from src.core.check import Check, Report
from src.core.errors import BadInput
from src.core.files import sidecar
from src.core.types import Hidden, Sample, Turn
from src.data.consistency import contradictions
from src.data.validate import validate_pool
from tests.data.samples import MIX, changed, make_sample, write_lines, write_pool
from tests.data.wordy import V1, V2, wordy

THRESHOLDS: dict[str, Any] = {
    "min_distinct2": 0.60,
    "kl3_min": 0.15,
    "roles_min": 4,
    "styles_min": 3,
    "max_dup_pct": 2.0,
    "max_len": 4096,
    "min_len": 64,
    "leak_check": None,
    "leak_ngram": 5,
    "leak_sim": 0.85,
    "by_task": ("hotpotqa", "strategyqa", "gsm8k"),
    "max_shortcut_auc": 0.70,
}
HONEST = wordy(1_200, V2)
REFERENCE = wordy(1_200, V1, seed=7)
SHADOW = wordy(60, V2, seed=2)


def validated(pool: Path, **thresholds: Any) -> Report:
    return validate_pool(pool, reference=lambda meta, n: REFERENCE[:n], **{**THRESHOLDS, **thresholds})


def failed(report: Report) -> set[str]:
    return {check.name for check in report.checks if not check.passed}


def by_name(report: Report) -> dict[str, Check]:
    return {check.name: check for check in report.checks}


def test_an_honest_pool_passes_every_gate(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool.jsonl", HONEST)
    shadow = write_lines(tmp_path / "shadow.jsonl", SHADOW)
    report = validated(pool, leak_check=shadow)
    assert failed(report) == set()
    assert report.passed
    names = set(by_name(report))
    assert names >= {"distinct2", "distinct2[gsm8k]", "kl3", "kl3[hotpotqa]", "roles", "styles", "dup_pct"}
    assert names >= {"len_min", "len_max", "leak_similar", "leak_source_ids", "mix[strategyqa]", "consistency"}
    assert names >= {"shortcut_auc[gsm8k]", "shortcut_auc[gsm8k,zh]", "shortcut_measured[gsm8k]"}
    assert set(report.evidence.inputs) == {str(pool), str(sidecar(pool)), str(shadow)}
    assert all(
        check.remedy and any("\u4e00" <= char <= "\u9fff" for char in check.remedy_zh) for check in report.checks
    )
    assert msgspec.json.decode(msgspec.json.encode(report))["passed"] is True


def repetitive(samples: list[Sample]) -> list[Sample]:
    return [changed(one, prompt=samples[number % 40].prompt) for number, one in enumerate(samples)]


def nearly_the_same(samples: list[Sample]) -> list[Sample]:
    """3% are copies of an earlier question with one word put at its end."""
    return [
        changed(one, prompt=f"{samples[number - 50].prompt} thanks") if number >= 50 and number % 33 == 0 else one
        for number, one in enumerate(samples)
    ]


def poor_wording(samples: list[Sample]) -> list[Sample]:
    return [
        changed(
            one, dialogue=tuple(msgspec.structs.replace(turn, thought="let me think " * 30) for turn in one.dialogue)
        )
        for one in samples
    ]


def one_role(samples: list[Sample]) -> list[Sample]:
    """Three samples of other roles are no coverage."""
    return [
        changed(one, provenance=msgspec.structs.replace(one.provenance, role="student")) if number > 3 else one
        for number, one in enumerate(samples)
    ]


def two_registers(samples: list[Sample]) -> list[Sample]:
    return [
        changed(one, provenance=msgspec.structs.replace(one.provenance, register="plain"))
        if one.provenance.register == "formal"
        else one
        for one in samples
    ]


def one_short(samples: list[Sample]) -> list[Sample]:
    return [changed(samples[0], prompt="How many?", context=(), dialogue=samples[0].dialogue[-1:]), *samples[1:]]


def one_long(samples: list[Sample]) -> list[Sample]:
    return [changed(samples[0], premise="", prompt="word " * 4_096), *samples[1:]]


def wrong_mix(samples: list[Sample]) -> list[Sample]:
    """Every eighth hotpotqa sample becomes gsm8k: 5 points too few and too many."""
    return [
        changed(one, task="gsm8k") if one.task == "hotpotqa" and number % 8 == 0 else one
        for number, one in enumerate(samples)
    ]


def tell_tale(samples: list[Sample]) -> list[Sample]:
    return [changed(one, prompt=f"{one.prompt} that one") if one.needs_clarification else one for one in samples]


def tell_tale_in_chinese_gsm8k(samples: list[Sample]) -> list[Sample]:
    return [
        changed(one, prompt=f"{one.prompt}那个")
        if one.needs_clarification and one.lang == "zh" and one.task == "gsm8k"
        else one
        for one in samples
    ]


def never_needed(samples: list[Sample]) -> list[Sample]:
    return wordy(len(samples), V2, clarify=0.0)


def asks_for_nothing(samples: list[Sample]) -> list[Sample]:
    return [changed(samples[0], needs_clarification=not samples[0].needs_clarification), *samples[1:]]


@pytest.mark.parametrize(
    ("poison", "gates"),
    [
        (repetitive, {"dup_pct"}),
        (nearly_the_same, {"dup_pct"}),
        (poor_wording, {"distinct2", "distinct2[hotpotqa]", "distinct2[strategyqa]", "distinct2[gsm8k]"}),
        (one_role, {"roles"}),
        (two_registers, {"styles"}),
        (one_short, {"len_min"}),
        (one_long, {"len_max"}),
        (wrong_mix, {"mix[hotpotqa]", "mix[gsm8k]"}),
        (tell_tale, {f"shortcut_auc[{task}]" for task in MIX}),
        (tell_tale_in_chinese_gsm8k, {"shortcut_auc[gsm8k,zh]"}),
        (never_needed, {f"shortcut_measured[{task}]" for task in MIX}),
        (asks_for_nothing, {"consistency"}),
    ],
)
def test_a_poisoned_pool_fails_the_gate_made_for_it(
    tmp_path: Path, poison: Callable[[list[Sample]], list[Sample]], gates: set[str]
) -> None:
    report = validated(write_pool(tmp_path / "pool.jsonl", poison(HONEST)))
    assert not report.passed
    assert gates <= failed(report)


@pytest.mark.parametrize("seed", [7, 8])
def test_v1_sold_as_v2_fails(tmp_path: Path, seed: int) -> None:
    report = validated(write_pool(tmp_path / "pool.jsonl", wordy(1_200, V1, seed)))
    assert {"kl3", "kl3[hotpotqa]", "kl3[strategyqa]", "kl3[gsm8k]"} <= failed(report)


def test_a_reworded_sample_with_the_source_of_a_shadow_sample_is_a_leak(tmp_path: Path) -> None:
    stolen = changed(HONEST[9], provenance=msgspec.structs.replace(HONEST[9].provenance, source_id="source-s2-5"))
    pool = write_pool(tmp_path / "pool.jsonl", [*HONEST[:9], stolen, *HONEST[10:]])
    report = validated(pool, leak_check=write_lines(tmp_path / "shadow.jsonl", SHADOW))
    assert failed(report) == {"leak_source_ids"}
    assert report.figures["leak"]["same_source"] == [stolen.id]


def test_a_shadow_sample_under_a_new_source_id_is_a_leak(tmp_path: Path) -> None:
    shadow = SHADOW[5]
    reworded = changed(
        HONEST[9], prompt=shadow.prompt.replace("How many", "what number of"), original=shadow.original, hidden=None
    )
    pool = write_pool(tmp_path / "pool.jsonl", [*HONEST[:9], reworded, *HONEST[10:]])
    report = validated(pool, leak_check=write_lines(tmp_path / "shadow.jsonl", SHADOW))
    assert by_name(report)["leak_similar"].value == 1
    assert by_name(report)["leak_source_ids"].passed
    assert report.figures["leak"]["similar"][0]["shadow"] == shadow.id


def test_the_lengths_count_context_and_tool_results(tmp_path: Path) -> None:
    report = validated(write_pool(tmp_path / "pool.jsonl", HONEST), min_len=100_000)
    lengths = report.figures["lengths"]
    assert lengths["outside"] == len(HONEST)
    assert by_name(report)["len_min"].value == lengths["min"] > 64


def test_too_little_text_passes_nothing(tmp_path: Path) -> None:
    report = validated(write_pool(tmp_path / "pool.jsonl", wordy(40, V2)))
    assert {"distinct2[gsm8k]", "distinct2[strategyqa]"} <= failed(report)


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


def test_an_id_that_stands_twice_is_refused_with_both_lines(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool.jsonl", [*HONEST[:5], changed(HONEST[6], id=HONEST[2].id)])
    with pytest.raises(BadInput, match=r"pool\.jsonl:6: .* line 3"):
        validated(pool)


def test_empty_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="pool is empty"):
        validated(write_pool(tmp_path / "pool.jsonl", []))
    empty = write_lines(tmp_path / "shadow.jsonl", [])
    with pytest.raises(BadInput, match="shadow set is empty"):
        validated(write_pool(tmp_path / "pool.jsonl", HONEST[:50]), leak_check=empty)


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    shadow = tmp_path / "shadow.jsonl"
    shadow.write_text('{"id": 1}\n', encoding="utf-8")
    with pytest.raises(BadInput, match=r"shadow\.jsonl:1"):
        validated(write_pool(tmp_path / "pool.jsonl", HONEST[:50]), leak_check=shadow)


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
        (changed(make_sample("a", "How many?"), dialogue=()), ["does_not_end_with_the_gold_answer"]),
        (
            changed(
                make_sample("a", "How many?"),
                dialogue=(*[Turn("assistant", "call", "1+1", tool="calc")] * 6, Turn("assistant", "answer", "42")),
            ),
            ["too_many_turns"],
        ),
    ],
)
def test_a_sample_must_not_contradict_itself(sample: Sample, rules: list[str]) -> None:
    assert contradictions(sample, max_turns=6) == rules
