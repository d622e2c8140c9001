"""A few samples that nobody has scored before, drawn at random in every round and scored live.

What was measured yesterday can be copied today. A judge that answers now, about samples that it cannot have seen,
cannot.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from itertools import islice
from random import Random

from ..core.check import Check, check
from ..core.errors import BadInput
from ..core.jsonl import read_records, read_unique
from ..core.types import Sample
from ..scoring.batch import BatchJob, score_dialogues
from ..scoring.judge import DAY_S
from ..scoring.ledger import lines
from ..scoring.monitor import Progress
from ..scoring.providers import settings_for
from ..scoring.scores import Score, first_ask
from ..scoring.store import Store
from ..scoring.stub_checks import is_paid, latency_checks, sameness_checks
from ..scoring.types import ScoringEntry
from .finding import Finding, found, read
from .look import Look
from .stored import proved, scorings

_AGAIN = (
    "see that probe_scorer --live passes, then run this round again",
    "请先让 probe_scorer --live 通过，再重跑本轮",
)
_BILL = (
    "every real call is billed in tokens; choose a server that reports its usage and run this round again",
    "真实调用都会按 token 计费；请换用会上报用量的服务后重跑本轮",
)
_UNSTABLE = (
    "the judge's votes disagree on too many samples: choose a steadier model (SCORER_MODEL), or raise scoring.votes.k",
    "评委对太多样本意见不一：请换更稳定的模型（SCORER_MODEL），或提高 scoring.votes.k",
)


def score_fresh(
    look: Look,
    environment: Mapping[str, str],
    tell: Callable[[str], None],
    progress: Callable[[Progress], None],
) -> int:
    """Draws and scores them; the seed of the draw."""
    seed = secrets.randbelow(2**31)
    look.fresh.unlink(missing_ok=True)
    settings = settings_for(environment, look.scoring, "")
    if not settings.live:
        raise BadInput("is off, and a round scores live", where="REWARD_LIVE_MODE", remedy="set REWARD_LIVE_MODE=1")
    with Store(look.scoring.cache, ttl=look.scoring.ttl_days * DAY_S) as store:
        chosen = draw(look, seed, lambda one: store.get(first_ask(one, settings.provider)) is None)
    order = BatchJob(look.profile.paths.balanced, look.fresh, None, seed, look.scoring.votes, None)
    score_dialogues(chosen, order, settings, look.scoring, environment, tell, progress)
    return seed


def draw(look: Look, seed: int, unanswered: Callable[[Sample], bool]) -> list[Sample]:
    """Of the samples that no line of the ledger is about and whose dialogue the judge has not answered for.

    A policy may have said word for word what a sample demonstrates, and a round that was killed leaves votes on a
    sample without a line about it: the cache would answer for both.
    """
    seen = (
        {line.entry.sample for line in lines(look.ledger) if isinstance(line.entry, ScoringEntry)}
        if look.ledger.exists()
        else set()
    )
    unseen = [one for one in read_unique(look.profile.paths.balanced, Sample) if one.id not in seen]
    n = look.profile.sizes.fresh
    chosen = list(islice(filter(unanswered, Random(seed).sample(unseen, len(unseen))), n))
    if len(chosen) < n:
        raise BadInput(
            f"{len(chosen)} samples have never been scored, and a round needs {n}",
            where=str(look.profile.paths.balanced),
            remedy="build a larger pool",
        )
    return chosen


def fresh_findings(look: Look) -> list[Finding]:
    """From the scores, the ledger and the stored replies: the round itself is not believed either."""
    stated = {line.id: line for line in read_records(look.fresh, Score)}
    samples = [one for one in read_records(look.profile.paths.balanced, Sample) if one.id in stated]
    calls = [
        call
        for scoring in scorings(look.ledger, {line.scoring for line in stated.values()}).values()
        for call in scoring.calls
    ]
    paid = [call for call in calls if is_paid(call)]
    limits = look.profile.thresholds
    checks: list[Check] = [
        check("fresh_scored", len(proved(look, samples, stated)), ">=", look.profile.sizes.fresh, *_AGAIN),
        check("fresh_from_cache", sum(call.cache_hit for call in calls), "==", 0, *_AGAIN),
        check("fresh_without_bill", sum(call.billable_tokens < 1 for call in paid), "==", 0, *_BILL),
        check(
            "fresh_unstable_share",
            sum(not line.stable for line in stated.values()) / len(stated) if stated else None,
            "<=",
            limits.fresh_unstable_share_max,
            *_UNSTABLE,
        ),
        *latency_checks([call.latency_ms for call in paid]),
        *sameness_checks(paid),
    ]
    return found("fresh", checks, read(look.fresh))
