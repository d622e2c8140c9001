"""Proves the results of a gated run: derives its report again from the recorded dialogues.

Plain verification: the figures of the report follow from the recorded dialogues, and report, dialogues and final models
are in the manifest. Deep verification: the models repeat some of their dialogues too (`repeat_dialogues.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ..checkpoint.seal import SEAL_FILE, final_seals
from ..config.loader import effective_text, read_yaml
from ..config.train_config import TrainConfig
from ..core.defaults import DIALOGUES
from ..core.errors import BadInput
from ..core.files import fingerprint, forget_reads, is_plain_json, json_bytes, real_path, sha256_file
from ..core.paths import EFFECTIVE_CONFIG, EVALUATION, GATED_CHECKPOINTS, certified_run, evaluations, in_run
from ..core.paths import final_models as final_folders
from ..eval.trial import TrialReport
from ..gates.final_models import final_models, sealed_ticket, settings_of, trained_config
from ..gates.manifest import Manifest, is_future, newest_evaluation
from ..gates.ticket import TICKET
from ..utils.processes import usable_cores
from .results import Evaluations, curves, derive, evaluated_files, outputs, verify_curves, verify_keys

_AGAIN = "run `askgate eval` on the run's own episodes; if it refuses them, train again"
_PUT_BACK = "put it back as the run wrote it"
_RECORDED = re.compile(
    r"checkpoints/rc1/(seed_\d+/)?final_model/manifest\.json|logs/(metrics\.jsonl|eval\.jsonl|episodes)"
    r"|logs/eval/(seed_\d+/)?(key\.json|step_\d+\.jsonl|control(_time)?(\.key\.json|\.jsonl))"
    r"|reports/ppo_eval_[^/]*\.json"
)
"""Files in its folder that a gated run, or `askgate eval` after it, records in the manifest."""
_VERSION = re.compile(r"\d+(\.\w+)+")
_RECORD = "start the training again: a finished run only reports and records"


def verify_results(
    deep: bool, tell: Callable[[str], None], path: Path | None = None, dialogues: int = DIALOGUES
) -> TrialReport | None:
    """The proved report. Raises BadInput at the first thing that differs.

    None if no training with the ticket has ended, or if `path` is the report of another run: then nothing is proved.
    The final models decide whether there is something to prove, never the report.
    """
    if deep:
        forget_reads()
    given, newest = path, newest_evaluation()
    path = path or newest
    earlier, seals = Manifest().earlier(TICKET), final_seals(GATED_CHECKPOINTS)
    is_current = TICKET.exists() and any(sealed_ticket(seal.parent) not in earlier for seal in seals)
    trained = trained_config() if is_current else None
    if trained is None or not all((folder / SEAL_FILE).exists() for folder in final_folders(trained[1].seeds)):
        _refuse_claim(path)
        tell("results: no training with the ticket has ended, so nothing is proved")
        return None
    run, config, recorded = certified_run(), trained[1], Manifest().of_run(certified_run())
    if path is None:
        raise BadInput("has no report in the manifest", where=str(run), remedy=_RECORD)
    if given and real_path(given) not in [real_path(one) for one in evaluations(run)]:
        _refuse_claim(given)
        tell(f"results: {given} is not about the run of this ticket, so nothing is proved about it")
        return None
    reports = [one for one in evaluations(run) if one.suffix == ".json"]
    folders = final_models(config)
    for file in (*outputs(config), *curves(config), *reports):
        _refuse_link(file, run)
        if recorded.get(in_run(file)) != sha256_file(file):
            remedy = f"{_RECORD}; remove a report that is not of this run"
            raise BadInput("is not in the manifest: no run recorded it as it is", where=str(file), remedy=remedy)
    read, evaluated = Evaluations(config, usable_cores(most=16)), evaluated_files(config)
    for file in evaluated:
        _refuse_link(file, run)
    read.read(evaluated)  # all are replayed at once
    report, expected = path.read_bytes(), _plain(json_bytes(derive(config, "", evaluations=read)), path)
    _verify_logs(read, run, recorded)
    for one in (path, *reports):  # a user may also read a report that is not the newest
        _compare(one, expected)
    tell(f"results: {path} follows from the episodes; {len(folders)} final model(s) as they were saved")
    proved = msgspec.json.decode(report, type=TrialReport)
    if deep:
        from .repeat_dialogues import repeat_dialogues  # plain verification does not need its imports

        repeat_dialogues(read, folders, proved, dialogues, tell)
    return proved


def _refuse_link(file: Path, run: Path) -> None:
    """Refuses a file of a run folder that is a link, or in a folder that is one."""
    if real_path(file) != real_path(run) / in_run(file):
        what = "is a link: what it leads to may be exchanged after it was verified"
        raise BadInput(what, where=str(file), remedy=_PUT_BACK)


def derived_report(config: TrainConfig, path: Path) -> TrialReport:
    """The report at `path`. Refuses one that does not follow from the recorded episodes of the run."""
    _compare(path, _plain(json_bytes(derive(config, "")), path))
    return msgspec.json.decode(path.read_bytes(), type=TrialReport)


def _compare(path: Path, expected: Mapping[str, Any]) -> None:
    """Refuses a report that differs from the derived one (`expected`) in more than its tag."""
    stored, tag = _plain(path.read_bytes(), path), path.stem.removeprefix(EVALUATION)
    proof = expected["evidence"] | {"arguments": expected["evidence"]["arguments"] | {"tag": tag}}
    wanted = {**expected, "evidence": proof}
    for part in dict.fromkeys((*stored, *wanted)):
        if stored.get(part) != wanted.get(part):
            remedy = f"{_AGAIN}; an older report is written again with `--tag {tag}`"
            raise BadInput(f"{part}: not what episodes, seals and ticket give", where=str(path), remedy=remedy)
    report = msgspec.json.decode(path.read_bytes(), type=TrialReport)
    for time in (report.ts, report.evidence.started, report.evidence.ended):
        if is_future(time):
            raise BadInput(f"has {time!r} for a time", where=str(path), remedy=_AGAIN)
    if not is_plain_json(path.read_bytes()) or not _VERSION.fullmatch(report.evidence.version):
        raise BadInput("is not written as AskGate writes it", where=str(path), remedy=_AGAIN)


def _verify_logs(read: Evaluations, run: Path, recorded: Mapping[Path, str]) -> None:
    """Checks that logs and settings of a run are those that it recorded when it ended, and agree with the evaluations
    and the seals."""
    config = read.config
    for file in curves(config):
        if not Manifest().is_recorded_once(run, in_run(file)):
            raise BadInput("was recorded twice, and was another one before", where=str(file), remedy=_PUT_BACK)
    for name, digest in recorded.items():
        if not _RECORDED.fullmatch(name.as_posix()):
            what = "is in the manifest, and no run records such a file"
            raise BadInput(what, where=str(run / name), remedy=_PUT_BACK)
        if (run / name).exists() and fingerprint(run / name) != digest:
            raise BadInput("has changed since the run recorded it", where=str(run / name), remedy=_PUT_BACK)
    for seed in config.seeds:
        verify_keys(config, seed)
    verify_curves(read)
    effective, settings = run / EFFECTIVE_CONFIG, config.model_dump(mode="json")
    stated = read_yaml(effective) if effective.exists() else settings
    plain = not effective.exists() or effective.read_bytes() == effective_text(stated)
    if not isinstance(stated, dict) or settings_of(stated) != settings_of(settings) or not plain:
        raise BadInput("does not have the settings of the final model", where=str(effective), remedy=_PUT_BACK)


def _refuse_claim(path: Path | None) -> None:
    """Refuses a report that claims to be of a gated run but is not. One of an earlier ticket may stay."""
    report = _plain(path.read_bytes(), path) if path else {}
    tickets = {entry.digest for entry in Manifest().entries if entry.path == str(TICKET)}
    current = {sha256_file(TICKET)} if TICKET.exists() else set()
    if report.get("gated") and report.get("ticket") not in tickets - current:
        what = "is not in the manifest, or is of a run with another ticket"
        raise BadInput(what, where=str(path), remedy="train and evaluate again")


def _plain(report: bytes, path: Path) -> dict[str, Any]:
    """A report as plain JSON, without its times and AskGate's version, which may be a newer one here."""
    try:
        found: dict[str, Any] = msgspec.json.decode(report, type=dict)
        proof = {key: value for key, value in found["evidence"].items() if key not in ("version", "started", "ended")}
        return {key: value for key, value in found.items() if key != "ts"} | {"evidence": proof}
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, AttributeError, RecursionError) as error:
        raise BadInput(f"is not a report of an evaluation ({error})", where=str(path), remedy=_AGAIN) from None
