"""Data stages and scoring on a Ray cluster, against one process: the same bytes and verdicts, every vote paid once.

    python bench/cluster.py data --n 300000     every stage with processes of this machine, then with --cluster local
                                                and a worker killed in the middle of each stage
        --keep FOLDER                           can be stopped and repeated: stages that are done are not run again
    python bench/cluster.py scoring             3 runs on 2 Ray nodes against a judge that accepts 50 requests a second

Exit code 1 if a hash, a verdict or a bill differs, or a rate misses its limit.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
PATHS = (str(ROOT), str(ROOT / "packages/askgate-env/src"))
sys.path[:0] = PATHS
os.environ["PYTHONPATH"] = os.pathsep.join(PATHS)  # of workers too

from tests.scoring.cluster_run import audit, score_part  # noqa: E402
from tests.scoring.crash_run import notes  # noqa: E402
from tests.scoring.workspace import samples  # noqa: E402

MIB = 2**20
RPS, LATENCY_S, WARM_UP_S = 50, 0.05, 5.0
SUSTAINED, REFUSED = 0.95, 0.01
RAY_STARTS = 5
"""Attempts to start Ray, which gives itself 30 s: too few on a busy machine."""
POOL, METRICS, BALANCED = "data/pool.jsonl", "data/metrics.jsonl", "data/balanced.jsonl"
STAGES = {
    "shadow": ("shadow_run", "--n", "245", "--stratify", "--materialize", "data/shadow.jsonl"),
    "build": ("build_rollout_pool", "--out", POOL),
    "validate": ("validate_pool", POOL, "--leak-check", "data/shadow.jsonl", "--out", "reports/pool.json"),
    "difficulty_metrics": ("difficulty_metrics", "--in", POOL, "--out", METRICS),
    "difficulty_bucketize": ("difficulty_bucketize", "--metrics", METRICS, "--out", BALANCED),
    "validate_difficulty": (
        "validate_difficulty", "--metrics", METRICS, "--balanced", BALANCED, "--out", "reports/difficulty.json",
    ),
}  # fmt: skip
STAGE_FILES = dict(
    zip(
        STAGES,
        ("data/shadow.jsonl", POOL, "reports/pool.json", METRICS, BALANCED, "reports/difficulty.json"),
        strict=True,
    )
)
REPORTS = ("reports/pool.json", "reports/difficulty.json")
ALONE = ("shadow", "difficulty_bucketize")
"""Stages of one process, which have no `--cluster`."""


@dataclass
class Watch:
    """Peak memory of a command, of its largest worker and of Ray's own processes, and a worker to kill on the way."""

    process: psutil.Process
    kill: bool
    own: int = 0
    worker: int = 0
    killed: int = 0
    busy: dict[int, float] = field(default_factory=dict)

    def run(self) -> None:
        while self.process.is_running() and self.process.status() != psutil.STATUS_ZOMBIE:
            with suppress(psutil.Error):
                self._look()
            time.sleep(0.2)

    def _look(self) -> None:
        self.own = max(self.own, self.process.memory_info().rss)
        for child in self.process.children(recursive=True):
            name = " ".join(child.cmdline())
            # Ray names a worker after what it does; other workers are forks of the command.
            if not (name.startswith("ray::") or "src.cli" in name):
                continue
            memory = child.memory_info()
            self.worker = max(self.worker, memory.rss - memory.shared)
            if self.kill and name.startswith("ray::_") and not self.killed:
                # The second time that it is seen at work: in the middle of a call.
                seconds = sum(child.cpu_times()[:2])
                if seconds - self.busy.setdefault(child.pid, seconds) > 1.0:
                    child.send_signal(signal.SIGKILL)
                    self.killed = child.pid


@dataclass(frozen=True)
class Cost:
    """Cost of one stage: seconds, peak bytes of the command and of its largest worker, exit code, process id killed."""

    seconds: float
    command: int
    worker: int
    code: int
    killed: int


def stage(folder: Path, *arguments: str, kill: bool = False, starts: int = RAY_STARTS) -> Cost:
    started = time.perf_counter()
    command = [sys.executable, "-m", "src.cli", *arguments]
    with open(folder / "log.txt", "ab") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        watch = Watch(psutil.Process(process.pid), kill)
        thread = threading.Thread(target=watch.run)
        thread.start()
        code = process.wait()
        thread.join()
    if code == 2 and starts > 1 and "cannot start or join the Ray cluster" in (folder / "log.txt").read_text()[-2000:]:
        return stage(folder, *arguments, kill=kill, starts=starts - 1)
    if code not in (0, 1):  # 1: a gate that did not pass is a verdict too
        sys.exit(f"{' '.join(command)} ended with {code}; see {folder / 'log.txt'}")
    return Cost(time.perf_counter() - started, watch.own, watch.worker, code, watch.killed)


def run_once(folder: Path, name: str, n: int, cluster: str) -> Cost:
    """The cost of a stage. One that `costs.json` of the folder has is not run again."""
    log = folder / "costs.json"
    costs = json.loads(log.read_text()) if log.exists() else {}
    if name not in costs:
        more = ["--n", str(n)] if name == "build" else []
        more += ["--cluster", cluster] if cluster and name not in ALONE else []
        costs[name] = asdict(stage(folder, *STAGES[name], *more, kill=bool(cluster)))
        log.write_text(json.dumps(costs))
    return Cost(**costs[name])


def outcome(folder: Path, name: str) -> Any:
    """The hash of a file, or checks and figures of a report. Times and paths are left out."""
    if name not in REPORTS:
        with open(folder / name, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    report = json.loads((folder / name).read_text(encoding="utf-8"))
    return {key: report[key] for key in ("checks", "figures")}


def data(console: Console, n: int, keep: Path | None) -> bool:
    """Each stage by processes and then on Ray. What both wrote is compared before the next stage."""
    table = Table("stage", "way", "seconds", "peak MiB of the command", "of a worker", "exit", "killed")
    differing = []
    with tempfile.TemporaryDirectory() as temporary:
        folders = {way: (keep or Path(temporary)) / way for way in ("processes", "ray")}
        for folder in folders.values():
            (folder / "data").mkdir(parents=True, exist_ok=True)
        for name, written in STAGE_FILES.items():
            for way, folder in folders.items():
                cost = run_once(folder, name, n, "local" if way == "ray" else "")
                peaks = (f"{cost.command / MIB:.0f}", f"{cost.worker / MIB:.0f}")
                table.add_row(name, way, f"{cost.seconds:.1f}", *peaks, str(cost.code), str(cost.killed or ""))
                print(name, way, cost, flush=True)
            first, second = (outcome(folder, written) for folder in folders.values())
            differing += [written] if first != second else []
            said = f"{len(first['checks'])} checks" if written in REPORTS else first
            console.print(f"{written}: {'differs' if first != second else 'equal'}, {said}")
    console.print(table)
    console.print(f"differing files or reports: {differing or 'none'}")
    return not differing


def scoring(console: Console, seconds: float) -> bool:
    """Three runs of which each two share a third of their samples, one killed half-way, then the judge's own count."""
    from ray.cluster_utils import Cluster

    server = subprocess.Popen(
        [sys.executable, ROOT / "tests/scoring/server.py", "--rps", str(RPS), "--latency", str(LATENCY_S)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    url = server.stdout.readline().strip()
    import ray

    from src.config.loader import load_config

    total = int(seconds * RPS / load_config().scoring.votes.k)
    wanted = samples(total - total % 3)
    third = len(wanted) // 3
    parts = {
        name: [*wanted[at:], *wanted[:at]][: 2 * third] for name, at in {"a": 0, "b": third, "c": 2 * third}.items()
    }
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes.add_node(num_cpus=1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        try:
            ray.init(address=nodes.address, log_to_driver=False, logging_level=40)
            run = ray.remote(num_cpus=0.5, max_retries=2, scheduling_strategy="SPREAD")(score_part)
            runs = [run.remote(folder, name, url, part) for name, part in parts.items()]
            while len(notes(folder / "b/scores.jsonl")) < third:
                time.sleep(0.1)
                if ray.wait(runs, num_returns=3, timeout=0)[0] and not (folder / "b/scores.jsonl").exists():
                    ray.get(runs)
            os.kill(int(notes(folder / "b/started")[0][0]), signal.SIGKILL)
            summaries = ray.get(runs)
        finally:
            ray.shutdown()
            nodes.shutdown()
        with urllib.request.urlopen(f"{url}/log") as answer:
            log: list[tuple[float, bool]] = json.load(answer)
        server.kill()
        server.wait()
        paid, scorings = audit(folder)
        starts = {name: len(notes(folder / name / "started")) for name in parts}
    begin, end = log[0][0] + WARM_UP_S, log[-1][0] - 1.0  # the end has fewer calls than may be in flight
    late = [accepted for at, accepted in log if begin <= at < end]
    sustained, refused = sum(late) / ((end - begin) * RPS), 1 - sum(late) / len(late)
    accepted = sum(accepted for _, accepted in log)
    console.print(f"{len(wanted)} samples, each scored by two of three runs; run b killed and started again: {starts}")
    console.print(f"sustained {sustained:.1%} of R = {RPS}/s over {end - begin:.0f} s, answered 429: {refused:.2%}")
    console.print(f"accepted by the judge: {accepted}; paid in the ledger: {len(paid)}, no vote twice; chain whole")
    console.print(f"scored: {[one.scored for one in summaries]}, scorings in the ledger: {len(scorings)}")
    complete = all(one.scored == 2 * third for one in summaries) and accepted == len(paid)
    return complete and sustained >= SUSTAINED and refused <= REFUSED


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("data", "scoring"))
    parser.add_argument("--n", type=int, default=30_000, help="samples of the data stages")
    parser.add_argument("--seconds", type=float, default=60.0, help="of scoring at full rate")
    parser.add_argument("--keep", type=Path, help="folder for the files of the data stages; default: removed")
    wanted = parser.parse_args()
    console = Console(width=120)
    console.print(f"{psutil.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}")
    good = data(console, wanted.n, wanted.keep) if wanted.what == "data" else scoring(console, wanted.seconds)
    sys.exit(not good)


if __name__ == "__main__":
    main()
