"""Ambers: facts that fail no command, show everywhere, and stop a release until the owner has signed them off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from msgspec.structs import replace

from askgate_env.dimensions import LIVE
from askgate_env.types import Task
from src.config.profile import NAMES, Profile, load_profile
from src.config.schema import dotted
from src.core.check import NOT_FOR_SIGNING, remedies
from src.core.defaults import ProfileName
from src.core.errors import BadInput
from src.core.files import write_json
from src.core.jsonl import read_records, write_records
from src.eval.trial import (
    Compared,
    SeedRun,
    TrialReport,
    compared,
    control_ambers,
    recall_ambers,
    task_ambers,
    trial_ambers,
    trial_report,
    warm_start_ambers,
)
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
from src.gates.manifest import Manifest
from src.gates.rounds import run_round
from src.gates.ticket import TICKET, Round, read_round
from src.gates.verify import verify
from src.loop.lights import next_step
from src.pages.rc1_report import verdict
from src.release.package import make_package
from src.reward.recorded_episodes import RecordedEpisode
from src.scoring.prompt import DIMENSIONS
from tests.conftest import Askgate
from tests.eval.episodes import episode
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
from tests.gates.test_sign_off import make_key
from tests.rc1 import THRESHOLDS
from tests.release.packing import silent, trained
from tests.scoring.server import Scores, steady_scores

from .table import poison, twin


def profile() -> Profile:
    return load_profile(PROFILE)


def names() -> list[str]:
    return [one.name for one in ambers(profile())]


def against_control(trained: float, control: float) -> Compared:
    """A run whose policies achieve these shares of 100 samples that need an ask."""

    def policy(share: float) -> list[Any]:
        return [episode(f"s{one}", needs=True, asks=1, success=one < 100 * share) for one in range(100)]

    return compared(SeedRun(1, 10, policy(0.1), policy(trained), policy(control)))


def against_warm_start(success: float, asked: float, needless: float) -> Compared:
    """A run after whose warm start 50 of 200 complete samples are solved and 20 get a needless question, and 100 of 200
    others are solved by asking; the trained policy has these shares."""

    def policy(success: float, asked: float, needless: float) -> list[Any]:
        lacking = [
            episode(f"n{one}", needs=True, asks=int(one < round(200 * asked)), success=one < round(200 * asked))
            for one in range(200)
        ]
        return lacking + [
            episode(f"c{one}", asks=int(one < 200 * needless), success=one < 200 * success) for one in range(200)
        ]

    base, trained = policy(0.0, 0.0, 0.3), policy(success, asked, needless)
    return compared(SeedRun(1, 10, base, trained, None, warm_start=policy(0.25, 0.5, 0.1)))


def on_tasks(gsm8k: float, asks: float = 0.5) -> Compared:
    """A run that learns all tasks but perhaps gsm8k, of which base and trained solve 14 and this share of 100, and that
    asks in this share of the samples where it must; the base asks in half of them."""

    def policy(share: float, solved: float, asked: float) -> list[Any]:
        others = [
            episode(f"{task}{one}", task=task, needs=True, asks=int(one < 100 * asked), success=one < 100 * share)
            for task in ("hotpotqa", "strategyqa")
            for one in range(100)
        ]
        return others + [episode(f"g{one}", task="gsm8k", success=one < round(100 * solved)) for one in range(100)]

    return compared(SeedRun(1, 10, policy(0.1, 0.14, 0.5), policy(0.6, gsm8k, asks), None))


@poison("amber/task_success")
@pytest.mark.parametrize("solved", [0.14, 0.16, 0.05])
def test_a_task_that_did_not_improve_is_an_amber(solved: float) -> None:
    (found,) = trial_ambers(on_tasks(gsm8k=solved))
    assert (found.name, found.passed) == ("task_success", False)
    assert f"gsm8k 14.0% -> {100 * solved:.1f}% (95% " in found.remedy
    assert "hotpotqa" not in found.remedy


@poison("amber/task_need_ask")
def test_a_task_whose_need_ask_success_did_not_improve_is_an_amber() -> None:
    def policy(hotpotqa: float, strategyqa: float) -> list[Any]:
        shares: dict[Task, float] = {"hotpotqa": hotpotqa, "strategyqa": strategyqa}
        return [
            episode(
                f"{task}{one}", task=task, needs=True, asks=int(one < 100 * share), success=one < 100 * (share + 0.3)
            )
            for task, share in shares.items()
            for one in range(100)
        ]

    # Success rises by as much in both, in one of them by guesses.
    trained = [
        replace(one, success=int(one.sample_id.removeprefix(one.task)) < 70)
        for one in policy(hotpotqa=0.4, strategyqa=0.12)
    ]
    (found,) = trial_ambers(compared(SeedRun(1, 10, policy(0.1, 0.1), trained, None)))
    assert (found.name, found.passed) == ("task_need_ask", False)
    assert "strategyqa 10.0% -> 12.0% (95% " in found.remedy
    assert "hotpotqa" not in found.remedy


@poison("amber/task_recall")
def test_a_task_whose_question_recall_fell_is_an_amber() -> None:
    def policy(share: float, asked: dict[Any, float]) -> list[Any]:
        return [
            episode(f"{task}{one}", task=task, needs=True, asks=int(one < 100 * asked[task]), success=one < 100 * share)
            for task in asked
            for one in range(100)
        ]

    before = policy(0.1, {"hotpotqa": 0.3, "strategyqa": 0.8})
    (found,) = trial_ambers(compared(SeedRun(1, 10, before, policy(0.9, {"hotpotqa": 0.9, "strategyqa": 0.6}), None)))
    assert (found.name, found.passed) == ("task_recall", False)
    assert "question_recall_strategyqa 80.0% -> 60.0% (95% " in found.remedy
    assert "hotpotqa" not in found.remedy


@poison("amber/worse_than_warm_start")
@pytest.mark.parametrize(
    ("trained", "told"),
    [
        ((0.05, 0.55, 0.1), "success 37.5% -> 30.0%"),
        ((0.6, 0.3, 0.1), "need_ask_success 50.0% -> 30.0%"),
        ((0.3, 0.55, 0.2), "overclar_rate 10.0% -> 20.0%"),
    ],
)
def test_a_policy_that_rl_made_worse_than_its_warm_start_is_an_amber(
    trained: tuple[float, float, float], told: str
) -> None:
    (found,) = [one for one in trial_ambers(against_warm_start(*trained)) if one.name == "worse_than_warm_start"]
    assert not found.passed
    assert found.value is not None
    assert found.value < 0
    assert told in found.remedy
    assert found.remedy.count("95%") == 1


@twin("amber")
def test_a_policy_that_is_no_worse_than_its_warm_start_by_more_than_chance_has_no_amber() -> None:
    assert warm_start_ambers(against_warm_start(0.25, 0.5, 0.1)) == []
    assert warm_start_ambers(against_warm_start(0.3, 0.6, 0.05)) == []
    assert warm_start_ambers(against_warm_start(0.25, 0.495, 0.105)) == []
    assert warm_start_ambers(on_tasks(gsm8k=0.5)) == [], "a run without a warm start"


@poison("amber/question_recall")
def test_a_policy_that_asks_less_where_it_must_is_an_amber() -> None:
    (found,) = trial_ambers(on_tasks(gsm8k=0.5, asks=0.49))
    assert (found.name, found.value) == ("question_recall", -1.0)
    by_task, found = trial_ambers(on_tasks(gsm8k=0.5, asks=0.45))
    assert (found.name, found.value) == ("question_recall", -5.0)
    assert by_task.name == "task_recall", "more than chance"


@twin("amber")
def test_a_run_that_improves_every_task_and_asks_as_often_has_no_amber() -> None:
    honest = on_tasks(gsm8k=0.5, asks=0.5)
    assert task_ambers(honest) == recall_ambers(honest) == trial_ambers(honest) == []


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
    assert named in point.told


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


def round_again(scores: Scores) -> Round:
    """Round 2 once more, with another judge."""
    with judging(scores) as environment:
        return run_round(2, PROFILE, environment, print, lambda done: None, replaces=PROFILE)[0]


def gullible(body: dict[str, Any]) -> dict[str, Any]:
    """Scores of a judge that likes short dialogues."""
    return dict.fromkeys(DIMENSIONS, 10) if is_canary(body) else discerning_scores(body)


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
def test_a_judge_at_chance_or_below_is_an_amber_that_is_signed_off_by_name(run: Path, scores: Scores) -> None:
    scored_again(scores)
    assert "judge_auc" in [one.name for one in round_ambers(current_context())]
    (found,) = [one for one in ambers(profile()) if one.name == "judge_auc"]
    assert (found.fact.value is not None, found.file) == (True, profile().paths.calibration_scores)
    assert "live_logic 0." in found.fact.remedy
    assert "live_logic 0." in found.fact.remedy_zh
    assert "judge_auc" in {one.name: one for one in verdict(PROFILE, None)}["Ambers"].told
    sign_amber(profile(), "judge_auc", None, None, "Ada", "it decides nothing")
    assert {one.name: one.signed for one in ambers(profile())}["judge_auc"] == "Ada (it decides nothing)"


@poison("amber/judge_auc")
def test_without_a_failure_to_compare_nothing_shows_that_the_judge_is_above_chance(run: Path) -> None:
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


@poison("amber/control_need_ask")
def test_a_control_that_beats_the_trained_policy() -> None:
    (found,) = control_ambers(against_control(trained=0.4, control=0.6))
    assert found.value == pytest.approx(-20.0)


def amber_run() -> None:
    """A finished run whose judge was fooled by every canary."""
    assert round_again(gullible).exit_code == 0
    trained()


@poison("amber/canaries_fooled")
def test_a_judge_that_canaries_fool_is_an_amber_of_the_quickstart(run: Path) -> None:
    report = round_again(gullible)
    assert (report.exit_code, [(one.name, one.value) for one in report.ambers]) == (0, [("canaries_fooled", 1.0)])
    verify(True, silent)


@poison("amber/judge_noise")
def test_a_judge_that_contradicts_itself_is_an_amber_of_the_quickstart(run: Path) -> None:
    report = round_again(contrary)
    assert (report.exit_code, [one.name for one in report.ambers]) == (0, ["judge_noise"])


def test_without_the_judges_scores_no_amber_goes_away(run: Path) -> None:
    amber_run()
    current_context().exam.unlink()
    with pytest.raises(BadInput, match=r"judge/scores\.jsonl"):
        open_ambers(profile())
    with pytest.raises(BadInput, match=r"judge/scores\.jsonl"):
        verify(False, silent)


def test_a_release_waits_for_the_sign_off_by_name(run: Path, askgate: Askgate) -> None:
    amber_run()
    assert askgate("verify").code == 0, "an amber fails no other command"
    refused = askgate("package")
    assert refused.code == 1
    assert "canaries_fooled" in refused.err
    assert "askgate sign-off --amber canaries_fooled" in refused.err
    sign = ("sign-off", "--amber", "canaries_fooled", "--by", "Ada", "--reason", "the judge is not used")
    signed = askgate(*sign)
    assert signed.code == 0
    shown = signed.out.index(
        "AMBER canaries_fooled: 1, should be <= 0.25\n  the judge scored worthless answers as high"
    )
    assert shown < signed.out.index("wrote ")
    assert {one.name: one.signed for one in ambers(profile())} == {"canaries_fooled": "Ada (the judge is not used)"}
    verify(False, silent)
    make_package(Path("package.tgz"), None, None, silent)


@pytest.mark.parametrize("which", ["canaries", "calibration"])
def test_scores_that_are_not_in_the_ledger_take_no_amber_away(run: Path, which: str) -> None:
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


def test_a_sign_off_of_another_round_is_worth_nothing(run: Path) -> None:
    amber_run()
    sign_amber(profile(), "canaries_fooled", None, None, "Ada", "not used")
    assert open_ambers(profile()) == []
    round_again(gullible)
    assert [one.name for one in open_ambers(profile())] == ["canaries_fooled"]


def test_a_sign_off_of_other_bytes_is_worth_nothing(run: Path) -> None:
    amber_run()
    sign_amber(profile(), "canaries_fooled", None, None, "Ada", "not used")
    file = next(one.file for one in ambers(profile()) if one.name == "canaries_fooled")
    file.write_bytes(file.read_bytes() + b"\n")
    assert [one.name for one in open_ambers(profile())] == ["canaries_fooled"]


def test_a_sign_off_written_by_hand_is_worth_nothing(run: Path) -> None:
    amber_run()
    path = sign_amber(profile(), "canaries_fooled", None, None, "Ada", "not used")
    path.write_text(path.read_text().replace("Ada", "Eve"))
    assert [one.name for one in open_ambers(profile())] == ["canaries_fooled"]


def test_a_sign_off_with_a_name_twice_is_worth_nothing(run: Path) -> None:
    """The forger also appends to the manifest. The last name counts, and a reader sees the first."""
    amber_run()
    path = sign_amber(profile(), "canaries_fooled", None, None, "Eve", "not used")
    path.write_text(path.read_text().replace("{", '{\n  "by": "Ada",', 1))
    Manifest().record([path])
    assert [one.name for one in open_ambers(profile())] == ["canaries_fooled"]


def test_with_an_owner_key_only_that_key_signs_off(run: Path) -> None:
    amber_run()
    owner, other = make_key("owner"), make_key("other")
    edit_profile(lambda found: found.update(owner_key="owner.pub.pem"))
    with pytest.raises(BadInput, match="names the owner's key"):
        sign_amber(profile(), "canaries_fooled", None, None, "Ada", "not used")
    with pytest.raises(BadInput, match="not the owner's"):
        sign_amber(profile(), "canaries_fooled", other, None, "Eve", "not used")
    sign_amber(profile(), "canaries_fooled", owner, None, "Ada", "the judge is not used")
    assert open_ambers(profile()) == []
    assert [one.signed for one in ambers(profile())] == ["Ada with the owner's key (the judge is not used)"]
    sign_amber(profile(), "canaries_fooled", owner, None, "Bob", "seen")
    (both,) = [one.signed for one in ambers(profile())]
    assert both == "Ada with the owner's key (the judge is not used); Bob with the owner's key (seen)"


def test_a_sign_off_needs_a_name_and_a_reason_and_takes_no_key_that_nothing_checks(
    run: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    amber_run()
    monkeypatch.setenv("USER", "root")
    nameless = askgate("sign-off", "--amber", "canaries_fooled", "--by", " ", "--reason", "not used")
    assert (nameless.code, "--by: nobody is named" in nameless.err) == (2, True)
    without = askgate("sign-off", "--amber", "canaries_fooled", "--by", "Ada")
    assert (without.code, "--reason: no reason is given" in without.err) == (2, True)
    with pytest.raises(BadInput, match="names no owner key"):
        sign_amber(profile(), "canaries_fooled", Path("none.pem"), None, "Ada", "not used")
    assert [one.name for one in open_ambers(profile())] == ["canaries_fooled"]


def test_name_and_reason_are_asked_for_at_a_terminal(
    run: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    amber_run()
    answers = iter(["Ada", "the judge is not used"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("typer.prompt", lambda *given, **more: next(answers))
    assert askgate("sign-off", "--amber", "canaries_fooled").code == 0
    assert [one.signed for one in ambers(profile())] == ["Ada (the judge is not used)"]


def test_a_second_sign_off_is_added_to_the_first(run: Path) -> None:
    amber_run()
    first = sign_amber(profile(), "canaries_fooled", None, None, "Ada", "the judge is not used")
    kept = first.read_bytes()
    second = sign_amber(profile(), "canaries_fooled", None, None, "Bob", "seen")
    assert (first.read_bytes(), first != second) == (kept, True)
    assert [one.signed for one in ambers(profile())] == ["Ada (the judge is not used); Bob (seen)"]
    verify(False, silent)
    make_package(Path("package.tgz"), None, None, silent)


def test_an_unknown_amber_is_not_signed(run: Path) -> None:
    with pytest.raises(BadInput, match="there is no amber 'kittens'"):
        sign_amber(profile(), "kittens", None, None, "Ada", "cute")


def test_a_round_an_evaluation_and_a_light_list_their_ambers() -> None:
    from src.core.check import Evidence
    from src.loop.lights import Light

    fact = control_ambers(against_control(trained=0.4, control=0.6))[0]
    light = Light("evaluate", "Evaluate", "评测", "amber", fact.name, [fact], "")
    english, chinese = next_step([light], "askgate quickstart")
    assert "control_need_ask" in english
    assert "control_need_ask" in chinese
    about = {"ts": "", "profile": PROFILE, "gated": True, "ticket": None, "config": {}}
    run = SeedRun(1, 10, [], [], [])
    report: TrialReport = trial_report([run], about, THRESHOLDS, Evidence({}, {}, {}, "", "", ""))
    assert report.ambers == []
    assert set(remedies("ambers")) >= {fact.name}


def test_a_changed_list_of_ambers_is_noticed(run: Path) -> None:
    found = json.loads(TICKET.read_text())
    found["ambers"] = [*found["ambers"], msgspec.to_builtins(weight_ambers({})[0])]
    TICKET.write_text(json.dumps(found))
    with pytest.raises(BadInput, match="has changed since it was recorded"):
        verify(False, silent)
