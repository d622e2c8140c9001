"""`askgate train --model M --data my.jsonl`: pool, method, config, one step, and the run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml

from src.config.loader import load_train_config
from src.core.errors import BadInput
from src.core.paths import all_runs
from src.runtime.progress import TO_LOG
from src.training.own_data import prepare_own_data
from src.training.run_plan import choose_method
from tests.conftest import Askgate

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


def test_one_line_trains_a_model_on_a_file(place: Path, askgate: Askgate) -> None:
    own_messages(Path("my.jsonl"), "en")
    settings = ("steps=2", "batch_size=2", "rollout_len=12", "rollout.max_tokens=400", "eval.n=2", "warm_start=null")
    flags = [word for one in settings for word in ("--set", one)]
    watch = ("--set", "watch.malformed=1.0", "--set", "watch.bare_answer=1.0", "--set", "watch.ask_spam=1.0")
    done = askgate("train", "--model", "model", "--data", "my.jsonl", *flags, *watch)
    assert done.code == 0, done.err
    assert "method:  full, about " in done.out
    assert "one step works" in done.out
    assert done.profile.startswith("local (no ticket needed")
    assert len(all_runs()) == 1, "the step that was tried is no run"
    assert not Path(".askgate/try_step").exists()
    (config,) = Path("data/own").glob("my-*/train-model.yaml")
    assert load_train_config(config).profile == "local"
    assert yaml.safe_load(config.read_text())["finetune"] == {"method": "full"}
    broken = askgate("train", "--model", "model", "--data", "my.jsonl", "--set", "rollout_len=100000")
    assert broken.code == 2
    assert "one step failed: " in broken.err


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('{"prompt": "Hi", "response": "Hello"}', "my.jsonl:1: the row has prompt, response"),
        ("not json", "my.jsonl:1: not valid JSON"),
        ("", "my.jsonl: has no rows"),
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


def test_data_needs_a_model_and_no_config(place: Path, askgate: Askgate) -> None:
    Path("my.jsonl").write_text(json.dumps({"messages": []}))
    assert "add --model FOLDER" in askgate("train", "--data", "my.jsonl").err
    both = askgate("train", "--data", "my.jsonl", "--model", "model", "--config", "own.yaml")
    assert "leave out --config or --data" in both.err


@pytest.mark.parametrize(
    ("billions", "device", "memory", "four_bits", "method"),
    [
        (0.6, "cuda", 24, True, "full"),
        (4, "cuda", 24, False, "lora"),
        (4, "cuda", 12, True, "qlora"),
        (32, "cuda", 80, True, "qlora"),
        (1, "cpu", 8, False, "lora"),
    ],
)
def test_the_first_method_that_fits_is_chosen(
    billions: float, device: str, memory: float, four_bits: bool, method: str
) -> None:
    assert choose_method(int(billions * 1e9), torch.device(device), memory, four_bits)[0] == method


def test_a_model_that_does_not_fit_is_refused_with_what_to_do() -> None:
    with pytest.raises(BadInput, match=r"4\.0B weights need about .* GB, and this cuda has 8 GB.*askgate\[gpu\]"):
        choose_method(4_000_000_000, torch.device("cuda"), 8.0, four_bits=False)
    with pytest.raises(BadInput, match="choose a smaller model"):
        choose_method(70_000_000_000, torch.device("cuda"), 24.0, four_bits=True)
