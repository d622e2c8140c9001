"""`askgate chat`: a person types, or the simulator plays the user; in a terminal and in a pipe."""

from __future__ import annotations

import io
import json
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from src.chat.samples import read_articles, typed_sample
from src.core.errors import BadInput
from tests.chat.pseudo_terminal import in_terminal, plain
from tests.chat.scripted_server import scripted
from tests.conftest import Askgate

ARTICLES = [
    {"title": "Lund (city)", "text": "Lund is a city. It was founded in 990."},
    {"title": "Lund (farm)", "text": "Lund is a farm. It was founded in 1850."},
]
TURNS = ("Let me look.\n<wiki>Lund</wiki>", "Two of them.\n<ask>The city or the farm?</ask>", "<answer>1850</answer>")


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    path = tmp_path / "articles.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in ARTICLES))
    return path


def type_lines(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_a_person_types_the_task_and_answers_in_a_pipe(
    askgate: Askgate, articles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_lines(monkeypatch, "When was Lund founded?", "", "the farm")
    with scripted(*TURNS) as server:
        done = askgate("chat", server.url, "--articles", articles)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    start = lines.index("you     When was Lund founded?")
    assert lines[start : start + 10] == [
        "you     When was Lund founded?",
        "policy  Let me look.",
        "        wiki Lund",
        "tool    1. Lund (city): Lund is a city.",
        "        2. Lund (farm): Lund is a farm.",
        "policy  Two of them.",
        "        asks The city or the farm?",
        "you     the farm",
        "policy  answers 1850",
        "",
    ]
    assert lines[-1] == "The chat has ended."
    assert server.sent[-1]["messages"][-1]["content"] == "the farm"


def test_the_simulator_plays_the_user_of_a_pool(
    askgate: Askgate, small_pool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_lines(monkeypatch, "")
    with scripted("<answer>no idea</answer>", "Nothing to say.", *["<ask>What?</ask>"] * 5) as server:
        done = askgate("chat", server.url, "--simulate", "--pool", small_pool)
    assert done.code == 0, done.err
    assert str(small_pool) in done.out.replace("\n", "")
    assert done.out.count("gold answer") == 2
    assert "✗ wrong" in done.out
    assert "reward +0.00 = outcome +0.00" in done.out
    assert "out of turns" in done.out
    assert "no action Nothing to say." in done.out


def test_the_embedded_base_talks_about_built_in_worlds_in_chinese(
    askgate: Askgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_lines(monkeypatch)
    monkeypatch.setenv("ASKGATE_LANG", "zh")
    done = askgate("chat", "models/tiny", "--simulate")
    assert done.code == 0, done.err
    assert "由模拟器扮演用户" in done.out
    assert "标准答案" in done.out
    assert done.out.endswith("对话已结束。\n")


def test_a_terminal_shows_thoughts_dimmed_and_wraps_beside_the_label(articles: Path) -> None:
    long = f"<answer>{'1850 ' * 30}</answer>"
    typing = [("Ctrl-D ends", b"When was Lund founded?\n"), ("farm?", b"the farm\n"), ("1850", b""), ("you ", b"\x04")]
    with scripted(*TURNS[:2], long) as server:
        code, out = in_terminal(["chat", server.url, "--articles", str(articles)], 80, typing)
    assert code == 0, out
    assert "\x1b[2;3mLet me look." in out
    shown = plain(out)
    assert "policy  answers 1850" in shown
    assert "\n        1850" in shown
    assert "The chat has ended." in shown
    assert max(map(len, shown.splitlines()[-8:])) <= 80


def test_ctrl_c_ends_it_politely(articles: Path) -> None:
    with scripted(*TURNS) as server:
        typing = [("Ctrl-D ends", b"When was Lund founded?\n"), ("farm?", b"\x03")]
        code, out = in_terminal(["chat", server.url, "--articles", str(articles)], 80, typing)
    assert code == 130
    assert "The chat has ended." in out
    assert "Traceback" not in out


def test_ctrl_c_just_before_waiting_for_input_is_noticed(tmp_path: Path) -> None:
    """`interrupt_main` marks the signal as arrived without interrupting the wait, as one that comes just before it."""
    script = tmp_path / "reads.py"
    script.write_text(
        "import _thread, threading\n"
        "from src.cli.dialogue import DialoguePrinter\n"
        "printer = DialoguePrinter('en')\n"
        "threading.Timer(1, _thread.interrupt_main).start()\n"
        "try:\n"
        "    printer.read()\n"
        "except KeyboardInterrupt:\n"
        "    print('noticed')\n"
    )
    code, out = in_terminal([], 80, command=[sys.executable, str(script)], deadline_s=60)
    assert code == 0, out
    assert "noticed" in out


def test_a_model_cannot_steer_the_terminal(askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    type_lines(monkeypatch, "Hello?")
    with scripted("<answer>\x1b[2Jred\x07\x9b31m</answer>") as server:
        done = askgate("chat", server.url)
    assert "answers [2Jred31m" in done.out
    assert "\x1b" not in done.out


def test_what_does_not_go_together_is_refused(askgate: Askgate, articles: Path, tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG\xff")
    for arguments, why in (
        (("--pool", "pool.jsonl"), "add --simulate"),
        (("--simulate", "--articles", articles), "leave out --simulate"),
        (("--articles", tmp_path / "none.txt"), "cannot be read"),
        (("--articles", picture), "is not text in UTF-8"),
    ):
        done = askgate("chat", "models/tiny", *arguments)
        assert done.code == 2
        assert why in done.err.replace("\n", " ")


def test_articles_are_read_from_jsonl_and_from_text(articles: Path, tmp_path: Path) -> None:
    assert [one.title for one in read_articles(articles)] == ["Lund (city)", "Lund (farm)"]
    notes = tmp_path / "Notes of Dora.txt"
    notes.write_text("The shop fixed 6 bicycles.\nA repair costs $28.\n")
    [article] = read_articles(notes)
    assert article.title == "Notes of Dora"
    assert article.sentences == ("The shop fixed 6 bicycles.", "A repair costs $28.")
    articles.write_text('{"title": "no text"}\n')
    with pytest.raises(BadInput, match=r"articles\.jsonl:1"):
        read_articles(articles)


def test_a_typed_task_has_the_language_of_its_words() -> None:
    assert typed_sample("When?", ()).lang == "en"
    assert typed_sample("什么时候？", ()).lang == "zh"


@pytest.mark.parametrize(("model", "warned"), [("models/tiny", True), ("models/tiny-trained/", True), ("own", False)])
def test_the_tiny_models_say_that_they_know_generated_worlds_only(
    model: str, warned: bool, askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own").mkdir()
    type_lines(monkeypatch)
    monkeypatch.setattr("src.chat.policies.open_policy", lambda *given, **more: nullcontext())
    done = askgate("chat", model)
    assert done.out.replace("\n", " ").count("knows only AskGate's generated worlds") == warned
