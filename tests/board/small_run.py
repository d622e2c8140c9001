"""A small project folder, and the board's server for it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from askgate_env.types import TASKS, Episode, Hidden, Level, Provenance, Sample, Turn
from src.board.runs import Board
from src.board.server import HOST, make_app
from src.config.profile import load_profile
from src.core.check import now
from src.core.files import fingerprint, write_json
from src.core.jsonl import write_records
from src.gates.gate import GATES, MOMENTARY, Finding
from src.gates.manifest import Manifest
from src.gates.ticket import ROUND1, TICKET, Fingerprint, Round
from src.scoring.ledger import Head

LEVELS: tuple[Level, ...] = ("easy", "medium", "hard")
TRAINING = "logs/episodes/seed_7"
BASE, TRAINED = "logs/eval/seed_7/step_00000.jsonl", "logs/eval/seed_7/step_00003.jsonl"
WEIGHTS = Path("configs/weights.json")
WAIT_MS = 60_000
"""Deadline of the browser, generous because a busy machine is slow."""
START_SECONDS = 60
"""Deadline for the server to start on a busy machine."""


def episode(number: int, *, success: bool, asks: bool = False, text: str = "", reward: float | None = None) -> Episode:
    """An episode whose task and level follow from its number. Every third one lacks information."""
    needs = number % 3 == 0
    asked = (Turn("assistant", "ask", "Which year do you mean?"), Turn("user", "say", "I mean 1941.")) if asks else ()
    return Episode(
        sample_id=f"{TASKS[number % 3]}-{number:04d}",
        task=TASKS[number % 3],
        lang="zh" if number % 4 == 0 else "en",
        level=LEVELS[number % 3 - 1],
        needs_clarification=needs,
        turns=(
            Turn("user", "say", text or f"Question {number}: where does the river Yarra end?"),
            *asked,
            Turn("assistant", "call", "Yarra", tool="wiki", thought="look it up first"),
            Turn("tool", "result", "Yarra: 雅拉河流入菲利普港湾。 It ends in a bay.", tool="wiki"),
            Turn("assistant", "answer", "in the bay"),
        ),
        end="answer",
        answer="in the bay",
        success=success,
        seed=number,
        received_info=needs and asks,
        reward={
            "outcome": float(success) if reward is None else reward,
            "overclar": -0.07 if asks and not needs else 0,
        },
    )


def pool_sample(number: int) -> Sample:
    """The sample of `episode(number)`. Every third one lacks the year."""
    one = episode(number, success=True)
    hidden = Hidden("year", "in 1941", "which year you mean", ("year",)) if one.needs_clarification else None
    return Sample(
        id=one.sample_id,
        task=one.task,
        lang="en",
        prompt=one.turns[0].text,
        premise="",
        clue="",
        question=one.turns[0].text,
        original=f"{one.turns[0].text} (in 1941)",
        context=(),
        support=(),
        answer="Port Phillip <b>bay</b>",
        aliases=(),
        needs_clarification=one.needs_clarification,
        dialogue=(),
        provenance=Provenance("builtin", "shadow", one.sample_id, "t", "student", "casual", 1),
        hidden=hidden,
    )


def write_episodes(root: Path, name: str, episodes: Sequence[object]) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as handle:
        write_records(handle, episodes)


def write_step(root: Path, step: int) -> None:
    """Write a training step as a run does: the episodes, then the line of figures."""
    write_episodes(root, f"{TRAINING}/step_{step:05d}.jsonl", [episode(n, success=n < 3 + step) for n in range(8)])
    with open(root / "logs" / "metrics.jsonl", "ab") as log:
        figures = {"seed": 7, "step": step, "reward": 0.1 * step, "success": 0.1 * step, "kl": 0.001 * step}
        log.write(json.dumps(figures).encode() + b"\n")


def small_run(root: Path) -> Path:
    """Two steps of training, and the base and a trained policy on twelve held-out samples."""
    (root / "logs").mkdir(parents=True)
    for step in (1, 2):
        write_step(root, step)
    write_episodes(root, BASE, [episode(n, success=n % 2 == 0, asks=n % 4 == 1) for n in range(100, 112)])
    write_episodes(root, TRAINED, [episode(n, success=n != 101, asks=n % 3 == 0) for n in range(100, 112)])
    return root


def write_rounds(failed: str = "") -> None:
    """Write the reports of both rounds into the working folder. The gate `failed` fails in round 1."""
    WEIGHTS.parent.mkdir(exist_ok=True)
    if not WEIGHTS.exists():
        WEIGHTS.write_text('{"weights": {}}\n')
    ledger = load_profile("quickstart").paths.ledger
    ledger.parent.mkdir(parents=True, exist_ok=True)
    ledger.touch()
    manifest = Manifest()
    manifest.begin()
    for number, path in ((1, ROUND1), (2, TICKET)):
        gates = [gate for gate in GATES if gate != "round1" or number == 2]
        bad = failed if number == 1 else ""
        report = Round(
            round="round1" if number == 1 else "round2",
            ts=now(),
            passed=not bad,
            profile="quickstart",
            started=now(),
            version="0",
            run=manifest.run,
            after=manifest.head,
            files={"profile": _print(Path("configs/gates/quickstart.yaml"))},
            ledger=Head(0, "0" * 64),
            findings=[_finding(gate, gate == bad) for gate in gates],
            environment={},
        )
        write_json(path, report)
        manifest.record([path])


def _print(path: Path) -> Fingerprint:
    return Fingerprint(str(path), fingerprint(path))


def _finding(gate: str, failed: bool) -> Finding:
    value = 0.41 if failed else 0.77
    evidence = {str(WEIGHTS): fingerprint(WEIGHTS)}
    name = min(MOMENTARY.get(gate, {"figure"}))
    return Finding(gate, name, value, ">=", 0.6, not failed, "make more of it", "请补充数据", evidence)


@dataclass
class Served:
    board: Board
    port: int

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def get(self, path: str, host: str | None = None, method: str = "GET") -> tuple[int, dict[str, str], str]:
        """Request a path as it is: no library normalises it before it is sent."""
        wire = http.client.HTTPConnection(HOST, self.port, timeout=60)
        wire.putrequest(method, path, skip_host=True)
        if host != "":
            wire.putheader("Host", host or f"{HOST}:{self.port}")
        wire.endheaders()
        answer = wire.getresponse()
        text = answer.read().decode()
        wire.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text

    def update_indexes(self) -> None:
        for run in self.board.runs.values():
            run.indexer.update()


@contextmanager
def served(*roots: Path) -> Iterator[Served]:
    """A running server. The first root must be the working folder, as the command ensures."""
    board = Board(roots)
    listener = socket.socket()
    listener.bind((HOST, 0))
    port = listener.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(make_app(board, port), log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + START_SECONDS
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        assert time.monotonic() < deadline, "the server did not start in time"
        time.sleep(0.02)
    try:
        yield Served(board, port)
    finally:
        server.should_exit = True
        thread.join(30)
        listener.close()
