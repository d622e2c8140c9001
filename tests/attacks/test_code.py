"""Attacks on the code that runs: own classes, files that stand in for libraries, and AskGate itself."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace

from src.core import files, user_class
from src.core.errors import BadInput
from src.core.files import PACKAGE_FACTS, current_code_sha256, fingerprint, launchers_sha256
from src.core.user_class import load_user_class, own_class_digests
from src.gates import admission, ticket
from src.gates.admission import admit
from src.gates.checks.config import config_findings
from src.gates.manifest import Manifest
from src.gates.rounds import round1_findings, run_round
from src.gates.ticket import Round
from src.gates.verify import verify
from tests.gates.run_folder import current_context, judging

CONFIG = Path("configs/quickstart_gated.yaml")


@pytest.fixture(autouse=True)
def _forget_own_classes() -> None:
    for name in [name for name in sys.modules if name.startswith(user_class._OWN)]:
        del sys.modules[name]


def test_an_own_class_is_part_of_the_evidence(run: Path) -> None:
    Path("coach.py").write_text("class Coach:\n    pass\n")
    config = yaml.safe_load(CONFIG.read_text())
    CONFIG.write_text(yaml.safe_dump({**config, "callbacks": ["coach:Coach"]}))
    assert any("coach.py" in one.evidence for one in config_findings(current_context()))


def test_the_bytes_that_are_hashed_are_the_bytes_that_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("coach.py").write_text("class Coach:\n    name = 'honest'\n")
    digest = own_class_digests(["coach:Coach"])["coach.py"]
    Path("coach.py").write_text("class Coach:\n    name = 'planted'\n")
    assert load_user_class("coach:Coach", "callbacks", "").name == "honest"
    assert own_class_digests(["coach:Coach"])["coach.py"] == digest


def test_a_file_in_the_working_folder_replaces_no_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("colorsys.py").write_text("raise SystemExit('owned')")
    Path("coach.py").write_text("import colorsys\nclass Coach:\n    at = colorsys.__file__\n")
    sys.modules.pop("colorsys", None)
    assert not Path(load_user_class("coach:Coach", "callbacks", "").at).is_relative_to(tmp_path)


@pytest.mark.parametrize(
    "source", ["class Coach(:\n", "import no_such_module_anywhere\n", "from json import nothing\n"]
)
def test_a_broken_own_class_is_one_clear_message(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("coach.py").write_text(source)
    with pytest.raises(BadInput, match=r"coach:Coach"):
        load_user_class("coach:Coach", "callbacks", "check the name")


def ticket_with_own_class() -> Round:
    """The ticket of a run whose config names `coach:Coach`, as far as that class depends on it."""
    Path("coach.py").write_text("class Coach:\n    pass\n")
    config = yaml.safe_load(CONFIG.read_text())
    CONFIG.write_text(yaml.safe_dump({**config, "callbacks": ["coach:Coach"]}))
    return replace(ticket.read_round(ticket.TICKET), findings=config_findings(current_context()))


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    """A module `coach` that is installed elsewhere."""
    folder.mkdir()
    (folder / "coach.py").write_text(source)
    monkeypatch.syspath_prepend(folder)


def test_an_own_class_renamed_to_text_is_not_that_class(run: Path) -> None:
    """Another class of that name may be installed, and the text would have the SHA-256 of the evidence."""
    ticket_with_own_class()
    before = fingerprint(Path("coach.py"))
    Path("coach.py").rename("coach.py.txt")
    with pytest.raises(BadInput, match=r"^coach\.py: cannot be read"):
        fingerprint(Path("coach.py"))
    PACKAGE_FACTS.parent.mkdir()
    PACKAGE_FACTS.write_text("{}")  # in an unpacked package it is
    assert fingerprint(Path("coach.py")) == before


def test_an_installed_class_does_not_replace_a_measured_one(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = ticket_with_own_class()
    admission._refuse_other_classes(report)
    Path("coach.py").rename("coach.py.txt")
    install(run / "elsewhere", monkeypatch, "class Coach:\n    planted = True\n")
    with pytest.raises(BadInput, match="another one would be loaded") as caught:
        admission._refuse_other_classes(report)
    assert caught.value.where == "coach.py"
    (run / "elsewhere/coach.py").write_bytes(Path("coach.py.txt").read_bytes())
    admission._refuse_other_classes(report)


def test_a_class_that_no_round_measured_trains_nothing(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed class may be exchanged after the rounds, so a gated run takes none."""
    report = ticket_with_own_class()
    admission._refuse_unmeasured_classes(report, CONFIG)
    Path("coach.py").unlink()
    install(run / "elsewhere", monkeypatch, "class Coach:\n    pass\n")
    with pytest.raises(BadInput, match="which code of an installed class ran"):
        config_findings(current_context())
    others = [one for one in report.findings if "coach.py" not in one.evidence]
    with pytest.raises(BadInput, match="coach:Coach: no round measured this class"):
        admission._refuse_unmeasured_classes(replace(report, findings=others), CONFIG)


def test_a_ticket_of_other_code_trains_nothing(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "code_sha256", lambda: "0" * 64)
    with pytest.raises(BadInput, match="code or templates have changed"):
        admit(CONFIG)


def test_rounds_of_two_versions_train_nothing(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Round 1 by one version, an update, round 2 by the next: the first round measured with other code."""
    monkeypatch.setattr("src.gates.rounds.code_sha256", lambda: "0" * 64)
    failed = [one.name for one in round1_findings(current_context().profile, Manifest()) if not one.passed]
    assert failed == ["round1_by_this_code"]


def test_an_update_while_a_round_measures_is_refused(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("src.gates.rounds.current_code_sha256", lambda: "0" * 64)
    monkeypatch.setattr("src.gates.rounds.measure", lambda gates, context: [])
    with judging() as environment, pytest.raises(BadInput, match="changed while the round measured"):
        run_round(1, "quickstart", environment, print, lambda done: None)
    assert not ticket.TICKET.exists()


def test_an_edited_launcher_trains_nothing(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`train/ppo_runner.py` starts the training and is outside the package."""
    monkeypatch.setattr(admission, "launchers_sha256", lambda: "0" * 64)
    with pytest.raises(BadInput, match="a Python file in train, scripts, ops or beside them has changed"):
        admit(CONFIG)


def test_the_digest_of_the_launchers_covers_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("src.core.files.HOME", tmp_path)
    digest = launchers_sha256.__wrapped__
    (tmp_path / "train").mkdir()
    digests = [digest()]
    (tmp_path / "typer").mkdir()
    (tmp_path / "packages/askgate-env/src").mkdir(parents=True)
    for name in ("train/ppo_runner.py", "torch.py", "typer/__init__.py", "packages/askgate-env/src/trl.py"):
        (tmp_path / name).write_text("import evil\n")
        digests.append(digest())
    assert len(set(digests)) == 5


@pytest.mark.parametrize("edited", ["reward.py", "texts/dialogue.json"])
def test_the_digest_of_the_code_covers_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edited: str
) -> None:
    before = current_code_sha256()
    copy = shutil.copytree(files.ENV, tmp_path / "askgate_env", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(files, "ENV", copy)
    assert current_code_sha256() == before
    (copy / edited).write_text((copy / edited).read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert current_code_sha256() != before


def test_the_trainer_loads_no_library_from_the_working_folder(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    shutil.copytree(root / "train", tmp_path / "train")
    (tmp_path / "src").symlink_to(root / "src")
    (tmp_path / "typer.py").write_text("raise SystemExit('owned')")
    done = subprocess.run(
        [sys.executable, "-m", "train.ppo_runner", "--help"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "owned" not in done.stderr


def test_verify_says_that_the_code_is_another(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr("src.gates.verify.code_sha256", lambda: "0" * 64)
    verify(False, told.append)
    assert any(line.startswith("code: not the one that measured") for line in told)
