"""`askgate verify` names the first file that does not match; `--deep` also detects evidence rewritten as a whole."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from src.checkpoint.seal import seal
from src.cli import main
from src.core.check import now
from src.core.errors import BadInput
from src.core.files import sha256_file, write_json
from src.core.jsonl import read_records, write_records
from src.gates.admission import admit
from src.gates.manifest import Manifest
from src.gates.ticket import ROUND1, TICKET, Round, read_round
from src.gates.verify import verify
from src.reward.recorded_episodes import RecordedEpisode
from src.training.run import run_gated

CONFIG = Path("configs/quickstart_gated.yaml")


def verify_messages(deep: bool = False) -> list[str]:
    lines: list[str] = []
    verify(deep, lines.append)
    return lines


def test_the_honest_run_is_verified(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["verify"])
    assert left.value.code == 0
    assert "VERIFIED: round1, round2" in capsys.readouterr().out


def test_verify_changes_no_file(run: Path) -> None:
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    verify_messages()
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "path",
    [
        "reports/preflight/round1/pool_report.json",
        "reports/preflight/round2/fresh_scores.jsonl",
        "reports/preflight/round2/judge/scores.jsonl",
        "configs/weights.json",
    ],
)
def test_a_changed_artifact_is_named(run: Path, path: str) -> None:
    with open(path, "ab") as handle:
        handle.write(b" ")
    with pytest.raises(BadInput, match=f"{path}: has changed since it was recorded"):
        verify_messages()


def test_a_deleted_artifact_is_named(run: Path) -> None:
    Path("data/quickstart_shadow.meta.json").unlink()
    with pytest.raises(BadInput, match=r"quickstart_shadow\.meta\.json: cannot be read"):
        verify_messages()


def test_a_restored_withdrawn_ticket_is_named(run: Path) -> None:
    old = TICKET.read_bytes()
    TICKET.unlink()
    Manifest().withdraw(TICKET)
    TICKET.write_bytes(old)
    with pytest.raises(BadInput, match="was withdrawn, and is back"):
        verify_messages()
    with pytest.raises(BadInput, match="or it was withdrawn"):
        admit(CONFIG)


def test_a_removed_run_is_said_a_damaged_one_refused(run: Path) -> None:
    """Whoever needs the space removes the folder of an earlier run. A single file of it is another matter."""
    folder = Path("runs/20260101T000000000Z-ab12")
    results = [folder / "logs/eval/key.json", folder / "reports/ppo_eval_1.json"]
    for path in results:
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    Manifest().record(results)
    results[0].unlink()
    with pytest.raises(BadInput, match=r"key\.json: cannot be read"):
        verify_messages()
    shutil.rmtree(folder)
    assert f"{folder}: this run was removed, so nothing is verified about it" in verify_messages()


def test_new_rounds_are_verified_while_the_old_model_is_there(run: Path) -> None:
    """Otherwise nobody could sign a new ticket before the next training."""
    earlier = sha256_file(TICKET)
    write_json(TICKET, replace(read_round(TICKET), version="the next"))
    Manifest().record([TICKET])
    model = Path("checkpoints/rc1/final_model")
    model.mkdir(parents=True)
    seal(model, 1, {"gated": True, "ticket": earlier})
    assert any("trained with an earlier ticket" in line for line in verify_messages())
    shutil.rmtree(model)
    model.mkdir()
    seal(model, 1, {"gated": True, "ticket": "0" * 64})
    with pytest.raises(BadInput, match="was not trained with the ticket"):
        verify_messages()


def rewritten(change: object) -> None:
    """Replaces findings in ticket and round 1, and makes manifest and checksums fit."""
    manifest = Path("reports/rc1/manifest.jsonl")
    first, second = read_round(ROUND1), read_round(TICKET)
    manifest.unlink()
    book = Manifest()
    book.begin()
    first = change(replace(first, run=book.run, after=book.head, ts=now()))  # type: ignore[operator]
    write_json(ROUND1, first)
    again = {str(ROUND1): sha256_file(ROUND1)}
    findings = [replace(one, evidence=again) if one.gate == "round1" else one for one in second.findings]
    second = replace(second, run=book.run, after=book.head, ts=now())
    second = change(replace(second, round1_sha256=sha256_file(ROUND1), findings=findings))  # type: ignore[operator]
    write_json(TICKET, second)
    paths = {path for report in (first, second) for one in report.findings for path in one.evidence}
    book.record([*map(Path, sorted(paths)), TICKET])
    for report in (first, second):
        book.record_ledger(Path("reports/rc1/quickstart_scoring_ledger.jsonl"), report.ledger.hash, report.ledger.lines)


def test_deep_verify_detects_evidence_rewritten_as_a_whole(run: Path) -> None:
    """Both reports have a better Spearman; manifest, checksums and ticket were made to agree."""

    def better(report: Round) -> Round:
        findings = [replace(one, value=0.99) if one.name == "spearman" else one for one in report.findings]
        return replace(report, findings=findings)

    rewritten(better)
    verify_messages()
    admit(CONFIG)  # As the docs say: without a signature a plain look cannot tell.
    with pytest.raises(BadInput, match=r"shadow: spearman says 0\.99"):
        verify_messages(deep=True)
    with pytest.raises(BadInput, match=r"shadow: spearman says 0\.99"):
        run_gated(CONFIG, None)
    assert not Path("runs").exists()


def test_deep_verify_detects_a_removed_check(run: Path) -> None:
    rewritten(lambda report: replace(report, findings=[one for one in report.findings if one.name != "spearman"]))
    verify_messages()
    with pytest.raises(BadInput, match="shadow: spearman says nothing"):
        verify_messages(deep=True)


def test_the_honest_run_passes_deep_verify(run: Path) -> None:
    assert any("round2: every gate measured again" in line for line in verify_messages(deep=True))


def test_deep_verify_detects_exchanged_evidence_with_fitting_checksums(run: Path) -> None:
    path = Path("data/episodes/quickstart_shadow.jsonl")
    episodes = list(read_records(path, RecordedEpisode))
    with open(path, "wb") as handle:
        write_records(handle, [replace(one, model="0" * 64) for one in episodes])
    fits = {str(path): sha256_file(path)}

    def renamed(report: Round) -> Round:
        findings = [
            replace(one, evidence={name: fits.get(name, digest) for name, digest in one.evidence.items()})
            for one in report.findings
        ]
        return replace(report, findings=findings)

    rewritten(renamed)
    verify_messages()
    with pytest.raises(BadInput, match="shadow: episodes_of_another_model"):
        verify_messages(deep=True)


def test_a_report_reads_as_json(run: Path) -> None:
    found = msgspec.json.decode(TICKET.read_bytes())
    assert found["round"] == "round2"
    assert found["pass"] is True
    assert set(found["files"]) >= {"pool", "metrics", "balanced", "shadow_set", "weights", "config", "templates"}
    assert found["ledger"]["lines"] > 0
    for one in found["findings"]:
        assert {"value", "threshold", "passed", "evidence", "remedy", "remedy_zh"} <= set(one)
