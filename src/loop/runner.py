"""Runs the stages of a loop in order, each in its own process, and skips those that are still valid.

A stage in its own process starts as if a user had typed its command: nothing that ran before can change its result. It
inherits the lock of the loop, so a killed loop cannot be started again while its stage is still running.

A stage whose gate failed (exit code 1) does not end the loop: later stages still measure, so one run shows every light.
Only stages that need it are skipped; training needs the ticket. A stage that was refused (exit code 2) or crashed ends
the loop at once.
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

from ..core.files import HOME, PACKAGE, write_checksums
from ..runtime.lock import wait_for_lock
from .stage import FAILED, PASSED, Stage, State

MODULE = f"{__name__.split('.')[0]}.cli"
WAIT_S = 0.2
GRACE_S = 20.0
"""Seconds that a stage has to stop cleanly when the loop is terminated."""


@dataclass(frozen=True)
class Result:
    """Outcome of a stage: its exit code, or None if it was not started."""

    stage: Stage
    code: int | None
    kept: bool = False
    """It was run before, and its inputs and outputs are unchanged."""


def verb(name: str, *arguments: str | Path) -> tuple[str, ...]:
    """The command of a stage that runs one of our verbs."""
    return ("-m", MODULE, name, *(str(argument) for argument in arguments))


def typed(stage: Stage) -> str:
    """The command as a user would type it."""
    words = stage.command
    head = ["askgate"] if words[:2] == ("-m", MODULE) else ["python", *words[:2]]
    return shlex.join([*head, *words[2:]])


def with_package(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a child process that imports this package. In a checkout it is not installed."""
    paths = [*([str(HOME)] if PACKAGE.name == "src" else []), *filter(None, [environment.get("PYTHONPATH")])]
    return {**environment, "PYTHONPATH": os.pathsep.join(paths)}


def run_stages(
    stages: Sequence[Stage],
    state: State,
    environment: Mapping[str, str],
    say: Callable[[str], None],
    stop_at_red: bool = False,
) -> list[Result]:
    """Runs stages until one is refused or crashes, or with `stop_at_red` until one is red. Returns those reached."""
    results: list[Result] = []
    path = state.path.with_suffix(".lock")

    def waits() -> None:
        say(f"another run is at work here ({path}); waiting until it has ended")

    with wait_for_lock(path, waits, WAIT_S) as lock:
        for number, stage in enumerate(stages, 1):
            head = f"[{number}/{len(stages)}] {stage.title} {stage.title_zh}"
            result = _run_or_skip(stage, stages, state, environment, head, say, lock)
            results.append(result)
            if result.code not in (None, PASSED, FAILED) or (stop_at_red and result.code != PASSED):
                break
    return results


def worst(results: Sequence[Result]) -> int:
    """Exit code of the loop: 2 or more if a stage was refused or crashed, 1 if a light is not green."""
    codes = [FAILED if result.code is None else result.code for result in results]
    return max(codes, default=PASSED)


def _run_or_skip(
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
        say(f"{head}: skipped, because {why}")
        return Result(stage, None)
    why = state.why_not_valid(stage)
    if not why:
        code = state.entries[stage.name].code
        say(f"{head}: still valid{'' if code == PASSED else '; its light is red'}")
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
    return Result(stage, code)


def _run(command: Sequence[str], environment: Mapping[str, str], lock: int) -> int:
    """Returns the exit code; 128 plus the signal number after a signal, as shells do."""
    # Progress bars of libraries would mix with ours.
    quiet = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "TOKENIZERS_PARALLELISM": "false"}
    given = {**with_package(environment), **quiet}
    child = subprocess.Popen([sys.executable, "-P", *command], env=given, pass_fds=[lock])
    with _terminate_together(child):
        code = child.wait()
    return code if code >= 0 else 128 - code


@contextmanager
def _terminate_together(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Passes SIGTERM on to the stage. Ctrl-C reaches it anyway, because it is in the same process group."""

    def pass_on(number: int, frame: FrameType | None) -> None:
        child.send_signal(number)
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, pass_on)
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
