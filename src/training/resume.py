"""Resuming a run: whether it resumes from its checkpoints, and what must be the same when it does.

A run that continued with other settings or files could not be repeated. So a checkpoint records the config and the
SHA-256 of model, pool and held-out set, and evaluations are stored beside a key that says how they were made. A gated
run resumes by itself: a lost connection costs nothing, and nobody has to remember a flag. Among several runs the one
to resume is found by its config and files.
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
from ..core.defaults import CODE, RESUME
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
"""File with the settings of the evaluations beside it, and the ending of those of the controls."""
FREE_TO_CHANGE = (
    "checkpoint", "eval", "device_pref", "build", "watch", "trackers", "rollout.url", "rollout.adapter_dir",
)  # fmt: skip
"""Settings that may change between a run and its resumption; `steps` too where no schedule depends on them."""
UNSTABLE = "reward.unstable"
"""A source whose file need not exist: without it every sample counts fully."""
FREE_WITHOUT_GATES = ("lr", "optimizer.critic_lr")
"""Further settings that a local run may change when it resumes. In a gated run the ticket fixes them."""
_RESTORE = f"put the old one back, or start a new run without {RESUME}"

log = logging.getLogger(__name__)


def checkpoint_roots(config: TrainConfig, run: Path) -> list[Path]:
    """Folders of all checkpoints of a run: its own and the mirror's, which may be a shared drive."""
    own, mirror = config.checkpoint_root, config.checkpoint.mirror
    return [own if run == run_of(own) else run / own, *([mirror / run.name / own.name] if mirror else [])]


def checkpoint_folders(config: TrainConfig, seed: int, run: Path) -> list[CheckpointFolder]:
    """Folders of the checkpoints of one seed: its own and the mirror's."""
    return [CheckpointFolder(seed_folder(root, seed, config.seeds)) for root in checkpoint_roots(config, run)]


def steps_done(config: TrainConfig, seed: int, run: Path) -> int:
    """Newest step by the names of the checkpoints, undamaged or not, here or in the mirror; 0 if there is none."""
    return max(max(folder.steps(), default=0) for folder in checkpoint_folders(config, seed, run))


def find_run(ready: Ready, resume: bool) -> Path | None:
    """The run to resume: the newest with this config and these files. None: a new run starts.

    A gated run resumes by itself. With `resume` the newest run of this kind is returned where none is the same, so that
    the difference is named.
    """
    config, admission = ready.config, ready.admission
    runs = _runs_of_kind(config)
    if admission:
        runs = [run for run in runs if any(steps_done(config, seed, run) for seed in config.seeds)]
    if not resume:
        by_itself = admission and (run for run in runs if resumes_by_itself(config, admission, run, run == runs[0]))
        return next(iter(by_itself or ()), None)
    if admission and not runs:
        raise BadInput(
            f"there is no checkpoint for {'these seeds' if len(config.seeds) > 1 else 'a run of one seed'}",
            where=str(config.checkpoint_root),
            remedy="start without --resume-from; that starts a new run",
        )
    if len(runs) < 2:
        return runs[0] if runs else None
    sources = admission.source_hashes if admission else source_hashes(ready)
    return next((run for run in runs if _claims_to_be(run, config, sources, admission)), runs[0])


def _runs_of_kind(config: TrainConfig) -> list[Path]:
    """Runs with checkpoints of this kind, newest first: those here, and those of which only the mirror is left."""
    own, mirror = config.checkpoint_root, config.checkpoint.mirror
    names = {run.name for run in all_runs() if (run / own).is_dir()}
    if mirror:
        names |= {folder.parent.name for folder in mirror.glob(f"*/{own.name}")}
    return [RUNS / name for name in sorted(names, reverse=True)]


def resumes_by_itself(config: TrainConfig, admission: Admission, run: Path, is_newest: bool = True) -> bool:
    """Whether a gated start continues this run: the same config and files, and not stopped. A run that has ended with
    this very ticket counts too; it is only reported again.

    Also True if every checkpoint of the newest run is damaged: opening them names the damage. Raises if the run was
    stopped.
    """
    if not is_newest and not _claims_to_be(run, config, admission.source_hashes, admission):
        return False
    newest = [one for seed in config.seeds if (one := find_latest(checkpoint_folders(config, seed, run))[0])]
    if not newest:
        return is_newest
    if not all(_is_same_run(one, config, admission.source_hashes, admission) for one in newest):
        return False
    if tickets := _final_tickets(config, run):
        return tickets == {admission.ticket_sha256}
    for one in newest:
        if reason := one.marks.get(STOPPED) or one.marks.get(HACKING):
            raise BadInput(
                f"the run was stopped after step {one.step}: {reason}",
                where=str(one.path),
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
    """Refuses a checkpoint of another config, of a gated run where this one is not gated or the reverse, one beyond the
    last step, and one of the last step that the reward-hacking watch stopped: no step is left in which it could check
    again, and the policy would become a final model."""
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
    now, then = _both_settings(ready.config, marks)
    flag = "--resume" if ready.admission is None else "--resume-from"
    for key, is_free in _changes(ready.config, now, then, ready.admission is not None):
        if is_free:
            continue
        section = key.partition(".")[0]  # one that is null has no keys
        if all(key in settings or section in settings for settings in (now, then)):
            was, is_now = (settings.get(key) for settings in (then, now))
            what = f"is not what the run began with: it was {was} and is {is_now}"
            remedy = f"put the old value back, or start a new run without {flag}"
        else:
            version = "an older version, without" if key in now else "another version, with"
            what = f"the checkpoint is of {version} this key"
            remedy = f"start a new run, without {flag}"
        raise BadInput(what, where=f"{ready.path}: {key}", remedy=remedy)


def log_changed_settings(marks: Mapping[str, Any], ready: Ready) -> None:
    """Logs the settings that a resumed run changes."""
    now, then = _both_settings(ready.config, marks)
    for key, _ in _changes(ready.config, now, then, ready.admission is not None):
        log.info("%s was %s and is %s from here on", key, then.get(key), now.get(key))


def source_hashes(ready: Ready) -> dict[str, str]:
    """SHA-256 of what a run is made from: files by the config key that names them, own classes, and AskGate's code."""
    config = ready.config
    return {**source_files(config, sha256_read), **own_class_digests(config.own_classes), CODE: code_sha256()}


def require_same_sources(
    now: Mapping[str, str], then: Mapping[str, str], path: Path, admission: Admission | None
) -> None:
    """Refuses files that are not those the run began with. A ticket may cover older code too."""
    if then and (UNSTABLE in now) != (UNSTABLE in then):
        what = "the run began without this file" if UNSTABLE in now else "the file that the run began with is missing"
        raise BadInput(what, where=f"{path}: {UNSTABLE}", remedy=_RESTORE)
    for key, digest in now.items():
        if then.get(key, digest) != digest:
            if key == CODE and (admission is None or then[key] in admission.earlier_code):
                log.warning("the code of AskGate or its templates have changed since this run began")
                continue
            what = f"the file is not what the run began with (SHA-256 {digest[:12]}, it was {then[key][:12]})"
            raise BadInput(what, where=f"{path}: {key}", remedy=_RESTORE)


def require_admitted_sources(now: Mapping[str, str], ready: Ready) -> None:
    """Refuses a gated run whose files were exchanged after the ticket was checked."""
    if ready.admission is None:
        return
    here = {"config": config_fingerprint(ready.path, lambda file: sha256_read(shipped(file))), **now}
    admitted = ready.admission.source_hashes
    for key in (*admitted, UNSTABLE):
        if here.get(key) != admitted.get(key):
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
    """Refuses a checkpoint that no gated run of this folder saved, whatever its marks say."""
    if ready.admission and not Manifest().has_checkpoint(checkpoint.path, sha256_file(checkpoint.path / SEAL_FILE)):
        what = "no gated run saved this checkpoint: its seal is not in the manifest of the evidence"
        raise BadInput(what, where=str(checkpoint.path), remedy="move the run away and start a new one")


def evaluation_key(
    config: TrainConfig, limits: RolloutLimits, seed: int, sources: Mapping[str, str], dtype: str
) -> dict[str, Any]:
    """All that decides the episodes of an evaluation and their rewards."""
    return {
        "base_model": sources["base_model"],
        "shadow_set": sources["shadow_set"],
        "n": config.eval.n,
        "greedy": config.eval.greedy,
        "seed": seed,
        # Another card may have room for other slots, and episodes do not depend on them.
        "rollout": {**limits.facts(), "slots": config.rollout.slots},
        "reward": config.reward.model_dump(mode="json"),
        "weights": sources.get("reward.weights"),
        "use_overclar_penalty": config.use_overclar_penalty,
        "dtype": dtype,
        **({} if config.eval.user is None else {"user": config.eval.user}),
    }


def control_key(config: TrainConfig, key: Mapping[str, Any], seed_pool: str, tokens: int) -> dict[str, Any]:
    """Settings of a control's evaluation: those of the run's own (`key`), the seed pool's SHA-256, and its training."""
    return {
        **key,
        "seed_pool": seed_pool,
        "tokens": tokens,
        "lr": config.eval.control_lr,
        "batch_tokens": config.eval.control_batch_tokens,
        "finetune": config.finetune.model_dump(mode="json"),
    }


def has_key(file: Path, key: Mapping[str, Any]) -> bool:
    return bool(json_or_none(file) == msgspec.json.decode(json_bytes(key)))


def open_evaluations(folder: Path, key: Mapping[str, Any]) -> None:
    """Moves evaluations that were made with another key aside, so that they are made again."""
    if has_key(folder / EVALUATION_KEY, key):
        return
    if folder.exists() and any(folder.glob("*.jsonl")):
        real = folder.resolve()  # a link stays where it is
        aside = real.rename(real.with_name(f"{real.name}_before_{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}"))
        log.warning("the evaluations so far were made with other settings; they are in %s now", os.path.relpath(aside))
    write_json(folder / EVALUATION_KEY, key)


def _is_same_run(
    newest: Checkpoint | Seal, config: TrainConfig, files: Mapping[str, str], admission: Admission | None
) -> bool:
    """Whether config and files are those of the checkpoint. Another ticket for them is the same run."""
    gated, sources = admission is not None, newest.marks.get(SOURCES, {})
    if bool(newest.marks.get(GATED)) != gated or newest.step > config.steps:
        return False
    if sources and (UNSTABLE in files) != (UNSTABLE in sources):
        return False
    if not all(is_free for _, is_free in _changes(config, *_both_settings(config, newest.marks), gated)):
        return False
    earlier = admission.earlier_code if admission else ()
    return all(
        sources.get(key, value) == value or (key == CODE and sources[key] in earlier) for key, value in files.items()
    )


def _claims_to_be(run: Path, config: TrainConfig, files: Mapping[str, str], admission: Admission | None) -> bool:
    """Whether a run seems to be the same (`_is_same_run`). Reads marks of the newest checkpoints and verifies no bytes.

    A run without a checkpoint yet is compared by its effective config.
    """
    if not any(steps_done(config, seed, run) for seed in config.seeds):
        return admission is None and _began_with(run, config)
    seals = newest_seals(config, run).values()
    return bool(seals) and all(_is_same_run(one, config, files, admission) for one in seals)


def _began_with(run: Path, config: TrainConfig) -> bool:
    try:
        began = read_yaml(run / EFFECTIVE_CONFIG)
    except BadInput:
        return False
    if not isinstance(began, dict):
        return False
    changes = _changes(config, *_both_settings(config, {"config": began}), gated=False)
    return all(is_free for _, is_free in changes)


def newest_seals(config: TrainConfig, run: Path) -> dict[int, Seal]:
    """The newest readable seal of a checkpoint by seed. The bytes of the checkpoint are not verified."""
    seals: dict[int, Seal] = {}
    for seed in config.seeds:
        for folder, step in newest_first(checkpoint_folders(config, seed, run)):
            with suppress(Damaged):
                seals[seed] = read_seal(folder.folder(step))
                break
    return seals


def _final_tickets(config: TrainConfig, run: Path) -> set[str]:
    """Tickets that the final models are sealed with; none unless all are in the manifest, a run's last act."""
    recorded = {entry.sha256 for entry in Manifest().entries}
    seals = [folder / SEAL_FILE for folder in final_models(config.seeds, run / config.checkpoint_root)]
    ended = all(seal.is_file() and sha256_file(seal) in recorded for seal in seals)
    return {str(read_seal(seal.parent).marks.get("ticket")) for seal in seals} if ended else set()


def _both_settings(config: TrainConfig, marks: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings by dotted key: those of the config and those of the checkpoint."""
    sections = [key for key, value in config if isinstance(value, Section)]
    return _flat(config.model_dump(mode="json"), sections), _flat(marks["config"], sections)


def _changes(
    config: TrainConfig, now: Mapping[str, Any], then: Mapping[str, Any], gated: bool
) -> Iterator[tuple[str, bool]]:
    """Keys of the settings that differ, each with whether a resumed run may change it."""
    free = {*FREE_TO_CHANGE, *(() if gated else FREE_WITHOUT_GATES)}
    if config.optimizer.schedule == "constant":
        free.add("steps")
    for key in dict.fromkeys([*now, *then]):
        if now.get(key) != then.get(key):
            yield key, key in free or key.partition(".")[0] in free


def _flat(config: Mapping[str, Any], sections: Sequence[str]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for key, value in config.items():
        if key in sections and isinstance(value, dict):
            settings |= {f"{key}.{name}": inner for name, inner in value.items()}
        else:
            settings[key] = value
    return settings
