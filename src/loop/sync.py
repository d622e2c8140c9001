"""The SYNC packet: what this side has made and what it needs, for whoever works on the other side.

It lists what lies here and nothing that somebody hopes for: an artifact is produced when its bytes are there, and then
its SHA-256 stands beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, field_validator

from ..config.loader import read_yaml
from ..config.misfit import refusal
from ..config.schema import FilePath, Section
from .lights import Light, next_step
from .stage import fingerprint

SETTINGS = Path("configs/sync.yaml")


class Artifact(Section):
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
            raise ValueError("a name stands twice")
        return artifacts


def load_settings(path: Path = SETTINGS) -> SyncSettings:
    try:
        return SyncSettings.model_validate(read_yaml(path))
    except ValidationError as error:
        raise refusal(error, SyncSettings, path) from None


def packet(settings: SyncSettings, number: int, lights: Sequence[Light], command: str) -> dict[str, Any]:
    """As the two sides have agreed on it (seed 004, section 6)."""
    prints = {one.name: fingerprint(one.path) for one in settings.artifacts}
    red = [light for light in lights if light.colour == "red"]
    reasons = [f"{light.title}: {reason.name}" for light in red for reason in light.reasons]
    bare = [f"{light.title}: {light.why}" for light in red if not light.reasons]
    return {
        "from": settings.from_,
        "round": number,
        f"need_from_{settings.to}": [_listed(one) for one in settings.artifacts if prints[one.name] is None],
        "artifacts_produced": [
            {**_listed(one), "sha256": digest} for one in settings.artifacts if (digest := prints[one.name]) is not None
        ],
        "risks_blockers": [*reasons, *bare] or ["none"],
        "notes": next_step(lights, command)[0],
    }


def _listed(one: Artifact) -> dict[str, str]:
    return {"name": one.name, "path": one.path.as_posix(), "desc": one.desc}
