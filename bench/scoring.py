"""Benchmark of live scoring: how well it keeps to an unknown rate limit, and how fast cache and ledger are.

    python bench/scoring.py
    python bench/scoring.py --litellm PYTHON     an interpreter that has litellm, which wants another openai than ours

A server on this machine answers after 50 ms and lets at most R requests pass in any second, without saying so and
without Retry-After. Sustained: accepted requests as a share of R. Both shares are measured after the first 5 seconds.
Exit code 1 if one of our own figures misses its limit.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from random import Random

import psutil
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from src.scoring.ledger import Ledger, verify  # noqa: E402
from src.scoring.store import Store  # noqa: E402
from src.scoring.types import CallEntry, Reply, VoteRequest  # noqa: E402

LATENCY_S, WARM_UP_S = 0.05, 5.0
SUSTAINED, REFUSED = 0.95, 0.01
LOOKUPS_A_SECOND, VERIFIED_S, LINES = 5_000, 2.0, 100_000
STORED = 2_000


def limit_run(python: str, client: str, rps: int, seconds: float) -> tuple[float, float] | None:
    """Share of R sustained and share of refusals; None if the client is not installed."""
    server = subprocess.Popen(
        [sys.executable, ROOT / "tests/scoring/server.py", "--rps", str(rps), "--latency", str(LATENCY_S)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        command = [python, str(ROOT / "bench/scoring_drive.py"), client, url, str(seconds)]
        driven = subprocess.run(command, capture_output=True, text=True)
        if driven.returncode:
            if "No module named 'litellm'" in driven.stderr:
                return None
            sys.exit(driven.stderr)
        with urllib.request.urlopen(f"{url}/log") as answer:
            log: list[tuple[float, bool]] = json.load(answer)
    finally:
        server.kill()
        server.wait()
    start = log[0][0]
    late = [accepted for at, accepted in log if WARM_UP_S <= at - start < seconds]
    return sum(late) / ((seconds - WARM_UP_S) * rps), 1 - sum(late) / len(late)


def limits(console: Console, seconds: float, litellm_python: str) -> bool:
    clients = {
        "ours (rate learned)": (sys.executable, "ours"),
        "openai SDK, 5 at once": (sys.executable, "plain"),
        "litellm Router, 5 at once": (litellm_python, "litellm"),
    }
    table = Table("client", "R", "sustained", "429", title=f"{seconds:.0f} s each, figures after {WARM_UP_S:.0f} s")
    good = True
    for rps in (20, 100):
        for name, (python, client) in clients.items():
            found = limit_run(python, client, rps, seconds)
            if found is None:
                console.print(f"{name}: skipped, litellm is not installed here (see --litellm)")
                continue
            sustained, refused = found
            table.add_row(name, str(rps), f"{sustained:.1%}", f"{refused:.2%}")
            if client == "ours":
                good &= sustained >= SUSTAINED and refused <= REFUSED
    console.print(table)
    console.print(f"ours must sustain {SUSTAINED:.0%} of R with at most {REFUSED:.0%} refused")
    return good


def lookups(folder: Path) -> float:
    """Votes found in the cache, a second."""
    asks = [VoteRequest("local", "tiny", "judge-1", ("logic",), "en", f"User: question {n}", 0) for n in range(STORED)]
    with Store(folder / "scores.sqlite3", 14) as store:
        for number, ask in enumerate(asks):
            store.put(ask, Reply('{"logic": 7}', f"req-{number}", "tiny", 300, 10, 41.5), "scoring")
        order = Random(0).choices(asks, k=20_000)
        started = time.perf_counter()
        for ask in order:
            assert store.get(ask) is not None
        return len(order) / (time.perf_counter() - started)


def verification(folder: Path) -> float:
    """Seconds for 100,000 lines."""
    ledger = Ledger(folder / "ledger.jsonl")
    scores = {"logic": 0.7, "clarity": 0.8, "naturalness": 0.6, "educational": 0.5}
    at = "2026-01-01T00:00:00.000+00:00"
    for start in range(0, LINES, 5_000):
        ledger.append(
            [
                CallEntry(
                    f"scoring-{n}",
                    f"{n:064x}",
                    f"req-{n}",
                    "p",
                    "m",
                    "judge-1",
                    310,
                    41.5,
                    False,
                    "ok",
                    scores,
                    True,
                    at,
                )
                for n in range(start, start + 5_000)
            ]
        )
    started = time.perf_counter()
    head = verify(ledger.path)
    seconds = time.perf_counter() - started
    assert head.lines == LINES
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0, help="for each client and rate")
    parser.add_argument("--litellm", default=sys.executable, metavar="PYTHON", help="an interpreter that has litellm")
    wanted = parser.parse_args()
    console = Console(width=100)
    console.print(f"{platform.machine()}, {psutil.cpu_count()} cores, Python {platform.python_version()}")
    good = limits(console, wanted.seconds, wanted.litellm)
    with tempfile.TemporaryDirectory() as name:
        found, seconds = lookups(Path(name)), verification(Path(name))
    console.print(f"cache: {found:,.0f} lookups a second (at least {LOOKUPS_A_SECOND:,})")
    console.print(f"ledger: {LINES:,} lines verified in {seconds:.2f} s (at most {VERIFIED_S:g})")
    sys.exit(not (good and found >= LOOKUPS_A_SECOND and seconds <= VERIFIED_S))


if __name__ == "__main__":
    main()
