"""Bad input gives one message with file, line or flag and remedy, and exit code 2; old outputs stay."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from src.core.errors import BadInput
from src.core.files import sidecar
from src.data.pool.build import reference_samples
from src.data.quality.validate_pool import validate_pool
from tests.conftest import Askgate, Outcome
from tests.rc1 import POOL_LIMITS

ROOT = Path(__file__).resolve().parents[2]
AT = 3
"""The line that is spoilt."""


def broken_json(lines: list[bytes]) -> None:
    lines[AT - 1] = lines[AT - 1][:40] + b"\n"


def invalid_utf8(lines: list[bytes]) -> None:
    lines[AT - 1] = lines[AT - 1].replace(b'"id":"', b'"id":"\xff\xfe', 1)


def ten_megabytes(lines: list[bytes]) -> None:
    lines[AT - 1] = lines[AT - 1].replace(b'"id":"', b'"id":"' + b"x" * (10 * 2**20), 1)


def unknown_field(lines: list[bytes]) -> None:
    lines[AT - 1] = lines[AT - 1].replace(b"{", b'{"surprise":1,', 1)


def duplicate_id(lines: list[bytes]) -> None:
    first, later = json.loads(lines[0]), json.loads(lines[AT - 1])
    lines[AT - 1] = json.dumps(later | {"id": first["id"]}).encode() + b"\n"


FAULTS = {
    broken_json: "not valid JSON",
    invalid_utf8: "UTF-8",
    ten_megabytes: "4 MB",
    unknown_field: "surprise",
    duplicate_id: "twice",
}
Fault = Callable[[list[bytes]], None]


def spoilt(pool: Path, fault: Fault, folder: Path) -> Path:
    """A copy with one bad line. The sidecar stays unchanged, as on a user's disk."""
    copy = folder / pool.name
    lines = pool.read_bytes().splitlines(keepends=True)
    fault(lines)
    copy.write_bytes(b"".join(lines))
    shutil.copy(sidecar(pool), sidecar(copy))
    return copy


def assert_refused(outcome: Outcome, *said: str) -> None:
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert outcome.err.startswith("askgate: ")
    assert outcome.err.count("\n") == 1
    assert "What to do: " in outcome.err
    for words in said:
        assert words in outcome.err


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """An output of an earlier run with its sidecar, in its own folder."""
    out = tmp_path / "out" / "result.jsonl"
    out.parent.mkdir()
    out.write_bytes(b"old\n")
    sidecar(out).write_bytes(b"old facts\n")
    return out


def assert_untouched(out: Path) -> None:
    assert out.read_bytes() == b"old\n"
    assert sidecar(out).read_bytes() == b"old facts\n"
    assert sorted(out.parent.iterdir()) == sorted([out, sidecar(out)])


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
@pytest.mark.parametrize("verb", ["diversity_report", "difficulty_metrics"])
def test_a_spoilt_pool_is_refused_with_its_line(
    verb: str, fault: Fault, askgate: Askgate, small_pool: Path, tmp_path: Path, old: Path
) -> None:
    pool = spoilt(small_pool, fault, tmp_path)
    named = ["--in", pool] if verb == "difficulty_metrics" else [pool]
    assert_refused(askgate(verb, *named, "--out", old), f"{pool}:{AT}: ", FAULTS[fault])
    assert_untouched(old)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_validation_refuses_a_spoilt_pool_and_a_spoilt_shadow_set(
    fault: Fault, askgate: Askgate, small_pool: Path, small_shadow: Path, tmp_path: Path
) -> None:
    pool, shadow = spoilt(small_pool, fault, tmp_path), spoilt(small_shadow, fault, tmp_path)
    assert_refused(askgate("validate_pool", pool, "--leak_check", small_shadow), f"{pool}:{AT}: ", FAULTS[fault])
    assert_refused(askgate("validate_pool", small_pool, "--leak_check", shadow), f"{shadow}:{AT}: ", FAULTS[fault])


@pytest.fixture
def metrics(askgate: Askgate, small_pool: Path, tmp_path: Path) -> Path:
    pool = tmp_path / "pool.jsonl"
    shutil.copy(small_pool, pool)
    shutil.copy(sidecar(small_pool), sidecar(pool))
    measured = tmp_path / "pool.metrics.jsonl"
    assert askgate("difficulty_metrics", "--in", pool, "--out", measured).code == 0
    return measured


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_spoilt_metrics_are_refused_with_their_line(
    fault: Fault, askgate: Askgate, metrics: Path, tmp_path: Path, old: Path
) -> None:
    (tmp_path / "spoilt").mkdir()
    bad = spoilt(metrics, fault, tmp_path / "spoilt")
    shutil.copy(bad, metrics)
    assert_refused(
        askgate("difficulty_bucketize", "--metrics", metrics, "--out", old), f"{metrics}:{AT}: ", FAULTS[fault]
    )
    assert_untouched(old)


def test_the_flag_of_missing_held_out_samples_is_named(small_pool: Path, askgate: Askgate) -> None:
    assert_refused(
        askgate("validate_pool", small_pool, "--leak_check", "none.jsonl"), "--leak-check none.jsonl: no such file"
    )


def test_samples_prints_demonstrations_of_a_pool(small_pool: Path, askgate: Askgate) -> None:
    done = askgate("samples", small_pool, "--n", "2", "--need-ask")
    assert done.code == 0, done.err
    assert done.out.count("missing: ") == done.out.count("gold answer: ") == done.out.count("asks ") == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["diversity_report", "none.jsonl"],
        ["validate_pool", "none.jsonl", "--leak_check", "none.jsonl"],
        ["difficulty_metrics", "--in", "none.jsonl", "--out", "out.jsonl"],
        ["difficulty_bucketize", "--metrics", "none.jsonl", "--out", "out.jsonl"],
        ["validate_difficulty", "--metrics", "none.jsonl", "--balanced", "none.jsonl", "--out", "out.json"],
        ["build_rollout_pool", "--n", "10", "--templates_dir", "none", "--out", "out.jsonl"],
        ["build_rollout_pool", "--n", "10", "--source", "dir", "--data_dir", "none", "--out", "out.jsonl"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_missing_file_is_named_and_nothing_is_written(
    arguments: list[str], askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(askgate(*arguments), "none")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--mix", "hotpotqa:0.45,strategyqa:0.30,gsm8k:0.20"], "--mix: the shares sum to 0.95"),
        (["--mix", "hotpotqa:0.5,triviaqa:0.5"], "--mix: 'triviaqa' is not known"),
        (["--tools", "wiki,shell"], "--tools: 'shell' is not known"),
        (["--lang", "fr"], "--lang: 'fr' is not known"),
        (["--source", "dir"], "--data-dir"),
    ],
)
def test_impossible_flag_values_are_named(flags: list[str], said: str, askgate: Askgate, old: Path) -> None:
    assert_refused(askgate("build_rollout_pool", "--n", "10", "--out", old, *flags), said)
    assert_untouched(old)


@pytest.mark.parametrize(
    "flags",
    [
        ["--n", "0"],
        ["--n", "-5"],
        ["--n", "many"],
        ["--clarify_rate", "1.5"],
        ["--max_turns", "4"],
        ["--tool_hops", "0"],
        ["--ops_numeric", "0"],
        ["--tool_hops", "9"],
        ["--what"],
    ],
)
def test_a_usage_error_names_its_flag(flags: list[str], askgate: Askgate, old: Path) -> None:
    outcome = askgate("build_rollout_pool", "--out", old, *flags)
    assert outcome.code == 2
    assert outcome.out == ""
    assert flags[0].replace("_", "-") in outcome.err.splitlines()[-1]
    assert_untouched(old)


def test_an_unknown_verb_is_a_usage_error(askgate: Askgate) -> None:
    outcome = askgate("validate_pond")
    assert outcome.code == 2
    assert "validate_pond" in outcome.err


def test_unknown_tasks_and_targets_are_named(askgate: Askgate, small_pool: Path, metrics: Path, old: Path) -> None:
    assert_refused(
        askgate("validate_pool", small_pool, "--by_task", "hotpotqa,squad"), "--by-task: 'squad' is not known"
    )
    target = ["--target", "easy:0.5,medium:0.5,hard:0.5"]
    assert_refused(
        askgate("difficulty_bucketize", "--metrics", metrics, "--out", old, *target), "--target: the shares sum"
    )
    assert_untouched(old)


def test_an_incomplete_template_is_named_with_file_and_field(askgate: Askgate, tmp_path: Path, old: Path) -> None:
    pack = tmp_path / "pack"
    shutil.copytree(ROOT / "templates" / "pack_v2", pack)
    templates = json.loads((pack / "gsm8k.json").read_text(encoding="utf-8"))
    del templates[1]["role"]
    (pack / "gsm8k.json").write_text(json.dumps(templates), encoding="utf-8")
    outcome = askgate("build_rollout_pool", "--n", "10", "--templates_dir", pack, "--out", old)
    assert_refused(outcome, str(pack / "gsm8k.json"), templates[1]["id"], "role")
    assert_untouched(old)


def test_a_pool_without_its_sidecar_is_refused(askgate: Askgate, small_pool: Path, tmp_path: Path, old: Path) -> None:
    alone = tmp_path / "alone.jsonl"
    shutil.copy(small_pool, alone)
    assert_refused(askgate("difficulty_metrics", "--in", alone, "--out", old), str(sidecar(alone)))
    assert_untouched(old)


def test_a_folder_is_not_an_output(askgate: Askgate, tmp_path: Path) -> None:
    assert_refused(askgate("build_rollout_pool", "--n", "10", "--out", tmp_path), str(tmp_path))


@pytest.mark.parametrize(
    "arguments",
    [
        ["validate_difficulty", "--min_hard_pct", "30"],
        ["validate_difficulty", "--max_easy_pct", "30"],
        ["validate_difficulty", "--clue_overlap_max_easy", "30"],
        ["validate_difficulty", "--clue_overlap_min_hard", "30"],
        ["validate_pool", "--min_distinct2", "30"],
    ],
    ids=lambda arguments: arguments[1],
)
def test_a_percentage_in_place_of_a_share_is_refused(arguments: list[str], askgate: Askgate) -> None:
    """With `--max_easy_pct 30` a pool of only easy samples would pass."""
    assert_refused(askgate(*arguments), arguments[1].replace("_", "-"), "write 0.30")


def test_a_similarity_given_as_a_percentage_lets_no_leak_pass(small_pool: Path, small_shadow: Path) -> None:
    with pytest.raises(BadInput, match=r"--leak-sim: 85 is not a share from 0 to 1.*write 0\.85"):
        validate_pool(
            small_pool,
            POOL_LIMITS.model_copy(update={"leak_sim": 85}),
            leak_check=small_shadow,
            by_task=("gsm8k",),
            reference=reference_samples,
            out=small_pool.with_name("report.json"),
        )


def test_a_full_disk_gives_one_line_and_no_file(tmp_path: Path) -> None:
    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    command = [
        sys.executable,
        "-m",
        "src.cli",
        "build_rollout_pool",
        "--n",
        "60",
        "--out",
        str(tmp_path / "pool.jsonl"),
    ]
    done = subprocess.run(command, cwd=ROOT, preexec_fn=little_room, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert "What to do: free some space on that disk" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
