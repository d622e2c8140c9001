"""The sidecar of a pool: what was asked for, so that later stages need no more flags than the pool's path."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import field

from ...core.errors import BadInput
from ...core.files import sha256_file, sidecar, write_json
from ...core.jsonl import Identified, read_unique
from ...core.types import Lang, Record, Task


class PoolMeta(Record, frozen=True):
    """Facts of a pool file. No clock in it: same arguments, same bytes."""

    kind: str
    """`pool`, `shadow`, `metrics` or `balanced`."""
    sha256: str
    """Of the file that this sidecar describes."""
    n: int
    seed: int
    split: str
    source: str
    data_dir: str
    langs: tuple[Lang, ...]
    mix: dict[Task, float]
    max_turns: int
    clarify_rate: float
    tools: tuple[str, ...]
    tool_hops: int
    ops_numeric: int
    paraphrase: float
    templates_dir: str
    templates_sha256: dict[str, str]
    sources_sha256: dict[str, str]
    parent: str = ""
    """The file that this one was derived from, relative to this one's folder, and its SHA-256."""
    parent_sha256: str = ""
    left_aside: dict[Task, int] = field(default_factory=dict)
    """Records of the source that could not be used: repeated, or without a way to the answer."""


def read_meta(pool: Path) -> PoolMeta:
    if not pool.is_file():
        raise BadInput("no such file", where=str(pool), remedy="check the path, or build the file first")
    path = sidecar(pool)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadInput(
            f"the pool's sidecar cannot be read ({error.strerror})",
            where=str(path),
            remedy="build the pool with build_rollout_pool, and move the .jsonl and .meta.json files together",
        ) from None
    try:
        return msgspec.json.decode(raw, type=PoolMeta)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(str(error), where=str(path), remedy="build the pool again") from None


def write_meta(pool: Path, meta: PoolMeta) -> None:
    write_json(sidecar(pool), meta)


def parent_of(path: Path, meta: PoolMeta) -> Path:
    """The pool that a file was made from: it must still lie where it lay, and be what it was."""
    remedy = "run difficulty_metrics on the pool again and keep the files in their folder"
    parent = path.parent / meta.parent
    if not meta.parent_sha256 or not parent.is_file():
        raise BadInput(f"the pool that this was made from is not at {parent}", where=str(path), remedy=remedy)
    if sha256_file(parent) != meta.parent_sha256:
        raise BadInput("the pool has changed since it was measured", where=str(parent), remedy=remedy)
    return parent


def described(path: Path, meta: PoolMeta, kind: type[Identified]) -> str:
    """The file's SHA-256, which must be the one in its sidecar: else seed and mix there belong to another file.

    Where it is not, the file was changed; if that left a line that does not fit, the line is what to name.
    """
    if not path.is_file():
        raise BadInput("no such file", where=str(path), remedy="check the path, or build the file again")
    actual = sha256_file(path)
    if actual != meta.sha256:
        for _ in read_unique(path, kind):
            pass
        raise BadInput(
            "the file has changed since its sidecar was written",
            where=str(path),
            remedy="build it again instead of editing it, and move the .jsonl and .meta.json files together",
        )
    return actual
