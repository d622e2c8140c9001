"""Every command that uses a profile names it, and none guesses where another profile ran in the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from src.gates.ticket import ROUND1
from src.loop.lights import state_file
from tests.conftest import Askgate

GATED = Path(__file__).resolve().parents[2] / "configs/quickstart_gated.yaml"
NO_TICKET = "no ticket needed; its checkpoints cannot be packaged"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ran(*profiles: str) -> None:
    """Marks the loops of these profiles as run in this folder."""
    for name in profiles:
        path = state_file(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")


@pytest.mark.parametrize(
    ("verb", "before", "named"),
    [
        (("status",), (), "quickstart"),
        (("status",), ("rc1",), "rc1"),
        (("status", "--profile", "rc1"), ("quickstart",), "rc1"),
        (("assert-not-simulated",), (), "rc1"),
        (("assert-not-simulated",), ("rc1",), "rc1"),
        (("assert-not-simulated", "--profile", "quickstart"), ("quickstart", "rc1"), "quickstart"),
        (("round", "1"), (), "rc1"),
        (("round", "--round", "1", "--profile", "quickstart"), (), "quickstart"),
        (("validate-pool", "none.jsonl"), (), "rc1"),
        (("weight-calib",), (), "quickstart"),
        (
            ("train", "--set", "seed_pool=none.jsonl"),
            (),
            f"local ({NO_TICKET})",
        ),
        (("ppo-runner", "--config", str(GATED)), (), "local (gated: needs the ticket)"),
    ],
)
def test_a_verb_names_its_profile(verb: tuple[str, ...], before: tuple[str, ...], named: str, askgate: Askgate) -> None:
    ran(*before)
    assert askgate(*verb).profile == named


def test_a_round_names_all_settings_that_are_not_set(askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUN_MODE", "REWARD_LIVE_MODE", "SCORER_PROVIDER"):
        monkeypatch.delenv(name, raising=False)
    done = askgate("round", "1")
    assert done.code == 2
    assert "RUN_MODE, REWARD_LIVE_MODE, SCORER_PROVIDER: a round needs settings that are not set" in done.err
    assert "export RUN_MODE=prod REWARD_LIVE_MODE=1 SCORER_PROVIDER=local, or name your own judge" in done.err
    monkeypatch.setenv("RUN_MODE", "prod")
    monkeypatch.setenv("SCORER_PROVIDER", "local")
    assert "What to do: export REWARD_LIVE_MODE=1." in askgate("round", "1").err


@pytest.mark.parametrize(
    ("verb", "before"),
    [
        (("status",), ("quickstart", "rc1")),
        (("report",), ("quickstart", "rc1")),
        (("round", "1"), ("quickstart",)),
        (("assert-not-simulated",), ("quickstart",)),
    ],
)
def test_an_ambiguous_profile_is_refused(verb: tuple[str, ...], before: tuple[str, ...], askgate: Askgate) -> None:
    ran(*before)
    done = askgate(*verb)
    assert done.code == 2
    assert f"--profile: this folder has runs of {' and '.join(before)}, so the profile is ambiguous." in done.err
    assert "add --profile quickstart or --profile rc1" in done.err


def test_a_round_run_by_hand_counts_for_its_profile(askgate: Askgate) -> None:
    ROUND1.parent.mkdir(parents=True)
    ROUND1.write_text('{"profile": "rc1"}')
    assert askgate("status").profile == "rc1"
    ROUND1.write_text("[]")
    assert askgate("status").profile == "quickstart"
