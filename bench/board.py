"""The board at 100,000 episodes: how long the index takes, the first view, and every kind of filter.

    python bench/board.py              # builds a pool first, which takes a minute or two
    python bench/board.py --pool FILE  # episodes made from the demonstrations of that pool, repeated where it is small

Times are those of whole requests over HTTP, and of the browser where Chromium and playwright are there. Beside each is
the processor time of this process (server, index and measurements, not Chromium), which a busy machine hardly changes.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, count, islice
from pathlib import Path
from statistics import median
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "packages/askgate-env/src")]

import uvicorn  # noqa: E402

from askgate_env.types import LEVELS, Episode, Sample  # noqa: E402
from src.board.index import Indexer  # noqa: E402
from src.board.runs import Board  # noqa: E402
from src.board.server import HOST, make_app  # noqa: E402
from src.core.jsonl import read_records, write_records  # noqa: E402

PER_STEP = 100
TIMES = 5
FILTERS = {
    "first list": "",
    "no filter": "set=all",
    "task": "task=gsm8k",
    "difficulty": "level=hard",
    "asked and failed": "asked=yes&right=no",
    "must ask, did not": "needs=yes&asked=no",
    "variance at least 0.08": "variance=0.08",
    "ordered by reward": "order=reward",
    "ordered by variance": "order=variance",
    "page 1,000": "page=1000",
    "one step": "step=500",
    "all filters": "task=hotpotqa&level=hard&needs=no&asked=no&right=yes&lang=zh",
    "search: rare name": "q=Holworth",
    "search: frequent word": "q=the",
    "search: phrase": "q=%22above+sea+level%22",
    "search: 4 characters": f"q={quote('哪座集镇')}",
    "search: 2 characters": f"q={quote('集镇')}",
    "search: 2 letters": "q=of",
    "search and filters": f"q={quote('river')}&task=hotpotqa&level=hard&right=no",
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--n", type=int, default=100_000)
    options.add_argument("--pool", type=Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "run"
        root.mkdir()
        pool = given.pool.resolve() if given.pool else _pool(Path(scratch), given.n)
        n, size = _episodes(root, pool, given.n)
        os.chdir(root)
        print(f"{n:,} episodes in {size / 2**20:.0f} MB of logs\n\n| what | seconds | of processor |\n|---|---|---|")
        _index(root)
        with _served(root) as port:
            for path in ("/", "/episodes"):
                clock = Clock()
                _answer(port, path)
                print(f"| first answer to `{path}`, index there | {clock} |")
            _browser(port)
            _filters(port)


def _pool(folder: Path, n: int) -> Path:
    out = folder / "data" / "pool.jsonl"
    command = [sys.executable, "-m", "src.cli", "build_rollout_pool", "--n", str(n), "--out", str(out)]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return out


def _episodes(root: Path, pool: Path, n: int) -> tuple[int, int]:
    """Demonstrations as if a policy had played them, with chance for what it did not."""
    chance, made, size = random.Random(7), 0, 0
    folder = root / "logs" / "episodes" / "seed_7"
    folder.mkdir(parents=True)
    ledger = root / "reports" / "rc1" / "scoring_ledger.jsonl"
    ledger.parent.mkdir(parents=True)
    with open(ledger, "w") as scores:
        for step, samples in enumerate(batched_samples(pool, n), start=1):
            path = folder / f"step_{step:05d}.jsonl"
            with open(path, "wb") as handle:
                made += write_records(handle, [_episode(one, chance) for one in samples])
            for row in range(0, len(samples), 10):
                name = f"train/7/{step}/{row}/{samples[row].id}"
                variance = chance.random() * 0.1
                scores.write(f'{{"entry":{{"sample":"{name}","variance":{variance},"overall":0.5}}}}\n')
            size += path.stat().st_size
    return made, size


def batched_samples(pool: Path, n: int) -> Iterator[tuple[Sample, ...]]:
    found = islice(chain.from_iterable(read_records(pool, Sample) for _ in count()), n)
    while step := tuple(islice(found, PER_STEP)):
        yield step


def _episode(sample: Sample, chance: random.Random) -> Episode:
    success = chance.random() < 0.6
    return Episode(
        sample_id=sample.id,
        task=sample.task,
        lang=sample.lang,
        level=chance.choice(LEVELS),
        needs_clarification=sample.needs_clarification,
        turns=sample.dialogue,
        end="answer",
        answer=sample.answer,
        success=success,
        seed=chance.getrandbits(32),
        received_info=sample.needs_clarification,
        reward={"outcome": float(success), "overclar": -0.07 * (chance.random() < 0.1)},
        live=True,
    )


def _index(root: Path) -> None:
    made = Indexer(root)
    clock = Clock()
    drop = made._drop_old_text

    def then_text() -> None:
        """Rows are made before this call, text after it."""
        print(f"| index: filters and reading | {clock} |")
        drop()

    made._drop_old_text = then_text  # type: ignore[method-assign]
    made.update()
    print(f"| index: search too | {clock} |")
    clock = Clock()
    made._drop_old_text = drop  # type: ignore[method-assign]
    made.update()
    print(f"| update of an index without new logs | {clock} |")
    made.close()
    print(f"| size of the index, MB | {made.path.stat().st_size / 2**20:.0f} | |")


@contextmanager
def _served(root: Path) -> Iterator[int]:
    door = socket.socket()
    door.bind((HOST, 0))
    port = int(door.getsockname()[1])
    app = make_app(Board([root]), port)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [door]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield port
    server.should_exit = True
    thread.join()


class Clock:
    """Seconds since it was made, by the wall and of this process's processor time."""

    def __init__(self) -> None:
        self.wall, self.processor = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        return time.perf_counter() - self.wall, time.process_time() - self.processor

    def __str__(self) -> str:
        return " | ".join(f"{seconds:.3f}" for seconds in self.read())


def _answer(port: int, path: str) -> tuple[float, float, str]:
    clock = Clock()
    wire = http.client.HTTPConnection(HOST, port)
    wire.request("GET", path)
    answer = wire.getresponse()
    text = answer.read().decode()
    assert answer.status == 200, path
    return (*clock.read(), text)


def _browser(port: int) -> None:
    path = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        return
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name in ("/", "/episodes"):
            page = browser.new_page()
            clock = Clock()
            page.goto(f"http://{HOST}:{port}{name}")
            print(f"| `{name}` loaded in a new tab of Chromium | {clock} |")
        browser.close()


def _filters(port: int) -> None:
    print(
        f"\n| filter | finds | median of {TIMES}, ms | slowest, ms | median of processor, ms |\n|---|---|---|---|---|"
    )
    for name, query in FILTERS.items():
        answers = [_answer(port, f"/part/episodes?{query}") for _ in range(TIMES)]
        taken = [1000 * seconds for seconds, _, _ in answers]
        worked = median(1000 * seconds for _, seconds, _ in answers)
        found = int(answers[0][2].partition('data-n="')[2].partition('"')[0])
        print(f"| {name} | {found:,} | {median(taken):.0f} | {max(taken):.0f} | {worked:.0f} |")


if __name__ == "__main__":
    main()
