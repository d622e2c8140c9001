"""The environment for TRL's GRPOTrainer: the actions are tools that the model calls in its own format.

    GRPOTrainer(model, train_dataset=Dataset.from_list(rows()), environment_factory=AskGateTools)

Needs no library itself; TRL reads names, types and docstrings of the methods.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ..env import MAX_TURNS, Env
from ..pool import load_pool
from ..reward import TrainingReward
from ..types import Sample

_OVER = "The conversation is over."


def rows(pool: Path | str | None = None) -> list[dict[str, Any]]:
    """A pool as rows of a dataset: the user's message as the prompt, and the sample for `AskGateTools.reset`."""
    return [
        {"prompt": [{"role": "user", "content": sample.prompt}], "sample": msgspec.json.encode(sample).decode()}
        for sample in load_pool(pool)
    ]


class AskGateTools:
    """One episode at a time, by tool calls. It ends with `answer`, or after `MAX_TURNS` calls."""

    def reset(self, sample: str, **_: Any) -> None:
        self._env = Env(msgspec.json.decode(sample, type=Sample), MAX_TURNS)

    def ask(self, question: str) -> str:
        """Asks the user a clarifying question. Only for information that neither the question nor the wiki has.

        Args:
            question: The question.
        """
        return self._step("ask", question)

    def wiki(self, query: str) -> str:
        """Searches the encyclopedia.

        Args:
            query: Title of an article, or words to search for.
        """
        return self._step("wiki", query)

    def calc(self, expression: str) -> str:
        """Computes an arithmetic expression.

        Args:
            expression: The expression, such as 3 * (4 + 5).
        """
        return self._step("calc", expression)

    def answer(self, text: str) -> str:
        """Gives the final answer. The conversation ends with it.

        Args:
            text: The answer alone: a name, yes or no, or a number.
        """
        return self._step("answer", text)

    def get_reward(self) -> float:
        if self._env.end is None:
            self._env.finish("turns")
        return sum(TrainingReward()(self._env.episode(seed=0), self._env.sample).values())

    def _step(self, tag: str, text: str) -> str:
        if self._env.end is not None:
            return _OVER
        reply = self._env.step(f"<{tag}>{text}</{tag}>")
        return reply.text if reply else _OVER
