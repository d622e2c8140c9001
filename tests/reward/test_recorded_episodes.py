"""Recorded episodes name their model by its hash, are rated without it, and are refused if they measure nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError

from askgate_env.dimensions import LIVE
from askgate_env.reward import BY_RULE
from askgate_env.types import Sample
from src.config.profile import load_profile, scoring_of
from src.config.train_config import RolloutLimits
from src.core.errors import BadInput
from src.core.files import HOME
from src.core.jsonl import read_records, read_unique, write_records
from src.core.model_files import model_sha256
from src.data.pool.build import build_pool
from src.data.pool.plan import BuildPlan
from src.reward.recorded_episodes import (
    RecordedEpisode,
    RecordPlan,
    record,
    refuse_one_outcome,
    write_recorded,
)
from src.reward.scored_episodes import rate
from src.scoring.providers import settings_for
from src.scoring.score_pool import ScoringJob, score_dialogues
from src.scoring.scores import Score
from tests.data.samples import MIX, make_sample
from tests.scoring.server import JudgeServer, steady_scores

from .dialogues import run_episode

TINY = HOME / "models/tiny"

LIMITS = RolloutLimits(max_turns=6, max_new_tokens=64, max_tokens=640)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recorded") / "pool.jsonl"
    build_pool(BuildPlan(n=16, mix=MIX, seed=3, langs=(), templates_dir=Path("templates/pack_v2")), path)
    return path


@pytest.fixture(scope="module")
def made(pool: Path) -> Callable[[RecordPlan], list[RecordedEpisode]]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from src.agents.render import TagRenderer

    torch.set_num_threads(1)
    policy = AutoModelForCausalLM.from_pretrained(TINY, dtype=torch.float32)
    renderer = TagRenderer(AutoTokenizer.from_pretrained(TINY))
    samples = list(read_records(pool, Sample))
    return lambda plan: record(policy, renderer, samples, plan, model_sha256(TINY), torch.device("cpu"))


def some(count: int) -> tuple[list[RecordedEpisode], list[Sample]]:
    """Recorded episodes of which every other one is right."""
    samples = [make_sample(f"s{place}", f"What is 6 * 7 + {place}?", answer=str(42 + place)) for place in range(count)]
    said = [["<calc>6 * 7</calc>", f"<answer>{42 + place - place % 2}</answer>"] for place in range(count)]
    recorded = [
        RecordedEpisode(f"{sample.id}/0", sample.provenance.source_id, "train", "a" * 64, run_episode(sample, turns))
        for sample, turns in zip(samples, said, strict=True)
    ]
    return recorded, samples


def test_episodes_are_reproducible_and_record_seed_and_model(
    made: Callable[[RecordPlan], list[RecordedEpisode]], pool: Path, tmp_path: Path
) -> None:
    plan = RecordPlan(5, LIMITS)
    recorded = made(plan)
    assert recorded == made(plan)
    assert recorded != made(RecordPlan(6, LIMITS))
    assert len({one.id for one in recorded}) == len(recorded) == 16
    assert {one.episode.seed for one in recorded} == {5}
    assert {one.model for one in recorded} == {model_sha256(TINY)}
    assert 0 < sum(one.episode.success for one in recorded) < 16

    path = tmp_path / "episodes.jsonl"
    write_recorded(path, recorded, pool, plan)
    assert list(read_unique(path, RecordedEpisode)) == recorded
    facts = json.loads((tmp_path / "episodes.meta.json").read_text())
    assert (facts["model_sha256"], facts["plan"]["seed"], facts["episodes"]) == (model_sha256(TINY), 5, 16)


def test_episodes_are_sampled_never_greedy() -> None:
    with pytest.raises(ValidationError, match="greater than 0"):
        RolloutLimits(max_new_tokens=64, temperature=0.0)


def test_changed_weights_or_tokenizer_are_another_model(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "tokenizer.json").write_text("{}")
    first = model_sha256(tmp_path)
    (tmp_path / "README.md").write_text("says nothing")
    assert model_sha256(tmp_path) == first
    (tmp_path / "tokenizer.json").write_text("[]")
    assert model_sha256(tmp_path) != first
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(BadInput, match="no weights"):
        model_sha256(tmp_path)


@pytest.mark.parametrize(("success", "said"), [(True, "all 6 episodes succeed"), (False, "all 6 episodes fail")])
def test_episodes_with_one_outcome_are_refused(success: bool, said: str) -> None:
    recorded, _ = some(6)
    with pytest.raises(BadInput, match=said):
        refuse_one_outcome([success for _ in recorded])
    refuse_one_outcome([one.episode.success for one in recorded])


def test_without_a_judge_records_say_live_false() -> None:
    recorded, samples = some(4)
    for one in rate(recorded, samples, None):
        assert set(one.dims) == set(BY_RULE)
        assert not one.live


def test_episodes_of_another_pool_are_refused() -> None:
    recorded, samples = some(4)
    with pytest.raises(BadInput, match="s3/0"):
        rate(recorded, samples[:3], None)


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Score]]:
    """End to end: episodes on disk, a server that votes, ledger and cache in their own folder."""

    def ask(server: JudgeServer, recorded: list[RecordedEpisode]) -> dict[str, Score]:
        monkeypatch.chdir(tmp_path)
        environment = {
            "SCORER_PROVIDER": "custom", "SCORER_BASE_URL": server.url, "SCORER_MODEL": "tiny",
            "SCORER_API_KEY": "k", "REWARD_LIVE_MODE": "1",
        }  # fmt: skip
        with open("episodes.jsonl", "wb") as file:
            write_records(file, recorded)
        section = scoring_of(load_profile("rc1"))
        order = ScoringJob(Path("episodes.jsonl"), Path("scores.jsonl"), None, 1)
        settings = settings_for(environment, section, "")
        scores, _ = score_dialogues(recorded, order, settings, print, lambda done: None)
        return scores

    return ask


def test_live_dimensions_are_medians_of_three_votes(judged: Callable[..., dict[str, Score]]) -> None:
    recorded, samples = some(4)
    texts: list[str] = []

    def votes(body: dict[str, Any]) -> dict[str, Any]:
        texts.append(body["messages"][-1]["content"])
        return steady_scores(body)

    with JudgeServer(scores=votes) as server:
        scores = judged(server, recorded)
        again = judged(server, recorded)
    assert scores == again
    assert len(texts) == 3 * 4  # the second time nobody was asked
    assert all("Assistant calls calc: 6 * 7" in text for text in texts)
    for one in rate(recorded, samples, scores):
        score = scores[one.id]
        assert (one.live, one.weight) == (True, score.weight)
        assert {name: one.dims[name] for name in LIVE} == {name: score.scores[judge] for name, judge in LIVE.items()}


def test_an_episode_the_judge_failed_on_is_named() -> None:
    recorded, samples = some(3)
    lines = {
        one.id: Score(one.id, "k", "p", "m", True, 0.5, dict.fromkeys(LIVE.values(), 0.5), 0.0, 3, True, 1.0)
        for one in recorded
    }
    lines["s1/0"] = Score("s1/0", "k", "p", "m", True, failure="timeout")
    with pytest.raises(BadInput, match=r"missing for 1 of 3 episodes: s1/0"):
        rate(recorded, samples, lines)


def test_unjudged_episodes_have_no_live_dimensions() -> None:
    recorded, samples = some(3)
    asked = {"s0/0", "s2/0"}
    lines = {
        name: Score(name, "k", "p", "m", True, 0.5, dict.fromkeys(LIVE.values(), 0.5), 0.0, 3, True, 1.0)
        for name in asked
    }
    found = {one.id: one for one in rate(recorded, samples, lines, asked)}
    assert [found[name].live for name in ("s0/0", "s1/0", "s2/0")] == [True, False, True]
    assert set(found["s1/0"].dims) == set(BY_RULE)
    del lines["s2/0"]
    with pytest.raises(BadInput, match=r"missing for 1 of 2 episodes: s2/0"):
        rate(recorded, samples, lines, asked)
