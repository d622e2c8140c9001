"""How fast the data plane is, and how much memory it takes: one run, one table.

    python bench/data_plane.py              the 30,000-sample stages, then near duplicates beside other libraries
    python bench/data_plane.py --million    also 1,000,000 samples, validated and measured (some twenty minutes)

Every stage runs as its own process, so that peak memory is that stage's. Peak memory counts the process and its
workers together.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
MIB = 2**20


@dataclass(frozen=True)
class Cost:
    seconds: float
    peak_mib: float


def run(folder: Path, *arguments: str | Path) -> Cost:
    """Runs a command in `folder` and watches the memory of its whole process tree."""
    command = [sys.executable, "-m", "src.cli", *(str(argument) for argument in arguments)]
    started = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    peak = _Peak(process.pid)
    peak.start()
    assert process.stdout is not None
    said = process.stdout.read().decode()
    code = process.wait()
    seconds = time.perf_counter() - started
    peak.join()
    if code:
        sys.exit(f"{' '.join(command)} left with {code}:\n{said}")
    return Cost(seconds, peak.bytes / MIB)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


class _Peak(threading.Thread):
    """Largest sum of resident memory over a process and its children, looked at twenty times a second.

    Shared pages (the interpreter, libraries) count once for every process, so the figure errs on the high side.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.process = psutil.Process(pid)
        self.bytes = 0

    def run(self) -> None:
        while self.process.is_running() and self.process.status() != psutil.STATUS_ZOMBIE:
            try:
                family = [self.process, *self.process.children(recursive=True)]
                self.bytes = max(self.bytes, sum(one.memory_info().rss for one in family))
            except psutil.Error:
                pass
            time.sleep(0.05)


def stages(folder: Path, n: int) -> dict[str, Cost]:
    pool = "data/rollouts/rc1_seed.jsonl"
    metrics, balanced = "data/rollouts/rc1_seed.metrics.jsonl", "data/rollouts/rc1_seed.balanced.jsonl"
    run(folder, "shadow_run", "--n", "245", "--stratify", "--materialize", "data/shadow_eval_245.jsonl")
    return {
        "build": run(folder, "build_rollout_pool", "--n", str(n), "--out", pool),
        "validate": run(folder, "validate_pool", pool),
        "difficulty_metrics": run(folder, "difficulty_metrics", "--in", pool, "--out", metrics),
        "difficulty_bucketize": run(folder, "difficulty_bucketize", "--metrics", metrics, "--out", balanced),
        "validate_difficulty": run(folder, "validate_difficulty", "--metrics", metrics, "--balanced", balanced),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--million", action="store_true", help="also measure 1,000,000 samples")
    wanted = parser.parse_args()
    console = Console(width=100)
    console.print(f"{platform.machine()}, {psutil.cpu_count()} cores, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = stages(folder, 30_000)
        _show(console, "30,000 samples", small)
        _neardup(console, folder / "data/rollouts/rc1_seed.jsonl")
    if wanted.million:
        with tempfile.TemporaryDirectory() as name:
            large = stages(Path(name), 1_000_000)
            _show(console, "1,000,000 samples", large)
            judged = ("validate", "difficulty_metrics")
            ratio = sum(large[s].seconds for s in judged) / sum(small[s].seconds for s in judged)
            console.print(f"validated and measured: {ratio:.1f} times the 30,000-sample time (limit 36)")


def _show(console: Console, title: str, costs: dict[str, Cost]) -> None:
    table = Table("stage", "seconds", "peak MiB", title=title)
    for stage, cost in costs.items():
        table.add_row(stage, f"{cost.seconds:.1f}", f"{cost.peak_mib:.0f}")
    difficulty = [cost for stage, cost in costs.items() if "difficulty" in stage]
    total = sum(cost.seconds for cost in difficulty)
    table.add_row("difficulty, all three", f"{total:.1f}", f"{max(c.peak_mib for c in difficulty):.0f}")
    console.print(table)


def _neardup(console: Console, pool: Path) -> None:
    console.rule("near duplicates, side by side")
    subprocess.run([sys.executable, ROOT / "bench" / "neardup.py", pool], check=True, env=_environment())


if __name__ == "__main__":
    main()
