"""Admission: whether training may start with a config.

    admission = admit(Path("configs/ppo_scale.yaml"))
    require_trial(Path("configs/ppo_scale.yaml"), admission)

Only `admit` makes an `Admission`, so there is no gated training without a verified ticket. The trial is a short gated
run with the same ticket; the full-size run needs a trial that passed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from askgate_env.types import Record

from ..config.loader import config_fingerprint, load_train_config
from ..config.profile import Profile, load_profile, profile_path
from ..config.train_config import TrainConfig
from ..core.defaults import CODE, SEED_POOL_FACTS
from ..core.errors import BadInput
from ..core.files import LAUNCHERS, code_sha256, launchers_sha256, read_json, real_path, sha256_file, sidecar
from ..core.model_files import base_sha256
from ..core.paths import evaluation_report
from ..core.user_class import OWN_FILE, class_file, installed_file, own_files
from ..eval.compare import compare, trial_checks
from ..eval.trial import TrialReport
from .final_models import FREE_WITH_A_TICKET, MEASURED_AS, settings_of
from .manifest import Manifest
from .ticket import (
    AGAIN,
    REFUSAL,
    ROUND1,
    RUN_BOTH,
    TICKET,
    Fingerprints,
    Round,
    evidence,
    read_round,
    require_sign_off,
    verify_first_round,
    verify_judge,
    verify_ledger,
    verify_report,
)

_READMIT = "run `askgate round --readmit`, which measures again and makes no paid call"


class Admission(Record, frozen=True):
    """Permission to train: ticket, run and files that it was given for."""

    profile: str
    ticket_sha256: str
    run: str
    source_hashes: dict[str, str]
    """SHA-256 of the config and of every file that may be trained on, by the config key that names it. Training
    compares it with the bytes that it has read."""
    earlier_code: tuple[str, ...] = ()
    """SHA-256 of AskGate's earlier code that the ticket was issued for: a run that began with it resumes."""


def admit(config: Path, overrides: Sequence[str] | None = None) -> Admission:
    """Verifies the ticket for a training config. Raises BadInput with the reason; writes nothing.

    `overrides`: the command line's `--set`.
    """
    if not TICKET.exists():
        _ = Manifest().run  # raises if no round was run at all
        see = f"; {REFUSAL} says what to do" if REFUSAL.exists() else ""
        raise BadInput(f"there is no ticket, so no training{see}", where=str(TICKET), remedy=RUN_BOTH)
    manifest = Manifest()
    manifest.refuse_future()
    claimed = read_round(TICKET)
    profile = load_profile(claimed.profile)
    refuse_other_config(claimed, profile, config)
    _refuse_other_settings(config, overrides)
    fingerprints = Fingerprints()
    ticket = verify_report(TICKET, manifest, fingerprints)
    if ticket.round != "round2" or not ticket.passed:
        raise BadInput("is no ticket: a second round has not passed", where=str(TICKET), remedy=RUN_BOTH)
    if ticket.code != code_sha256():
        what = "AskGate's code or templates have changed since the rounds"
        raise BadInput(what, where=str(TICKET), remedy=_READMIT)
    if ticket.launchers != launchers_sha256():
        what = f"a Python file in {', '.join(LAUNCHERS)} or beside them has changed since the rounds"
        raise BadInput(what, where=str(TICKET), remedy=_READMIT)
    first = verify_report(ROUND1, manifest, fingerprints)
    verify_first_round(ticket, first)
    verify_ledger(profile.paths.ledger, [first.ledger, ticket.ledger])
    verify_judge(profile.paths.ledger, ticket)
    model = load_train_config(config).base_model
    if base_sha256(model) != ticket.base_model:  # its folder may have the same name
        what = f"{model} is not the model that the rounds measured"
        remedy = "put the model back as it was, or record its episodes and run both rounds again"
        raise BadInput(what, where=f"{config}: base_model", remedy=remedy)
    _refuse_unmeasured_classes(ticket, config)
    _refuse_other_classes(ticket)
    require_sign_off(ticket, profile)
    source_hashes = _trained_on(ticket, config, fingerprints)
    return Admission(ticket.profile, sha256_file(TICKET), ticket.run, source_hashes, ticket.earlier_code)


def _trained_on(ticket: Round, config: Path, fingerprints: Fingerprints) -> dict[str, str]:
    """SHA-256 of the files that may be trained on (`Admission.source_hashes`)."""
    measured = {key: ticket.files[role].sha256 for key, role in MEASURED_AS.items()}
    # The sidecar says how new samples are generated while the run trains.
    facts = fingerprints.of(str(sidecar(Path(ticket.files["balanced"].path))))
    # From the fingerprints that were compared with the ticket, so that a config cannot be replaced in between.
    config_sha256 = config_fingerprint(config, lambda file: fingerprints.of(os.path.relpath(file)))
    files = {"config": config_sha256, CODE: ticket.code, "base_model": ticket.base_model}
    files |= {**measured, SEED_POOL_FACTS: facts}
    settings = load_train_config(config)
    files |= {str(file): fingerprints.of(str(file)) for file in own_files(settings.own_classes)}
    unstable = settings.reward.unstable_list
    if unstable and str(unstable) not in dict(evidence(ticket)):
        raise BadInput("no round measured this list", where=str(unstable), remedy=AGAIN)
    return files | ({"reward.unstable": fingerprints.of(str(unstable))} if unstable else {})


def _refuse_unmeasured_classes(ticket: Round, config: Path) -> None:
    """Refuses a class that no round measured, such as one of an installed package."""
    for name in load_train_config(config).own_classes:
        if (file := class_file(name)) and str(file) not in dict(evidence(ticket)):
            raise BadInput(f"{name}: no round measured this class", where=str(config), remedy=OWN_FILE.format(file))


def _refuse_other_classes(ticket: Round) -> None:
    """Refuses own classes that the rounds measured and that are not in the project folder, because an installed class
    of that name would be loaded instead. One with the same bytes is accepted, as in an unpacked package."""
    for name, stated in evidence(ticket):
        if Path(name).suffix == ".py" and not Path(name).is_file():
            installed = installed_file(Path(name))
            if installed is None or not installed.is_file() or sha256_file(installed) != stated:
                what = "the rounds measured this class, and another one would be loaded"
                raise BadInput(what, where=name, remedy=AGAIN)


def _refuse_other_settings(config: Path, overrides: Sequence[str] | None) -> None:
    """Refuses `--set` of a setting that changes results: the ticket covers the settings in the file."""
    measured, asked = load_train_config(config), load_train_config(config, overrides)
    for key, value in measured:
        if value != getattr(asked, key) and key not in FREE_WITH_A_TICKET:
            remedy = f"leave it out, or change {config} and run both rounds again"
            raise BadInput(f"the ticket was issued for another {key}", where=f"--set {key}", remedy=remedy)


def refuse_other_config(ticket: Round, profile: Profile, config: Path) -> None:
    """Refuses a config that the ticket's profile does not name, or that requires a ticket of another profile."""
    paths = profile.paths
    if real_path(config) not in {real_path(one) for one in (paths.config, paths.trial) if one}:
        what = f"the ticket is of profile {ticket.profile}, which is for {paths.config}"
        remedy = "run both rounds with the profile that is for this config (`askgate round --profile`)"
        raise BadInput(what, where=str(config), remedy=remedy)
    asked = load_train_config(config).profile
    if asked not in ("local", ticket.profile):
        what = f"this config wants a ticket of profile {asked}, and there is one of {ticket.profile}"
        raise BadInput(what, where=f"{config}: profile", remedy=f"run both rounds with --profile {asked}")


def trial_tag(profile: Profile) -> str:
    """Tag of the trial's report: `reports/ppo_eval_rc1_trial.json`."""
    return f"{profile.name}_trial"


def require_trial(config: Path, admission: Admission) -> tuple[TrainConfig, Path] | None:
    """Refuses the config at scale until the trial of the same ticket has passed its gates.

    The report counts if it is in the manifest unchanged and its figures pass today's thresholds. Returns config and
    report of the trial, which the caller derives again; None if no trial is required.
    """
    profile = load_profile(admission.profile)
    paths, limits = profile.paths, profile.thresholds
    if not limits.trial_required or real_path(config) != real_path(paths.config):
        return None
    if not paths.trial:
        what, where = "the profile requires a trial and names none", f"{profile_path(profile.name)}: paths.trial"
        raise BadInput(what, where=where, remedy="name the config of the trial, then run both rounds again")
    file, tag = evaluation_report(trial_tag(profile))[0], trial_tag(profile)
    remedy = f"run `askgate ppo-runner --config {paths.trial}`, then `askgate eval --config {paths.trial} --tag {tag}`"

    def refused(what: str) -> BadInput:
        return BadInput(f"{what}, and the full-size run needs a trial that passed", where=str(file), remedy=remedy)

    if not file.exists():
        raise refused("there is no report of a trial")
    recorded = Manifest().newest().get(str(real_path(file).relative_to(real_path(Path()))))
    if recorded is None or recorded.digest != sha256_file(file):
        raise refused("this is not the report that the evaluation of the trial recorded")
    try:
        report = msgspec.convert(read_json(file, remedy), TrialReport)
    except msgspec.ValidationError as error:
        raise refused(f"this is no report of an evaluation ({error})") from None
    # A local config with a ticket runs under the ticket's profile.
    trial = load_train_config(paths.trial).model_copy(update={"profile": admission.profile})
    if not report.gated or report.ticket != admission.ticket_sha256:
        raise refused("the trial ran with another ticket")
    if settings_of(report.config) != settings_of(trial.model_dump(mode="json")):
        raise refused(f"the trial ran with other settings than {paths.trial}")
    if report.pooled.steps < trial.steps:
        raise refused(f"the trial ended after {report.pooled.steps} of {trial.steps} steps")
    changes = report.pooled.changes if report.pooled.changes is not None else compare([], [], 0)
    if failed := [one for one in trial_checks(changes, limits) if not one.passed]:
        names = ", ".join(one.name for one in failed)
        what = f"the trial failed ({names}), so nothing is trained at scale"
        raise BadInput(what, where=str(file), remedy=failed[0].remedy)
    return trial, file
