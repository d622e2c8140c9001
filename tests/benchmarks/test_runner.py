"""`askgate eval --bench`: every kind of model, every benchmark's file, resumed runs, comparable results."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

from src.benchmarks.runner import BENCHMARKS, FOLDER, Answers, BenchmarkResult, run_benchmark
from src.core.errors import BadInput
from src.release.gguf_export import load_merged, load_tokenizer, policy_folders, write_gguf
from src.scoring.chat_server import Reply
from src.scoring.local_judge import serving
from tests.chat.scripted_server import scripted
from tests.conftest import Askgate
from tests.scoring.server import JudgeServer

HERE = Path(__file__).parent
INSUFFICIENT, CLAMBER = HERE / "gsm8k_insufficient_rows.jsonl", HERE / "clamber_rows.jsonl"
FILES = {
    "questbench": "benchmarks/questbench_gsm_first103.jsonl",
    "askmind": "benchmarks/askmind_math500_first120.jsonl",
    "askoverconfidence": "benchmarks/askoverconfidence_math500_first120.jsonl",
    "umwp": "umwp/umwp_train.jsonl",
    "gsm8k": "gsm8k/test_first319.jsonl",
}
DIMENSIONS = ("final", "correct", "resolved", "helpful")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.set_num_threads(1)
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("SCORER_", "POLICY_"))]:
        monkeypatch.delenv(name)


def judge_scores(body: dict[str, Any]) -> dict[str, Any]:
    """Yes to every question that the prompt asks, except for a dialogue with one turn, which is not final."""
    rubric, text = body["messages"][0]["content"], body["messages"][1]["content"]
    is_final = text.count("Assistant:") > 1 or "Dialogue:" not in text
    return {name: 10 * (name != "final" or is_final) for name in DIMENSIONS if f"{name}:" in rubric}


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Any:
    with JudgeServer(scores=judge_scores) as server:
        monkeypatch.setenv("SCORER_PROVIDER", "custom")
        monkeypatch.setenv("SCORER_BASE_URL", server.url)
        monkeypatch.setenv("SCORER_MODEL", "grader")
        yield server


def read(path: Path) -> BenchmarkResult:
    return msgspec.json.decode(path.read_bytes(), type=BenchmarkResult)


def values(result: BenchmarkResult) -> dict[tuple[str, str], float | None]:
    return {(one.name, one.rule): one.figure.value for one in result.measures}


def test_both_rules_are_shown_and_example_rows_get_no_score(askgate: Askgate) -> None:
    arguments = ("--bench", "gsm8k-insufficient", "--data", INSUFFICIENT, "--model", "models/tiny", "--limit", "2")
    made = askgate("eval", *arguments)
    assert made.code == 0
    assert "success rate          authors" in made.out
    assert "success rate          ours" in made.out
    assert "2 of 22 rows" in made.out
    assert "the figures are no score" in made.out
    [path] = FOLDER.glob("gsm8k-insufficient-*[!s].json")
    result = read(path)
    assert (result.n, result.example_rows, result.judge) == (2, 2, None)
    page = (FOLDER / "index.html").read_text(encoding="utf-8")
    assert "models/tiny" in page
    assert "no score" in page
    rows = [json.loads(line) for line in path.with_suffix(".rows.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [one[-1]["role"] for row in rows for one in row["dialogues"]] == ["assistant"] * 2


def test_both_dialogues_of_a_row_are_kept(tmp_path: Path) -> None:
    """By GRIL's rule the first reply detects nothing and is tried again; by ours it is a question, and is answered."""
    data = tmp_path / "one.jsonl"
    data.write_bytes(INSUFFICIENT.read_bytes().split(b"\n")[0] + b"\n")
    ask, wrong, right = "How many loaves does she bake?", "<answer>7</answer>", "<answer>60</answer>"
    with scripted(ask, wrong, wrong, wrong, right) as server:
        _, path = run_benchmark("gsm8k-insufficient", data, server.url)
    [row] = [json.loads(line) for line in path.with_suffix(".rows.jsonl").read_bytes().splitlines()]
    said = [[one["content"] for one in dialogue if one["role"] == "assistant"] for dialogue in row["dialogues"]]
    assert said == [[ask, wrong, wrong, wrong], [ask, right]]


def test_an_unknown_benchmark_is_refused_with_the_known_names(askgate: Askgate) -> None:
    refused = askgate("eval", "--bench", "gsm9k", "--data", INSUFFICIENT, "--model", "models/tiny")
    assert refused.code == 2
    assert f"choose from {', '.join(BENCHMARKS)}" in refused.err


def test_clamber_names_its_judge_and_asks_for_no_vote_twice(judge: JudgeServer) -> None:
    replies = [f"Ambiguous: yes\nWhich one do you mean, number {n}?" for n in range(24)]
    with scripted(*replies) as server:
        result, _ = run_benchmark("clamber", CLAMBER, server.url)
        paid, sent = judge.counts.total(), len(server.sent)
        again, _ = run_benchmark("clamber", CLAMBER, server.url)
        assert (judge.counts.total(), len(server.sent)) == (paid, sent)
    assert again == result
    assert result.judge is not None
    assert (result.judge.provider, result.judge.model) == ("custom", "grader")
    assert values(result)["helpful question", "authors"] == 1.0
    assert values(result)["recall", "ours"] == 1.0
    assert paid >= 3 * 17, "K votes on each question to an ambiguous query"


def test_a_run_that_was_cut_short_resumes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server fails after five replies: these are on disk, and the same command asks only for the others."""
    monkeypatch.setattr("src.chat.policies.SERVER_CALLS", 1)
    with scripted(*["#### 60"] * 5) as server:
        with pytest.raises(BadInput, match="no turn left"):
            run_benchmark("gsm8k", INSUFFICIENT, server.url, limit=9)
        assert not list(FOLDER.glob("gsm8k-*[!s].json"))
        assert len(next(iter(FOLDER.glob("*.answers.jsonl"))).read_bytes().splitlines()) == 5
        server.sent.clear()
        server.turns += ["#### 18"] * 4
        result, _ = run_benchmark("gsm8k", INSUFFICIENT, server.url, limit=9)
        assert len(server.sent) == 4
        again, _ = run_benchmark("gsm8k", INSUFFICIENT, server.url, limit=9)
        shorter, _ = run_benchmark("gsm8k", INSUFFICIENT, server.url, limit=3)
        assert len(server.sent) == 4
    assert again == result
    assert shorter.n == 3
    assert not shorter.is_comparable(result)
    assert not msgspec.structs.replace(result, measures=result.measures[1:]).is_comparable(result)


def test_an_unfinished_line_of_answers_is_cut_off(tmp_path: Path) -> None:
    path, messages = tmp_path / "a.answers.jsonl", ({"role": "user", "content": "2 + 2?"},)
    Answers(path).add(messages, Reply("4", "two and two"))
    with open(path, "ab") as handle:
        handle.write(b'{"key":"ab')
    assert Answers(path).get(messages) == Reply("4", "two and two")
    assert path.read_bytes().endswith(b"}\n")


def test_two_models_are_compared_on_equal_file_and_rows(askgate: Askgate) -> None:
    """Folder, GGUF file and llama.cpp's server; the page has one table with three columns."""
    folder = policy_folders(Path("models/tiny"))[0]
    write_gguf(load_merged(folder, None), load_tokenizer(folder), Path("tiny.gguf"), "f16", "tiny")
    arguments = ("eval", "--bench", "umwp", "--data", "umwp.jsonl", "--limit", "2", "--model")
    rows = [{"question": f"Tom has {n} apples and eats one. How many are left?", "answer": [n - 1]} for n in (3, 4, 5)]
    text = "".join(json.dumps({**row, "answerable": True}) + "\n" for row in rows)
    Path("umwp.jsonl").write_text(text, encoding="utf-8")
    assert askgate(*arguments, "models/tiny").code == 0
    file = askgate(*arguments, "tiny.gguf")
    assert "models/tiny  tiny.gguf" in file.out
    with serving(Path("tiny.gguf"), Path("server.log")) as url:
        server = askgate(*arguments, url)
    assert server.code == 0, server.err
    assert "2 of 3 rows" in server.out
    assert "note: the authors measure uncertainty with SimCSE" in server.out
    results = [read(path) for path in sorted(FOLDER.glob("umwp-*[!s].json"))]
    assert len(results) == 3
    by_model = {result.model: result for result in results}
    assert by_model["tiny.gguf"].measures == by_model["models/tiny"].measures
    assert by_model[url].fingerprint.startswith("tiny.gguf at 127.0.0.1:")
    page = (FOLDER / "index.html").read_text(encoding="utf-8")
    assert page.count("<section") == 1, "the three results are in one table"


def test_with_actions_a_model_may_use_its_tools(tmp_path: Path) -> None:
    turns = ("<calc>7 * 6</calc>", "<wiki>anything</wiki>", "<answer>42</answer>")
    data = tmp_path / "one.jsonl"
    data.write_text(json.dumps({"question": "What is 7 * 6?", "answer": "#### 42"}) + "\n", encoding="utf-8")
    with scripted(*turns) as server:
        result, _ = run_benchmark("gsm8k", data, server.url, actions=True)
        sent = server.sent
    assert values(result)["accuracy", "ours"] == 1.0
    assert sent[0]["messages"][0]["content"].startswith("Answer the user's question.")
    assert sent[0]["messages"][1]["content"] == "What is 7 * 6?", "no instruction beside the system prompt"
    assert sent[1]["messages"][-1] == {"role": "user", "content": "42"}


def test_later_turns_have_the_tool_calls_of_earlier_ones(tmp_path: Path) -> None:
    data = tmp_path / "one.jsonl"
    data.write_bytes(INSUFFICIENT.read_bytes().split(b"\n")[0] + b"\n")
    turns = ("<calc>2 + 2</calc>", "<ask>How many loaves does she bake?</ask>", "<answer>60</answer>")
    with scripted(*turns, "<answer>60</answer>") as server:
        result, _ = run_benchmark("gsm8k-insufficient", data, server.url, actions=True)
        last = [one["content"] for one in server.sent[-1]["messages"][2:]]
    assert last == [*turns[:1], "4", *turns[1:2], "She bakes 14 loaves each Saturday."]
    assert values(result)["success rate", "ours"] == 1.0


@pytest.mark.parametrize("name", FILES)
def test_the_benchmarks_run_on_their_own_files(name: str, official_data: Path, judge: JudgeServer) -> None:
    path = official_data / FILES[name]
    assert len(BENCHMARKS[name].read(path)) >= 100
    result, _ = run_benchmark(name, path, "models/tiny", limit=3)
    assert (result.n, result.not_graded, result.example_rows) == (3, 0, 0)
    if BENCHMARKS[name].prompts:
        assert values(result)["asked", "authors"] == 1.0, "the judge called every first turn a question"
        assert values(result)["accuracy", "authors"] == 1.0
        assert any("what you know" in body["messages"][0]["content"] for body in judge.bodies)


def test_a_judge_that_fails_leaves_no_result(judge: JudgeServer, tmp_path: Path) -> None:
    judge.plan = lambda n: "prose"
    with scripted("Ambiguous: yes\nWhich cup?") as server, pytest.raises(BadInput, match="graded none of 1 rows"):
        run_benchmark("clamber", CLAMBER, server.url, limit=1)
    assert not list(FOLDER.glob("clamber-*[!s].json"))


@pytest.mark.parametrize(
    ("name", "line", "what"),
    [
        ("gsm8k", '{"question": "Q"}', "has no field answer"),
        ("gsm8k", '{"question": "Q", "answer": "42"}', "no #### line"),
        ("umwp", '{"question": "Q", "answer": null, "answerable": true}', "has no answer"),
        ("gsm8k", "{", "is not JSON"),
        ("gsm8k", "[]", "is not a JSON object"),
        ("gsm8k", "", "has no rows"),
    ],
)
def test_a_file_that_is_not_the_benchmarks_is_refused(name: str, line: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(BadInput, match=what):
        BENCHMARKS[name].read(tmp_path / "rows.jsonl")


@pytest.mark.parametrize(
    ("flags", "what"),
    [
        (["--bench", "gsm8k"], "--data"),
        (["--data", "x.jsonl"], "--bench"),
        (["--limit", "3"], "--bench"),
        (["--bench", "gsm8k", "--data", "x.jsonl", "--n", "3"], "--limit"),
        (["--bench", "gsm8k", "--data", "x.jsonl", "--greedy"], "--greedy"),
        (["--bench", "gsm8k", "--data", "x.jsonl", "--config", "mine.yaml", "--tag", "t"], "--config, --tag: not with"),
        (["--bench", "gsm8k", "--data", "nowhere.jsonl"], "nowhere.jsonl"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(askgate: Askgate, flags: list[str], what: str) -> None:
    refused = askgate("eval", "--model", "models/tiny", *flags)
    assert refused.code == 2
    assert what in refused.err
