"""The shipped training configs pass the checks of the work orders, word for word, and our own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from src.config.loader import load_train_config
from src.config.train_config import TrainConfig
from src.runtime.device import DTYPES

ROOT = Path(__file__).resolve().parents[2]

RC1_SECTION_4 = """
import yaml,sys
cfg=yaml.safe_load(open("configs/ppo_scale.yaml"))
assert cfg.get("simulate",False)==False, "simulate 应为 false"
assert cfg.get("live_mode",True)==True, "live_mode 应为 true"
assert cfg.get("datasets")=={'hotpotqa':0.45,'strategyqa':0.30,'gsm8k':0.25}, "数据配比不一致"
assert cfg.get("steps",0)>=50000, "steps<50k"
kl=cfg.get("target_kl",0.03); assert 0.02<=kl<=0.05, "target_kl 异常"
seeds=cfg.get("seeds",[20250820,20250821,20250822]); assert len(seeds)>=3, "seeds<3"
ft=cfg.get("finetune",{}); assert ft.get("method")=="qlora", "建议使用QLoRA"
print("PPO_CFG_OK")
"""
GREPS = ("use_overclar_penalty: true", 'seed_pool: "data/rollouts/rc1_seed.balanced.jsonl"')
CONFIG_PATCH = """
simulate: false
live_mode: true
base_model: "Qwen/Qwen3-4B-Thinking-2507"
seed_pool: "data/rollouts/rc1_seed.balanced.jsonl"
priority_sampling:
  enable: true
  by_difficulty: {easy: 0.2, medium: 0.4, hard: 0.4}
  low_perf_cap: 0.30
  seed_ratio_schedule:
    - {step: 0, ratio: 0.50}
    - {step: 20000, ratio: 0.35}
    - {step: 40000, ratio: 0.20}
use_overclar_penalty: true
target_kl: 0.02  # 可在 0.02~0.05 之间微调
steps: 50000     # < 50k 拒绝开跑
seeds: [20250820, 20250821, 20250822]
finetune:
  method: qlora
"""


def plain(name: str) -> dict[str, Any]:
    """The config as the work order's scripts read it."""
    found: dict[str, Any] = yaml.safe_load((ROOT / "configs" / f"{name}.yaml").read_text(encoding="utf-8"))
    return found


def loaded(name: str) -> TrainConfig:
    return load_train_config(ROOT / "configs" / f"{name}.yaml")


def test_the_work_orders_script_accepts_ppo_scale() -> None:
    done = subprocess.run([sys.executable, "-c", RC1_SECTION_4], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "PPO_CFG_OK", done.stderr


@pytest.mark.parametrize("line", GREPS)
def test_the_work_orders_greps_find_their_lines(line: str) -> None:
    done = subprocess.run(["grep", "-q", line, "configs/ppo_scale.yaml"], cwd=ROOT, timeout=60)
    assert done.returncode == 0


def test_ppo_scale_has_every_line_of_the_work_orders_patch() -> None:
    found = plain("ppo_scale")
    for key, value in yaml.safe_load(CONFIG_PATCH).items():
        assert found[key] == value, key


def test_ppo_trial_has_the_plans_hyperparameters() -> None:
    found = plain("ppo_trial")
    asked = {"steps": 5000, "lr": 1e-5, "clip": 0.2, "kl_coef": 0.02, "batch_size": 32, "rollout_len": 128}
    assert {key: found[key] for key in asked} == asked


def test_train_local_is_the_local_orchestrators() -> None:
    found = plain("train_local")
    asked = {"base_model": "Qwen/Qwen3-4B-Thinking-2507", "max_steps": 2000}
    assert {key: found[key] for key in asked} == asked
    # CUDA first where there is one, else the order of the plan; `auto` is fp16 on mps.
    assert found["device_pref"] == ["cuda", "mps", "cpu"]
    assert found["precision"] == "auto"
    assert DTYPES["mps"] is torch.float16
    assert loaded("train_local").steps == 2000


def test_quickstart_is_a_local_run_of_the_embedded_base() -> None:
    config = loaded("quickstart")
    assert (config.profile, config.base_model) == ("local", "models/tiny")
    assert config.build is not None


def test_gated_quickstart_changes_only_pool_reward_and_control() -> None:
    quick, gated = loaded("quickstart"), loaded("quickstart_gated")
    assert gated.reward.weights == Path("configs/weights.json")
    assert gated.seed_pool == Path("data/rollouts/quickstart.balanced.jsonl")
    assert (gated.eval.control, quick.eval.control) == (False, True)
    alike = {"seed_pool": quick.seed_pool, "build": quick.build, "reward": quick.reward, "eval": quick.eval}
    assert gated.model_copy(update=alike) == quick
    assert gated.eval.model_copy(update={"control": True}) == quick.eval


def test_full_quickstart_changes_only_strategy_sizes_and_control() -> None:
    quick, full = loaded("quickstart_gated"), loaded("quickstart_full")
    assert (len(full.seeds), full.eval.control, quick.eval.control) == (3, True, False)
    assert quick.seeds[0] == full.seeds[0]
    looks = {"control": False, "every_steps": quick.eval.every_steps, "n": quick.eval.n}
    sizes = {name: getattr(quick, name) for name in ("seeds", "warm_start", "steps", "batch_size", "rollout", "lr")}
    sizes |= {name: getattr(quick, name) for name in ("strategy", "strategy_options")}
    share = quick.priority_sampling.need_ask_share
    drawn = {"priority_sampling": full.priority_sampling.model_copy(update={"need_ask_share": share})}
    assert full.model_copy(update=sizes | drawn | {"eval": full.eval.model_copy(update=looks)}) == quick
    assert full.rollout == quick.rollout.model_copy(update={"slots": full.batch_size})


def test_quickstart_ablation_halves_the_batch() -> None:
    quick, ablated = loaded("quickstart"), loaded("quickstart_ablation")
    assert ablated.reward == quick.reward
    assert not ablated.eval.control
    assert ablated == quick.model_copy(
        update={
            "batch_size": quick.batch_size // 2,
            "rollout": quick.rollout.model_copy(update={"slots": ablated.rollout.slots}),
            "lr": 2 * quick.lr,
            "warm_start": None,
            "priority_sampling": quick.priority_sampling.model_copy(update={"need_ask_share": None}),
            "optimizer": quick.optimizer.model_copy(update={"critic_warmup_steps": 3}),
            **{key: getattr(ablated, key) for key in ("steps", "checkpoint", "eval")},
        }
    )


LOCAL = ["train_local", "quickstart", "quickstart_gated", "quickstart_full", "quickstart_ablation"]


@pytest.mark.parametrize("name", [*LOCAL, "ppo_trial", "ppo_scale"])
def test_gated_runs_are_not_local_and_local_ones_are(name: str) -> None:
    assert loaded(name).profile == ("rc1" if name.startswith("ppo_") else "local")


def test_seed_ratio_follows_its_schedule() -> None:
    sampling = loaded("ppo_scale").priority_sampling
    steps = (0, 19_999, 20_000, 39_999, 40_000, 49_999)
    assert [sampling.ratio(step) for step in steps] == [0.50, 0.50, 0.35, 0.35, 0.20, 0.20]
