"""Checks that tell a real judge from a stub or a recording, by the calls that were paid for. Pure.

A stub is too fast: no service reads a dialogue and writes some twenty tokens in 20 ms. The fastest call counts, because
our own queue makes the others look slower. A stub is also too regular: the interquartile range of real latencies is
more than 5% of their median. Quartiles, because one slow call would raise a standard deviation.

A stub that sleeps as long as a judge passes both. But dialogues of different length are never all billed the same, no
service gives all its calls one request id, and a judge that gives every dialogue the same marks is useless even if it
is real.

Calls in a batch have no latencies. The ledger must have the batch with at least as many replies, and must have seen it
unfinished for a second; services take minutes. For a batch that ended between two runs the server's own times count, up
to the time between the two runs.

Not checked: whether latency grows with tokens (servers queue and cache prompts), and whether marks are spread widely
(those of a weak judge are not).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from statistics import median, quantiles

from ..core.check import Check, Rule, check, remedies
from .types import BatchEntry, CallEntry

MIN_LATENCY_MS = 20.0
SPREAD_MIN = 0.05
MIN_BATCH_S = 1.0


def is_paid(call: CallEntry) -> bool:
    """Whether a vote came from the service, not from the cache."""
    return not call.cache_hit and call.status.startswith("ok")


def is_answered(status: str) -> bool:
    """Whether a call got a reply, usable or not."""
    return status.startswith(("ok", "bad_reply"))


def spread(latencies: list[float]) -> float | None:
    """Interquartile range over the median.

    >>> spread([2.0] * 8), spread([80.0, 100.0, 100.0, 120.0])
    (0.0, 0.3)
    """
    typical = median(latencies) if latencies else 0.0
    if len(latencies) < 2 or typical <= 0:
        return None
    low, _, high = quantiles(latencies, n=4)
    return (high - low) / typical


def scoring_check(name: str, value: float | None, rule: Rule, threshold: float, **fields: object) -> Check:
    """A check with its remedy from `templates/remedies.yaml`; `fields` fill the remedy's placeholders."""
    remedy, remedy_zh = (text.format(**fields) for text in remedies("scoring")[name.partition("[")[0]])
    return check(name, value, rule, threshold, remedy, remedy_zh)


def latency_checks(latencies: list[float]) -> list[Check]:
    """Checks of the latencies of paid calls. Without any, nothing was measured and no check passes."""
    quickest = min(latencies, default=None)
    shown = "no call" if quickest is None else f"{quickest:.1f} ms"
    typical = f"{median(latencies):.1f} ms" if latencies else "no call"
    return [
        scoring_check("latency_min_ms", quickest, ">=", MIN_LATENCY_MS, shown=shown),
        scoring_check("latency_spread", spread(latencies), ">=", SPREAD_MIN, typical=typical),
    ]


def timing_checks(paid: list[CallEntry], batches: Mapping[str, BatchEntry]) -> list[Check]:
    """Checks of the latencies of single calls, and of the batches of all others (`batches`: by id, from the ledger)."""
    single, batched = [call for call in paid if not call.batch], [call for call in paid if call.batch]
    checks = latency_checks([call.latency_ms for call in single]) if single or not batched else []
    if not batched:
        return checks
    counts = Counter((call.batch, call.provider, call.server) for call in batched)
    recorded = {(one.batch, one.provider, one.server): one.replies for one in batches.values()}
    unrecorded = sum(max(0, count - recorded.get(key, 0)) for key, count in counts.items())
    seconds = min((one.seconds for name, _, _ in counts if (one := batches.get(name))), default=None)
    shown = "no batch" if seconds is None else f"{seconds:.1f} s"
    return [
        *checks,
        scoring_check("batch_calls_without_batch", float(unrecorded), "==", 0.0),
        scoring_check("batch_min_s", seconds, ">=", MIN_BATCH_S, shown=shown),
    ]


def sameness_checks(paid: list[CallEntry]) -> list[Check]:
    """Checks that bills, marks and request ids of the paid votes differ. Without paid votes other checks fail."""
    if not paid:
        return []
    distinct = {
        "bills_that_differ": len({call.billable_tokens for call in paid}),
        "votes_that_differ": len({tuple(sorted(call.scores.items())) for call in paid}),
    }
    if named := {call.request_id for call in paid if call.request_id}:  # some servers send none
        distinct["request_ids_that_differ"] = len(named)
    return [scoring_check(name, float(count), ">=", 2.0) for name, count in distinct.items()]
