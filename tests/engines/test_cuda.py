"""The same engine on a GPU: bf16 and fp16, whole models and adapters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
import torch
from accelerate.state import AcceleratorState

from src.config.train_config import FinetuneSection
from src.engines.pure_pt import PurePT
from src.strategies.ppo import PPO
from tests.engines.toy import fingerprint, make_job

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no CUDA device")


@pytest.mark.parametrize("method", ["full", "lora"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32], ids=str)
def test_steps_save_and_resume(
    taught: Path, tmp_path: Path, dtype: torch.dtype, method: Literal["full", "lora"]
) -> None:
    def made() -> PurePT:
        AcceleratorState._reset_state(reset_partial_state=True)
        job: Any = make_job(taught, PPO(), steps=4, batch=32, lr=1e-3, pack_tokens=128, critic_warmup_steps=1)
        return PurePT(
            replace(job, device=torch.device("cuda"), dtype=dtype, finetune=FinetuneSection(method=method, rank=4))
        )

    engine = made()
    before = fingerprint(engine.learner)
    for _ in range(3):
        metrics = engine.take_step().metrics
        assert metrics["logp_gap"] < (1e-4 if dtype == torch.float32 else 0.05)
        assert metrics["memory/peak_mb"] > 0
    assert fingerprint(engine.learner) != before
    assert {weight.device.type for weight in engine.learner.parameters()} == {"cuda"}
    engine.save(tmp_path)
    again = made()
    again.load(tmp_path)
    assert fingerprint(again.learner) == fingerprint(engine.learner)
    assert again.take_step().step == 4
