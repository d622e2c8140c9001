"""Evaluation with llama.cpp: dialogues grow token by token, and figures equal those of PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
import torch
from msgspec.structs import replace

from src.agents.render import TagRenderer
from src.agents.trajectory import Job
from src.chat.evaluate import ModelEvaluation, compared, read_evaluation, setting_of
from src.chat.policies import TorchPolicy, open_gguf_policy
from src.config.train_config import RolloutLimits
from src.core.errors import BadInput
from src.eval.metrics import figures
from src.release.gguf_check import check_samples
from src.release.gguf_export import load_merged, load_tokenizer, policy_folders, write_gguf
from src.release.llamacpp import LlamaCpp, rollout_llamacpp

LIMITS = RolloutLimits(max_turns=4, max_new_tokens=24, max_tokens=320, slots=16)
TINY = Path("models/tiny")


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> None:
    torch.set_num_threads(1)


def jobs(n: int) -> list[Job]:
    return [Job(sample, "easy", 3) for sample in check_samples(n)]


class Scripted(LlamaCpp):
    """A policy that says given turns and records its inputs."""

    def __init__(self, turns: Sequence[Sequence[int]]) -> None:
        super().__init__("http://127.0.0.1:1", Path("none.gguf"))
        self.turns, self.sent = [list(turn) for turn in turns], list[tuple[list[int], int]]()

    def complete(self, tokens: Sequence[int], most: int, temperature: float | None, seed: int = 0) -> list[int]:
        self.sent.append((list(tokens), most))
        return self.turns.pop(0)[:most]


@pytest.fixture(scope="module")
def renderer() -> TagRenderer:
    return TagRenderer(load_tokenizer(policy_folders(TINY)[0]))


def test_turn_n_plus_one_extends_turn_n_token_by_token(renderer: TagRenderer) -> None:
    said = [renderer.policy(text) for text in ("<wiki> Oslo", "<ask> Which one?", "<answer> yes")]
    llama = Scripted(said)
    [episode] = rollout_llamacpp(llama, renderer, jobs(1), LIMITS, greedy=True)
    assert [turn.act for turn in episode.turns if turn.by == "assistant"] == ["call", "ask", "answer"]
    assert llama.sent[0][0] == renderer.opening(episode.turns[0].text)
    for (before, _), (after, _), words in zip(llama.sent, llama.sent[1:], said, strict=False):
        assert after[: len(before) + len(words)] == before + words


def test_an_end_mark_only_llamacpp_knows_ends_no_turn(renderer: TagRenderer) -> None:
    """llama.cpp stops at end marks of its own; if the renderer does not stop there, the turn continues."""
    whole = renderer.policy("<answer> forty two")
    llama = Scripted([whole[:2], whole[2:]])
    [episode] = rollout_llamacpp(llama, renderer, jobs(1), LIMITS, greedy=True)
    assert episode.end == "answer"
    assert episode.answer is not None
    assert episode.answer.strip() == "forty two"
    assert llama.sent[1] == (llama.sent[0][0] + whole[:2], LIMITS.max_new_tokens - 2)


def test_a_turn_is_cut_off_where_training_cuts_it_off(renderer: TagRenderer) -> None:
    endless = renderer.policy("<answer> no")[:-1] * 20
    llama = Scripted([endless] * 4)
    [episode] = rollout_llamacpp(llama, renderer, jobs(1), LIMITS, greedy=True)
    assert len(episode.turns[1].text) > 0
    assert {most for _, most in llama.sent} == {LIMITS.max_new_tokens}


@pytest.fixture(scope="module")
def both_backends(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """Episodes on the same samples by PyTorch and by llama.cpp."""
    folder, tiny = tmp_path_factory.mktemp("models"), policy_folders(TINY)[0]
    write_gguf(load_merged(tiny, None), load_tokenizer(tiny), folder / "tiny.gguf", "f16", "tiny")
    torch_side = TorchPolicy(tiny, None, 0.0, 3, LIMITS).rollout(jobs(40), LIMITS.max_turns)
    with chdir(folder), open_gguf_policy(folder / "tiny.gguf", 0.0, LIMITS) as policy:
        llama_side = policy.rollout(jobs(40), LIMITS.max_turns)
    return torch_side, llama_side


def evaluated(episodes: Any, backend: Any = "pytorch", greedy: bool = True) -> ModelEvaluation:
    setting = setting_of(LIMITS, greedy, 3)
    return ModelEvaluation(backend, "m", "0", "s.jsonl", "1", len(episodes), setting, figures(episodes))


def test_llamacpp_reproduces_the_evaluation_of_pytorch(both_backends: tuple[Any, Any]) -> None:
    ours, theirs = both_backends
    same = sum(one.turns == other.turns for one, other in zip(ours, theirs, strict=True))
    # Near ties may part two dialogues; nearly all are the same word for word.
    assert same >= 38
    checks = compared(evaluated(ours), evaluated(theirs, "llamacpp"))
    assert len(checks) >= 8
    assert all(one.passed for one in checks)


def test_shares_of_0_and_1_are_inside_their_own_interval(both_backends: tuple[Any, Any]) -> None:
    """The interval of 0 of 40 begins at exactly 0, despite rounding."""
    for right in (False, True):
        same = evaluated([replace(one, success=right, received_info=right) for one in both_backends[0]])
        assert all(one.passed for one in compared(same, same))


def test_another_policy_fails_the_comparison(both_backends: tuple[Any, Any]) -> None:
    ours, theirs = both_backends
    mute = [replace(one, success=False, answer=None, turns=one.turns[:2]) for one in theirs]
    failed = [one.name for one in compared(evaluated(ours), evaluated(mute)) if not one.passed]
    assert "avg_turns[low]" in failed


def test_only_evaluations_with_equal_settings_are_compared(tmp_path: Path, both_backends: tuple[Any, Any]) -> None:
    from src.core.files import write_json

    ours, path = both_backends[0], tmp_path / "eval.json"
    write_json(path, evaluated(ours))
    setting = setting_of(LIMITS, greedy=True, seed=3)
    assert read_evaluation(path, "1", len(ours), setting).backend == "pytorch"
    for sha, n, other in (("2", 40, setting), ("1", 39, setting), ("1", 40, setting_of(LIMITS, True, 4))):
        with pytest.raises(BadInput, match="made on other samples"):
            read_evaluation(path, sha, n, other)
    with pytest.raises(BadInput, match="differ by chance"):
        read_evaluation(path, "1", 40, setting_of(LIMITS, greedy=False, seed=3))
    path.write_text('{"backend": "pytorch"}')
    with pytest.raises(BadInput, match="is not a report of eval"):
        read_evaluation(path, "1", 40, setting)
