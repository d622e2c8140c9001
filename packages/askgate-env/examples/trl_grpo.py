"""Trains a model with TRL's GRPOTrainer, tools and reward by the environment: `python trl_grpo.py Qwen/Qwen3-0.6B`."""

import sys

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from askgate_env.adapters.trl_tools import AskGateTools, rows

config = GRPOConfig("askgate-grpo", num_generations=8, per_device_train_batch_size=8, max_completion_length=1024)
trainer = GRPOTrainer(
    sys.argv[1], args=config, train_dataset=Dataset.from_list(rows()), environment_factory=AskGateTools
)
trainer.train()
