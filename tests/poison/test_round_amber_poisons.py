"""Ambers of the rounds: a judge that cannot tell, thresholds made easier, stage reports with other figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from askgate_env.dimensions import LIVE
from src.config.profile import NAMES, load_profile
from src.config.schema import dotted
from src.core.check import NOT_FOR_SIGNING
from src.core.defaults import ProfileName
from src.core.errors import BadInput
from src.core.files import write_json
from src.core.jsonl import read_records, write_records
from src.eval.trial import control_ambers
from src.gates.ambers import (
    ambers,
    auc_ambers,
    baseline_ambers,
    open_ambers,
    profile_ambers,
    reference_thresholds,
    round_ambers,
    sign_amber,
    stage_ambers,
    weaker_thresholds,
    weight_ambers,
)
from src.gates.ticket import TICKET, read_round
from src.gates.verify import verify
from src.pages.rc1_report import verdict
from src.release.package import make_package
from src.reward.recorded_episodes import RecordedEpisode
from src.scoring.prompt import DIMENSIONS
from tests.gates.run_folder import (
    PROFILE,
    ROOT,
    SHADOW,
    current_context,
    discerning_scores,
    edit_profile,
    is_canary,
    judged,
    judging,
)
from tests.release.packing import silent, trained
from tests.scoring.server import Scores, steady_scores

from .amber_runs import against_control, amber_run, gullible, profile, round_again
from .table import poison, twin


def names() -> list[str]:
    return [one.name for one in ambers(profile())]


@twin("amber")
def test_an_honest_run_has_no_amber(run: Path) -> None:
    assert names() == []
    assert read_round(TICKET).ambers == ()
    assert control_ambers(against_control(trained=0.5, control=0.5)) == []
    assert weight_ambers({next(iter(LIVE)): 0.1, "grounding": 0.9}) == []
    trained()
    assert make_package(Path("package.tgz"), None, None, silent).exists()


@pytest.mark.parametrize("name", ["rc1", "quickstart"])
def test_the_shipped_profiles_are_not_weaker(name: str) -> None:
    assert weaker_thresholds(load_profile(name)) == []
    known = reference_thresholds(name)
    assert known["spearman_min"] == 0.75
    own = dict(dotted(load_profile(name).thresholds.model_dump(mode="json")))
    assert own.keys() <= known.keys(), "a threshold that nobody shipped may have any value"


@poison("amber/weaker_thresholds")
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"spearman_min": 0.1}, "spearman_min is 0.1, shipped 0.75"),
        ({"weight_max": 0.9}, "weight_max is 0.9, shipped 0.5"),
        ({"calibration": {"seed": 43}}, "calibration.seed is 43, shipped 42"),
        ({"counts": {"eval_samples": 12}}, f"counts.eval_samples is 12, shipped {SHADOW}"),
        ({"config": {"control_lr_max": 1.0}}, "config.control_lr_max is 1.0, shipped 0.0004"),
        ({"config": {"by_difficulty": {}}}, "config.by_difficulty.hard is missing, shipped 0.4"),
    ],
)
def test_a_threshold_lowered_before_the_rounds_is_named(run: Path, change: dict[str, Any], named: str) -> None:
    def weaken(found: dict[str, Any]) -> None:
        for key, value in change.items():
            limits = found.setdefault("thresholds", {})
            limits[key] = {**limits.get(key, {}), **value} if isinstance(value, dict) else value

    edit_profile(weaken)
    (found,) = profile_ambers(profile())
    assert found.name == NOT_FOR_SIGNING
    assert named in found.fact.remedy
    with pytest.raises(BadInput, match="cannot be signed off"):
        sign_amber(profile(), NOT_FOR_SIGNING, None, None, "the owner", "it is small")
    point = {one.name: one for one in verdict(PROFILE, None)}["Ambers"]
    assert not point.passed
    assert named in point.text


@poison("amber/weaker_thresholds")
@pytest.mark.parametrize(("size", "value"), [("steps", 1), ("samples", 12), ("seeds", (7,))])
def test_a_smaller_ablation_is_a_weaker_threshold(size: str, value: int | tuple[int, ...]) -> None:
    shipped = load_profile("quickstart")
    ablation = shipped.sizes.ablation.model_copy(update={size: value})
    weaker = shipped.model_copy(update={"sizes": shipped.sizes.model_copy(update={"ablation": ablation})})
    known = reference_thresholds("quickstart")[f"sizes.ablation.{size}"]
    shown = list(value) if isinstance(value, tuple) else value
    assert weaker_thresholds(weaker) == [f"sizes.ablation.{size} is {shown}, shipped {known}"]


@poison("amber/weaker_thresholds")
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"k": 1}, ["votes.k is 1, shipped 3"]),
        ({"k": 5, "k_max": 5}, ["votes.k_max is 5, shipped 11"]),
        ({"variance_max": 0.25}, ["votes.variance_max is 0.25, shipped 0.08"]),
        ({"k": 5, "k_max": 15}, []),
    ],
)
def test_fewer_votes_are_a_weaker_threshold(
    change: dict[str, Any], named: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = yaml.safe_load((ROOT / "configs/default.yaml").read_text(encoding="utf-8"))
    found["scoring"]["votes"] |= change
    monkeypatch.chdir(tmp_path)
    Path("configs").mkdir()
    Path("configs/default.yaml").write_text(yaml.safe_dump(found), encoding="utf-8")
    assert weaker_thresholds(profile()) == named


@poison("amber/old_weights")
def test_old_weights_that_are_easier_to_beat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert baseline_ambers(profile()) == []
    found = json.loads((ROOT / "configs/weights_baseline.json").read_text())
    found["weights"] |= {"logic_rigor": 0.1, "educational": 0.2}
    monkeypatch.chdir(tmp_path)
    Path("configs").mkdir()
    Path("configs/weights_baseline.json").write_text(json.dumps(found))
    (amber,) = baseline_ambers(profile())
    assert (amber.name, amber.value) == ("old_weights", 2.0)
    assert "old_weights.logic_rigor is 0.1, shipped 0.2" in amber.remedy


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_has_the_shipped_sizes(name: ProfileName) -> None:
    ablation, reference = load_profile(name).sizes.ablation, reference_thresholds(name)
    assert reference["sizes.ablation.samples"] == ablation.samples
    assert reference["sizes.ablation.steps"] == ablation.steps
    assert reference["sizes.ablation.seeds"] == list(ablation.seeds)


@poison("amber/judge_weight")
def test_a_judge_without_any_weight() -> None:
    (found,) = weight_ambers({**dict.fromkeys(LIVE, 0.0), "grounding": 1.0})
    assert found.name == "judge_weight"


def contrary(body: dict[str, Any]) -> dict[str, Any]:
    """Less logic for an answer after a thought, which is right more often; a canary gets nothing."""
    if is_canary(body):
        return dict.fromkeys(DIMENSIONS, 0)
    return constant(body) | {"logic": 10 - discerning_scores(body)["logic"]}


def scored_again(scores: Scores) -> None:
    """Scores the episodes of the calibration once more, with another judge."""
    episodes, seed = profile().paths.calibration_episodes, profile().thresholds.calibration.seed
    with judging(scores) as environment:
        judged(list(read_records(episodes, RecordedEpisode)), episodes, environment, seed)


def constant(body: dict[str, Any]) -> dict[str, Any]:
    return dict.fromkeys(DIMENSIONS, 7)


@poison("amber/judge_auc")
@pytest.mark.parametrize("scores", [steady_scores, constant, contrary])
def test_a_judge_at_chance_is_an_amber_signed_by_name(run: Path, scores: Scores) -> None:
    scored_again(scores)
    assert "judge_auc" in [one.name for one in round_ambers(current_context())]
    (found,) = [one for one in ambers(profile()) if one.name == "judge_auc"]
    assert (found.fact.value is not None, found.file) == (True, profile().paths.calibration_scores)
    assert "live_logic 0." in found.fact.remedy
    assert "live_logic 0." in found.fact.remedy_zh
    assert "judge_auc" in {one.name: one for one in verdict(PROFILE, None)}["Ambers"].text
    sign_amber(profile(), "judge_auc", None, None, "Ada", "it decides nothing")
    assert {one.name: one.signed for one in ambers(profile())}["judge_auc"] == "Ada (it decides nothing)"


@poison("amber/judge_auc")
def test_without_failures_the_judge_is_not_shown_above_chance(run: Path) -> None:
    paths = profile().paths
    right = [one for one in read_records(paths.calibration_episodes, RecordedEpisode) if one.episode.success]
    with open("right.jsonl", "wb") as handle:
        write_records(handle, right)
    (found,) = auc_ambers(Path("right.jsonl"), paths.calibration_scores)
    assert (found.name, found.value) == ("judge_auc", None)


@twin("amber")
def test_a_judge_that_tells_successes_from_failures_is_no_amber(run: Path) -> None:
    paths = profile().paths
    assert auc_ambers(paths.calibration_episodes, paths.calibration_scores) == []


@poison("amber/canaries_fooled")
def test_a_judge_that_canaries_fool_is_a_quickstart_amber(run: Path) -> None:
    report = round_again(gullible)
    assert (report.exit_code, [(one.name, one.value) for one in report.ambers]) == (0, [("canaries_fooled", 1.0)])
    verify(True, silent)


@poison("amber/judge_noise")
def test_a_judge_that_contradicts_itself_is_a_quickstart_amber(run: Path) -> None:
    report = round_again(contrary)
    assert (report.exit_code, [one.name for one in report.ambers]) == (0, ["judge_noise"])


def test_without_the_judges_scores_no_amber_goes_away(run: Path) -> None:
    amber_run()
    current_context().exam.unlink()
    with pytest.raises(BadInput, match=r"judge/scores\.jsonl"):
        open_ambers(profile())
    with pytest.raises(BadInput, match=r"judge/scores\.jsonl"):
        verify(False, silent)


@pytest.mark.parametrize("which", ["canaries", "calibration"])
def test_scores_missing_from_the_ledger_remove_no_amber(run: Path, which: str) -> None:
    """The forger makes every checksum fit, so only a score's line in the ledger shows it."""
    amber_run()
    file = current_context().exam if which == "canaries" else profile().paths.calibration_scores
    scores = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    changed = [one | {"overall": 0.0} if "canary" in one["id"] or which == "calibration" else one for one in scores]
    assert changed != scores
    file.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in changed))
    with pytest.raises(BadInput, match="has a score that is not in the ledger"):
        open_ambers(profile())


@poison("amber/stage_report")
@pytest.mark.parametrize("stage", ["pool", "difficulty", "calibration", "shadow", "ablation"])
def test_a_report_of_a_stage_with_invented_figures(run: Path, stage: str) -> None:
    """It is packed as it is, and no gate reads it."""
    assert stage_ambers(profile()) == []
    file, measured = getattr(profile().paths, f"{stage}_report"), current_context().work / f"{stage}_report.json"
    found = json.loads(measured.read_bytes())
    write_json(file, found)
    assert stage_ambers(profile()) == []
    found["checks"][0]["value"] = 88.8
    write_json(file, found)
    assert [one.name for one in stage_ambers(profile())] == ["stage_report"]
    assert found["checks"][0]["name"] in stage_ambers(profile())[0].fact.remedy


def test_a_changed_list_of_ambers_is_noticed(run: Path) -> None:
    found = json.loads(TICKET.read_text())
    found["ambers"] = [*found["ambers"], msgspec.to_builtins(weight_ambers({})[0])]
    TICKET.write_text(json.dumps(found))
    with pytest.raises(BadInput, match="has changed since it was recorded"):
        verify(False, silent)
