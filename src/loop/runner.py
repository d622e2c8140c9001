"""Runs the stages of a loop in order, each in a process of its own, and leaves out what still holds.

A stage in its own process starts as it would when a user types its command: nothing that ran before it can change what
it makes. The lock of the loop is handed on to it, so that a loop that was killed cannot be started again over a stage
that is still at work.

A stage whose gate failed (exit code 1) does not end the loop: what comes after it still measures, so that one run shows
every light. Only what needs it is left out; training needs the ticket. A stage that was refused (exit code 2) or that
broke ends the loop at once.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Literal

from ..core.files import HOME, PACKAGE
from ..runtime.checksums import write_checksums
from ..runtime.lock import wait_for_lock
from .stage import FAILED, PASSED, Stage, State

Light = Literal["green", "red", "grey"]
MODULE = f"{__name__.split('.')[0]}.cli"
WAIT_S = 0.2
GRACE_S = 20.0
"""How long a stage may take to put its work away when the loop is told to end."""


@dataclass(frozen=True)
class Result:
    """What came of a stage. `code` is None where it was not begun."""

    stage: Stage
    code: int | None
    kept: bool = False
    """It was done before, and all it stands on is unchanged."""
    why: str = ""

    @property
    def light(self) -> Light:
        if self.code is None:
            return "grey"
        return "green" if self.code == PASSED else "red"


def verb(name: str, *arguments: str | Path) -> tuple[str, ...]:
    """The command of a stage that is one of our verbs."""
    return ("-m", MODULE, name, *(str(argument) for argument in arguments))


def typed(stage: Stage) -> str:
    """As a user would type it."""
    words = stage.command
    head = ["askgate"] if words[:2] == ("-m", MODULE) else ["python", *words[:2]]
    return shlex.join([*head, *words[2:]])


def run_stages(
    stages: Sequence[Stage],
    state: State,
    environment: Mapping[str, str],
    say: Callable[[str], None],
    stop_at_red: bool = False,
) -> list[Result]:
    """Ends after the first stage that was refused, or that is red where that is wished for. The results say how far."""
    results: list[Result] = []
    path = state.path.with_suffix(".lock")

    def waits() -> None:
        say(f"another run is at work here ({path}); waiting until it has ended")

    with wait_for_lock(path, waits, WAIT_S) as lock:
        for number, stage in enumerate(stages, 1):
            head = f"[{number}/{len(stages)}] {stage.title} {stage.title_zh}"
            result = _settle(stage, stages, state, environment, head, say, lock)
            results.append(result)
            if result.code not in (None, PASSED, FAILED) or (stop_at_red and result.code != PASSED):
                break
    return results


def worst(results: Sequence[Result]) -> int:
    """The exit code of the whole: 2 or more where something was refused or broke, 1 where a light is not green."""
    codes = [FAILED if result.code is None else result.code for result in results]
    return max(codes, default=PASSED)


def _settle(
    stage: Stage,
    stages: Sequence[Stage],
    state: State,
    environment: Mapping[str, str],
    head: str,
    say: Callable[[str], None],
    lock: int,
) -> Result:
    lacking = state.lacking(stage, stages)
    if lacking:
        why = f"{' and '.join(lacking)} did not pass, or is no longer valid"
        say(f"{head}: not begun, because {why}")
        return Result(stage, None, why=why)
    why = state.why_not_valid(stage)
    if not why:
        code = state.entries[stage.name].code
        say(f"{head}: done before, nothing changed since{'' if code == PASSED else '; its light is red'}")
        return Result(stage, code, kept=True)
    say(f"{head} ({why})")
    state.begin(stage)
    say(f"  $ {typed(stage)}")
    began = time.monotonic()
    code = _run(stage.command, environment, lock)
    state.end(stage, code)
    write_checksums(stage.outputs)
    took = time.monotonic() - began
    say(f"  {'ok' if code == PASSED else 'RED' if code == FAILED else f'STOPPED with exit code {code}'}, {took:.0f} s")
    return Result(stage, code, why=why)


def _run(command: Sequence[str], environment: Mapping[str, str], lock: int) -> int:
    """The exit code; minus the signal becomes 128 plus it, as shells count."""
    # In a checkout the package is not installed under its name there, so its place is told.
    paths = [str(HOME)] if PACKAGE.name == "src" else []
    known = environment.get("PYTHONPATH")
    # Bars of libraries would stand among ours.
    quiet = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "TOKENIZERS_PARALLELISM": "false"}
    joined = os.pathsep.join([*paths, *([known] if known else [])])
    child_environment = {**environment, **quiet, "PYTHONPATH": joined}
    child = subprocess.Popen([sys.executable, *command], env=child_environment, pass_fds=[lock])
    with _ends_with_us(child):
        code = child.wait()
    return code if code >= 0 else 128 - code


@contextmanager
def _ends_with_us(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Ctrl-C reaches the stage by itself, being in the same group; a plain kill is handed on."""

    def hand_on(number: int, frame: FrameType | None) -> None:
        child.send_signal(number)
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, hand_on)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if child.poll() is None:
            try:
                child.wait(GRACE_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
