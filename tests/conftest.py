"""Fixtures for all tests: commands run as a shell runs them, and the official dataset files."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from src.cli import main

OFFICIAL = Path(__file__).resolve().parents[1].parent / "shared" / "data"


def pytest_collection_finish() -> None:
    """Garbage collections skip what is imported by now, 400,000 objects. Every engine collects twice."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def official_data() -> Path:
    """Folder of the official HotpotQA, StrategyQA and GSM8K files. They are never part of the repository."""
    if not OFFICIAL.is_dir():
        pytest.skip("the official dataset files are not on this machine (../shared/data beside the checkout)")
    return OFFICIAL


@pytest.fixture(scope="session")
def official_extract(tmp_path_factory: pytest.TempPathFactory, official_data: Path) -> Path:
    """The first 400 records of every official file: reading all of them takes ten seconds."""
    folder = tmp_path_factory.mktemp("official")
    for file in [path for task in ("gsm8k", "hotpotqa", "strategyqa") for path in (official_data / task).iterdir()]:
        short = folder / file.relative_to(official_data)
        short.parent.mkdir(exist_ok=True)
        content = file.read_text(encoding="utf-8")
        if file.suffix == ".jsonl":
            content = "".join(content.splitlines(keepends=True)[:400])
        elif isinstance(records := json.loads(content), list):
            content = json.dumps(records[:400])
        short.write_text(content, encoding="utf-8")
    return folder


@dataclass(frozen=True)
class Outcome:
    code: object
    out: str
    err: str
    """Standard error without the line that names the profile."""
    profile: str = ""
    """The profile that the command named."""


Askgate = Callable[..., Outcome]


@pytest.fixture
def askgate(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Askgate:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("MAKELEVEL", raising=False)  # set by `make test`, and `quickstart` names its make target then

    def run(*arguments: str | Path, defect: bool = False) -> Outcome:
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        # A crash has the exit code of a refusal.
        assert ("Traceback (most recent call last)" in err) == defect, err
        named = [line for line in err.splitlines() if line.startswith(("profile: ", "配置档："))]
        for line in named:
            err = err.replace(f"{line}\n", "", 1)
        return Outcome(left.value.code, out, err, "".join(named).removeprefix("profile: "))

    return run


@pytest.fixture(scope="session")
def small_pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A valid pool of 60 samples; tests copy it before they change it."""
    pool = tmp_path_factory.mktemp("pool") / "pool.jsonl"
    with pytest.raises(SystemExit) as left:
        main(["build_rollout_pool", "--n", "60", "--out", str(pool)])
    assert left.value.code == 0
    return pool


@pytest.fixture(scope="session")
def small_shadow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shadow = tmp_path_factory.mktemp("shadow") / "shadow.jsonl"
    with pytest.raises(SystemExit) as left:
        main(["shadow_run", "--n", "24", "--stratify", "--materialize", str(shadow)])
    assert left.value.code == 0
    return shadow
