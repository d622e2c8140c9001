"""`askgate init` creates a folder that works without edits, and overwrites nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from src import __version__
from src.config.loader import load_train_config
from src.config.profile import load_profile
from src.data.pool.templates import load_pack
from tests.conftest import Askgate


def test_verbs_use_the_files_of_the_project(askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = askgate("init", str(tmp_path / "project"))
    assert done.code == 0
    monkeypatch.chdir(tmp_path / "project")
    assert Path("templates/pack_v1").is_dir()
    assert not Path("configs/weights.json").exists(), "weights come from a calibration"
    load_pack(Path("templates/pack_v2"))
    assert load_profile("rc1").name == "rc1"
    config = Path("configs/quickstart.yaml")
    config.write_text(config.read_text(encoding="utf-8").replace("batch_size: ", "batch_size: 9"), encoding="utf-8")
    assert str(load_train_config(Path("configs/quickstart.yaml")).batch_size).startswith("9")
    assert [line for line in Path("README.md").read_text(encoding="utf-8").splitlines() if "askgate quickstart" in line]
    assert "## Your own dialogues" in Path("docs/tutorial.md").read_text(encoding="utf-8")


def test_a_project_needs_an_empty_folder(askgate: Askgate, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert askgate("init", str(tmp_path / "empty")).code == 0
    before = sorted(path for path in (tmp_path / "empty").rglob("*"))
    again = askgate("init", str(tmp_path / "empty"))
    assert again.code == 2
    assert "nothing is overwritten" in again.err
    assert sorted(path for path in (tmp_path / "empty").rglob("*")) == before
    assert [path.name for path in tmp_path.iterdir()] == ["empty"], "nothing half-made is left"


def test_the_current_folder_is_accepted(askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert askgate("init", ".").code == 0
    assert sorted(path.name for path in Path().iterdir()) == [".gitignore", "README.md", "configs", "docs", "templates"]


def test_the_version_is_printed(askgate: Askgate) -> None:
    assert askgate("--version").out.strip() == f"askgate {__version__}"
