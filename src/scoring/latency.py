"""Whether replies took the time that a real service takes. Pure.

Two things give a stub or a recording away. It is too quick: a judge reads a dialogue and writes a score of tokens one
after the other, and no service does that in 20 ms. The quickest call is looked at, because only there our own waiting
(eight calls in one process, on a busy machine) does not hide how quick the scorer was. And it is too even: dialogues
differ in length, servers queue, networks wobble, so that the middle half of real latencies is spread over more than 5%
of their median. The quartiles are taken, not the standard deviation, because one slow call would make an even scorer
look uneven.

A stub that sleeps like a judge passes here. It still has to bill tokens, and to say something else each time
(`sameness`).
"""

from __future__ import annotations

from statistics import median, quantiles

from ..core.check import Check, check

QUICKEST_MS = 20.0
SPREAD_MIN = 0.05


def spread(latencies: list[float]) -> float | None:
    """Distance of the quartiles over the median.

    >>> spread([2.0] * 8), spread([80.0, 100.0, 100.0, 120.0])
    (0.0, 0.3)
    """
    middle = median(latencies) if latencies else 0.0
    if len(latencies) < 2 or middle <= 0:
        return None
    low, _, high = quantiles(latencies, n=4)
    return (high - low) / middle


def latency_checks(latencies: list[float]) -> list[Check]:
    """Of the calls that were paid for. Without any, nothing was measured and nothing passes."""
    quickest = min(latencies, default=None)
    shown = "no call" if quickest is None else f"{quickest:.1f} ms"
    typical = f"{median(latencies):.1f} ms" if latencies else "no call"
    return [
        check(
            "latency_min_ms",
            quickest,
            ">=",
            QUICKEST_MS,
            f"a reply took {shown}: no judge reads a dialogue and writes its scores in that time, so a stub or a"
            " recording answers; check SCORER_BASE_URL and score again",
            f"有回复只用了 {shown}：真实评委不可能这么快读完对话并写出分数，应答的是桩或录音；"
            "请检查 SCORER_BASE_URL 后重新打分",
        ),
        check(
            "latency_spread",
            spread(latencies),
            ">=",
            SPREAD_MIN,
            f"all replies took nearly the same time ({typical}), as a stub's do and a real service's do not;"
            " check SCORER_BASE_URL and score again",
            f"所有回复用时几乎相同（{typical}），这是桩的特征，真实服务不会如此；请检查 SCORER_BASE_URL 后重新打分",
        ),
    ]
