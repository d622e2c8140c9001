"""Attacks on whoever trains a package again: commands, checkpoints and folders that its config names."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from src.config.loader import load_train_config
from src.core.errors import BadInput
from src.core.files import code_sha256, launchers_sha256
from src.release import reproduce as reproducing
from src.release.package import PackageFacts
from src.release.reproduce import run_again, training_again
from src.training.components import load_strategy
from tests.training.tiny_run import CONFIG

COMMAND: dict[str, Any] = {"strategy": "subprocess:Popen", "strategy_options": {"args": "touch owned", "shell": True}}
FINAL = "checkpoints/rc1/final_model"


def silent(text: str) -> None:
    pass


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An unpacked package, as far as a rerun looks at it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reproducing, "this_machine", dict)
    same = SimpleNamespace(code=code_sha256(), launchers=launchers_sha256())
    monkeypatch.setattr(reproducing, "read_round", lambda path: same)
    Path(FINAL).mkdir(parents=True)
    return tmp_path


def facts(**changes: Any) -> PackageFacts:
    Path("own.yaml").write_text(yaml.safe_dump(CONFIG | changes), encoding="utf-8")
    return PackageFacts("1", "code", "run", "own.yaml", {FINAL: "0" * 64}, {}, {})


@pytest.mark.parametrize("named", [COMMAND, {"engine": "subprocess:Popen"}, {"callbacks": ["subprocess:Popen"]}])
def test_a_command_in_place_of_a_class_is_not_run(
    named: dict[str, Any], package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    monkeypatch.setattr(subprocess, "run", started.append)
    with pytest.raises(BadInput, match=r"would run subprocess:Popen.*--allow-class subprocess:Popen"):
        run_again(package, facts(**named), silent, ["coach:Coach"])
    assert not started


@pytest.mark.parametrize(
    ("commit", "remedy"),
    [
        ("a" * 40, f"in a clone of AskGate: git checkout {'a' * 40}; make setup"),
        (f"{'a' * 40}-dirty", f"git checkout {'a' * 40}, with the maker's local changes; make setup"),
        ("", f"ask its maker for that AskGate (version 0.1.0, code with SHA-256 {'0' * 64})"),
        ("main; rm -rf ~", "ask its maker for that AskGate"),
    ],
)
def test_other_code_is_refused_with_the_commit_to_check_out(
    commit: str, remedy: str, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = SimpleNamespace(code="0" * 64, launchers="", commit=commit, version="0.1.0")
    monkeypatch.setattr(reproducing, "read_round", lambda path: made)
    monkeypatch.setattr(subprocess, "run", lambda *given, **more: pytest.fail("it trained"))
    with pytest.raises(BadInput, match="made with another AskGate") as caught:
        run_again(package, facts(), silent)
    assert remedy in caught.value.remedy
    assert "rm -rf" not in caught.value.remedy


def test_a_class_that_is_no_strategy_is_not_constructed(package: Path) -> None:
    with pytest.raises(BadInput, match="subprocess:Popen is not a strategy"):
        load_strategy("subprocess:Popen", COMMAND["strategy_options"])
    assert not Path("owned").exists()


@pytest.mark.parametrize("key", ["engine", "strategy"])
def test_a_class_in_a_file_elsewhere_is_refused(key: str, package: Path) -> None:
    with pytest.raises(BadInput, match=key):
        load_train_config(Path(facts(**{key: "/tmp/coach:Coach"}).config))


def test_checkpoints_in_a_package_are_not_resumed(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = Path("runs/20260101T000000000Z-ab12/checkpoints/rc1/step_00003")
    planted.mkdir(parents=True)

    def train(*arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
        assert not planted.exists()
        assert not Path("checkpoints/rc1").exists()
        return subprocess.CompletedProcess([], 2)

    monkeypatch.setattr(subprocess, "run", train)
    with pytest.raises(BadInput, match="exit code 2"):
        run_again(package, facts(), silent)


def test_the_mirror_stays_unwritten_and_the_judge_gets_no_key(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCORER_API_KEY", "sk-0123456789abcdef")
    config = facts(checkpoint={"mirror": "/home/me/drive"}).config
    command, environment = training_again(config)
    given = command[command.index("--set") + 1]
    assert load_train_config(Path(config), [given]).checkpoint.mirror is None
    assert "SCORER_API_KEY" not in environment
