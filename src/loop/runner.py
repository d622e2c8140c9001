"""Runs the stages of a loop, each in its own process, and skips those that are still valid.

A stage in its own process starts as if a user had typed its command: nothing that ran before can change its result. It
inherits the lock of the loop, so a killed loop cannot be started again while its stage is still running. Its output is
written to `logs/stages/NAME.log`.

Stages start in the order of the list. With `side_by_side` above 1, a stage starts beside earlier ones that it does not
wait for (`Stage.waits_for`).

A stage whose gate failed (exit code 1) does not end the loop: later stages still measure, so one run shows every light.
Only stages that need it are skipped; training needs the ticket. After a stage that was refused (exit code 2) or crashed
no other stage is started.
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

from ..core.check import now
from ..core.files import HOME, PACKAGE, write_checksums
from ..runtime.disk import RUN_AGAIN, explain_disk_errors
from ..runtime.lock import wait_for_lock
from ..utils.processes import usable_cores
from .stage import FAILED, PASSED, Stage, State
from .stage_view import RunningStage, StageView, log_of

MODULE = f"{__name__.split('.')[0]}.cli"
WAIT_S = 0.2  # seconds between two attempts to lock the loop
POLL_S = 0.05  # seconds between two looks at the running stages
GRACE_S = 20.0  # seconds that child processes have to stop cleanly when this one is terminated
THREADS = "OMP_NUM_THREADS"


@dataclass(frozen=True)
class Result:
    """Outcome of a stage: its exit code, or None if it was not started."""

    stage: Stage
    code: int | None


def verb(name: str, *arguments: str | Path) -> tuple[str, ...]:
    """Arguments of `python` that run an `askgate` command."""
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
    view: StageView,
    stop_at_red: bool = False,
    side_by_side: int = 1,
) -> list[Result]:
    """Runs stages until one is refused or crashes, or with `stop_at_red` until one is red. Returns those reached.

    `side_by_side`: number of stages that may run at the same time.
    """
    results: dict[str, Result] = {}
    running: list[RunningStage] = []
    with (
        wait_for_lock(path := state.path.with_suffix(".lock"), lambda: view.waits(path), WAIT_S) as lock,
        view.showing(stages),
        end_together(lambda: [one.child for one in running], lambda: view.ending(running)),
    ):
        while True:
            if not any(_ends_loop(result, stop_at_red) for result in results.values()):
                while len(running) < side_by_side and (stage := _next_stage(stages, results, running)):
                    found = _result_or_reason(stage, stages, state, view)
                    if isinstance(found, Result):
                        results[stage.name] = found
                        if _ends_loop(found, stop_at_red):
                            break
                    else:
                        own_environment = _shared_cores(stage, stages, environment, side_by_side)
                        running.append(_start(stage, found, state, own_environment, view, lock))
            if not running:
                return [results[stage.name] for stage in stages if stage.name in results]
            view.tick(running)
            time.sleep(POLL_S)
            for one in [one for one in running if one.child.poll() is not None]:
                running.remove(one)
                results[one.stage.name] = _finish(one, state, view)


def worst(results: Sequence[Result]) -> int:
    """Exit code of the loop: 2 or more if a stage was refused or crashed, 1 if a light is not green."""
    codes = [FAILED if result.code is None else result.code for result in results]
    return max(codes, default=PASSED)


def _ends_loop(result: Result, stop_at_red: bool) -> bool:
    """Whether no further stage starts: the stage was refused or crashed, or is red and `stop_at_red` is set."""
    return result.code not in (None, PASSED, FAILED) or (stop_at_red and result.code != PASSED)


def _next_stage(
    stages: Sequence[Stage], results: Mapping[str, Result], running: Sequence[RunningStage]
) -> Stage | None:
    """The first stage that can start: it has not begun, and every earlier stage that it waits for has ended."""
    begun = {*results, *(one.stage.name for one in running)}
    for place, stage in enumerate(stages):
        earlier = [one for one in stages[:place] if one.name not in results]
        if stage.name not in begun and not any(stage.waits_for(one) for one in earlier):
            return stage
    return None


def _result_or_reason(stage: Stage, stages: Sequence[Stage], state: State, view: StageView) -> Result | str:
    """The result of a stage that is skipped or still valid, or else the reason why it must run."""
    if lacking := state.lacking(stage, stages):
        view.skipped(stage, f"{' and '.join(lacking)} did not pass, or is no longer valid")
        return Result(stage, None)
    if why := state.why_not_valid(stage):
        return why
    code = state.entries[stage.name].code
    assert code is not None
    view.kept(stage, code)
    return Result(stage, code)


def _start(
    stage: Stage, why: str, state: State, environment: Mapping[str, str], view: StageView, lock: int
) -> RunningStage:
    """Starts a stage in a process of its own, with its output in a log."""
    state.begin(stage)
    # Progress bars of libraries would mix with ours; buffered output would show no progress.
    settings = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "TOKENIZERS_PARALLELISM": "false", "PYTHONUNBUFFERED": "1"}
    path = log_of(stage)
    with explain_disk_errors(path, RUN_AGAIN):
        path.parent.mkdir(parents=True, exist_ok=True)
        log = open(path, "wb")
    with log:
        log.write(f"{now()} $ {typed(stage)}\n".encode())
        log.flush()
        child = subprocess.Popen(
            [sys.executable, "-P", *stage.command],
            env={**with_package(environment), **settings},
            pass_fds=[lock],
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    running = RunningStage(stage, child, time.monotonic())
    view.started(running, why)
    return running


def _finish(one: RunningStage, state: State, view: StageView) -> Result:
    """Records the end of a stage. Its code is 128 plus the signal number after a signal, as in shells."""
    code = one.child.returncode if one.child.returncode >= 0 else 128 - one.child.returncode
    state.end(one.stage, code)
    write_checksums(one.stage.outputs)
    view.ended(one, code)
    return Result(one.stage, code)


def _shared_cores(
    stage: Stage, stages: Sequence[Stage], environment: Mapping[str, str], side_by_side: int
) -> Mapping[str, str]:
    """The environment of a stage, with a part of the cores for one that may run beside another.

    Threads that outnumber the cores wait for each other. Whether another stage does run makes no difference: the number
    of threads changes the last bits of what is computed.
    """
    if side_by_side == 1 or environment.get(THREADS) or not _may_share(stage, stages):
        return environment
    return {**environment, THREADS: str(max(1, usable_cores(sys.maxsize) // side_by_side))}


def _may_share(stage: Stage, stages: Sequence[Stage]) -> bool:
    """Whether another stage may run beside this one: neither waits for the other, directly or through others."""
    before: dict[str, set[str]] = {}
    for place, one in enumerate(stages):
        waited = [other.name for other in stages[:place] if one.waits_for(other)]
        before[one.name] = {*waited, *(name for other in waited for name in before[other])}
    linked = {*before[stage.name], stage.name, *(name for name in before if stage.name in before[name])}
    return any(one.name not in linked for one in stages)


@contextmanager
def end_together(children: Callable[[], list[subprocess.Popen[bytes]]], ending: Callable[[], None]) -> Iterator[None]:
    """Passes SIGTERM on to child processes, and waits until they have ended. `ending` is called before the wait.

    Ctrl-C reaches them anyway, because they are in the same process group; a second Ctrl-C kills them.
    """

    def pass_on(number: int, frame: FrameType | None) -> None:
        for child in children():
            child.send_signal(number)
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, pass_on)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        left, deadline = [child for child in children() if child.poll() is None], time.monotonic() + GRACE_S
        try:
            if left:
                ending()
            for child in left:
                child.wait(max(0.0, deadline - time.monotonic()))
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            pass
        finally:
            for child in left:
                if child.poll() is None:
                    child.kill()
                    child.wait()
