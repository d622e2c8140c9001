"""Resuming a run: which run resumes from its checkpoints, and which settings and files must be unchanged.

A run that continued with other settings or files could not be repeated. So a checkpoint records the config and the
SHA-256 of model, pool and held-out set, and a key file beside the evaluations has the settings that they were made
with. A gated run resumes by itself, without a flag. Among several runs the one to resume is found by its config and
files.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..checkpoint.seal import SEAL_FILE, Damaged, Seal, read_seal
from ..checkpoint.store import HACKING, LATEST, STOPPED, Checkpoint, CheckpointFolder, find_latest, newest_first
from ..config.loader import config_fingerprint, read_yaml, source_files
from ..config.schema import Section
from ..config.train_config import RolloutLimits, TrainConfig
from ..core.defaults import CODE, NO_RESUME
from ..core.errors import BadInput
from ..core.files import (
    code_sha256,
    digests_read,
    json_bytes,
    json_or_none,
    sha256_file,
    sha256_read,
    shipped,
    write_json,
)
from ..core.paths import EFFECTIVE_CONFIG, GATED_CHECKPOINTS, RUNS, all_runs, final_models, run_of, seed_folder
from ..core.user_class import own_class_digests
from ..gates.admission import Admission
from ..gates.manifest import Manifest

if TYPE_CHECKING:
    from .preflight import Ready

GATED, SOURCES = "gated", "sources"
"""Marks of a checkpoint: whether the run had a ticket, and the SHA-256 of the files that it was made from."""
EVALUATION_KEY, CONTROL_KEY = "key.json", ".key.json"
"""Name of the file with the settings of the evaluations beside it, and suffix of the same file for a control."""
FREE_TO_CHANGE = (
    "checkpoint", "eval", "device_pref", "build", "watch", "trackers", "rollout.url", "rollout.adapter_dir",
)  # fmt: skip
"""Settings that may change between a run and its resumption; `steps` too where no schedule depends on them."""
UNSTABLE = "reward.unstable"
"""A source that is optional: without this file every sample counts fully."""
FREE_WITHOUT_GATES = ("lr", "optimizer.critic_lr")
"""Further settings that a local run may change when it resumes. In a gated run the ticket fixes them."""
_RESTORE = f"put the old one back, or start a new run without {NO_RESUME}"

log = logging.getLogger(__name__)


def checkpoint_roots(config: TrainConfig, run: Path) -> list[Path]:
    """Folders of all checkpoints of a run: its own and the mirror's, which may be a shared drive."""
    own, mirror = config.checkpoint_root, config.checkpoint.mirror
    return [own if run == run_of(own) else run / own, *([mirror / run.name / own.name] if mirror else [])]


def checkpoint_folders(config: TrainConfig, seed: int, run: Path) -> list[CheckpointFolder]:
    """Folders of the checkpoints of one seed: its own and the mirror's."""
    return [CheckpointFolder(seed_folder(root, seed, config.seeds)) for root in checkpoint_roots(config, run)]


def steps_done(config: TrainConfig, seed: int, run: Path) -> int:
    """Newest step of a checkpoint, here or in the mirror, by name: it may be damaged. 0 if there is none."""
    return max(max(folder.steps(), default=0) for folder in checkpoint_folders(config, seed, run))


def find_run(ready: Ready, resume: bool) -> Path | None:
    """The run to resume: the newest with this config and these files. None: a new run starts.

    A gated run resumes by itself. With `resume`, if no run is the same, returns the newest run of this kind: the checks
    of the caller then name the difference.
    """
    config, admission = ready.config, ready.admission
    runs = _runs_of_kind(config)
    if admission:
        runs = [run for run in runs if any(steps_done(config, seed, run) for seed in config.seeds)]
    if not resume:
        if admission is None:
            return None
        return next((run for run in runs if resumes_by_itself(config, admission, run, run == runs[0])), None)
    if admission and not runs:
        raise BadInput(
            f"there is no checkpoint for {'these seeds' if len(config.seeds) > 1 else 'a run of one seed'}",
            where=str(config.checkpoint_root),
            remedy="start without --resume-from; that starts a new run",
        )
    if len(runs) < 2:
        return runs[0] if runs else None
    sources = admission.source_hashes if admission else source_hashes(ready)
    return next((run for run in runs if _seems_same_run(run, config, sources, admission)), runs[0])


def _runs_of_kind(config: TrainConfig) -> list[Path]:
    """Runs that are gated or local as this one, newest first, those included of which only the mirror is left."""
    own, mirror = config.checkpoint_root, config.checkpoint.mirror
    names = {run.name for run in all_runs() if (run / own).is_dir()}
    if mirror:
        names |= {folder.parent.name for folder in mirror.glob(f"*/{own.name}")}
    return [RUNS / name for name in sorted(names, reverse=True)]


def resumes_by_itself(config: TrainConfig, admission: Admission, run: Path, is_newest: bool = True) -> bool:
    """Whether a gated start resumes this run: it has the same config and files. Raises if a callback stopped the run.

    A run that has ended counts if it had this ticket: it is only reported again. The newest run also counts if all of
    its checkpoints are damaged: opening them names the damage.
    """
    if not is_newest and not _seems_same_run(run, config, admission.source_hashes, admission):
        return False
    newest = [found for seed in config.seeds if (found := find_latest(checkpoint_folders(config, seed, run))[0])]
    if not newest:
        return is_newest
    if not all(_is_same_run(checkpoint, config, admission.source_hashes, admission) for checkpoint in newest):
        return False
    if tickets := _final_tickets(config, run):
        return tickets == {admission.ticket_sha256}
    for checkpoint in newest:
        if reason := checkpoint.marks.get(STOPPED) or checkpoint.marks.get(HACKING):
            raise BadInput(
                f"the run was stopped after step {checkpoint.step}: {reason}",
                where=str(checkpoint.path),
                remedy=f"read {run}/logs/episodes; then move {run} away and start again, or"
                " resume with --resume-from checkpoints/rc1/latest, where the same check still applies",
            )
    return True


def require_gated_folder(folder: Path) -> None:
    """Accepts `checkpoints/rc1/latest`, a seed's `latest`, or the folder that contains it. Each seed resumes from its
    newest checkpoint, so no single step can be named."""
    root = GATED_CHECKPOINTS
    inside = folder.absolute().is_relative_to(root.absolute()) and folder.resolve().is_relative_to(root.resolve())
    parent = folder.parent if folder.name == LATEST else folder
    # The link may be missing: several seeds have one each, some drives have no links, or only the mirror is left.
    if not folder.exists() and folder.name != LATEST:
        what = "there is no checkpoint here"
    elif not inside:
        what = f"a gated run resumes from checkpoints in {root}"
    elif parent.resolve() not in [one.resolve() for one in (root, *root.glob("seed_*"))]:
        what = "a run resumes from its newest checkpoint, and no other can be named"
    else:
        return
    raise BadInput(
        what, where=f"--resume-from {folder}", remedy=f"give {root / LATEST}, or start without --resume-from"
    )


def require_same_run(start: Checkpoint | Seal, ready: Ready) -> None:
    """Refuses a checkpoint that this run cannot resume from: one of another config, of a gated run for a local one or
    the reverse, and one after the last step.

    Also one of the last step if the reward-hacking watch stopped the run there: no step is left in which the watch
    could check again, and the policy would become the final model.
    """
    _refuse_changed_settings(start.marks, ready)
    if bool(start.marks.get(GATED)) != (ready.admission is not None):
        raise BadInput(
            "the newest checkpoint is of a run that no gate has seen" if ready.admission else "this is a gated run",
            where=str(ready.config.checkpoints(ready.config.seeds[0])),
            remedy="move the folder away and start a new run",
        )
    steps = ready.config.steps
    if start.step > steps:
        raise BadInput(
            f"steps is {steps}, and the newest checkpoint is of step {start.step}",
            where=str(ready.path),
            remedy="put the old value back, or start a new run",
        )
    if (reason := start.marks.get(HACKING)) and start.step == steps:
        raise BadInput(
            f"the watch stopped the run at its last step: {reason}",
            where=str(ready.config.checkpoint_root),
            remedy="read logs/episodes, fix what the policy learned to exploit, and start a new run without --resume; "
            "if nothing is wrong with them, with a higher limit, such as --set watch.ask_spam=0.7",
        )


def _refuse_changed_settings(marks: Mapping[str, Any], ready: Ready) -> None:
    current, saved = _both_settings(ready.config, marks)
    flag = "--resume" if ready.admission is None else "--resume-from"
    for key, is_free in _changes(ready.config, current, saved, ready.admission is not None):
        if is_free:
            continue
        section = key.partition(".")[0]  # a section that is null has no keys
        if all(key in settings or section in settings for settings in (current, saved)):
            what = f"is not what the run began with: it was {saved.get(key)} and is {current.get(key)}"
            remedy = f"put the old value back, or start a new run without {flag}"
        else:
            version = "an older version, without" if key in current else "another version, with"
            what = f"the checkpoint is of {version} this key"
            remedy = f"start a new run, without {flag}"
        raise BadInput(what, where=f"{ready.path}: {key}", remedy=remedy)


def log_changed_settings(marks: Mapping[str, Any], ready: Ready) -> None:
    """Logs the settings that a resumed run changes."""
    current, saved = _both_settings(ready.config, marks)
    for key, _ in _changes(ready.config, current, saved, ready.admission is not None):
        log.info("%s was %s and is %s from here on", key, saved.get(key), current.get(key))


def source_hashes(ready: Ready) -> dict[str, str]:
    """SHA-256 of all inputs of a run: files by the config key that names them, the user's classes, AskGate's code."""
    config = ready.config
    return {**source_files(config, sha256_read), **own_class_digests(config.own_classes), CODE: code_sha256()}


def require_same_sources(
    current: Mapping[str, str], recorded: Mapping[str, str], path: Path, admission: Admission | None
) -> None:
    """Refuses sources (`source_hashes`) other than those the run began with. A ticket may admit older code too."""
    if recorded and (UNSTABLE in current) != (UNSTABLE in recorded):
        is_new = UNSTABLE in current
        what = "the run began without this file" if is_new else "the file that the run began with is missing"
        raise BadInput(what, where=f"{path}: {UNSTABLE}", remedy=_RESTORE)
    for key, digest in current.items():
        if recorded.get(key, digest) != digest:
            if key == CODE and (admission is None or recorded[key] in admission.earlier_code):
                log.warning("the code of AskGate or its templates have changed since this run began")
                continue
            what = f"the file is not what the run began with (SHA-256 {digest[:12]}, it was {recorded[key][:12]})"
            raise BadInput(what, where=f"{path}: {key}", remedy=_RESTORE)


def require_admitted_sources(sources: Mapping[str, str], ready: Ready) -> None:
    """Refuses a gated run whose files were exchanged after the ticket was checked."""
    if ready.admission is None:
        return
    current = {"config": config_fingerprint(ready.path, lambda file: sha256_read(shipped(file))), **sources}
    admitted = ready.admission.source_hashes
    for key in (*admitted, UNSTABLE):
        if current.get(key) != admitted.get(key):
            raise BadInput(
                "changed after the ticket was checked",
                where=f"{ready.path}: {key}",
                remedy="put it back as it was, or run both rounds again; nothing may write there meanwhile",
            )


def require_read_as_sealed(checkpoint: Checkpoint) -> None:
    """Refuses a checkpoint whose files changed between their verification and their use."""
    for name, entry in checkpoint.files.items():
        if digests_read(checkpoint.path / name) - {entry.sha256}:
            what = f"{name} changed between the check and the use"
            raise BadInput(what, where=str(checkpoint.path), remedy="nothing else may write there; start again")


def require_recorded(checkpoint: Checkpoint, ready: Ready) -> None:
    """Refuses, for a gated run, a checkpoint that is not in the manifest: no gated run of this folder saved it."""
    if ready.admission and not Manifest().has_checkpoint(checkpoint.path, sha256_file(checkpoint.path / SEAL_FILE)):
        what = "no gated run saved this checkpoint: its seal is not in the manifest of the evidence"
        raise BadInput(what, where=str(checkpoint.path), remedy="move the run away and start a new one")


def evaluation_key(
    config: TrainConfig, limits: RolloutLimits, seed: int, sources: Mapping[str, str], dtype: str
) -> dict[str, Any]:
    """All settings that determine the episodes of an evaluation and their rewards."""
    return {
        "base_model": sources["base_model"],
        "shadow_set": sources["shadow_set"],
        "n": config.eval.n,
        "greedy": config.eval.greedy,
        "seed": seed,
        # The config's slots: a GPU may have room for fewer, and episodes do not depend on their number.
        "rollout": {**limits.facts(), "slots": config.rollout.slots},
        "reward": config.reward.model_dump(mode="json"),
        "weights": sources.get("reward.weights"),
        "use_overclar_penalty": config.use_overclar_penalty,
        "dtype": dtype,
        **({} if config.eval.user is None else {"user": config.eval.user}),
    }


def control_key(config: TrainConfig, key: Mapping[str, Any], seed_pool: str, tokens: int) -> dict[str, Any]:
    """Settings of a control's evaluation: those of the run's evaluations (`key`), and how the control was trained."""
    return {
        **key,
        "seed_pool": seed_pool,
        "tokens": tokens,
        "lr": config.eval.control_lr,
        "batch_tokens": config.eval.control_batch_tokens,
        "finetune": config.finetune.model_dump(mode="json"),
    }


def has_key(file: Path, key: Mapping[str, Any]) -> bool:
    """Whether a key file has these settings."""
    return bool(json_or_none(file) == msgspec.json.decode(json_bytes(key)))


def open_evaluations(folder: Path, key: Mapping[str, Any]) -> None:
    """Moves aside evaluations that were made with other settings, so that they are made again."""
    if has_key(folder / EVALUATION_KEY, key):
        return
    if folder.exists() and any(folder.glob("*.jsonl")):
        real = folder.resolve()  # a link stays where it is
        aside = real.rename(real.with_name(f"{real.name}_before_{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}"))
        log.warning("the evaluations so far were made with other settings; they are in %s now", os.path.relpath(aside))
    write_json(folder / EVALUATION_KEY, key)


def _is_same_run(
    newest: Checkpoint | Seal, config: TrainConfig, sources: Mapping[str, str], admission: Admission | None
) -> bool:
    """Whether config and sources are those of the checkpoint. The ticket may be another one."""
    gated, recorded = admission is not None, newest.marks.get(SOURCES, {})
    if bool(newest.marks.get(GATED)) != gated or newest.step > config.steps:
        return False
    if recorded and (UNSTABLE in sources) != (UNSTABLE in recorded):
        return False
    if not all(is_free for _, is_free in _changes(config, *_both_settings(config, newest.marks), gated)):
        return False
    earlier_code = admission.earlier_code if admission else ()
    return all(
        recorded.get(key, digest) == digest or (key == CODE and recorded[key] in earlier_code)
        for key, digest in sources.items()
    )


def _seems_same_run(run: Path, config: TrainConfig, sources: Mapping[str, str], admission: Admission | None) -> bool:
    """Whether a run is the same (`_is_same_run`) by the seals of its newest checkpoints. Other files are not verified.

    A run without a checkpoint yet is compared by its effective config.
    """
    if not any(steps_done(config, seed, run) for seed in config.seeds):
        return admission is None and _has_same_config(run, config)
    seals = newest_seals(config, run).values()
    return bool(seals) and all(_is_same_run(seal, config, sources, admission) for seal in seals)


def _has_same_config(run: Path, config: TrainConfig) -> bool:
    """Whether the effective config of a local run differs only in settings that may change."""
    try:
        effective = read_yaml(run / EFFECTIVE_CONFIG)
    except BadInput:
        return False
    if not isinstance(effective, dict):
        return False
    changes = _changes(config, *_both_settings(config, {"config": effective}), gated=False)
    return all(is_free for _, is_free in changes)


def newest_seals(config: TrainConfig, run: Path) -> dict[int, Seal]:
    """The newest readable seal of a checkpoint, by seed. The other files of the checkpoint are not verified."""
    seals: dict[int, Seal] = {}
    for seed in config.seeds:
        for folder, step in newest_first(checkpoint_folders(config, seed, run)):
            with suppress(Damaged):
                seals[seed] = read_seal(folder.folder(step))
                break
    return seals


def _final_tickets(config: TrainConfig, run: Path) -> set[str]:
    """Tickets in the seals of the final models; none unless the run has ended: its last act records all of the seals in
    the manifest."""
    recorded = {entry.digest for entry in Manifest().entries}
    seals = [folder / SEAL_FILE for folder in final_models(config.seeds, run / config.checkpoint_root)]
    has_ended = all(seal.is_file() and sha256_file(seal) in recorded for seal in seals)
    return {str(read_seal(seal.parent).marks.get("ticket")) for seal in seals} if has_ended else set()


def _both_settings(config: TrainConfig, marks: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings by dotted key: those of the config and those of the checkpoint."""
    sections = [key for key, value in config if isinstance(value, Section)]
    return _flat(config.model_dump(mode="json"), sections), _flat(marks["config"], sections)


def _changes(
    config: TrainConfig, current: Mapping[str, Any], saved: Mapping[str, Any], gated: bool
) -> Iterator[tuple[str, bool]]:
    """Keys of the settings that differ, each with whether a resumed run may change it."""
    free = {*FREE_TO_CHANGE, *(() if gated else FREE_WITHOUT_GATES)}
    if config.optimizer.schedule == "constant":
        free.add("steps")
    for key in dict.fromkeys([*current, *saved]):
        if current.get(key) != saved.get(key):
            yield key, key in free or key.partition(".")[0] in free


def _flat(config: Mapping[str, Any], sections: Sequence[str]) -> dict[str, Any]:
    """Settings of a config by `key` or `section.key`."""
    settings: dict[str, Any] = {}
    for key, value in config.items():
        if key in sections and isinstance(value, dict):
            settings |= {f"{key}.{name}": inner for name, inner in value.items()}
        else:
            settings[key] = value
    return settings
