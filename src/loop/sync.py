"""The SYNC packet (`askgate sync`): the artifacts of `configs/sync.yaml` that a run has produced, and what is missing.

An artifact counts as produced when its file exists; the packet has its SHA-256.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from ..config.loader import load
from ..config.schema import FilePath, Section
from ..core.files import write_json
from .lights import Light, next_step
from .stage import fingerprints

SETTINGS = Path("configs/sync.yaml")
FOLDER = Path("reports/sync")


class Artifact(Section):
    """A file that one side hands to the other."""

    name: str = Field(min_length=1)
    path: FilePath
    desc: str = Field(min_length=1)


class SyncSettings(Section):
    """`configs/sync.yaml`."""

    from_: str = Field(alias="from", pattern=r"^[\w-]+$")
    to: str = Field(pattern=r"^[\w-]+$")
    artifacts: list[Artifact] = Field(min_length=1)

    @field_validator("artifacts")
    @classmethod
    def _each_once(cls, artifacts: list[Artifact]) -> list[Artifact]:
        names = [one.name for one in artifacts]
        if len(set(names)) < len(names):
            raise ValueError("a name is given twice")
        return artifacts


def write_packet(number: int | None, lights: Sequence[Light], command: str) -> tuple[dict[str, Any], Path]:
    """Writes a packet to reports/sync/, by default with the next free number."""
    if number is None:
        known = [re.fullmatch(r"round_(\d+)", path.stem) for path in FOLDER.glob("round_*.json")]
        number = max((int(found[1]) for found in known if found), default=0) + 1
    made = packet(load(SETTINGS, SyncSettings), number, lights, command)
    path = FOLDER / f"round_{number:03d}.json"
    write_json(path, made)
    return made, path


def packet(settings: SyncSettings, number: int, lights: Sequence[Light], command: str) -> dict[str, Any]:
    """The packet in the form that the two sides agreed on (document 004, section 6; see docs/internal/seeds.md)."""
    sums = fingerprints([one.path for one in settings.artifacts])
    digests = {one.name: sums[str(one.path)] for one in settings.artifacts}
    red = [light for light in lights if light.colour == "red"]
    failed = [f"{light.title}: {reason.name}" for light in red for reason in light.reasons]
    without_report = [f"{light.title}: {light.why}" for light in red if not light.reasons]
    grey = [light for light in lights if light.colour == "grey"]
    # The first of the stages that are not done names what the others wait for.
    waiting = [f"{len(grey)} of {len(lights)} stages are not done, from: {grey[0].title}"] if grey else []
    return {
        "from": settings.from_,
        "round": number,
        f"need_from_{settings.to}": [_listed(one) for one in settings.artifacts if digests[one.name] is None],
        "artifacts_produced": [
            {**_listed(one), "sha256": digest}
            for one in settings.artifacts
            if (digest := digests[one.name]) is not None
        ],
        "risks_blockers": [*failed, *without_report, *waiting] or ["none"],
        "notes": next_step(lights, command)[0],
    }


def _listed(one: Artifact) -> dict[str, str]:
    return {"name": one.name, "path": one.path.as_posix(), "desc": one.desc}
