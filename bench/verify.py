"""How long `askgate verify` takes on a finished run: plain, with every gate measured again, and admission to training.

    python bench/verify.py --run ~/quickstart   # the run in that folder, which must be finished
    python bench/verify.py                      # a run made here, of 3,000 samples
    python bench/verify.py --samples 30000      # as in rc1

A run made here is made by the stages' own code. What its policy said is scripted and its judge is the test suite's
server (`tests/gates/run_folder.py`): what is timed is reading, summing and measuring, not what comes out. No model was
trained with the ticket, so no dialogues are repeated. Each command is a process of its own, start-up of Python
included. Admission computes the digest of the code and goes on where it is not that of the ticket.

A busy machine lengthens the wall time, several threads the processor time. Leaves with 1 when both pass a limit.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.checkouts import BEYOND_A_TINY_RUN  # noqa: E402
from tests.gates import run_folder  # noqa: E402

ADMISSION = """
from pathlib import Path
from src.gates import admission
from src.gates.ticket import ROUND1, TICKET, read_round
from src.gates.verify import measure_again
ticket = read_round(TICKET)
for name in ("code", "launchers"):
    measured = getattr(admission, f"{name}_sha256")()
    setattr(admission, f"{name}_sha256", lambda name=name: getattr(ticket, name))
admission.admit(Path("configs/quickstart_gated.yaml"))
measure_again([read_round(ROUND1), ticket], print)
"""
"""What `run_gated` does before it trains."""
COMMANDS = {
    "askgate verify": (("-m", "src.cli", "verify"), 2.0),
    "askgate verify --deep": (("-m", "src.cli", "verify", "--deep"), 60.0),
    "admission to training": (("-c", ADMISSION), 20.0),
}


def finished(folder: Path, samples: int) -> None:
    os.chdir(folder)
    run_folder.N = samples
    run_folder.COUNTS = {**run_folder.COUNTS, "pool_samples": samples}
    run_folder.build_run()
    # Whether a scripted policy passes is not what is timed.
    run_folder.edit_profile(lambda found: found["thresholds"].update(BEYOND_A_TINY_RUN))
    for one in run_folder.both_rounds():
        if not one.passed:
            sys.exit(f"{one.round} did not pass: {one.to_do}")


def seconds(folder: Path, arguments: tuple[str, ...]) -> tuple[float, float]:
    """Wall time and processor time."""
    started, before = time.perf_counter(), _children_s()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-P", *arguments], cwd=folder, env=environment, check=True, capture_output=True)
    return time.perf_counter() - started, _children_s() - before


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=3_000, help="Samples of the pool.")
    parser.add_argument("--run", type=Path, help="Folder of a finished run; else one is made.")
    given = parser.parse_args()
    slow = False
    with tempfile.TemporaryDirectory() as name:
        folder = given.run or Path(name)
        if given.run is None:
            finished(folder, given.samples)
        load = f"load average {os.getloadavg()[0]:.1f}"
        what = given.run or f"{given.samples} samples"
        print(f"{what}, {os.cpu_count()} cores, Python {platform.python_version()}, {load}", flush=True)
        for command, (arguments, limit) in COMMANDS.items():
            wall, processor = seconds(folder, arguments)
            slow |= min(wall, processor) > limit
            print(f"{command}: {wall:.1f} s, {processor:.1f} s of processor time (limit {limit:.0f} s)", flush=True)
    sys.exit(slow)


if __name__ == "__main__":
    main()
