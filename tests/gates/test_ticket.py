"""Training starts only with a ticket that fits the current files."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from src.cli import main
from src.config.loader import load_train_config
from src.core.defaults import CODE, SEED_POOL_FACTS
from src.core.errors import BadInput
from src.core.files import json_bytes, sha256_file
from src.gates import admission, manifest
from src.gates.admission import admit
from src.gates.ticket import COMMIT, ROUND1, TICKET, Fingerprints, read_commit, read_round
from tests.gates.run_folder import edit_profile
from tests.poison.table import poison, twin

CONFIG = Path("configs/quickstart_gated.yaml")
EXTENDED = Path("configs/quickstart.yaml")
Spoil = Callable[[Path], None]


def flip(path: str) -> Spoil:
    """Changes one byte in the middle of a file."""

    def spoil(run: Path) -> None:
        data = bytearray((run / path).read_bytes())
        data[len(data) // 2] ^= 1
        (run / path).write_bytes(bytes(data))

    return spoil


def rewrite(path: Path, change: Callable[[dict[str, object]], None]) -> Spoil:
    def spoil(run: Path) -> None:
        found = json.loads((run / path).read_text(encoding="utf-8"))
        change(found)
        (run / path).write_bytes(json_bytes(found))

    return spoil


def drop(path: str) -> Spoil:
    return lambda run: (run / path).unlink()


def other_lr(run: Path) -> None:
    """Changes the learning rate of the config that the config extends."""
    changed, count = re.subn(r"^lr: .*$", "lr: 9.0e-4", EXTENDED.read_text(), flags=re.MULTILINE)
    assert count == 1
    assert changed != EXTENDED.read_text()
    EXTENDED.write_text(changed)


def own_templates(run: Path) -> None:
    """Adds a template pack that replaces the one the pool was built with."""
    from tests.gates.run_folder import ROOT

    shutil.copytree(ROOT / "templates/pack_v2", run / "templates/pack_v2")
    file = next((run / "templates/pack_v2").glob("*.json"))
    file.write_text(file.read_text(encoding="utf-8") + " ", encoding="utf-8")


def handwritten(run: Path) -> None:
    """The ticket that the work order's heredoc writes."""
    TICKET.write_text(json.dumps({"round": "round2", "ts": "2025-08-20T00:00:00Z", "pass": True}), encoding="utf-8")


def cut_ledger(run: Path) -> None:
    ledger = run / "reports/rc1/quickstart_scoring_ledger.jsonl"
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:-8]))


@twin("ticket")
def test_the_honest_run_is_admitted(run: Path) -> None:
    admission = admit(CONFIG)
    assert admission.profile == "quickstart"
    files = {"seed_pool", SEED_POOL_FACTS, "shadow_set", "reward.weights"}
    assert set(admission.source_hashes) == {"config", CODE, "base_model", *files}
    assert admission.run == manifest.Manifest().run


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        pytest.param(flip("data/rollouts/quickstart.jsonl"), r"quickstart\.jsonl: has changed", id="pool"),
        pytest.param(flip("data/rollouts/quickstart.metrics.jsonl"), "has changed", id="metrics"),
        pytest.param(flip("data/rollouts/quickstart.balanced.jsonl"), r"balanced\.jsonl: has changed", id="balanced"),
        pytest.param(flip("data/rollouts/quickstart.meta.json"), r"meta\.json: has changed", id="sidecar"),
        pytest.param(flip("data/quickstart_shadow.jsonl"), "quickstart_shadow.jsonl: has changed", id="shadow set"),
        pytest.param(flip("configs/weights.json"), "weights.json: has changed", id="weights"),
        pytest.param(
            lambda run: CONFIG.write_text(CONFIG.read_text() + "lr: 0.009\n"),
            "quickstart_gated.yaml: has changed",
            id="config",
        ),
        pytest.param(other_lr, r"quickstart\.yaml: has changed", id="a config that the config extends"),
        pytest.param(own_templates, "templates/pack_v2: has changed", id="templates"),
        pytest.param(flip("model/model.safetensors"), "is not the model that the rounds measured", id="base model"),
        pytest.param(flip("reports/rc1/quickstart_scoring_ledger.jsonl"), r"scoring_ledger\.jsonl:\d+: ", id="ledger"),
        pytest.param(cut_ledger, "lines are missing at its end", id="ledger cut off"),
        pytest.param(
            rewrite(TICKET, lambda found: found.update(profile="quickstart", ts=found["started"])),
            "changed after the round wrote it",
            id="ticket",
        ),
        pytest.param(
            rewrite(ROUND1, lambda found: found.update(version="9")), r"round1\.json: has changed", id="round 1"
        ),
        pytest.param(flip("data/episodes/quickstart_shadow.jsonl"), "has changed", id="episodes"),
        pytest.param(flip("data/episodes/quickstart_calibration.scores.jsonl"), "has changed", id="scores"),
        pytest.param(flip("data/episodes/quickstart_ablation/seed_20250820/with.jsonl"), "has changed", id="ablation"),
        pytest.param(drop("data/episodes/quickstart_shadow.scores.jsonl"), "cannot be read", id="evidence deleted"),
        pytest.param(flip("reports/calibration_report_quickstart.json"), "has changed", id="a stage's report"),
        pytest.param(drop("reports/calibration_report_quickstart.json"), "cannot be read", id="report deleted"),
        pytest.param(drop("reports/preflight/round1.json"), "cannot be read", id="round 1 deleted"),
        pytest.param(drop("reports/preflight/round2_pass.json"), "there is no ticket", id="no ticket"),
        pytest.param(drop("reports/rc1/manifest.jsonl"), "there is no evidence yet", id="no manifest"),
        pytest.param(flip("reports/rc1/manifest.jsonl"), r"manifest\.jsonl:\d+: ", id="manifest"),
        pytest.param(handwritten, "no round has written this", id="handwritten ticket"),
        pytest.param(
            lambda run: edit_profile(lambda found: found["thresholds"].update(spearman_min=0.1)),
            r"configs/gates/quickstart\.yaml: has changed",
            id="thresholds lowered",
        ),
        pytest.param(
            lambda run: edit_profile(lambda found: found["thresholds"].update(spearman_min=0.1), name="rc1"),
            r"configs/gates/rc1\.yaml: has changed",
            id="thresholds lowered in the profile that is extended",
        ),
        pytest.param(
            lambda run: edit_profile(lambda found: found.update(extends="weaker.yaml")),
            r"weaker\.yaml",
            id="another profile extended",
        ),
    ],
)
@poison("ticket/refused")
def test_training_is_refused_after_any_change_with_the_reason(run: Path, spoil: Spoil, reason: str) -> None:
    spoil(run)
    with pytest.raises(BadInput, match=reason) as refused:
        admit(CONFIG)
    assert refused.value.remedy


@poison("ticket/refused")
def test_an_unmeasured_list_of_unstable_samples_is_refused(run: Path) -> None:
    """The rounds were run while the list was not there."""
    Path("unstable.jsonl").write_text("")
    config = Path("configs/later.yaml")
    config.write_text("extends: quickstart_gated.yaml\nreward: {unstable: unstable.jsonl}\n")
    with pytest.raises(BadInput, match=r"unstable\.jsonl: no round measured this list"):
        admission._trained_on(read_round(TICKET), config, Fingerprints())


@poison("ticket/refused")
def test_a_ticket_of_another_run_is_refused(run: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Files and verdicts are the same, but the manifest of this folder names another run."""
    other = TICKET.read_bytes()
    manifest.MANIFEST.unlink()
    manifest.Manifest().record([ROUND1])
    TICKET.write_bytes(other)
    with pytest.raises(BadInput, match="belongs to another run"):
        admit(CONFIG)


@poison("ticket/refused")
def test_a_quickstart_ticket_is_refused_for_rc1(run: Path) -> None:
    with pytest.raises(BadInput, match="the ticket is of profile quickstart"):
        admit(Path("configs/ppo_scale.yaml"))


@poison("ticket/refused")
def test_a_renamed_rc1_config_needs_an_rc1_ticket(run: Path) -> None:
    CONFIG.write_text(CONFIG.read_text() + "profile: rc1\n")
    with pytest.raises(BadInput, match="wants a ticket of profile rc1"):
        admit(CONFIG)


@pytest.mark.parametrize("ts", ["2999-01-01T00:00:00+00:00", "yesterday", "2025-08-20T00:00:00"])
@poison("ticket/refused")
def test_a_ticket_with_an_impossible_date_is_refused(run: Path, ts: str) -> None:
    """Its line in the manifest fits; only its own date is wrong or missing."""
    rewrite(TICKET, lambda found: found.update(ts=ts))(run)
    manifest.Manifest().record([TICKET])
    why = f"was not written at {ts} after the line of {manifest.MANIFEST} that it names"
    with pytest.raises(BadInput, match=re.escape(why)) as refused:
        admit(CONFIG)
    assert refused.value.where == str(TICKET)


@pytest.mark.parametrize("started", ["2999-01-01T00:00:00+00:00", "yesterday"])
@poison("ticket/refused")
def test_a_ticket_whose_round_ended_before_its_start_is_refused(run: Path, started: str) -> None:
    rewrite(TICKET, lambda found: found.update(started=started))(run)
    manifest.Manifest().record([TICKET])
    with pytest.raises(BadInput, match="the clock says"):
        admit(CONFIG)


@poison("ticket/refused")
def test_a_clock_that_was_set_back_is_detected(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Yesterday(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return datetime.now(UTC) - timedelta(days=1)

    monkeypatch.setattr(manifest, "datetime", Yesterday)
    with pytest.raises(BadInput, match="the clock says"):
        admit(CONFIG)


def test_the_ledger_may_grow(run: Path) -> None:
    from src.scoring.ledger import Ledger
    from src.scoring.types import RepairEntry

    Ledger(Path("reports/rc1/quickstart_scoring_ledger.jsonl")).append(
        [RepairEntry("a later line", "2025-08-20T00:00:00+00:00")]
    )
    assert admit(CONFIG).ticket_sha256 == sha256_file(TICKET)


@pytest.mark.parametrize("flags", [[], ["--resume-from", "checkpoints/rc1/latest"]])
def test_a_refused_runner_exits_with_2(run: Path, flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    flip("configs/weights.json")(run)
    with pytest.raises(SystemExit) as left:
        main(["ppo_runner", "--config", str(CONFIG), *flags])
    assert left.value.code == 2
    assert "weights.json: has changed" in capsys.readouterr().err
    assert not Path("checkpoints").exists()


@pytest.mark.parametrize("given", ["lr=1e-3", "reward.alpha=0", "watch.ask_spam=1", "eval.n=5", "seeds=[1]"])
@poison("ticket/refused")
def test_set_may_not_change_settings_of_the_ticket(run: Path, given: str) -> None:
    with pytest.raises(BadInput, match="the ticket was issued for another") as refused:
        admit(CONFIG, [given])
    assert refused.value.where == f"--set {given.partition('=')[0].partition('.')[0]}"


@pytest.mark.parametrize("given", ["checkpoint.keep=5", "device_pref=[cpu]"])
def test_set_may_change_settings_without_effect_on_results(run: Path, given: str) -> None:
    assert admit(CONFIG, [given]) == admit(CONFIG)


def test_set_may_repeat_a_setting_of_the_ticket(run: Path) -> None:
    assert admit(CONFIG, [f"lr={load_train_config(CONFIG).lr}"]) == admit(CONFIG)


def test_no_flag_skips_the_ticket(run: Path) -> None:
    from typer.main import get_command

    from src.cli.app import app

    flags = {flag for one in get_command(app).commands["ppo-runner"].params for flag in one.opts}  # type: ignore[attr-defined]
    assert flags == {"--config", "--resume-from", "--set", "--json"}


def test_a_config_exchanged_during_the_check_is_not_admitted_for(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = admit(CONFIG).source_hashes["config"]
    verify_ledger = admission.verify_ledger

    def exchange_then_verify(*given: Any) -> None:
        EXTENDED.write_text(EXTENDED.read_text() + "# exchanged\n")
        verify_ledger(*given)

    monkeypatch.setattr(admission, "verify_ledger", exchange_then_verify)
    assert admit(CONFIG).source_hashes["config"] == measured


def test_a_round_knows_the_commit_of_its_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("src.gates.ticket.HOME", tmp_path)
    assert read_commit() == "", "not a checkout"
    git("init", "-q")
    (tmp_path / "a.py").write_text("1")
    git("add", "a.py")
    git("commit", "-qm", "first")
    head = git("rev-parse", "HEAD")
    (tmp_path / "reports").mkdir()
    assert read_commit() == head
    (tmp_path / "a.py").write_text("2")
    assert read_commit() == f"{head}-dirty"
    COMMIT.parent.mkdir(parents=True)
    COMMIT.write_text("noted by ops\n")
    assert read_commit() == f"{head}-dirty", "what was noted may be older"
    (tmp_path / ".git").rename(tmp_path / "git")
    assert read_commit() == "noted by ops"
