"""Source `dir`: the official HotpotQA, StrategyQA and GSM8K files of a folder, read once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Protocol, get_args

import msgspec
from msgspec import Struct

from ...core.errors import BadInput
from ...core.types import Lang, Level, Task
from ..pool.source import TARGET, Item, Want, followed
from ..quality.leaks import similar_samples
from ..quality.token_stream import token_stream
from . import article_items as pages
from . import gsm8k
from .article_items import NOT_NEEDED
from .articles import Mode, Reading, Spare, article_kind, found_anyway
from .gsm8k import Problem
from .level_fit import misfit
from .official_files import Shelf, load

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


# Giving every want its record: the scarce combinations first, every record at most once.


GOOD_ENOUGH = 0.95
"""A misfit up to here still has the level; past it a record is taken only where somebody must be asked."""
TWIN_SHARE = {"hotpotqa": 0.9, "strategyqa": 0.85, "gsm8k": 0.85}
"""Of the complete samples, how many sound as vague as the ambiguous ones, where there are records enough. The others
are as the dataset has them."""


class Choice(Struct, frozen=True):
    source_id: str
    mode: Mode


class Fits(Protocol):
    """How far a record is from a want when it is told in that mode; `None` where it cannot be."""

    def __call__(self, source_id: str, mode: Mode, want: Want) -> float | None: ...


# Easy questions that lack something are the scarcest, then hard ones that lack nothing.
_LEVELS: tuple[Level, ...] = ("easy", "hard", "medium")


def choose_records(
    wants: Sequence[Want], ids: Sequence[str], vague: Collection[str], fits: Fits, twin_share: float, rng: Random
) -> list[Choice | None]:
    """One choice a want, `None` where no record is left that can be told that way. `ids` come in random order.

    The wording is drawn before the coin is tossed: for each level, records that do on either side of the coin are
    chosen first, and only then is it drawn which of them are ambiguous. Else the wording itself would tell. What is
    left of the vague records makes twins too, and the rest are told as they are.
    """
    chosen: list[Choice | None] = [None] * len(wants)
    free = dict.fromkeys(ids)
    twins: dict[Level, list[int]] = {}
    complete: dict[Level, list[int]] = {}

    def take(places: Sequence[int], found: Sequence[str], mode: Mode) -> None:
        for place, source_id in zip(places, found, strict=False):
            chosen[place] = Choice(source_id, "hidden" if wants[place].clarify else mode)
            del free[source_id]

    def open_places(places: Sequence[int]) -> list[int]:
        return [place for place in places if chosen[place] is None]

    for level in _LEVELS:
        able = [one for one in free if one in vague]
        left = [want for want in wants if want.level not in twins]
        hidden = [place for place, want in enumerate(wants) if want.level == level and want.clarify]
        complete[level] = [place for place, want in enumerate(wants) if want.level == level and not want.clarify]
        rng.shuffle(complete[level])
        twins[level] = complete[level][: round(_twin_share(left, len(able), twin_share) * len(complete[level]))]
        places = [*hidden, *twins[level]]
        found = _best(able, [wants[place] for place in places], lambda one, want: _either(fits, one, want))
        good = [one for off, one in found if off <= GOOD_ENOUGH]
        kept = good if len(good) >= len(hidden) else [one for _, one in found[: len(hidden)]]
        rng.shuffle(kept)
        take(places, kept, "twin")
    for level in _LEVELS:
        most = round(twin_share * len(complete[level]))
        open_now = open_places(complete[level])
        places = open_now[: max(0, most - (len(complete[level]) - len(open_now)))]
        able = [one for one in free if one in vague]
        found = _best(able, [wants[place] for place in places], lambda one, want: fits(one, "twin", want))
        take(places, [one for off, one in found if off <= GOOD_ENOUGH], "twin")
    for level in ("hard", "easy", "medium"):
        places = open_places(complete[level])
        found = _best(list(free), [wants[place] for place in places], lambda one, want: fits(one, "intact", want))
        take(places, [one for _, one in found], "intact")
    return chosen


def _twin_share(wants: Sequence[Want], vague: int, twin_share: float) -> float:
    """Of the complete wants that are left, how many become twins: as many as the records allow."""
    asked = sum(want.clarify for want in wants)
    complete = len(wants) - asked
    return min(twin_share, max(0, vague - asked) / complete) if complete else 0.0


def _either(fits: Fits, source_id: str, want: Want) -> float | None:
    hidden = fits(source_id, "hidden", want)
    if hidden is None or hidden > GOOD_ENOUGH:
        return hidden
    twin = fits(source_id, "twin", want)
    return None if twin is None else max(hidden, twin)


def _best(
    candidates: Sequence[str], wants: Sequence[Want], off_by: Callable[[str, Want], float | None]
) -> list[tuple[float, str]]:
    """As many records as wants: the first that fit, in the order of the candidates, then those that come nearest."""
    good: list[tuple[float, str]] = []
    near: list[tuple[float, int, str]] = []
    for place, one in enumerate(candidates):
        if len(good) == len(wants):
            break
        off = off_by(one, wants[len(good)])
        if off == 0:
            good.append((0.0, one))
        elif off is not None:
            near.append((off, place, one))
    near.sort()
    return [*good, *((off, one) for off, _, one in near[: len(wants) - len(good)])]


# Records that tell a held-out record again.
#
# Datasets hold variants of one another: GSM8K asks of the same cookie jar what was in it and what is left in it. With
# one of the two in the shadow set and the other in a pool, the pool leaks, although their ids differ.


SHINGLE = 5
LIKE = 0.70
"""Stricter than the gate's 0.85: a left-out sentence or a template makes two prompts more alike than their records."""


def without_siblings(
    ids: Sequence[str], held_out: Sequence[str], records: Mapping[str, Reading | Problem]
) -> list[str]:
    """The ids whose records are like none of those held out."""
    if not ids or not held_out:
        return list(ids)
    ours = token_stream([_told(records[one]) for one in ids])
    theirs = token_stream([_told(records[one]) for one in held_out])
    like = similar_samples((ours,), (theirs,), SHINGLE, LIKE).matches
    return [one for place, one in enumerate(ids) if place not in like]


def _told(record: Reading | Problem) -> str:
    return " ".join((*record.premise, record.question)) if isinstance(record, Problem) else record.question
