"""The GPU notebook runs from first to last cell on its CPU path, and resumes after a lost runtime."""

from __future__ import annotations

import ast
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "notebooks" / "rc1_colab.ipynb"


def cells() -> list[str]:
    found: dict[str, Any] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert found["nbformat"] == 4
    return ["".join(cell["source"]) for cell in found["cells"] if cell["cell_type"] == "code"]


def run_all() -> dict[str, Any]:
    """Runs all cells in order in one namespace, as a kernel does."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, source in enumerate(cells()):
        exec(compile(source, f"{NOTEBOOK.name}, cell {number}", "exec"), names)
    return names


def test_the_notebook_is_plain_python_without_outputs() -> None:
    found = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    for cell in found["cells"]:
        assert not cell.get("outputs"), "outputs are not kept"
    for source in cells():
        ast.parse(source)


def test_output_of_a_command_is_shown_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hours of training without output look like a notebook that hangs."""
    monkeypatch.setenv("ASKGATE_DRIVE", str(tmp_path / "drive"))
    monkeypatch.setenv("ASKGATE_PROJECT", str(tmp_path))
    names: dict[str, Any] = {"print": lambda *words, **_: (tmp_path / "seen").touch() if "ready\n" in words else None}
    exec(compile(cells()[0], NOTEBOOK.name, "exec"), names)
    waits = "import os, time\nprint('ready')\nend = time.time() + 60\n"
    waits += "while not os.path.exists('seen') and time.time() < end: time.sleep(0.01)\n"
    names["sh"](sys.executable, "-c", f"{waits}raise SystemExit(not os.path.exists('seen'))")
    with pytest.raises(RuntimeError, match="exit code 3"):
        names["sh"](sys.executable, "-c", "raise SystemExit(3)")


def test_all_cells_run_and_resume_after_a_lost_runtime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    settings = {
        "ASKGATE_DRIVE": str(tmp_path / "drive"),
        "ASKGATE_PROJECT": str(tmp_path / "project"),
        "ASKGATE_MODULE": "src.cli",
        "ASKGATE_TINY": "1",
        "ASKGATE_STEPS": "2",
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": "1",
        "PATH": os.environ["PATH"],
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    run_all()
    assert (tmp_path / "project/checkpoints/local/final_model").is_dir()
    assert list((tmp_path / "drive").glob("ppo_eval_*.html"))
    data = tmp_path / "project" / "data"
    kept = tmp_path / "kept"
    shutil.copytree(data, kept)
    shutil.rmtree(tmp_path / "project")
    monkeypatch.setenv("ASKGATE_STEPS", "3")
    run_all()
    assert "resuming from the drive" in capfd.readouterr().out
    assert (tmp_path / "project/checkpoints/local/step_00003").is_dir()
    for file in kept.rglob("*.jsonl"):
        assert file.read_bytes() == (data / file.relative_to(kept)).read_bytes(), "same arguments, same bytes"
