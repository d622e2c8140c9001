"""Crash trials: the process dies, or the disk fails, at every operation that writes; then nothing may be lost.

    python bench/crash_trials.py                # all of them, 3,000: minutes on one core
    python bench/crash_trials.py --every 40     # every 40th in-process fault and every 40th kill

In-process faults: the disk under the work (`src/core/disk.py`) is replaced by one that kills the process, cuts the
power, is full (ENOSPC) or broken (EIO) at the N-th operation, for every N. Kills from outside: SIGKILL at a random
moment of the work's processor time. After each, what was stored must be there, and the same work, done again, must give
the same bytes. The last kills are of real training runs, whose final weights must be those of an undisturbed run.

Prints a table by component and fault. Exits with 1 if something was lost.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests import crash_jobs  # noqa: E402
from tests.crash_jobs import JOBS_BY_NAME  # noqa: E402
from tests.disk_faults import ERRORS, KILLS  # noqa: E402
from tests.fork_server import ForkServer  # noqa: E402
from tests.waiting import wait_for_work  # noqa: E402

SIGKILLS = {"save": 45, "score": 45, "record": 40, "issue": 30, "pack": 30}
TRAINING, TRAINING_KILLS = "training", 10
KILLED = "SIGKILL"
Trial = tuple[str, str, str]
"""Component, fault, and `held` or what was lost."""


class Trials:
    """Runs trials in copies of prepared folders below `top`."""

    def __init__(self, top: Path, finished: Path) -> None:
        crash_jobs.warm()
        self.top, self.finished = top, finished
        self.server = ForkServer("tests.crash_jobs", **{crash_jobs.FINISHED: str(finished)})

    def scene(self, job: str) -> Path:
        folder = self.top / job / "scene"
        if not folder.exists():
            crash_jobs.prepare(job, self.finished, folder)
        return folder

    def copied(self, job: str) -> Path:
        folder = self.top / job / "trial"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.scene(job), folder, symlinks=True)
        return folder

    def in_process(self, job: str, every: int) -> Iterator[Trial]:
        """One trial for each operation of the work and each fault."""
        folder = self.copied(job)
        assert self.server.run("operations", folder, name=job) == 0
        operations = (folder / "operations").read_text().split()
        component = JOBS_BY_NAME[job].component
        # Without a folder to cut names from, both power cuts are the same.
        faults = [kind for kind in (*KILLS, *ERRORS) if component != "cache" or kind != "names only"]
        cases = [(kind, at) for kind in faults for at in range(1, len(operations) + 1)]
        for kind, at in cases[::every]:
            folder = self.copied(job)
            code = self.server.run("broken", folder, name=job, kind=kind, at=at)
            expected = (0, 2) if kind in ERRORS else (-signal.SIGKILL,)
            # A reply is stored in the cache by a commit; everything else that scoring writes is the ledger's.
            ledger = component == "cache" and operations[at - 1] != "commit"
            said = f"operation {at} ({operations[at - 1]}) of {job}"
            yield "ledger" if ledger else component, kind, self._verdict(job, folder, code in expected, code, said)

    def killed(self, job: str, times: int, seed: int) -> Iterator[Trial]:
        """Kills from outside, at moments drawn over the processor time of the work."""
        folder = self.copied(job)
        child = self.server.start("undisturbed", folder, name=job, killed=True)
        work = wait_for_work(child, until=math.inf)
        assert self.server.wait(child) == 0
        random, done = Random(seed), 0
        while done < times:
            folder = self.copied(job)
            child = self.server.start("undisturbed", folder, name=job, killed=True)
            moment = random.random() * work
            wait_for_work(child, until=moment)
            os.kill(child, signal.SIGKILL)
            code = self.server.wait(child)
            if code == -signal.SIGKILL:  # else it had ended before
                done += 1
                component = JOBS_BY_NAME[job].component
                yield component, KILLED, self._verdict(job, folder, True, code, f"after {moment:.3f} s of {job}", True)

    def _verdict(self, job: str, folder: Path, ended_well: bool, code: int, said: str, killed: bool = False) -> str:
        try:
            assert ended_well, f"exit code {code}"
            crash_jobs.audit(job, folder, killed)
        except Exception as error:
            kept = folder.with_name(f"lost {said}".replace("/", " "))
            shutil.rmtree(kept, ignore_errors=True)
            folder.rename(kept)
            where = traceback.extract_tb(error.__traceback__)[-1]
            return f"{said}: {type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        return "held"

    def close(self) -> None:
        self.server.close()


def killed_training(top: Path, times: int) -> Iterator[Trial]:
    """Kills real training runs, which must end with the weights of an undisturbed one."""
    from tests.engines.test_resume_kill import EVERY, STEPS, assert_ends_the_same, copied, outcome

    server = ForkServer("tests.engines.killed", HF_HUB_OFFLINE="1")
    furnished = top / "furnished"
    furnished.mkdir()
    assert server.run("furnish", furnished, steps=STEPS, every_steps=EVERY) == 0
    whole = copied(furnished, top / "whole")
    child = server.start("train", whole)
    work = wait_for_work(child, until=math.inf)
    assert server.wait(child) == 0
    expected, random, done = outcome(whole), Random(5), 0
    while done < times:
        place = copied(furnished, top / "training")
        child = server.start("train", place)
        moment = random.random() * work
        wait_for_work(child, until=moment)
        os.kill(child, signal.SIGKILL)
        if server.wait(child) == -signal.SIGKILL:
            done += 1
            try:
                assert_ends_the_same(server, place, expected)
                yield TRAINING, KILLED, "held"
            except AssertionError as error:
                yield TRAINING, KILLED, f"after {moment:.2f} s: {error}"
        shutil.rmtree(place)
    server.close()


def all_trials(top: Path, finished: Path, every: int, jobs: Collection[str] = tuple(JOBS_BY_NAME)) -> Iterator[Trial]:
    trials = Trials(top, finished)
    try:
        for job in [job for job in JOBS_BY_NAME if job in jobs]:
            yield from trials.in_process(job, every)
        for seed, (job, times) in enumerate(SIGKILLS.items()):
            if job in jobs:
                yield from trials.killed(job, math.ceil(times / every), seed)
    finally:
        trials.close()


def table(trials: list[Trial]) -> str:
    held, total = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for component, fault, verdict in trials:
        total[component, fault] += 1
        held[component, fault] += verdict == "held"
    faults = [fault for fault in (*KILLS, *ERRORS, KILLED) if any(key[1] == fault for key in total)]
    rows = [["component", *faults, "all"], ["---"] * (len(faults) + 2)]
    for component in [*dict.fromkeys(component for component, _, _ in trials), "all"]:
        row = [component]
        for fault in [*faults, "all"]:
            keys = [key for key in total if component in (key[0], "all") and fault in (key[1], "all")]
            tried, whole = sum(total[key] for key in keys), sum(held[key] for key in keys)
            row.append(f"{whole} of {tried}" if whole < tried else str(tried) if tried else "")
        rows.append(row)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="Run every N-th trial only.")
    parser.add_argument("--finished", type=Path, help="Finished run that tickets are issued from; made if missing.")
    everything = [*JOBS_BY_NAME, TRAINING]
    parser.add_argument("--only", nargs="+", default=everything, choices=everything, help="Run these jobs only.")
    chosen = parser.parse_args()
    from tests.gates.run_folder import finished_run_at

    started, done = time.monotonic(), []
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        finished = finished_run_at((chosen.finished or top / "finished").absolute())
        for trial in all_trials(top / "trials", finished, chosen.every, chosen.only):
            done.append(trial)
            if trial[2] != "held":
                print(f"{trial[0]}, {trial[1]}: {trial[2]}", flush=True)
        if TRAINING in chosen.only:
            done += killed_training(top, math.ceil(TRAINING_KILLS / chosen.every))
    lost = [trial for trial in done if trial[2] != "held"]
    print(table(done))
    print(f"Each figure is a number of trials; {len(lost)} of {len(done)} lost something.")
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor = sum(one.ru_utime + one.ru_stime for one in used)
    print(f"{time.monotonic() - started:.0f} s, {processor:.0f} s of processor time")
    for component, fault, verdict in lost:
        print(f"{component}, {fault}: {verdict}")
    sys.exit(bool(lost))


if __name__ == "__main__":
    main()
