"""The trial before the run at scale: a short gated run of the same ticket, whose verdict lets the long one start."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ..config.loader import load_train_config
from ..config.profile import Profile, load_profile, profile_path
from ..core.errors import BadInput
from ..core.files import read_json, real_path, sha256_file
from ..core.paths import evaluation_report
from ..eval.compare import compare, trial_checks
from ..eval.trial import TrialReport
from .admission import Admission
from .final_models import settings_of
from .manifest import Manifest


def trial_tag(profile: Profile) -> str:
    """Tag of the trial's report: `reports/ppo_eval_rc1_trial.json`."""
    return f"{profile.name}_trial"


def require_trial(config: Path, admission: Admission) -> None:
    """Refuses the config at scale until the trial of the same ticket has passed its gates.

    The report counts if the manifest has it as it is, and if its figures pass the thresholds of today.
    """
    profile = load_profile(admission.profile)
    paths, limits = profile.paths, profile.thresholds
    if not limits.trial_required or real_path(config) != real_path(paths.config):
        return
    if not paths.trial:
        what, where = "the profile requires a trial and names none", f"{profile_path(profile.name)}: paths.trial"
        raise BadInput(what, where=where, remedy="name the config of the trial, then run both rounds again")
    file, tag = evaluation_report(trial_tag(profile))[0], trial_tag(profile)
    remedy = f"run `askgate ppo-runner --config {paths.trial}`, then `askgate eval --config {paths.trial} --tag {tag}`"

    def refused(what: str) -> BadInput:
        return BadInput(f"{what}, and the run at scale needs a trial that passed", where=str(file), remedy=remedy)

    if not file.exists():
        raise refused("there is no report of a trial")
    recorded = Manifest().newest().get(str(real_path(file).relative_to(real_path(Path()))))
    if recorded is None or recorded.sha256 != sha256_file(file):
        raise refused("this is not the report that the evaluation of the trial recorded")
    try:
        report = msgspec.convert(read_json(file, remedy), TrialReport)
    except msgspec.ValidationError as error:
        raise refused(f"this is no report of an evaluation ({error})") from None
    # A local config with a ticket runs under the ticket's profile.
    trial = load_train_config(paths.trial).model_copy(update={"profile": admission.profile})
    if not report.gated or report.ticket != admission.ticket_sha256:
        raise refused("the trial ran behind another ticket")
    if settings_of(report.config) != settings_of(trial.model_dump(mode="json")):
        raise refused(f"the trial ran with other settings than {paths.trial}")
    if report.pooled.steps < trial.steps:
        raise refused(f"the trial ended after {report.pooled.steps} of {trial.steps} steps")
    changes = report.pooled.changes if report.pooled.changes is not None else compare([], [], 0)
    if failed := [one for one in trial_checks(changes, limits) if not one.passed]:
        names = ", ".join(one.name for one in failed)
        raise BadInput(
            f"the trial failed ({names}), so nothing is trained at scale", where=str(file), remedy=failed[0].remedy
        )
