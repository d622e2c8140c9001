"""Poisons for the checks that rounds add to those of the data stages."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from askgate_env.types import Sample
from src.core.files import sha256_file
from src.core.jsonl import read_records, write_records
from src.data.pool.build import rebuilt_samples, reference_samples
from src.data.pool.meta import read_meta
from tests.data.samples import write_meta
from tests.gates.run_folder import ROOT, SHADOW, N, current_context, edit_profile

from .forged_run import caught
from .table import poison


@poison("pool/pool_samples")
def test_a_pool_that_is_smaller_than_the_profile_wants(run: Path) -> None:
    edit_profile(lambda found: found["thresholds"]["counts"].update(pool_samples=N + 1))
    assert caught("pool") == {"pool_samples"}


@poison("pool/shadow_samples")
def test_a_shadow_set_that_is_smaller_than_the_profile_wants(run: Path) -> None:
    edit_profile(lambda found: found["thresholds"]["counts"].update(shadow_samples=SHADOW + 1))
    assert caught("pool") == {"shadow_samples"}


def forge_shadow_set(change: Callable[[list[Sample]], list[Sample]], **facts: Any) -> None:
    """Changes the shadow set; its sidecar fits."""
    path = current_context().profile.paths.shadow_set
    samples = change(list(read_records(path, Sample)))
    with open(path, "wb") as handle:
        write_records(handle, samples)
    write_meta(path, replace(read_meta(path), sha256=sha256_file(path), n=len(samples), **facts))


@poison("pool/shadow_rebuilt")
def test_a_shadow_set_of_chosen_samples(run: Path) -> None:
    """The first fifty samples that need no ask."""
    forge_shadow_set(lambda samples: [one for one in samples if not one.needs_clarification][:50])
    assert "shadow_rebuilt" in caught("pool")


def with_hint(sample: Sample) -> Sample:
    """The prompt tells the answer."""
    prompt = f"{sample.prompt} (Hint: {sample.answer})"
    return replace(sample, prompt=prompt, dialogue=(replace(sample.dialogue[0], text=prompt), *sample.dialogue[1:]))


def with_talkative_user(sample: Sample) -> Sample:
    """The user tells the answer after any ask."""
    turns = [
        replace(turn, text=f"{turn.text} (the answer is {sample.answer})") if turn.by == "user" and place else turn
        for place, turn in enumerate(sample.dialogue)
    ]
    return replace(sample, dialogue=tuple(turns))


@pytest.mark.parametrize("change", [with_hint, with_talkative_user])
@poison("pool/shadow_rebuilt")
def test_a_shadow_set_that_tells_the_answer(run: Path, change: Callable[[Sample], Sample]) -> None:
    forge_shadow_set(lambda samples: [change(one) for one in samples])
    assert caught("pool") == {"shadow_rebuilt"}


@poison("pool/shadow_consistency")
def test_a_shadow_set_without_the_marks_of_missing_information(run: Path) -> None:
    forge_shadow_set(lambda samples: [replace(one, needs_clarification=False) for one in samples])
    assert caught("pool") == {"shadow_consistency", "shadow_rebuilt"}


@poison("pool/shadow_rebuilt")
def test_a_shadow_set_in_other_words_than_the_profile_names(run: Path) -> None:
    path = current_context().profile.paths.shadow_set
    pack = Path("templates/pack_v1")
    forge_shadow_set(lambda samples: [*rebuilt_samples(read_meta(path), len(samples), pack)], templates_dir=str(pack))
    assert "shadow_rebuilt" in caught("pool")


@pytest.mark.parametrize(
    "easier",
    [
        pytest.param({"clarify_rate": 0.0}, id="no ask needed"),
        pytest.param({"tool_hops": 1, "ops_numeric": 1}, id="one step"),
        pytest.param({"mix": {"hotpotqa": 0.2, "strategyqa": 0.2, "gsm8k": 0.6}}, id="another mix"),
        pytest.param({"langs": ("en",)}, id="one language"),
    ],
)
@poison("pool/shadow_plan")
def test_a_shadow_set_of_easier_questions_out_of_the_builder(run: Path, easier: dict[str, Any]) -> None:
    """Every sample is rebuilt, because the sidecar asks for just these."""
    path = current_context().profile.paths.shadow_set
    templates = current_context().profile.paths.templates
    plan = replace(read_meta(path), **easier)
    forge_shadow_set(lambda samples: [*rebuilt_samples(plan, len(samples), templates)], **easier)
    assert caught("pool") == {"shadow_plan"}


def test_a_reference_pack_of_ones_own_is_not_measured_against(run: Path) -> None:
    """Any pool would be far from the wording of that pack."""
    meta = read_meta(current_context().profile.paths.pool)
    before = [*reference_samples(meta, 8)]
    shutil.copytree(ROOT / "templates/pack_v2", "templates/pack_v1")
    assert [*reference_samples(meta, 8)] == before


@poison("pool/shadow_samples")
def test_a_sidecar_that_counts_more_samples_than_there_are(run: Path) -> None:
    path = current_context().profile.paths.shadow_set
    edit_profile(lambda found: found["thresholds"]["counts"].update(shadow_samples=SHADOW + 1))
    write_meta(path, replace(read_meta(path), n=500))
    assert caught("pool") == {"shadow_samples", "shadow_rebuilt"}


@poison("difficulty/not_from_this_pool")
def test_a_balanced_pool_of_another_pool(run: Path) -> None:
    """Metrics and balanced pool fit each other but come from a pool in another place."""
    paths = current_context().profile.paths
    other = paths.pool.with_name("other.jsonl")
    other.write_bytes(paths.pool.read_bytes())
    write_meta(other, read_meta(paths.pool))
    for path in (paths.metrics, paths.balanced):
        write_meta(path, replace(read_meta(path), parent="other.jsonl"))
    samples = list(read_records(paths.pool, Sample))[:-1]
    with open(paths.pool, "wb") as handle:
        write_records(handle, samples)
    assert caught("difficulty") == {"not_from_this_pool", "sidecars_edited"}


@pytest.mark.parametrize("which", ["metrics", "balanced"])
@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"clarify_rate": 0.0}, id="nothing to ask"),
        pytest.param({"mix": {"gsm8k": 1.0}}, id="another mix"),
        pytest.param({"templates_dir": "templates/pack_v1"}, id="other templates"),
        pytest.param({"tool_hops": 1}, id="fewer hops"),
        pytest.param({"seed": 8}, id="another seed"),
    ],
)
@poison("difficulty/sidecars_edited")
def test_a_sidecar_that_would_generate_other_fresh_samples(run: Path, which: str, change: dict[str, Any]) -> None:
    path = getattr(current_context().profile.paths, which)
    write_meta(path, replace(read_meta(path), **change))
    assert caught("difficulty") == {"sidecars_edited"}
