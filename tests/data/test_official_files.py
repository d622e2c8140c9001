"""Official files are found by folder and format, refused with file, record and field, and held out by source id."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from askgate_env.types import TASKS, Task
from src.core.errors import BadInput
from src.core.files import sha256_file
from src.data.pool.source import Want
from src.data.readers.official import HubSource, OfficialSource, split_of
from tests.data.dataset_records import GOODS, KEPT, TRADES, gsm, hotpot, strategy, write_all


def want(level: str = "medium", clarify: bool = False) -> Want:
    return Want("en", level, clarify, 6, 4, 4, 0.5)  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_all(tmp_path)


@pytest.mark.parametrize("task", TASKS)
def test_every_want_gets_its_own_record_of_the_split(folder: Path, task: Task) -> None:
    source = OfficialSource(folder)
    wants = [want("medium", clarify=number % 3 == 0) for number in range(12)]
    keys = source.assign(task, wants, "train", 7)
    assert keys == OfficialSource(folder).assign(task, wants, "train", 7)
    items = [source.item(task, key, one, 7) for key, one in zip(keys, wants, strict=True)]
    assert len({item.source_id for item in items}) == len(wants)
    assert [item.hidden is not None for item in items] == [one.clarify and task == "gsm8k" for one in wants]
    assert {split_of(item.source_id) for item in items} == {"train"}
    assert {item.source for item in items} == {"dir"}
    shadow = source.assign(task, [want()], "shadow", 7)
    assert split_of(source.item(task, shadow[0], want(), 7).source_id) == "shadow"


def test_the_hold_out_does_not_follow_the_order_of_rows(folder: Path) -> None:
    path = folder / "gsm8k" / "train.jsonl"
    before = set(OfficialSource(folder).assign("gsm8k", [want()] * 20, "train", 1))
    lines = path.read_text().splitlines()
    path.write_text("\n\n".join(reversed(lines)))
    assert set(OfficialSource(folder).assign("gsm8k", [want()] * 20, "train", 1)) == before


def test_fingerprints_name_the_files_that_were_read_and_no_others(folder: Path) -> None:
    (folder / "hotpotqa" / "notes.json").write_text('{"something": "else"}')
    source = OfficialSource(folder)
    assert source.fingerprints == {}
    source.assign("hotpotqa", [want()], "train", 1)
    assert source.fingerprints == {"hotpotqa/any_name.json": sha256_file(folder / "hotpotqa" / "any_name.json")}


def test_lines_of_another_shape_are_skipped(folder: Path) -> None:
    """GSM8K's release also has solutions by models."""
    solutions = folder / "gsm8k" / "example_model_solutions.jsonl"
    solutions.write_text(json.dumps({"question": "How many?", "ground_truth": "<<1+1=2>>\n#### 2"}))
    source = OfficialSource(folder)
    source.assign("gsm8k", [want()], "train", 1)
    assert list(source.fingerprints) == ["gsm8k/train.jsonl"]
    (folder / "gsm8k" / "train.jsonl").unlink()
    with pytest.raises(BadInput, match="no gsm8k data here"):
        OfficialSource(folder).assign("gsm8k", [want()], "train", 1)


def test_a_question_under_two_ids_is_kept_once(folder: Path) -> None:
    again = {**strategy(2), "qid": "f" * 20, "question": strategy(2)["question"].upper()}
    path = folder / "strategyqa" / "strategyqa_train.json"
    path.write_text(json.dumps([*json.loads(path.read_text()), again]))
    source = OfficialSource(folder)
    source.assign("strategyqa", [want()], "train", 1)
    assert source.left_aside == {"strategyqa": 1}


def test_too_few_records_are_refused_with_counts(folder: Path) -> None:
    source = OfficialSource(folder)
    with pytest.raises(BadInput, match=r"500 samples asked for, [0-9]+ records in the train part of gsm8k"):
        source.assign("gsm8k", [want()] * 500, "train", 1)


def test_complete_samples_take_the_place_of_ambiguous_ones_that_lack(folder: Path) -> None:
    bare = [
        {
            "question": f"Ann {trade} and {kept} has 3 boxes of 2 {goods}. How many {goods} is that?",
            "answer": "<<3*2=6>>\n#### 6",
        }
        for trade, kept, goods in zip(TRADES, KEPT, GOODS, strict=True)
    ]
    (folder / "gsm8k" / "train.jsonl").write_text("\n".join(map(json.dumps, bare)))
    source = OfficialSource(folder)
    keys = source.assign("gsm8k", [want(clarify=True)] * 5, "train", 1)
    assert all(key.startswith("intact|") for key in keys)
    assert source.fewer_ambiguous == {"gsm8k": 5}


def test_a_missing_dataset_is_refused_only_when_asked_for(folder: Path) -> None:
    (folder / "hotpotqa" / "any_name.json").unlink()
    source = OfficialSource(folder)
    assert source.assign("gsm8k", [want()], "train", 1)
    with pytest.raises(BadInput, match=r"no hotpotqa data here.*hotpot_dev_distractor_v1\.json"):
        source.assign("hotpotqa", [want()], "train", 1)
    with pytest.raises(BadInput, match="--data-dir"):
        OfficialSource(None)


def test_questions_without_their_paragraphs_are_refused(folder: Path) -> None:
    (folder / "strategyqa" / "strategyqa_train_paragraphs.json").unlink()
    with pytest.raises(BadInput, match=r"strategyqa_train_paragraphs\.json"):
        OfficialSource(folder).assign("strategyqa", [want()], "train", 1)


def broken(record: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {key: value for key, value in {**record, **changes}.items() if value is not None}


@pytest.mark.parametrize(
    ("task", "name", "text", "message"),
    [
        ("hotpotqa", "any_name.json", "[{", r"any_name\.json: not valid JSON"),
        ("hotpotqa", "any_name.json", [hotpot(0), broken(hotpot(1), answer=None)], r"`answer` - at `\$\[1\]`"),
        ("hotpotqa", "any_name.json", [broken(hotpot(0), question=5)], r"str.*`\$\[0\]\.question`"),
        ("strategyqa", "strategyqa_train.json", [broken(strategy(0), facts="one")], r"`\$\[0\]\.facts`"),
        ("gsm8k", "train.jsonl", json.dumps(gsm(0)) + '\n{"question": 3}', r"train\.jsonl:2: .*question"),
        ("gsm8k", "train.jsonl", '{"question": "a", "answer": "3"}', r"train\.jsonl:1: 'a' skipped: no number"),
        ("gsm8k", "train.jsonl", "\n\n{nonsense", r"train\.jsonl:3: not valid JSON"),
        ("gsm8k", "train.jsonl", b'{"question": "\xff", "answer": "#### 3"}', r"train\.jsonl:1: "),
    ],
)
def test_a_broken_record_is_named(folder: Path, task: Task, name: str, text: Any, message: str) -> None:
    raw = text if isinstance(text, bytes) else (text if isinstance(text, str) else json.dumps(text)).encode()
    (folder / task / name).write_bytes(raw)
    with pytest.raises(BadInput, match=message):
        OfficialSource(folder).assign(task, [want()], "train", 1)


def test_a_key_of_another_folder_is_refused(folder: Path) -> None:
    with pytest.raises(BadInput, match="no such gsm8k record"):
        OfficialSource(folder).item("gsm8k", "intact|gsm8k:gone", want(), 1)


def test_a_task_that_does_not_fit_the_turns_is_refused(folder: Path) -> None:
    source = OfficialSource(folder)
    (key,) = source.assign("gsm8k", [want(clarify=True)], "train", 1)
    with pytest.raises(BadInput, match="max-turns"):
        source.item("gsm8k", key, Want("en", "medium", True, 2, 4, 4, 0.5), 1)


def on_the_hub(number: int) -> dict[str, Any]:
    raw = hotpot(number)
    titles, sentences = zip(*raw["context"], strict=True)
    facts, places = zip(*raw["supporting_facts"], strict=True)
    return {
        **{name: raw[name] for name in ("question", "answer", "type", "level")},
        "id": raw["_id"],
        "supporting_facts": {"title": list(facts), "sent_id": list(places)},
        "context": {"title": list(titles), "sentences": list(sentences)},
    }


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[str]:
    """A fake client of the hub that records its requests."""
    asked: list[str] = []
    numbers = range(40)

    def load_dataset(name: str, config: str) -> dict[str, list[dict[str, Any]]]:
        asked.append(f"{name}/{config}")
        if name == "openai/gsm8k":
            return {"train": [gsm(number) for number in numbers], "test": []}
        return {"train": [on_the_hub(number) for number in numbers], "validation": []}

    def hf_hub_download(repo_id: str, filename: str, repo_type: str) -> str:
        asked.append(f"{repo_id}/{filename}")
        return str(folder / "strategyqa" / filename)

    datasets, client = ModuleType("datasets"), ModuleType("huggingface_hub")
    vars(datasets)["load_dataset"] = load_dataset
    vars(client)["hf_hub_download"] = hf_hub_download
    monkeypatch.setitem(sys.modules, "datasets", datasets)
    monkeypatch.setitem(sys.modules, "huggingface_hub", client)
    return asked


@pytest.mark.parametrize("task", TASKS)
def test_the_hub_gives_the_same_items_as_the_files(folder: Path, hub: list[str], task: Task) -> None:
    wants = [want("medium", clarify=number % 3 == 0) for number in range(9)]
    local, remote = OfficialSource(folder), HubSource(None)
    keys = remote.assign(task, wants, "train", 3)
    assert keys == local.assign(task, wants, "train", 3)
    assert remote.item(task, keys[0], wants[0], 3).source == "hf"
    assert remote.item(task, keys[0], wants[0], 3).question == local.item(task, keys[0], wants[0], 3).question
    assert remote.fingerprints
    assert hub


def test_local_files_take_precedence_over_the_hub_and_stay_unchanged(folder: Path, hub: list[str]) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*.json*")}
    source = HubSource(folder)
    source.assign("hotpotqa", [want()], "train", 1)
    assert hub == []
    (folder / "gsm8k" / "train.jsonl").unlink()
    source.assign("gsm8k", [want()], "train", 1)
    assert hub == ["openai/gsm8k/main"]
    assert not (folder / "gsm8k" / "train.jsonl").exists()
    assert all(path.read_bytes() == raw for path, raw in before.items() if path.exists())


@pytest.mark.parametrize("task", ["hotpotqa", "strategyqa"])
def test_without_the_package_the_hub_names_what_to_install(monkeypatch: pytest.MonkeyPatch, task: Task) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(BadInput, match="pip install datasets"):
        HubSource(None).assign(task, [want()], "train", 1)


def test_without_a_network_the_hub_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_dataset(name: str, config: str) -> None:
        raise ConnectionError("no route")

    offline = ModuleType("datasets")
    vars(offline)["load_dataset"] = load_dataset
    monkeypatch.setitem(sys.modules, "datasets", offline)
    with pytest.raises(BadInput, match=r"openai/gsm8k cannot be fetched \(no route\).*--source dir"):
        HubSource(None).assign("gsm8k", [want()], "train", 1)
