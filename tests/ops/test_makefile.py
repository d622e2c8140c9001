"""The make targets of the work order exist, and exit with 2 when there is nothing to train on or resume."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TARGETS = (
    "preflight",
    "round1",
    "round2",
    "train",
    "resume",
    "failpack",
    "setup",
    "test",
    "lint",
    "quickstart",
    "board",
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout that make considers set up."""
    shutil.copy(ROOT / "Makefile", tmp_path / "Makefile")
    (tmp_path / "packages/askgate-env").mkdir(parents=True)
    for name in ("pyproject.toml", "packages/askgate-env/pyproject.toml", "constraints.txt", "requirements.txt"):
        (tmp_path / name).touch()
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/.ready-run").touch()
    (tmp_path / ".venv/.ready").touch()
    (tmp_path / "src").symlink_to(ROOT / "src")
    return tmp_path


def make(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *arguments], cwd=checkout, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_exists(target: str, checkout: Path) -> None:
    done = make(checkout, "-n", target)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("target", "tools"), [("quickstart", False), ("demo", False), ("test", True), ("lint", True)])
def test_a_run_installs_no_tools_of_developers(target: str, tools: bool, checkout: Path) -> None:
    for mark in (".ready", ".ready-run"):
        (checkout / ".venv" / mark).unlink()
    typed = make(checkout, "-n", target).stdout
    assert "--editable '.[train]'" in typed
    assert ("requirements.txt" in typed) == tools


def test_without_a_ticket_nothing_trains(checkout: Path) -> None:
    done = make(checkout, "train")
    assert done.returncode == 2
    assert "预检未通过" in done.stdout


def test_without_a_checkpoint_nothing_is_resumed(checkout: Path) -> None:
    done = make(checkout, "resume")
    assert done.returncode == 2
    assert "无 latest 检查点" in done.stdout


def test_latest_may_be_a_dangling_link(checkout: Path) -> None:
    """The work order's `test -f` is never true for a link to a folder."""
    (checkout / "checkpoints/rc1").mkdir(parents=True)
    (checkout / "checkpoints/rc1/latest").symlink_to("step_00001")
    assert "无 latest 检查点" not in make(checkout, "resume").stdout


def test_a_failpack_can_be_made_at_any_time(checkout: Path) -> None:
    assert make(checkout, "failpack").returncode == 0
    assert list((checkout / "reports/rc1").glob("FAIL_*.tgz"))
