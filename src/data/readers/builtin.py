"""The source `builtin`: any number of samples from generated worlds, the same for the same seed."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from itertools import count
from random import Random

from askgate_env.types import Lang, Level, Task

from ..pool.source import Item, Source, Want
from ..worlds.arithmetic.problem import make_problem
from ..worlds.encyclopedia import Names, World, make_world
from ..worlds.questions import multihop_item, strategy_item
from ..worlds.texts import text_fingerprints
from ..worlds.wording import draw_dialect

SAMPLES_PER_WORLD = 8
LEVELS_WANTED: dict[Task, dict[Level, float]] = {
    "hotpotqa": {"easy": 0.21, "medium": 0.62, "hard": 0.17},
    "strategyqa": {"easy": 0.25, "medium": 0.63, "hard": 0.12},
    "gsm8k": {"easy": 0.33, "medium": 0.44, "hard": 0.23},
}
"""Shares of wants by level. Look-ups and clarifications add difficulty: some samples come out harder than wanted."""


class BuiltinSource(Source):
    name = "builtin"
    languages = ("en", "zh")
    levels = LEVELS_WANTED

    def __init__(self) -> None:
        super().__init__()
        self.fingerprints = text_fingerprints()

    def assign(self, task: Task, wants: list[Want], split: str, seed: int, taken: Collection[str] = ()) -> list[str]:
        """Number the samples of a split. Splits never share a world."""
        numbers = count()
        keys = []
        for want in wants:
            free = (f"{split}:{number}" for number in numbers)
            keys.append(next(key for key in free if _source_id(task, want.lang, seed, key) not in taken))
        return keys

    def item(self, task: Task, key: str, want: Want, seed: int) -> Item:
        source_id = _source_id(task, want.lang, seed, key)
        if task == "gsm8k":
            return make_problem(want, source_id)
        split, number = key.split(":")
        world = _world(f"world:{task}:{want.lang}:{seed}:{split}:{int(number) // SAMPLES_PER_WORLD}", want.lang)
        # The world's random generator is seeded anew, so that a sample does not depend on those before it.
        world.rng.seed(source_id)
        make_item = multihop_item if task == "hotpotqa" else strategy_item
        return make_item(world, want, source_id)


def _source_id(task: Task, lang: Lang, seed: int, key: str) -> str:
    return f"builtin:{task}:{lang}:{seed}:{key}"


@lru_cache(maxsize=8)
def _world(key: str, lang: Lang) -> World:
    rng = Random(key)
    world = make_world(Names(lang, rng), rng)
    world.dialect = draw_dialect(lang, rng)
    return world
