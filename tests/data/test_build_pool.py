"""The pool builder: exact shares, correct demonstrations, the same bytes for the same arguments."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from sklearn.metrics import roc_auc_score

from askgate_env.tools import calc, wiki
from askgate_env.types import TASKS, Sample, Task, join_sentences
from src.core.errors import BadInput
from src.core.files import HOME, sha256_file, sidecar
from src.core.jsonl import read_records, read_unique
from src.data.difficulty.metrics import measure_all
from src.data.pool import build as pool_module
from src.data.pool.build import build_pool, open_source, plan_of, rebuilt_samples, reference_samples
from src.data.pool.meta import parent_of, read_meta, write_part
from src.data.pool.plan import BuildPlan, shares_to_counts
from src.data.pool.shadow_set import materialize_shadow
from src.data.pool.templates import load_pack
from src.data.quality.consistency import contradictions

PLAN = BuildPlan(
    n=1_200,
    mix={"hotpotqa": 0.45, "strategyqa": 0.30, "gsm8k": 0.25},
    seed=11,
    langs=(),
    templates_dir=Path("templates/pack_v2"),
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built") / "pool.jsonl"
    build_pool(PLAN, out)
    return out


@pytest.fixture(scope="module")
def samples(built: Path) -> list[Sample]:
    return list(read_records(built, Sample))


def test_only_the_same_arguments_give_the_same_bytes(built: Path, tmp_path: Path) -> None:
    build_pool(PLAN, tmp_path / "again.jsonl")
    build_pool(replace(PLAN, seed=12), tmp_path / "other.jsonl")
    assert sha256_file(tmp_path / "again.jsonl") == sha256_file(built)
    assert sidecar(tmp_path / "again.jsonl").read_bytes() == sidecar(built).read_bytes()
    assert sha256_file(tmp_path / "other.jsonl") != sha256_file(built)


def test_worker_processes_do_not_change_a_byte(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "PARALLEL_FROM", 1)
    build_pool(PLAN, tmp_path / "parallel.jsonl")
    assert sha256_file(tmp_path / "parallel.jsonl") == sha256_file(built)


def test_the_sidecar_tells_how_to_build_the_pool_again(built: Path, tmp_path: Path) -> None:
    meta = read_meta(built)
    assert meta.sha256 == sha256_file(built)
    build_pool(plan_of(meta), tmp_path / "again.jsonl")
    assert sha256_file(tmp_path / "again.jsonl") == meta.sha256


def test_tasks_languages_and_clarification_have_their_shares(samples: list[Sample]) -> None:
    assert Counter(sample.task for sample in samples) == {"hotpotqa": 540, "strategyqa": 360, "gsm8k": 300}
    for task in TASKS:
        of_task = [sample for sample in samples if sample.task == task]
        assert abs(np.mean([sample.needs_clarification for sample in of_task]) - 0.30) < 0.02
        for lang in ("en", "zh"):
            of_lang = [sample for sample in of_task if sample.lang == lang]
            assert abs(len(of_lang) / len(of_task) - 0.5) < 0.02
            assert abs(np.mean([sample.needs_clarification for sample in of_lang]) - 0.30) < 0.03


def test_a_message_has_one_opener(samples: list[Sample]) -> None:
    """A lead is followed by the question at once; a question that names its subject first has no lead before it. An
    English clue comes before its question, and what was read in vain never comes first."""
    pack = load_pack(Path("templates/pack_v2"))
    users = {one.id: one.user for by_lang in pack.tasks.values() for some in by_lang.values() for one in some}
    found = Counter[str]()
    for sample in samples:
        if sample.task == "gsm8k":
            assert join_sentences([sample.premise, sample.clue, sample.question]) in sample.prompt
            continue
        leads = [text.partition("{{")[0] for text in users[sample.provenance.template_id]]
        lead = next((one for one in leads if one and sample.prompt.startswith(one)), "")
        opens = re.search(r"[.?!] |[。？！].", sample.question) is not None
        assert not sample.premise or sample.prompt.index(sample.question) < sample.prompt.index(sample.premise)
        if sample.lang == "en" and sample.clue:
            assert not lead
            assert f"{sample.clue} {sample.question}" in sample.prompt
        elif lead:
            assert sample.prompt.startswith(lead + sample.question)
            assert not opens
        elif opens:
            assert sample.prompt.startswith(sample.question)
        found["lead" if lead else "opens" if opens else "neither"] += 1
    assert min(found.values()) >= 10
    assert len(found) == 3


def test_ids_and_source_ids_are_unique(samples: list[Sample]) -> None:
    assert len({sample.id for sample in samples}) == len(samples)
    assert len({sample.provenance.source_id for sample in samples}) == len(samples)


def test_demonstrations_are_consistent_and_their_tool_results_true(built: Path, samples: list[Sample]) -> None:
    meta = read_meta(built)
    for sample in samples:
        assert contradictions(sample, meta) == []
        calls = [turn for turn in sample.dialogue if turn.act == "call"]
        results = [turn.text for turn in sample.dialogue if turn.act == "result"]
        true = [calc(turn.text) if turn.tool == "calc" else wiki(sample.context, turn.text) for turn in calls]
        assert results == true


@pytest.mark.parametrize("task", TASKS)
def test_the_amount_of_context_does_not_predict_asking(samples: list[Sample], task: Task) -> None:
    """If articles are part of the prompt, fewer articles must not mean that something is missing."""
    of_task = [sample for sample in samples if sample.task == task]
    lengths = [record.len_tokens for record in measure_all(of_task)]
    auc = roc_auc_score([sample.needs_clarification for sample in of_task], lengths)
    assert 0.4 < auc < 0.6


def test_the_reference_has_the_same_questions_in_other_words(built: Path, samples: list[Sample]) -> None:
    reference = list(reference_samples(read_meta(built), 50))
    for ours, theirs in zip(samples, reference, strict=False):
        assert ours.question == theirs.question
        assert theirs.provenance.role == "user"


def test_a_failure_leaves_an_older_pool_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "pool.jsonl"
    build_pool(replace(PLAN, n=20), out)
    before = (out.read_bytes(), sidecar(out).read_bytes())

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pool_module, "json_bytes", full)
    with pytest.raises(OSError, match="No space"):
        build_pool(replace(PLAN, n=30), out)
    assert (out.read_bytes(), sidecar(out).read_bytes()) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pool.jsonl", "pool.meta.json"]


def test_without_room_for_its_sidecar_no_pool_appears(tmp_path: Path) -> None:
    sidecar(tmp_path / "pool.jsonl").mkdir()
    with pytest.raises(BadInput, match="is a folder"):
        build_pool(replace(PLAN, n=20), tmp_path / "pool.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["pool.meta.json"]


def test_a_pool_that_would_share_its_sidecar_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^--out: .*does not end in \.jsonl"):
        build_pool(replace(PLAN, n=20), tmp_path / "pool.json")


def test_a_shadow_set_its_sidecar_and_its_manifest_appear_together(tmp_path: Path) -> None:
    plan, out, manifest = replace(PLAN, n=12), tmp_path / "shadow.jsonl", tmp_path / "manifest.json"
    manifest.mkdir()
    with pytest.raises(BadInput, match="is a folder"):
        materialize_shadow(plan, True, out, manifest, "")
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]
    manifest.rmdir()
    materialize_shadow(plan, True, out, manifest, "t")
    listed = json.loads(manifest.read_text(encoding="utf-8"))
    assert (listed["file"], listed["sha256"], listed["n"]) == (out.name, sha256_file(out), 12)
    for same in (out, sidecar(out)):
        with pytest.raises(BadInput, match=r"^--dump-manifest: .* would overwrite a file of --materialize"):
            materialize_shadow(plan, True, out, same, "")


def test_a_missing_data_dir_names_the_base_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plan = replace(PLAN, source="dir", data_dir=Path("official"))
    with pytest.raises(BadInput, match="relative to the folder where the pool was built"):
        open_source(plan)


def test_a_source_of_files_needs_a_folder(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^--data-dir: "):
        build_pool(replace(PLAN, source="dir", data_dir=None), tmp_path / "pool.jsonl")
    assert not (tmp_path / "pool.jsonl").exists()


def test_shares_become_whole_numbers_that_add_up() -> None:
    for total in range(1, 60):
        assert sum(shares_to_counts([0.45, 0.30, 0.25], total)) == total


def test_more_tool_hops_make_more_hard_samples(tmp_path: Path) -> None:
    hard = []
    for hops in (1, 4, 6):
        out = tmp_path / f"{hops}.jsonl"
        build_pool(replace(PLAN, n=400, tool_hops=hops, max_turns=8), out)
        hard.append(sum(record.level == "hard" for record in measure_all(list(read_records(out, Sample)))))
    assert hard[0] < hard[1] < hard[2]


def test_records_are_used_again_only_where_there_are_too_few(tmp_path: Path) -> None:
    """Own word problems: 140 records."""
    own = {"source": "dir", "data_dir": HOME / "examples/own_data", "mix": {"gsm8k": 1.0}, "langs": (), "n": 200}
    plan = replace(PLAN, **own)
    with pytest.raises(BadInput, match="asks for 200 samples"):
        build_pool(plan, tmp_path / "pool.jsonl")
    meta = build_pool(replace(plan, reuse=3), tmp_path / "pool.jsonl")
    samples = list(read_unique(tmp_path / "pool.jsonl", Sample))
    records = {one.provenance.source_id for one in samples}
    assert meta.reused == {"gsm8k": 200 - len(records)}
    assert len(records) > 80
    assert max(Counter(one.provenance.source_id for one in samples).values()) <= 3
    assert len({one.prompt for one in samples}) > len(records), "a record is worded anew"
    assert build_pool(replace(plan, reuse=3, n=40), tmp_path / "few.jsonl").reused == {}
    again = list(rebuilt_samples(meta, 200, Path(meta.templates_dir)))
    assert again == samples
    assert not any("comes_from_elsewhere" in contradictions(one, meta) for one in samples)
    other = replace(meta, seed=meta.seed + 1)
    assert any("comes_from_elsewhere" in contradictions(one, other) for one in samples)


def test_part_of_a_pool_is_measured_like_balanced_pools(tmp_path: Path) -> None:
    pool, part = tmp_path / "pool.jsonl", tmp_path / "scale" / "10.jsonl"
    part.parent.mkdir()
    build_pool(replace(PLAN, n=30), pool)
    samples = list(read_records(pool, Sample))
    write_part(samples[:10], part, pool)
    meta = read_meta(part)
    assert (meta.kind, meta.n, meta.sha256) == ("balanced", 10, sha256_file(part))
    assert parent_of(part, meta).samefile(pool)
    write_part(samples[:5], tmp_path / "5.jsonl", part)  # of a part of it
    assert parent_of(tmp_path / "5.jsonl", read_meta(tmp_path / "5.jsonl")).samefile(pool)
