"""The anti-simulation gate: did a real judge score the last 100 samples?

Each sign alone could be explained away, so each is a check of its own and all must pass. The gate reads the ledger, the
environment and the configs, and calls no judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..config.judge_config import ScoringSection
from ..config.loader import DEFAULT, load_config, read_yaml
from ..core.check import Check, Report, check, evidence, now, report
from ..core.errors import BadInput
from ..core.files import shipped
from ..scoring.ledger import REPAIR, LedgerBroken, Scoring, tail, verify
from ..scoring.providers import LOCAL, PROD, live_mode
from ..scoring.stub_checks import is_paid, latency_checks, sameness_checks
from ..scoring.types import OWN, CallEntry
from ..scoring.votes import aggregate

WINDOW = 100
"""Number of the newest scorings that are checked."""
LEAST = 8
"""Fewer live scorings are too few to decide."""
UNBILLED_MAX = 0.05
"""Share of paid calls that may have no bill."""
_AGAIN = "score again live (`askgate score`)"
_AGAIN_ZH = "重新真实打分（`askgate score`）"
_LEDGER_REMEDY_ZH = {
    True: "最后一行不完整，运行一次 `askgate score` 即可截去并记录",
    False: "请恢复原来的账本，或将其移走后重新打分",
}


def assert_not_simulated(cache_hit_lt: float, environment: Mapping[str, str]) -> Report:
    """The report of the gate. `cache_hit_lt` is the limit of the cache hit rate."""
    started = now()
    config = load_config()
    ledger = config.scoring.ledger
    checks = [*_environment_checks(environment), *_simulate_checks()]
    scorings: list[Scoring] = []
    try:
        head = verify(ledger) if ledger.exists() else None
        checks.append(chain_check(None))
        scorings = tail(ledger, WINDOW) if head else []
    except LedgerBroken as broken:
        # A changed ledger proves nothing, so its scorings are not measured.
        checks.append(chain_check(broken))
    else:
        checks += scoring_checks(scorings, environment.get("SCORER_PROVIDER", "").strip(), cache_hit_lt, config.scoring)
    read = [path for path in (ledger, shipped(DEFAULT), *_user_configs()) if path.exists()]
    arguments = {"cache_hit_lt": cache_hit_lt}
    return report("assert_not_simulated", checks, _figures(scorings), evidence(read, [], arguments, started))


def _environment_checks(environment: Mapping[str, str]) -> list[Check]:
    return [
        _yes(
            "run_mode_is_prod",
            environment.get("RUN_MODE", "").strip() == PROD,
            "set RUN_MODE=prod",
            "请设置 RUN_MODE=prod",
        ),
        _yes(
            "live_mode_is_on",
            live_mode(environment),
            "REWARD_LIVE_MODE is off, so no judge is called; set REWARD_LIVE_MODE=1",
            "REWARD_LIVE_MODE 处于关闭状态，不会调用任何评委；请设置 REWARD_LIVE_MODE=1",
        ),
    ]


def _simulate_checks() -> list[Check]:
    files = {DEFAULT: load_config().simulate, **{path: _simulate(path) for path in _user_configs()}}
    return [
        check(
            f"simulate[{path}]",
            float(simulate),
            "==",
            0.0,
            f"{path} says simulate: true; set simulate: false and {_AGAIN}",
            f"{path} 中 simulate 为 true；请改为 simulate: false 并{_AGAIN_ZH}",
        )
        for path, simulate in files.items()
    ]


def _user_configs() -> list[Path]:
    """The user's configs in this folder: any of them may be the one that trains."""
    return [path for path in sorted(DEFAULT.parent.glob("*.yaml")) if path != DEFAULT]


def _simulate(path: Path) -> bool:
    config = read_yaml(path)
    value = config.get("simulate", False) if isinstance(config, dict) else False
    if not isinstance(value, bool):
        raise BadInput("is neither true nor false", where=f"{path}: simulate", remedy="correct the file")
    return value


def chain_check(broken: LedgerBroken | None) -> Check:
    return _yes(
        "ledger_chain_whole",
        broken is None,
        f"{broken.where}: {broken.what}; {broken.remedy}" if broken else "",
        f"账本在 {broken.where} 处断链；{_LEDGER_REMEDY_ZH[broken.remedy == REPAIR]}" if broken else "",
    )


def scoring_checks(scorings: list[Scoring], named: str, cache_hit_lt: float, section: ScoringSection) -> list[Check]:
    enough = check(
        "scorings",
        float(sum(scoring.entry.overall is not None for scoring in scorings)),
        ">=",
        float(LEAST),
        f"there are too few live scorings to judge by; {_AGAIN}, or run the probe with --n {LEAST}",
        f"真实打分次数太少，无法判断；请{_AGAIN_ZH}，或以 --n {LEAST} 运行探针",
    )
    if not scorings:
        return [enough]
    calls = [call for scoring in scorings for call in scoring.calls]
    paid = [call for call in calls if is_paid(call)]
    newest = {scoring.entry.sample: scoring for scoring in scorings}
    latest = [call for scoring in newest.values() for call in scoring.calls]
    return [
        enough,
        check(
            "calls_not_live",
            float(sum(not call.live for call in calls)),
            "==",
            0.0,
            f"some calls were made with REWARD_LIVE_MODE off; switch it on and {_AGAIN}",
            f"部分调用发生在 REWARD_LIVE_MODE 关闭时；请打开后{_AGAIN_ZH}",
        ),
        check(
            "scores_without_their_votes",
            float(sum(not follows_from_votes(scoring) for scoring in scorings)),
            "==",
            0.0,
            f"some scores do not follow from the votes that are on record beside them; {_AGAIN}",
            f"部分分数与账本中的投票不符；请{_AGAIN_ZH}",
        ),
        *_provider_checks(scorings, named),
        _address_check(calls, section),
        check(
            "billable_count",
            float(sum(call.billable_tokens >= 1 for call in paid)),
            ">=",
            1.0,
            f"no call was billed, so no judge was asked; {_AGAIN}",
            f"没有一次计费调用，说明没有请求过评委；请{_AGAIN_ZH}",
        ),
        check(
            "share_without_bill",
            sum(call.billable_tokens < 1 for call in paid) / len(paid) if paid else None,
            "<=",
            UNBILLED_MAX,
            f"every real call is billed in tokens; a server that bills none is a stub, or does not report its usage;"
            f" choose one that does and {_AGAIN}",
            f"真实调用都会按 token 计费；不计费的服务是桩，或没有上报用量；请更换后{_AGAIN_ZH}",
        ),
        _hit_check("cache_hit_rate", calls, cache_hit_lt),
        # If a sample was scored twice, its last score is the one that is used.
        _hit_check("cache_hit_rate[last scoring of each sample]", latest, cache_hit_lt),
        *latency_checks([call.latency_ms for call in paid]),
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
    return (entry.votes, entry.overall, entry.scores, entry.variance) == (
        verdict.votes,
        verdict.overall,
        verdict.scores,
        verdict.variance,
    )


def _address_check(calls: list[CallEntry], section: ScoringSection) -> Check:
    """Whether each provider of the config's table was called at its address. Other providers have no known address.

    A vote from the cache has the address of the call that paid for it.
    """
    known = {name: (row.base_url or OWN).rstrip("/") for name, row in section.providers.items()}
    known |= {name: "" for name, row in section.providers.items() if row.base_url is None and name != LOCAL}
    strange = [call for call in calls if known.get(call.provider) and call.server != known[call.provider]]
    shown = ", ".join(sorted({f"{call.provider} at {call.server or 'an unknown address'}" for call in strange}))
    return check(
        "calls_at_another_address",
        float(len(strange)),
        "==",
        0.0,
        f"another server was called in the provider's stead ({shown}); unset SCORER_BASE_URL, or name it"
        f" SCORER_PROVIDER=custom, and {_AGAIN}",
        f"实际调用的是别的服务器（{shown}）；请取消 SCORER_BASE_URL，或设 SCORER_PROVIDER=custom，然后{_AGAIN_ZH}",
    )


def _provider_checks(scorings: list[Scoring], named: str) -> list[Check]:
    by = [{scoring.entry.provider, *(call.provider for call in scoring.calls)} for scoring in scorings]
    found = sorted(set().union(*by))
    one = check(
        "providers",
        float(len(found)),
        "==",
        1.0,
        f"several providers scored: {', '.join(found)}; {_AGAIN} with one, {WINDOW} samples or on a new ledger",
        f"有多个评分服务参与：{', '.join(found)}；请只用一个重新打分（{WINDOW} 个样本，或换新账本）",
    )
    if not named:
        return [one]
    strange = [name for name in found if name != named]
    return [
        one,
        check(
            "scorings_by_another_provider",
            float(sum(names != {named} for names in by)),
            "==",
            0.0,
            f"SCORER_PROVIDER is {named}, but {', '.join(strange)} scored; {_AGAIN}",
            f"SCORER_PROVIDER 为 {named}，但实际打分的是 {', '.join(strange)}；请{_AGAIN_ZH}",
        ),
    ]


def _hit_check(name: str, calls: list[CallEntry], limit: float) -> Check:
    return check(
        name,
        hit_rate(calls),
        "<",
        limit,
        "these scores came out of the cache, not from a judge; score samples that are new, or invalidate the cache"
        " (`scorecache-cli invalidate --spec ...`) and score again",
        "这些分数来自缓存而不是评委；请给新样本打分，或用 `scorecache-cli invalidate --spec ...` 使缓存失效后重新打分",
    )


def hit_rate(calls: list[CallEntry]) -> float | None:
    """Share of votes that came from the cache; None without votes."""
    hits, paid = sum(call.cache_hit for call in calls), sum(is_paid(call) for call in calls)
    return hits / (hits + paid) if hits + paid else None


def _yes(name: str, holds: bool, remedy: str, remedy_zh: str) -> Check:
    return check(name, float(holds), "==", 1.0, remedy, remedy_zh)


def _figures(scorings: list[Scoring]) -> dict[str, Any]:
    calls = [call for scoring in scorings for call in scoring.calls]
    return {
        "window": len(scorings),
        "calls": len(calls),
        "cache_hits": sum(call.cache_hit for call in calls),
        "billable_tokens": sum(call.billable_tokens for call in calls),
        "providers": sorted({scoring.entry.provider for scoring in scorings}),
        "servers": sorted({call.server for call in calls}),
    }
