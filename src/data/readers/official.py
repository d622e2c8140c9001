"""Source `dir`: the official HotpotQA, StrategyQA and GSM8K files of a folder, read once."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path
from random import Random
from typing import get_args

import msgspec

from ...core.errors import BadInput
from ...core.types import Lang, Level, Task
from ..pool.source import TARGET, Item, Want
from ..pool.strength import followed
from . import gsm8k, pages
from .assignment import TWIN_SHARE, choose_records
from .files import load
from .gsm8k import Problem
from .lookup import found_anyway
from .pages import NOT_NEEDED
from .reading import Mode, Reading, Spare, article_kind
from .shape import misfit
from .shelf import Shelf
from .siblings import without_siblings

SHADOW_EVERY = 7
"""One record in seven is held out for the shadow set, by a hash of its source id: no row order, no seed moves it."""
SAMPLED = 8
"""How many records to look at for one want; a whole dataset is more than a small pool needs."""


def split_of(source_id: str) -> str:
    first = int.from_bytes(hashlib.sha256(source_id.encode()).digest()[:8])
    return "shadow" if first % SHADOW_EVERY == 0 else "train"


class OfficialSource:
    name = "dir"
    languages: tuple[Lang, ...] = ("en",)

    def __init__(self, data_dir: Path | None) -> None:
        if data_dir is None:
            raise BadInput(
                "source dir needs a folder", where="--data_dir", remedy="name the folder of the official files"
            )
        self.data_dir = data_dir
        self.fingerprints: dict[str, str] = {}
        self._shelves: dict[Task, Shelf] = {}
        self._spares: dict[tuple[Task, str], list[Spare]] = {}

    @property
    def left_aside(self) -> dict[Task, int]:
        return {task: shelf.seen - len(shelf.records) for task, shelf in self._shelves.items()}

    def levels(self, task: Task) -> dict[Level, float]:
        """What is aimed at is nearly always reached, so the shares are those of the balanced pool."""
        return dict(TARGET)

    def assign(self, task: Task, wants: list[Want], split: str, seed: int, taken: Collection[str] = ()) -> list[str]:
        """A key for every want, no record twice: what can be ambiguous where that is wanted, what fits the level."""
        records = self._shelf(task).records
        ids = sorted(one for one in records if split_of(one) == split)
        if split == "train":
            ids = without_siblings(ids, [one for one in records if split_of(one) == "shadow"], records)
        ids = [one for one in ids if one not in taken]
        rng = Random(f"{seed}:{task}:{split}")
        if len(ids) < len(wants):
            raise self._too_few(task, split, f"{len(wants)} samples asked for, {len(ids)} records")
        rng.shuffle(ids)
        ids = self._enough(ids, wants, records)

        def fits(source_id: str, mode: Mode, want: Want) -> float | None:
            item = self._make(task, source_id, mode, want, seed)
            if item is None:
                return None
            return misfit(item, followed(want, source_id)) + (NOT_NEEDED if found_anyway(item) else 0.0)

        vague = frozenset(one for one in ids if _can_be_vague(records[one]))
        chosen = choose_records(wants, ids, vague, fits, TWIN_SHARE[task], rng)
        unmet = [want for want, choice in zip(wants, chosen, strict=True) if choice is None]
        if unmet:
            ambiguous = sum(want.clarify for want in wants)
            raise self._too_few(
                task, split, f"{ambiguous} ambiguous samples asked for, {len(vague)} records can be made so"
            )
        return [f"{choice.mode}|{choice.source_id}" for choice in chosen if choice is not None]

    def item(self, task: Task, key: str, want: Want, seed: int) -> Item:
        """The item of a key that `assign` gave for this want and seed."""
        mode, _, source_id = key.partition("|")
        if mode not in get_args(Mode) or source_id not in self._shelf(task).records:
            raise BadInput(
                f"no such {task} record: {key}", remedy="use the keys that assign gave for the same data folder"
            )
        made = self._make(task, source_id, mode, want, seed)  # type: ignore[arg-type]
        if made is None:
            raise BadInput(f"{key} cannot be told within {want.max_turns} turns", remedy="use a larger --max_turns")
        return msgspec.structs.replace(made, source=self.name)

    def load(self, task: Task) -> Shelf:
        return load(self.data_dir, task)

    def _make(self, task: Task, source_id: str, mode: Mode, want: Want, seed: int) -> Item | None:
        record = self._shelf(task).records[source_id]
        if isinstance(record, Problem):
            return gsm8k.make_item(record, mode, want, seed)
        return pages.make_item(record, mode, want, seed, self._spares_of(task, split_of(source_id)))

    def _enough(self, ids: list[str], wants: list[Want], records: dict[str, Reading | Problem]) -> list[str]:
        """The first of the shuffled ids, those that can be made ambiguous in front: they are the scarce ones."""
        able = [one for one in ids if _can_be_vague(records[one])]
        others = [one for one in ids if not _can_be_vague(records[one])]
        limit = SAMPLED * len(wants) + 100
        return [*able[:limit], *others[:limit]]

    def _shelf(self, task: Task) -> Shelf:
        if task not in self._shelves:
            self._shelves[task] = self.load(task)
            self.fingerprints |= self._shelves[task].sha256
        return self._shelves[task]

    def _spares_of(self, task: Task, split: str) -> list[Spare]:
        if (task, split) not in self._spares:
            found: dict[str, Spare] = {}
            for source_id, record in self._shelf(task).records.items():
                if isinstance(record, Reading) and split_of(source_id) == split:
                    known = {mention.title: mention.kind for mention in record.mentions}
                    for article in record.gold:
                        kind = known.get(article.title) or article_kind(article)
                        if kind is not None:
                            found.setdefault(article.title, Spare(article, kind))
            self._spares[task, split] = list(found.values())
        return self._spares[task, split]

    def _too_few(self, task: Task, split: str, counts: str) -> BadInput:
        return BadInput(
            f"{counts} in the {split} part of {task}",
            where=str(self.data_dir),
            remedy="ask for fewer samples, less of this task or a lower --clarify_rate, or add official files",
        )


def _can_be_vague(record: Reading | Problem) -> bool:
    return bool(record.omissions if isinstance(record, Problem) else record.mentions)
