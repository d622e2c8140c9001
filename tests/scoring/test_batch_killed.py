"""`askgate score --batch` is killed at every request and at every write, and loses and pays nothing twice."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from src.scoring.ledger import lines, verify
from src.scoring.types import CallEntry, ScoringEntry
from tests.fork_server import ForkServer
from tests.scoring.batch_server import BatchServer, Fate
from tests.scoring.test_batch_api import use_batches
from tests.scoring.workspace import Workspace, samples

SAMPLES, VOTES = 2, 3


@pytest.fixture(scope="module")
def batch_runs() -> Iterator[ForkServer]:
    server = ForkServer("tests.scoring.batch_run")
    yield server
    server.close()


def bad_once(n: int, key: str) -> Fate:
    """The first try of some requests brings no vote, so that there is a second batch.

    Keys depend on the server's port, so that in few trials (0.02%) no request fails.
    """
    return "ok" if n or key[0] > "b" else "500"


class Trial:
    """One killed run and one that continues it, in a folder and with a provider of their own."""

    def __init__(self, workspace: Workspace, runs: ForkServer, folder: Path) -> None:
        (folder / "configs").mkdir(parents=True)
        for name in ("pool.jsonl", "configs/default.yaml"):
            (folder / name).write_bytes((workspace.folder / name).read_bytes())
        self.folder, self.runs, self.environment = folder, runs, workspace.environment

    def killed_at_request(self, server: BatchServer, number: int, moment: str) -> bool:
        """Whether the run was killed, before or after the effect of that request on the provider."""
        child: list[int] = []
        started = threading.Event()

        def kill(request: int, when: str) -> None:
            if (request, when) == (number, moment):
                assert started.wait(60)
                os.kill(child[0], signal.SIGKILL)

        server.on_request = kill
        child.append(self.runs.start("run", self.folder, environment=self._settings(server)))
        started.set()
        code = self.runs.wait(child[0])
        server.on_request = lambda request, when: None
        assert code in (0, -signal.SIGKILL)
        return code != 0

    def killed_at_write(self, server: BatchServer, kind: str, step: int) -> bool:
        code = self.runs.run("run", self.folder, environment=self._settings(server), fault=[kind, step])
        assert code in (0, -signal.SIGKILL)
        return code != 0

    def _settings(self, server: BatchServer) -> dict[str, str]:
        return {**self.environment, "SCORER_BASE_URL": server.url}

    def check(self, server: BatchServer) -> None:
        """Continues the run: it ends, every reply is on record once, and no vote was paid for twice."""
        before = Counter(server.paid)
        assert self.runs.run("run", self.folder, environment=self._settings(server)) == 0
        assert len(server.paid) == SAMPLES * VOTES
        assert set(server.paid.values()) == {1}, (before, server.paid)
        ledger = self.folder / "reports/rc1/scoring_ledger.jsonl"
        verify(ledger)
        entries = [line.entry for line in lines(ledger)]
        paid = [one for one in entries if isinstance(one, CallEntry) and not one.cache_hit and one.scores]
        assert Counter(one.key for one in paid) == server.paid
        assert sum(one.billable_tokens for one in paid) == server.tokens_in + server.tokens_out
        scored = [one.sample for one in entries if isinstance(one, ScoringEntry) and one.overall is not None]
        assert set(scored) == {f"sample-{number}" for number in range(SAMPLES)}


@pytest.fixture
def prepared(workspace: Workspace) -> Workspace:
    workspace.write_pool(samples(SAMPLES))
    use_batches(workspace)
    return workspace


@pytest.mark.parametrize(
    ("moment", "requests"),
    [
        ("after", (1, 2, 5)),  # the file was uploaded, the batch created, the results sent
        pytest.param("before", range(1, 30), marks=pytest.mark.slow),
        pytest.param("after", range(1, 30), marks=pytest.mark.slow),
    ],
)
def test_killed_at_requests(prepared: Workspace, batch_runs: ForkServer, moment: str, requests: Sequence[int]) -> None:
    killed = 0
    for number in requests:
        trial = Trial(prepared, batch_runs, prepared.folder / str(number))
        with BatchServer(bad_once) as server:
            if not trial.killed_at_request(server, number, moment):
                break
            killed += 1
            trial.check(server)
            assert len(server.created) == 2, "a batch was created twice"
    assert killed >= min(8, len(requests)), "file, batch, looks and results, twice"


@pytest.mark.parametrize(
    ("kind", "steps"),
    [
        ("kill before", (4, 9, 14)),
        pytest.param("kill before", range(1, 200), marks=pytest.mark.slow),
        pytest.param("kill amid", range(1, 200), marks=pytest.mark.slow),
        pytest.param("power cut", range(1, 200), marks=pytest.mark.slow),
    ],
)
def test_killed_at_writes(prepared: Workspace, batch_runs: ForkServer, kind: str, steps: Sequence[int]) -> None:
    killed = 0
    for step in steps:
        trial = Trial(prepared, batch_runs, prepared.folder / str(step))
        with BatchServer(bad_once) as server:
            if not trial.killed_at_write(server, kind, step):
                break
            killed += 1
            trial.check(server)
    assert killed >= min(15, len(steps))
