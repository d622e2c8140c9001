"""The terminal in Chinese: every verb and flag has help, and what verbs print is in one language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from src.cli import show
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
    group: Any = typer.main.get_command(app)
    assert group.commands["demo"].make_context("demo", []).params["lang"] == "zh"
    monkeypatch.setenv("ASKGATE_LANG", "en")
    assert "no training runs" in askgate("runs").out
    monkeypatch.setenv("ASKGATE_LANG", "zh")
    lines = askgate("status").out.splitlines()
    assert lines
    assert [line for line in lines if not CHINESE.search(line)] == []


@pytest.mark.parametrize("name", ["zh", "cn", "zh_CN", "zh-CN.UTF-8", "ZH"])
def test_usual_names_of_chinese_are_understood(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKGATE_LANG", name)
    assert terminal_language() == "zh"


def test_errors_of_data_import_are_in_chinese(askgate: Askgate, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASKGATE_LANG", "zh_CN")
    (tmp_path / "own").mkdir()
    file = tmp_path / "own" / "my.jsonl"
    build = ("build-rollout-pool", "--source", "messages", "--data-dir")
    for content, said in (
        (b"", "own/my.jsonl: 文件中没有数据行。怎么办：每行为"),
        (b'{"messages": [], "hiden": 1}', "own/my.jsonl:1: 未知字段 'hiden'（是否想写 'hidden'？）"),
        (
            '{"instruction": "问题"}'.encode("gbk"),
            "own/my.jsonl:1: 不是 UTF-8 编码（第 17 字节）。怎么办：先转换：iconv",
        ),
        (None, "own: 此处没有 messages 的数据。怎么办：请把 *.jsonl 或 *.csv 放到该文件夹下"),
    ):
        file.unlink() if content is None else file.write_bytes(content)
        done = askgate(*build, "own")
        assert (done.code, said in done.err) == (2, True), done.err
    file.write_bytes(b"")
    assert "请写 --data-dir own（" in askgate(*build, "own/my.jsonl").err
    assert "latest" not in dict(shown(in_chinese(typer.main.get_command(app)), "askgate"))["askgate board --run"]


def test_skipped_rows_plan_and_readme_are_in_chinese(
    askgate: Askgate, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASKGATE_LANG", "zh")
    assert askgate("init", "project").code == 0
    assert (tmp_path / "project/README.md").read_text(encoding="utf-8").startswith("# AskGate 项目")
    for row, said in (
        (
            "my.jsonl:7: skipped: its question or id is that of my.jsonl:1.",
            "my.jsonl:7: 跳过：问题或 id 与 my.jsonl:1 相同",
        ),
        (
            "a b.jsonl:1: 'How many?' skipped: no number follows #### in the answer",
            "a b.jsonl:1: 'How many?' 跳过：答案中",
        ),
        ("2 rows cannot be read:\nmy.jsonl:1: has no rows", "2 行无法读取：\nmy.jsonl:1: 文件中没有数据行"),
        ("8 rollout slots, packs of 1,024 tokens", "8 个 rollout 槽位，每包 1,024 个词元"),
        ("6.2 s for 5 steps, 2 of them warm start (3.9 s)", "5 步，共 6.2 s，其中热启动 2 步（3.9 s）"),
    ):
        assert show.in_chinese(row).startswith(said)
    monkeypatch.setenv("ASKGATE_LANG", "en")
    assert show.in_chinese("has no rows") == "has no rows"
