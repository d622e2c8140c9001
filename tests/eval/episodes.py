"""Episodes with given facts, for the tests of the reward and of the evaluation."""

from __future__ import annotations

from askgate_env.types import Episode, Level, Task, Turn


def episode(
    identity: str = "s1",
    *,
    task: Task = "hotpotqa",
    level: Level | None = "medium",
    needs: bool = False,
    asks: int = 0,
    calls: int = 1,
    success: bool = True,
    received_info: bool | None = None,
) -> Episode:
    turns = [Turn("user", "say", "the question")]
    for _ in range(asks):
        turns += [Turn("assistant", "ask", "Which one?"), Turn("user", "say", "That one.")]
    for _ in range(calls):
        turns += [Turn("assistant", "call", "a page", tool="wiki"), Turn("tool", "result", "found", tool="wiki")]
    turns.append(Turn("assistant", "answer", "yes"))
    return Episode(
        sample_id=identity,
        task=task,
        lang="en",
        level=level,
        needs_clarification=needs,
        turns=tuple(turns),
        end="answer",
        answer="yes",
        success=success,
        seed=7,
        received_info=needs and asks > 0 if received_info is None else received_info,
    )
