"""The two rounds. A round is computed from evidence, never declared.

It draws samples that nobody has scored and has them scored live, measures every gate again from files, and writes down
what it found: `round1.json`; and `round2_pass.json`, the ticket, only when every check of both rounds passed, else
`round2_fail.json` that says what to do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from .. import __version__
from ..config.loader import config_files, load_train_config
from ..config.profile import Profile, load_profile, profile_path
from ..core.check import check, now
from ..core.errors import BadInput
from ..core.files import sha256_file, shipped, write_checksums, write_json
from ..core.model_files import base_sha256
from ..runtime.lock import lock_folder
from ..scoring.ledger import EMPTY, Head, LedgerBroken, verify
from ..scoring.monitor import Progress
from .finding import Finding, found, read, unmeasured
from .fresh import score_fresh
from .look import Look, look_at
from .manifest import Manifest
from .measure import STORED, measured, of_round
from .prints import fingerprint
from .prove import Sums, prove, prove_ledger
from .report import REFUSAL, ROUND1, TICKET, Print, Round

_ROUND1 = ("run round 1 again; both rounds look at the same files", "请重跑第一轮；两轮必须针对相同的文件")
_TOLD = ("RUN_MODE", "SCORER_PROVIDER", "SCORER_MODEL")
_MOVED = "run this round again, and let nobody write to its files meanwhile"


def run_round(
    number: int,
    name: str,
    environment: Mapping[str, str],
    tell: Callable[[str], None],
    progress: Callable[[Progress], None],
) -> tuple[Round, Path]:
    """The report and where it lies. One at a time: two would write over each other's evidence."""
    with ExitStack() as end:
        end.callback(os.close, lock_folder(ROUND1.parent))
        profile, started, manifest = load_profile(name), now(), Manifest()
        look = look_at(profile, number)
        manifest.begin()
        _void(number, manifest)
        look.work.mkdir(parents=True, exist_ok=True)
        findings = _round1(profile, manifest) if number == 2 else []
        seed = None
        gates = of_round(environment)
        try:
            seed = score_fresh(look, environment, tell, progress)
        except BadInput as error:
            findings.append(unmeasured("fresh", error))
            del gates["fresh"]
        findings += measured({**STORED, **gates}, look)
        files = _files(profile, number)
        _refuse_moved(findings, files)
        passed = all(one.passed for one in findings)
        failed = [one for one in findings if not one.passed]
        report = Round(
            round="round1" if number == 1 else "round2",
            ts=now(),
            passed=passed,
            profile=profile.name,
            started=started,
            version=__version__,
            run=manifest.run,
            after=manifest.head,
            files=files,
            ledger=_head(look),
            findings=findings,
            environment={
                key: environment.get(key, "").strip() for key in ("RUN_MODE", "SCORER_PROVIDER", "SCORER_MODEL")
            },
            base_model=_base(profile),
            fresh_seed=seed,
            round1_sha256=sha256_file(ROUND1) if number == 2 and ROUND1.exists() else "",
            to_do=tuple(f"{one.gate}: {one.name}: {one.remedy}" for one in failed),
            to_do_zh=tuple(f"{one.gate}: {one.name}: {one.remedy_zh}" for one in failed),
        )
        return report, _write(report, look, manifest)


def _round1(profile: Profile, manifest: Manifest) -> list[Finding]:
    """A second round counts only on top of a first one that passed on the same files."""
    if not ROUND1.exists():
        return [unmeasured("round1", BadInput("there is no report of round 1", where=str(ROUND1), remedy=_ROUND1[0]))]
    try:
        first = prove(ROUND1, manifest, Sums())
        prove_ledger(profile.paths.ledger, [first.ledger])
    except BadInput as error:
        return [unmeasured("round1", error)]
    checks = [
        check("round1_passed", float(first.passed), "==", 1, *_ROUND1),
        check("round1_of_this_profile", float(first.profile == profile.name), "==", 1, *_ROUND1),
    ]
    return found("round1", checks, read(ROUND1))


def _files(profile: Profile, number: int) -> dict[str, Print]:
    """By role, as they are now; what is not there has failed its gate already.

    The ticket is for the reports of the stages too. No gate believes them, but pages show their figures. Round 1 leaves
    them alone: the work order runs the shadow run once more between the rounds.
    """
    paths = profile.paths
    told = {
        "pool_report": paths.pool_report,
        "difficulty_report": paths.difficulty_report,
        "calibration_report": paths.calibration_report,
        "shadow_report": paths.shadow_report,
        "ablation_report": paths.ablation_report,
    }
    wanted = {
        "pool": paths.pool,
        "metrics": paths.metrics,
        "balanced": paths.balanced,
        "shadow_set": paths.shadow_set,
        "weights": paths.weights,
        "config": paths.config,
        **({"trial": paths.trial} if paths.trial else {}),
        "templates": paths.templates,
        "profile": profile_path(profile.name),
        **(told if number == 2 else {}),
    }
    there = {role: path for role, path in wanted.items() if shipped(path).exists()}
    configs = [there[role] for role in ("config", "trial", "profile") if role in there]
    there |= {f"extended {parent}": parent for config in configs for parent in _extended(config)}
    return {role: Print(str(path), fingerprint(path)) for role, path in there.items()}


def _extended(config: Path) -> list[Path]:
    """Files that a config takes settings from. None where they cannot be read, which has failed its gate already."""
    try:
        return config_files(config)[1:]
    except BadInput:
        return []


def _refuse_moved(findings: list[Finding], files: Mapping[str, Print]) -> None:
    """All gates must have seen one and the same file."""
    seen = {one.path: one.sha256 for one in files.values()}
    for one in findings:
        for path, digest in one.evidence.items():
            if seen.setdefault(path, digest) != digest:
                raise BadInput("changed while the round looked at it", where=path, remedy=_MOVED)


def _base(profile: Profile) -> str:
    """Empty where config or model cannot be read, which has failed its gate already."""
    try:
        return base_sha256(load_train_config(profile.paths.config).base_model)
    except BadInput:
        return ""


def _head(look: Look) -> Head:
    try:
        return verify(look.ledger) if look.ledger.exists() else EMPTY
    except LedgerBroken:
        return EMPTY


def _void(number: int, manifest: Manifest) -> None:
    """What a round stands in the place of is void when it begins: it writes over the evidence that those stand on."""
    for void in (ROUND1, TICKET, REFUSAL) if number == 1 else (TICKET, REFUSAL):
        void.unlink(missing_ok=True)
        manifest.withdraw(void)


def _write(report: Round, look: Look, manifest: Manifest) -> Path:
    path = ROUND1 if report.round == "round1" else TICKET if report.passed else REFUSAL
    write_json(path, report)
    known = {one.path: one.sha256 for one in report.files.values()}
    known |= {name: digest for one in report.findings for name, digest in one.evidence.items()}
    derived = [file for file in sorted(look.work.iterdir()) if file.is_file() and file.suffix != ".lock"]
    names = dict.fromkeys([*map(Path, known), *derived, path])
    manifest.record(names, known)
    if report.ledger.lines:
        manifest.record_ledger(look.ledger, report.ledger.hash, report.ledger.lines)
    write_checksums(Path(one.path) for one in report.files.values())
    return path
