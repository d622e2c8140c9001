"""A strategy is named in the config: a built-in one by its name, a user's by its import path."""

from __future__ import annotations

from pathlib import Path

import pytest

from src.core.errors import BadInput
from src.strategies.dpo import DPO
from src.strategies.grpo import GRPO
from src.strategies.ppo import PPO
from src.training.components import load_strategy


@pytest.mark.parametrize(("name", "kind", "size"), [("ppo", PPO, 1), ("grpo", GRPO, 8), ("dpo", DPO, 4)])
def test_built_in_names(name: str, kind: type, size: int) -> None:
    strategy = load_strategy(name, {})
    assert isinstance(strategy, kind)
    assert strategy.group_size == size


def test_options_arrive() -> None:
    ppo = load_strategy("ppo", {"clip": 0.1, "kl_coef": 0.5})
    assert isinstance(ppo, PPO)
    assert ppo.clip == 0.1
    assert ppo.metrics()["kl_coef"] == 0.5


def test_an_unknown_name_is_refused_with_the_names_that_exist() -> None:
    with pytest.raises(BadInput, match=r"unknown strategy 'reinforce'.*ppo, grpo, dpo"):
        load_strategy("reinforce", {})


def test_an_unknown_option_is_refused_by_name() -> None:
    with pytest.raises(BadInput, match=r"grpo has no option 'klcoef'.*kl_coef"):
        load_strategy("grpo", {"klcoef": 0.1})


@pytest.mark.parametrize(
    ("name", "options", "key"),
    [
        ("ppo", {"clip": 0.0}, "clip"),
        ("ppo", {"gamma": 1.5}, "gamma"),
        ("ppo", {"lam": float("nan")}, "lam"),
        ("grpo", {"group_size": 1}, "group_size"),
        ("dpo", {"beta": -1.0}, "beta"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(name: str, options: dict[str, float], key: str) -> None:
    with pytest.raises(BadInput, match=rf"^{key}: .* out of range"):
        load_strategy(name, options)


def test_a_value_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(BadInput, match=r"clip: .a lot. is not of type float"):
        load_strategy("ppo", {"clip": "a lot"})


OWN = """
from src.strategies.grpo import GRPO

class Mine(GRPO):
    def __init__(self, taste=1):
        super().__init__(group_size=2)
        self.taste = taste

class NotOne:
    pass
"""


def test_a_class_in_a_users_file_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_strategies.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    assert vars(load_strategy("my_strategies:Mine", {"taste": 3}))["taste"] == 3
    with pytest.raises(BadInput, match="NotOne is not a strategy: it lacks targets, loss"):
        load_strategy("my_strategies:NotOne", {})
    with pytest.raises(BadInput, match="my_strategies has no class 'Other'"):
        load_strategy("my_strategies:Other", {})
    with pytest.raises(BadInput, match="No module named 'no_such_file'"):
        load_strategy("no_such_file:Mine", {})


@pytest.mark.parametrize(("key", "value"), [("group_size", 7.9), ("divide_by_std", "no"), ("group_size", True)])
def test_options_must_have_the_annotated_type(key: str, value: object) -> None:
    with pytest.raises(BadInput, match="is no") as refusal:
        load_strategy("grpo", {key: value})
    assert refusal.value.where == f"strategy_options.{key}"
    assert load_strategy("grpo", {"kl_coef": 1, "target_kl": None}).group_size == 8
