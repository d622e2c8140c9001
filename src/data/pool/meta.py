"""The sidecar of a pool (`.meta.json`): how the pool was built, so that later stages need only the pool's path."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np
from msgspec import field
from numpy.typing import NDArray

from askgate_env.types import Lang, Record, Sample, Task

from ...core.errors import BadInput
from ...core.files import atomic_files, json_bytes, read_noted, sha256_file, sidecar, written
from ...core.jsonl import Identified, read_unique, write_records


class PoolMeta(Record, frozen=True):
    """Content of a sidecar. No timestamps: the same arguments give the same bytes."""

    kind: str
    """`pool`, `shadow`, `metrics` or `balanced`."""
    sha256: str
    """SHA-256 of the file that this sidecar describes."""
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
    """The file that this one was derived from, relative to this one's folder."""
    parent_sha256: str = ""
    left_aside: dict[Task, int] = field(default_factory=dict)
    """Number of unusable records of the source by task: repeated, or without a way to the answer."""
    fewer_ambiguous: dict[Task, int] = field(default_factory=dict)
    """Number of ambiguous samples that were asked for and that the source could not give, by task."""
    reuse: int = 1
    reused: dict[Task, int] = field(default_factory=dict)
    """Number of samples whose record has another sample in the pool already, by task."""


def read_meta(pool: Path) -> PoolMeta:
    if not pool.is_file():
        raise BadInput("no such file", where=str(pool), remedy="check the path, or build the file first")
    path = sidecar(pool)
    try:
        raw = read_noted(path)
    except OSError as error:
        what = f"the pool's sidecar cannot be read ({error.strerror})"
        remedy = "build the pool with build-rollout-pool, and move the .jsonl and .meta.json files together"
        raise BadInput(what, where=str(path), remedy=remedy) from None
    try:
        return msgspec.json.decode(raw, type=PoolMeta)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(str(error), where=str(path), remedy="build the pool again") from None


def derived_meta(
    meta: PoolMeta, kind: str, n: int, sha256: str, out: Path, parent: Path, parent_sha256: str
) -> PoolMeta:
    """The sidecar of a file `out` that was derived from the pool `parent` with sidecar `meta`."""
    # Folders lose their links first, because `link/..` is not the folder that holds the link. The parent keeps its
    # own name: its sidecar has the same.
    relative = Path(os.path.relpath(parent.parent.resolve() / parent.name, out.parent.resolve())).as_posix()
    return msgspec.structs.replace(meta, kind=kind, sha256=sha256, n=n, parent=relative, parent_sha256=parent_sha256)


def write_part(samples: Sequence[Sample], out: Path, whole: Path) -> None:
    """Writes some samples of the pool `whole` to `out`, with the sidecar of a balanced pool."""
    meta = read_meta(whole)
    parent = parent_of(whole, meta) if meta.parent else whole
    with atomic_files() as start:
        handle, meta_file = start(out), start(sidecar(out))
        write_records(handle, samples)
        sha256 = sha256_file(written(handle))
        meta_of_part = derived_meta(
            read_meta(parent), "balanced", len(samples), sha256, out, parent, sha256_file(parent)
        )
        meta_file.write(json_bytes(meta_of_part))


def parent_of(path: Path, meta: PoolMeta) -> Path:
    """The pool that a file was derived from. It must still be in its place and unchanged."""
    remedy = "run difficulty-metrics on the pool again and keep the files in their folder"
    parent = path.parent / meta.parent
    if not meta.parent_sha256 or not parent.is_file():
        raise BadInput(f"the pool that this was made from is not at {parent}", where=str(path), remedy=remedy)
    if sha256_file(parent) != meta.parent_sha256:
        raise BadInput("the pool has changed since it was measured", where=str(parent), remedy=remedy)
    return parent


def verify_sha256(path: Path, meta: PoolMeta, kind: type[Identified]) -> str:
    """SHA-256 of a file, which must be the one in its sidecar: else seed and mix there belong to another file.

    A changed file is refused. If the change left a line that cannot be read, the error names that line.
    """
    if not path.is_file():
        raise BadInput("no such file", where=str(path), remedy="check the path, or build the file again")
    actual = sha256_file(path)
    if actual != meta.sha256:
        for _ in read_unique(path, kind):
            pass
        remedy = "build it again instead of editing it, and move the .jsonl and .meta.json files together"
        raise BadInput("the file has changed since its sidecar was written", where=str(path), remedy=remedy)
    return actual


def id_hash(name: str) -> int:
    """64-bit hash of an id."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest())


def refuse_repeated_ids(path: Path, kind: type[Identified], hashes: NDArray[np.uint64]) -> None:
    """Refuses a file with an id that occurs twice, by a hash of each id: 8 bytes instead of the id itself."""
    if len(np.unique(hashes)) < len(hashes):
        for _ in read_unique(path, kind):  # names the line, and lets pass what is only a collision
            pass
