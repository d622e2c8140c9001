"""One judge for all processes of a Ray cluster: an actor owns limiter, cache and ledger, and makes every call.

`askgate score --cluster ADDRESS` may run on several nodes at once, each with its own dialogues and its own --out. The
first starts the actor on its node, with the cache and the ledger of its folder; the others join it. The calls of a
process that is killed end in the actor, each with its ledger line; run again, the process finds them in the cache.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..core.errors import BadInput
from ..core.files import code_sha256
from ..runtime.progress import Tell
from ..runtime.workers import joined
from .client import JudgeClient
from .judge import Judge, Session, Tally, open_session
from .prompt import Dialogue
from .providers import Provider, ScorerSettings
from .types import ScoringEntry

NAMESPACE = "askgate"
CALLS_AT_ONCE = 10_000
"""Maximum number of scorings in the actor. The limiter decides when their calls are sent."""


class JudgeActor:
    """Cache, ledger and client of one provider, open for as long as a run uses them. Lives in a Ray worker."""

    def __init__(self) -> None:
        self._stack: ExitStack | None = None
        self._judges: dict[str, Judge] = {}
        self._scoring: dict[str, set[asyncio.Future[Any]]] = {}
        self._fingerprint = ""
        self._opening = asyncio.Lock()
        """Held while the judge opens or closes, so that no run begins while the judge of the last one closes."""

    async def open(self, run: str, settings: ScorerSettings) -> list[str]:
        """Begins a run and returns messages for the user. Concurrent runs must have equal settings except for votes."""
        notes: list[str] = []
        fingerprint = _fingerprint(settings)
        async with self._opening:
            if self._stack is None:
                with ExitStack() as stack:  # closes a session that opened only in part, for the next run
                    self._session: Session = stack.enter_context(open_session(settings, notes.append))
                    self._client: JudgeClient = self._session.client()
                    self._stack, self._fingerprint = stack.pop_all(), fingerprint
            elif fingerprint != self._fingerprint:
                raise BadInput(
                    f"the judge of this cluster has other settings; its ledger is {self._session.ledger.path}",
                    where="--cluster",
                    remedy="use the folder, config and version of the other run, or wait until it ends; after a"
                    " run that was killed, restart the cluster (`ray stop`)",
                )
            self._judges[run] = replace(self._session, settings=settings).judge(self._client)
            self._scoring[run] = set()
        return notes

    async def score(self, run: str, sample: Dialogue, repeat: bool) -> tuple[ScoringEntry, Tally, int]:
        """Scores one dialogue. Returns its entry, the run's counts so far, and how many calls may be in flight."""
        judge = self._judges[run]
        scoring = asyncio.ensure_future(judge.score(sample, repeat))
        self._scoring[run].add(scoring)
        try:
            return await scoring, judge.tally, self._client.limiter.concurrency
        finally:
            self._scoring[run].discard(scoring)

    async def close(self, run: str) -> None:
        """Ends a run: cancels its unfinished scorings, and records the calls that they paid for."""
        waiting = self._scoring.pop(run)
        for scoring in waiting:
            scoring.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        async with self._opening:
            del self._judges[run]
            if not self._judges and self._stack is not None:
                await self._client.close()
                self._stack.close()
                self._stack = None


def _fingerprint(settings: ScorerSettings) -> str:
    """Hash of everything that must be equal for two runs to share a judge."""
    scoring = settings.scoring.model_dump(mode="json", exclude={"votes"})
    key = settings.key.get_secret_value() if settings.key else ""
    parts = (settings.provider.model_dump(mode="json"), scoring, key, str(settings.gguf), code_sha256())
    return sha256(repr(parts).encode()).hexdigest()


class RemoteJudge:
    """Client of a cluster's judge for one run, with that run's counts. It has the interface of `judge.Judge`."""

    def __init__(self, actor: Any, run: str, provider: Provider) -> None:
        self._actor, self._run = actor, run
        self.tally = Tally(provider)
        self.concurrency = 0

    async def score(self, sample: Dialogue, repeat: bool = False) -> ScoringEntry:
        entry: ScoringEntry
        entry, tally, self.concurrency = await self._actor.score.remote(self._run, sample, repeat)
        # Results may overtake each other: an older tally has smaller counts.
        if tally.done >= self.tally.done:
            for count in fields(Tally):
                if count.name not in ("provider", "total"):
                    setattr(self.tally, count.name, getattr(tally, count.name))
        return entry


@contextmanager
def cluster_judge(cluster: str, settings: ScorerSettings, tell: Tell) -> Iterator[RemoteJudge]:
    """Joins the judge of a cluster, or starts it on this node if it has none."""
    with joined(cluster) as ray:
        from ray.exceptions import RayActorError, RayTaskError
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        provider = settings.provider
        name = f"judge of {provider.base_url or provider.name}"
        actor = (
            ray.remote(JudgeActor)
            .options(
                name=name,
                namespace=NAMESPACE,
                get_if_exists=True,
                lifetime="detached",  # else it would end with the first run
                num_cpus=0,
                max_concurrency=CALLS_AT_ONCE,
                scheduling_strategy=here,
            )
            .remote()
        )
        run = uuid.uuid4().hex
        scoring = settings.scoring
        paths = {name: Path(getattr(scoring, name)).absolute() for name in ("cache", "ledger")}
        sent = replace(
            settings, scoring=scoring.model_copy(update=paths), gguf=settings.gguf and settings.gguf.absolute()
        )
        try:
            for note in ray.get(actor.open.remote(run, sent)):
                tell(note)
            try:
                yield RemoteJudge(actor, run, provider)
            finally:
                ray.get(actor.close.remote(run))
        except RayTaskError as error:
            raise error.cause from None
        except RayActorError:
            raise BadInput(
                "the judge of the cluster ended, or its node did",
                where="--cluster",
                remedy="run the same command again; it continues from here and pays for nothing twice",
            ) from None
