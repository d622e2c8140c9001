"""The lights: one for every stage of a loop, green, amber, red or grey, and what to do next in one line.

A light is green only while everything that its stage read and wrote is unchanged: checksums are computed every time.
It is amber where nothing failed and the report has a fact that the owner must know. It stays amber when the owner has
signed the fact off, and names who did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..core.check import Check, amber_label
from ..core.files import json_or_none
from ..runtime.lock import is_held
from .stage import FAILED, PASSED, Stage, State, in_chinese

Colour = Literal["green", "amber", "red", "grey"]
RUNNING, LATER = "running now", "its turn comes later"  # why a light is grey while a loop runs
COMMANDS = {"quickstart": "askgate quickstart", "rc1": "./ops/run_local_rc1.sh"}
"""The command that runs the loop of a profile, and resumes it."""


class Light(Struct, frozen=True):
    """A stage of the loop as it is now."""

    stage: str
    title: str
    title_zh: str
    colour: Colour
    why: str  # why it is not green
    reasons: list[Check]  # the checks that failed, or the ambers
    report: str  # path of the stage's first report; empty where there is none
    signed: dict[str, str] = {}  # its ambers that were signed off: name, and who signed with which reason
    why_zh: str = ""

    @property
    def unsigned(self) -> list[str]:
        """Names of its ambers that nobody has signed off."""
        return [one.name for one in self.reasons if self.colour == "amber" and one.name not in self.signed]


def state_file(profile: str) -> Path:
    """File with the record of a profile's loop."""
    return Path(f"reports/{profile}_state.json")


def lights(stages: Sequence[Stage], state: State) -> list[Light]:
    """One light per stage, from the record of the loop and from the files as they are now."""
    found = [_light(stage, stages, state) for stage in stages]
    if not is_held(state.path.with_suffix(".lock")):
        return found
    begun = {name for name, entry in state.entries.items() if entry.code is None}
    reasons = {light.stage: RUNNING if light.stage in begun else LATER for light in found}
    return [_with_reason(light, reasons[light.stage]) if light.colour == "grey" else light for light in found]


def _with_reason(light: Light, why: str) -> Light:
    return replace(light, why=why, why_zh=in_chinese(why))


def with_sign_offs(found: Sequence[Light], signed: Mapping[str, str]) -> list[Light]:
    """The lights with the sign-offs of their ambers. `signed`: signer and reason by name of the amber."""
    return [_with_sign_offs(light, signed) if light.colour == "amber" else light for light in found]


def ambers_of(found: Sequence[Light]) -> dict[str, str]:
    """Ambers of all lights by name, each with its signer and reason; empty if nobody signed it off."""
    amber = [light for light in found if light.colour == "amber"]
    return {one.name: light.signed.get(one.name, "") for light in amber for one in light.reasons}


def _with_sign_offs(light: Light, signed: Mapping[str, str]) -> Light:
    own = {one.name: signed[one.name] for one in light.reasons if one.name in signed}
    labels = {one.name: amber_label(one.name) for one in light.reasons}
    english = [f"{en}, signed off by {own[name]}" if name in own else en for name, (en, _) in labels.items()]
    chinese = [f"{zh}，{own[name]} 已签字" if name in own else zh for name, (_, zh) in labels.items()]
    return replace(light, signed=own, why="; ".join(english), why_zh="；".join(chinese))


def next_step(found: Sequence[Light], command: str) -> tuple[str, str]:
    """The next step, in English and Chinese. `command` resumes the loop."""
    for light in found:
        if light.colour == "red" and light.reasons:
            first = light.reasons[0]
            return (
                f'"{light.title}" is red because of {first.name}: {first.remedy}; then run `{command}`',
                f"“{light.title_zh}”红灯，{first.name}：{first.remedy_zh}；然后运行 `{command}`",
            )
        if light.colour == "red":
            return (
                f'"{light.title}" is red: {light.why}; read its output, then run `{command}`',
                f"“{light.title_zh}”红灯：{light.why_zh}；请查看其输出，然后运行 `{command}`",
            )
    if running := [light for light in found if light.why == RUNNING]:
        return (
            f"running now: {'; '.join(light.title for light in running)}",
            f"正在运行：{'；'.join(light.title_zh for light in running)}",
        )
    waiting = next((light for light in found if light.colour == "grey"), None)
    if waiting:
        return (
            f'run `{command}`; next stage: "{waiting.title}" ({waiting.why})',
            f"运行 `{command}`，将从“{waiting.title_zh}”继续（{waiting.why_zh}）",
        )
    if names := list(dict.fromkeys(name for light in found for name in light.unsigned)):
        return (
            f"no light is red; before a release sign off or fix: {', '.join(names)} (askgate sign-off --amber NAME)",
            f"没有红灯；发布前须签字或修正：{'、'.join(names)}（askgate sign-off --amber NAME）",
        )
    if any(light.signed for light in found):
        return (
            "no light is red, and every amber is signed off: run `askgate report` (it writes the "
            "sign-offs into reports/rc1/RC1.html), then `askgate package`",
            "没有红灯，黄灯均已签字：请运行 `askgate report`（签字写入 reports/rc1/RC1.html），再 `askgate package`",
        )
    return "all lights are green: read reports/rc1/RC1.html", "全部绿灯：请阅读 reports/rc1/RC1.html"


def reasons_in(report: Any) -> list[Check]:
    """Failed checks of a stage's report, or failed findings of a round's; empty for anything else."""
    if not isinstance(report, dict):
        return []
    found = report.get("checks") or report.get("findings") or ()
    failed = [one for one in found if isinstance(one, dict) and not one.get("passed", False)]
    names = [f"{one['gate']}: {one.get('name')}" if "gate" in one else str(one.get("name")) for one in failed]
    return [msgspec.convert({**one, "name": name}, Check) for one, name in zip(failed, names, strict=True)]


def _light(stage: Stage, stages: Sequence[Stage], state: State) -> Light:
    """The light of a stage, as if no loop were running."""
    reports = [path for path in stage.outputs if path.suffix == ".json" and path.is_file()]
    shown = str(reports[0]) if reports else ""
    why = state.why_not_valid(stage)
    entry = state.entries.get(stage.name)
    lacking = state.lacking(stage, stages)
    colour: Colour = "green"
    reasons: list[Check] = []
    if entry is not None and entry.code not in (None, PASSED, FAILED) and not lacking:
        colour, why = "red", f"it was refused or crashed (exit code {entry.code})"
        reasons = reasons_of(reports)
    elif lacking:
        colour, why = "grey", f"{' and '.join(lacking)} did not pass, or is no longer valid"
    elif why:
        colour = "grey"
    elif entry is not None and entry.code == FAILED:
        colour, why, reasons = "red", "a gate failed", reasons_of(reports)
    elif reasons := reasons_of(reports, ambers=True):
        colour = "amber"
    light = Light(stage.name, stage.title, stage.title_zh, colour, "", reasons, shown)
    return _with_sign_offs(light, {}) if colour == "amber" else _with_reason(light, why)


def reasons_of(reports: Sequence[Path], ambers: bool = False) -> list[Check]:
    """Reasons of the first report that has any: its failed checks, or its ambers."""
    for path in reports:
        with suppress(AttributeError, msgspec.ValidationError):
            report = json_or_none(path)
            found = msgspec.convert(report.get("ambers", []), list[Check]) if ambers else reasons_in(report)
            if found:
                return found
    return []
