"""The difficulty gate accepts an honest balanced pool and rejects every poisoned one, by the right check."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from askgate_env.types import LEVELS, TASKS, Article, Level, Sample, Task
from src.cli import main
from src.core.check import Check, Report
from src.core.errors import BadInput
from src.core.files import sha256_file, sidecar
from src.data.difficulty.bucketize import difficulty_bucketize
from src.data.difficulty.metrics import DifficultyRecord, difficulty_metrics
from src.data.difficulty.validate_difficulty import validate_difficulty
from src.data.pool.meta import read_meta
from tests.data.difficulty_samples import TARGET, dialogue, even_supply, graded_samples
from tests.data.samples import measure, write_meta, write_pool
from tests.rc1 import DIFFICULTY_LIMITS


def failed(report: Report) -> set[str]:
    return {one.name for one in report.checks if not one.passed}


def by_name(report: Report, name: str) -> Check:
    return next(one for one in report.checks if one.name == name)


def validate(folder: Path) -> Report:
    return validate_difficulty(folder / "seed.metrics.jsonl", folder / "seed.balanced.jsonl", DIFFICULTY_LIMITS)


def write_reports(folder: Path) -> tuple[str, Report]:
    """The page and the report that the command writes."""
    out = folder / "rc1" / "difficulty_report.json"
    files = {"metrics": folder / "seed.metrics.jsonl", "balanced": folder / "seed.balanced.jsonl", "out": out}
    flags = {**files, **DIFFICULTY_LIMITS.model_dump()}
    with pytest.raises(SystemExit):
        main(["validate_difficulty", *(f"--{name}={value}" for name, value in flags.items())])
    page = out.with_suffix(".html").read_text(encoding="utf-8")
    return page, msgspec.json.decode(out.read_bytes(), type=Report)


def honest(folder: Path) -> None:
    """A pool that passed through all stages honestly."""
    pool = write_pool(folder / "seed.jsonl", graded_samples(even_supply(20, 30, 25)))
    difficulty_metrics(pool, folder / "seed.metrics.jsonl")
    difficulty_bucketize(folder / "seed.metrics.jsonl", TARGET, TASKS, folder / "seed.balanced.jsonl")


def sold_as_balanced(folder: Path, samples: list[Sample]) -> None:
    """Samples declared as a balanced pool, with correct metrics and sidecars."""
    mix: dict[Task, float] = {task: sum(one.task == task for one in samples) / len(samples) for task in TASKS}
    pool = write_pool(folder / "seed.jsonl", samples, mix=mix)
    difficulty_metrics(pool, folder / "seed.metrics.jsonl")
    balanced = write_pool(folder / "seed.balanced.jsonl", samples, mix=mix)
    facts = {"kind": "balanced", "parent": pool.name, "parent_sha256": sha256_file(pool)}
    write_meta(balanced, msgspec.structs.replace(read_meta(balanced), **facts))


def rewrite(balanced: Path, lines: bytes) -> None:
    """Rewrites a file like a careful forger: the sidecar still fits."""
    balanced.write_bytes(lines)
    facts = {"sha256": sha256_file(balanced), "n": len(lines.splitlines())}
    write_meta(balanced, msgspec.structs.replace(read_meta(balanced), **facts))


def changed(
    samples: list[Sample], level_of: dict[str, Level], level: Level, change: Callable[[Sample], Sample]
) -> list[Sample]:
    return [change(one) if level_of[one.id] == level else one for one in samples]


def balanced_mix() -> tuple[list[Sample], dict[str, Level]]:
    samples = graded_samples(even_supply(5, 9, 6))
    return samples, {one.id: measure(one).level for one in samples}


def test_an_honest_balanced_pool_passes(tmp_path: Path) -> None:
    honest(tmp_path)
    report = validate(tmp_path)
    assert report.passed, failed(report)
    assert by_name(report, "hard_share[gsm8k]").value >= 0.30
    assert {f"hard_share{scope}" for scope in ("", *(f"[{task}]" for task in TASKS))} <= {c.name for c in report.checks}


def test_an_all_easy_pool_fails_on_its_shares(tmp_path: Path) -> None:
    sold_as_balanced(tmp_path, graded_samples({task: {"easy": 9} for task in TASKS}))
    report = validate(tmp_path)
    assert {"hard_share", "easy_share", "hard_share[gsm8k]", "easy_share[hotpotqa]"} <= failed(report)
    assert by_name(report, "easy_share").value == 1.0
    assert "--ops-numeric" in by_name(report, "hard_share[gsm8k]").remedy
    assert "--tool-hops" in by_name(report, "hard_share[hotpotqa]").remedy_zh


def test_advice_on_human_questions_names_no_useless_flag(tmp_path: Path) -> None:
    sold_as_balanced(tmp_path, graded_samples(even_supply(9, 9, 0)))
    for name in ("seed.jsonl", "seed.metrics.jsonl", "seed.balanced.jsonl"):
        write_meta(tmp_path / name, msgspec.structs.replace(read_meta(tmp_path / name), source="messages"))
    report = validate(tmp_path)
    assert "a --target that the counts" in by_name(report, "hard_share").remedy
    assert by_name(report, "clue_overlap_hard_max").remedy == by_name(report, "clue_overlap_hard_min").remedy
    assert not [one for one in report.checks if not one.passed and "tool-hops" in one.remedy]


def test_one_task_of_easy_samples_fails_its_own_checks(tmp_path: Path) -> None:
    supply: dict[Task, dict[Level, int]] = {task: {"easy": 3, "medium": 5, "hard": 12} for task in TASKS}
    supply["strategyqa"] = {"easy": 9, "medium": 9, "hard": 2}
    sold_as_balanced(tmp_path, graded_samples(supply))
    assert failed(validate(tmp_path)) == {"hard_share[strategyqa]", "easy_share[strategyqa]"}


def test_hard_questions_that_restate_their_clue_fail(tmp_path: Path) -> None:
    samples, levels = balanced_mix()
    restate = changed(samples, levels, "hard", lambda one: msgspec.structs.replace(one, clue=one.support[0][:70]))
    sold_as_balanced(tmp_path, restate)
    report = validate(tmp_path)
    assert failed(report) == {f"clue_overlap_hard_max{scope}" for scope in ("", *(f"[{task}]" for task in TASKS))}
    assert "raise --paraphrase" in by_name(report, "clue_overlap_hard_max").remedy


def test_hard_questions_without_overlap_with_their_support_fail(tmp_path: Path) -> None:
    samples, levels = balanced_mix()
    apart = changed(samples, levels, "hard", lambda one: msgspec.structs.replace(one, support=("Zzyzx qwop jkvb.",)))
    sold_as_balanced(tmp_path, apart)
    report = validate(tmp_path)
    assert failed(report) == {f"clue_overlap_hard_min{scope}" for scope in ("", *(f"[{task}]" for task in TASKS))}
    assert "lower --paraphrase" in by_name(report, "clue_overlap_hard_min").remedy


def test_easy_questions_that_do_not_restate_their_clue_fail(tmp_path: Path) -> None:
    samples, levels = balanced_mix()
    bare = changed(samples, levels, "easy", lambda one: msgspec.structs.replace(one, clue="", question="Why not?"))
    sold_as_balanced(tmp_path, bare)
    assert failed(validate(tmp_path)) == {f"clue_overlap_easy_min{s}" for s in ("", *(f"[{task}]" for task in TASKS))}


def test_easy_questions_that_repeat_their_support_fail(tmp_path: Path) -> None:
    samples, levels = balanced_mix()
    copied = changed(
        samples, levels, "easy", lambda one: msgspec.structs.replace(one, clue="", question=one.support[0])
    )
    sold_as_balanced(tmp_path, copied)
    assert failed(validate(tmp_path)) == {f"clue_overlap_easy_max{s}" for s in ("", *(f"[{task}]" for task in TASKS))}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("len_tokens_past_limit", {"context": (Article("Long", ("word " * 3500,)),)}),
        ("turns_past_limit", {"dialogue": dialogue([], True, "x") * 5}),
        ("tool_hops_past_limit", {"dialogue": dialogue([("wiki", "x")] * 9, False, "x")}),
    ],
)
def test_a_single_sample_past_a_limit_fails(tmp_path: Path, name: str, change: dict[str, object]) -> None:
    samples, levels = balanced_mix()
    place = next(at for at, one in enumerate(samples) if one.task == "gsm8k" and levels[one.id] == "hard")
    samples[place] = msgspec.structs.replace(samples[place], **change)
    sold_as_balanced(tmp_path, samples)
    report = validate(tmp_path)
    assert {name, f"{name}[gsm8k]"} <= failed(report)
    assert by_name(report, name).value == 1
    assert not by_name(report, f"{name}[hotpotqa]").value


def test_samples_at_the_limits_pass(tmp_path: Path) -> None:
    samples, levels = balanced_mix()
    longest = dialogue([("calc", "3+4")] * 7, False, "x")
    samples = changed(samples, levels, "hard", lambda one: msgspec.structs.replace(one, dialogue=longest))
    sold_as_balanced(tmp_path, samples)
    report = validate(tmp_path)
    assert report.passed, failed(report)
    assert report.figures["balanced"]["quantiles"]["hard"]["turns"]["p50"] == 8


def edit_metrics(folder: Path, sidecar_too: bool) -> None:
    """Rewrites easy records as hard ones."""
    metrics = folder / "seed.metrics.jsonl"
    metrics.write_bytes(metrics.read_bytes().replace(b'"level":"easy"', b'"level":"hard"'))
    if sidecar_too:
        write_meta(metrics, msgspec.structs.replace(read_meta(metrics), sha256=sha256_file(metrics)))


@pytest.mark.parametrize(
    ("sidecar_too", "caught"), [(False, {"metrics_match", "metrics_edited"}), (True, {"metrics_match"})]
)
def test_metrics_edited_by_hand_are_caught(tmp_path: Path, sidecar_too: bool, caught: set[str]) -> None:
    honest(tmp_path)
    edit_metrics(tmp_path, sidecar_too)
    report = validate(tmp_path)
    assert failed(report) == caught
    easy = sum(counts["easy"] for counts in report.figures["balanced"]["counts"].values())
    assert by_name(report, "metrics_match").value == easy > 0


def test_levels_come_from_the_samples_not_from_the_metrics(tmp_path: Path) -> None:
    sold_as_balanced(tmp_path, graded_samples({task: {"easy": 9} for task in TASKS}))
    edit_metrics(tmp_path, True)
    assert {"hard_share", "easy_share", "metrics_match"} <= failed(validate(tmp_path))


def test_a_sample_taken_twice_is_caught(tmp_path: Path) -> None:
    honest(tmp_path)
    balanced = tmp_path / "seed.balanced.jsonl"
    rewrite(balanced, balanced.read_bytes() + balanced.read_bytes().splitlines(keepends=True)[0])
    assert "copies" in failed(validate(tmp_path))


def test_a_balanced_sample_without_metrics_is_refused(tmp_path: Path) -> None:
    honest(tmp_path)
    balanced = tmp_path / "seed.balanced.jsonl"
    rewrite(balanced, balanced.read_bytes().replace(b'"id":"s0', b'"id":"t0', 1))
    with pytest.raises(BadInput, match=r"1 samples are not in seed\.metrics\.jsonl, among them 't0"):
        validate(tmp_path)


@pytest.mark.parametrize("name", ["seed.metrics.jsonl", "seed.balanced.jsonl", "seed.jsonl"])
def test_a_file_without_sidecar_is_refused(tmp_path: Path, name: str) -> None:
    honest(tmp_path)
    sidecar(tmp_path / name).unlink()
    with pytest.raises(BadInput, match="sidecar"):
        validate(tmp_path)


def test_a_balanced_pool_edited_by_hand_is_refused(tmp_path: Path) -> None:
    honest(tmp_path)
    balanced = tmp_path / "seed.balanced.jsonl"
    balanced.write_bytes(balanced.read_bytes().replace(b'"answer":"yes"', b'"answer":"no"', 1))
    with pytest.raises(BadInput, match="changed since its sidecar"):
        validate(tmp_path)


def test_a_balanced_pool_of_another_pool_is_refused(tmp_path: Path) -> None:
    honest(tmp_path)
    balanced = tmp_path / "seed.balanced.jsonl"
    write_meta(balanced, msgspec.structs.replace(read_meta(balanced), parent_sha256="0" * 64))
    with pytest.raises(BadInput, match=r"does not come from the pool that seed\.metrics\.jsonl measures"):
        validate(tmp_path)


def test_one_changed_sample_is_counted(tmp_path: Path) -> None:
    honest(tmp_path)
    balanced = tmp_path / "seed.balanced.jsonl"
    rewrite(balanced, balanced.read_bytes().replace(b'"answer":"yes"', b'"answer":"no"', 1))
    report = validate(tmp_path)
    assert failed(report) == {"copied_unchanged"}
    assert by_name(report, "copied_unchanged").value == 1


@pytest.mark.parametrize("name", ["seed.jsonl", "seed.metrics.jsonl", "seed.balanced.jsonl", "report.html"])
def test_the_report_overwrites_no_input_and_not_its_page(tmp_path: Path, name: str) -> None:
    honest(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    metrics, balanced = tmp_path / "seed.metrics.jsonl", tmp_path / "seed.balanced.jsonl"
    with pytest.raises(BadInput, match=r"^--out: .* would overwrite"):
        validate_difficulty(
            metrics, balanced, DIFFICULTY_LIMITS, {"page": tmp_path / "report.html", "--out": tmp_path / name}
        )
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["seed.jsonl", "seed.metrics.jsonl", "seed.balanced.jsonl"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    honest(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(BadInput, match=name):
        validate(tmp_path)


def test_an_empty_balanced_pool_fails_checks_that_need_samples(tmp_path: Path) -> None:
    honest(tmp_path)
    rewrite(tmp_path / "seed.balanced.jsonl", b"")
    assert {"hard_share", "easy_share", "clue_overlap_easy_min[gsm8k]", "mix[gsm8k]"} <= failed(validate(tmp_path))


def test_the_report_has_counts_quantiles_histograms_and_its_evidence(tmp_path: Path) -> None:
    honest(tmp_path)
    report = validate(tmp_path)
    pool, balanced = report.figures["pool"], report.figures["balanced"]
    assert pool["counts"] == even_supply(20, 30, 25)
    assert balanced["n"] == sum(sum(levels.values()) for levels in balanced["counts"].values())
    assert set(pool["quantiles"]["gsm8k/hard"]["clue_overlap"]) == {"p10", "p50", "p90"}
    for metric, histogram in pool["histograms"].items():
        assert set(pool["histograms"]) >= set(DifficultyRecord.__struct_fields__[2:8]), metric
        assert [sum(histogram["counts"][level]) for level in LEVELS] == [60, 90, 75]
        assert histogram["edges"] == balanced["histograms"][metric]["edges"]
    files = [tmp_path / name for name in ("seed.metrics.jsonl", "seed.balanced.jsonl", "seed.jsonl")]
    assert report.evidence.inputs == {str(one): sha256_file(one) for path in files for one in (path, sidecar(path))}


def test_the_written_report_names_its_page_by_checksum(tmp_path: Path) -> None:
    honest(tmp_path)
    _, written = write_reports(tmp_path)
    page = tmp_path / "rc1" / "difficulty_report.html"
    assert written.evidence.outputs == {str(page): sha256_file(page)}
    assert written.checks == validate(tmp_path).checks


class Outline(HTMLParser):
    """Collects what a page loads and whether its tags are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [str(value) for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("poisoned", [False, True])
def test_the_page_loads_nothing_and_shows_the_verdict(tmp_path: Path, poisoned: bool) -> None:
    honest(tmp_path)
    if poisoned:
        edit_metrics(tmp_path, True)
    page, _ = write_reports(tmp_path)
    outline = Outline()
    outline.feed(page)
    assert not outline.open
    assert not outline.loads
    assert ("✗ FAILED" if poisoned else "✓ PASSED") in page
    assert ("run difficulty-metrics" in page) == poisoned


def test_text_from_the_data_cannot_become_markup(tmp_path: Path) -> None:
    samples, _ = balanced_mix()
    samples[0] = msgspec.structs.replace(samples[0], ambiguity=("<script>alert(1)</script>",))
    sold_as_balanced(tmp_path, samples)
    page, _ = write_reports(tmp_path)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
