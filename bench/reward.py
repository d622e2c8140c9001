"""How long the two checks of a reward take once the episodes are there: one run, one table.

    python bench/reward.py

- `shadow_run` on 245 recorded episodes of models/tiny, without calls to a judge: rating, figures and their bootstrap
  intervals over all, by task, by difficulty. Playing them, before that, is timed too, as information.
- `weight_calib --cv 5 --boot 200` on 245 scored episodes with 12 dimensions, and on 100,000 with all 17. These are made
  up (half of each score is chance): what is timed is reading, fitting and held-out figures, not what comes out.

Every command runs as a process of its own, start-up of Python included. Leaves with 1 when a limit is passed.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "packages/askgate-env/src")]

from askgate_env.types import LEVELS, TASKS  # noqa: E402
from src.core.jsonl import write_records  # noqa: E402
from src.reward.scored_episodes import ScoredEpisode  # noqa: E402
from src.reward.weights import Baseline, read_baseline  # noqa: E402

SHADOW = ("shadow_run", "--n", "245", "--seed", "20250820", "--stratify")
CALIB = ("weight_calib", "--cv", "5", "--boot", "200", "--l2", "0.1", "--seed", "42")
MANY = 100_000


def seconds(folder: Path, *arguments: str | Path) -> float:
    """A gate may fail here (exit code 1): it is the time that is measured."""
    command = [sys.executable, "-m", "src.cli", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "REWARD_LIVE_MODE": "0"}
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    took = time.perf_counter() - started
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} left with {done.returncode}:\n{done.stderr}")
    return took


def made_up(path: Path, n: int, names: Sequence[str]) -> Path:
    rng = np.random.default_rng(1)
    quality = rng.random(n)
    success = rng.random(n) < quality
    dims = 0.5 * quality[:, None] + 0.5 * rng.random((n, len(names)))
    with open(path, "wb") as file:
        write_records(
            file,
            (
                ScoredEpisode(
                    id=f"e{place}",
                    sample_id=f"s{place}",
                    source_id=f"q{place}",
                    split="train",
                    task=TASKS[place % 3],
                    level=LEVELS[place // 3 % 3],
                    success=bool(success[place]),
                    dims=dict(zip(names, row.tolist(), strict=True)),
                    live=True,
                )
                for place, row in enumerate(dims)
            ),
        )
    return path


def main() -> None:
    whole = read_baseline()
    twelve = Baseline(whole.weights, whole.new[: 12 - len(whole.weights)])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = folder / "twelve.json"
        small.write_text(json.dumps({"weights": twelve.weights, "new": twelve.new}))
        few = made_up(folder / "few.jsonl", 245, twelve.names)
        many = made_up(folder / "many.jsonl", MANY, whole.names)
        rows = [
            ("play 245 samples, then shadow_run", seconds(folder, *SHADOW), None),
            ("shadow_run on 245 recorded episodes", seconds(folder, *SHADOW), 5.0),
            ("weight_calib, 245 x 12", seconds(folder, *CALIB, "--scored", few, "--baseline", small), 10.0),
            (f"weight_calib, {MANY:,} x 17", seconds(folder, *CALIB, "--scored", many), 60.0),
        ]
    table = Table("what", "seconds", "limit")
    for what, took, limit in rows:
        table.add_row(what, f"{took:.1f}", "" if limit is None else f"{limit:.0f} s")
    console = Console()
    console.print(f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}")
    console.print(f"load average {os.getloadavg()[0]:.1f}")
    console.print(table)
    sys.exit(any(limit is not None and took > limit for _, took, limit in rows))


if __name__ == "__main__":
    main()
