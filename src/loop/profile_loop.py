"""The loop of a profile: its stages, the record of their runs, and the run of those that are no longer valid.

`quickstart` is the embedded loop: generated worlds, `models/tiny`, the judge on this machine. It reads no key and calls
no paid service, whatever the environment says. A red light stays red: later stages still measure, so that one run shows
every light, but nothing is trained without the ticket, and the exit code is 1.

`rc1` runs the owner's profile with the judge that the environment names, and stops at the first red light.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .. import __version__
from ..config.profile import NAMES, Profile, load_profile
from ..core.defaults import ProfileName
from ..core.errors import BadInput
from ..core.files import code_sha256, read_json
from ..core.paths import REPORTS, all_runs
from ..gates.manifest import Manifest
from ..gates.ticket import REFUSAL, ROUND1, TICKET, Fingerprints, verify_ledger, verify_report
from ..runtime.lock import is_held
from ..scoring.providers import PROD, live_mode
from ..utils.processes import usable_cores
from .lights import COMMANDS, Light, lights, next_step, state_file, with_sign_offs
from .runner import Result, run_stages
from .stage import Stage, State
from .stage_view import StageView
from .stages import last_was_full, stages_of

PAID = ("SCORER_API_KEY", "SCORER_BASE_URL", "SCORER_MODEL", "SCORER_PROVIDER")
"""Variables that select an external judge. The embedded loop does not pass them on."""


@dataclass(frozen=True)
class ProfileLoop:
    """The stages of a profile with their record in this folder."""

    profile: Profile
    stages: list[Stage]
    state: State
    full: bool  # three seeds and the SFT control (`quickstart --full`)

    @property
    def command(self) -> str:
        """The command that runs this loop, and resumes it. A user of `make` may not have `askgate` on the path."""
        if self.profile.name == "quickstart" and "MAKELEVEL" in os.environ:
            return f"make quickstart{'-full' if self.full else ''}"
        return COMMANDS[self.profile.name] + (" --full" if self.full else "")

    def lights(self) -> list[Light]:
        found = lights(self.stages, self.state)
        if all(light.colour != "amber" for light in found):
            return found
        from ..gates.ambers import sign_offs  # a slow import: it needs all of the reward

        return with_sign_offs(found, sign_offs(self.profile))

    def next_step(self, found: list[Light]) -> tuple[str, str]:
        """The next step, in English and Chinese."""
        if not has_run():
            here = Path.cwd()
            return (
                f"no run in {here}: go to the folder of your run, or run `{self.command}` to start one here",
                f"{here} 中没有运行：请进入运行所在的目录，或运行 `{self.command}` 在此新建",
            )
        return next_step(found, self.command)

    def require_live(self, environment: Mapping[str, str]) -> None:
        """Refuses rc1 without live scores, before its first stage pays a judge; the second one would refuse it."""
        live = environment.get("RUN_MODE", "").strip() == PROD and live_mode(environment)
        if self.profile.name == "rc1" and not live:
            raise BadInput(
                "rc1 needs live scores, and these settings do not ask for them",
                where="RUN_MODE, REWARD_LIVE_MODE",
                remedy="start it with ./ops/run_local_rc1.sh, or export RUN_MODE=prod REWARD_LIVE_MODE=1",
            )

    def will_train(self, until: str = "") -> bool:
        """Whether a run up to `until` reaches a training that is not done yet."""
        reached = self._stages_until(until)
        return any(stage.name.startswith("train") and self.state.why_not_valid(stage) for stage in reached)

    def _stages_until(self, until: str) -> list[Stage]:
        """Stages up to and including this one; all where none is named."""
        names = [stage.name for stage in self.stages]
        if until and until not in names:
            raise BadInput(f"there is no stage {until!r}", where="--until", remedy=f"choose from {', '.join(names)}")
        return self.stages[: names.index(until) + 1] if until else self.stages

    def run(self, environment: Mapping[str, str], view: StageView, until: str = "") -> list[Result]:
        """Runs the stages that are not valid any more, up to and including `until`.

        The quickstart runs two at a time where there are two cores. rc1 has one GPU and stops at the first red light.
        """
        wanted, is_rc1 = self._stages_until(until), self.profile.name == "rc1"
        self.require_live(environment)
        used = environment if is_rc1 else embedded(environment)
        side_by_side = 1 if is_rc1 else usable_cores(2)
        return run_stages(wanted, self.state, used, view, stop_at_red=is_rc1, side_by_side=side_by_side)


def open_loop(name: str | None = None, full: bool | None = None) -> ProfileLoop:
    """The loop of a profile; by default the one that was run last, with its `--full`."""
    profile = load_profile(name or last_run())
    state = State(state_file(profile.name))
    full = last_was_full(state) if full is None else full
    loop = ProfileLoop(profile, stages_of(profile, full), state, full)
    if not is_held(state.path.with_suffix(".lock")):
        _count_rounds(loop)
    return loop


def _count_rounds(loop: ProfileLoop) -> None:
    """Adds rounds that were run by hand to the record of the loop, if their reports are valid.

    A failed round of another version of the code does not count: the gate may have been fixed since.
    """
    for stage in loop.stages:
        path = next((one for one in (ROUND1, TICKET, REFUSAL) if one in stage.outputs and one.exists()), None)
        if path and loop.state.why_not_valid(stage):
            with suppress(BadInput):  # `askgate verify` says what is wrong with it
                report = verify_report(path, Manifest(), Fingerprints())
                verify_ledger(loop.profile.paths.ledger, [report.ledger])
                fits = report.version == __version__ and (report.passed or report.code == code_sha256())
                if fits and report.profile == loop.profile.name:
                    loop.state.count(stage, report.exit_code, report.started, report.ts)


def has_run() -> bool:
    """Whether a loop, a round or a training was run in this folder."""
    return bool(profiles_run() or all_runs())


def has_reports() -> bool:
    """Whether a report on this folder is worth a file: it has a run, or reports of single commands."""
    return has_run() or REPORTS.is_dir()


def profiles_run() -> list[ProfileName]:
    """Profiles whose loop or rounds were run in this folder."""
    found = {name for name in NAMES if state_file(name).exists()}
    for path in (ROUND1, TICKET):
        if path.exists():
            with suppress(BadInput, AttributeError):  # `askgate verify` says what is wrong with the file
                found |= {read_json(path, "").get("profile")} & set(NAMES)
    return sorted(found)


def last_run() -> ProfileName:
    """The profile whose loop was run last in this folder, else that of its rounds; `quickstart` before any was run."""
    stated = [name for name in NAMES if state_file(name).exists()]
    default: ProfileName = next(iter(profiles_run()), "quickstart")
    return max(stated, key=lambda name: state_file(name).stat().st_mtime, default=default)


def embedded(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of the embedded loop: the judge on this machine, live, and no API key."""
    kept = {name: value for name, value in environment.items() if name not in PAID}
    return {**kept, "RUN_MODE": "prod", "REWARD_LIVE_MODE": "1", "SCORER_PROVIDER": "local"}
