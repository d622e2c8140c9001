"""Sources `dir` and `hf`: the official HotpotQA, StrategyQA and GSM8K records, and which of them serves which want.

`dir` reads the files of a folder. `hf` takes the tasks whose files are not there from the Hugging Face hub, and never
writes to the folder. HotpotQA and GSM8K come through `datasets`. StrategyQA's evidence is nested unevenly, which
`datasets` cannot store in columns, and most mirrors leave it out; `voidful/StrategyQA` has the official files, which
are downloaded as they are.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, lru_cache, partial
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import msgspec

from askgate_env.types import Article, Level, Task

from ...core.errors import BadInput
from ..pool.source import Item, RowCounts, Source, TooFewRecords, Want, effective_want
from ..quality.leaks import similar_samples
from ..quality.token_stream import token_stream
from . import article_items, gsm8k, level_fit
from .articles import ArticleQuestion, HotpotRecord, QuestionStyle, read_hotpotqa
from .gsm8k import MODES, GsmRecord, Mode, WordProblem
from .official_files import Dataset, Question, dataset_files, load, read_files, usable

T = TypeVar("T")

SHADOW_EVERY = 7
"""One record in seven is held out for the shadow set, by a hash of its source id, whatever the row order or seed."""
RECORDS_PER_WANT = 8
"""Number of records that are considered for one want; a whole dataset is more than a small pool needs."""
MAX_KEPT = 10_000
"""Maximum number of items that are kept after a record was tried for a want. The builder asks for the chosen ones
again."""
GOOD_ENOUGH = 0.95
"""Largest misfit at which a record still has the level. Beyond it a record is used only where an ask is needed."""
TWIN_SHARE = 0.6
"""Share of the complete word problems that leave a sentence to their notes, if there are enough records. The others
have all their sentences."""
MAX_AMBIGUOUS = 0.6
"""Maximum share of scarce vague records that become ambiguous. With more, hardly a complete sample would sound as
vague."""
SIBLING_NGRAM = 5
SIBLING_SIMILARITY = 0.70
"""Stricter than the leak gate's 0.85: a left-out sentence or a template makes prompts more alike than their records."""

_SCARCE_FIRST: tuple[Level, ...] = ("easy", "hard", "medium")
"""Easy questions that lack something are the scarcest, then hard ones that lack nothing."""
STRATEGYQA = "voidful/StrategyQA"
STRATEGYQA_FILES = ("strategyqa_train.json", "strategyqa_train_paragraphs.json")
_HUB_REMEDY = "check the network, or put the official files into a folder and use --source dir --data-dir FOLDER"

Misfit = Callable[[str, Mode, Want], float | None]
"""Distance of a record in a mode from a want; `None` where it cannot be worded in that mode."""


def split_of(source_id: str) -> str:
    first = int.from_bytes(hashlib.sha256(source_id.encode()).digest()[:8])
    return "shadow" if first % SHADOW_EVERY == 0 else "train"


class OfficialSource(Source):
    """The official files of a folder. The level asked for is nearly always reached."""

    name = "dir"
    languages = ("en",)

    def __init__(self, data_dir: Path | None) -> None:
        if data_dir is None:
            remedy = "name the folder of the official files"
            raise BadInput("source dir needs a folder", where="--data-dir", remedy=remedy)
        super().__init__()
        self.data_dir = data_dir
        self._datasets: dict[Task, Dataset] = {}
        self._make = lru_cache(maxsize=MAX_KEPT)(self._make_item)
        self._spare_articles, self._question_faults = cache(self._find_spare_articles), cache(self._find_faults)

    @property
    def left_aside(self) -> dict[Task, int]:
        return {task: dataset.seen - len(dataset.records) for task, dataset in self._datasets.items()}

    def assign(self, task: Task, wants: list[Want], split: str, seed: int, taken: Collection[str] = ()) -> list[str]:
        """A key for every want, no record twice: the records that fit the wants best."""
        records = self._dataset(task).records
        ids = [source_id for source_id in self._usable(task, split) if source_id not in taken]
        rng = Random(f"{seed}:{task}:{split}")
        if len(ids) < len(wants):
            raise self._too_few(task, split, len(wants), len(ids))
        rng.shuffle(ids)
        faults = self._question_faults(task)
        ids.sort(key=lambda source_id: faults.get(source_id, (False, 0)))
        limit = RECORDS_PER_WANT * len(wants) + 100
        vague = [source_id for source_id in ids if _can_be_vague(records[source_id])][:limit]
        plain = [source_id for source_id in ids if not _can_be_vague(records[source_id])][:limit]

        def misfit(source_id: str, mode: Mode, want: Want) -> float | None:
            item = self._make(task, source_id, mode, want, seed)
            return None if item is None else level_fit.misfit(item, effective_want(want, source_id))

        chosen = choose_records(wants, [*vague, *plain], frozenset(vague), misfit, rng)
        if None in chosen:
            raise self._too_few(task, split, len(wants), len(chosen) - chosen.count(None))
        assigned = zip(wants, chosen, strict=True)
        self.fewer_ambiguous[task] = sum(want.clarify and not f"{key}".startswith("hidden") for want, key in assigned)
        return [key for key in chosen if key is not None]

    def _usable(self, task: Task, split: str) -> list[str]:
        """Ids of a split, for training without those whose text is nearly that of a held-out record."""
        records = self._dataset(task).records
        ids = sorted(source_id for source_id in records if split_of(source_id) == split)
        if split == "train":
            held_out = [source_id for source_id in records if split_of(source_id) == "shadow"]
            ids = without_siblings(
                ids, held_out, {source_id: _full_text(record) for source_id, record in records.items()}
            )
        return ids

    def row_counts(self, task: Task) -> RowCounts:
        dataset = self._dataset(task)
        splits = Counter(split_of(source_id) for source_id in dataset.records)
        train = len(self._usable(task, "train"))
        skipped = dataset.seen - len(dataset.records)
        return RowCounts(dataset.seen, skipped, train, splits["shadow"], splits["train"] - train)

    def item(self, task: Task, key: str, want: Want, seed: int) -> Item:
        mode, _, source_id = key.partition("|")
        if mode not in MODES or source_id not in self._dataset(task).records:
            remedy = "use the keys that assign gave for the same data folder"
            raise BadInput(f"no such {task} record: {key}", remedy=remedy)
        made = self._make(task, source_id, mode, want, seed)
        if made is None:
            raise BadInput(f"{key} does not fit in {want.max_turns} turns", remedy="use a larger --max-turns")
        return msgspec.structs.replace(made, source=self.name)

    def load(self, task: Task) -> Dataset:
        return load(self.data_dir, task)

    def _make_item(self, task: Task, source_id: str, mode: Mode, want: Want, seed: int) -> Item | None:
        record = self._dataset(task).records[source_id]
        if isinstance(record, WordProblem):
            return gsm8k.make_item(record, mode, want, seed)
        return article_items.make_item(record, want, seed, self._spare_articles(task, split_of(source_id)))

    def _dataset(self, task: Task) -> Dataset:
        if task not in self._datasets:
            self._datasets[task] = self.load(task)
            self.fingerprints |= self._datasets[task].sha256
        return self._datasets[task]

    def _find_spare_articles(self, task: Task, split: str) -> tuple[Article, ...]:
        """The supporting articles of all records of a split, one of each title."""
        of_split = [record for key, record in self._dataset(task).records.items() if split_of(key) == split]
        gold = [page for record in of_split if isinstance(record, ArticleQuestion) for page in record.gold]
        return tuple({page.title: page for page in reversed(gold)}.values())

    def _find_faults(self, task: Task) -> dict[str, tuple[bool, int]]:
        """Faults of the question of each record; empty for word problems, which are written better."""
        records = [record for record in self._dataset(task).records.values() if isinstance(record, ArticleQuestion)]
        texts = [page.text for record in records for page in (*record.gold, *record.others)]
        style = QuestionStyle([record.question for record in records], texts)
        return {record.source_id: style.faults(record.question) for record in records}

    def _too_few(self, task: Task, split: str, wanted: int, available: int) -> BadInput:
        return TooFewRecords(
            f"{wanted} samples asked for, {available} records in the {split} part of {task}",
            where=str(self.data_dir),
            remedy="ask for fewer samples, less of this task or a lower --clarify-rate, or add rows",
            missing=wanted - available,
            count_rows=partial(self.row_counts, task),
        )


def _can_be_vague(record: Question) -> bool:
    return isinstance(record, WordProblem) and bool(record.omissions)


def without_siblings(ids: Sequence[str], held_out: Sequence[str], *views: Mapping[str, str]) -> list[str]:
    """The ids whose texts are not similar to a held-out text, in any view.

    Datasets have variants of one record: GSM8K asks about the same cookie jar what was in it and what is left in it.
    With one of the two in the shadow set and the other in a pool, the pool leaks, although their ids differ.
    """
    if not ids or not held_out:
        return list(ids)
    ours, theirs = (tuple(tuple(view[key] for key in keys) for view in views) for keys in (ids, held_out))
    siblings = _siblings(ours, theirs)
    return [key for index, key in enumerate(ids) if index not in siblings]


@lru_cache(maxsize=3)  # a command needs them for its plan and again for its account of the rows
def _siblings(ours: tuple[tuple[str, ...], ...], theirs: tuple[tuple[str, ...], ...]) -> frozenset[int]:
    """Indices of our texts that are similar to one of theirs. Both come in the same views."""
    our_streams, their_streams = (tuple(map(token_stream, views)) for views in (ours, theirs))
    return similar_samples(our_streams, their_streams, SIBLING_NGRAM, SIBLING_SIMILARITY).matches


def _full_text(record: Question) -> str:
    return record.text if isinstance(record, WordProblem) else record.question


def choose_records(
    wants: Sequence[Want], ids: Sequence[str], vague: Collection[str], misfit: Misfit, rng: Random
) -> list[str | None]:
    """One key (mode and record) per want, no record twice; `None` where no record is left. `ids` are in random order.

    1. Per level: records that fit both as `hidden` and as `twin` are chosen for the ambiguous wants and some complete
       ones, and only then is it drawn which of them are ambiguous. Otherwise the wording would give it away.
    2. Vague records that are left become twins too, up to `TWIN_SHARE` of the complete wants.
    3. Ambiguous wants that are still open get vague records that miss their level: an ask is worth more than a level.
       No more than `MAX_AMBIGUOUS` of all vague records are ambiguous.
    4. The other complete wants get records worded as they are, and so do ambiguous ones that no record can serve.
    """
    chosen: list[str | None] = [None] * len(wants)
    free = dict.fromkeys(ids)

    def assign(indices: Sequence[int], records: Sequence[str], mode: Mode) -> None:
        """Gives each of these wants a record; an ambiguous want that gets a twin hides its sentence."""
        for index, source_id in zip(indices, records, strict=False):
            hides = wants[index].clarify and mode != "intact"
            chosen[index] = f"{'hidden' if hides else mode}|{source_id}"
            del free[source_id]

    def serve(indices: Sequence[int], mode: Mode, max_misfit: float = float("inf")) -> None:
        """Gives these wants the free records that come nearest in a mode."""
        candidates = [key for key in free if mode == "intact" or key in vague]
        found = _nearest(candidates, [wants[index] for index in indices], lambda key, want: misfit(key, mode, want))
        assign(indices, [key for distance, key in found if distance <= max_misfit], mode)

    def misfit_as_both(source_id: str, want: Want) -> float | None:
        hidden = misfit(source_id, "hidden", want)
        if hidden is None or hidden > GOOD_ENOUGH:
            return hidden
        twin = misfit(source_id, "twin", want)
        return None if twin is None else max(hidden, twin)

    complete: dict[Level, list[int]] = {}
    for level in _SCARCE_FIRST:
        candidates = [key for key in free if key in vague]
        share = _affordable_twins([want for want in wants if want.level not in complete], len(candidates))
        ambiguous = [index for index, want in enumerate(wants) if want.level == level and want.clarify]
        complete[level] = [index for index, want in enumerate(wants) if want.level == level and not want.clarify]
        rng.shuffle(complete[level])
        as_twins = complete[level][: round(share * len(complete[level]))]
        both = [*ambiguous, *as_twins]
        found = _nearest(candidates, [wants[index] for index in both], misfit_as_both)
        good = [key for distance, key in found if distance <= GOOD_ENOUGH]
        # Where vague records are scarce, those that fit no level well are left for the last one.
        is_last = level == _SCARCE_FIRST[-1]
        kept = [key for _, key in found[: len(ambiguous)]] if is_last and len(good) < len(ambiguous) else good
        rng.shuffle(kept)
        hidden = max(len(ambiguous) if len(kept) == len(both) else 0, round(MAX_AMBIGUOUS * len(kept)))
        assign([*ambiguous[:hidden], *as_twins], kept, "twin")
    for level in _SCARCE_FIRST:
        still_open = [index for index in complete[level] if chosen[index] is None]
        twins = len(complete[level]) - len(still_open)
        serve(still_open[: max(0, round(TWIN_SHARE * len(complete[level])) - twins)], "twin", GOOD_ENOUGH)
    vague_keys = [key for key in chosen if key is not None]
    asks = sum(key.startswith("hidden") for key in vague_keys)
    spare = int(MAX_AMBIGUOUS / (1 - MAX_AMBIGUOUS) * (len(vague_keys) - asks)) - asks
    still_open = [index for index, want in enumerate(wants) if want.clarify and chosen[index] is None]
    serve(still_open[: max(0, spare)], "hidden")
    for level in _SCARCE_FIRST:
        serve([index for index, want in enumerate(wants) if want.level == level and chosen[index] is None], "intact")
    return chosen


def _affordable_twins(wants: Sequence[Want], vague: int) -> float:
    """Share of the complete wants that become twins: as many as the vague records allow."""
    ambiguous = sum(want.clarify for want in wants)
    complete = len(wants) - ambiguous
    return min(TWIN_SHARE, max(0, vague - ambiguous) / complete) if complete else 0.0


def _nearest(
    candidates: Sequence[str], wants: Sequence[Want], misfit: Callable[[str, Want], float | None]
) -> list[tuple[float, str]]:
    """As many records as wants, each with its misfit: first those that fit, in the order of the candidates, then the
    nearest."""
    good: list[tuple[float, str]] = []
    near: list[tuple[float, int, str]] = []
    for rank, source_id in enumerate(candidates):
        if len(good) == len(wants):
            break
        distance = misfit(source_id, wants[len(good)])
        if distance == 0:
            good.append((0.0, source_id))
        elif distance is not None:
            near.append((distance, rank, source_id))
    near.sort()
    return [*good, *((distance, source_id) for distance, _, source_id in near[: len(wants) - len(good)])]


class HubSource(OfficialSource):
    name = "hf"

    def __init__(self, data_dir: Path | None) -> None:
        super().__init__(data_dir or Path())
        self._local = data_dir

    def load(self, task: Task) -> Dataset:
        """The dataset of a task; files in the data folder take precedence over the hub."""
        if self._local is not None and dataset_files(self._local, task):
            return load(self._local, task)
        try:
            return _strategyqa() if task == "strategyqa" else _through_datasets(task)
        except ImportError:
            remedy = "pip install datasets, or use --source dir with the official files"
            raise BadInput("the package `datasets` is not installed", where="--source hf", remedy=remedy) from None


def hotpot_record(row: dict[str, Any]) -> HotpotRecord:
    """The official form of a hub row, which has pairs of lists in place of lists of pairs."""
    facts, context = row["supporting_facts"], row["context"]
    return msgspec.convert(
        {
            "_id": row["id"],
            "question": row["question"],
            "answer": row["answer"],
            "supporting_facts": list(zip(facts["title"], facts["sent_id"], strict=True)),
            "context": list(zip(context["title"], context["sentences"], strict=True)),
        },
        HotpotRecord,
    )


_DATASETS: dict[Task, tuple[str, str, tuple[str, ...], Callable[[dict[str, Any]], Any], Any]] = {
    "hotpotqa": ("hotpotqa/hotpot_qa", "distractor", ("train", "validation"), hotpot_record, read_hotpotqa),
    "gsm8k": ("openai/gsm8k", "main", ("train", "test"), partial(msgspec.convert, type=GsmRecord), gsm8k.read),
}
"""Dataset on the hub, its configuration and splits, and how a row becomes a record and then a question."""


def _through_datasets(task: Task) -> Dataset:
    import datasets

    name, config, splits, convert, read = _DATASETS[task]
    rows = _fetched(name, lambda: datasets.load_dataset(name, config))
    records: list[tuple[str, Any]] = []
    sha256: dict[str, str] = {}
    for split in splits:
        digest = hashlib.sha256()
        for place, row in enumerate(rows[split]):
            where = f"{name} {split}[{place}]"
            try:
                records.append((where, convert(row)))
            except (KeyError, msgspec.ValidationError, TypeError, ValueError) as error:
                what = f"no field {error}" if isinstance(error, KeyError) else str(error)
                raise BadInput(what, where=where, remedy=_HUB_REMEDY) from None
            digest.update(msgspec.json.encode(records[-1][1]))
        sha256[f"{name}/{split}"] = digest.hexdigest()
    return usable(records, read, sha256)


def _strategyqa() -> Dataset:
    from huggingface_hub import hf_hub_download

    files = []
    for name in STRATEGYQA_FILES:
        fetch = partial(hf_hub_download, repo_id=STRATEGYQA, filename=name, repo_type="dataset")
        files.append(Path(_fetched(STRATEGYQA, fetch)))
    dataset = read_files("strategyqa", files, files[0].parent)
    return msgspec.structs.replace(
        dataset, sha256={f"{STRATEGYQA}/{name}": one for name, one in dataset.sha256.items()}
    )


def _fetched(name: str, fetch: Callable[[], T]) -> T:
    """Result of a download. The hub's client raises `OSError`s, and `ValueError`s in its offline mode."""
    try:
        return fetch()
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInput(f"{name} cannot be fetched ({reason})", where="--source hf", remedy=_HUB_REMEDY) from None
