"""`extends:` in config files and `--set` on the command line: how they merge, and which uses are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from src.config.loader import config_files, config_fingerprint, load_train_config, read_yaml
from src.config.profile import load_profile
from src.core.errors import BadInput
from src.loop.stage import fingerprints
from src.loop.stages import stages_of
from tests.conftest import Askgate

BASE: dict[str, Any] = {
    "profile": "local",
    "base_model": "models/tiny",
    "seed_pool": "data/pool.jsonl",
    "shadow_set": "data/shadow.jsonl",
    "steps": 10,
    "seeds": [1, 2],
    "rollout": {"max_turns": 4, "slots": 8},
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write("base.yaml", BASE)
    return tmp_path


def write(name: str, content: Any) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def test_mappings_merge_and_everything_else_replaces(place: Path) -> None:
    found = load_train_config(write("own.yaml", {"extends": "base.yaml", "seeds": [7], "rollout": {"slots": 16}}))
    assert (found.seeds, found.steps) == ((7,), 10)
    assert (found.rollout.max_turns, found.rollout.slots) == (4, 16)


def test_null_resets_a_section_to_its_default(place: Path) -> None:
    write("base.yaml", {**BASE, "build": {"n": 5}})
    assert load_train_config(write("own.yaml", {"extends": "base.yaml", "build": None})).build is None


def test_paths_are_relative_to_the_file_that_extends(place: Path) -> None:
    write("sub/middle.yaml", {"extends": "../base.yaml", "steps": 11})
    own = write("own.yaml", {"extends": "sub/middle.yaml"})
    assert load_train_config(own).steps == 11
    assert config_files(own) == [Path("own.yaml"), Path("sub/middle.yaml"), Path("base.yaml")]


def test_a_shipped_config_can_be_extended_from_anywhere(place: Path) -> None:
    own = write("own.yaml", {"extends": "configs/quickstart.yaml", "steps": 3})
    assert load_train_config(own) == load_train_config(Path("configs/quickstart.yaml"), ["steps=3"])


@pytest.mark.parametrize(
    ("extends", "reason"),
    [
        pytest.param("absent.yaml", "own.yaml: extends: there is no absent.yaml", id="missing file"),
        pytest.param("own.yaml", "own.yaml: extends: own.yaml extends this file in turn", id="itself"),
        pytest.param("loop.yaml", "loop.yaml: extends: own.yaml extends this file in turn", id="cycle"),
        pytest.param("list.yaml", "own.yaml: extends: list.yaml has no settings", id="no settings"),
        pytest.param(["base.yaml"], "own.yaml: extends: it is not the name of a file", id="not a name"),
        pytest.param("", "own.yaml: extends: it is not the name of a file", id="empty name"),
        pytest.param("wrong.yaml", "wrong.yaml: rollout.max_turn: no such setting", id="unknown key in the parent"),
    ],
)
def test_a_wrong_extends_is_refused_with_its_place(place: Path, extends: Any, reason: str) -> None:
    write("loop.yaml", {"extends": "own.yaml"})
    write("list.yaml", [1])
    write("wrong.yaml", {**BASE, "rollout": {"max_turn": 4}})
    own = write("own.yaml", {"extends": extends})
    with pytest.raises(BadInput) as refused:
        load_train_config(own)
    assert str(refused.value).startswith(reason)
    assert refused.value.remedy


def test_profiles_extend_too(place: Path) -> None:
    shipped = load_profile("quickstart")
    write("configs/gates/house.yaml", read_yaml(Path("configs/gates/quickstart.yaml")))
    write("configs/gates/quickstart.yaml", {"extends": "house.yaml", "sizes": {"fresh": 9}})
    found = load_profile("quickstart")
    assert found.sizes.fresh == 9
    assert found.model_copy(update={"sizes": shipped.sizes}) == shipped


def test_the_owners_edits_of_rc1_leave_quickstart_unchanged(place: Path) -> None:
    shipped, owners = load_profile("quickstart"), read_yaml(Path("configs/gates/rc1.yaml"))
    owners["owner_key"], owners["sizes"]["probe"] = "owner.pub", 99
    owners["thresholds"]["counts"]["ablation_seeds"] = 3
    write("configs/gates/rc1.yaml", owners)
    assert load_profile("rc1").owner_key == Path("owner.pub")
    assert load_profile("quickstart") == shipped


def test_a_message_names_the_file_that_has_the_setting(place: Path) -> None:
    write("middle.yaml", {"extends": "base.yaml", "steps": 0, "seeds": [1, "x"]})
    own = write("own.yaml", {"extends": "middle.yaml"})
    with pytest.raises(BadInput, match=r"^middle.yaml: steps: it should be greater"):
        load_train_config(own)
    with pytest.raises(BadInput, match=r"^middle.yaml: seeds.1: it should be"):
        load_train_config(own, ["steps=1"])
    write("own.yaml", {"extends": "middle.yaml", "steps": None})
    with pytest.raises(BadInput, match=r"^own.yaml: steps: it should be"):
        load_train_config(own)


def test_a_missing_setting_names_an_existing_file_and_the_value(place: Path) -> None:
    """The user has rc1.yaml of an earlier version; the quickstart.yaml that extends it is the package's."""
    owners = read_yaml(Path("configs/gates/rc1.yaml"))
    del owners["thresholds"]["need_ask_pp_min"]
    write("configs/gates/rc1.yaml", owners)
    said = "configs/gates/rc1.yaml: thresholds.need_ask_pp_min: this setting is missing. What to do: add a line "
    for name in ("quickstart", "rc1"):
        with pytest.raises(BadInput) as refused:
            load_profile(name)
        assert str(refused.value).startswith(f"{said}`need_ask_pp_min: 5.0`")


def test_the_fingerprint_changes_with_an_extended_file(place: Path) -> None:
    own = write("own.yaml", {"extends": "base.yaml"})
    before = config_fingerprint(own)
    write("base.yaml", {**BASE, "steps": 11})
    assert config_fingerprint(own) != before


def test_stages_notice_a_change_of_an_extended_file(place: Path) -> None:
    train = {stage.name: stage for stage in stages_of(load_profile("quickstart"))}["train"]
    before = fingerprints(train.inputs)
    write("configs/quickstart.yaml", {**read_yaml(Path("configs/quickstart.yaml")), "lr": 0.1})
    assert [path for path, now in fingerprints(train.inputs).items() if now != before[path]] == [
        "configs/quickstart.yaml"
    ]


@pytest.mark.parametrize("name", ["calibration", "shadow", "ablation", "round1", "round2", "train", "evaluation"])
def test_stages_notice_a_changed_threshold(place: Path, name: str) -> None:
    profile = read_yaml(Path("configs/gates/rc1.yaml"))
    for loop in ("rc1", "quickstart"):  # quickstart extends rc1
        stage = {stage.name: stage for stage in stages_of(load_profile(loop))}[name]
        before = fingerprints(stage.inputs)
        profile["thresholds"]["hard_pp_min"] += 1
        write("configs/gates/rc1.yaml", profile)
        assert [path for path, now in fingerprints(stage.inputs).items() if now != before[path]] == [
            "configs/gates/rc1.yaml"
        ]


@pytest.mark.parametrize("name", ["round1", "round2"])
def test_rounds_notice_a_changed_trial_config(place: Path, name: str) -> None:
    for loop in ("rc1", "quickstart"):
        profile = load_profile(loop)
        stage = {stage.name: stage for stage in stages_of(profile)}[name]
        before = fingerprints(stage.inputs)
        trial = profile.paths.trial
        assert trial is not None
        assert len(before) == len(stage.inputs)  # each file is compared once
        write(str(trial), {**read_yaml(trial), "target_kl": 0.5})
        assert [path for path, now in fingerprints(stage.inputs).items() if now != before[path]] == [str(trial)]


def test_set_overrides_single_settings(place: Path) -> None:
    given = [
        "optimizer.critic_lr=1e-4",
        "seeds=[5]",
        "reward.weights=w.json",
        "reward.dimensions=0.5",
        "precision=bf16",
    ]
    found = load_train_config(Path("base.yaml"), given)
    assert (found.optimizer.critic_lr, found.seeds) == (1e-4, (5,))
    assert found.reward.weights == Path("w.json")
    assert found.rollout.max_turns == 4


def test_the_last_of_two_overrides_counts(place: Path) -> None:
    assert load_train_config(Path("base.yaml"), ["steps=3", "steps=4"]).steps == 4


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param("optimizer.lr=1", "--set optimizer.lr: no such setting", id="unknown key"),
        pytest.param("stepps=1", "--set stepps: no such setting", id="unknown key at the top"),
        pytest.param("steps=many", "--set steps: it should be a valid integer", id="wrong type"),
        pytest.param("lr.x=1", "--set lr.x: it should be a valid number", id="a key below a number"),
        pytest.param(
            "finetune=lora",
            "--set finetune: it is a section, not a value. What to do: set finetune.method=lora",
            id="section",
        ),
        pytest.param(
            "checkpoint.every_minutes=1",
            "--set checkpoint.every_minutes: it should be greater than or equal to 30 and less than or equal to 60",
            id="both ends of a range",
        ),
        pytest.param("simulate=true", "--set simulate: it must be false", id="simulate"),
        pytest.param("extends=base.yaml", "--set extends: no such setting", id="extends"),
        pytest.param("steps", "--set: it is not KEY=VALUE", id="no value"),
        pytest.param("=3", "--set: it is not KEY=VALUE", id="no key"),
        pytest.param("seeds=[1", "--set seeds: the value is not valid YAML", id="not YAML"),
    ],
)
def test_an_unknown_override_is_refused_with_its_key(place: Path, given: str, reason: str) -> None:
    with pytest.raises(BadInput) as refused:
        load_train_config(Path("base.yaml"), [given])
    assert str(refused.value).startswith(reason)
    assert refused.value.remedy


def test_a_refused_override_is_reported_without_its_value(place: Path) -> None:
    with pytest.raises(BadInput) as refused:
        load_train_config(Path("base.yaml"), ["steps=sk-secret-123456"])
    assert "sk-secret" not in str(refused.value)


def test_train_refuses_an_unknown_setting_before_anything_is_written(place: Path, askgate: Askgate) -> None:
    done = askgate("train", "--config", "base.yaml", "--set", "optimizer.lr=1e-4")
    assert done.code == 2
    assert "--set optimizer.lr: no such setting" in done.err
    assert [path.name for path in place.iterdir()] == ["base.yaml"]
