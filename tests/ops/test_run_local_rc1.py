"""`ops/run_local_rc1.sh`: a failure ends it with its exit code, prints the log's end, and packs it without secrets."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLANTED = "pl4nted-in-the-environment"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose set-up does nothing, and whose `askgate` prints a secret and fails, or succeeds."""
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops/run_local_rc1.sh").write_bytes((ROOT / "ops/run_local_rc1.sh").read_bytes())
    (tmp_path / "ops/run_local_rc1.sh").chmod(0o755)
    (tmp_path / "src").symlink_to(ROOT / "src")
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    (tmp_path / "Makefile").write_text("setup:\n\t@true\n")
    bin_folder = tmp_path / ".venv/bin"
    bin_folder.mkdir(parents=True)
    _script(bin_folder / "python", f'case "$1" in -) exit 0;; *) exec {sys.executable} "$@";; esac')
    _script(bin_folder / "askgate", 'echo "askgate $* with key $SCORER_API_KEY"; exit "${FAIL_WITH:-0}"')
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/earlier.log").write_text(f"a library wrote {PLANTED} here\n")
    return tmp_path


def _script(path: Path, body: str) -> None:
    """The script without its disk check: the machine that runs the tests may have a small disk."""
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def run(checkout: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SCORER_")}
    return subprocess.run(
        ["./ops/run_local_rc1.sh"],
        cwd=checkout,
        env={**kept, "ASKGATE_LANG": "en", **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("provider", ["", "openai", "openrouter"])
def test_without_a_key_no_stage_starts(checkout: Path, provider: str) -> None:
    done = run(checkout, SCORER_PROVIDER=provider)
    assert done.returncode == 2
    assert "SCORER_API_KEY" in done.stderr
    assert not (checkout / "reports").exists()


@pytest.mark.parametrize("provider", ["custom", "vllm", "llama_cpp", "a_server_of_mine"])
def test_a_judge_on_your_own_server_needs_no_key(checkout: Path, provider: str) -> None:
    assert run(checkout, SCORER_PROVIDER=provider).returncode == 0


def test_the_local_judge_needs_no_key(checkout: Path) -> None:
    done = run(checkout, SCORER_PROVIDER="local", UNTIL="round1")
    assert done.returncode == 0, done.stdout
    assert "askgate rc1 --until round1" in done.stdout
    assert list((checkout / "logs").glob("ops_*.log"))


@pytest.mark.parametrize("has_gpu", [True, False])
def test_the_4_bit_extra_is_installed_before_paying_the_judge(checkout: Path, has_gpu: bool) -> None:
    stub = f'case "$1 $2" in "- "*) exit 0;; "-m pip") echo "pip $*";; *) exec {sys.executable} "$@";; esac'
    _script(checkout / ".venv/bin/python", stub)
    _script(checkout / ".venv/bin/nvidia-smi", "exit 0" if has_gpu else "exit 9")
    done = run(checkout, SCORER_PROVIDER="local", UNTIL="round1")
    assert done.returncode == 0, done.stdout
    installed, paid = done.stdout.find(".[gpu]"), done.stdout.find("askgate rc1")
    assert (0 <= installed < paid) if has_gpu else installed < 0 <= paid


def test_a_base_model_other_than_the_configs_is_refused(checkout: Path) -> None:
    assert run(checkout, SCORER_PROVIDER="local", BASE_MODEL="Qwen/Qwen3-4B-Thinking-2507").returncode == 0
    done = run(checkout, SCORER_PROVIDER="local", BASE_MODEL="Qwen/Qwen3-8B")
    assert done.returncode == 2
    assert "configs/ppo_scale.yaml" in done.stderr


@pytest.mark.parametrize("code", ["1", "2"])
def test_a_failure_is_packed_without_the_key(checkout: Path, code: str) -> None:
    done = run(checkout, SCORER_API_KEY=PLANTED, FAIL_WITH=code)
    assert done.returncode == int(code)
    assert "FAIL_" in done.stdout
    (pack,) = (checkout / "reports/rc1").glob("FAIL_*.tgz")
    with tarfile.open(pack) as archive:
        everything = b"".join(archive.extractfile(one).read() for one in archive if one.isfile())  # type: ignore[union-attr]
        names = archive.getnames()
    assert "logs/earlier.log" in names
    assert any(name.startswith("logs/ops_") for name in names)
    assert PLANTED.encode() not in everything
    assert b"a library wrote *** here" in everything


def test_a_disk_that_is_too_small_is_refused(checkout: Path) -> None:
    """The disk check fails with exit code 2 in one line, and no stage starts."""
    shutil = 'type("", (), {"disk_usage": staticmethod(lambda path: type("", (), {"free": 2**30}))})'
    small = f"import sys; sys.modules['shutil'] = {shutil}; exec(sys.stdin.read())"
    (checkout / "small.py").write_text(small)
    _script(
        checkout / ".venv/bin/python",
        f'case "$1" in -) exec {sys.executable} small.py;; *) exec {sys.executable} "$@";; esac',
    )
    done = run(checkout, SCORER_PROVIDER="local")
    assert done.returncode == 2
    assert "more than 50 GB must be free" in done.stdout
    assert "Traceback" not in done.stdout
    assert "askgate rc1" not in done.stdout


def test_the_git_state_is_recorded(checkout: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=checkout, check=True)
    identity = ["-c", "user.name=x", "-c", "user.email=x@y"]
    subprocess.run(["git", *identity, "commit", "-q", "--allow-empty", "-m", "x"], cwd=checkout, check=True)
    assert run(checkout, SCORER_PROVIDER="local").returncode == 0
    assert len((checkout / "reports/rc1/git_commit.txt").read_text().strip()) == 40
    assert "ops/" in (checkout / "reports/rc1/git_status.txt").read_text()
