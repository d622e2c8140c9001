"""No dimension sees the gold answer or the hidden span; otherwise correlation with success would be circular."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from askgate_env.dimensions import LIVE
from askgate_env.episode_view import EpisodeView, view_episode
from askgate_env.reward import BY_RULE, NAMES, AdvancedReward
from askgate_env.types import Episode, Hidden, Sample
from src.core.jsonl import read_records
from src.data.pool.build import build_pool
from src.data.pool.plan import BuildPlan
from src.reward.recorded_episodes import RecordedEpisode
from src.scoring.prompt import dialogue_text
from tests.data.samples import MIX

from .dialogues import demonstration_episode, run_episode

Rated = Callable[[Episode, Sample], Mapping[str, float]]
ELSE = Hidden("quantity", "It is 777 all in all.", "how much it is", ("much",))


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> list[Sample]:
    pool = tmp_path_factory.mktemp("leak") / "pool.jsonl"
    build_pool(BuildPlan(n=200, mix=MIX, seed=11, langs=(), templates_dir=Path("templates/pack_v2")), pool)
    return list(read_records(pool, Sample))


def tampered(sample: Sample) -> list[Sample]:
    """The same sample for the policy, with other secrets."""
    return [
        replace(sample, answer="777", aliases=("seven hundred",)),
        replace(sample, answer="yes" if sample.answer != "yes" else "no", support=("Something else.",)),
        replace(sample, hidden=ELSE, needs_clarification=True),
        replace(sample, hidden=None, needs_clarification=False, dialogue=(), original="", clue="", ambiguity=()),
    ]


def lookalikes(episode: Episode) -> list[Episode]:
    """The same dialogue with another outcome."""
    flipped = replace(episode, success=not episode.success, needs_clarification=not episode.needs_clarification)
    return [flipped, replace(episode, received_info=not episode.received_info, reward={"outcome": 1.0}, level=None)]


def episodes(sample: Sample) -> list[Episode]:
    """Three episodes: the demonstration, the answer without any work, and an ask that leads nowhere."""
    asked = [f"<ask>{sample.question}</ask>", "<calc>7 * 11</calc>", "<answer>77</answer>"]
    return [
        demonstration_episode(sample),
        run_episode(sample, [f"<answer>{sample.answer}</answer>"]),
        run_episode(sample, asked),
    ]


def leaks(rated: Rated, samples: list[Sample]) -> set[str]:
    """Names of the dimensions that change when only the secrets change."""
    found: set[str] = set()
    for sample in samples:
        for episode in episodes(sample):
            before = rated(episode, sample)
            others = [rated(episode, other) for other in tampered(sample)]
            others += [rated(other, sample) for other in lookalikes(episode)]
            found |= {name for after in others for name in before if after[name] != before[name]}
    return found


def test_no_dimension_depends_on_gold_answer_or_hidden_span(samples: list[Sample]) -> None:
    assert len(samples) == 200
    assert sum(sample.hidden is not None for sample in samples) > 30

    def every_dimension(episode: Episode, sample: Sample) -> dict[str, float]:
        seen = view_episode(episode, sample)
        return {name: dimension(seen) for name, dimension in BY_RULE.items()}

    assert leaks(every_dimension, samples) == set()


def test_the_reward_with_judge_scores_does_not_depend_on_secrets(samples: list[Sample]) -> None:
    reward = AdvancedReward({name: 1 / len(NAMES) for name in NAMES})
    judged = dict.fromkeys(LIVE.values(), 0.5)
    assert leaks(lambda episode, sample: reward(episode, sample, judged), samples[:50]) == set()


def test_the_judge_reads_the_dialogue_and_nothing_else(samples: list[Sample]) -> None:
    for sample in samples:
        for episode in episodes(sample):
            texts = {
                dialogue_text(RecordedEpisode("e", "s", "train", "m", one)) for one in (episode, *lookalikes(episode))
            }
            assert len(texts) == 1


def test_a_dimension_that_sees_secrets_is_detected(samples: list[Sample]) -> None:
    def peeks(episode: Episode, sample: Sample) -> dict[str, float]:
        span = sample.hidden.span if sample.hidden else ""
        return {
            "gold": float(episode.answer == sample.answer),
            "hidden": float(any(span in turn.text for turn in episode.turns) and bool(span)),
            "verdict": float(episode.success),
            "fair": float(len(episode.turns)),
        }

    assert leaks(peeks, samples[:50]) == {"gold", "hidden", "verdict"}


def test_the_episode_view_has_no_field_for_secrets() -> None:
    assert EpisodeView.__struct_fields__ == ("task", "lang", "prompt", "context", "turns", "end", "answer")
