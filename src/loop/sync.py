"""The SYNC packet (`askgate sync`): the artifacts of `configs/sync.yaml` that a run has produced, and what is missing.

An artifact counts as produced when its file exists; the packet has its SHA-256. Its path may name a path of the profile
in use, such as `{balanced}`. Risks are failed checks, ambers (with who signed them off) and stages that are not done.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from ..config.loader import load
from ..config.profile import Paths
from ..config.schema import FilePath, Section
from ..core.check import amber_label
from ..core.errors import BadInput
from ..core.files import write_json
from ..runtime.language import in_language
from .lights import Light, ambers_of
from .stage import fingerprints

SETTINGS = Path("configs/sync.yaml")
FOLDER = Path("reports/sync")


class Artifact(Section):
    """A file that a run should produce."""

    name: str = Field(min_length=1)
    path: FilePath
    desc: str = Field(min_length=1)


class SyncSettings(Section):
    """Contents of `configs/sync.yaml`: the two sides of the packet and its artifacts."""

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


def write_packet(number: int | None, lights: Sequence[Light], notes: str, paths: Paths) -> tuple[dict[str, Any], Path]:
    """Writes a packet to reports/sync/, by default with the next free number. `paths`: those of the profile."""
    if number is None:
        known = [re.fullmatch(r"round_(\d+)", path.stem) for path in FOLDER.glob("round_*.json")]
        number = max((int(found[1]) for found in known if found), default=0) + 1
    settings = load(SETTINGS, SyncSettings)
    artifacts = [one.model_copy(update={"path": _path_in(one, paths)}) for one in settings.artifacts]
    made = packet(settings.model_copy(update={"artifacts": artifacts}), number, lights, notes)
    path = FOLDER / f"round_{number:03d}.json"
    write_json(path, made)
    return made, path


def _path_in(one: Artifact, paths: Paths) -> Path:
    """The path of an artifact, with the names in braces filled in from the profile."""
    try:
        return Path(str(one.path).format_map(dict(paths)))
    except (KeyError, ValueError) as error:
        remedy = f"write a path, or one of {', '.join(type(paths).model_fields)} in braces"
        raise BadInput(f"no path of the profile: {error}", where=f"{SETTINGS}: {one.name}", remedy=remedy) from None


def packet(settings: SyncSettings, number: int, lights: Sequence[Light], notes: str) -> dict[str, Any]:
    """The packet in the form that the two sides agreed on (document 004, section 6; see docs/internal/seeds.md)."""
    sha256 = fingerprints([one.path for one in settings.artifacts])
    digests = {one.name: sha256[str(one.path)] for one in settings.artifacts}
    listed = [one.model_dump(mode="json") for one in settings.artifacts]
    return {
        "from": settings.from_,
        "round": number,
        f"need_from_{settings.to}": [one for one in listed if digests[one["name"]] is None],
        "artifacts_produced": [{**one, "sha256": digest} for one in listed if (digest := digests[one["name"]])],
        "risks_blockers": _risks(lights) or [in_language("none", "无")],
        "notes": notes,
    }


def _risks(lights: Sequence[Light]) -> list[str]:
    """Failed checks, refused stages, ambers, and stages that are not done, a line each."""
    titles = {light.stage: in_language(light.title, light.title_zh) for light in lights}
    red = [light for light in lights if light.colour == "red"]
    failed = [f"{titles[light.stage]}: {reason.name}" for light in red for reason in light.reasons]
    failed += [f"{titles[light.stage]}: {in_language(light.why, light.why_zh)}" for light in red if not light.reasons]
    ambers = [amber_line(name, by) for name, by in ambers_of(lights).items()]
    grey = [light for light in lights if light.colour == "grey"]
    if not grey:
        return [*failed, *ambers]
    # The first of the stages that are not done names what the others wait for.
    english = f"{len(grey)} of {len(lights)} stages are not done, from: {grey[0].title}"
    chinese = f"{len(lights)} 个阶段中 {len(grey)} 个未完成，自：{grey[0].title_zh}"
    return [*failed, *ambers, in_language(english, chinese)]


def amber_line(name: str, signed: str) -> str:
    """An amber and who signed it off, in the language of the terminal."""
    english, chinese = amber_label(name)
    return in_language(
        f"amber: {english}, {f'signed off by {signed}' if signed else 'not signed off'}",
        f"黄灯：{chinese}，{f'{signed} 已签字' if signed else '未签字'}",
    )
