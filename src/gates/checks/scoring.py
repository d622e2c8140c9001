"""Live scoring: the gates `fresh` and `scoring` of a round, and the command `validate_scores`.

`fresh`: every round draws a few samples that were never scored, and scores them live. Earlier scores could have been
copied; scores of samples that nobody could foresee cannot.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from random import Random

from askgate_env.types import Sample

from ...config.loader import DEFAULT
from ...config.profile import load_profile, scoring_of
from ...core.check import Check, Report, check, evidence, now, remedies, report
from ...core.errors import BadInput
from ...core.files import write_json
from ...core.jsonl import read_records, read_unique
from ...runtime.progress import Tell
from ...scoring.judge import Tally
from ...scoring.ledger import lines
from ...scoring.providers import settings_for
from ...scoring.score_pool import ScoringJob, score_dialogues
from ...scoring.scores import Score, first_request
from ...scoring.store import Store
from ...scoring.stub_checks import is_paid, latency_checks, sameness_checks
from ...scoring.types import ScoringEntry
from ..anti_simulation import assert_not_simulated, ledger_checks
from ..gate import Finding, RoundContext, evidence_of, findings_of
from .provenance import in_ledger, proved, read_scorings

GENUINE = frozenset({"not_live", "not_in_ledger"})
"""Checks of `validate_scores` on whether a score came from a real call. The others are about quality."""


def score_fresh(
    context: RoundContext, environment: Mapping[str, str], tell: Tell, progress: Callable[[Tally], None]
) -> int:
    """Draws samples that were never scored and scores them live. Returns the seed of the draw."""
    seed = secrets.randbelow(2**31)
    context.fresh.unlink(missing_ok=True)
    settings = settings_for(environment, context.scoring, "")
    if not settings.live:
        raise BadInput("is off, and a round scores live", where="REWARD_LIVE_MODE", remedy="set REWARD_LIVE_MODE=1")
    with Store(context.scoring.cache, context.scoring.ttl_days) as store:
        drawn = draw_fresh(context, seed, lambda one: store.get(first_request(one, settings.provider)) is None)
    job = ScoringJob(context.profile.paths.balanced, context.fresh, None, seed)
    score_dialogues(drawn, job, settings, tell, progress)
    return seed


def draw_fresh(context: RoundContext, seed: int, unanswered: Callable[[Sample], bool]) -> list[Sample]:
    """A random draw from the samples that have no ledger line and that the judge was never asked about.

    `unanswered` says whether the cache has no vote on a sample. The cache may have votes that the ledger does not list
    for this sample: a policy may have said word for word what it demonstrates, and a killed round leaves votes without
    a ledger line.
    """
    scored = (
        {line.entry.sample for line in lines(context.ledger) if isinstance(line.entry, ScoringEntry)}
        if context.ledger.exists()
        else set()
    )
    unscored = [one for one in read_unique(context.profile.paths.balanced, Sample) if one.id not in scored]
    n = context.profile.sizes.fresh
    drawn = list(islice(filter(unanswered, Random(seed).sample(unscored, len(unscored))), n))
    if len(drawn) < n:
        what = f"{len(drawn)} samples have never been scored, and a round needs {n}"
        raise BadInput(what, where=str(context.profile.paths.balanced), remedy="build a larger pool")
    return drawn


def fresh_findings(context: RoundContext) -> list[Finding]:
    """The gate `fresh`, measured on scores, ledger and stored replies, not on what the round itself reported."""
    stated = {line.id: line for line in read_records(context.fresh, Score)}
    samples = [one for one in read_records(context.profile.paths.balanced, Sample) if one.id in stated]
    scorings = read_scorings(context.ledger, {line.scoring for line in stated.values()})
    calls = [call for scoring in scorings.values() for call in scoring.calls]
    paid = [call for call in calls if is_paid(call)]
    unbilled = sum(call.billable_tokens < 1 for call in paid)
    unstable = sum(not line.stable for line in stated.values()) / len(stated) if stated else None
    least, remedy = context.profile.sizes.fresh, remedies("gates")
    most_unstable = context.profile.thresholds.fresh_unstable_share_max
    checks = [
        check("fresh_scored", len(proved(context, samples, stated)), ">=", least, *remedy["fresh_scored"]),
        check("fresh_from_cache", sum(call.cache_hit for call in calls), "==", 0, *remedy["fresh_scored"]),
        check("fresh_without_bill", unbilled, "==", 0, *remedy["fresh_without_bill"]),
        check("fresh_unstable_share", unstable, "<=", most_unstable, *remedy["fresh_unstable_share"]),
        *latency_checks([call.latency_ms for call in paid]),
        *sameness_checks(paid),
    ]
    return findings_of("fresh", checks, evidence_of(context.fresh))


def scoring_findings(context: RoundContext, environment: Mapping[str, str]) -> list[Finding]:
    """The gate `scoring` in a round: all checks of `assert_not_simulated`, environment and configs included."""
    made = assert_not_simulated(context.cache_hit_lt, environment, context.profile.name)
    return findings_of("scoring", made.checks, evidence_of(DEFAULT))


def ledger_findings(context: RoundContext, provider: str) -> list[Finding]:
    """The gate `scoring` when a round is measured again: the part that the ledger alone shows."""
    _, checks = ledger_checks(context.ledger, provider, context.cache_hit_lt, context.scoring)
    return findings_of("scoring", checks, evidence_of(DEFAULT))


def validate_scores(path: Path, *, least: int, max_unstable: float, out: Path, profile: str = "rc1") -> Report:
    """The report on a file of live scores: it must be complete, all scores must be in the profile's ledger, and votes
    must agree."""
    started = now()
    scores, scoring = list(read_unique(path, Score)), scoring_of(load_profile(profile))
    if not scores:
        raise BadInput("has no scores", where=str(path), remedy="score a pool first: askgate score")
    arguments, usable = {"least": least, "max_unstable": max_unstable}, _usable(scores)
    # A score that is not in the ledger proves nothing.
    known = in_ledger(scoring.ledger, scoring.votes, usable) if scoring.ledger.exists() else {}
    missing = check("not_in_ledger", float(len(usable) - len(known)), "==", 0.0, *remedies("gates")["scored"])
    checks = [*stability_checks(scores, least, max_unstable), missing]
    figures = {"scores": len(scores), "unstable": sum(not one.stable for one in usable)}
    made = report("validate_scores", checks, figures, evidence([path], [], arguments, started))
    write_json(out, made)
    return made


def stability_checks(scores: list[Score], least: int, max_unstable: float) -> list[Check]:
    usable, remedy = _usable(scores), remedies("gates")
    share = sum(not one.stable for one in usable) / len(usable) if usable else None
    return [
        check("scored", float(len(usable)), ">=", float(least), *remedy["scored"]),
        check("not_live", float(sum(not one.live for one in scores)), "==", 0.0, *remedy["scored"]),
        check("without_score", float(len(scores) - len(usable)), "==", 0.0, *remedy["scored"]),
        check("unstable_share", share, "<=", max_unstable, *remedy["unstable_share"]),
    ]


def _usable(scores: list[Score]) -> list[Score]:
    return [one for one in scores if one.live and one.overall is not None]
