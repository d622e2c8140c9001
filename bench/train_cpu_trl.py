"""TRL's GRPOTrainer playing multi-turn episodes with tools by its own means. `bench/train_cpu.py` runs it.

It uses nothing of our rollout. TRL gets the dialogue in its own way: a chat template, a response template, and an
environment whose methods are its tools. Asking the user is one of them. A turn without a tool call ends the dialogue;
that is the answer. Generation, padding, masks, loss and updates are TRL's.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"

from datasets import Dataset
from train_cpu_side import Measurement, Workload
from transformers import AutoTokenizer, PrinterCallback, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from askgate_env.env import Env
from askgate_env.reward import TrainingReward
from askgate_env.types import Sample
from src.agents.render import END, POLICY, TOOL, USER, TagRenderer, spaced

# The layout of `TagRenderer`. TRL never renders a turn with a tool call, but wants to see that it could.
CHAT = (
    "{% for message in messages %}"
    f"{{% if message.role == 'user' or message.name == 'ask' %}}{USER}{{{{ message.content }}}}{END}"
    f"{{% elif message.role == 'tool' %}}{TOOL}{{{{ message.content }}}}{END}"
    f"{{% else %}}{POLICY}{{{{ message.content }}}}{{% for call in message.tool_calls or [] %}}"
    "<{{ call.function.name }}>{{ call.function.arguments }}{% endfor %}"
    f"{END}{{% endif %}}{{% endfor %}}{{% if add_generation_prompt %}}{POLICY}{{% endif %}}"
)
RESPONSE = {
    "defaults": {"role": "assistant"},
    "start_anchor": POLICY,
    "fields": {
        "tool_calls": {
            "open_pattern": r"<(?P<name>ask|wiki|calc)>",
            "close_pattern": r"<\|end\|>",
            "repeats": True,
            "content": "text",
            "transform": {"type": "function", "function": {"name": "{name}", "arguments": {"text": "{content}"}}},
        },
        "content": {"close_pattern": r"<\|end\|>", "content": "text"},
    },
}


class Table:
    """One sample as an environment of TRL: made once, reset for every episode."""

    samples: Sequence[Sample]
    max_turns: int

    def reset(self, row: int, **_: Any) -> None:
        self._env = Env(self.samples[row], self.max_turns)

    def ask(self, text: str) -> str:
        """Asks the user.

        Args:
            text: The question.
        """
        return self._step("ask", text)

    def wiki(self, text: str) -> str:
        """Looks an article up.

        Args:
            text: A title or words.
        """
        return self._step("wiki", text)

    def calc(self, text: str) -> str:
        """Computes.

        Args:
            text: An expression.
        """
        return self._step("calc", text)

    def _step(self, tag: str, text: str) -> str:
        reply = self._env.step(f"<{tag}>{text}")
        return spaced(reply.text) if reply else ""

    def _close(self, said: str) -> float:
        """The reward; `said` is the last turn."""
        env = self._env
        if env.end is None:
            env.step(said)
        if env.end is None:
            env.finish("length")
        return sum(TrainingReward()(env.episode(0), env.sample).values())


class Timed(GRPOTrainer):
    """TRL's, with a clock around its parts."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        self.measured = Measurement()
        self.seconds: dict[str, float] = {}
        super().__init__(*arguments, **more)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began

    def _generate(self, prompts: Any) -> Any:
        with self.part("rollout"):
            made = super()._generate(prompts)
        prompt_ids, completion_ids, mask, completions = made[:4]
        self.counts = {
            "episodes": len(completions),
            "turns": sum(message["role"] == "assistant" for one in completions for message in one),
            "said": sum(map(sum, mask)),
            "tokens": sum(map(len, prompt_ids)) + sum(map(len, completion_ids)),
        }
        return made

    def _calculate_rewards(self, *arguments: Any) -> Any:
        with self.part("reward"):
            rewards = super()._calculate_rewards(*arguments)
        self.counts["reward"] = float(rewards.sum())
        return rewards

    def _get_per_token_logps_and_entropies(self, model: Any, *arguments: Any, **more: Any) -> Any:
        if model is not self.ref_model:
            return super()._get_per_token_logps_and_entropies(model, *arguments, **more)
        with self.part("reference"):
            return super()._get_per_token_logps_and_entropies(model, *arguments, **more)

    def _prepare_inputs(self, inputs: Any) -> Any:
        with self.part("inputs"):
            return super()._prepare_inputs(inputs)

    def training_step(self, *arguments: Any) -> Any:
        with self.part("inputs and forward_backward"):
            loss = super().training_step(*arguments)
        self.stepped = time.perf_counter()
        return loss

    def parts(self) -> dict[str, float]:
        """Of one iteration, and the clock begins anew. What TRL does around them is in no part."""
        own, self.seconds = self.seconds, {}
        own["optimizer"] = time.perf_counter() - self.stepped
        own["forward_backward"] = own.pop("inputs and forward_backward") - own.pop("inputs")
        return own


class Watch(TrainerCallback):
    """Looks at the clock after every iteration."""

    def __init__(self, trainer: Timed) -> None:
        self.trainer = trainer

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.began = time.perf_counter()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        trainer, now = self.trainer, time.perf_counter()
        trainer.measured.add(now - self.began, trainer.counts, trainer.parts())
        self.began = now


def by_trl(workload: Workload) -> Measurement:
    """Settings that cost TRL no time: float32 without checkpointing, no logging, one backward pass for the batch."""
    tokenizer = AutoTokenizer.from_pretrained(workload.model, padding_side="left")
    tokenizer.chat_template, tokenizer.response_template = CHAT, RESPONSE
    Table.samples, Table.max_turns = workload.samples, workload.max_turns
    rows = [
        {"prompt": [{"role": "user", "content": spaced(sample.prompt)}], "row": row}
        for row, sample in enumerate(workload.samples)
    ]
    with tempfile.TemporaryDirectory() as scratch:
        trainer = Timed(
            model=workload.model,
            reward_funcs=[closing],
            args=GRPOConfig(
                output_dir=scratch,
                use_cpu=True,
                bf16=False,
                gradient_checkpointing=False,
                seed=workload.seed,
                max_steps=workload.iterations,
                shuffle_dataset=False,
                per_device_train_batch_size=workload.batch,
                steps_per_generation=1,
                gradient_accumulation_steps=1,
                num_generations=workload.group,
                max_completion_length=workload.max_tokens,
                max_tool_calling_iterations=workload.max_turns - 1,
                generation_kwargs={"max_new_tokens": workload.max_new_tokens},
                temperature=1.0,
                beta=0.02,
                learning_rate=workload.lr,
                lr_scheduler_type="constant",
                logging_strategy="no",
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
                dataloader_pin_memory=False,
            ),
            train_dataset=Dataset.from_list(rows),
            processing_class=tokenizer,
            environment_factory=Table,
        )
        same_layout(trainer, workload.samples)
        trainer.remove_callback(PrinterCallback)
        trainer.add_callback(Watch(trainer))
        trainer.train()
    return trainer.measured


def closing(completions: list[list[dict[str, Any]]], environments: list[Table], **_: Any) -> list[float]:
    return [
        table._close(said[-1]["content"] if said[-1]["role"] == "assistant" else "")
        for said, table in zip(completions, environments, strict=True)
    ]


def same_layout(trainer: Timed, samples: Sequence[Sample]) -> None:
    """Both sides read the same tokens, at the opening and after a turn."""
    renderer = TagRenderer(trainer.processing_class)
    pairs = [("ask", "user", "The river Lund."), ("wiki", "tool", "1979 was cold."), ("calc", "tool", "12")]
    theirs = [trainer._get_tool_suffix_ids([{"role": "tool", "name": n, "content": spaced(t)}]) for n, _, t in pairs]
    ours = [renderer.reply(by, text) for _, by, text in pairs]
    for sample in samples:
        message = {"role": "user", "content": spaced(sample.prompt)}
        theirs.append(
            trainer.processing_class.apply_chat_template([message], add_generation_prompt=True, return_dict=False)
        )
        ours.append(renderer.opening(sample.prompt))
    for here, there in zip(ours, theirs, strict=True):
        if here != there:
            raise SystemExit(f"TRL reads {there} where we read {here}")
