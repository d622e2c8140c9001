"""The anti-simulation gate: checks that a real judge scored the last 100 samples.

No single sign is proof, so each sign is a check and all must pass. The gate reads the ledger, the environment and the
configs, and calls no judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..config.judge_config import ScoringSection
from ..config.loader import DEFAULT, load_config, read_yaml
from ..config.profile import load_profile, scoring_of
from ..core.check import Check, Report, check, evidence, now, report
from ..core.errors import BadInput
from ..core.files import shipped
from ..scoring.ledger import REPAIR, LedgerBroken, Scoring, lines, newest_scorings
from ..scoring.providers import KNOWN_HOSTS, PROD, address, live_mode
from ..scoring.stub_checks import is_paid, sameness_checks, scoring_check, timing_checks
from ..scoring.types import BatchEntry, CallEntry
from ..scoring.votes import aggregate

WINDOW = 100
"""Number of the newest scorings that are checked."""
MIN_SCORINGS = 8
"""Minimum number of live scorings to decide on."""
UNBILLED_MAX = 0.05
"""Share of paid calls that may have no bill."""
_LEDGER_REMEDY_ZH = {
    True: "最后一行不完整，运行一次 `askgate score` 即可截去并记录",
    False: "请恢复原来的账本，或将其移走后重新打分",
}


def assert_not_simulated(cache_hit_lt: float, environment: Mapping[str, str], profile: str = "rc1") -> Report:
    """The report of the gate on a profile's ledger. `cache_hit_lt`: the cache hit rate must be below it."""
    started = now()
    scoring = scoring_of(load_profile(profile))
    ledger = scoring.ledger
    provider = environment.get("SCORER_PROVIDER", "").strip()
    scorings, of_ledger = ledger_checks(ledger, provider, cache_hit_lt, scoring)
    checks = [*environment_checks(environment), *of_ledger]
    read = [path for path in (ledger, shipped(DEFAULT), *_user_configs()) if path.exists()]
    calls = [call for scoring in scorings for call in scoring.calls]
    figures = {
        "window": len(scorings),
        "calls": len(calls),
        "cache_hits": sum(call.cache_hit for call in calls),
        "billable_tokens": sum(call.billable_tokens for call in calls),
        "providers": sorted({scoring.entry.provider for scoring in scorings}),
        "servers": sorted({call.server for call in calls}),
    }
    proof = evidence(read, [], {"cache_hit_lt": cache_hit_lt}, started)
    return report("assert_not_simulated", checks, figures, proof)


def environment_checks(environment: Mapping[str, str]) -> list[Check]:
    """Checks of environment and configs: they do not depend on the ledger."""
    is_prod = environment.get("RUN_MODE", "").strip() == PROD
    configs = {DEFAULT: load_config().simulate, **{path: _simulate(path) for path in _user_configs()}}
    return [
        scoring_check("run_mode_is_prod", float(is_prod), "==", 1.0),
        scoring_check("live_mode_is_on", float(live_mode(environment)), "==", 1.0),
        *(scoring_check(f"simulate[{path}]", float(on), "==", 0.0, path=path) for path, on in configs.items()),
    ]


def _user_configs() -> list[Path]:
    """The user's configs in this folder: any of them may be the one that trains."""
    return [path for path in sorted(DEFAULT.parent.glob("*.yaml")) if path != DEFAULT]


def _simulate(path: Path) -> bool:
    """The setting `simulate` of a config."""
    config = read_yaml(path)
    value = config.get("simulate", False) if isinstance(config, dict) else False
    if not isinstance(value, bool):
        raise BadInput("is neither true nor false", where=f"{path}: simulate", remedy="correct the file")
    return value


def ledger_checks(
    ledger: Path, provider: str, cache_hit_lt: float, section: ScoringSection
) -> tuple[list[Scoring], list[Check]]:
    """The newest scorings and their checks. If the chain is broken, the scorings are not measured."""
    try:
        scorings = newest_scorings(ledger, WINDOW) if ledger.exists() else []
    except LedgerBroken as broken:
        return [], [chain_check(broken)]
    if not scorings:
        return [], [chain_check(None), *scoring_checks([], provider, cache_hit_lt, {})]
    entries = (line.entry for line in lines(ledger))
    batches = {entry.batch: entry for entry in entries if isinstance(entry, BatchEntry)}
    checks = scoring_checks(scorings, provider, cache_hit_lt, batches)
    return scorings, [chain_check(None), *checks, _address_check(ledger, section)]


def chain_check(broken: LedgerBroken | None) -> Check:
    remedy = f"{broken.where}: {broken.what}; {broken.remedy}" if broken else ""
    remedy_zh = f"账本在 {broken.where} 处断链；{_LEDGER_REMEDY_ZH[broken.remedy == REPAIR]}" if broken else ""
    return check("ledger_chain_whole", float(broken is None), "==", 1.0, remedy, remedy_zh)


def scoring_checks(
    scorings: list[Scoring], provider: str, cache_hit_lt: float, batches: Mapping[str, BatchEntry]
) -> list[Check]:
    """Checks of the newest scorings. `provider`: the only one that may have scored; empty: any. `batches`: by id."""
    scored = sum(scoring.entry.overall is not None for scoring in scorings)
    enough = scoring_check("scorings", float(scored), ">=", float(MIN_SCORINGS), least=MIN_SCORINGS)
    if not scorings:
        return [enough]
    calls = [call for scoring in scorings for call in scoring.calls]
    paid = [call for call in calls if is_paid(call)]
    newest = {scoring.entry.sample: scoring for scoring in scorings}
    latest = [call for scoring in newest.values() for call in scoring.calls]
    not_live = sum(not call.live for call in calls)
    without_votes = sum(not follows_from_votes(scoring) for scoring in scorings)
    billed = sum(call.billable_tokens >= 1 for call in paid)
    share_unbilled = (len(paid) - billed) / len(paid) if paid else None
    return [
        enough,
        scoring_check("calls_not_live", float(not_live), "==", 0.0),
        scoring_check("scores_without_their_votes", float(without_votes), "==", 0.0),
        *_provider_checks(scorings, provider),
        scoring_check("billable_count", float(billed), ">=", 1.0),
        scoring_check("share_without_bill", share_unbilled, "<=", UNBILLED_MAX),
        scoring_check("cache_hit_rate", hit_rate(calls), "<", cache_hit_lt),
        # If a sample was scored twice, its last score is the one that is used.
        scoring_check("cache_hit_rate[last scoring of each sample]", hit_rate(latest), "<", cache_hit_lt),
        *timing_checks(paid, batches),
        *sameness_checks(paid),
    ]


def follows_from_votes(scoring: Scoring) -> bool:
    """Whether the scores are the medians of votes that have ledger lines of their own."""
    entry = scoring.entry
    if entry.overall is None:
        return not entry.scores
    votes = [call.scores for call in scoring.calls if call.scores and call.status.startswith("ok")]
    if not votes or len({frozenset(vote) for vote in votes}) > 1:
        return False
    verdict = aggregate(votes)
    return all(getattr(entry, name) == getattr(verdict, name) for name in ("votes", "overall", "scores", "variance"))


def _address_check(ledger: Path, section: ScoringSection) -> Check:
    """Whether every call of the ledger under a known provider's name, or one of the config's, went to its servers.

    The whole ledger is checked, because the weights may follow from scores that are older than the newest 100. A vote
    from the cache has the address of the call that paid for it.
    """
    table = {name: [address(row.base_url)] for name, row in section.providers.items() if row.base_url} | KNOWN_HOSTS
    calls = (line.entry for line in lines(ledger) if isinstance(line.entry, CallEntry))
    strange = [call for call in calls if (known := table.get(call.provider)) and address(call.server) not in known]
    shown = ", ".join(sorted({f"{call.provider} at {call.server or 'an unknown address'}" for call in strange}))
    return scoring_check("calls_at_another_address", float(len(strange)), "==", 0.0, shown=shown)


def _provider_checks(scorings: list[Scoring], named: str) -> list[Check]:
    by = [{scoring.entry.provider, *(call.provider for call in scoring.calls)} for scoring in scorings]
    found = sorted(set().union(*by))
    one = scoring_check("providers", float(len(found)), "==", 1.0, names=", ".join(found), window=WINDOW)
    if not named:
        return [one]
    strange = ", ".join(name for name in found if name != named)
    by_others = sum(names != {named} for names in by)
    return [one, scoring_check("scorings_by_another_provider", float(by_others), "==", 0.0, named=named, names=strange)]


def hit_rate(calls: list[CallEntry]) -> float | None:
    """Share of votes that came from the cache; None without votes."""
    hits, paid = sum(call.cache_hit for call in calls), sum(is_paid(call) for call in calls)
    return hits / (hits + paid) if hits + paid else None
