"""Runs an `askgate` command in this process, where the tested code would start one: importing torch takes seconds."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from src.cli import main


def run_here(command: Sequence[str], cwd: Path, **_: Any) -> subprocess.CompletedProcess[str]:
    """Takes the arguments of `subprocess.run` for `python -m src.cli COMMAND ...`."""
    arguments = command[command.index("-m") + 2 :]
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with chdir(cwd), redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as left:
        main(arguments)
    shown = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(command, int(left.value.code or 0), *shown)
