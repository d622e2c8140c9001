"""Sources of natural ambiguity: questions that people wrote, ambiguous or not, worded as they are.

One module per dataset reads its files into `Item`s. This one chooses among them and adds pages that have nothing to do
with the question, so that the number of pages does not tell an ambiguous question from a complete one. The rules of
success are those of the item's task; `detect` has none.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from math import log
from pathlib import Path
from random import Random

import msgspec

from askgate_env.tokenize import words
from askgate_env.tools import search, wiki
from askgate_env.types import LANGS, Article, Lang, Level, Task

from ...core.errors import BadInput
from ...core.files import sha256_file
from ..difficulty.text_features import content_words
from ..pool.source import TARGET, Item, RowCounts, TooFewRecords, Want
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
BINS = 6
_COUNTED = {
    "results": re.compile(r"^\d+\. ", re.M),
    "years": re.compile(r"\b\d{4}\b"),
    "numbers": re.compile(r"\d+"),
    "commas": re.compile(r"[,;]"),
    "capitals": re.compile(r"\b[A-Z]"),
    "full stops": re.compile(r"[.!]"),
}
LEAST_SEEN = 4
MIN_TO_BALANCE = 50
LENGTH_BINS = 4
EXTRA_TITLE = 14
"""Characters that other pages have more than the page of a complete question: readings say more than a question."""
MANY_COMPLETE = 4_000
FRESH_SHARE = 0.75
"""Share of the complete questions that are used, where there are many: those with the least common pairs of words."""
SAME_STORY = 0.7
"""Share of the words, numbers aside, that two problems have in common if they tell one story."""
LOOKED_AT = 4
"""Number of complete questions per sample whose first tool reply is compared."""
COMMON_WORD = 400
"""A word in more pages than this does not make two pages similar."""


class NaturalSource:
    """A source of natural questions. Keys are source ids; what comes before a `/` in one names its group.

    Items of a group are variants of one problem: they are in the same split, and a pool has at most one of them.
    """

    def __init__(self, name: str, data_dir: Path | None) -> None:
        pattern = NATURAL["files"][name]
        if data_dir is None:
            raise BadInput(
                f"source {name} needs a folder", where="--data-dir", remedy=f"name the folder above {pattern}"
            )
        self.name = name
        self.files = messages.own_files(data_dir) if name == "messages" else sorted(data_dir.glob(pattern))
        if not self.files:
            raise BadInput(f"no {name} data here", where=str(data_dir), remedy=f"put {pattern} below this folder")
        self.fingerprints = {path.relative_to(data_dir).as_posix(): sha256_file(path) for path in self.files}
        items, self._seen = _READERS[name](self.files)
        self._items = {item.source_id: msgspec.structs.replace(item, source=name) for item in items}
        spoken, tasks = (Counter(getattr(item, name) for item in self._items.values()) for name in ("lang", "task"))
        self.languages: tuple[Lang, ...] = tuple(lang for lang in LANGS if lang in spoken)
        self.mix: dict[Task, float] = {task: count / tasks.total() for task, count in tasks.items()}
        self.fewer_ambiguous: dict[Task, int] = {}
        self._index = cache(self._make_index)

    @property
    def left_aside(self) -> dict[Task, int]:
        """Number of records that gave no item, under the first task of the source."""
        return {next(iter(self.mix), "detect"): self._seen - len({_group(key) for key in self._items})}

    def levels(self, task: Task) -> dict[Level, float]:
        return dict(TARGET)

    def assign(self, task: Task, wants: list[Want], split: str, seed: int, taken: Collection[str] = ()) -> list[str]:
        """A key for every want, one of a group at most. Where there are too few ambiguous questions, complete ones take
        their place, and `fewer_ambiguous` counts them."""
        ids = self._usable(task, split)
        Random(f"{seed}:{task}:{split}").shuffle(ids)
        share = sum(want.clarify for want in wants) / len(wants)
        ids = _alike_first(ids, self._items, share, len(wants), {})
        ids = _fresh_first(ids, self._items)
        seen = self._first_replies(ids, seed, LOOKED_AT * len(wants))
        if seen:
            first = [key for key in ids if key in seen]
            ids = [*_alike_first(first, self._items, share, len(wants), seen), *(key for key in ids if key not in seen)]
        used = {_group(key) for key in taken}
        chosen: list[str | None] = [None] * len(wants)
        for ambiguous in (True, False):
            places = [at for at, want in enumerate(wants) if chosen[at] is None and (want.clarify or not ambiguous)]
            free = iter([key for key in ids if (self._items[key].hidden is not None) == ambiguous])
            for at in places:
                key = next((key for key in free if _group(key) not in used), None)
                if key is not None:
                    chosen[at] = key
                    used.add(_group(key))
            if ambiguous:
                self.fewer_ambiguous[task] = sum(chosen[at] is None for at in places)
        if None in chosen:
            error = TooFewRecords(
                f"{len(wants)} samples asked for, {len(wants) - chosen.count(None)} are there in the {split} part of "
                f"{self.name} at this share of ambiguous ones",
                where="--n",
                remedy="ask for fewer samples, change --clarify-rate, or add complete rows: about two for each with "
                "`hidden`",
            )
            error.missing, error.count_rows = chosen.count(None), self.row_counts
            raise error
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
                ids = _without_same_story(ids, held_out, whole)
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
        """What the first look shows: of all ambiguous questions, and of so many complete ones. Empty without pages."""
        looks = [key for key in ids if self._items[key].steps and self._items[key].context]
        plain = [key for key in looks if self._items[key].hidden is None][:complete]
        chosen = [*(key for key in looks if self._items[key].hidden is not None), *plain]
        return {
            key: wiki(self._pages(self._items[key], seed), self._items[key].steps[0].input) for key in sorted(chosen)
        }

    def _make_index(self, split: str) -> _PageIndex:
        return _PageIndex([one for one in self._items.values() if split_of(_group(one.source_id)) == split])

    def _pages(self, item: Item, seed: int) -> tuple[Article, ...]:
        """The pages of an item and the most similar ones of other groups, in random order."""
        index = self._index(split_of(_group(item.source_id)))
        others = index.similar(item, max(0, PAGES - len(item.context)))
        pages = [*item.context, *others]
        # The first look must show the readings, not pages that happen to share more words with it.
        ranked = search(pages, item.steps[0].input)
        last = max((at for at, found in enumerate(ranked) if found in item.context), default=0)
        above = set(ranked[:last]) - set(item.context)
        kept = [one for one in pages if one not in above]
        Random(f"{seed}:{item.source_id}").shuffle(kept)
        return tuple(kept)


def _alike_first(
    ids: Sequence[str], items: Mapping[str, Item], share: float, count: int, replies: Mapping[str, str]
) -> list[str]:
    """The ids, those first whose words, and the form of the first tool reply, do not tell whether the question is
    ambiguous.

    People ask ambiguous and complete questions about different things. Every question gets a score by its words (naive
    Bayes without its own group). From each range of lengths (of the reply where there is one) and scores, with and
    without a year in the pages, ambiguous and complete ones are taken in the same proportion.
    """
    asked = {key: f"{items[key].premise} {items[key].question}" for key in ids}
    sets = {key: frozenset((*words(asked[key]), *_form(asked[key], replies.get(key, "")))) for key in ids}
    is_open = {key: items[key].hidden is not None for key in ids}
    seen = {
        label: Counter(word for key in ids if is_open[key] == label for word in sets[key]) for label in (True, False)
    }
    size = {label: sum(one == label for one in is_open.values()) for label in (True, False)}
    if not 0 < share < 1 or min(size.values()) < MIN_TO_BALANCE:
        return list(ids)

    groups: dict[str, list[str]] = defaultdict(list)
    for key in ids:
        groups[_group(key)].append(key)

    def score(key: str) -> float:
        total = 0.0
        for word in sorted(sets[key]):  # in order: sums of floats must not depend on the hash seed
            own = Counter(is_open[one] for one in groups[_group(key)] if word in sets[one])
            with_word = {label: seen[label][word] - own[label] for label in (True, False)}
            if sum(with_word.values()) >= LEAST_SEEN:
                odds = {label: (with_word[label] + 1) / (size[label] + 2) for label in (True, False)}
                total += log(odds[True] / odds[False])
        return total

    # Where there are too few ambiguous questions, complete ones take their place, and these must be alike too.
    share = min(share, len({_group(key) for key in ids if is_open[key]}) / count)
    dated = {key: bool(items[key].context) and _years(items[key].context[0]) > 0 for key in ids}
    length = {key: len(replies.get(key) or items[key].premise + items[key].question) for key in ids}
    parts = [ids] if replies else [[key for key in ids if dated[key] == has_year] for has_year in (True, False)]
    bins = [
        frozenset(some)
        for part in parts
        for long in _quantiles(part, length.__getitem__, LENGTH_BINS)
        for some in _quantiles(long, score, BINS)
    ]
    by_bin = [
        [[key for key in ids if key in some and is_open[key] == label] for label in (True, False)] for some in bins
    ]
    # Units of which each takes `share` ambiguous and the rest complete questions from one range of scores.
    room = [min(len(opened) / share, len(complete) / (1 - share)) for opened, complete in by_bin]
    scale = min(1.0, count / max(sum(room), 1e-9))
    first: list[str] = []
    for (opened, complete), units in zip(by_bin, room, strict=True):
        first += opened[: round(scale * units * share)] + complete[: round(scale * units * (1 - share))]
    chosen = set(first)
    return [*first, *(key for key in ids if key not in chosen)]


def _fresh_first(ids: Sequence[str], items: Mapping[str, Item]) -> list[str]:
    """The ids without the complete questions whose pairs of words are the most common, if there are many: people begin
    their questions alike, and a pool of such beginnings is not diverse."""
    pairs = {key: tuple(pairwise(asked)) for key in ids if (asked := words(items[key].question))}
    seen = Counter(pair for some in pairs.values() for pair in some)
    complete = [key for key in pairs if items[key].hidden is None]
    if len(complete) < MANY_COMPLETE:
        return list(ids)
    common = {key: sum(log(seen[pair]) for pair in pairs[key]) / max(1, len(pairs[key])) for key in complete}
    worn = frozenset(sorted(complete, key=lambda key: (common[key], key))[round(FRESH_SHARE * len(complete)) :])
    return [key for key in ids if key not in worn]


def _form(asked: str, reply: str) -> Iterator[str]:
    """The words of a tool reply, its size and its counts of numbers and marks, each as a word; size and numbers of a
    question with a reply too."""
    if reply:
        yield f"asked length {len(asked) // 6}"
        yield f"asked numbers {len(_COUNTED['numbers'].findall(asked))}"
        yield from (f"shown {word}" for word in words(reply))
        yield f"form length {len(reply) // 40}"
        for name, pattern in _COUNTED.items():
            yield f"form {name} {len(pattern.findall(reply))}"


def _quantiles(keys: Sequence[str], value: Callable[[str], float], parts: int) -> list[list[str]]:
    """The keys in parts of equal size by a value."""
    ranked = sorted(keys, key=lambda key: (value(key), key))
    step = max(1, -(-len(ranked) // parts))
    return [ranked[at : at + step] for at in range(0, len(ranked), step)]


class _PageIndex:
    """Pages of all items of a split by their words."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.pages: list[tuple[str, str, Article]] = []
        self.by_word: dict[str, list[int]] = defaultdict(list)
        seen: set[str] = set()
        self.open_groups = {_group(item.source_id) for item in items if item.hidden is not None}
        for item in items:
            for page in item.context:
                if page.title not in seen:
                    seen.add(page.title)
                    for word in _content(page.title):
                        self.by_word[word].append(len(self.pages))
                    self.pages.append((_group(item.source_id), words(item.question)[0], page))

    def similar(self, item: Item, count: int) -> list[Article]:
        """Pages of other groups that share words with the question, those that look like readings of it first.

        Readings of an ambiguous question are answered in the same way (all with a date, all with a name), and each says
        a little more than the question.
        """
        shared: Counter[int] = Counter()
        for word in sorted(_content(item.original)):
            if len(self.by_word.get(word, ())) <= COMMON_WORD:
                shared.update(self.by_word.get(word, ()))
        own = {page.title for page in item.context}
        asks, years = words(item.question)[0], _years(item.context[0])
        size = _size(item.context[0]) + (0 if item.hidden else EXTRA_TITLE)
        ranked = sorted(shared, key=lambda at: (-shared[at], at))
        others = [self.pages[at] for at in ranked[: 60 * count + 20]]
        others.sort(
            key=lambda one: (
                0.7 * (one[0] not in self.open_groups)
                + (_years(one[2]) != years)
                + (one[1] != asks)
                + abs(_size(one[2]) - size) / 8
            )
        )
        group = _group(item.source_id)
        return [page for its, _, page in others if its != group and page.title not in own][:count]


def _size(page: Article) -> int:
    return len(page.title) + len(page.text)


def _years(page: Article) -> int:
    return len(re.findall(r"\b\d{4}\b", f"{page.title} {page.text}"))


def _without_same_story(ids: Sequence[str], held_out: Sequence[str], texts: Mapping[str, str]) -> list[str]:
    """The ids whose words are not nearly those of a held-out problem: some datasets tell one story with several sets of
    numbers and names."""
    told = [_story(texts[key]) for key in held_out]

    def is_told(story: frozenset[str]) -> bool:
        return any(
            len(story & other) >= SAME_STORY * len(story | other)
            for other in told
            if SAME_STORY * len(story) <= len(other) <= len(story) / SAME_STORY
        )

    return [key for key in ids if not is_told(_story(texts[key]))]


def _story(text: str) -> frozenset[str]:
    return frozenset(word for word in words(text) if not word[0].isdigit())


def _group(source_id: str) -> str:
    return source_id.partition("/")[0]


def _content(text: str) -> frozenset[str]:
    return frozenset(content_words(text))
