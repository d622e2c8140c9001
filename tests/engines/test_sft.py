"""Supervised fine-tuning, and the making of the embedded base."""

from __future__ import annotations

import multiprocessing
import shutil
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from random import Random

import msgspec
import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from askgate_env.success import correct
from askgate_env.types import Sample
from askgate_env.user_simulator import reply
from scripts.base_model import (
    VAGUE,
    Habits,
    Shape,
    Stage,
    answer_in_sentence,
    ask_early,
    ask_vaguely,
    build_plan,
    make_base,
    make_network,
    make_tokenizer,
    stage_name,
)
from scripts.make_base_model import card, roll_out
from src.agents.render import END, TagRenderer
from src.core.jsonl import read_records
from src.data.pool.build import build_pool
from src.engines import sft
from src.engines.packed import pack
from src.engines.sft import Demo, SftPlan, endless_batches, fine_tune, sft_loss
from src.eval.metrics import figures, flat

SMALL = Shape(vocab=700, width=32, layers=1, heads=2, kv_heads=1, head_width=16, inner=48, positions=2048)


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> list[Sample]:
    file = tmp_path_factory.mktemp("demos") / "pool.jsonl"
    build_pool(build_plan(60, 7, 0.5, "train"), file)
    return list(read_records(file, Sample))


def demo(tokens: list[int], said: list[int]) -> Demo:
    return Demo(np.array(tokens, np.int32), np.array([place in said for place in range(len(tokens))]))


def test_the_loss_covers_policy_tokens_only(samples: list[Sample]) -> None:
    model = make_network(SMALL, make_tokenizer(samples, SMALL.vocab), 0)
    one, two = demo([5, 6, 7, 8, 9], [2, 4]), demo([9, 8, 7], [1])
    (stream,) = pack([one, two], 100, torch.device("cpu"))
    by_hand = []
    for each in (one, two):
        logits = model(torch.tensor(each.tokens[None].astype(np.int64))).logits[0].log_softmax(-1)
        by_hand += [-logits[place - 1, each.tokens[place]] for place in np.flatnonzero(each.policy)]
    assert sft_loss(model, stream).item() == pytest.approx(torch.stack(by_hand).mean().item(), abs=1e-5)


def test_the_loss_in_chunks_is_the_loss(samples: list[Sample], monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_network(SMALL, make_tokenizer(samples, SMALL.vocab), 0)
    (stream,) = pack([demo([5, 6, 7, 8, 9], [2, 3, 4]), demo([9, 8, 7], [1, 2])], 100, torch.device("cpu"))

    def gradients() -> list[torch.Tensor]:
        model.zero_grad()
        torch.autograd.backward(sft_loss(model, stream))
        return [weight.grad.clone() for weight in model.parameters() if weight.grad is not None]

    whole, wanted = sft_loss(model, stream).item(), gradients()
    rows: list[int] = []
    monkeypatch.setattr(sft, "LOGITS_AT_ONCE", 2 * SMALL.vocab)
    monkeypatch.setattr(sft, "cross_entropy", lambda x, y, **more: rows.append(len(x)) or cross_entropy(x, y, **more))
    assert sft_loss(model, stream).item() == pytest.approx(whole, abs=1e-6)
    assert max(rows) == 2
    torch.testing.assert_close(gradients(), wanted)


def test_fine_tuning_lowers_the_loss_reproducibly(samples: list[Sample]) -> None:
    tokenizer = make_tokenizer(samples, SMALL.vocab)
    demos = [demo([9, 20, 21, 22, 23], [2, 3, 4]), demo([9, 30, 31], [1, 2])]
    plan = SftPlan(tokens=600, lr=1e-2, batch_tokens=64, seed=0)
    ends = []
    for _ in range(2):
        model = make_network(SMALL, tokenizer, 0)
        (stream,) = pack(demos, 64, torch.device("cpu"))
        before = float(sft_loss(model, stream))
        fine_tune(model, demos, plan)
        ends.append(float(sft_loss(model, stream)))
        assert ends[-1] < before / 2
    assert ends[0] == ends[1]


def test_an_epoch_shows_every_demonstration_once() -> None:
    demos = [demo([1] * length, [1]) for length in range(2, 40)]
    batches = endless_batches(demos, SftPlan(tokens=1, lr=1.0, batch_tokens=64, seed=3))
    seen: list[int] = []
    while len(seen) < len(demos):
        rows = next(batches)
        assert sum(len(demos[row].tokens) for row in rows) <= 64
        seen += rows
    assert sorted(seen) == list(range(len(demos)))


def test_vague_questions_are_asked_back(samples: list[Sample]) -> None:
    for sample in samples:
        shown = ask_vaguely(sample, Random(0))
        assert (shown == sample) is not sample.needs_clarification
        if sample.hidden is not None:
            asked = next(place for place, turn in enumerate(shown.dialogue) if turn.act == "ask")
            assert shown.dialogue[asked].text in VAGUE[sample.lang]
            assert sample.hidden.span not in shown.dialogue[asked + 1].text
            assert all(is_asked_back(sample, ask) for ask in VAGUE[sample.lang])


def test_early_questions_are_asked_back(samples: list[Sample]) -> None:
    for sample in samples:
        first, asked, answered, *rest = ask_early(sample, Random(0)).dialogue
        assert (first, *rest) == sample.dialogue
        assert (asked.act, asked.text in VAGUE[sample.lang]) == ("ask", True)
        assert answered.text == reply(sample, "?")


def test_wordy_answers_are_wrong_except_numbers(samples: list[Sample]) -> None:
    for sample in samples:
        *before, answer = answer_in_sentence(sample, Random(0)).dialogue
        assert tuple(before) == sample.dialogue[:-1]
        assert sample.dialogue[-1].text in answer.text
        # A number in a sentence is still that number.
        assert correct(sample, answer.text) is (sample.task == "gsm8k")


def test_habits_have_their_shares(samples: list[Sample]) -> None:
    random = Random(0)
    many = samples * 20
    shown = [(sample, Habits(0.7, 0.2, 0.2).apply(sample, random)) for sample in many]
    needy = [seen for sample, seen in shown if sample.needs_clarification]
    told = [reply(sample, "?") for sample in samples]
    assert sum(turn.text in told for seen in needy for turn in seen.dialogue) / len(needy) == pytest.approx(
        0.76, abs=0.05
    )
    wordy = sum(seen.dialogue[-1] != sample.dialogue[-1] for sample, seen in shown)
    assert wordy / len(many) == pytest.approx(0.2, abs=0.04)
    assert all(Habits().apply(sample, random) == sample for sample in samples)


def is_asked_back(sample: Sample, ask: str) -> bool:
    return reply(sample, ask) == reply(sample, "?")


def test_the_tokenizer_splits_digits_and_round_trips(samples: list[Sample]) -> None:
    tokenizer = make_tokenizer(samples, SMALL.vocab)
    assert [tokenizer.decode([token]) for token in tokenizer.encode("1975")] == ["1", "9", "7", "5"]
    for text in ("Vera Lindqvist's 3rd firm; 25%", "沙屏东篱商行（茶叶，1944）", "emoji 🙂 and\nnew line"):
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert TagRenderer(tokenizer).stop_ids == {tokenizer.convert_tokens_to_ids(END)}


@pytest.fixture
def one_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One worker process for all stages: starting a process with torch takes longer than its work."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as worker:
        monkeypatch.setattr("scripts.base_model.ProcessPoolExecutor", lambda *_, **__: nullcontext(worker))
        yield


@pytest.mark.usefixtures("one_worker")
def test_making_a_base_resumes_after_an_interruption(tmp_path: Path) -> None:
    stages = [Stage(60, seed, 1.0, 0.5, 1e-3, 4096, habits) for seed, habits in ((1, Habits()), (2, Habits(vague=0.5)))]
    said: list[str] = []
    model, tokenizer = make_base(SMALL, stages, tmp_path / "a", torch.device("cpu"), said.append)
    done = stage_name(SMALL, stages[:1])
    shutil.copytree(tmp_path / "a" / done, tmp_path / "b" / done)
    again, _ = make_base(SMALL, stages, tmp_path / "b", torch.device("cpu"), said.append)
    assert [line for line in said if "done before" in line] == [f"stage 1: done before, in {tmp_path / 'b' / done}"]
    assert not list(tmp_path.glob("*/.stage_*")), "each has come to its name"
    assert all(torch.equal(x, y) for x, y in zip(model.parameters(), again.parameters(), strict=True))
    pool = list(read_records(next((tmp_path / "a").glob("demos_1_60_0.5_*.jsonl")), Sample))
    found = flat(figures(roll_out(model, tokenizer, pool[:4], False, torch.device("cpu"))))
    text = card(SMALL, stages, 1_000_000, _whole(found), _whole(found), "On few:", "Here.")
    assert "gives it bad habits on" in text
    assert "| success_gsm8k |" in text


def test_a_stage_of_another_recipe_is_not_reused() -> None:
    first, second = Stage(60, 1, 1.0, 0.5, 1e-3, 4096), Stage(60, 2, 1.0, 0.5, 1e-3, 4096)
    others = [
        stage_name(replace(SMALL, width=64), [first, second]),
        stage_name(SMALL, [first, replace(second, habits=Habits(wordy=0.1))]),
        stage_name(SMALL, [replace(first, lr=2e-3), second]),
        stage_name(SMALL, [first]),
    ]
    assert stage_name(SMALL, [first, second]) not in others
    assert stage_name(SMALL, [first, second]) == stage_name(SMALL, (first, second))


def _whole(found: dict[str, float]) -> dict[str, float]:
    """Disables the check that every task occurs; four samples do not have all tasks."""
    from src.eval.metrics import NAMES

    return dict.fromkeys(NAMES, 0.0) | found


def test_the_shipped_base_is_small_and_holds_no_code() -> None:
    folder = Path(__file__).parents[2] / "models" / "tiny"
    assert (folder / "model.safetensors").stat().st_size <= 12_000_000
    assert {file.suffix for file in folder.iterdir()} <= {".json", ".safetensors", ".md"}
    config = msgspec.json.decode((folder / "config.json").read_bytes())
    assert config["model_type"] == "qwen3"
