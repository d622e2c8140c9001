"""The full-size run starts only after a trial of the same ticket that passed its gates."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from src.config.loader import load_train_config
from src.config.profile import load_profile
from src.core.check import Evidence
from src.core.errors import BadInput
from src.core.files import json_bytes
from src.eval.compare import Change
from src.eval.metrics import HARD_READING, Figure
from src.eval.trial import Compared, TrialReport
from src.gates.admission import Admission, require_trial
from src.gates.manifest import Manifest
from src.loop.stages import SCORED, stages_of
from src.scoring.scores import unstable_beside

RC1 = load_profile("rc1")
TRIAL = load_train_config(Path("configs/ppo_trial.yaml"))
REPORT = Path("reports/ppo_eval_rc1_trial.json")
ADMISSION = Admission("rc1", "ticket", "run", {})


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def change(base: float, trained: float) -> Change:
    delta = trained - base
    return Change(Figure(base, 0, 1, 245), Figure(trained, 0, 1, 245), delta, delta, delta, 100 * delta)


def trial(**given: object) -> TrialReport:
    """The report of a trial that passed, with these figures and fields instead of its own."""
    figures = {
        "need_ask_success": (0.2, 0.4), "overclar_rate": (0.3, 0.1), "avg_turns": (3.0, 2.9),
        f"success_{HARD_READING}": (0.3, 0.5),
    }  # fmt: skip
    changes = {name: change(*given.pop(name, pair)) for name, pair in figures.items()}  # type: ignore[misc]
    pooled = Compared(None, given.pop("steps", TRIAL.steps), changes, None, None)  # type: ignore[arg-type]
    fields = {
        "stage": "ppo_eval", "passed": True, "checks": [], "figures": {}, "ts": "", "profile": "rc1", "gated": True,
        "evidence": Evidence({}, {}, {}, "", "", ""), "ticket": "ticket", "config": TRIAL.model_dump(mode="json"),
        "seeds": [pooled], "pooled": pooled,
    }  # fmt: skip
    return TrialReport(**{**fields, **given})  # type: ignore[arg-type]


def write(report: TrialReport, recorded: bool = True) -> None:
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_bytes(json_bytes(report))
    if recorded:
        Manifest().record([REPORT])


def test_a_trial_that_passed_lets_the_run_at_scale_start() -> None:
    write(trial())
    found = require_trial(RC1.paths.config, ADMISSION)
    assert found is not None
    assert found[1] == REPORT


def test_the_trial_itself_and_the_quickstart_need_none() -> None:
    assert RC1.paths.trial is not None
    assert require_trial(RC1.paths.trial, ADMISSION) is None
    quickstart = load_profile("quickstart")
    local = msgspec.structs.replace(ADMISSION, profile="quickstart")
    assert require_trial(quickstart.paths.config, local) is None


POISONS: dict[str, tuple[dict[str, object], str]] = {
    "need-ask success did not rise": ({"need_ask_success": (0.2, 0.2)}, "failed .need_ask_success_pp"),
    "asks more than its base": ({"overclar_rate": (0.2, 0.3)}, "failed .overclar"),
    "says that it passed, without figures": ({"need_ask_success": (0.2, 0.1), "passed": True}, "failed"),
    "another ticket": ({"ticket": "another"}, "another ticket"),
    "not gated": ({"gated": False}, "another ticket"),
    "other settings": ({"config": {**TRIAL.model_dump(mode="json"), "lr": 3e-5}}, "other settings"),
    "ended early": ({"steps": 400}, "after 400 of 5000 steps"),
}


@pytest.mark.parametrize("name", POISONS)
def test_an_invalid_trial_stops_the_run_at_scale(name: str) -> None:
    given, message = POISONS[name]
    write(trial(**given))
    with pytest.raises(BadInput, match=message):
        require_trial(RC1.paths.config, ADMISSION)


def test_a_report_that_nobody_recorded_does_not_count() -> None:
    with pytest.raises(BadInput, match="there is no report of a trial"):
        require_trial(RC1.paths.config, ADMISSION)
    write(trial(), recorded=False)
    with pytest.raises(BadInput, match="recorded"):
        require_trial(RC1.paths.config, ADMISSION)
    write(trial(need_ask_success=(0.2, 0.2)))
    write(trial(), recorded=False)  # edited afterwards
    with pytest.raises(BadInput, match="recorded"):
        require_trial(RC1.paths.config, ADMISSION)


def test_a_missing_required_trial_stops_the_run_at_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    without = RC1.model_copy(update={"paths": RC1.paths.model_copy(update={"trial": None})})
    monkeypatch.setattr("src.gates.admission.load_profile", lambda name: without)
    with pytest.raises(BadInput, match="requires a trial and names none"):
        require_trial(RC1.paths.config, ADMISSION)


def test_rc1_has_the_trial_and_the_scores_as_stages() -> None:
    stages = {stage.name: stage for stage in stages_of(RC1)}
    assert "trial_gate" in stages["train"].needs
    assert [name for name in stages if name in ("score", "round1", "trial", "trial_gate", "train")] == [
        "score", "round1", "trial", "trial_gate", "train",
    ]  # fmt: skip
    assert REPORT in stages["trial_gate"].outputs
    quickstart = {stage.name: stage for stage in stages_of(load_profile("quickstart"))}
    assert not {"score", "trial", "trial_gate"} & quickstart.keys()
    assert quickstart["train"].needs == ("round2",)


def test_the_run_weighs_samples_scored_as_unstable() -> None:
    for path in (RC1.paths.config, RC1.paths.trial):
        assert path is not None
        assert load_train_config(path).reward.unstable == unstable_beside(SCORED)
        assert load_train_config(path).checkpoint.mirror is not None
    assert unstable_beside(SCORED) in {stage.name: stage for stage in stages_of(RC1)}["score"].outputs
