"""How long `askgate verify` takes on a finished run of 30,000 samples: plain, and with every gate derived again.

    python bench/verify.py

The run is made by the stages' own code. What its policy said is scripted and its judge is the test suite's server
(`tests/gates/run_folder.py`): what is timed is reading, summing and measuring, not what comes out. Each command is a
process of its own, start-up of Python included. Leaves with 1 when a limit is passed.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.checkouts import BEYOND_A_TINY_RUN  # noqa: E402
from tests.gates import run_folder  # noqa: E402

SAMPLES = 30_000
LIMITS = {("verify",): 5.0, ("verify", "--deep"): 90.0}


def finished(folder: Path) -> None:
    os.chdir(folder)
    run_folder.N = SAMPLES
    run_folder.COUNTS = {**run_folder.COUNTS, "pool_samples": SAMPLES}
    run_folder.build_run()
    # Whether a scripted policy passes is not what is timed.
    run_folder.edit_profile(lambda found: found["thresholds"].update(BEYOND_A_TINY_RUN))
    for one in run_folder.both_rounds():
        if not one.passed:
            sys.exit(f"{one.round} did not pass: {one.to_do}")


def seconds(folder: Path, *arguments: str) -> float:
    command = [sys.executable, "-m", "src.cli", *arguments]
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True, capture_output=True)
    return time.perf_counter() - started


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        finished(folder)
        load = f"load average {os.getloadavg()[0]:.1f}"
        print(f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, {load}")
        took = {arguments: seconds(folder, *arguments) for arguments in LIMITS}
    for arguments, limit in LIMITS.items():
        print(f"askgate {' '.join(arguments)}: {took[arguments]:.1f} s (limit {limit:.0f} s)")
    sys.exit(any(took[arguments] > limit for arguments, limit in LIMITS.items()))


if __name__ == "__main__":
    main()
