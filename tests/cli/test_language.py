"""The terminal in Chinese: every verb and flag has help, and what verbs print is in one language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from src.cli.app import app, help_zh, in_chinese
from src.runtime.language import terminal_language
from tests.conftest import Askgate

CHINESE = re.compile("[\u4e00-\u9fff]")


def shown(command: Any, path: str) -> Iterator[tuple[str, str]]:
    """Name and help of a command, its flags and its own commands; hidden ones left out."""
    yield path, command.help
    for one in command.params:
        if getattr(one, "help", None) and not getattr(one, "hidden", False):
            yield f"{path} {one.opts[0]}", one.help
    for name, verb in getattr(command, "commands", {}).items():
        if not verb.hidden:
            yield from shown(verb, f"{path} {name}")


def test_every_verb_and_flag_has_chinese_help() -> None:
    found = dict(shown(in_chinese(typer.main.get_command(app)), "askgate"))
    assert len(found) > 150
    assert [name for name, text in found.items() if not CHINESE.search(text)] == []
    english = dict(shown(typer.main.get_command(app), "askgate"))
    assert not [name for name, text in english.items() if CHINESE.search(text)]
    assert help_zh()["groups"].keys() == {one.rich_help_panel for one in app.registered_commands if not one.hidden}


def test_status_and_runs_speak_one_language(askgate: Askgate, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ASKGATE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    assert terminal_language() == "en"
    assert not CHINESE.search(askgate("status").out + askgate("runs").out)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert "尚无训练运行" in askgate("runs").out
    monkeypatch.setenv("ASKGATE_LANG", "en")
    assert "no training runs" in askgate("runs").out
    monkeypatch.setenv("ASKGATE_LANG", "zh")
    lines = askgate("status").out.splitlines()
    assert lines
    assert [line for line in lines if not CHINESE.search(line)] == []
