"""How the folders of a model and of its adapters are found, and what is said where a file is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from src.core.errors import BadInput
from src.core.model_files import find_model, find_policy


def make_adapters(folder: Path, base: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": base}))
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a base model, and adapters of it in a run; `checkpoints/local` is a link, as after a run."""
    (tmp_path / "project/base").mkdir(parents=True)
    (tmp_path / "project/base/config.json").write_text("{}")
    make_adapters(tmp_path / "project/runs/one/checkpoints/local/final_model", "base")
    (tmp_path / "project/checkpoints").mkdir()
    (tmp_path / "project/checkpoints/local").symlink_to("../runs/one/checkpoints/local")
    return tmp_path / "project"


def test_the_base_of_adapters_is_found_from_any_folder(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapters = project / "checkpoints/local/final_model"
    for place in (project, tmp_path):
        monkeypatch.chdir(place)
        base, found = find_policy(str(adapters))
        assert base.resolve() == project / "base"
        assert found == adapters
    assert find_policy(str(project / "base"), adapters) == (project / "base", adapters)
    assert find_policy(str(project / "base")) == (project / "base", None)


def test_a_missing_base_is_named_with_file_and_flag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_adapters(Path("lora"), "gone")
    with pytest.raises(BadInput, match=r"lora/adapter_config.json: the base model gone .* --model BASE --adapter lora"):
        find_policy("lora")
    make_adapters(Path("other"), "gone")
    with pytest.raises(BadInput, match="these are adapters"):
        find_policy("lora", Path("other"))


def test_a_folder_of_a_like_name_is_offered(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    with pytest.raises(BadInput, match=r"did you mean \./base\?"):
        find_model("Bases")
