"""Poisons for the penalty and for the episodes of its ablation."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
import yaml
from msgspec.structs import replace

from askgate_env.types import Episode, Sample
from src.config.loader import read_yaml
from src.core.errors import BadInput
from src.core.files import shipped
from src.core.jsonl import read_records, write_records
from src.gates.checks import penalty
from src.gates.checks.penalty import read_pairs
from tests.gates.run_folder import ablation, current_context, edit_profile, write_side
from tests.gates.scripted_policy import ask_first, run_episode

from .forged_run import caught
from .table import poison


@poison("penalty/penalty_cases_wrong")
def test_a_penalty_that_also_costs_needed_asks(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(penalty, "over_clarification_penalty", lambda needs, asks: 0.07 * min(asks, 3))
    assert caught("penalty") == {"penalty_cases_wrong"}


@poison("penalty/penalty_cases_wrong")
def test_a_penalty_without_a_cap(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(penalty, "over_clarification_penalty", lambda needs, asks: 0.0 if needs else 0.07 * asks)
    assert caught("penalty") == {"penalty_cases_wrong"}


ARM = Path("data/episodes/quickstart_ablation/seed_20250820")


def shadow_samples() -> list[Sample]:
    return list(read_records(current_context().profile.paths.shadow_set, Sample))


def act_out(name: str, **habits: Any) -> None:
    random, samples = Random(11), shadow_samples()
    episodes = [ask_first(sample, random, **habits) for sample in samples]
    write_side(current_context().profile, name, episodes, samples)


@poison("ablation/overclar_change_pct")
def test_a_penalty_that_changes_nothing(run: Path) -> None:
    ablation(current_context().profile, shadow_samples(), needless=0.5)
    assert caught("ablation") == {"overclar_change_pct"}


@poison("ablation/turns_change")
def test_a_penalty_that_makes_dialogues_longer(run: Path) -> None:
    """Needless asks are rarer, but come three at a time."""
    act_out("with", needless=0.3, asks=4)
    assert "turns_change" in caught("ablation")


@poison("ablation/success_drop_points")
def test_a_penalty_that_costs_success(run: Path) -> None:
    random, samples = Random(11), shadow_samples()
    lazy = [
        run_episode(sample, ["<answer>no idea</answer>"], random) if place % 3 == 0 else ask_first(sample, random, 0.1)
        for place, sample in enumerate(samples)
    ]
    write_side(current_context().profile, "with", lazy, samples)
    assert "success_drop_points" in caught("ablation")


@poison("ablation/episodes_not_played")
def test_asks_that_were_cut_out_of_the_record(run: Path) -> None:
    rows = [msgspec.json.decode(line) for line in (ARM / "with.jsonl").read_bytes().splitlines()]
    for row in rows:
        row["turns"] = [turn for turn in row["turns"] if turn["act"] != "ask"]
    with open(ARM / "with.jsonl", "wb") as handle:
        write_records(handle, rows)
    assert "episodes_not_played" in caught("ablation")


@poison("ablation/runs_not_sealed")
def test_both_runs_written_by_a_script(run: Path) -> None:
    """The script plays the environment correctly and has nothing else."""
    for name, share in (("without", 0.5), ("with", 0.1)):
        (ARM / f"{name}.seal.json").unlink()
        random = Random(11)
        with open(ARM / f"{name}.jsonl", "wb") as handle:
            write_records(handle, [ask_first(sample, random, share) for sample in shadow_samples()])
    assert caught("ablation") == {"runs_not_sealed", "episodes_not_played"}


@poison("ablation/episodes_not_played")
def test_a_script_that_kept_the_seals_of_other_runs(run: Path) -> None:
    """It does not compute the rewards."""
    played = list(read_records(ARM / "with.jsonl", Episode))
    with open(ARM / "with.jsonl", "wb") as handle:
        write_records(handle, [replace(one, reward={}) for one in played])
    assert caught("ablation") == {"episodes_not_played"}


def change_seal(name: str, change: Callable[[dict[str, Any]], object]) -> None:
    seal = ARM / f"{name}.seal.json"
    found = msgspec.json.decode(seal.read_bytes())
    change(found)
    seal.write_bytes(msgspec.json.encode(found))


@pytest.mark.parametrize(
    "change",
    [
        lambda seal: seal["marks"]["config"].update(lr=1e-9),
        lambda seal: seal["marks"]["config"].update(steps=1),
        lambda seal: seal["marks"]["config"].update(invented=1),
        lambda seal: seal["marks"]["config"]["reward"].update(alpha=0.5),
        lambda seal: seal["marks"]["sources"].update(base_model="0" * 64),
        lambda seal: seal["marks"]["sources"].update(shadow_set="0" * 64),
        lambda seal: seal.update(step=3),
    ],
    ids=["rate", "steps", "version", "penalty", "base", "samples", "unfinished"],
)
@pytest.mark.parametrize("name", ["without", "with"])
@poison("ablation/runs_not_sealed")
def test_a_run_with_other_settings_or_files(run: Path, name: str, change: Callable[[dict[str, Any]], object]) -> None:
    change_seal(name, change)
    assert "runs_not_sealed" in caught("ablation")


ABLATION = Path("configs/quickstart_ablation.yaml")


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"base_model": "asker"}, "runs_not_sealed"),
        ({"seed_pool": "data/own.jsonl"}, "runs_not_sealed"),
        ({"eval": {"user": "llm"}}, "episodes_not_played"),
    ],
    ids=["a model made for it", "a pool that no gate saw", "a user whose words nobody can derive"],
)
@poison("ablation/runs_not_sealed", "ablation/episodes_not_played")
def test_an_ablation_of_something_else(run: Path, config: dict[str, Any], named: str) -> None:
    """Honest runs, honestly sealed, but not of this model, data and environment."""
    shutil.copytree("model", "asker")
    Path("asker/model.safetensors").write_bytes(b"a model that asks all the time")
    for name in ("jsonl", "meta.json"):
        shutil.copy(f"data/rollouts/quickstart.{name}", f"data/own.{name}")
    own = read_yaml(shipped(ABLATION)) | {"base_model": "model"} | config
    ABLATION.write_text(yaml.safe_dump(own), encoding="utf-8")
    ablation(current_context().profile, shadow_samples())
    assert caught("ablation") == {named}


@poison("ablation/runs_not_sealed")
def test_a_seed_that_was_left_out(run: Path) -> None:
    for name in ("without", "with"):
        change_seal(name, lambda seal: seal["marks"]["config"].update(seeds=[20250820, 20250821]))
    assert "runs_not_sealed" in caught("ablation")


@pytest.mark.parametrize("smaller", [{"steps": 1}, {"eval": {"n": 12}}], ids=["steps", "samples"])
@poison("ablation/runs_not_sealed")
def test_both_runs_of_a_too_small_ablation(run: Path, smaller: dict[str, Any]) -> None:
    def shrink(seal: dict[str, Any]) -> None:
        config = seal["marks"]["config"]
        config.update({key: config[key] | one if isinstance(one, dict) else one for key, one in smaller.items()})
        seal["step"] = config["steps"]

    for name in ("without", "with"):
        change_seal(name, shrink)
    assert caught("ablation") == {"runs_not_sealed"}


@poison("ablation/runs_not_sealed", "ablation/episodes_not_played")
def test_an_ablation_with_a_seed_of_its_own_choice(run: Path) -> None:
    for name in ("without", "with"):
        change_seal(name, lambda seal: seal["marks"]["config"].update(seeds=[7]))
    ARM.rename(ARM.with_name("seed_7"))
    assert caught("ablation") == {"runs_not_sealed", "episodes_not_played"}


@poison("ablation/runs_on_other_samples", "ablation/ablation_episodes")
def test_an_ablation_run_without_its_hard_samples(run: Path) -> None:
    kept = (ARM / "with.jsonl").read_bytes().splitlines(keepends=True)[:-10]
    (ARM / "with.jsonl").write_bytes(b"".join(kept))
    assert {"runs_on_other_samples", "ablation_episodes"} <= caught("ablation")


@poison("ablation/samples_chosen_by_hand")
def test_both_ablation_runs_without_samples_the_penalty_harms(run: Path) -> None:
    edit_profile(lambda found: found["thresholds"]["counts"].update(ablation_episodes=100))
    for name in ("without", "with"):
        lines = (ARM / f"{name}.jsonl").read_bytes().splitlines(keepends=True)
        (ARM / f"{name}.jsonl").write_bytes(b"".join(lines[:40] + lines[49:]))
    assert caught("ablation") == {"samples_chosen_by_hand"}


@poison("ablation/samples_chosen_by_hand")
def test_favourable_samples_counted_more_than_once(run: Path) -> None:
    for name in ("without", "with"):
        lines = (ARM / f"{name}.jsonl").read_bytes().splitlines(keepends=True)
        (ARM / f"{name}.jsonl").write_bytes(b"".join([*lines[:-5], *lines[:5]]))
    assert caught("ablation") == {"samples_chosen_by_hand"}


@poison("ablation/ablation_seeds")
def test_one_seed_where_three_are_wanted(run: Path) -> None:
    edit_profile(lambda found: found["thresholds"]["counts"].update(ablation_seeds=3))
    assert caught("ablation") == {"ablation_seeds"}


@pytest.mark.parametrize("name", ["seed_020250820", "seed_x"])
def test_a_folder_that_is_no_seeds_counts_as_none(run: Path, name: str) -> None:
    (ARM.parent / name).mkdir()
    with pytest.raises(BadInput, match="not the folder of a seed"):
        read_pairs(ARM.parent)
