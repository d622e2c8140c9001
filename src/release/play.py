"""Held-out samples played through llama.cpp, with the same environment, renderer and limits as in training.

The dialogue is kept in tokens here and sent as tokens, so turn N+1 extends turn N, and llama.cpp reads only what is
new.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

from ..agents.render import Renderer
from ..agents.trajectory import Job
from ..config.sections import RolloutLimits
from ..core.types import Episode
from ..rollout.scheduler import Dialogue
from .llamacpp import LlamaCpp


def play(
    llama: LlamaCpp,
    renderer: Renderer,
    jobs: Sequence[Job],
    limits: RolloutLimits,
    *,
    greedy: bool,
    progress: Callable[[int], None] | None = None,
) -> list[Episode]:
    """An episode for every job, in order.

    One dialogue at a time: what runs beside it would change the last bits of what it computes.
    """
    made = []
    for place, job in enumerate(jobs):
        one = Dialogue(job, None, renderer, limits)
        made.append(_play_one(llama, one, None if greedy else limits.temperature, f"{job.seed}:{place}"))
        if progress is not None:
            progress(1)
    return made


def _play_one(llama: LlamaCpp, talk: Dialogue, temperature: float | None, chance: str) -> Episode:
    limits = talk.limits
    while not talk.over:
        turn = talk.turn_start
        room = min(limits.max_new_tokens - (len(talk.tokens) - turn), limits.max_tokens - len(talk.tokens))
        seed = zlib.crc32(f"{chance}:{len(talk.tokens)}".encode())
        for token in llama.go_on(talk.tokens, room, temperature, seed):
            # llama.cpp knows ends of its own; the turn is over when the dialogue says so.
            talk.take(token, 0.0)
            if talk.over or talk.turn_start != turn:
                break
    return talk.env.episode(talk.job.seed, talk.job.level)
