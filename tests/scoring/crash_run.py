"""A small scoring run for the crash tests, with the real store and ledger and a judge that keeps its own records.

The judge records every call (`billed`), and the run records every stored reply (`kept`). Both bypass the disk that the
tests break. The cost of a crash is measured with these two lists.
"""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import uuid
from collections import Counter
from pathlib import Path
from random import Random

from src.core.errors import BadInput
from src.scoring.judge import paid_entry, record, recover
from src.scoring.ledger import Ledger
from src.scoring.store import Store, Stored, fetch
from src.scoring.types import CallEntry, Reply, ScoringEntry, VoteRequest
from src.scoring.votes import aggregate
from tests import disk_faults

VOTES = 2
BAD_ONCE = ("sample 1", 0)
"""The first reply to this vote is no vote."""


def ask_for(sample: int, vote: int = 0) -> VoteRequest:
    return VoteRequest("local", "tiny", "judge-1", ("logic", "clarity"), "en", f"sample {sample}", vote)


def reply_with(text: str, request_id: str = "req-1", latency_ms: float = 12.5) -> Reply:
    return Reply(text, request_id, "tiny-served", tokens_in=100, tokens_out=10, latency_ms=latency_ms)


def note(file: Path, *words: str) -> None:
    """Appends one whole line in a single write, safe with several writers."""
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    os.write(handle, (" ".join(words) + "\n").encode())
    os.close(handle)


def notes(file: Path) -> list[list[str]]:
    return [line.split() for line in file.read_text().splitlines()] if file.exists() else []


class Judge:
    def __init__(self, folder: Path, pause: float) -> None:
        self.billed, self.pause, self.random = folder / "billed", pause, Random(os.getpid())

    async def __call__(self, ask: VoteRequest) -> Reply:
        seen = Counter(key for key, _ in notes(self.billed))[ask.key]
        request_id = f"req-{uuid.uuid4().hex}"
        note(self.billed, ask.key, request_id)
        await asyncio.sleep(self.pause * (0.5 + self.random.random()))
        bad = (ask.text, ask.vote) == BAD_ONCE and not seen
        return reply_with("I cannot say." if bad else '{"logic": 7, "clarity": 8}', request_id)


def run(folder: str, samples: int, at_once: int = 1, pause: float = 0.0, fault: list[str | int] | None = None) -> int:
    """Scores every sample. Returns 0 for success, 2 if the run was refused (its message is in `refused`)."""
    if fault:
        disk_faults.install(*fault)  # type: ignore[arg-type]
    place = Path(folder)
    try:
        with Store(place / "scores.sqlite3", 14) as store:
            ledger = Ledger(place / "ledger.jsonl")
            recover(store, ledger)
            asyncio.run(_score_all(place, store, ledger, samples, at_once, pause))
    except BadInput as error:
        note(place / "refused", str(error))
        return 2
    return 0


def run_with_little_room(folder: str, samples: int, room: int, die: bool) -> int:
    """The same run with a limit of `room` bytes per file.

    The kernel truncates the write that reaches the limit, and refuses the next write or kills the process.
    """
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL if die else signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    return run(folder, samples)


async def _score_all(place: Path, store: Store, ledger: Ledger, samples: int, at_once: int, pause: float) -> None:
    judge, gate = Judge(place, pause), asyncio.Semaphore(at_once)

    async def score(sample: int) -> None:
        async with gate:
            name = f"scoring-{uuid.uuid4().hex}"
            found = await asyncio.gather(*(_vote(place, store, judge, ask_for(sample, n), name) for n in range(VOTES)))
            calls = [call for calls, _ in found for call in calls]
            paid = [stored for _, replies in found for stored in replies]
            await asyncio.to_thread(record, store, ledger, [*calls, _verdict(name, sample, calls)], paid)

    await asyncio.gather(*(score(sample) for sample in range(samples)))


async def _vote(
    place: Path, store: Store, judge: Judge, ask: VoteRequest, name: str
) -> tuple[list[CallEntry], list[Stored]]:
    calls: list[CallEntry] = []
    bought: list[Stored] = []
    while True:
        stored, paid = await fetch(store, ask, name, judge)
        if paid:
            note(place / "kept", stored.reply.request_id)
            bought.append(stored)
            calls.append(paid_entry(stored))
        else:
            calls.append(hit(stored, name))
        if not stored.why_bad:
            return calls, bought


def hit(stored: Stored, name: str) -> CallEntry:
    paid = paid_entry(stored)
    return CallEntry(
        name, paid.key, paid.request_id, paid.provider, paid.model, paid.prompt_version, 0, 0.1, True, "ok",
        paid.scores, True, paid.at,
    )  # fmt: skip


def _verdict(name: str, sample: int, calls: list[CallEntry]) -> ScoringEntry:
    verdict = aggregate([call.scores for call in calls if call.scores])
    return ScoringEntry(
        name, f"sample {sample}", "local", "tiny", verdict.votes, verdict.overall, verdict.scores, verdict.variance,
        verdict.variance <= 0.08, sum(call.cache_hit for call in calls), sum(call.billable_tokens for call in calls),
        True, "", calls[0].at,
    )  # fmt: skip


def warm() -> None:
    """Imports everything before the runs start."""


JOBS = {"run": run, "run_with_little_room": run_with_little_room}
