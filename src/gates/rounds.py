"""The two rounds before gated training. A round is computed from evidence, never declared.

A round draws samples that were never scored and has them scored live, measures every gate again from files, and writes
its report: `round1.json`; then `round2_pass.json`, the ticket, if every check of both rounds passed, else
`round2_fail.json`, which says what to do.

Why two rounds: both measure the same gates on the same files, and each scores other new samples. Round 2 also requires
that round 1 passed with the same profile, files and code. So nothing was adjusted in between to make a gate pass, and a
judge that answered well once must do so again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TypeVar

from .. import __version__
from ..config.loader import config_files, load_train_config
from ..config.profile import Profile, load_profile, profile_path
from ..core.check import Check, check, now, remedies
from ..core.errors import BadInput
from ..core.files import (
    code_sha256,
    current_code_sha256,
    digests_read,
    fingerprint,
    forget_reads,
    launchers_sha256,
    sha256_file,
    shipped,
)
from ..core.model_files import base_sha256
from ..runtime.language import in_language
from ..runtime.lock import lock_folder
from ..runtime.progress import Tell
from ..scoring.judge import Tally
from ..scoring.ledger import EMPTY, newest_scorings, verify
from ..scoring.providers import address, settings_for
from .ambers import Amber, profile_ambers, round_ambers
from .anti_simulation import environment_checks
from .checks.config import config_findings, disk_findings
from .checks.data import difficulty_findings, pool_findings
from .checks.judge import judge_findings, score_exam
from .checks.penalty import ablation_findings, penalty_findings
from .checks.reward import calibration_findings, shadow_findings, weights_findings
from .checks.scoring import fresh_findings, score_fresh, scoring_findings
from .final_models import trained_with_ticket
from .gate import (
    GATES,
    MEASURED,
    Finding,
    Gate,
    RoundContext,
    evidence_of,
    findings_of,
    measure,
    measured_file,
    measured_files,
    round_context,
    unmeasured,
)
from .manifest import Manifest
from .sign_off import owner_key_id
from .ticket import (
    ROUND1,
    TICKET,
    Fingerprint,
    Fingerprints,
    Round,
    issue,
    read_commit,
    read_round,
    sign_off_files,
    verify_ledger,
    verify_report,
    withdraw_reports,
)

FILE_GATES: dict[str, Gate] = {
    "pool": pool_findings,
    "difficulty": difficulty_findings,
    "weights": weights_findings,
    "calibration": calibration_findings,
    "shadow": shadow_findings,
    "penalty": penalty_findings,
    "ablation": ablation_findings,
    "config": config_findings,
}
"""Gates that depend on files alone: on the same files both rounds measure the same values."""
_MEASURED_FILES = ("pool", "metrics", "balanced", "shadow_set", "weights", "config", "trial", "templates")
_STAGE_REPORTS = ("pool_report", "difficulty_report", "calibration_report", "shadow_report", "ablation_report")
T = TypeVar("T")
_ENVIRONMENT = ("RUN_MODE", "SCORER_PROVIDER", "SCORER_MODEL")


def run_round(
    number: int,
    name: str,
    environment: Mapping[str, str],
    tell: Tell,
    progress: Callable[[Tally], None],
    replaces: str = "",
) -> tuple[Round, Path]:
    """Runs round 1 or 2 of a profile. Returns its report and the report's path.

    One round at a time: two would overwrite each other's evidence. `replaces`: a profile whose passed rounds may be
    withdrawn, even if this round is of another profile or something depends on the ticket.
    """
    with ExitStack() as end:
        end.callback(os.close, lock_folder(ROUND1.parent))
        forget_reads()
        profile, started, manifest = load_profile(name), now(), Manifest()
        code, launchers = code_sha256(), launchers_sha256()
        context = round_context(profile, number)
        manifest.begin()
        findings = round1_findings(profile, manifest) if number == 2 else []
        to_withdraw = _passed_reports(number)
        if to_withdraw:
            _refuse_needless_loss(to_withdraw, context, environment, findings, replaces)
        draft = round_context(profile, number, draft=True)
        shutil.rmtree(draft.work, ignore_errors=True)
        seed: int | None = None
        unscored: list[Finding] = []
        try:
            seed = score_fresh(draft, environment, tell, progress)
            score_exam(draft, environment, tell, progress)
        except BadInput as error:
            if to_withdraw:
                raise
            lacking = ["fresh", "judge"] if seed is None else ["judge"]
            unscored = [unmeasured(gate, error) for gate in lacking]
        # The judge has answered. From here on the evidence of the earlier round is overwritten.
        if withdrawn := ", ".join(map(str, withdraw_reports(number, manifest))):
            tell(in_language(f"withdrawn: {withdrawn}", f"已撤回：{withdrawn}"))
        _adopt_draft(draft.work, context.work)
        measurements = [measured_file(context, gate) for gate in GATES]
        for file in measurements:
            file.unlink(missing_ok=True)  # of an earlier round: a gate that fails now writes none
        gates = FILE_GATES | {
            "disk": disk_findings,
            "fresh": fresh_findings,
            "scoring": lambda given: scoring_findings(given, environment),
            "judge": judge_findings,
        }
        for one in unscored:
            del gates[one.gate]
        findings += [*unscored, *measure(gates, context)]
        for file in measurements:
            if not file.exists():
                manifest.withdraw(file)
        files = round_files(profile, number)
        refuse_changed(findings, files, context.fresh)
        if current_code_sha256() != code:
            what = "AskGate's code or templates changed while the round measured"
            remedy = "run both rounds again; update AskGate before or after a round, not meanwhile"
            raise BadInput(what, where=f"round {number}", remedy=remedy)
        report = _make_report(
            context, environment, manifest, findings, files, seed=seed, started=started, code=code, launchers=launchers
        )
        return report, issue(report, context, manifest)


def _adopt_draft(draft: Path, work: Path) -> None:
    """Moves the files of a draft's folder to the folder of the round."""
    work.mkdir(parents=True, exist_ok=True)
    for file in sorted(path for path in draft.rglob("*") if path.is_file()):
        target = work / file.relative_to(draft)
        target.parent.mkdir(parents=True, exist_ok=True)
        file.replace(target)
    shutil.rmtree(draft, ignore_errors=True)


def _make_report(
    context: RoundContext,
    environment: Mapping[str, str],
    manifest: Manifest,
    findings: list[Finding],
    files: dict[str, Fingerprint],
    *,
    seed: int | None,
    started: str,
    code: str,
    launchers: str,
) -> Round:
    """The report of a round. A field that cannot be read is empty: its gate has failed already."""
    profile = context.profile
    failed = [one for one in findings if not one.passed]
    no_judge = any(one.gate == "judge" and one.name == MEASURED for one in failed)
    ambers: list[Amber] = _readable(lambda: profile_ambers(profile) if no_judge else round_ambers(context), [])
    return Round(
        round="round1" if context.round == 1 else "round2",
        ts=now(),
        passed=not failed,
        profile=profile.name,
        started=started,
        version=__version__,
        run=manifest.run,
        after=manifest.head,
        files=files,
        ledger=_readable(lambda: verify(context.ledger), EMPTY),
        findings=findings,
        environment={key: environment.get(key, "").strip() for key in _ENVIRONMENT},
        judge_server=_readable(lambda: address(settings_for(environment, context.scoring).provider.server), ""),
        code=code,
        launchers=launchers,
        owner_key=_readable(lambda: owner_key_id(profile), ""),
        base_model=_readable(lambda: base_sha256(load_train_config(profile.paths.config).base_model), ""),
        commit=read_commit(),
        fresh_seed=seed,
        measured=measured_files(context),
        round1_sha256=sha256_file(ROUND1) if context.round == 2 and ROUND1.exists() else "",
        to_do=tuple(f"{one.gate}: {one.name}: {one.remedy}" for one in failed),
        ambers=tuple(one.fact for one in ambers),
        to_do_zh=tuple(f"{one.gate}: {one.name}: {one.remedy_zh}" for one in failed),
    )


def _passed_reports(number: int) -> dict[Path, Round]:
    """Reports of passed rounds that this round withdraws. One that cannot be read does not count."""
    reports: dict[Path, Round] = {}
    for path in (ROUND1, TICKET) if number == 1 else (TICKET,):
        with suppress(BadInput):
            reports[path] = read_round(path)
    return {path: report for path, report in reports.items() if report.passed}


def _refuse_needless_loss(
    to_withdraw: Mapping[Path, Round],
    context: RoundContext,
    environment: Mapping[str, str],
    findings: list[Finding],
    replaces: str,
) -> None:
    """Refuses a round that cannot pass before it withdraws the report of one that did."""
    profile = context.profile
    for path, report in to_withdraw.items():
        if report.profile not in (profile.name, replaces):
            what = f"is of profile {report.profile}, and a round of {profile.name} would withdraw it"
            remedy = f"name --profile {report.profile}, or add --replace {report.profile} to give it up"
            raise BadInput(what, where=str(path), remedy=remedy)
    ticket = to_withdraw.get(TICKET)
    if ticket and ticket.profile != replaces and (lost := [*trained_with_ticket(), *sign_off_files()]):
        what = f"round {context.round} would withdraw it, but these depend on it: {', '.join(map(str, lost))}"
        remedy = f"use another folder, or give these up: add --replace {ticket.profile}"
        raise BadInput(what, where=str(TICKET), remedy=remedy)
    measured = [path for role in _MEASURED_FILES if (path := getattr(profile.paths, role))]
    if missing := [path for path in measured if not shipped(path).exists()]:
        raise BadInput("no such file, so the round cannot pass", where=str(missing[0]), remedy="run its stage first")
    checks: list[Finding | Check] = [*findings, *disk_findings(context), *environment_checks(environment)]
    if failed := next((one for one in checks if not one.passed), None):
        raise BadInput("fails, so the round cannot pass", where=failed.name, remedy=failed.remedy)
    asked = settings_for(environment, context.scoring).provider.name
    newest = newest_scorings(context.ledger, 1) if context.ledger.exists() else []
    if others := [one.entry.provider for one in newest if one.entry.provider != asked]:
        what = f"its last score is by {others[0]}, and the judge is {asked}, so the round cannot pass"
        remedy = f"set SCORER_PROVIDER={others[0]}, or score all stages again with {asked} first"
        raise BadInput(what, where=str(context.ledger), remedy=remedy)


def round1_findings(profile: Profile, manifest: Manifest) -> list[Finding]:
    """Checks that a first round passed on the same files, measured by the same code."""
    remedy = remedies("gates")["round1"]
    if not ROUND1.exists():
        return [unmeasured("round1", BadInput("there is no report of round 1", where=str(ROUND1), remedy=remedy[0]))]
    try:
        first = verify_report(ROUND1, manifest, Fingerprints())
        verify_ledger(profile.paths.ledger, [first.ledger])
    except BadInput as error:
        return [unmeasured("round1", error)]
    checks = [
        check("round1_passed", float(first.passed), "==", 1, *remedy),
        check("round1_of_this_profile", float(first.profile == profile.name), "==", 1, *remedy),
        check("round1_by_this_code", float(first.code == code_sha256()), "==", 1, *remedy),
    ]
    return findings_of("round1", checks, evidence_of(ROUND1))


def round_files(profile: Profile, number: int) -> dict[str, Fingerprint]:
    """Files that the round measured, by role. A missing file has failed its gate already.

    The ticket also covers the reports of the stages: no gate reads them, but pages show their figures. Round 1 leaves
    them out, because the original requirements repeat the shadow run between the rounds.
    """
    paths = profile.paths
    wanted = {role: getattr(paths, role) for role in _MEASURED_FILES} | {"profile": profile_path(profile.name)}
    if number == 2:
        wanted |= {role: getattr(paths, role) for role in _STAGE_REPORTS}
    existing = {role: path for role, path in wanted.items() if path and shipped(path).exists()}
    configs = [existing[role] for role in ("config", "trial", "profile") if role in existing]
    for config in configs:
        with suppress(BadInput):  # one that cannot be read has failed its gate already
            existing |= {f"extended {parent}": parent for parent in config_files(config)[1:]}
    return {role: Fingerprint(str(path), fingerprint(path)) for role, path in existing.items()}


def refuse_changed(findings: list[Finding], files: Mapping[str, Fingerprint], fresh: Path) -> None:
    """Refuses a file that changed during the round, except `fresh`, which the round itself writes."""
    known = {one.path: one.sha256 for one in files.values()}
    for one in findings:
        for path, digest in one.evidence.items():
            was_other = path != str(fresh) and _was_read_otherwise(shipped(Path(path)))
            if known.setdefault(path, digest) != digest or was_other:
                what = "changed while the round measured it"
                raise BadInput(what, where=path, remedy="run this round again while nothing writes to its files")


def _was_read_otherwise(path: Path) -> bool:
    """Whether this file, or one in this folder, had other bytes when it was read."""
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    return any((seen := digests_read(file)) and seen != {sha256_file(file)} for file in files)


def _readable(read: Callable[[], T], otherwise: T) -> T:
    """The result of `read`; `otherwise` if that raises BadInput, which has failed a gate already."""
    try:
        return read()
    except BadInput:
        return otherwise
