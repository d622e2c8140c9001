"""The probe: a few real calls that show whether the judge answers, bills, and is not faster than a real judge can be.

Its samples are new, so the cache has no votes on them. It also shows whether the judge falls for canaries: worthless
answers, scored beside a good answer to the same question.
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from askgate_env.types import Sample, Turn

from ..core.check import Check, Report, evidence, now, report
from ..data.pool.build import builtin_samples
from ..runtime.progress import Tell
from .judge import Progress, Session, Tally, open_session
from .ledger import scorings
from .prompt import CANARIES
from .providers import ScorerSettings
from .stub_checks import is_answered, is_paid, latency_checks, sameness_checks, scoring_check
from .types import CallEntry, ScoringEntry


def probe(n: int, seed: int, settings: ScorerSettings, tell: Tell, progress: Progress = lambda tally: None) -> Report:
    """Scores `n` new samples and the canaries live, and returns the report on the calls."""
    started, ledger = now(), settings.scoring.ledger
    samples = builtin_samples(n, seed)  # of every task and language
    good = next((one for one in samples if one.lang == "en" and not one.needs_clarification), samples[0])
    canaries = canary_samples(good)
    with open_session(settings, tell) as session:
        entries, tally = asyncio.run(_score(session, [*samples, *canaries.values()], progress))
    ids = {entry.scoring for entry in entries.values()}
    calls = [call for scoring in scorings(ledger) if scoring.entry.scoring in ids for call in scoring.calls]
    figures: dict[str, Any] = {
        "provider": settings.provider.name,
        "model": settings.provider.model,
        "samples": n,
        "calls": [msgspec.to_builtins(call) for call in calls],
        "latency_ms": [call.latency_ms for call in calls if is_paid(call)],
        "billable_tokens": sum(call.billable_tokens for call in calls),
        "cost_usd": tally.cost,
        "canaries": [_canary(name, entries[one.id], entries[good.id]) for name, one in canaries.items()],
    }
    proof = evidence([ledger], [], {"n": n, "seed": seed, "provider": settings.provider.name}, started)
    return report("probe_scorer", _checks(list(entries.values()), calls), figures, proof)


def canary_samples(good: Sample) -> dict[str, Sample]:
    """The good sample with each canary as its answer, by name of the canary."""
    return {
        name: msgspec.structs.replace(
            good, id=f"{good.id}-canary-{place}", dialogue=(good.dialogue[0], Turn("assistant", "answer", text))
        )
        for place, (name, text) in enumerate(CANARIES[good.lang].items(), start=1)
    }


def _canary(name: str, entry: ScoringEntry, good: ScoringEntry) -> dict[str, Any]:
    """A canary's score and the good answer's; None: not scored. `fooled`: the canary scored at least as high."""
    fooled = entry.overall is not None and good.overall is not None and entry.overall >= good.overall
    return {"name": name, "overall": entry.overall, "good": good.overall, "fooled": fooled}


async def _score(session: Session, samples: list[Sample], progress: Progress) -> tuple[dict[str, ScoringEntry], Tally]:
    async with session.client() as client:
        judge = session.judge(client)
        judge.tally.total = len(samples)

        async def score(sample: Sample) -> ScoringEntry:
            entry = await judge.score(sample)
            progress(judge.tally)
            return entry

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(score(sample)) for sample in samples]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None  # a disk error, which is the same for all of them
    entries = [task.result() for task in tasks]
    return {entry.sample: entry for entry in entries}, judge.tally


def _checks(entries: list[ScoringEntry], calls: list[CallEntry]) -> list[Check]:
    failures = [entry.failure for entry in entries if entry.failure]
    paid = [call for call in calls if is_paid(call)]
    why = failures[0] if failures else ""
    unbilled = sum(call.billable_tokens < 1 for call in paid)
    scored = scoring_check("scorings_failed", float(len(failures)), "==", 0.0, why=why)
    if failures and not any(is_answered(call.status) for call in calls):
        return [scored]  # without any reply there is nothing else to check
    return [
        scored,
        scoring_check("cache_hits", float(sum(call.cache_hit for call in calls)), "==", 0.0),
        scoring_check("calls_paid", float(len(paid)), ">=", 1.0),
        scoring_check("calls_without_bill", float(unbilled), "==", 0.0),
        *latency_checks([call.latency_ms for call in paid]),
        *sameness_checks(paid),
    ]
