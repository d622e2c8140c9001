"""The same engine on a GPU: bf16 and fp16, whole models and adapters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from accelerate.state import AcceleratorState

from src.config.train_config import FinetuneSection
from src.engines.models import compile_layers, load_policy, recompute_layers
from src.engines.packed import Learner, pack
from src.engines.pure_pt import PurePT
from src.engines.sft import Demo
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


@pytest.mark.parametrize("method", ["full", "lora"])
def test_compiled_and_recomputed_layers_give_the_gradient_of_plain_ones(taught: Path, method: Any) -> None:
    device = torch.device("cuda")
    rng = np.random.default_rng(0)
    demos = [Demo(rng.integers(0, 20, n).astype(np.int32), np.arange(n) % 3 > 0) for n in (30, 7, 55, 16)]

    def gradient(compile_: bool, recompute: bool, padded: bool) -> torch.Tensor:
        torch.manual_seed(0)
        finetune = FinetuneSection(method=method, rank=4)
        policy = load_policy(str(taught), finetune, ("q_proj", "down_proj"), device, torch.bfloat16)
        for name, weight in policy.named_parameters():
            if "lora_B" in name:
                weight.data.normal_(std=0.1)
        if compile_:
            compile_layers(policy)
        if recompute:
            recompute_layers(policy)
        (stream,) = pack(demos, 10_000, device)
        learner = Learner(policy, None, 1.0, entropy="reported")
        # Without 16 bits there is no flash attention: this is the padded attention of 32 bits.
        with torch.autocast("cuda", torch.bfloat16, enabled=not padded):
            scored = learner(stream) if not padded else Learner(policy.float(), None, 1.0)(stream)
        scored.logp_N.mean().backward()
        return torch.cat([w.grad.flatten().float() for w in policy.parameters() if w.grad is not None])

    exact = gradient(False, False, True)
    for compile_ in (False, True):
        for recompute in (False, True):
            found = gradient(compile_, recompute, False)
            assert float((found - exact).norm() / exact.norm()) < 0.05
