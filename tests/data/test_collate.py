"""The tokens of SFT are exactly the tokens that a rollout of the demonstration would have."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from askgate_env.actions import parse, say
from askgate_env.env import Env
from askgate_env.types import Sample
from src.agents.render import MARKS, TagRenderer
from src.data.collate import demo_tokens
from tests.data.build_samples import built, small_plan


@pytest.fixture(scope="module")
def renderer() -> TagRenderer:
    """A renderer with bytes and marks as tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    raw = Tokenizer(models.BPE({letter: number for number, letter in enumerate(alphabet)}, []))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, clean_up_tokenization_spaces=False)
    tokenizer.add_special_tokens({"additional_special_tokens": list(MARKS)})
    return TagRenderer(tokenizer)


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    made = built(small_plan(60))
    assert any(sample.needs_clarification for sample in made)
    return made


def rollout_tokens(sample: Sample, renderer: TagRenderer) -> tuple[list[int], list[bool]]:
    """Tokens and policy mask of a rollout that says the demonstration's turns."""
    env = Env(sample, max_turns=20)
    tokens = list(renderer.opening(env.opening(), None))
    policy = [False] * len(tokens)
    for turn in sample.dialogue:
        if turn.by == "assistant":
            said = renderer.policy(say(turn, renderer.closes))
            heard = env.step(renderer.decode(said))
            more = renderer.reply(heard.by, heard.text) if heard else []
            tokens += said + more
            policy += [True] * len(said) + [False] * len(more)
    assert env.end == "answer"
    return tokens, policy


def test_demonstration_tokens_equal_its_rollout(samples: list[Sample], renderer: TagRenderer) -> None:
    for sample in samples:
        assert demo_tokens(sample, renderer, thoughts=True) == rollout_tokens(sample, renderer), sample.id


def test_policy_tokens_are_the_assistant_turns_with_their_ends(samples: list[Sample], renderer: TagRenderer) -> None:
    for sample in samples:
        tokens, policy = demo_tokens(sample, renderer, thoughts=True)
        turns = sum(turn.by == "assistant" for turn in sample.dialogue)
        ends = [said for token, said in zip(tokens, policy, strict=True) if token in renderer.stop_ids]
        assert len(tokens) == len(policy)
        assert sum(ends) == turns
        assert ends.count(False) == len(sample.dialogue) - turns
        assert policy[-1]
        assert tokens[-1] in renderer.stop_ids


def test_without_thoughts_only_the_actions_remain(samples: list[Sample], renderer: TagRenderer) -> None:
    for sample in samples[:20]:
        tokens, policy = demo_tokens(sample, renderer, thoughts=False)
        said = [token for token, mine in zip(tokens, policy, strict=True) if mine]
        acts = []
        while said:
            end = next(place for place, token in enumerate(said) if token in renderer.stop_ids)
            acts.append(parse(renderer.decode(said[: end + 1])))
            said = said[end + 1 :]
        wanted = [turn for turn in sample.dialogue if turn.by == "assistant"]
        assert [(act.kind, act.text, act.thought) for act in acts] == [(turn.act, turn.text, "") for turn in wanted]
