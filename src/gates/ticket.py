"""The ticket: how it is issued, verified, and required before training.

A ticket is the report of a second round that passed (`reports/preflight/round2_pass.json`). It lists every check with
value, threshold and evidence, and the SHA-256 of every file that was measured.

    issue(report, context, manifest)            # a round writes its report: round1.json, the ticket, or a refusal
    verify_report(TICKET, manifest, sums)       # is the report still true of the files as they are now?
    admit(Path("configs/ppo_scale.yaml"))       # may training start with this config?

Nothing else makes an `Admission`, so there is no gated training without a verified ticket.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from askgate_env.types import Record

from ..checkpoint.seal import MANIFEST as SEAL
from ..checkpoint.seal import Damaged, final_seals, read_seal
from ..checkpoint.seal import verify as verify_seal
from ..checkpoint.store import HACKING, STOPPED
from ..config.loader import config_fingerprint, load_train_config
from ..config.profile import Profile, load_profile, profile_path
from ..config.train_config import TrainConfig
from ..core import paths as run_paths
from ..core.check import Check, now
from ..core.defaults import CODE, SEED_POOL_FACTS
from ..core.errors import BadInput
from ..core.files import (
    LAUNCHERS,
    code_sha256,
    fingerprint,
    launchers_sha256,
    read_json,
    real_path,
    sha256_file,
    shipped,
    sidecar,
    write_checksums,
    write_json,
)
from ..core.model_files import base_sha256
from ..core.user_class import installed_file, own_files
from ..scoring.ledger import Head, lines
from ..scoring.providers import address, belongs
from ..scoring.types import CallEntry, ScoringEntry
from .gate import GATES, INTEGRITY, MEASURED, MOMENTARY, PREFLIGHT, Finding, RoundContext
from .manifest import Manifest, is_future
from .sign_off import require_signature

ROUND1 = PREFLIGHT / "round1.json"
TICKET = PREFLIGHT / "round2_pass.json"
REFUSAL = PREFLIGHT / "round2_fail.json"
COMMIT = Path("reports/rc1/git_commit.txt")
ENVELOPE = TICKET.with_suffix(".dsse.json")
"""The owner's signature of the ticket."""
FREE_WITH_A_TICKET = ("checkpoint", "device_pref")
"""Settings that `--set` may change in a gated run."""
RUN_BOTH = "run `askgate round 1` and then `askgate round 2`; nobody writes this file by hand"
_AGAIN = "run both rounds again on the files as they are, or put the file back as it was"
_READMIT = "run `askgate round --readmit`, which measures again and makes no paid call"
_TRAIN_AGAIN = "train again: python -m train.ppo_runner"
_LEDGER = "put the ledger back as it was, or score again live and run both rounds again"


class Fingerprint(Record, frozen=True):
    path: str
    sha256: str


class Round(Record, frozen=True, rename={"passed": "pass"}):
    """The report of a round. That of a second round that passed is the ticket."""

    round: Literal["round1", "round2"]
    ts: str
    """When the round ended."""
    passed: bool
    profile: str
    started: str
    version: str
    run: str
    """Name of the run folder that the round belongs to: the first line of the manifest."""
    after: str
    """Hash of the manifest's last line before this round."""
    files: dict[str, Fingerprint]
    """By role: pool, metrics, balanced, shadow_set, weights, config, templates, ..."""
    ledger: Head
    findings: list[Finding]
    environment: dict[str, str]
    """RUN_MODE and the judge."""
    judge_server: str = ""
    """Host and port of the judge, or `askgate` for the server that AskGate starts itself."""
    code: str = ""
    """SHA-256 of AskGate's code and texts that measured, when the round began."""
    earlier_code: tuple[str, ...] = ()
    """The same of earlier measurements, oldest first, where the round was measured again after a change of the code."""
    launchers: str = ""
    """SHA-256 of the scripts of a checkout that start AskGate; empty where it is installed."""
    owner_key: str = ""
    """Fingerprint of the owner's public key, where the profile names one."""
    base_model: str = ""
    """SHA-256 of the model whose episodes were measured, and that may be trained."""
    commit: str = ""
    """Git commit of the checkout, as the operations script noted it."""
    fresh_seed: int | None = None
    """Seed of the random sample that was scored live."""
    round1_sha256: str = ""
    """SHA-256 of the report of round 1, in a report of round 2."""
    to_do: tuple[str, ...] = ()
    to_do_zh: tuple[str, ...] = ()
    ambers: tuple[Check, ...] = ()
    """Facts that the owner must know though no gate failed (`ambers.py`)."""

    @property
    def failed(self) -> list[Finding]:
        return [one for one in self.findings if not one.passed]

    @property
    def unmeasured(self) -> set[str]:
        """Gates that could not be measured, such as `judge` where the judge did not answer."""
        return {one.gate for one in self.failed if one.name == MEASURED}

    @property
    def exit_code(self) -> int:
        """1 where a quality gate failed; 2 where something is not genuine or could not be measured."""
        if self.passed:
            return 0
        return 2 if any(one.gate in INTEGRITY or one.name == MEASURED for one in self.failed) else 1


def read_commit() -> str:
    return COMMIT.read_text(encoding="utf-8", errors="replace").strip() if COMMIT.exists() else ""


def read_round(path: Path) -> Round:
    try:
        return msgspec.convert(read_json(path, RUN_BOTH), Round)
    except msgspec.ValidationError as error:
        raise BadInput(f"no round has written this ({error})", where=str(path), remedy=RUN_BOTH) from None


# Issuing


def issue(report: Round, context: RoundContext, manifest: Manifest) -> Path:
    """Writes the report of a round, and records it with all its evidence in the manifest. Returns its path."""
    path = ROUND1 if report.round == "round1" else TICKET if report.passed else REFUSAL
    write_json(path, report)
    known = dict(_evidence(report))
    derived = [file for file in sorted(context.work.iterdir()) if file.is_file() and file.suffix != ".lock"]
    manifest.record(dict.fromkeys([*map(Path, known), *derived, path]), known)
    if report.ledger.lines:
        manifest.record_ledger(context.ledger, report.ledger.hash, report.ledger.lines)
    write_checksums(Path(one.path) for one in report.files.values())
    return path


def withdraw_reports(number: int, manifest: Manifest, sign_offs: bool = False) -> None:
    """Withdraws the reports that a round replaces, before it overwrites their evidence.

    `sign_offs`: also those of ambers and of the ticket; they are for the profile whose rounds are replaced.
    """
    reports = [ROUND1, TICKET, REFUSAL] if number == 1 else [TICKET, REFUSAL]
    for path in [*reports, *([ENVELOPE, *PREFLIGHT.glob("amber_*.json")] if sign_offs else [])]:
        manifest.withdraw(path)  # first: where the disk is full, the report stays
        path.unlink(missing_ok=True)


def _evidence(report: Round) -> Iterator[tuple[str, str]]:
    yield from ((one.path, one.sha256) for one in report.files.values())
    for one in report.findings:
        yield from one.evidence.items()


# Verifying


class Fingerprints:
    """Fingerprints of files as they are now, each computed once."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, path: str) -> str:
        if path not in self._known:
            self._known[path] = fingerprint(Path(path))
        return self._known[path]


def verify_report(path: Path, manifest: Manifest, sums: Fingerprints) -> Round:
    """The report of a round, if it is still true of the files as they are now. Else BadInput names what differs.

    Checked are its own bytes, its verdicts, its time, and every file that it was measured on. The ledger, which grows,
    is left to `verify_ledger`.
    """
    report = read_round(path)
    for what in _contradictions(path, report, manifest):
        raise BadInput(what, where=str(path), remedy=RUN_BOTH)
    if is_future(report.ts) or report.started > report.ts:
        raise BadInput(
            f"is of {report.ts}, and the clock says {now()}",
            where=str(path),
            remedy="set the clock right; if it is right, run both rounds again",
        )
    for name, stated in _evidence(report):
        try:
            changed = sums.of(name) != stated
        except BadInput as error:
            raise BadInput(f"{error.what}; {path.name} was measured on it", where=name, remedy=_AGAIN) from None
        if changed:
            raise BadInput(f"has changed since {path.name} was written", where=name, remedy=_AGAIN)
    return report


def verify_ledger(ledger: Path, heads: list[Head]) -> None:
    """Checks that the hash chain is whole and passes through every recorded head. It may have grown since."""
    wanted = {head.lines: head.hash for head in heads if head.lines}
    for line in lines(ledger):
        if wanted.pop(line.head.lines, line.head.hash) != line.head.hash:
            raise BadInput(
                "is another ledger than the one that was measured: the line does not have the hash on record",
                where=f"{ledger}:{line.head.lines}",
                remedy=_LEDGER,
            )
    if wanted:
        raise BadInput(
            f"lines are missing at its end: it had {max(wanted)} when it was measured",
            where=str(ledger),
            remedy=_LEDGER,
        )


def verify_judge(ledger: Path, report: Round) -> None:
    """Checks that the round's judge was where the report says, and that no call went elsewhere under a known name."""
    entries = [line.entry for line in lines(ledger) if line.seq <= report.ledger.lines]
    last = ""
    for call in (one for one in entries if isinstance(one, CallEntry)):
        last = address(call.server)
        if not belongs(call.provider, last):
            raise BadInput(
                f"has calls to {last or 'an unknown address'} under the name {call.provider}, which is another server",
                where=str(ledger),
                remedy="move the ledger away, name that server SCORER_PROVIDER=custom, score again and run both rounds",
            )
    if last != report.judge_server:
        raise BadInput(
            f"names the judge {report.judge_server or 'nowhere'}, and the ledger has calls to {last or 'nobody'}",
            where=report.round,
            remedy=RUN_BOTH,
        )
    scored = next((one for one in reversed(entries) if isinstance(one, ScoringEntry)), None)
    for name, known in (("SCORER_PROVIDER", "provider"), ("SCORER_MODEL", "model")):
        stated = report.environment.get(name, "")
        if stated and scored and stated != getattr(scored, known):
            what = f"says {name}={stated}, and the last score in the ledger is by {getattr(scored, known)}"
            raise BadInput(what, where=report.round, remedy=RUN_BOTH)


def _contradictions(path: Path, report: Round, manifest: Manifest) -> Iterator[str]:
    """Ways in which a report contradicts the manifest or itself.

    Every verdict is computed again from value and threshold, and the report's own from those of its checks.
    """
    entry = manifest.newest().get(str(path))
    if report.run != manifest.run:
        yield "belongs to another run, not to this folder"
    if entry is None or entry.kind != "file":
        yield f"is not in {manifest.path}: no round of this run wrote it, or it was withdrawn"
    elif entry.sha256 != sha256_file(path):
        yield "was changed after the round wrote it"
    elif not manifest.is_written_after(report.after, report.ts, path):
        yield f"was not written at {report.ts} after the line of {manifest.path} that it names"
    for one in report.findings:
        if one.passed != one.verdict:
            stated = "passed" if one.passed else "failed"
            yield f"{one.gate}: {one.name} says {stated}, and {one.value} {one.rule} {one.threshold} does not"
    named = Counter((one.gate, one.name) for one in report.findings)
    for (gate, name), count in named.items():
        if gate not in GATES or (gate in MOMENTARY and name not in {*MOMENTARY[gate], MEASURED}):
            yield f"{gate}: {name} is no check of a round"
        elif count > 1:
            yield f"{gate}: {name} is there {count} times"
    needed = [gate for gate in GATES if gate != "round1" or report.round == "round2"]
    if lacking := [gate for gate in needed if all(one.gate != gate for one in report.findings)]:
        yield f"nothing was measured for {', '.join(lacking)}"
    if report.passed != all(one.passed for one in report.findings):
        yield "its verdict is not that of its checks"
    profile = report.files.get("profile")
    if profile is None or profile.path != str(profile_path(load_profile(report.profile).name)):
        yield f"does not say which profile {report.profile} it used"


# Admitting


class Admission(Record, frozen=True):
    """Permission to train, with what it was given for."""

    profile: str
    ticket_sha256: str
    run: str
    stands_on: dict[str, str]
    """SHA-256 of the config and of all that may be trained on, by the config key that names it. Training compares it
    with what it has read."""
    earlier_code: tuple[str, ...] = ()
    """SHA-256 of AskGate's earlier code that the ticket was issued for: a run that began with it resumes."""


def admit(config: Path, overrides: Sequence[str] | None = None) -> Admission:
    """Verifies the ticket for a training config. Raises BadInput with the reason; writes nothing.

    `overrides`: the command line's `--set`.
    """
    if not TICKET.exists():
        see = f"; {REFUSAL} says what to do" if REFUSAL.exists() else ""
        raise BadInput(f"there is no ticket, so no training{see}", where=str(TICKET), remedy=RUN_BOTH)
    manifest = Manifest()
    manifest.refuse_future()
    claimed = read_round(TICKET)
    profile = load_profile(claimed.profile)
    refuse_other_config(claimed, profile, config)
    _refuse_other_settings(config, overrides)
    sums = Fingerprints()
    ticket = verify_report(TICKET, manifest, sums)
    if ticket.round != "round2" or not ticket.passed:
        raise BadInput("is no ticket: a second round has not passed", where=str(TICKET), remedy=RUN_BOTH)
    if ticket.code != code_sha256():
        what = "AskGate's code or templates have changed since the rounds"
        raise BadInput(what, where=str(TICKET), remedy=_READMIT)
    if ticket.launchers != launchers_sha256():
        what = f"a Python file in {', '.join(LAUNCHERS)} or beside them has changed since the rounds"
        raise BadInput(what, where=str(TICKET), remedy=_READMIT)
    first = verify_report(ROUND1, manifest, sums)
    same = (first.passed, first.profile, first.code) == (True, ticket.profile, ticket.code)
    if sha256_file(ROUND1) != ticket.round1_sha256 or not same:
        raise BadInput("is not the first round that the ticket is based on", where=str(ROUND1), remedy=RUN_BOTH)
    verify_ledger(profile.paths.ledger, [first.ledger, ticket.ledger])
    verify_judge(profile.paths.ledger, ticket)
    _refuse_other_model(ticket, config)
    _refuse_other_classes(ticket)
    require_signature(profile, TICKET, ticket.run, ticket.owner_key, ENVELOPE)
    stands_on = _trained_on(ticket, config, sums)
    return Admission(ticket.profile, sha256_file(TICKET), ticket.run, stands_on, ticket.earlier_code)


def trained_config() -> tuple[Path, TrainConfig] | None:
    """The config of the ticket that was trained, with its path. The seals of the final models tell which one it was.

    None where no final model is there. Refuses models of a config that the ticket does not cover.
    """
    seals = final_seals(run_paths.GATED_CHECKPOINTS)
    if not seals:
        return None
    ticket = read_round(TICKET)
    paths = load_profile(ticket.profile).paths
    try:
        trained = [settings_of(read_seal(seal.parent).marks.get("config", {})) for seal in seals]
    except Damaged as error:
        raise BadInput(str(error), where=str(run_paths.GATED_CHECKPOINTS), remedy=_TRAIN_AGAIN) from None
    for path in (one for one in (paths.config, paths.trial) if one and shipped(one).exists()):
        config = load_train_config(path).model_copy(update={"profile": ticket.profile})
        if all(one == settings_of(config.model_dump(mode="json")) for one in trained):
            return path, config
    what = f"was not trained with the settings of {paths.config}, which the ticket covers"
    raise BadInput(what, where=str(seals[0].parent), remedy=_TRAIN_AGAIN)


def settings_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a ticket fixes."""
    return {key: value for key, value in config.items() if key not in FREE_WITH_A_TICKET}


def final_models(config: TrainConfig, remedy: str = _TRAIN_AGAIN) -> list[Path]:
    """Folders of a gated run's final models, after checking that each is undamaged and sealed with this ticket."""
    folders = run_paths.final_models(config.seeds)
    for folder in folders:
        verify_final_model(folder, remedy)
    return folders


def sealed_ticket(folder: Path) -> str:
    """SHA-256 of the ticket that a model is sealed with; empty where there is none or the seal is damaged."""
    try:
        return str(read_seal(folder).marks.get("ticket") or "")
    except Damaged:
        return ""


def verify_final_model(folder: Path, remedy: str = _TRAIN_AGAIN) -> None:
    """Refuses a model that is damaged, has files it was not saved with, was not trained behind this ticket, or is of a
    run that did not reach its end. Only a user's own engine may end early (`ended_early`)."""
    try:
        sealed = verify_seal(folder)
    except Damaged as error:
        raise BadInput(str(error), where=str(folder), remedy=remedy) from None
    marks = sealed.marks
    if not marks.get("gated") or marks.get("ticket") != sha256_file(TICKET):
        raise BadInput("was not trained behind the ticket in this run folder", where=str(folder), remedy=remedy)
    if reason := marks.get(STOPPED) or marks.get(HACKING):
        what = f"is of a run that was stopped after step {sealed.step}: {reason}"
        raise BadInput(what, where=str(folder), remedy=remedy)
    if (early := ended_early(folder)) and ":" not in marks.get("config", {}).get("engine", ""):
        raise BadInput(f"is no final model: {early}", where=str(folder), remedy=remedy)
    if (settings := marks.get("config", {}).get("warm_start")) and sealed.step >= settings["steps"]:
        _verify_warm_start(folder, marks, remedy)


def _verify_warm_start(folder: Path, marks: Mapping[str, Any], remedy: str) -> None:
    """Refuses another policy than the one that a final model was trained from: the model names its seal."""
    warm = warm_start_of(folder)
    try:
        verify_seal(warm)
    except Damaged as error:
        raise BadInput(str(error), where=str(warm), remedy=remedy) from None
    if marks.get(run_paths.WARM_START) != sha256_file(warm / SEAL):
        what = f"is not the warm start that {folder} was trained from"
        raise BadInput(what, where=str(warm), remedy=remedy)


def warm_start_of(folder: Path) -> Path:
    """Folder of the warm start that a final model was trained from."""
    return folder.with_name(run_paths.WARM_START)


def ended_early(folder: Path) -> str:
    """The step that a final model is of, where that is not the last step of its config; else empty."""
    sealed = read_seal(folder)
    steps = sealed.marks.get("config", {}).get("steps")
    return "" if sealed.step == steps else f"it is of step {sealed.step}, and the config has {steps} steps"


def _trained_on(ticket: Round, config: Path, sums: Fingerprints) -> dict[str, str]:
    roles = {"seed_pool": "balanced", "shadow_set": "shadow_set", "reward.weights": "weights"}
    measured = {key: ticket.files[role].sha256 for key, role in roles.items()}
    # New samples are generated by the sidecar while the run trains.
    facts = sums.of(str(sidecar(Path(ticket.files["balanced"].path))))
    # The fingerprints that were compared with the ticket: a config exchanged since then does not get in.
    config_sum = config_fingerprint(config, lambda file: sums.of(os.path.relpath(file)))
    files = {"config": config_sum, CODE: ticket.code, "base_model": ticket.base_model}
    files |= {**measured, SEED_POOL_FACTS: facts}
    settings = load_train_config(config)
    files |= {str(file): sums.of(str(file)) for file in own_files(settings.own_classes)}
    unstable = settings.reward.unstable
    return files | ({"reward.unstable": sums.of(str(unstable))} if unstable else {})


def _refuse_other_model(ticket: Round, config: Path) -> None:
    """Episodes, weights and figures are those of one model; the name of its folder proves nothing."""
    model = load_train_config(config).base_model
    if base_sha256(model) != ticket.base_model:
        raise BadInput(
            f"{model} is not the model that the rounds measured",
            where=f"{config}: base_model",
            remedy="put the model back as it was, or record its episodes and run both rounds again",
        )


def _refuse_other_classes(ticket: Round) -> None:
    """Refuses own classes that the rounds measured and that are not in the working folder: an installed class of that
    name would be loaded in their place. One with the same bytes may be, as in an unpacked package."""
    for name, stated in _evidence(ticket):
        if Path(name).suffix == ".py" and not Path(name).is_file():
            installed = installed_file(Path(name))
            if installed is None or not installed.is_file() or sha256_file(installed) != stated:
                what = "the rounds measured this class, and another one would be loaded"
                raise BadInput(what, where=name, remedy=_AGAIN)


def _refuse_other_settings(config: Path, overrides: Sequence[str] | None) -> None:
    """The ticket answers for the settings in the file, so `--set` may only change what leaves the result as it is."""
    measured, asked = load_train_config(config), load_train_config(config, overrides)
    for key, value in measured:
        if value != getattr(asked, key) and key not in FREE_WITH_A_TICKET:
            raise BadInput(
                f"the ticket was issued for another {key}",
                where=f"--set {key}",
                remedy=f"leave it out, or change {config} and run both rounds again",
            )


def refuse_other_config(ticket: Round, profile: Profile, config: Path) -> None:
    """A ticket is for the configs that its profile names; a ticket of a weaker profile is worth nothing elsewhere."""
    paths = profile.paths
    if real_path(config) not in {real_path(one) for one in (paths.config, paths.trial) if one}:
        raise BadInput(
            f"the ticket is of profile {ticket.profile}, which is for {paths.config}",
            where=str(config),
            remedy="run both rounds with the profile that is for this config (`askgate round --profile`)",
        )
    asked = load_train_config(config).profile
    if asked not in ("local", ticket.profile):
        raise BadInput(
            f"this config wants a ticket of profile {asked}, and there is one of {ticket.profile}",
            where=f"{config}: profile",
            remedy=f"run both rounds with --profile {asked}",
        )
