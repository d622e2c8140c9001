"""TRL's own GRPOTrainer plays samples through `AskGateTools`: it parses the calls, runs the tools, takes the reward."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from askgate_env.actions import say
from askgate_env.adapters.trl_tools import AskGateTools, rows
from askgate_env.env import play
from askgate_env.pool import load_pool
from askgate_env.reward import TrainingReward
from askgate_env.types import Turn
from tests.agents.small_tokenizer import small_tokenizer

pytestmark = pytest.mark.slow
NEED = [number for number, sample in enumerate(load_pool()) if sample.needs_clarification and sample.lang == "en"][:4]
MARKS = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")
CALL_MARKS = ("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>")


class ScriptedModel(Qwen3ForCausalLM):
    """Calls the tools as each sample's demonstration does; every second time it leaves the ask out."""

    tokenizer: Any
    script: dict[str, list[Turn]]
    asked: set[str]

    def generate(self, input_ids: torch.Tensor, **_: Any) -> torch.Tensor:
        made = []
        for ids in input_ids.tolist():
            text = self.tokenizer.decode(ids)
            prompt, turns = next(item for item in self.script.items() if item[0] in text)
            done, ask = text.count('<tool_call>\n{"name": "'), [turn.act for turn in turns].index("ask")
            if (done > ask and '{"name": "ask"' not in text) or (done == ask and prompt in self.asked):
                turns = without_ask(turns)
            elif done == ask:
                self.asked.add(prompt)
            said = call(turns[done]) if done < len(turns) else "Done."
            made.append(self.tokenizer.encode(f"<think>\n\n</think>\n\n{said}<|im_end|>"))
        longest = max(map(len, made))
        padded = [ids + [self.tokenizer.pad_token_id] * (longest - len(ids)) for ids in made]
        return torch.cat([input_ids, torch.tensor(padded)], dim=1)


def without_ask(turns: list[Turn]) -> list[Turn]:
    return [turn for turn in turns if turn.act != "ask"]


def call(turn: Turn) -> str:
    argument = {"ask": "question", "wiki": "query", "calc": "expression", "answer": "text"}[turn.tool or turn.act]
    body = json.dumps({"name": turn.tool or turn.act, "arguments": {argument: turn.text}}, ensure_ascii=False)
    return f"<tool_call>\n{body}\n</tool_call>"


def test_the_trainer_gets_the_rewards_of_askgate(tmp_path: Path) -> None:
    trl = pytest.importorskip("trl")
    from datasets import Dataset
    from trl.chat_template_utils import qwen3_chat_template

    tokenizer = small_tokenizer(MARKS, CALL_MARKS, eos="<|im_end|>")
    tokenizer.pad_token, tokenizer.padding_side = "<|endoftext|>", "left"
    tokenizer.chat_template = qwen3_chat_template
    size = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "head_dim": 8}
    model = ScriptedModel(Qwen3Config(vocab_size=len(tokenizer), num_attention_heads=2, num_key_value_heads=1, **size))
    samples, expected = load_pool(), []
    model.tokenizer, model.script, model.asked = tokenizer, {}, set()
    for number in NEED:
        turns = [turn for turn in samples[number].dialogue if turn.by == "assistant"]
        model.script[samples[number].prompt] = turns
        episodes = [play(samples[number], [say(turn) for turn in one]) for one in (turns, without_ask(turns))]
        expected += [sum(TrainingReward()(episode, samples[number]).values()) for episode in episodes]
    assert expected == [1.0, 0.0] * len(NEED)

    rewards: list[float] = []

    class Recording(AskGateTools):
        def get_reward(self) -> float:
            rewards.append(super().get_reward())
            return rewards[-1]

    batch = 2 * len(NEED)
    config = trl.GRPOConfig(
        str(tmp_path), num_generations=2, per_device_train_batch_size=batch, max_steps=1, report_to=[], use_cpu=True,
        max_completion_length=4096, logging_steps=1,
    )  # fmt: skip
    chosen = [rows()[number] for number in NEED]
    trainer = trl.GRPOTrainer(
        model,
        args=config,
        train_dataset=Dataset.from_list(chosen),
        processing_class=tokenizer,
        environment_factory=Recording,
    )
    trainer.train()
    assert sorted(rewards) == sorted(expected)
    [logged] = [line["reward"] for line in trainer.state.log_history if "reward" in line]
    assert logged == pytest.approx(sum(expected) / batch)
