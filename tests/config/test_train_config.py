"""A wrong training config is refused in one line with key path and remedy; a right one loads back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from src.config.loader import in_this_version, load_train_config, stored_config, write_effective
from src.core.errors import BadInput

RIGHT: dict[str, Any] = {
    "profile": "local",
    "base_model": "models/tiny",
    "seed_pool": "data/pool.jsonl",
    "shadow_set": "data/shadow.jsonl",
    "steps": 10,
    "seeds": [1],
}
WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "unknown key": ({"learning_rate": 1e-5}, "learning_rate", "no such setting"),
    "unknown key in a section": ({"rollout": {"max_turn": 4}}, "rollout.max_turn", "did you mean rollout.max_turns?"),
    "key in the wrong section": ({"temperature": 0.7}, "temperature", "did you mean rollout.temperature?"),
    "text for a number": ({"lr": "fast"}, "lr", "should be a valid number"),
    "number for a whole number": ({"steps": 10.5}, "steps", "should be a valid integer"),
    "text for a switch": ({"use_overclar_penalty": "yes"}, "use_overclar_penalty", "should be a valid boolean"),
    "one value for a list": ({"seeds": 1}, "seeds", "should be a list"),
    "wrong type in a list": ({"seeds": [1, "2"]}, "seeds.1", "should be a valid integer"),
    "not a number": ({"kl_coef": float("nan")}, "kl_coef", "should be a finite number"),
    "below the range": ({"batch_size": 0}, "batch_size", "greater than or equal to 1"),
    "above the range": ({"reward": {"difficulty_beta": 0.2}}, "reward.difficulty_beta", "less than or equal to 0.1"),
    "between off and on": ({"reward": {"difficulty_beta": 0.01}}, "reward.difficulty_beta", "0.05 to 0.10"),
    "worth without weights": ({"reward": {"dimensions": 0.3}}, "reward.weights", "it is missing"),
    "weights without worth": ({"reward": {"weights": "configs/weights.json"}}, "reward.dimensions", "it is 0"),
    "nothing to judge": (
        {"reward": {"live_share": 0.1}},
        "reward.live_share",
        "judge has nothing to score",
    ),
    "live mode that asks nobody": ({"live_mode": True}, "reward.live_share", "with a share of 0 no judge is called"),
    "a watch that never barks": ({"watch": {"spike": 0.5}}, "watch.spike", "greater than 1"),
    "minutes out of range": ({"checkpoint": {"every_minutes": 5}}, "checkpoint.every_minutes", "or equal to 30"),
    "no such choice": ({"finetune": {"method": "magic"}}, "finetune.method", "'full', 'lora' or 'qlora'"),
    "no such device": ({"device_pref": ["tpu"]}, "device_pref.0", "'cuda', 'mps' or 'cpu'"),
    "shares that do not sum to 1": ({"datasets": {"hotpotqa": 0.4, "gsm8k": 0.5}}, "datasets", "sum to 0.9, not to 1"),
    "unknown task": ({"datasets": {"squad": 1.0}}, "datasets.squad", "hotpotqa"),
    "a level left out": (
        {"priority_sampling": {"by_difficulty": {"easy": 0.5, "hard": 0.5}}},
        "priority_sampling.by_difficulty",
        "it names easy, hard",
    ),
    "schedule that starts late": (
        {"priority_sampling": {"seed_ratio_schedule": [{"step": 5, "ratio": 0.5}]}},
        "priority_sampling.seed_ratio_schedule",
        "begins with step 0",
    ),
    "two ratios": (
        {"priority_sampling": {"seed_ratio": 0.5, "seed_ratio_schedule": [{"step": 0, "ratio": 0.5}]}},
        "priority_sampling.seed_ratio",
        "exclude each other",
    ),
    "targets out of order": (
        {"finetune": {"targets": [{"memory_gb": 8, "modules": ["q_proj"]}]}},
        "finetune.targets",
        "begins with memory_gb 0",
    ),
    "a seed twice": ({"seeds": [7, 7]}, "seeds", "a seed occurs twice"),
    "simulate": ({"simulate": True}, "simulate", "nothing is simulated"),
    "too many local steps": ({"steps": 2001}, "steps", "at most 2000"),
    "two names for the steps": ({"max_steps": 10}, "max_steps", "the same setting"),
    "a control of adapters": (
        {"eval": {"control": True}, "finetune": {"method": "lora"}},
        "eval.control",
        "needs finetune.method: full",
    ),
    "a turn longer than an episode": ({"rollout_len": 4096}, "rollout_len", "do not fit into rollout.max_tokens"),
    "an option that is a list": ({"strategy_options": {"clip": [1]}}, "strategy_options.clip", "a number, a text"),
    "nothing where a text should be": ({"base_model": None}, "base_model", "valid string"),
}


def written(folder: Path, changes: dict[str, Any]) -> Path:
    path = folder / "own.yaml"
    path.write_text(yaml.safe_dump(RIGHT | changes), encoding="utf-8")
    return path


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_config_is_refused_with_key_and_remedy(case: str, tmp_path: Path) -> None:
    changes, key, said = WRONG[case]
    path = written(tmp_path, changes)
    with pytest.raises(BadInput) as refused:
        load_train_config(path)
    message = str(refused.value)
    assert message.startswith(f"{path}: {key}: ")
    assert said in message
    assert "What to do: " in message
    assert "\n" not in message


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump({key: value for key, value in RIGHT.items() if key != "seed_pool"}))
    said = "own.yaml: seed_pool: this setting is missing. What to do: add a line `seed_pool: VALUE`"
    with pytest.raises(BadInput, match=said):
        load_train_config(path)


def test_a_misspelt_key_is_named_before_a_missing_one(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump({("seed_pol" if key == "seed_pool" else key): RIGHT[key] for key in RIGHT}))
    with pytest.raises(BadInput, match=r"own.yaml: seed_pol: no such setting. What to do: did you mean seed_pool"):
        load_train_config(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("steps: [1", r"own.yaml:\d+: not valid YAML"),
        ("steps: 1\nlr: 1.0\nsteps: 2", "own.yaml:3: not valid YAML .steps occurs twice"),
        ("- steps", "own.yaml: not a mapping of settings"),
        ("", "own.yaml: not a mapping of settings"),
    ],
)
def test_a_file_that_is_no_config_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    with pytest.raises(BadInput, match=said):
        load_train_config(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"absent.yaml: cannot be read \(No such file.*\). What to do: check the path"):
        load_train_config(tmp_path / "absent.yaml")


def test_messages_do_not_repeat_wrong_values(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        load_train_config(written(tmp_path, {"batch_size": "sk-secret-123456"}))
    assert "sk-secret" not in str(refused.value)


@pytest.mark.parametrize("number", ["1e-5", "1.0e-5", "0.00001", "1E-5"])
def test_a_small_number_may_use_scientific_notation(number: str, tmp_path: Path) -> None:
    path = written(tmp_path, {})
    path.write_text(f"{path.read_text()}\nlr: {number}\n")
    assert load_train_config(path).lr == 1e-5


def test_the_effective_config_loads_as_the_same_config(tmp_path: Path) -> None:
    config = load_train_config(written(tmp_path, {"lr": 3e-5}))
    effective = tmp_path / "reports" / "config_effective.yaml"
    write_effective(config, effective)
    shown = yaml.safe_load(effective.read_text())
    assert set(shown) == set(type(config).model_fields)
    assert shown["rollout"]["max_turns"] == config.rollout.max_turns
    assert load_train_config(effective) == config


def test_several_seeds_have_a_folder_each(tmp_path: Path) -> None:
    one, two = load_train_config(written(tmp_path, {})), load_train_config(written(tmp_path, {"seeds": [1, 2]}))
    assert one.checkpoints(1) == Path("checkpoints/local")
    assert two.checkpoints(2) == Path("checkpoints/local/seed_2")


def test_another_versions_stored_config_is_refused_with_its_key() -> None:
    settings = load_train_config(Path("configs/quickstart.yaml")).model_dump(mode="json")
    assert stored_config(settings, "final_model").steps == settings["steps"]
    settings["optimizer"]["dropped"] = True
    with pytest.raises(BadInput, match=r"final_model: was trained by a version .* \(optimizer\.dropped\)"):
        stored_config(settings, "final_model")


def test_stored_settings_are_compared_without_dropped_and_new_ones() -> None:
    config = load_train_config(Path("configs/quickstart_full.yaml"))
    settings = config.model_dump(mode="json")
    older = settings | {"demo_loss": None, "optimizer": settings["optimizer"] | {"dropped": True}}
    del older["optimizer"]["epochs"]
    assert in_this_version(config, older) == settings
    other = older | {"optimizer": older["optimizer"] | {"minibatches": 7}, "strategy_options": {"group_size": 2}}
    found = in_this_version(config, other)
    assert {key for key in settings if found[key] != settings[key]} == {"optimizer", "strategy_options"}
