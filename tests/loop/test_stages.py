"""A stage runs again if its inputs, arguments or outputs changed, and only then."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from src.config.profile import NAMES, load_profile
from src.core.errors import BadInput
from src.core.files import CHECKSUM_OF, checksum_path, write_checksums
from src.loop.stage import Stage, State, fingerprints


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A finished stage that read a file and a folder, wrote a file and appended to a ledger."""
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_text("one\n")
    Path("pack").mkdir()
    Path("pack/a.json").write_text("{}")
    Path("out.json").write_text("made")
    Path("ledger.jsonl").write_text("line 1\n")
    return Stage(
        "one", "One", "一", ("-m", "one"), (Path("in.jsonl"), Path("pack")), (Path("out.json"),),
        appends=(Path("ledger.jsonl"),),
    )  # fmt: skip


def done(stage: Stage, code: int = 0) -> State:
    state = State(Path("state.json"))
    state.begin(stage)
    state.end(stage, code)
    return State(Path("state.json"))


def test_a_stage_that_never_ran_runs(stage: Stage) -> None:
    assert State(Path("state.json")).why_not_valid(stage) == "not done yet"


@pytest.mark.parametrize("code", [0, 1])
def test_a_verdict_holds_while_nothing_changes(stage: Stage, code: int) -> None:
    """This includes a red verdict: measuring the same files again would give the same result."""
    assert done(stage, code).why_not_valid(stage) == ""


@pytest.mark.parametrize(("code", "again"), [(0, False), (1, True)])
def test_a_red_verdict_of_other_code_is_measured_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, code: int, again: bool
) -> None:
    """A gate that was mended may pass now. What passed stays: the trainer compares the code itself."""
    state = done(stage, code)
    monkeypatch.setattr("src.loop.stage.code_sha256", lambda: "0" * 64)
    assert ("AskGate's code has changed" in state.why_not_valid(stage)) == again


def test_stages_of_the_installed_command_are_valid_in_a_checkout(stage: Stage) -> None:
    installed, checkout = (replace(stage, command=("-m", f"{name}.cli", "kpi")) for name in ("askgate", "src"))
    assert done(installed).why_not_valid(checkout) == ""
    assert "arguments" in done(installed).why_not_valid(replace(checkout, command=("-m", "src.cli", "sync")))


def test_a_refused_stage_runs_again(stage: Stage) -> None:
    assert "refused" in done(stage, 2).why_not_valid(stage)


@pytest.mark.parametrize("path", ["in.jsonl", "pack/a.json", "out.json", "ledger.jsonl"])
def test_a_changed_byte_makes_a_stage_run_again(stage: Stage, path: str) -> None:
    state = done(stage)
    Path(path).write_bytes(Path(path).read_bytes()[:-1] + b"!")
    assert path.split("/")[0] in state.why_not_valid(stage)


@pytest.mark.parametrize("path", ["in.jsonl", "out.json", "ledger.jsonl"])
def test_a_lost_file_makes_a_stage_run_again(stage: Stage, path: str) -> None:
    state = done(stage)
    Path(path).unlink()
    assert state.why_not_valid(stage) == f"{path} is missing"


def test_other_arguments_make_a_stage_run_again(stage: Stage) -> None:
    assert "arguments" in done(stage).why_not_valid(replace(stage, command=("-m", "one", "--n", "2")))


def test_a_ledger_may_grow(stage: Stage) -> None:
    state = done(stage)
    with open("ledger.jsonl", "a") as ledger:
        ledger.write("line 2\n")
    assert state.why_not_valid(stage) == ""


def test_an_interrupted_stage_is_not_valid(stage: Stage) -> None:
    State(Path("state.json")).begin(stage)
    assert "interrupted" in State(Path("state.json")).why_not_valid(stage)


def test_an_output_that_was_never_written_may_be_missing(stage: Stage) -> None:
    """A round writes one of two files."""
    either = replace(stage, outputs=(Path("out.json"), Path("other.json")))
    state = done(either)
    assert state.why_not_valid(either) == ""
    Path("other.json").write_text("planted")
    assert state.why_not_valid(either) == "other.json changed"


def test_a_record_that_cannot_be_read_is_refused(stage: Stage) -> None:
    Path("state.json").write_text("{")
    with pytest.raises(BadInput, match="remove it"):
        State(Path("state.json"))


def test_a_folder_is_compared_by_names_and_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    before = fingerprints([tmp_path])
    (tmp_path / "a").rename(tmp_path / "b")
    assert fingerprints([tmp_path]) != before
    assert fingerprints([tmp_path / "nothing"]) == {str(tmp_path / "nothing"): None}


def test_checksum_files_have_the_format_of_sha256sum(stage: Stage) -> None:
    Path("data").mkdir()
    Path("data/rc1_seed.balanced.jsonl").write_text("")
    assert write_checksums([Path("data/rc1_seed.balanced.jsonl"), Path("out.json")]) == [
        Path("reports/rc1/rc1_seed.balanced.sha256")
    ]
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    text = Path("reports/rc1/rc1_seed.balanced.sha256").read_text()
    assert text == f"{empty}  data/rc1_seed.balanced.jsonl\n"


def test_checksum_files_of_a_profile_have_different_names(stage: Stage) -> None:
    for name in NAMES:
        files = [path for _, path in load_profile(name).paths if path] + [Path(f"configs/gates/{name}.yaml")]
        kept = {path for path in files if path.parts[0] in CHECKSUM_OF}
        assert len({checksum_path(path) for path in kept}) == len(kept)


def test_reports_have_checksums_and_missing_files_have_none(stage: Stage) -> None:
    report, page, ticket = (Path(f"reports/{name}") for name in ("ppo_eval_x.json", "ppo_eval_x.html", "ticket.json"))
    report.parent.mkdir()
    for path in (report, page, ticket):
        path.write_text(path.name)
    sums = [Path("reports/rc1/ppo_eval_x.sha256"), Path("reports/rc1/ticket.sha256")]
    assert write_checksums([report, page, ticket]) == sums
    assert sums[0].read_text().split()[1] == report.as_posix()
    ticket.unlink()
    assert write_checksums([report, page, ticket]) == sums[:1]
    assert not sums[1].exists()
