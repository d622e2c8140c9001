"""The texts of the worlds are checked when they are loaded, and a pool records which texts it was built from."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from askgate_env.types import LANGS, Lang, Record
from src.core.errors import BadInput
from src.data.pool.build import build_pool
from src.data.pool.fresh import FreshSamples
from src.data.pool.meta import read_meta
from src.data.worlds.arithmetic.language import ProblemText, SceneTexts
from src.data.worlds.arithmetic.program import ScenePlans
from src.data.worlds.encyclopedia import ChineseLists, EnglishLists
from src.data.worlds.texts import FOLDER, compiled, load_text, text_fingerprints
from src.data.worlds.wording import ArticleText, DialectText, QuestionText, world_text
from tests.data.build_samples import small_plan
from tests.data.samples import slots_of

STRUCTS: dict[str, type[Record]] = {
    "articles_en.yaml": ArticleText,
    "articles_zh.yaml": ArticleText,
    "dialect_zh.yaml": DialectText,
    "names_en.yaml": EnglishLists,
    "names_zh.yaml": ChineseLists,
    "problems_en.yaml": ProblemText,
    "problems_zh.yaml": ProblemText,
    "programs.yaml": ScenePlans,
    "questions_en.yaml": QuestionText,
    "questions_zh.yaml": QuestionText,
    "scenes_en.yaml": SceneTexts,
    "scenes_zh.yaml": SceneTexts,
}


@pytest.fixture
def own_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with its own copy of the shipped texts, for tests to change."""
    folder = tmp_path / FOLDER
    shutil.copytree(FOLDER, folder)
    monkeypatch.chdir(tmp_path)
    return folder


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_every_file_fits_its_struct() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(STRUCTS)
    for file, kind in STRUCTS.items():
        assert isinstance(load_text(file, kind), kind)


@pytest.mark.parametrize("file", sorted(STRUCTS.keys() - {"programs.yaml"}))
def test_every_template_can_be_compiled(file: str) -> None:
    texts = list(texts_in(yaml.load((FOLDER / file).read_text(encoding="utf-8"), yaml.CBaseLoader)))
    assert texts
    assert all(compiled(text) for text in texts)


def texts_in(raw: Any) -> Iterator[str]:
    if isinstance(raw, dict):
        raw = list(raw.values())
    if isinstance(raw, list):
        for value in raw:
            yield from texts_in(value)
    else:
        yield from (line for line in raw.splitlines() if line)


@pytest.mark.parametrize("lang", LANGS)
def test_every_article_sentence_shows_the_facts_it_states(lang: Lang) -> None:
    for sentences in world_text(lang).articles.pages.values():
        for sentence in sentences:
            shown = {"value", "year"} if sentence.more else set(sentence.states) - {"tag"}
            assert all(shown <= slots_of(form) for form in (*sentence.text, *sentence.more)), sentence


@pytest.mark.parametrize(
    ("file", "old", "new", "key", "what"),
    [
        ("names_en.yaml", "rivers: >", "lakes: >", "", "lakes"),
        ("problems_zh.yaml", "money_decimals: 0", "money_decimals: few", "money_decimals", "int"),
        ("questions_en.yaml", "    - min:", "    - least:", "comparisons.person.born", "least"),
        ("scenes_zh.yaml", "open: |\n      ", "open: |\n      [", "opening.crates.open", "bracket not closed"),
        ("programs.yaml", "crates * per", "crates * ", "opening.crates.steps.bottles", "not arithmetic"),
        ("articles_zh.yaml", "full_stop: 。", "full_stop: 。\nfull_stop: ！", "", "twice"),
        ("articles_en.yaml", "pages:", "pages: [", "", "not valid YAML"),
    ],
)
def test_a_wrong_text_is_refused_with_file_and_key(
    own_texts: Path, file: str, old: str, new: str, key: str, what: str
) -> None:
    change(own_texts / file, old, new)
    with pytest.raises(BadInput) as refused:
        load_text(file, STRUCTS[file])
    assert refused.value.where == f"{own_texts / file}" + (f", key {key}" if key else "")
    assert what in refused.value.what


def test_a_missing_file_is_named(own_texts: Path) -> None:
    (own_texts / "names_en.yaml").unlink()
    with pytest.raises(BadInput, match="cannot be read") as refused:
        load_text("names_en.yaml", EnglishLists)
    assert refused.value.where == str(own_texts / "names_en.yaml")


def test_a_sidecar_holds_the_fingerprints_of_the_texts(tmp_path: Path) -> None:
    build_pool(small_plan(3), tmp_path / "pool.jsonl")
    found = read_meta(tmp_path / "pool.jsonl").sources_sha256
    assert found == {f"worlds/{file}": hashlib.sha256((FOLDER / file).read_bytes()).hexdigest() for file in STRUCTS}


def test_texts_that_changed_since_the_pool_was_built_are_refused(own_texts: Path) -> None:
    """As with a changed template, fresh samples would not be worded like the pool."""
    pool = own_texts.parents[1] / "pool.jsonl"
    change(own_texts / "names_en.yaml", "Almark", "Elmark")
    build_pool(small_plan(200), pool)
    assert FreshSamples(read_meta(pool), (), [], seed=1).take("easy")
    shutil.rmtree(own_texts)
    with pytest.raises(BadInput, match=r"have changed since the pool was built \(worlds/names_en.yaml\)"):
        FreshSamples(read_meta(pool), (), [], seed=1)


def test_fingerprints_are_those_of_the_texts_in_use(own_texts: Path) -> None:
    """A process keeps the texts that it has read, even if the files change."""
    before = text_fingerprints()
    change(own_texts / "names_en.yaml", "Almark", "Elmark")
    assert text_fingerprints() == before
    assert "Almark" in load_text("names_en.yaml", EnglishLists).tags["town"]
