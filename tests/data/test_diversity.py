"""Diversity figures: what they count, and that pack v1 declared as v2 is detected."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest

from askgate_env.types import Article, Hidden
from src.core.errors import BadInput
from src.data.quality.diversity import WINDOW, distinct_n, diversity_report, kl3, wording, zipf_slope
from src.data.quality.scan import SpokenSample, rendered, spoken
from src.data.quality.token_stream import TokenStream, token_stream
from tests.data.samples import changed, make_sample, write_pool
from tests.data.worded_samples import V1, V2, Pack, wordy


def chosen(count: int, pack: Pack, seed: int = 1, most: int = 4_000) -> TokenStream:
    choice = SpokenSample(most, seed=9)
    choice.add(wordy(count, pack, seed))
    return choice.stream()


def test_only_rendered_text_has_tool_results() -> None:
    sample = make_sample(
        "a",
        "PROMPT",
        thought="THOUGHT",
        answer="ANSWER",
        context=(Article("TITLE", ("SENTENCE",)),),
        hidden=Hidden("entity", "SPAN", "MISSING", ("SPAN",)),
    )
    assert " ".join(spoken(sample).split()) == "PROMPT SPAN"
    said = "TITLE Could you tell me MISSING? THOUGHT 6*7 ANSWER"
    assert " ".join(spoken(sample, "assistant").split()) == said
    read = "PROMPT TITLE SENTENCE TITLE TITLE: SENTENCE Could you tell me MISSING? SPAN THOUGHT 6*7 42 ANSWER"
    assert " ".join(rendered(sample).split()) == read


def test_a_prompt_that_opens_the_dialogue_counts_once() -> None:
    sample = make_sample("a", "PROMPT")
    opened, sample = sample, changed(sample, dialogue=sample.dialogue[1:])
    assert spoken(opened) == spoken(sample)
    assert rendered(opened) == rendered(sample)


def test_distinct_2_is_measured_in_windows() -> None:
    """One repeated word scores near 0, all different words score 1, and length alone does not lower the score."""
    assert distinct_n(np.ones(20_000, dtype=np.uint64), 2, seed=1) == pytest.approx(1 / (WINDOW - 1))
    assert distinct_n(np.arange(20_000, dtype=np.uint64), 2, seed=1) == 1.0
    rng = np.random.default_rng(1)
    short = distinct_n(rng.integers(0, 300, 10_000).astype(np.uint64), 2, seed=1)
    long = distinct_n(rng.integers(0, 300, 1_000_000).astype(np.uint64), 2, seed=1)
    assert short == pytest.approx(long, abs=0.01)


def test_less_than_a_window_is_not_measured() -> None:
    assert distinct_n(np.arange(WINDOW - 1, dtype=np.uint64), 2, seed=1) is None
    assert distinct_n(np.arange(WINDOW, dtype=np.uint64), 2, seed=1) == 1.0


def test_the_window_figures_of_human_questions(official_data: Path) -> None:
    """The measurements behind the threshold of 0.60."""
    lines = (official_data / "gsm8k" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    gsm8k = [json.loads(line)["question"] for line in lines]
    strategyqa = [
        one["question"]
        for one in json.loads((official_data / "strategyqa" / "strategyqa_train.json").read_text(encoding="utf-8"))
    ]
    for questions, expected in ((gsm8k, 0.70), (strategyqa, 0.79)):
        Random(1).shuffle(questions)
        assert distinct_n(token_stream(questions).hashes, 2, seed=1) == pytest.approx(expected, abs=0.02)


def test_zipf_slope_of_a_zipf_text_is_minus_one() -> None:
    counts = (1_000_000 / np.arange(1, 2_001)).astype(np.int64)
    assert zipf_slope(np.repeat(np.arange(2_000, dtype=np.uint64), counts)) == pytest.approx(-1, abs=0.01)


@pytest.mark.parametrize(("seed", "count"), [(1, 300), (1, 2_000), (2, 300), (2, 2_000)])
def test_v1_against_v1_has_no_excess(seed: int, count: int) -> None:
    found = kl3(chosen(count, V1, seed), chosen(count, V1, 1))
    assert found is not None
    assert found.floor > 0
    assert abs(found.excess) < 0.05


@pytest.mark.parametrize("count", [300, 2_000])
def test_v2_against_v1_has_excess(count: int) -> None:
    found = kl3(chosen(count, V2, 2), chosen(count, V1, 1))
    assert found is not None
    assert found.excess > 0.15


def test_the_excess_does_not_grow_with_the_pool() -> None:
    """Pools of 4,000 and 20,000 samples are compared on the same number of samples."""
    reference = chosen(2_000, V1, 1)
    small = kl3(chosen(1_000, V2, 2), reference)
    large = kl3(chosen(6_000, V2, 2), reference)
    assert small is not None
    assert large is not None
    assert small.excess == pytest.approx(large.excess, rel=0.1)


def test_too_little_v1_is_not_measured() -> None:
    found = wording(chosen(100, V2), chosen(1, V1), seed=1)
    assert (found.kl3, found.kl3_floor, found.kl3_excess) == (None, None, None)


def test_spoken_samples_are_the_start_of_one_random_order() -> None:
    """The same samples come first, whatever the batch size and the limit."""
    samples = wordy(400, V2)
    whole, pieces, few = SpokenSample(400, 3), SpokenSample(400, 3), SpokenSample(20, 3)
    whole.add(samples)
    for start in range(0, 400, 37):
        pieces.add(samples[start : start + 37])
        few.add(samples[start : start + 37])
    assert whole.stream().hashes.tolist() == pieces.stream().hashes.tolist()
    head = few.stream()
    assert head.texts == 20
    assert head.hashes.tolist() == whole.stream().hashes[: len(head.hashes)].tolist()
    chinese = whole.stream("gsm8k", "zh")
    assert chinese.texts == sum(sample.task == "gsm8k" and sample.lang == "zh" for sample in samples)


def test_the_report_has_figures_overall_per_task_and_language(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool.jsonl", wordy(600, V2))
    out = tmp_path / "reports" / "diversity_report.json"
    diversity_report(pool, out, lambda meta, n: wordy(n, V1, meta.seed))
    report = json.loads(out.read_text(encoding="utf-8"))
    assert set(report["tasks"]) == {"hotpotqa", "strategyqa", "gsm8k"}
    for part in (report["overall"], *report["tasks"].values()):
        assert part["kl3_excess"] == pytest.approx(part["kl3"] - part["kl3_floor"])
        assert 0 < part["distinct1"] < part["distinct2"] <= 1
        assert 0 < part["ttr"] < 1
        assert part["zipf_slope"] < 0
        assert sum(part["roles"].values()) == pytest.approx(1)
        assert len(part["roles"]) == 4
        assert len(part["registers"]) == 3
        assert set(part["langs"]) == {"en", "zh"}
    assert report["evidence"]["inputs"].keys() == {str(pool), str(tmp_path / "pool.meta.json")}


def test_the_pool_is_not_overwritten_by_its_report(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool.jsonl", wordy(3, V2))
    before = pool.read_bytes()
    with pytest.raises(BadInput, match=r"^--out: .* would overwrite a file of POOL"):
        diversity_report(pool, pool, lambda meta, n: wordy(n, V1, meta.seed))
    assert pool.read_bytes() == before
