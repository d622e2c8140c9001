"""Shipped files are found from any folder; a file of the user's with the same name comes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from src.core.files import HOME, shipped

PACK = Path("templates/pack_v2")


def test_the_shipped_pack_is_found_from_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shipped(PACK) == HOME / PACK
    assert (shipped(PACK) / "gsm8k.json").is_file()


def test_the_users_own_pack_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / PACK).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert shipped(PACK) == PACK


def test_a_missing_file_keeps_the_name_the_user_gave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shipped(Path("templates/mine")) == Path("templates/mine")
    assert shipped(tmp_path / PACK) == tmp_path / PACK


@pytest.mark.parametrize(
    "made", ["data/rollouts/rc1_seed.jsonl", "reports/diversity_report.json", "configs/weights.json"]
)
def test_files_of_another_run_in_the_checkout_are_ignored(
    made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout, here = tmp_path / "checkout", tmp_path / "here"
    (checkout / made).parent.mkdir(parents=True)
    (checkout / made).write_text("{}")
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr("src.core.files.HOME", checkout)
    assert shipped(Path(made)) == Path(made)
