"""The owner's lights: data, reward, scoring, policy, resources and evidence, for each round (document 001, "看灯口径").

A light shows what the round's report measured, with every verdict derived again from value and threshold. It is green
only while every file that it was measured on is unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..config.profile import load_profile
from ..core.check import Check, amber_label
from ..core.errors import BadInput
from ..gates.ambers import sign_offs
from ..gates.gate import Finding
from ..gates.manifest import Manifest
from ..gates.ticket import REFUSAL, ROUND1, TICKET, Fingerprints, Round, read_round, verify_ledger, verify_report
from ..loop.lights import Colour
from ..pages.render import LABELS
from .run_files import file_stamp

EVIDENCE = "evidence"
LIGHT_GATES: dict[str, tuple[str, ...]] = {
    "data": ("pool", "difficulty"),
    "reward": ("weights", "calibration", "shadow", "penalty", "ablation"),
    "scoring": ("fresh", "scoring", "judge"),
    "policy": ("config",),
    "resources": ("disk",),
    EVIDENCE: ("round1",),
}
"""The lights of a round, and the gates that each shows."""
AMBER_LIGHTS = {"judge_auc": "scoring", "judge_noise": "scoring", "canaries_fooled": "scoring"}
"""The light that shows an amber. The light of the evidence shows the others."""


@dataclass(frozen=True)
class OwnerLight:
    """A light as it is now, with the reason in both languages."""

    round: int
    name: str
    colour: Colour
    why: str
    why_zh: str
    findings: Sequence[Finding] = ()
    changed: Sequence[str] = ()  # files that it was measured on and that have changed since
    report: str = ""
    ambers: Sequence[Check] = ()  # facts that the owner must know
    signed: Mapping[str, str] = field(default_factory=dict)
    """Ambers that were signed off: name, and who signed with which reason."""

    @property
    def unsigned(self) -> list[str]:
        """Names of the ambers that nobody has signed off."""
        return [one.name for one in self.ambers if one.name not in self.signed]


@dataclass(frozen=True)
class RoundLights:
    """The lights of one round, and the report that they are read from."""

    number: int
    lights: Sequence[OwnerLight]
    report: str = ""
    ts: str = ""
    profile: str = ""


class CachedFingerprints(Fingerprints):
    """Checksums that are computed again only when size or time of a file has changed.

    The board asks for them every second and must not read all files every time.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stamps: dict[str, object] = {}

    def of(self, path: str) -> str:
        stamp = file_stamp(Path(path))
        if self._stamps.get(path) != stamp:
            self._known.pop(path, None)
        found = super().of(path)
        self._stamps[path] = stamp
        return found


def round_lights(fingerprints: Fingerprints) -> list[RoundLights]:
    """Lights of both rounds in the project folder that this process works in."""
    return [_round(1, ROUND1, fingerprints), _round(2, TICKET if TICKET.exists() else REFUSAL, fingerprints)]


def _round(number: int, path: Path, fingerprints: Fingerprints) -> RoundLights:
    if not path.exists():
        command = f"askgate round {number}"
        why = f"round {number} has not been run: {command}", f"第{'一二'[number - 1]}轮预检尚未运行：{command}"
        return RoundLights(number, [OwnerLight(number, name, "grey", *why) for name in LIGHT_GATES])
    try:
        report = read_round(path)
    except BadInput as error:
        why = str(error), f"报告无法读取：{error}"
        return RoundLights(number, [OwnerLight(number, name, "red", *why, report=str(path)) for name in LIGHT_GATES])
    lights = [_light(number, name, report, path, fingerprints) for name in LIGHT_GATES]
    return RoundLights(number, lights, str(path), report.ts, report.profile)


def _light(number: int, name: str, report: Round, path: Path, fingerprints: Fingerprints) -> OwnerLight:
    findings = [one for one in report.findings if one.gate in LIGHT_GATES[name]]
    failed = [one for one in findings if not one.verdict]
    stated = {(file, digest) for one in findings for file, digest in one.evidence.items()}
    changed = sorted({file for file, digest in stated if _sha256(fingerprints, file) != digest})

    def light(colour: Colour, why: str, why_zh: str) -> OwnerLight:
        return OwnerLight(number, name, colour, why, why_zh, findings, changed, str(path))

    if failed:
        names = ", ".join(f"{one.gate}: {one.name}" for one in failed[:3])
        names_zh = "、".join(f"{LABELS['gates'][one.gate][1]} {one.name}" for one in failed[:3])
        more = f" (+{len(failed) - 3})" if len(failed) > 3 else ""
        english = f"{len(failed)} of {len(findings)} failed: {names}{more}"
        return light("red", english, f"{len(findings)} 项中 {len(failed)} 项未通过：{names_zh}{more}")
    if name == EVIDENCE:
        if refusal := _why_refused(path, report, fingerprints):
            return light("red", refusal, f"证据不成立，需重跑两轮预检或恢复文件：{refusal.split(': ')[0]}")
        if number == 2 and not report.passed:
            return light("red", f"no ticket: {path.name} says what to do", f"无训练票：见 {path.name}")
        good = "report and files match", "报告与文件一致"
    elif not findings:
        return light("grey", "nothing was measured", "没有测量")
    elif changed:
        return light("grey", f"changed since: {', '.join(changed)}", f"测量后文件已变：{', '.join(changed)}")
    else:
        many = f"all {len(findings)} checks" if len(findings) > 1 else "its check"
        good = f"{many} passed", f"{len(findings)} 项全部通过"
    ambers = [one for one in report.ambers if AMBER_LIGHTS.get(one.name, EVIDENCE) == name]
    if not ambers:
        return light("green", *good)
    known = {one.name: amber_label(one.name) for one in ambers}
    signed = sign_offs(load_profile(report.profile))
    english = "; ".join(f"{en}, signed off" if name in signed else en for name, (en, _) in known.items())
    chinese = "；".join(f"{zh}，已签字" if name in signed else zh for name, (_, zh) in known.items())
    amber = light("amber", f"{good[0]}; the owner must know: {english}", f"{good[1]}；负责人须知：{chinese}")
    return replace(amber, ambers=ambers, signed=signed)


def _sha256(fingerprints: Fingerprints, name: str) -> str | None:
    """SHA-256 of a file as it is now; None if it cannot be read."""
    with suppress(BadInput):
        return fingerprints.of(name)
    return None


def _why_refused(path: Path, report: Round, fingerprints: Fingerprints) -> str:
    """Why a report is not valid: its bytes, its line in the manifest, a file or the ledger. Empty if it is valid."""
    try:
        verify_report(path, Manifest(), fingerprints)
        verify_ledger(load_profile(report.profile).paths.ledger, [report.ledger])
    except BadInput as error:
        return str(error)
    return ""
