"""Whether replies differ the way a judge's do. Pure.

Latency can be faked with a sleep. What a lazy stub or a recording still gives away is that it never read anything: all
its replies are one reply. Dialogues of different length are never all billed the same, no service gives all its calls
one request id, and a judge that gives every dialogue the very same marks is of no use even where it is real.

What is deliberately not looked at: whether latency grows with tokens (the local judge has read most of a prompt before,
and its calls wait for each other; a hosted one waits in queues), and whether marks are spread widely (a weak judge's
are not).
"""

from __future__ import annotations

from ..core.check import Check, check
from .types import CallEntry


def sameness_checks(paid: list[CallEntry]) -> list[Check]:
    """Of the votes that were paid for. Where there are none, other checks say so."""
    if not paid:
        return []
    checks = [
        _differing(
            "bills_that_differ",
            len({call.billable_tokens for call in paid}),
            "dialogues of different length were all billed the same, so nobody read them",
            "长短不同的对话计费完全相同，说明没有人读过它们",
        ),
        _differing(
            "votes_that_differ",
            len({tuple(sorted(call.scores.items())) for call in paid}),
            "every dialogue got the very same marks, so nobody read them, or the judge cannot tell them apart",
            "所有对话得分完全相同，说明没有人读过它们，或评委无法区分",
        ),
    ]
    if named := {call.request_id for call in paid if call.request_id}:  # some servers give none
        checks.append(
            _differing(
                "request_ids_that_differ",
                len(named),
                "all replies carry one request id, so one recorded reply is played again and again",
                "所有回复的 request id 都相同，说明在反复播放同一条录音",
            )
        )
    return checks


def _differing(name: str, count: int, remedy: str, remedy_zh: str) -> Check:
    return check(
        name,
        float(count),
        ">=",
        2.0,
        f"{remedy}; check SCORER_BASE_URL and score again",
        f"{remedy_zh}；请检查 SCORER_BASE_URL 后重新打分",
    )
