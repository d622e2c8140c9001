"""The terminal in Chinese: every command and flag has help, and what commands print is in one language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import typer

from src.cli import show
from src.cli.app import app, help_texts, with_help
from src.cli.gates import _print_round
from src.core.check import check
from src.core.errors import BadInput
from src.gates.gate import Finding
from src.gates.ticket import Round
from src.runtime.language import terminal_language
from tests.cli.error_texts import error_texts
from tests.conftest import Askgate

ROOT = Path(__file__).resolve().parents[2]
DISK_FULL = "free some space: more than 30 GB must be free here"

CHINESE = re.compile("[\u4e00-\u9fff]")


def shown(command: Any, path: str) -> Iterator[tuple[str, str]]:
    """Name and help of a command, its flags and its own commands; hidden ones left out."""
    yield path, command.help
    for one in command.params:
        if not getattr(one, "hidden", False):
            yield f"{path} {one.opts[0]}", one.help or ""
    for name, verb in getattr(command, "commands", {}).items():
        if not verb.hidden:
            yield from shown(verb, f"{path} {name}")


def test_every_verb_and_flag_has_chinese_help() -> None:
    found = dict(shown(with_help(typer.main.get_command(app), "zh"), "askgate"))
    assert len(found) > 150
    assert [name for name, text in found.items() if not CHINESE.search(text)] == []
    english = dict(shown(with_help(typer.main.get_command(app), "en"), "askgate"))
    assert all(english.values())
    assert not [name for name, text in english.items() if CHINESE.search(text)]
    texts = help_texts()
    assert all(len(pair) == 2 for pair in texts["flags"].values())
    said = [*texts["verbs"].values(), *chain.from_iterable(texts["flags"].values())]
    assert not [text for text in said if "\\n" in text]
    assert texts["groups"].keys() == {one.rich_help_panel for one in app.registered_commands if not one.hidden}


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
        (None, "own: 此处没有 messages 的数据。怎么办：请把 *.jsonl 或 *.csv 放到该目录下"),
    ):
        file.unlink() if content is None else file.write_bytes(content)
        done = askgate(*build, "own")
        assert (done.code, said in done.err) == (2, True), done.err
    file.write_bytes(b"")
    assert "请写 --data-dir own（" in askgate(*build, "own/my.jsonl").err
    assert "latest" not in dict(shown(with_help(typer.main.get_command(app), "zh"), "askgate"))["askgate board --run"]


PACKAGES = ("cli", "config", "core", "runtime", "loop", "pages", "gates", "board", "chat", "training")
"""Packages whose errors all have a Chinese text."""
COMPOSED = {
    "{}", "{}: {}", "{} ({})", "{}, then {}", "{} rows cannot be read:{}", "{}B weights: {}", "{}; {}",
    "{}; {} was measured on it", "{}; it was recorded {}", "the pool has no {}samples", "pip install 'askgate[{}]'",
    "pip install 'askgate[cluster]'", "{}; the pool has {}",
}  # fmt: skip
"""Texts made of others, and commands."""


def test_errors_are_in_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKGATE_LANG", "zh")
    found = {text: where for name in PACKAGES for where, text in error_texts(ROOT / "src" / name)}
    assert len(found) > 400
    english = {text: where for text, where in found.items() if text not in COMPOSED and not is_chinese(text)}
    assert english == {}


def test_lines_of_the_evidence_are_in_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKGATE_LANG", "zh")
    packages = ("gates", "release", "training")
    found = {text: where for name in packages for where, text in error_texts(ROOT / "src" / name, "tell")}
    assert len(found) > 25
    english = {text: where for text, where in found.items() if text not in COMPOSED and not is_chinese(text)}
    assert english == {}


def is_chinese(text: str) -> bool:
    return bool(CHINESE.search(show.translated(text.rstrip(".").replace("{}", "1"))))


def test_gates_and_checks_have_chinese_names(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = Finding("judge", "judge_scored", 5.0, "==", 6.0, False, "score again", "请重新评分", {})
    report = SimpleNamespace(
        findings=[finding], failed=[finding], passed=False, round="round1", profile="quickstart", ambers=()
    )
    gain = check("need_ask_success_pp[gsm8k]", 1.0, ">=", 5.0, "", "")
    _print_round(cast(Round, report))
    assert re.search(r"^judge +judge_scored", capsys.readouterr().out, flags=re.MULTILINE)
    assert show.label(gain) == "need_ask_success_pp[gsm8k]"
    monkeypatch.setenv("ASKGATE_LANG", "zh")
    _print_round(cast(Round, report))
    shown = capsys.readouterr().out
    assert re.search(r"^评委可靠性 +judge_scored", shown, flags=re.MULTILINE)
    assert "未通过 评委可靠性：judge_scored" in shown
    assert show.label(gain) == "需问成功率提升（百分点）[gsm8k]"


def test_an_error_may_name_the_remedy_of_a_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKGATE_LANG", "zh")
    error = BadInput("fails, so the round cannot pass", where="disk_free_gb", remedy=DISK_FULL)
    assert show.explain(error).startswith("askgate: disk_free_gb: 未通过，预检不可能通过。怎么办：")
    assert "30" in show.explain(error)
    assert "more than" not in show.explain(error)


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
        assert show.translated(row).startswith(said)
    monkeypatch.setenv("ASKGATE_LANG", "en")
    assert show.translated("has no rows") == "has no rows"
