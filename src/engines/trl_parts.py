"""What both trainers of TRL are set up with, whichever it is."""

from __future__ import annotations

from typing import Any

import torch

from ..rollout.attention import Wrapped
from .job import TrainJob


def common_arguments(job: TrainJob, minibatches: int, parts: int, scratch: str) -> dict[str, Any]:
    """TRL logs once a step of ours, and saves nothing: checkpoints, schedule and reports are the engine's.

    `parts` backward passes make one update.
    """
    return {
        "output_dir": scratch,
        "use_cpu": job.device.type == "cpu",
        "seed": job.seed,
        "bf16": job.dtype == torch.bfloat16,
        "fp16": job.dtype == torch.float16,
        "learning_rate": job.update.lr,
        "weight_decay": job.update.weight_decay,
        "max_grad_norm": job.update.max_grad_norm,
        "max_steps": job.max_steps * job.update.epochs * minibatches,
        "gradient_accumulation_steps": parts,
        "gradient_checkpointing": False,
        "disable_dropout": True,
        "logging_strategy": "steps",
        "logging_steps": job.update.epochs * minibatches,
        "logging_nan_inf_filter": False,
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
        "remove_unused_columns": False,
        "dataloader_pin_memory": False,
    }


def tokenizer_for(job: TrainJob) -> Any:
    """TRL wants tokens that end and that fill up; the renderer knows which one ends a turn."""
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(job.model)
    if tokenizer.eos_token_id is None:
        tokenizer.eos_token = tokenizer.convert_ids_to_tokens(min(job.renderer.stop_ids))
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def settle(policy: Any) -> None:
    """Undoes what a trainer did to adapters: a second copy of them as reference, and sixteen bits.

    Adapters begin at zero, so the reference is the model without them; and an update of 1e-5 is lost in sixteen bits.
    """
    adapted: Any = policy if isinstance(policy, Wrapped) else None
    if adapted is not None and "ref" in adapted.peft_config:
        adapted.delete_adapter("ref")
    for weight in policy.parameters():
        if weight.requires_grad:
            weight.data = weight.data.float()
