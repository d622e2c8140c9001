"""`askgate train --model M --data my.jsonl`: pool, method, config, one step, and the run."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from askgate_env.types import Sample
from src.config.loader import load_train_config
from src.core.errors import BadInput
from src.core.jsonl import read_records
from src.core.paths import all_runs
from src.data.readers.natural import NaturalSource
from src.runtime.progress import TO_LOG
from src.training.forecast import Shape
from src.training.own_data import NO_HELD_OUT_ASK, OwnData, prepare_own_data
from src.training.run_plan import STEPS, choose_method, run_settings, write_run_config
from tests.conftest import Askgate
from tests.in_process import run_here
from tests.training.test_reward import weigh

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "own_messages.py"


def own_messages(file: Path, lang: str) -> Path:
    subprocess.run([sys.executable, EXAMPLE, file, "--lang", lang], check=True, capture_output=True, timeout=60)
    return file


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_sixty_rows_give_a_pool_and_held_out_samples(
    lang: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = own_messages(Path("my.jsonl"), lang)
    file.write_text(file.read_text() + '{"messages": [{"role": "user", "content": "Hello?"}]}\n')
    made = prepare_own_data(file, TO_LOG)
    assert made.samples >= 30
    assert made.held_out >= 3
    assert made.need_ask > 5
    assert [row.split(": skipped: ")[0] for row in made.skipped] == ["my.jsonl:61"]
    before = made.seed_pool.stat().st_mtime_ns
    assert prepare_own_data(file, TO_LOG) == made
    assert made.seed_pool.stat().st_mtime_ns == before, "the same file is built once"


def test_held_out_rows_without_a_need_to_ask_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = own_messages(Path("my.jsonl"), "en")
    made = prepare_own_data(file, TO_LOG)
    assert NO_HELD_OUT_ASK not in made.remarks
    while asking := [sample.question for sample in read_records(made.shadow_set, Sample) if sample.hidden]:
        rows = [row for row in file.read_text().splitlines() if not any(json.dumps(one)[1:-1] in row for one in asking)]
        file.write_text("\n".join(rows))
        made = prepare_own_data(file, TO_LOG)
    assert NO_HELD_OUT_ASK in made.remarks


def test_one_line_trains_a_model_on_a_file(place: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    own_messages(Path("my.jsonl"), "en")
    weigh(place, {"grounding": 0.5, "form": 0.5})  # a relative path in --set means the same where the step is tried
    settings = (
        "reward.weights=weights.json",
        "reward.dimensions=0.3",
        "steps=2",
        "batch_size=2",
        "rollout_len=12",
        "rollout.max_tokens=400",
        "eval.n=2",
        "warm_start=null",
    )
    flags = [word for one in settings for word in ("--set", one)]
    watch = ("--set", "watch.malformed=1.0", "--set", "watch.bare_answer=1.0", "--set", "watch.ask_spam=1.0")
    done = askgate("train", "--model", "model", "--data", "my.jsonl", *flags, *watch)
    assert done.code == 0, done.err
    assert "method:  full, forecast " in done.out
    assert "one step works" in done.out
    assert done.profile.startswith("local (no ticket needed")
    assert len(all_runs()) == 1, "the step that was tried is no run"
    assert not list(Path(".askgate").glob("try_step*"))
    (config,) = Path("data/own").glob("my-*/train-model.yaml")
    assert load_train_config(config).profile == "local"
    written = yaml.safe_load(config.read_text())
    assert written["finetune"] == {"method": "full"}
    assert (written["steps"], written["eval"]["n"], written["warm_start"]) == (2, 2, None), "what --set said"
    own = ("train", "--model", "model", "--data", "my.jsonl")
    assert askgate(*own, "--plan", "--set", "steps=9").code == 0
    assert "batch_size: is not what the run began with" in askgate(*own, "--resume", "--set", "batch_size=4").err
    assert askgate(*own, "--resume", "--set", "no_such_key=1").code == 2
    assert yaml.safe_load(config.read_text()) == written, "a plan and a refusal leave the config of the run"
    monkeypatch.setattr("src.training.run_plan.subprocess.run", run_here)  # the step above had a process of its own
    broken = askgate("train", "--model", "model", "--data", "my.jsonl", "--set", "strategy_options.lam=2.0")
    assert broken.code == 2
    assert "one step failed: " in broken.err
    assert broken.err.count("What to do: ") == 1
    assert yaml.safe_load(config.read_text()) == written, "a refused step leaves the config of the run"
    monkeypatch.setattr("src.training.run_plan.try_step", lambda *_: 1.0)
    copy = config.with_name("train-model.1.yaml")
    assert not copy.exists()
    config.write_text(edited := f"# Mine.\n{config.read_text().replace('batch_size: 2', 'batch_size: 4')}")
    assert askgate(*own, "--resume").code == 2
    assert config.read_text() == edited
    again = askgate(*own, *flags, *watch, "--set", "steps=1")
    assert again.code == 0, again.err
    assert f"the earlier config had other settings; it is in {copy} now" in again.out
    assert copy.read_text() == edited
    assert askgate(*own, *flags, *watch).code == 0
    assert "steps: 1\n" in config.with_name("train-model.2.yaml").read_text()
    assert copy.read_text() == edited, "an older copy is kept"


def test_json_of_a_plan_is_all_of_standard_output(place: Path, askgate: Askgate) -> None:
    own_messages(Path("my.jsonl"), "en")
    shown = askgate("train", "--model", "model", "--data", "my.jsonl", "--plan", "--json")
    assert "method:" in shown.err
    assert "memory" in json.dumps(json.loads(shown.out))


def test_a_wrong_setting_is_refused_before_a_step_is_tried(place: Path, askgate: Askgate) -> None:
    own_messages(Path("my.jsonl"), "en")
    for flags in ((), ("--plan",)):
        done = askgate("train", "--model", "model", "--data", "my.jsonl", "--set", "steps=abc", *flags)
        assert done.code == 2
        assert "steps" in done.err
        assert "one step" not in done.out + done.err
    assert not list(Path("data/own").glob("*/*.yaml")), "a refused run leaves no config"
    Path("model/model.safetensors").unlink()
    done = askgate("train", "--model", "model", "--data", "my.jsonl", "--plan")
    assert "model: has no weights: *.safetensors is missing" in done.err


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('{"prompt": "Hi", "response": "Hello"}', "my.jsonl:1: the row has prompt, response"),
        ("not json", "my.jsonl:1: not valid JSON"),
        ('{"question": "Hi?", "reply": "Hello"}', "my.jsonl:1: the row has question, reply, and `answer` is missing"),
        ("", "my.jsonl: has no rows"),
        (
            '{"question": "A? B?", "answer": "#### 1"}\n{"question": "A?", "answer": "1"}',
            "my.jsonl:2: 'A?' skipped: no number follows #### in the answer",
        ),
    ],
)
def test_a_file_in_another_format_is_named_with_its_row(
    row: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.jsonl").write_text(row)
    with pytest.raises(BadInput) as refused:
        prepare_own_data(Path("my.jsonl"), TO_LOG)
    assert said in str(refused.value)
    assert not list(Path("data").glob("own/*")), "nothing of a refused file is kept"


@pytest.mark.parametrize(
    ("name", "content", "said", "chinese"),
    [
        ("faq.txt", b"question,answer\nHi?,yes\n", "faq.txt:1: looks like the header of a CSV file", "改名为 faq.csv"),
        ("faq.jsonl", "问题,答案\n".encode(), "What to do: name it faq.csv", "像是 CSV 文件的表头"),
        ("faq.xlsx", b"PK\x03\x04\x14\x00", "has no rows that can be read. What to do: save them as ", "请另存为"),
        ("folder", None, "folder: is a folder, and a file is needed. What to do: name a .jsonl, ", "这是目录"),
        ("none", None, "none: no such file. What to do: name a .jsonl, .csv or .tsv file with your rows", "文件不存在"),
        ("empty.jsonl", b'{"messages": []}\n', "empty.jsonl:1: skipped: `messages` is empty", "`messages` 为空"),
    ],
)  # fmt: skip
def test_what_is_no_file_of_rows_is_refused_with_what_to_type(
    name: str, content: bytes | None, said: str, chinese: str, place: Path, askgate: Askgate,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    Path("folder").mkdir()
    if content is not None:
        Path(name).write_bytes(content)
    train = ("train", "--model", "model", "--data", name)
    assert said in askgate(*train).err
    monkeypatch.setenv("ASKGATE_LANG", "zh")
    assert chinese in askgate(*train).err


def test_a_file_of_rows_is_not_taken_for_a_pool(place: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    own_messages(Path("my.jsonl"), "en")
    refused = askgate("samples", "my.jsonl")
    assert refused.code == 2
    typed = (
        "my.jsonl: is a file of rows, not a pool. What to do: type askgate train --model models/tiny --data my.jsonl"
    )
    assert refused.err.startswith(f"askgate: {typed} --plan, then askgate samples ")
    prepare_own_data(Path("my.jsonl"), TO_LOG)
    pool = refused.err.split()[-1].removesuffix(".")
    assert askgate("samples", pool).code == 0
    assert f"What to do: type askgate samples {pool}." in askgate("samples", "my.jsonl").err
    monkeypatch.setenv("ASKGATE_LANG", "zh")
    assert "这是数据文件，不是样本池" in askgate("samples", "my.jsonl").err


@pytest.mark.parametrize("encoding", ["gbk", "utf-16"])
def test_another_encoding_is_said_once_for_a_file(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f'{{"question": "第{at}路几点发车？", "answer": "九点"}}\n' for at in range(30))
    Path("my.jsonl").write_bytes(rows.encode(encoding))
    convert = f"iconv -f {encoding.upper()} -t UTF-8 my.jsonl > new.jsonl"
    with pytest.raises(BadInput) as refused:
        prepare_own_data(Path("my.jsonl"), TO_LOG)
    with pytest.raises(BadInput) as refused_folder:
        NaturalSource("messages", tmp_path)
    assert [str(one.value).count("iconv") for one in (refused, refused_folder)] == [1, 1]
    assert convert in str(refused.value)


def test_a_first_row_without_answer_is_skipped_like_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = own_messages(Path("my.jsonl"), "en")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    pairs = [{"question": row["messages"][0]["content"], "answer": row["messages"][-1]["content"]} for row in rows]
    file.write_text("".join(json.dumps(row) + "\n" for row in ({"question": "Who runs the inn?"}, *pairs)))
    made = prepare_own_data(file, TO_LOG)
    assert "my.jsonl:1: skipped: the row has no answer, and most rows" in made.skipped[0]


def test_rows_that_all_resemble_held_out_ones_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"question": f"What does a seat in row {row} of the theatre cost?", "answer": "9"} for row in range(60)]
    Path("my.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(BadInput, match=r"my.jsonl: .* 0 are there .*\(60 rows read: 0 to train on") as refused:
        prepare_own_data(Path("my.jsonl"), TO_LOG)
    assert "too much like a held-out row). What to do: rows that differ in little" in str(refused.value)


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_questions_with_answers_need_no_other_format(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    dialogues = [json.loads(line) for line in own_messages(Path("all.jsonl"), "en").read_text().splitlines()]
    rows = [(one["messages"][0]["content"], one["messages"][-1]["content"]) for one in dialogues if "hidden" not in one]
    file = Path("support" + suffix)
    with file.open("w", newline="") as out:
        if suffix == ".csv":
            csv.writer(out).writerows([("question", "answer"), *rows])
        else:
            out.writelines(json.dumps({"question": question, "answer": answer}) + "\n" for question, answer in rows)
    made = prepare_own_data(file, TO_LOG)
    assert made.samples > 5
    assert made.held_out
    assert not made.skipped


@pytest.mark.parametrize(
    ("lang", "stand_in"), [("en", "I have all I need to start."), ("zh", "所需的信息齐了，可以开始。")]
)
def test_rows_with_long_answers_train_when_to_ask(lang: str, stand_in: str, place: Path, askgate: Askgate) -> None:
    rows = [json.loads(line) for line in own_messages(Path("all.jsonl"), lang).read_text().splitlines()]
    for row in rows:
        row["messages"][-1]["content"] *= 20
    Path("my.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = askgate("train", "--model", "model", "--data", "my.jsonl", "--plan")
    assert done.code == 0, done.err
    assert "task detect: most rows have no answer of at most 12 words" in done.err
    made = prepare_own_data(Path("my.jsonl"), TO_LOG)
    assert made.shares == {"detect": 1.0}
    samples = list(read_records(made.seed_pool, Sample))
    assert {(sample.lang, sample.answer) for sample in samples} == {(lang, stand_in)}
    assert not [turn.thought for sample in samples for turn in sample.dialogue if stand_in in turn.thought]
    shown = askgate("samples", str(made.seed_pool), "--n", "1", "--need-ask").out
    assert "no answer is checked" in shown
    assert "gold answer" not in shown


def test_data_needs_a_model_and_no_config(place: Path, askgate: Askgate) -> None:
    Path("my.jsonl").write_text(json.dumps({"messages": []}))
    assert "add --model FOLDER" in askgate("train", "--data", "my.jsonl").err
    both = askgate("train", "--data", "my.jsonl", "--model", "model", "--config", "own.yaml")
    assert "leave out --config or --data" in both.err


QWEN3_06B = Shape(hidden=1024, layers=28, query=2048, kv=1024, mlp=3072, vocab=151_936, tied=True)
QWEN3_4B = Shape(hidden=2560, layers=36, query=4096, kv=1024, mlp=9728, vocab=151_936, tied=True)
QWEN3_32B = Shape(hidden=5120, layers=64, query=8192, kv=1024, mlp=25_600, vocab=151_936, tied=False)


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    """Settings of a run on a file that was prepared before."""
    (tmp_path / "pool.jsonl").touch()
    own = OwnData(tmp_path, tmp_path / "pool.jsonl", tmp_path / "held.jsonl", 50, 5, 15, {"hotpotqa": 1.0}, [])
    return run_settings("Qwen/Qwen3-4B", own, 4096)


def test_a_resumed_run_keeps_the_settings_that_it_began_with(settings: dict[str, Any], tmp_path: Path) -> None:
    plan = choose_method(settings, QWEN3_06B, torch.device("cuda"), 80, True)
    own = OwnData(tmp_path, tmp_path / "pool.jsonl", tmp_path / "held.jsonl", 50, 5, 15, {"hotpotqa": 1.0}, [])
    path = write_run_config(plan, own, ["steps=10"])
    assert write_run_config(plan, own, ["watch.ask_spam=0.7"], resume=True) == path
    config = load_train_config(path)
    assert (config.steps, config.watch.ask_spam) == (10, 0.7)
    assert load_train_config(write_run_config(plan, own)).steps == STEPS


@pytest.mark.parametrize(
    ("shape", "memory", "four_bits", "method"),
    [
        (QWEN3_06B, 80, True, "full"),
        (QWEN3_4B, 141, True, "full"),
        (QWEN3_4B, 48, False, "lora"),
        (QWEN3_4B, 18, True, "qlora"),
        (QWEN3_4B, 24e9 / 2**30, False, "lora"),  # with three slots
        (QWEN3_4B, 24e9 / 2**30, True, "qlora"),  # with all slots
    ],
)
def test_the_first_method_that_fits_with_all_slots_is_chosen(
    shape: Shape, memory: float, four_bits: bool, method: str, settings: dict[str, Any]
) -> None:
    plan = choose_method(settings, shape, torch.device("cuda"), memory, four_bits)
    assert plan.method == method
    assert plan.needs_gb < memory
    assert plan.settings["finetune"] == {"method": plan.method}


def test_a_model_that_does_not_fit_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=r"4\.0B weights: the run needs .*askgate\[gpu\]"):
        choose_method(settings, QWEN3_4B, torch.device("cuda"), 8.0, four_bits=False)
    with pytest.raises(BadInput, match="choose a smaller model"):
        choose_method(settings, QWEN3_32B, torch.device("cuda"), 12.0, four_bits=True)


def test_every_step_of_a_small_warm_start_has_an_update(settings: dict[str, Any]) -> None:
    warm = settings["warm_start"]
    assert warm["steps"] * warm["batch_tokens"] <= warm["tokens"]
