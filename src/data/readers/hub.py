"""Source `hf`: the same records from the Hugging Face hub, for the tasks whose files are not in the data folder.

HotpotQA and GSM8K come through `datasets`. StrategyQA's evidence is nested unevenly, which `datasets` cannot store in
columns, and most mirrors leave it out; `voidful/StrategyQA` has the official files, which are downloaded as they are.
Nothing is ever written to the data folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ...core.errors import BadInput
from ...core.types import Task
from . import gsm8k, hotpotqa
from .gsm8k import GsmRecord
from .hotpotqa import HotpotRecord
from .official import OfficialSource
from .official_files import Dataset, dataset_files, load, read_files, usable

T = TypeVar("T")

HOTPOTQA, GSM8K, STRATEGYQA = "hotpotqa/hotpot_qa", "openai/gsm8k", "voidful/StrategyQA"
STRATEGYQA_FILES = ("strategyqa_train.json", "strategyqa_train_paragraphs.json")
_REMEDY = "check the network, or put the official files into a folder and use --source dir --data_dir FOLDER"


class HubSource(OfficialSource):
    name = "hf"

    def __init__(self, data_dir: Path | None) -> None:
        super().__init__(data_dir or Path())
        self._local = data_dir

    def load(self, task: Task) -> Dataset:
        """The dataset of a task; files in the data folder take precedence over the hub."""
        if self._local is not None and dataset_files(self._local, task):
            return load(self._local, task)
        return _strategyqa() if task == "strategyqa" else _through_datasets(task)


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


def gsm_record(row: dict[str, Any]) -> GsmRecord:
    return GsmRecord(question=row["question"], answer=row["answer"])


_DATASETS: dict[Task, tuple[str, str, tuple[str, ...], Callable[[dict[str, Any]], Any], Any]] = {
    "hotpotqa": (HOTPOTQA, "distractor", ("train", "validation"), hotpot_record, hotpotqa.read),
    "gsm8k": (GSM8K, "main", ("train", "test"), gsm_record, gsm8k.read),
}
"""Dataset on the hub, its configuration and splits, and how a row becomes a record and then a question."""


def _through_datasets(task: Task) -> Dataset:
    try:
        import datasets
    except ImportError:
        raise _not_installed() from None
    name, config, splits, convert, read = _DATASETS[task]
    rows = _fetched(name, lambda: datasets.load_dataset(name, config))
    records: list[Any] = []
    sha256: dict[str, str] = {}
    for split in splits:
        digest = hashlib.sha256()
        for place, row in enumerate(rows[split]):
            records.append(_converted(row, convert, f"{name} {split}[{place}]"))
            digest.update(msgspec.json.encode(records[-1]))
        sha256[f"{name}/{split}"] = digest.hexdigest()
    return usable(records, read, sha256)


def _strategyqa() -> Dataset:
    try:
        from huggingface_hub import hf_hub_download
    except ImportError:
        raise _not_installed() from None
    files = []
    for name in STRATEGYQA_FILES:
        fetch = partial(hf_hub_download, repo_id=STRATEGYQA, filename=name, repo_type="dataset")
        files.append(Path(_fetched(STRATEGYQA, fetch)))
    dataset = read_files("strategyqa", files, files[0].parent)
    return msgspec.structs.replace(
        dataset, sha256={f"{STRATEGYQA}/{name}": one for name, one in dataset.sha256.items()}
    )


def _not_installed() -> BadInput:
    remedy = "pip install datasets, or use --source dir with the official files"
    return BadInput("the package `datasets` is not installed", where="--source hf", remedy=remedy)


def _fetched(name: str, fetch: Callable[[], T]) -> T:
    """Result of a download. The hub's client raises `OSError`s, and `ValueError`s in its offline mode."""
    try:
        return fetch()
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInput(f"{name} cannot be fetched ({reason})", where="--source hf", remedy=_REMEDY) from None


def _converted(row: dict[str, Any], convert: Callable[[dict[str, Any]], T], where: str) -> T:
    try:
        return convert(row)
    except KeyError as error:
        raise BadInput(f"no field {error}", where=where, remedy=_REMEDY) from None
    except (msgspec.ValidationError, TypeError, ValueError) as error:
        raise BadInput(str(error), where=where, remedy=_REMEDY) from None
