"""A command in a pseudo-terminal of a given size, with a person who types when a text appears."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 300.0
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


def in_terminal(
    arguments: Sequence[str],
    columns: int,
    typing: Sequence[tuple[str, bytes]] = (),
    folder: Path = ROOT,
    command: Sequence[str] = (sys.executable, "-m", "src.cli"),
    deadline_s: float = DEADLINE_S,
) -> tuple[int, str]:
    """Exit code and output. `typing`: texts to wait for, in order, and the bytes that are typed then."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    environment = inherited | {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [*command, *arguments], cwd=folder, stdin=inner, stdout=inner, stderr=inner, env=environment,
        start_new_session=True,
        preexec_fn=_take_terminal,
    )  # fmt: skip
    os.close(inner)
    output, waiting, seen = b"", list(typing), 0
    end = time.monotonic() + deadline_s
    try:
        while time.monotonic() < end:
            ready, _, _ = select.select([outer], [], [], 0.2)
            if ready:
                try:
                    output += os.read(outer, 65536)
                except OSError:  # the terminal closes with the process
                    break
            if waiting and (at := output.find(waiting[0][0].encode(), seen)) >= 0:
                seen = at + len(waiting[0][0].encode())
                os.write(outer, waiting.pop(0)[1])
        else:
            raise AssertionError(f"no end, waiting for {waiting[:1]}: {output.decode(errors='replace')}")
        return process.wait(10), output.decode(errors="replace")
    finally:
        process.kill()
        process.wait()
        os.close(outer)


def _take_terminal() -> None:
    """What a shell does for a command in the foreground. A job in the background ignores Ctrl-C, and passes that on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def plain(output: str) -> str:
    """The text without colours and cursor movements."""
    return _CODES.sub("", output)
