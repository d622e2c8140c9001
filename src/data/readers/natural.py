"""Sources of natural ambiguity: questions that people wrote, ambiguous or not, worded as they are.

One module per dataset reads its files into `Item`s. This one chooses among them and adds pages that have nothing to do
with the question, so that the number of pages does not tell an ambiguous question from a complete one. The rules of
success are those of the item's task; `detect` has none.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from itertools import pairwise
from math import log
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from askgate_env.tokenize import words
from askgate_env.tools import search, wiki
from askgate_env.types import LANGS, Article, Task

from ...core.errors import BadInput
from ...core.files import sha256_file
from ..difficulty.text_features import content_words
from ..pool.source import Item, RowCounts, Source, TooFewRecords, Want
from . import abg_coqa, ambignq, in3, messages, situatedqa, umwp
from .natural_records import NATURAL
from .official import split_of, without_siblings

_READERS: dict[str, Callable[[list[Path]], tuple[list[Item], int]]] = {
    "ambignq": ambignq.read, "situatedqa": situatedqa.read, "umwp": umwp.read, "in3": in3.read,
    "abg_coqa": abg_coqa.read, "messages": messages.read,
}  # fmt: skip
"""Functions that read a source's files into items; each also counts the records that it saw."""
PAGES = 6
"""Number of pages that the `wiki` tool has for a question, where the source has pages at all."""
_COUNTED = {
    "results": re.compile(r"^\d+\. ", re.M),
    "years": re.compile(r"\b\d{4}\b"),
    "numbers": re.compile(r"\d+"),
    "commas": re.compile(r"[,;]"),
    "capitals": re.compile(r"\b[A-Z]"),
    "full stops": re.compile(r"[.!]"),
    "quotes": re.compile(r"[\"“”'‘’]"),
    "brackets": re.compile(r"[(]"),
    "words": re.compile(r"\S+"),
}
MIN_SEEN = 4
"""Minimum number of questions with a feature. A rarer one is not balanced."""
MIN_TO_BALANCE = 20
"""Ambiguous questions below which nothing is balanced: the shortcut gates do not measure so few."""
WEIGHTS = {"word shown": 1, "part": 2, "word": 5, "form": 5}
"""Weight of a feature in the balance by its kind. A question has more parts than words, and a reply more words."""
PART = 4
"""Characters of a part of a question."""
EXTRA_CHARACTERS = 14
"""Characters that other pages have more than the page of a complete question, because readings say more."""
MANY_COMPLETE = 1_000
FRESH_SHARE = 0.7
"""Share of the complete questions that are used, where there are many: those with the least common pairs of words."""
SAME_STORY = 0.7
"""Share of the words, numbers aside, that two problems have in common if they tell one story."""
COMPLETE_PER_SAMPLE = 8
"""Number of complete questions per sample whose first tool reply is compared."""
COMMON_WORD = 400
"""A word in more pages than this does not make two pages similar."""


class NaturalSource(Source):
    """A source of natural questions. Keys are source ids; what comes before a `/` in one names its group.

    Items of a group are variants of one problem: they are in the same split, and a pool has at most one of them.
    """

    def __init__(self, name: str, data_dir: Path | None) -> None:
        pattern = NATURAL["files"][name]
        if data_dir is None:
            remedy = f"name the folder above {pattern}"
            raise BadInput(f"source {name} needs a folder", where="--data-dir", remedy=remedy)
        super().__init__()
        self.name = name
        self.files = messages.row_files(data_dir) if name == "messages" else sorted(data_dir.glob(pattern))
        if not self.files:
            raise BadInput(f"no {name} data here", where=str(data_dir), remedy=f"put {pattern} below this folder")
        self.fingerprints = {path.relative_to(data_dir).as_posix(): sha256_file(path) for path in self.files}
        items, self._seen = _READERS[name](self.files)
        self._items = {item.source_id: msgspec.structs.replace(item, source=name) for item in items}
        tasks = Counter(item.task for item in self._items.values())
        self.languages = tuple(lang for lang in LANGS if any(item.lang == lang for item in self._items.values()))
        self.mix = {task: count / tasks.total() for task, count in tasks.items()}
        self._index = cache(self._make_index)

    @property
    def left_aside(self) -> dict[Task, int]:
        """Number of records that gave no item, under the first task of the source."""
        return {next(iter(self.mix), "detect"): self._seen - len({_group(key) for key in self._items})}

    def assign(self, task: Task, wants: list[Want], split: str, seed: int, taken: Collection[str] = ()) -> list[str]:
        """A key for every want, one of a group at most. Where there are too few ambiguous questions, complete ones take
        their place, and `fewer_ambiguous` counts them."""
        used = {_group(key) for key in taken}
        ids = [key for key in self._usable(task, split) if _group(key) not in used]
        Random(f"{seed}:{task}:{split}").shuffle(ids)
        ids = _fresh_first(ids, self._items)
        replies = self._first_replies(ids, seed, COMPLETE_PER_SAMPLE * len(wants))
        asks = min(sum(want.clarify for want in wants), NATURAL["most_ambiguous"].get(self.name, len(wants)))
        ids = _balanced_first(ids, self._items, replies, asks, len(wants))
        chosen: list[str | None] = [None] * len(wants)
        for ambiguous in (True, False):
            indices = [
                index for index, want in enumerate(wants) if chosen[index] is None and (want.clarify or not ambiguous)
            ]
            candidates = [key for key in ids if (self._items[key].hidden is not None) == ambiguous]
            unused = iter(candidates[:asks] if ambiguous else candidates)
            for index in indices:
                key = next((key for key in unused if _group(key) not in used), None)
                if key is not None:
                    chosen[index] = key
                    used.add(_group(key))
            if ambiguous:
                self.fewer_ambiguous[task] = sum(chosen[index] is None for index in indices)
        if None in chosen:
            raise TooFewRecords(
                f"{len(wants)} samples asked for, {len(wants) - chosen.count(None)} are there in the {split} part of "
                f"{self.name} at this share of ambiguous ones",
                where="--n",
                remedy="ask for fewer samples, change --clarify-rate, or add complete rows: about two for each with "
                "`hidden`",
                missing=chosen.count(None),
                count_rows=self.row_counts,
            )
        return [key for key in chosen if key is not None]

    def _usable(self, task: Task, split: str) -> list[str]:
        """Ids of a task in a split, for training without those that are nearly a held-out question."""
        ids = sorted(key for key, item in self._items.items() if item.task == task and split_of(_group(key)) == split)
        if split == "train":
            held_out = [key for key in self._items if split_of(_group(key)) == "shadow"]
            whole = {key: item.original for key, item in self._items.items()}
            asked = {key: f"{item.premise} {item.question}" for key, item in self._items.items()}
            ids = without_siblings(ids, held_out, asked, whole)
            if not any(item.context for item in self._items.values()):
                # In the user's own questions without numbers another name makes another question.
                kept = {key for key in ids if self.name == "messages" and not _has_numbers(whole[key])}
                ids = sorted([*kept, *_without_same_story([key for key in ids if key not in kept], held_out, whole)])
        return ids

    def row_counts(self) -> RowCounts:
        splits = Counter(split_of(_group(key)) for key in self._items)
        train = sum(len(self._usable(task, "train")) for task in self.mix)
        skipped = self._seen - len(self._items)
        return RowCounts(self._seen, skipped, train, splits["shadow"], splits["train"] - train)

    def item(self, task: Task, key: str, want: Want, seed: int) -> Item:
        if key not in self._items:
            raise BadInput(f"no such {self.name} record: {key}", remedy="use the keys that assign gave for these files")
        item = self._items[key]
        return msgspec.structs.replace(item, context=self._pages(item, seed)) if item.steps and item.context else item

    def _first_replies(self, ids: Sequence[str], seed: int, complete: int) -> dict[str, str]:
        """Replies to the first look-up: of all ambiguous questions and of `complete` others. Empty without pages."""
        with_pages = [item for item in map(self._items.__getitem__, ids) if item.steps and item.context]
        ambiguous = [item for item in with_pages if item.hidden is not None]
        chosen = [*ambiguous, *[item for item in with_pages if item.hidden is None][:complete]]
        return {item.source_id: wiki(self._pages(item, seed), item.steps[0].input) for item in chosen}

    def _make_index(self, split: str) -> _PageIndex:
        return _PageIndex([item for item in self._items.values() if split_of(_group(item.source_id)) == split])

    def _pages(self, item: Item, seed: int) -> tuple[Article, ...]:
        """The pages of an item and the most similar ones of other groups, in random order."""
        index = self._index(split_of(_group(item.source_id)))
        others = index.similar(item, max(0, PAGES - len(item.context)))
        pages = [*item.context, *others]
        # The first look must show the readings, not pages that happen to share more words with it.
        ranked = search(pages, item.steps[0].input)
        last = max((rank for rank, page in enumerate(ranked) if page in item.context), default=0)
        above = set(ranked[:last]) - set(item.context)
        kept = [page for page in pages if page not in above]
        Random(f"{seed}:{item.source_id}").shuffle(kept)
        return tuple(kept)


def _balanced_first(
    ids: Sequence[str], items: Mapping[str, Item], replies: Mapping[str, str], asks: int, count: int
) -> list[str]:
    """The ids, beginning with `count` chosen ones: `asks` ambiguous ones, and complete ones with the same features.
    Features are words and forms of the question and of the first tool reply.

    People ask ambiguous and complete questions about different things, and a classifier would tell them apart by it. So
    the ambiguous questions that are most like complete ones are chosen, then complete ones like these.
    """
    candidates = [key for key in ids if key in replies] if replies else list(ids)
    ambiguous = [key for key in candidates if items[key].hidden is not None]
    complete = [key for key in candidates if items[key].hidden is None]
    if min(len(ambiguous), len(complete), asks) < MIN_TO_BALANCE:
        return list(ids)
    sets = {key: _features(items[key], replies.get(key, "")) for key in candidates}
    seen = Counter(feature for features in sets.values() for feature in features)
    frequent = sorted(feature for feature in seen if seen[feature] >= MIN_SEEN)
    column = {feature: index for index, feature in enumerate(frequent)}
    columns_of = {key: np.array([column[one] for one in features if one in column]) for key, features in sets.items()}
    weight = np.array([WEIGHTS[feature.partition(":")[0]] for feature in column])
    first = _herd(ambiguous, complete, asks, columns_of, weight)
    groups = set(map(_group, first))
    others = [key for key in complete if _group(key) not in groups]
    first += _herd(others, first, count - len(first), columns_of, weight)
    chosen = set(first)
    return [*first, *(key for key in ids if key not in chosen)]


def _herd(
    keys: Sequence[str],
    reference: Sequence[str],
    count: int,
    columns_of: Mapping[str, NDArray[Any]],
    weight: NDArray[Any],
) -> list[str]:
    """`count` keys, one of a group, in which features are as frequent as in `reference` (herding, Welling 2009).

    The next key is the one that keeps sum_f weight(f) * (count(f) - size * share(f))^2 smallest, where count(f) is the
    number of chosen keys with the feature f and share(f) its share in `reference`. Computed in whole numbers, so that
    every machine chooses the same.
    """
    reference_counts, chosen_counts = np.zeros_like(weight), np.zeros_like(weight)
    for key in reference:
        reference_counts[columns_of[key]] += 1
    flat = np.concatenate([columns_of[key] for key in keys])
    starts = np.cumsum([0, *(len(columns_of[key]) for key in keys)])[:-1]
    blocked = np.zeros(len(keys), np.int64)
    by_group: dict[str, list[int]] = defaultdict(list)
    for index, key in enumerate(keys):
        by_group[_group(key)].append(index)
    chosen: list[str] = []
    for size in range(1, min(count, len(by_group)) + 1):
        cost = weight * (len(reference) * (2 * chosen_counts + 1) - 2 * size * reference_counts)
        best = keys[int(np.argmin(np.add.reduceat(cost[flat], starts) + blocked))]
        chosen_counts[columns_of[best]] += 1
        blocked[by_group[_group(best)]] = np.iinfo(np.int64).max // 2
        chosen.append(best)
    return chosen


def _features(item: Item, reply: str) -> set[str]:
    """Words, pairs of words, size and counts of marks of a question and of the first tool reply; parts of its words."""
    asked = f"{item.premise} {item.question}".strip()
    found = {f"part:{asked[at : at + PART].lower()}" for at in range(len(asked) - PART + 1)}
    for kind, name, text, step in (("word", "asked", asked, 6), ("word shown", "shown", reply, 40)):
        in_text = words(text)
        found |= {f"{kind}:{word}" for word in in_text} | {f"{kind}:{a} {b}" for a, b in pairwise(in_text)}
        found |= {f"form:{name} {mark} {len(pattern.findall(text))}" for mark, pattern in _COUNTED.items()}
        found.add(f"form:{name} length {len(text) // step}")
    return found


def _fresh_first(ids: Sequence[str], items: Mapping[str, Item]) -> list[str]:
    """The ids without the complete questions whose pairs of words are the most common, if there are many: people begin
    their questions alike, and a pool of such beginnings is not diverse."""
    pairs = {key: tuple(pairwise(asked)) for key in ids if (asked := words(items[key].question))}
    seen = Counter(pair for some in pairs.values() for pair in some)
    complete = [key for key in pairs if items[key].hidden is None]
    if len(complete) < MANY_COMPLETE:
        return list(ids)
    common = {key: sum(log(seen[pair]) for pair in pairs[key]) / max(1, len(pairs[key])) for key in complete}
    most_common = frozenset(sorted(complete, key=lambda key: (common[key], key))[round(FRESH_SHARE * len(complete)) :])
    return [key for key in ids if key not in most_common]


class _PageIndex:
    """Pages of all items of a split by their words."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.pages: list[tuple[str, str, Article]] = []
        """Group, first word of the question, and page."""
        self.by_word: dict[str, list[int]] = defaultdict(list)
        seen: set[str] = set()
        self.ambiguous_groups = {_group(item.source_id) for item in items if item.hidden is not None}
        for item in items:
            for page in item.context:
                if page.title not in seen:
                    seen.add(page.title)
                    for word in content_words(page.title):
                        self.by_word[word].append(len(self.pages))
                    self.pages.append((_group(item.source_id), words(item.question)[0], page))

    def similar(self, item: Item, count: int) -> list[Article]:
        """Pages of other groups that share words with the question, those that look like readings of it first.

        Readings of an ambiguous question are answered in the same way (all with a date, all with a name), and each says
        a little more than the question.
        """
        shared: Counter[int] = Counter()
        for word in sorted(content_words(item.original)):
            if len(self.by_word.get(word, ())) <= COMMON_WORD:
                shared.update(self.by_word.get(word, ()))
        own_titles = {page.title for page in item.context}
        first_of_question, years = words(item.question)[0], _years(item.context[0])
        size = _size(item.context[0]) + (0 if item.hidden else EXTRA_CHARACTERS)
        ranked = sorted(shared, key=lambda index: (-shared[index], index))
        others = [self.pages[index] for index in ranked[: 60 * count + 20]]

        def unlikeness(entry: tuple[str, str, Article]) -> float:
            group, first_word, page = entry
            unlike = 0.7 * (group not in self.ambiguous_groups) + (_years(page) != years)
            return unlike + (first_word != first_of_question) + abs(_size(page) - size) / 8

        others.sort(key=unlikeness)
        own_group = _group(item.source_id)
        return [page for group, _, page in others if group != own_group and page.title not in own_titles][:count]


def _size(page: Article) -> int:
    return len(page.title) + len(page.text)


def _years(page: Article) -> int:
    return len(re.findall(r"\b\d{4}\b", f"{page.title} {page.text}"))


def _without_same_story(ids: Sequence[str], held_out: Sequence[str], texts: Mapping[str, str]) -> list[str]:
    """The ids whose words are not nearly those of a held-out problem: some datasets tell one story with several sets of
    numbers and names."""
    held_out_stories = [_story(texts[key]) for key in held_out]

    def is_held_out(story: frozenset[str]) -> bool:
        return any(
            len(story & other) >= SAME_STORY * len(story | other)
            for other in held_out_stories
            if SAME_STORY * len(story) <= len(other) <= len(story) / SAME_STORY
        )

    return [key for key in ids if not is_held_out(_story(texts[key]))]


def _has_numbers(text: str) -> bool:
    return any(word[0].isdigit() for word in words(text))


def _story(text: str) -> frozenset[str]:
    """The words of a problem without its numbers."""
    return frozenset(word for word in words(text) if not word[0].isdigit())


def _group(source_id: str) -> str:
    """The group of a source id."""
    return source_id.partition("/")[0]
