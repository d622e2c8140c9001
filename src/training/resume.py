"""Whether a run goes on from checkpoints, and what must be the same when it does.

A run that goes on with other settings or files would be a run that nobody can repeat. A gated one goes on by itself
where it was broken off: a lost connection costs nothing, and nobody has to remember a flag.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..checkpoint.seal import MANIFEST, read_seal
from ..checkpoint.store import HACKING, STOPPED, Checkpoint, CheckpointFolder, find_latest
from ..config.schema import Section
from ..core.defaults import RESUME
from ..core.errors import BadInput
from ..core.files import sha256_file
from ..core.paths import FINAL_MODEL
from .paths import mirror_of, told_roots

if TYPE_CHECKING:
    from ..config.train_config import TrainConfig
    from ..gates.ticket import Admission
    from .preflight import Ready

GATED, SOURCES = "gated", "sources"
"""Marks of a checkpoint: whether a ticket was there, and what the run stands on, by SHA-256."""
FREE_TO_CHANGE = ("checkpoint", "eval", "device_pref", "build", "watch")
"""What a resumed run may have otherwise than the run it goes on with; `steps` too where no schedule hangs on them."""
FREE_WITHOUT_GATES = ("lr", "optimizer.critic_lr")
"""These make other weights, so a gated run, which a ticket answers for, may not change them on its way."""

log = logging.getLogger(__name__)


def steps_done(config: TrainConfig, seed: int) -> int:
    """By the names of its checkpoints, whole or not; 0: there are none, here or in the mirror."""
    return max((step for folder in _folders(config, seed) for step in folder.steps()), default=0)


def goes_on(config: TrainConfig, admission: Admission) -> bool:
    """Whether the gated run that lies here is this one, so that it goes on by itself; one that has ended with this very
    ticket only says so once more.

    True too where no checkpoint is whole: whoever opens them names the damage. Raises where somebody stopped it.
    """
    found = [one for seed in config.seeds if (one := find_latest(_folders(config, seed))[0])]
    if not found:
        return any(steps_done(config, seed) for seed in config.seeds)
    if not all(_is_of(one, config, admission) for one in found):
        return False
    if ended_with := _tickets_at_the_end(config):
        return ended_with == {admission.ticket_sha256}
    for one in found:
        if why := one.marks.get(STOPPED) or one.marks.get(HACKING):
            raise BadInput(
                f"the run was stopped after step {one.step}: {why}",
                where=str(one.path),
                remedy=f"read logs/episodes first; then move {told_roots(config)} away and begin anew, or go on all"
                " the same with --resume-from checkpoints/rc1/latest, where what stopped it looks on",
            )
    return True


def require_begun(config: TrainConfig) -> None:
    """Whoever asks to go on means a run that is here."""
    if not any(steps_done(config, seed) for seed in config.seeds):
        raise BadInput(
            f"there is no checkpoint for {'these seeds' if config.several_seeds else 'a run of one seed'}",
            where=told_roots(config),
            remedy="start without --resume-from; what lies there is then moved aside",
        )


def refuse_no_way_on(start: Checkpoint, ready: Ready) -> None:
    """From behind the last step, and from a last step that the watch stopped: no step is left in which it could look
    again, so what it stopped would become a final model."""
    steps = ready.config.steps
    if start.step > steps:
        raise BadInput(
            f"steps is {steps}, and the newest checkpoint is of step {start.step}",
            where=str(ready.path),
            remedy="put the old value back, or start anew",
        )
    if (why := start.marks.get(HACKING)) and start.step == steps:
        raise BadInput(
            f"the watch stopped the run at its last step: {why}",
            where=str(start.path),
            remedy="read logs/episodes, mend what it learned to exploit, and begin anew",
        )


def same_config(marks: dict[str, Any], ready: Ready) -> None:
    now, then = _both(ready.config, marks)
    free = _free(ready.config, ready.admission is not None)
    for key in _differing(now, then):
        if _is_free(key, free):
            log.info("%s was %s and is %s from here on", key, then.get(key), now.get(key))
            continue
        if key in now and key in then:
            what = "is not what the run began with"
            remedy = f"put the old value back (checkpoints/.../manifest.json has it), or start anew without {RESUME}"
        else:
            older = key in now
            what = f"the checkpoint is of {'an older version, without' if older else 'another version, with'} this key"
            remedy = f"start a new run, without {RESUME}"
        raise BadInput(what, where=f"{ready.path}: {key}", remedy=remedy)


def same_gate(marks: dict[str, Any], ready: Ready) -> None:
    """What no gate has seen does not become gated by going on."""
    if bool(marks.get(GATED)) != (ready.admission is not None):
        raise BadInput(
            "the newest checkpoint is of a run that no gate has seen" if ready.admission else "this is a gated run",
            where=str(ready.config.checkpoints(ready.config.seeds[0])),
            remedy="move the folder away and start anew",
        )


def _folders(config: TrainConfig, seed: int) -> list[CheckpointFolder]:
    return [CheckpointFolder(place) for place in (config.checkpoints(seed), mirror_of(config, seed)) if place]


def _is_of(found: Checkpoint, config: TrainConfig, admission: Admission) -> bool:
    """Another ticket for the same config and files is no other run."""
    free = _free(config, gated=True)
    same = all(_is_free(key, free) for key in _differing(*_both(config, found.marks)))
    stood_on = found.marks.get(SOURCES, {})
    admitted = {key: value for key, value in admission.stands_on.items() if key in stood_on}
    gated = bool(found.marks.get(GATED)) and found.step <= config.steps
    return gated and same and all(stood_on[key] == value for key, value in admitted.items())


def _tickets_at_the_end(config: TrainConfig) -> set[str]:
    """Those that its final models are sealed with; none where one is not on record, the last thing that a run does."""
    from ..gates.manifest import Manifest

    recorded = Manifest().newest()
    seals = [config.checkpoints(seed) / FINAL_MODEL / MANIFEST for seed in config.seeds]
    ended = all(
        seal.is_file() and str(seal) in recorded and recorded[str(seal)].sha256 == sha256_file(seal) for seal in seals
    )
    return {str(read_seal(seal.parent).marks.get("ticket")) for seal in seals} if ended else set()


def _both(config: TrainConfig, marks: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    sections = [key for key, value in config if isinstance(value, Section)]
    return _settings(config.model_dump(mode="json"), sections), _settings(marks["config"], sections)


def _differing(now: Mapping[str, Any], then: Mapping[str, Any]) -> list[str]:
    return [key for key in dict.fromkeys([*now, *then]) if now.get(key) != then.get(key)]


def _free(config: TrainConfig, gated: bool) -> tuple[str, ...]:
    steps = ("steps",) if config.optimizer.schedule == "constant" else ()
    return (*FREE_TO_CHANGE, *steps, *(() if gated else FREE_WITHOUT_GATES))


def _is_free(key: str, free: Sequence[str]) -> bool:
    return key in free or key.partition(".")[0] in free


def _settings(config: dict[str, Any], sections: Sequence[str]) -> dict[str, Any]:
    """Key by key, and so within each section."""
    settings: dict[str, Any] = {}
    for key, value in config.items():
        if key in sections and isinstance(value, dict):
            settings |= {f"{key}.{name}": inner for name, inner in value.items()}
        else:
            settings[key] = value
    return settings
