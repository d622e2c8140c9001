"""What a run stands on, by SHA-256, and which evaluations belong to it.

A path says nothing of what lies there now. So a checkpoint has the sums of model, pool and shadow set, and evaluations
lie beside a key that says how they were made: those made otherwise are never compared with what is made now.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..config.loader import config_fingerprint
from ..core.defaults import RESUME, SEED_POOL_FACTS
from ..core.errors import BadInput
from ..core.files import json_bytes, sha256_file, shipped, sidecar, write_json
from .reward import reward_files

if TYPE_CHECKING:
    from ..engines.job import TrainJob
    from .preflight import Ready

KEY = "key.json"
_ANEW = f"put the old one back, or start anew without {RESUME}"

log = logging.getLogger(__name__)


def sources(ready: Ready) -> dict[str, str]:
    """By the key of the config that names it. A model of the hub must have been loaded once."""
    from transformers.utils.hub import cached_file

    from ..core.model_files import model_sha256

    found = cached_file(ready.model, "config.json")
    assert found is not None
    return {
        "base_model": model_sha256(Path(found).parent),
        "seed_pool": sha256_file(ready.config.seed_pool),
        SEED_POOL_FACTS: sha256_file(sidecar(ready.config.seed_pool)),
        "shadow_set": sha256_file(ready.config.shadow_set),
        **{key: sha256_file(shipped(path)) for key, path in reward_files(ready.config).items()},
    }


def same_sources(now: Mapping[str, str], then: Mapping[str, str], path: Path) -> None:
    for key, found in now.items():
        if then.get(key, found) != found:
            what = f"what lies there is not what the run began with (SHA-256 {found[:12]}, it was {then[key][:12]})"
            raise BadInput(what, where=f"{path}: {key}", remedy=_ANEW)


def as_admitted(now: Mapping[str, str], ready: Ready) -> None:
    """What a gated run has read is what the ticket is for: nobody exchanged a file after the ticket was checked."""
    if ready.admission is None:
        return
    here = {"config": config_fingerprint(ready.path), **now}
    for key, admitted in ready.admission.stands_on.items():
        if here.get(key) != admitted:
            raise BadInput(
                "changed after the ticket was checked",
                where=f"{ready.path}: {key}",
                remedy="put it back as it was, or run both rounds again; and let nobody write there meanwhile",
            )


def evaluation_key(ready: Ready, job: TrainJob, stands_on: Mapping[str, str]) -> dict[str, Any]:
    """All that decides which episodes a policy is looked at by, and what they are worth."""
    config = ready.config
    return {
        "base_model": stands_on["base_model"],
        "shadow_set": stands_on["shadow_set"],
        "n": config.eval.n,
        "greedy": config.eval.greedy,
        "seed": job.seed,
        "talk": job.rollout.facts(),
        "reward": config.reward.model_dump(mode="json"),
        "weights": stands_on.get("reward.weights"),
        "use_overclar_penalty": config.use_overclar_penalty,
        "dtype": str(job.dtype),
    }


def digest(key: Mapping[str, Any]) -> str:
    return sha256(json_bytes(key)).hexdigest()


def same_key(file: Path, key: Mapping[str, Any]) -> bool:
    try:
        return bool(msgspec.json.decode(file.read_bytes()) == msgspec.json.decode(json_bytes(key)))
    except (OSError, msgspec.DecodeError):
        return False


def open_evaluations(folder: Path, key: Mapping[str, Any]) -> None:
    """Evaluations in the folder that were made with another key are set aside, so that they are made again."""
    if same_key(folder / KEY, key):
        return
    if folder.exists() and any(folder.glob("*.jsonl")):
        aside = folder.with_name(f"{folder.name}_before_{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
        folder.rename(aside)
        log.warning("the evaluations so far were made with other settings; they are in %s now", aside)
    write_json(folder / KEY, key)
