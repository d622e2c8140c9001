"""Mistakes and attacks around a round: no passed round is withdrawn for one that cannot pass."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from msgspec.structs import replace

from src.config.loader import load_train_config, read_yaml
from src.config.profile import load_profile
from src.core.errors import BadInput
from src.core.files import read_json, sha256_file, write_json
from src.gates.admission import admit
from src.gates.gate import PREFLIGHT, Finding, measure
from src.gates.manifest import MANIFEST, START, Manifest
from src.gates.readmit import readmit
from src.gates.rounds import FILE_GATES, run_round
from src.gates.ticket import ENVELOPE, ROUND1, TICKET, Fingerprints, Round, read_round, verify_judge, verify_report
from src.gates.verify import verify
from src.pages.rc1_report import gather, rc1_page
from src.training import results
from tests.gates.run_folder import current_context, edit_profile, judging
from tests.release.packing import silent, trained
from tests.scoring.server import JudgeServer

CONFIG = Path("configs/quickstart_gated.yaml")
JUDGE = {
    "RUN_MODE": "prod",
    "REWARD_LIVE_MODE": "1",
    "SCORER_PROVIDER": "custom",
    "SCORER_BASE_URL": "http://127.0.0.1:9/v1",
}


def assert_refused(number: int, profile: str, environment: dict[str, str], why: str) -> None:
    """The round is refused, and nothing of the rounds that passed is lost."""
    with pytest.raises(BadInput, match=why):
        run_round(number, profile, environment, silent, lambda progress: None)
    assert [one.passed for one in verify(False, silent)] == [True, True]


def test_thresholds_lowered_for_one_evaluation_are_refused(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained()
    monkeypatch.setattr(results, "require_same_settings", lambda *given: None)  # nobody evaluated here
    edit_profile(lambda found: found["thresholds"].update(need_ask_pp_min=-100.0))
    with pytest.raises(BadInput, match="has changed since") as caught:
        results.evaluate(load_train_config(CONFIG), "again")
    assert caught.value.where == "configs/gates/quickstart.yaml"


def invent_gain(path: Path) -> None:
    found = read_json(path, "")
    found["figures"]["rank_corr_gain_pct"] = found["checks"][0]["value"] = 88.8
    write_json(path, found)


def test_the_report_shows_the_rounds_figures_not_the_stages(run: Path) -> None:
    profile = load_profile("quickstart")
    before = gather(profile, None, [], [])
    assert before.calibration
    assert before.shadow_points
    assert all((before.shadow, before.ablation, before.pool, before.difficulty))
    rc1_page(before)
    invent_gain(profile.paths.calibration_report)
    assert gather(profile, None, [], []).calibration == before.calibration


def test_invented_figures_of_a_round_are_named_by_deep(run: Path) -> None:
    """The ticket has the file's SHA-256; where that is forged too, the figures are measured again."""
    file = PREFLIGHT / "round2/calibration_report.json"
    invent_gain(file)
    Manifest().record([file])
    with pytest.raises(BadInput, match=r"has changed since round2_pass\.json was written"):
        verify(False, silent)
    forge_ticket(measured=read_round(TICKET).measured | {str(file): sha256_file(file)})
    verify(False, silent)
    with pytest.raises(BadInput, match="calibration: its figures are not what the evidence gives"):
        verify(True, silent)


def test_missing_figures_of_a_round_are_named_by_deep(run: Path) -> None:
    """The forger also takes them out of the ticket, and writes into the manifest that they were withdrawn."""
    file = PREFLIGHT / "round2/ablation_report.json"
    file.unlink()
    Manifest().withdraw(file)
    forge_ticket(measured={name: digest for name, digest in read_round(TICKET).measured.items() if name != str(file)})
    verify(False, silent)
    with pytest.raises(BadInput, match="ablation: its figures are not what the evidence gives"):
        verify(True, silent)


@pytest.mark.parametrize("number", [1, 2])
def test_a_round_of_another_profile_leaves_the_ticket(run: Path, number: int) -> None:
    assert_refused(number, "rc1", JUDGE, "would withdraw it.*--replace quickstart")
    assert admit(CONFIG).profile == "quickstart"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"REWARD_LIVE_MODE": "0"}, "set REWARD_LIVE_MODE=1"),
        ({"RUN_MODE": ""}, "set RUN_MODE=prod"),
        ({"SCORER_PROVIDER": "another", "SCORER_MODEL": "tiny"}, "last score is by custom, and the judge is another"),
    ],
)
def test_a_round_in_a_wrong_environment_leaves_the_ticket(run: Path, change: dict[str, str], why: str) -> None:
    assert_refused(2, "quickstart", JUDGE | change, why)


def forge_ticket(**changes: Any) -> None:
    """The ticket with other contents; the forger also appends to the manifest."""
    write_json(TICKET, replace(read_round(TICKET), **changes))
    Manifest().record([TICKET])


def verified() -> Round:
    found = verify_report(TICKET, Manifest(), Fingerprints())
    verify_judge(load_profile("quickstart").paths.ledger, found)
    return found


def test_an_honest_ticket_holds_where_more_was_recorded_since(run: Path) -> None:
    forge_ticket(environment=read_round(TICKET).environment | {"SCORER_MODEL": "tiny"})  # the judge's true name
    Path("notes.jsonl").write_text("")
    Manifest().record([Path("notes.jsonl")])
    assert verified().passed


def invented(gate: str, name: str) -> list[Finding]:
    return [*read_round(TICKET).findings, Finding(gate, name, 99.0, ">=", 5.0, True, "", "", {})]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (lambda: {"findings": invented("disk", "humans_agree_pct")}, "humans_agree_pct is no check of a round"),
        (lambda: {"findings": invented("audit", "passed")}, "audit: passed is no check of a round"),
        (lambda: {"findings": invented("calibration", "rank_corr_gain_pct")}, "rank_corr_gain_pct is there 2 times"),
        (
            lambda: {"ts": "2025-01-01T00:00:00+00:00", "started": "2025-01-01T00:00:00+00:00"},
            "was not written at 2025",
        ),
        (lambda: {"after": "0" * 64}, "after the line of .* that it names"),
        (lambda: {"environment": {"SCORER_MODEL": "gpt-5.2-pro"}}, "SCORER_MODEL=gpt-5.2-pro, and the last score"),
        (lambda: {"environment": {"SCORER_PROVIDER": "openai"}}, "SCORER_PROVIDER=openai, and the last score"),
        (lambda: {"environment": {"RUN_MODE": "prod, audited"}}, "passed with RUN_MODE=prod, audited"),
    ],
    ids=[
        "row of the disk",
        "another gate",
        "row twice",
        "time",
        "no such line",
        "model",
        "provider",
        "mode",
    ],
)
def test_a_forged_ticket_is_refused(run: Path, changes: Callable[[], dict[str, Any]], why: str) -> None:
    forge_ticket(**changes())
    with pytest.raises(BadInput, match=why):
        verified()


def test_a_ticket_with_a_value_twice_is_refused(run: Path) -> None:
    TICKET.write_bytes(TICKET.read_bytes().replace(b"{", b'{\n  "profile": "rc1",', 1))
    Manifest().record([TICKET])
    with pytest.raises(BadInput, match="is not written as a round writes it"):
        verified()


def test_a_manifest_line_with_a_value_twice_is_refused(run: Path) -> None:
    """The chain is made anew from there on."""
    lines = MANIFEST.read_bytes().splitlines()
    lines[-1] = lines[-1].replace(b"{", b'{"at":"2020-01-01T00:00:00+00:00",', 1)
    MANIFEST.write_bytes(b"".join(line + b"\n" for line in lines))
    with pytest.raises(BadInput, match="is not written as AskGate writes it") as caught:
        verify(False, silent)
    assert caught.value.where == f"{MANIFEST}:{len(lines)}"


@pytest.mark.parametrize("how", ["removed", "another one"])
def test_a_ticket_without_its_first_round_is_refused(run: Path, how: str) -> None:
    """The forger also writes into the manifest that the report was withdrawn, or is this one, and takes the SHA-256 of
    the report out of the checks of the ticket."""
    findings = read_round(TICKET).findings
    forge_ticket(findings=[replace(one, evidence={}) if one.gate == "round1" else one for one in findings])
    if how == "removed":
        Manifest().withdraw(ROUND1)
        ROUND1.unlink()
    else:
        write_json(ROUND1, replace(read_round(ROUND1), commit="audited"))
        Manifest().record([ROUND1])
    with pytest.raises(BadInput, match="is not the first round that the ticket is based on"):
        verify(False, silent)


@pytest.mark.parametrize(
    ("name", "gate"),
    [
        ("data/episodes/quickstart_calibration.scores.jsonl", "calibration"),
        ("data/episodes/quickstart_shadow.jsonl", "shadow"),
        ("data/quickstart_shadow.meta.json", "shadow"),
        ("data/rollouts/quickstart.metrics.jsonl", "difficulty"),
        ("configs/weights.json", "weights"),
    ],
)
def test_evidence_with_a_key_twice_is_refused(run: Path, name: str, gate: str) -> None:
    """The last value counts, and a reader sees the first."""
    text = Path(name).read_text(encoding="utf-8")
    first = next(iter(msgspec.json.decode(text.splitlines()[0] if name.endswith("l") else text)))
    Path(name).write_text(text.replace("{", f'{{"{first}": "99%",', 1), encoding="utf-8")
    found = measure({gate: FILE_GATES[gate]}, current_context())
    assert [one.name for one in found if not one.passed] == ["measured"]
    assert f"has the key '{first}' twice" in found[-1].remedy


def test_a_manifest_with_lines_removed_before_the_rounds_is_refused(run: Path) -> None:
    """The chain is made anew, so it holds; the rounds name a line that is no longer there."""
    head, kept = START, []
    for entry in [one for one in Manifest().entries if one.path != "data/episodes/quickstart_shadow.meta.json"]:
        kept.append(msgspec.json.encode(replace(entry, before=head)))
        head = sha256(kept[-1]).hexdigest()
    MANIFEST.write_bytes(b"".join(line + b"\n" for line in kept))
    with pytest.raises(BadInput, match=r"after the line of .* that it names"):
        verified()


def test_a_round_whose_judge_refuses_the_key_leaves_the_ticket(run: Path) -> None:
    with JudgeServer(lambda n: "401") as server:
        assert_refused(1, "quickstart", JUDGE | {"SCORER_BASE_URL": server.url}, "401")
    assert admit(CONFIG).profile == "quickstart"


def test_a_second_round_without_its_first_leaves_the_ticket(run: Path) -> None:
    kept = ROUND1.read_bytes()
    ROUND1.unlink()
    with pytest.raises(BadInput, match=r"the round cannot pass.*no report of round 1"):
        run_round(2, "quickstart", JUDGE, silent, lambda progress: None)
    ROUND1.write_bytes(kept)
    assert admit(CONFIG).profile == "quickstart"


def test_a_round_without_its_files_leaves_the_ticket(run: Path) -> None:
    Path("data/rollouts/quickstart.jsonl").rename("elsewhere.jsonl")
    with pytest.raises(BadInput, match="no such file, so the round cannot pass"):
        run_round(1, "quickstart", JUDGE, silent, lambda progress: None)
    Path("elsewhere.jsonl").rename("data/rollouts/quickstart.jsonl")
    assert admit(CONFIG).profile == "quickstart"


@pytest.mark.parametrize("number", [1, 2])
def test_a_round_leaves_the_ticket_of_a_trained_run(run: Path, number: int) -> None:
    trained()
    assert_refused(
        number,
        "quickstart",
        JUDGE,
        r"would withdraw it, but these depend on it: runs/.*/final_model\..*--replace quickstart",
    )
    told: list[str] = []
    with judging() as environment:
        run_round(number, "quickstart", environment, told.append, lambda progress: None, replaces="quickstart")
    withdrawn = [ROUND1, TICKET][number - 1 :]
    assert f"withdrawn: {', '.join(map(str, withdrawn))}" in told


@pytest.mark.parametrize("name", [ENVELOPE.name, "amber_judge_weight.json", "amber_judge_weight.2.json"])
def test_a_round_leaves_a_ticket_with_sign_offs(run: Path, name: str) -> None:
    signed = PREFLIGHT / name
    signed.write_text("{}")
    assert_refused(1, "quickstart", JUDGE, f"would withdraw it, but these depend on it: {signed}")
    assert signed.exists()


def test_an_unreadable_ticket_does_not_block_the_rounds(run: Path) -> None:
    TICKET.write_text("{}")
    with judging() as environment:
        report, path = run_round(1, "quickstart", environment, silent, lambda progress: None)
    assert report.passed
    assert path == ROUND1
    assert not TICKET.exists()


def test_a_replaced_profile_leaves_nothing_that_verify_misses(run: Path) -> None:
    """A quickstart gives way to rc1 in the same folder: its sign-offs are withdrawn with its reports."""
    signed = PREFLIGHT / "amber_canaries_fooled.json"
    signed.write_text("{}")
    Manifest().record([signed])
    own = read_yaml(Path("configs/gates/quickstart.yaml"))
    Path("configs/gates/rc1.yaml").write_text(yaml.safe_dump({**own, "name": "rc1"}), encoding="utf-8")
    with judging() as environment:
        run_round(1, "rc1", environment, silent, lambda progress: None, replaces="quickstart")
    assert [one.profile for one in verify(False, silent)] == ["rc1"]
    assert not signed.exists()


NEW = "1" * 64


@pytest.fixture
def updated(run: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """AskGate's code has changed since the rounds. Returns the SHA-256 of the old code."""
    for module in ("admission", "rounds", "readmit", "verify"):
        monkeypatch.setattr(f"src.gates.{module}.code_sha256", lambda: NEW)
    return read_round(TICKET).code


def test_a_ticket_is_renewed_after_an_update_without_a_judge(updated: str) -> None:
    with pytest.raises(BadInput, match="code or templates have changed") as caught:
        admit(CONFIG)
    assert "round --readmit" in caught.value.remedy
    ledger, old = read_round(TICKET).ledger, read_round(TICKET)
    told: list[str] = []
    report, path = readmit(told.append)
    assert path == TICKET
    assert (report.code, report.earlier_code, report.ledger) == (NEW, (updated,), ledger)
    assert report.fresh_seed == old.fresh_seed
    assert {(one.gate, one.name) for one in report.findings} == {(one.gate, one.name) for one in old.findings}
    assert any(updated[:12] in line and NEW[:12] in line for line in told)
    assert admit(CONFIG).earlier_code == (updated,)
    verify(True, silent)
    with pytest.raises(BadInput, match="was issued with this very code"):
        readmit(silent)


def test_an_update_that_fails_a_gate_leaves_the_old_ticket(updated: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def other_penalty(needs: bool, asks: int) -> float:
        return 0.5 * asks

    monkeypatch.setattr("src.gates.checks.penalty.over_clarification_penalty", other_penalty)
    before = {path: path.read_bytes() for path in Path("reports").rglob("*") if path.is_file()}
    told: list[str] = []
    report, _ = readmit(told.append)
    assert [one.name for one in report.failed] == ["penalty_cases_wrong"]
    assert "round1: penalty: penalty_cases_wrong was 0.0 and is 5 (== 0)" in told
    assert {path: path.read_bytes() for path in Path("reports").rglob("*") if path.is_file()} == before


def test_a_ticket_with_edited_evidence_is_not_renewed(updated: str) -> None:
    file = Path("configs/weights.json")
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(BadInput, match="has changed since"):
        readmit(silent)


def test_a_ticket_that_results_stand_on_is_not_renewed(updated: str) -> None:
    Path("reports/ppo_eval_own.json").write_text(f'{{"ticket": "{sha256_file(TICKET)}"}}')
    with pytest.raises(BadInput, match=r"ppo_eval_own\.json was trained with it"):
        readmit(silent)


def test_a_passed_row_exempts_no_gate_from_deep_verification(run: Path) -> None:
    ticket = read_round(TICKET)
    invented = Finding("judge", "measured", 1.0, "==", 1.0, True, "", "", {})
    assert replace(ticket, findings=[*ticket.findings, invented]).unmeasured == set()
    assert replace(ticket, findings=[*ticket.findings, replace(invented, passed=False)]).unmeasured == {"judge"}
