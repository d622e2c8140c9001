"""The loop of a profile: every stage is a command with existing flags, and the commands report its state correctly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from src.cli.app import app
from src.config.profile import NAMES, Profile, load_profile
from src.core.errors import BadInput
from src.core.files import HOME
from src.gates.ticket import TICKET
from src.loop import profile_loop, stages
from src.loop.kpi import KPIS
from src.loop.runner import MODULE
from src.loop.scale import scale_stages
from src.loop.stage import Stage, State
from src.training import preflight
from tests.conftest import Askgate


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def loops() -> list[Stage]:
    profiles = [load_profile(name) for name in NAMES]
    found = [stage for profile in profiles for stage in stages.stages_of(profile)]
    return [*found, *(stage for profile in profiles for stage in scale_stages(profile, [10, 50], State(Path("none"))))]


def test_every_command_of_a_stage_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    group: Any = typer.main.get_command(app)
    for stage in loops():
        assert stage.command[:2] == ("-m", MODULE)
        name, *arguments = stage.command[2:]
        group.commands[name].make_context(name, arguments)


@pytest.mark.parametrize("name", NAMES)
def test_a_stage_reads_what_an_earlier_one_wrote(name: str) -> None:
    """Every input that is not shipped with the package comes from an earlier stage."""
    made: set[Path] = set()
    for stage in stages.stages_of(load_profile(name)):
        for path in stage.inputs:
            assert path in made or path.parts[0] in ("templates", "configs", "models"), f"{stage.name} reads {path}"
        made |= set(stage.outputs)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_trains_without_the_second_round(name: str) -> None:
    found = {stage.name: stage for stage in stages.stages_of(load_profile(name))}
    assert found["train"].needs == (("round2", "trial_gate") if name == "rc1" else ("round2",))
    assert TICKET in found["train"].inputs
    names = list(found)
    assert names.index("round1") < names.index("round2") < names.index("train")


def test_the_full_quickstart_shares_all_stages_but_training() -> None:
    profile = load_profile("quickstart")
    quick, full = stages.stages_of(profile), stages.stages_of(profile, full=True)
    assert quick[:-2] == full[:-2]
    assert [stage.name for stage in full[-2:]] == ["train_full", "evaluation_full"]
    assert len(full[-2].outputs) == 3
    assert full[-2].needs == ("round2",)


def test_status_shows_the_training_that_started_last(monkeypatch: pytest.MonkeyPatch) -> None:
    state = State(Path("state.json"))
    assert not stages.last_was_full(state)
    for number, name in enumerate(("train_full", "train", "train_full")):
        monkeypatch.setattr("src.loop.stage.now", lambda at=f"2026-11-15T00:00:0{number}": at)
        state.begin(Stage(name, "", "", (), (), ()))
        assert stages.last_was_full(state) == (name == "train_full")


def test_the_thresholds_are_the_profiles(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = load_profile("rc1")
    gate = next(stage for stage in stages.stages_of(profile) if stage.name == "pool_gate")
    command = list(gate.command)
    assert command[command.index("--min-distinct2") + 1] == "0.6"
    assert command[command.index("--max-shortcut-auc") + 1] == "0.7"


def test_quickstart_calls_only_the_local_judge() -> None:
    kept = profile_loop.embedded(
        {"SCORER_API_KEY": "sk-1", "SCORER_BASE_URL": "http://x", "SCORER_PROVIDER": "openai", "PATH": "/bin"}
    )
    assert kept == {"PATH": "/bin", "RUN_MODE": "prod", "REWARD_LIVE_MODE": "1", "SCORER_PROVIDER": "local"}


def test_before_a_run_all_lights_are_grey(askgate: Askgate) -> None:
    shown = askgate("status")
    assert shown.code == 1
    assert f"no run in {Path.cwd()}: go to the folder of your run, or run `askgate quickstart`" in shown.out
    found = json.loads(askgate("status", "--json", "--profile", "rc1").out)
    assert {light["colour"] for light in found["lights"]} == {"grey"}
    listed = [line.split()[1] for line in askgate("status", "--profile", "rc1").out.splitlines() if "grey" in line]
    assert listed == [light["stage"] for light in found["lights"]], "names, as the logs of the stages have them"
    assert "run_local_rc1.sh" in found["next"]
    for arguments, code in (("kpi",), 0), (("review",), 0), (("report",), 1), (("report", "--json"), 1):
        shown = askgate(*arguments)
        assert shown.code == code
        assert "wrote" not in shown.out
    assert not list(Path().iterdir()), "nothing is reported, so nothing is written"


def test_the_stages_of_rc1_can_be_read_before_they_run(askgate: Askgate) -> None:
    shown = askgate("rc1", "--list")
    assert shown.code == 0
    assert "$ askgate build-rollout-pool --out data/rollouts/rc1_seed.jsonl --n 30000" in shown.out
    assert "$ askgate round 2 --profile rc1" in shown.out


def test_an_unknown_stage_is_refused(askgate: Askgate) -> None:
    shown = askgate("rc1", "--until", "round3")
    assert shown.code == 2
    assert "round2" in shown.err


def few(profile: Profile, full: bool = False) -> list[Stage]:
    """A loop with a small first stage and a gate that fails."""
    shadow = ("-m", MODULE, "shadow_run", "--n", "40", "--stratify", "--materialize", "data/s.jsonl")
    report = {"passed": False, "checks": [
        {"name": "distinct2", "value": 0.5, "rule": ">=", "threshold": 0.6, "passed": False,
         "remedy": "add templates", "remedy_zh": "增加模板"}
    ]}  # fmt: skip
    program = f"import sys; open('report.json', 'w').write({json.dumps(report)!r}); sys.exit(1)"
    return [
        Stage("shadow_set", "Draw samples", "影子集", shadow, (), (Path("data/s.jsonl"),)),
        Stage("gate", "Judge them", "闸门", ("-c", program), (Path("data/s.jsonl"),), (Path("report.json"),)),
        Stage("train", "Train", "训练", ("-c", "1/0"), (), (), needs=("gate",)),
    ]


def test_a_red_light_gives_exit_code_1_and_its_reason(askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_loop, "stages_of", few)
    for again in (False, True):
        shown = askgate("quickstart")
        assert shown.code == 1, shown.err
        assert "add templates" in shown.out
        assert ("still valid" in shown.out) == again
        assert "skipped, because gate did not pass" in shown.out
    assert json.loads(KPIS.read_text())["engineering"]["fingerprint_coverage"]["value"] is None
    assert Path("reports/rc1/s.sha256").exists()


def test_rc1_stops_at_the_first_red_light(askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_loop, "stages_of", few)
    monkeypatch.setattr(preflight, "plan", lambda config: None)  # this machine may have no GPU
    monkeypatch.setenv("RUN_MODE", "prod")
    monkeypatch.setenv("REWARD_LIVE_MODE", "1")
    shown = askgate("rc1")
    assert shown.code == 1
    assert "Train" not in shown.out.split("\n->")[0].split("green")[0]


def test_rc1_whose_training_cannot_fit_is_refused_before_any_stage(
    askgate: Askgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_large(config: object) -> None:
        raise BadInput("the run needs 30.0 GiB with one rollout slot, and cuda has 24.0", where="rollout.slots")

    monkeypatch.setattr(profile_loop, "stages_of", few)
    monkeypatch.setattr(preflight, "_plan", too_large)
    monkeypatch.setenv("RUN_MODE", "prod")
    monkeypatch.setenv("REWARD_LIVE_MODE", "1")
    shown = askgate("rc1")
    assert (shown.code, shown.out) == (2, "")
    assert "configs/ppo_scale.yaml: rollout.slots: the run needs 30.0 GiB" in shown.err
    assert not Path("data/s.jsonl").exists()
    # The rounds can be made on a machine that does not train.
    assert askgate("rc1", "--until", "gate").code == 1
    assert Path("data/s.jsonl").exists()


def test_the_plan_shows_calls_cost_memory_and_time(askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCORER_PROVIDER", "gemini")
    monkeypatch.setenv("COLUMNS", "200")
    change = {"base_model": "models/tiny", "finetune": {"method": "lora"}, "device_pref": ["cpu"]}
    for name in ("ppo_scale", "ppo_trial"):
        path = Path(f"configs/{name}.yaml")
        config = yaml.safe_load((HOME / path).read_text())
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump(config | change))
    shown = askgate("rc1", "--plan")
    assert shown.code == 0, shown.err
    lines = [" ".join(line.split()) for line in shown.out.splitlines()]
    assert any(line.startswith("calibration 1,000 dialogues, 3,000 calls") and "$" in line for line in lines)
    for name in ("memory", "fitted", "a step", "all steps", "judge", "disk"):
        assert sum(line.startswith(f"{name} ") for line in lines) >= 2, name
    assert not Path("reports").exists()


@pytest.mark.parametrize("environment", [{}, {"RUN_MODE": "prod"}, {"REWARD_LIVE_MODE": "1"}])
def test_rc1_without_live_scores_is_refused_before_any_call(
    environment: dict[str, str], askgate: Askgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RUN_MODE", "REWARD_LIVE_MODE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    shown = askgate("rc1")
    assert shown.code == 2
    assert shown.out == ""
    assert "export RUN_MODE=prod REWARD_LIVE_MODE=1" in shown.err


def test_nothing_is_cut_off_in_a_narrow_terminal(askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert "…" not in askgate("status").out
    assert "(round2 did not pass, or is no longer valid)" in askgate("status").out
    assert "…" not in askgate("kpi").out


def test_kpis_are_written_and_shown(askgate: Askgate) -> None:
    Path("reports").mkdir(exist_ok=True)
    assert askgate("kpi").code == 0
    found = json.loads(Path("reports/kpi.json").read_text())
    assert set(found) == {"quality", "engineering"}
    assert {"spearman", "top10_overlap", "distinct2", "unstable_share", "success_trained"} <= set(found["quality"])
    assert {"cache_hit_rate", "429_rate", "avg_latency", "log_completeness", "checkpoint_completeness"} <= set(
        found["engineering"]
    )
    assert found["engineering"]["cache_hit_rate"]["alarm"]["limit"] == 0.95
