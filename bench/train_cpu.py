"""How fast one training iteration is on a CPU and what memory it takes, ours against TRL's GRPOTrainer: one run.

    python bench/train_cpu.py               32 episodes an iteration: 4 of each of 8 samples; some five minutes
    python bench/train_cpu.py --rounds 1 --iterations 1 --samples 2       a try

One iteration is a batch of episodes and the one update made from it. The sides:

- *pure_pt, grpo*: ours.
- *TRL GRPOTrainer*: TRL's own multi-turn episodes with tools (`bench/train_cpu_trl.py`): an
  `environment_factory` whose methods are the tools, a chat template with the same layout token by token, TRL's own loop
  around `generate` of transformers. It reads the whole dialogue at every turn, waits at each for the longest turn in
  the batch, and fills all episodes up to the longest before it learns from them.
- *pure_pt, ppo*: ours with the critic, as information: TRL has no PPO any more.
- *trl_ppo, grpo*: our engine around TRL, as information: our episodes, TRL's loss and update.

The same on all sides: models/tiny in float32, all weights learn, a frozen reference (KL weight 0.02), AdamW, samples in
the same order, tools, user simulator, reward and group size, at most 6 turns of 64 tokens, temperature 1. To spare TRL
what it need not do, gradient checkpointing (its default) and logging are off, and the batch goes through the model in
one piece. What differs: chance, so that no two sides say the same words; a turn without an act ends an episode at TRL,
where ours tells the policy so and goes on; and an episode is cut off at 512 tokens, of which TRL counts those after the
prompt and ours all. Turns and tokens are printed for that.

Each side runs in a process of its own; the first iteration warms up and does not count. The sides take turns, in one
order and then in the other; medians over the rounds are compared. Peak memory is that of the whole process, libraries
included. Leaves with 1 when ours is not 4 times as fast.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from src.core.defaults import MIX, TEMPLATES  # noqa: E402
from src.data.pool.build import build_pool  # noqa: E402
from src.data.pool.plan import BuildPlan  # noqa: E402

TIMES_AS_FAST = 4.0
OURS, THEIRS = "grpo", "trl"
SIDES = {OURS: "pure_pt, grpo", THEIRS: "TRL GRPOTrainer", "ppo": "pure_pt, ppo", "trl_ppo": "trl_ppo, grpo"}


def run(side: str, pool: Path, seed: int, given: argparse.Namespace) -> dict[str, Any]:
    """This process stays small, because a child begins with the peak memory of its parent."""
    numbers = (seed, given.iterations + 1, given.samples, given.group)
    command = [sys.executable, str(ROOT / "bench/train_cpu_side.py"), side, str(pool), *map(str, numbers)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} left with {done.returncode}:\n{done.stderr}")
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def rate(measured: dict[str, Any]) -> float:
    return float(measured["counts"]["episodes"] / measured["seconds"])


def speed(rounds: dict[str, list[dict[str, Any]]], title: str) -> Table:
    table = Table(title=title)
    table.add_column("")
    for column in ("episodes/s", "best", "tokens said/s", "peak MiB", "turns", "tokens said", "all tokens", "reward"):
        table.add_column(column, justify="right")
    for side, measured in rounds.items():
        sums = {name: sum(one["counts"][name] for one in measured) for name in measured[0]["counts"]}
        said = median(one["counts"]["said"] / one["seconds"] for one in measured)
        means = [sums[name] / sums["episodes"] for name in ("turns", "said", "tokens", "reward")]
        table.add_row(
            SIDES[side],
            f"{median(map(rate, measured)):.1f}",
            f"{max(map(rate, measured)):.1f}",
            f"{said:,.0f}",
            f"{median(one['peak_mib'] for one in measured):,.0f}",
            *(f"{mean:.{digits}f}" for mean, digits in zip(means, (2, 1, 1, 2), strict=True)),
        )
    return table


def parts(rounds: dict[str, list[dict[str, Any]]], iterations: int) -> Table:
    """Milliseconds of an iteration. What TRL does inside our own engine is not taken apart."""
    table = Table(title="where the time of one iteration goes, ms")
    table.add_column("")
    for side in rounds:
        table.add_column(SIDES[side], justify="right")
    names = dict.fromkeys(name for measured in rounds.values() for name in measured[0]["parts"])
    spent = {
        side: {name: median(one["parts"].get(name, 0.0) for one in measured) / iterations * 1000 for name in names}
        | {"iteration": median(one["seconds"] for one in measured) / iterations * 1000}
        for side, measured in rounds.items()
    }
    for name in names:
        table.add_row(name, *(f"{each[name]:,.1f}" if each[name] else "" for each in spent.values()))
    table.add_row("the rest", *(f"{2 * each['iteration'] - sum(each.values()):,.1f}" for each in spent.values()))
    table.add_section()
    table.add_row("iteration", *(f"{each['iteration']:,.1f}" for each in spent.values()))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=3, help="that count, in each process")
    parser.add_argument("--samples", type=int, default=8, help="in one iteration")
    parser.add_argument("--group", type=int, default=4, help="episodes of each sample")
    given = parser.parse_args()
    rounds: dict[str, list[dict[str, Any]]] = {side: [] for side in SIDES}
    console = Console(width=120)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        pool = Path(folder) / "pool.jsonl"
        wanted = (given.iterations + 1) * given.samples
        build_pool(BuildPlan(n=max(400, wanted), templates_dir=TEMPLATES, mix=MIX, seed=4, langs=()), pool)
        for seed in range(given.rounds):
            for side in list(SIDES)[:: -1 if seed % 2 else 1]:
                rounds[side].append(run(side, pool, seed, given))
                console.print(f"round {seed + 1}, {SIDES[side]}: {rate(rounds[side][-1]):.1f} episodes/s")
    batch = given.samples * given.group
    title = f"{batch} episodes an iteration, {given.iterations} iterations, median of {given.rounds} rounds"
    console.print(speed(rounds, title), parts(rounds, given.iterations))
    ours, theirs = (median(map(rate, rounds[side])) for side in (OURS, THEIRS))
    console.print(f"ours is {ours / theirs:.1f} times as fast as TRL (at least {TIMES_AS_FAST:g})")
    measured = rounds[OURS][0]
    console.print(
        f"{platform.machine()}, {os.cpu_count()} cores, {measured['threads']} threads, torch {measured['torch']}, "
        f"TRL {rounds[THEIRS][0]['trl']}, load average {load:.1f} before the run"
    )
    sys.exit(ours < TIMES_AS_FAST * theirs)


if __name__ == "__main__":
    main()
