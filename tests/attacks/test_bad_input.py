"""Inputs that nobody should type: each is one clear message and exit code 2, without a traceback and without a hang."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.bad_inputs import Case, cases, outcome, prepare
from src.board.runs import Run
from src.board.server import PIECE, file_page
from tests.conftest import Askgate

LONG = "a" * 300
DIGITS = "9" * 6000
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("deep.yaml").write_text("[" * 3000)
    Path("big.yaml").write_text(f"steps: {DIGITS}\n")
    Path("deep.jsonl").write_text("[" * 200_000 + "\n")
    Path("big.jsonl").write_text(f'{{"id": {DIGITS}}}\n')
    os.mkfifo("pipe")
    Path("broken").mkdir()
    for file in (ROOT / "models/tiny").iterdir():
        (Path("broken") / file.name).write_bytes(
            file.read_bytes()[:1000] if "safetensors" in file.name else file.read_bytes()
        )


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate_pool", LONG),
        ("train", "--config", LONG),
        ("reproduce", LONG),
        ("train", "--config", "deep.yaml"),
        ("train", "--config", "big.yaml"),
        ("train", "--config", str(ROOT / "configs/quickstart.yaml"), "--set", f"steps={DIGITS}"),
        ("validate_pool", "deep.jsonl"),
        ("validate_pool", "big.jsonl"),
        ("weight_calib", "--scored", "deep.jsonl"),
        ("validate_scores", "pipe"),
        ("validate_pool", "pipe"),
        ("reproduce", "pipe"),
        ("export_gguf", "--model", "broken", "--out", "o.gguf"),
    ],
    ids=lambda arguments: " ".join(arguments)[:40],
)
def test_one_message_and_exit_code_2(arguments: tuple[str, ...], askgate: Askgate) -> None:
    done = askgate(*arguments)
    assert done.code == 2
    assert "Traceback" not in done.err
    assert "What to do" in done.err


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("honest")
    prepare(folder)
    return folder


@pytest.mark.parametrize("case", cases()[::16], ids=lambda case: case.name)
def test_a_sample_of_the_bad_inputs_of_the_benchmark(case: Case, honest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sixteenth case of `bench/bad_inputs.py`, which runs all of them."""
    for name in ("SCORER_PROVIDER", "SCORER_API_KEY", "SCORER_BASE_URL", "RUN_MODE"):
        monkeypatch.delenv(name, raising=False)
    assert outcome(case, honest) == "clean"


def test_a_secret_across_the_border_of_two_pieces_is_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "hunter2-hunter2-hunter2"
    monkeypatch.setenv("SCORER_API_KEY", secret)
    lines = "x" * 99 + "\n"
    text = lines * (PIECE // 100) + "y" * 50 + secret + "\n" + lines
    Path("logs").mkdir()
    Path("logs/train.log").write_text(text)
    run = Run("run", tmp_path)
    first, second = file_page(run, "logs/train.log", "0"), file_page(run, "logs/train.log", str(PIECE))
    assert first
    assert second
    for part in (secret[:8], secret[-8:]):
        assert part not in first + second
    assert "x" * 99 in second
