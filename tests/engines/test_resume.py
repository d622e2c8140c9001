"""An interrupted and resumed run ends with the same bits as an uninterrupted one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from src import __version__
from src.config.train_config import FinetuneSection
from src.core.errors import BadInput
from src.engines.pure_pt import PurePT
from src.strategies.dpo import DPO
from src.strategies.grpo import GRPO
from src.strategies.ppo import PPO
from tests.engines.toy import fingerprint, make_job
from tests.reproducible_metrics import reproducible_metrics

MAKE: dict[str, Any] = {"ppo": PPO, "grpo": lambda: GRPO(group_size=4), "dpo": lambda: DPO(group_size=4)}
SETTINGS: dict[str, Any] = {"lr": 1e-3, "epochs": 2, "minibatches": 2, "warmup_steps": 1, "schedule": "linear"}


def engine(taught: Path, name: str, method: Any = "full", seed: int = 7) -> PurePT:
    job = make_job(taught, MAKE[name](), seed=seed, steps=4, batch=16, **SETTINGS)
    finetune = FinetuneSection(method=method, rank=4, alpha=8.0)
    return PurePT(replace(job, finetune=finetune, lora_targets=("q_proj", "v_proj")))


def steps(one: PurePT, count: int) -> list[dict[str, float]]:
    return [reproducible_metrics(one.take_step().metrics) for _ in range(count)]


@pytest.mark.parametrize(("name", "method"), [("ppo", "full"), ("ppo", "lora"), ("grpo", "full"), ("dpo", "full")])
def test_two_steps_save_load_two_steps_are_four_steps(taught: Path, tmp_path: Path, name: str, method: str) -> None:
    whole = engine(taught, name, method)
    wanted = steps(whole, 4)

    first = engine(taught, name, method)
    begun = steps(first, 2)
    first.save(tmp_path)
    torch.manual_seed(99)
    second = engine(taught, name, method)
    second.load(tmp_path)
    assert second.step == 2
    assert begun + steps(second, 2) == wanted
    assert fingerprint(second.learner) == fingerprint(whole.learner)
    assert fingerprint(whole.learner) != fingerprint(first.learner)


def test_a_checkpoint_holds_only_tensors_and_json(taught: Path, tmp_path: Path) -> None:
    one = engine(taught, "ppo")
    steps(one, 1)
    one.save(tmp_path)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".safetensors"]
    (plain,) = tmp_path.glob("*.json")
    assert json.loads(plain.read_text())["step"] == 1


def test_a_checkpoint_of_another_model_is_refused_by_name(taught: Path, tmp_path: Path) -> None:
    engine(taught, "ppo", "lora").save(tmp_path)
    with pytest.raises(BadInput, match="weights"):
        engine(taught, "ppo", "full").load(tmp_path)


@pytest.mark.parametrize(
    ("version", "message"),
    [("0.0.9", "saved by 0.0.9"), (None, "a version that did not write its number into checkpoints")],
)
def test_an_incomplete_checkpoint_is_refused_with_its_version(
    taught: Path, tmp_path: Path, version: str | None, message: str
) -> None:
    engine(taught, "ppo").save(tmp_path)
    plain = json.loads((tmp_path / "state.json").read_text())
    assert plain["version"] == __version__
    del plain["tokens_seen"], plain["version"]
    (tmp_path / "state.json").write_text(json.dumps(plain | ({"version": version} if version else {})))
    fresh = engine(taught, "ppo")
    before = fingerprint(fresh.learner)
    with pytest.raises(BadInput, match=r"has no tokens_seen.*resume with the version that saved it") as refused:
        fresh.load(tmp_path)
    assert message in str(refused.value)
    assert f"this is {__version__}" in str(refused.value)
    assert (fresh.step, fingerprint(fresh.learner)) == (0, before)


def test_the_saved_policy_is_read_by_transformers(taught: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    for method in ("full", "lora"):
        one = engine(taught, "ppo", method)
        steps(one, 2)
        one.save_model(tmp_path / method)
        again = AutoModelForCausalLM.from_pretrained(tmp_path / method).eval()
        ids = torch.tensor([[1, 2, 3, 4]])
        with torch.no_grad():
            assert torch.allclose(again(ids).logits, one.policy(input_ids=ids).logits, atol=1e-6)
        assert AutoTokenizer.from_pretrained(tmp_path / method).encode("<ask>") != []


def test_another_seed_is_another_run(taught: Path) -> None:
    assert steps(engine(taught, "ppo", seed=1), 1) != steps(engine(taught, "ppo", seed=2), 1)
