"""The pool builder: from sources and templates to a JSONL file of samples and its sidecar.

Every sample is made from its own key, so worker processes change how long it takes and not what comes out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from random import Random
from typing import IO, Any, Literal

import msgspec

from ...core.defaults import MIX, SEED, TEMPLATES
from ...core.errors import BadInput
from ...core.files import atomic_files, json_bytes, require_jsonl, shipped, sidecar
from ...core.types import Sample, Task
from ...utils.cores import usable_cores
from ..readers.builtin import BuiltinSource
from .dialogue import dress
from .meta import PoolMeta
from .plan import BuildPlan, check_plan, wants
from .source import Source, Want
from .templates import Pack, load_pack, pack_fingerprints

Job = tuple[Task, str, Want]
PACK_V1 = Path("templates/pack_v1")
CHUNK = 250
PARALLEL_FROM = 2_000
"""Below this many samples, starting processes costs more than it saves."""


Progress = Callable[[int], None]


def build_pool(plan: BuildPlan, out: Path, progress: Progress = lambda done: None) -> PoolMeta:
    """Writes `out` and its sidecar; on any error neither appears and an older pool stays as it was."""
    require_jsonl(out, "--out")
    with atomic_files() as start:
        return write_pool(plan, start(out), start(sidecar(out)), progress)


def write_pool(plan: BuildPlan, pool: IO[bytes], facts: IO[bytes], progress: Progress = lambda done: None) -> PoolMeta:
    check_plan(plan)
    pack, source = load_pack(shipped(plan.templates_dir)), open_source(plan)
    plan = settled(plan, source)
    fingerprints = pack_fingerprints(shipped(plan.templates_dir))
    jobs = make_jobs(plan, source)
    digest = hashlib.sha256()
    for lines in _lines(plan, source, pack, jobs):
        block = b"".join(lines)
        digest.update(block)
        pool.write(block)
        progress(len(lines))
    meta = _meta(plan, digest.hexdigest(), fingerprints, source)
    facts.write(json_bytes(meta))
    return meta


def settled(plan: BuildPlan, source: Source) -> BuildPlan:
    """The plan with its languages named: none asked for means all that the source has."""
    strange = [lang for lang in plan.langs if lang not in source.languages]
    if strange:
        raise BadInput(
            f"source {source.name} has no {strange[0]}", where="--lang", remedy=f"use {','.join(source.languages)}"
        )
    return msgspec.structs.replace(plan, langs=plan.langs or source.languages)


def make_jobs(plan: BuildPlan, source: Source, taken: Collection[str] = ()) -> list[Job]:
    """Every task to make, tasks mixed at random; nothing from source ids that are taken.

    Within a task the keys keep their order, so that a source which builds a world for several keys builds it once.
    """
    by_task: dict[Task, Iterator[Job]] = {}
    order: list[Task] = []
    for task, wanted in wants(plan, source.levels).items():
        keys = source.assign(task, wanted, plan.split, plan.seed, taken)
        by_task[task] = iter([(task, key, want) for key, want in zip(keys, wanted, strict=True)])
        order += [task] * len(wanted)
    Random(f"order:{plan.seed}:{plan.split}").shuffle(order)
    return [next(by_task[task]) for task in order]


def make_sample(plan: BuildPlan, source: Source, pack: Pack, job: Job) -> Sample:
    task, key, want = job
    return dress(source.item(task, key, want, plan.seed), pack, plan.tools, plan.split, plan.seed)


def reference_samples(meta: PoolMeta, n: int) -> Iterator[Sample]:
    """The first `n` samples of the pool as pack v1 would have worded them: same source, mix and seed."""
    plan = msgspec.structs.replace(plan_of(meta), templates_dir=PACK_V1)
    source, pack = open_source(plan), load_pack(shipped(PACK_V1))
    decoder = msgspec.json.Decoder(Sample)
    for lines in _lines(plan, source, pack, make_jobs(plan, source)[:n]):
        for line in lines:
            yield decoder.decode(line)


def plan_of(meta: PoolMeta) -> BuildPlan:
    """The plan that a sidecar tells of."""
    shared = {
        name: getattr(meta, name) for name in BuildPlan.__struct_fields__ if name not in ("data_dir", "templates_dir")
    }
    return BuildPlan(
        **shared,
        data_dir=Path(meta.data_dir) if meta.data_dir else None,
        templates_dir=Path(meta.templates_dir),
    )


def _meta(plan: BuildPlan, sha256: str, templates: dict[str, str], source: Source) -> PoolMeta:
    shared: dict[str, Any] = msgspec.structs.asdict(plan)
    shared |= {"data_dir": str(plan.data_dir or ""), "templates_dir": str(plan.templates_dir)}
    return PoolMeta(
        kind="pool" if plan.split == "train" else "shadow",
        sha256=sha256,
        templates_sha256=templates,
        sources_sha256=source.fingerprints,
        left_aside=source.left_aside,
        **shared,
    )


def _lines(plan: BuildPlan, source: Source, pack: Pack, jobs: list[Job]) -> Iterator[list[bytes]]:
    """Encoded samples, a chunk at a time and in order, by as many processes as there are cores."""
    chunks = _chunks(jobs)
    workers = usable_cores(most=16)
    if len(jobs) < PARALLEL_FROM or workers == 1:
        for chunk in chunks:
            yield _encode(plan, source, pack, chunk)
        return
    with ProcessPoolExecutor(workers, initializer=_start_worker, initargs=(plan,)) as executor:
        # A bounded window: `map` would hold every result of a large pool in memory.
        waiting = [executor.submit(_work, chunk) for chunk in islice(chunks, 4 * workers)]
        while waiting:
            yield waiting.pop(0).result()
            waiting += [executor.submit(_work, chunk) for chunk in islice(chunks, 1)]


def _chunks(jobs: list[Job]) -> Iterator[list[Job]]:
    for start in range(0, len(jobs), CHUNK):
        yield jobs[start : start + CHUNK]


def _encode(plan: BuildPlan, source: Source, pack: Pack, jobs: list[Job]) -> list[bytes]:
    encoder = msgspec.json.Encoder()
    return [encoder.encode(make_sample(plan, source, pack, job)) + b"\n" for job in jobs]


_worker: tuple[BuildPlan, Source, Pack] | None = None


def _start_worker(plan: BuildPlan) -> None:
    global _worker
    _worker = (plan, open_source(plan), load_pack(shipped(plan.templates_dir)))


def _work(jobs: list[Job]) -> list[bytes]:
    assert _worker is not None
    return _encode(*_worker, jobs)


# Opens the source that a plan names.


def open_source(plan: BuildPlan) -> Source:
    if plan.source == "builtin":
        return BuiltinSource()
    if plan.source == "dir":
        from ..readers.official import OfficialSource

        if plan.data_dir is not None:
            _refuse_missing(plan.data_dir)
        return OfficialSource(plan.data_dir)
    from ..readers.hub import HubSource

    return HubSource(plan.data_dir)


def _refuse_missing(data_dir: Path) -> None:
    """A sidecar keeps the folder as it was given, since no machine's own path belongs in a reproducible file."""
    if not data_dir.is_dir():
        raise BadInput(
            "no such folder",
            where=f"--data_dir {data_dir}",
            remedy="name the folder of the official files; a pool keeps it relative to the folder where the pool was "
            "built, so run the later stages from there",
        )


# The smallest data that a first training run needs: a training pool and an evaluation pool of other source ids.


TRAIN, EVAL = 120, 40


def make_minimal(folder: Path) -> tuple[Path, Path]:
    """Writes `train_min.jsonl` and `eval_min.jsonl`; always the same bytes."""
    train, held_out = folder / "train_min.jsonl", folder / "eval_min.jsonl"
    build_pool(_plan(TRAIN, "train"), train)
    build_pool(_plan(EVAL, "shadow"), held_out)
    return train, held_out


def _plan(n: int, split: Literal["train", "shadow"]) -> BuildPlan:
    return BuildPlan(
        n=n,
        mix=MIX,
        seed=SEED,
        langs=(),
        templates_dir=TEMPLATES,
        split=split,
    )
