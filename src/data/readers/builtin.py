"""The source `builtin`: generated worlds, unlimited, the same for the same seed, right by construction."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from itertools import count
from random import Random

from ...core.types import Lang, Level, Task, join_sentences
from ..pool.source import TARGET, Item, Want
from ..worlds.arithmetic import make_problem
from ..worlds.draft import Draft, in_dialect
from ..worlds.kb import World, make_world
from ..worlds.multihop import multihop
from ..worlds.names import NAME_MAKERS
from ..worlds.strategy import strategy
from ..worlds.texts import text_fingerprints
from ..worlds.wording import draw_dialect, world_text

SAMPLES_PER_WORLD = 8


class BuiltinSource:
    name = "builtin"
    languages: tuple[Lang, ...] = ("en", "zh")

    def __init__(self) -> None:
        self.fingerprints = text_fingerprints()
        self.left_aside: dict[Task, int] = {}

    def levels(self, task: Task) -> dict[Level, float]:
        """An ask counts towards difficulty: of the encyclopedia's medium questions, three in ten come out hard."""
        return TARGET if task == "gsm8k" else {"easy": 0.23, "medium": 0.64, "hard": 0.13}

    def assign(self, task: Task, wants: list[Want], split: str, seed: int, taken: Collection[str] = ()) -> list[str]:
        """Worlds without end: sample number n of a split. Splits never share a world."""
        numbers = count()
        keys = []
        for want in wants:
            free = (f"{split}:{number}" for number in numbers)
            keys.append(next(key for key in free if _source_id(task, want.lang, seed, key) not in taken))
        return keys

    def item(self, task: Task, key: str, want: Want, seed: int) -> Item:
        source_id = _source_id(task, want.lang, seed, key)
        if task == "gsm8k":
            return make_problem(want, source_id, source_id)
        split, number = key.split(":")
        world = _world(f"world:{task}:{want.lang}:{seed}:{split}:{int(number) // SAMPLES_PER_WORLD}", want.lang)
        # The world's own generator makes namesakes; reseeded, so that a sample does not depend on those before it.
        world.rng.seed(source_id)
        make = multihop if task == "hotpotqa" else strategy
        made = make(world, world_text(want.lang), want, world.rng)
        return _item(task, want.lang, source_id, in_dialect(made, world.dialect) if world.dialect else made)


def _source_id(task: Task, lang: Lang, seed: int, key: str) -> str:
    return f"builtin:{task}:{lang}:{seed}:{key}"


@lru_cache(maxsize=8)
def _world(key: str, lang: Lang) -> World:
    rng = Random(key)
    world = make_world(NAME_MAKERS[lang](rng), rng)
    world.dialect = draw_dialect(lang, rng)
    return world


def _item(task: Task, lang: Lang, source_id: str, made: Draft) -> Item:
    return Item(
        task=task,
        lang=lang,
        source="builtin",
        source_id=source_id,
        premise=made.premise,
        clue=made.clue,
        question=made.question,
        original=_original(lang, made),
        context=made.context,
        support=made.support,
        answer=made.answer,
        aliases=(),
        steps=made.steps,
        hidden=made.hidden,
        ask_after=made.ask_after,
        ambiguity=made.ambiguity,
    )


def _original(lang: Lang, made: Draft) -> str:
    """What the user would have said with nothing left out: the span put back after the question."""
    said = join_sentences([made.premise, made.question])
    if made.hidden is None:
        return said
    return f"{said} ({made.hidden.span})" if lang == "en" else f"{said}（{made.hidden.span}）"
