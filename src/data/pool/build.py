"""The pool builder: from a source and templates to a JSONL file of samples and its sidecar.

Every sample is made from its own key, so the number of worker processes does not change the output.
"""

from __future__ import annotations

import hashlib
import pickle
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from itertools import islice, repeat
from pathlib import Path
from random import Random
from typing import IO, Any

import msgspec

from askgate_env.types import Sample, Task

from ...core.defaults import MIX, SEED, TEMPLATES
from ...core.errors import BadInput
from ...core.files import HOME, atomic_files, json_bytes, require_jsonl, shipped, sidecar
from ...runtime.workers import Workers, local_workers
from ...utils.processes import rare_collections
from ..readers.builtin import BuiltinSource
from .dialogue import item_to_sample
from .meta import PoolMeta
from .plan import BuildPlan, wants
from .source import NATURAL_SOURCES, Source, TooFewRecords, Want
from .templates import Pack, load_pack, pack_fingerprints
from .voice import voice_fingerprints

Job = tuple[Task, str, Want]
PACK_V1 = HOME / "templates/pack_v1"
"""Wording that diversity is measured against. Always the package's own: another one would make any pool look varied."""
CHUNK = 250
PARALLEL_FROM = 2_000
"""Number of samples from which worker processes are started."""
USE_SEPARATOR = "~"
"""Separator in the key of a record that is used again: `2~KEY` is its third use."""
_MODE_PREFIX = re.compile(r"^\w+\|")
"""Prefix of a key of official files, before the id of the record."""
TRAIN, EVAL = 120, 40
"""Numbers of samples that `make_minimal` writes for training and for evaluation."""
SIZE_TRIES = 40
"""Number of smaller sizes that are tried where a source has too few records."""
Progress = Callable[[int], None]


def open_source(plan: BuildPlan) -> Source:
    if plan.source == "builtin":
        return BuiltinSource()
    from ..readers.official import HubSource, OfficialSource

    if plan.source == "hf":
        return HubSource(plan.data_dir)
    if plan.data_dir is not None and plan.data_dir.is_file():
        folder = plan.data_dir.parent
        remedy = f"type --data-dir {folder} (all files of the source in that folder are read)"
        raise BadInput("is a file, and a folder is needed", where=f"--data-dir {plan.data_dir}", remedy=remedy)
    if plan.data_dir is not None and not plan.data_dir.is_dir():
        raise BadInput(
            "no such folder",
            where=f"--data-dir {plan.data_dir}",
            remedy="name the folder of the official files; a pool keeps it relative to the folder where the pool "
            "was built, so run the later stages from there",
        )
    if plan.source in NATURAL_SOURCES:
        from ..readers.natural import NaturalSource

        return NaturalSource(plan.source, plan.data_dir)
    return OfficialSource(plan.data_dir)


def build_pool(
    plan: BuildPlan, out: Path, progress: Progress = lambda done: None, workers: Workers | None = None
) -> PoolMeta:
    """Writes a pool and its sidecar. On an error neither appears, and an older pool stays as it was."""
    require_jsonl(out, "--out")
    with atomic_files() as start, rare_collections():
        return write_pool(plan, start(out), start(sidecar(out)), progress, workers)


def write_pool(
    plan: BuildPlan,
    pool: IO[bytes],
    meta_file: IO[bytes],
    progress: Progress = lambda done: None,
    workers: Workers | None = None,
) -> PoolMeta:
    """Writes a pool and its sidecar to open files."""
    pack, source = load_pack(shipped(plan.templates_dir)), open_source(plan)
    plan = with_languages(plan, source)
    fingerprints = pack_fingerprints(shipped(plan.templates_dir)) | voice_fingerprints()
    digest = hashlib.sha256()
    jobs = _jobs_that_fit(plan, source)
    reused: dict[Task, int] = {}
    if plan.reuse > 1:
        listed = list(jobs)
        jobs, reused = iter(listed), count_reused(listed)
    for lines in _encoded_samples(plan, source, pack, jobs, plan.n, workers):
        block = b"".join(lines)
        digest.update(block)
        pool.write(block)
        progress(len(lines))
    meta = _meta(plan, digest.hexdigest(), fingerprints, source, reused)
    meta_file.write(json_bytes(meta))
    return meta


def _jobs_that_fit(plan: BuildPlan, source: Source) -> Iterator[Job]:
    """The jobs of a plan. If the source has too few records, the error names the size that it is enough for."""
    try:
        return make_jobs(plan, source)
    except TooFewRecords as error:
        n, rows = _size_that_fits(plan, source), error.count_rows()
    part = "held-out" if plan.split == "shadow" else "training"
    what = f"asks for {plan.n} samples, but the {part} rows are enough for only {n} {rows}"
    remedy = f"run the same command with --n {n}"
    if plan.source == "messages" and n < min(plan.n, rows.shadow if plan.split == "shadow" else rows.train):
        what += f"; too few of them are complete: {plan.clarify_rate:.0%} of the samples need a question"
    if rows.skipped > rows.rows / 2:
        remedy = f"correct the skipped rows, which are named above; or {remedy}"
    if plan.source in NATURAL_SOURCES and plan.split == "train" and plan.clarify_rate < 1:
        remedy += "; a higher --clarify-rate uses more of the rows that need a question, where some are left"
    raise TooFewRecords(what, where="--n", remedy=remedy)


def _size_that_fits(plan: BuildPlan, source: Source) -> int:
    """A size that the records are enough for, at most `plan.n`. If none is found, raises the error of `plan.n`.

    Another size needs another number of ambiguous samples, so the records that one size lacked are only an estimate.
    """
    first, n = None, plan.n
    for _ in range(SIZE_TRIES + 1):
        try:
            make_jobs(msgspec.structs.replace(plan, n=n), source)
            return n
        except TooFewRecords as error:
            first = first or error
            n -= max(1, error.missing)
        if n < 1:
            break
    assert first is not None
    remedy, rows = first.remedy, first.count_rows()
    if rows.skipped > rows.rows / 2:
        remedy = "correct the skipped rows, which are named above"
    elif plan.split == "shadow" and not rows.shadow:
        remedy = "add rows: the hash of its question decides whether a row is held out, and about one in seven is"
    elif plan.split == "train" and not rows.train and rows.alike:
        remedy = "rows that differ in little but a name or a number count as one: reword them, or add others"
    raise TooFewRecords(f"{first.what} {rows}", where=first.where, remedy=remedy)


def largest_plan(plan: BuildPlan) -> BuildPlan:
    """The plan with as many samples as its source has records for, at most `plan.n`."""
    source = open_source(plan)
    plan = with_languages(plan, source)
    return msgspec.structs.replace(plan, n=_size_that_fits(plan, source))


def make_minimal(folder: Path) -> tuple[Path, Path]:
    """Writes the smallest data for a first training run: a training pool and an evaluation pool of other source ids."""
    train, held_out = folder / "train_min.jsonl", folder / "eval_min.jsonl"
    plan = BuildPlan(n=TRAIN, mix=MIX, seed=SEED, langs=(), templates_dir=TEMPLATES)
    build_pool(plan, train)
    build_pool(msgspec.structs.replace(plan, n=EVAL, split="shadow"), held_out)
    return train, held_out


def with_languages(plan: BuildPlan, source: Source) -> BuildPlan:
    """The plan with the languages to make, by default all of the source, and the task shares of a source that has its
    own."""
    if not source.languages:
        remedy = "check the files in it; docs/data.md has their format"
        raise BadInput(f"no {source.name} record here can be used", where=str(plan.data_dir), remedy=remedy)
    unknown = [lang for lang in plan.langs if lang not in source.languages]
    if unknown:
        remedy = f"use {','.join(source.languages)}"
        raise BadInput(f"source {source.name} has no {unknown[0]}", where="--lang", remedy=remedy)
    return msgspec.structs.replace(plan, langs=plan.langs or source.languages, mix=source.mix or plan.mix)


def make_jobs(plan: BuildPlan, source: Source, taken: Collection[str] = ()) -> Iterator[Job]:
    """The jobs of a plan, with its tasks in random order; none uses a source id in `taken`.

    Within a task the keys keep their order, so that a source which builds a world for several keys builds it once.
    """
    by_task: dict[Task, Iterator[Job]] = {}
    order: list[Task] = []
    for task, wanted in wants(plan, source.levels).items():
        by_task[task] = zip(repeat(task), _keys(plan, source, task, wanted, taken), wanted, strict=True)
        order += [task] * len(wanted)
    Random(f"order:{plan.seed}:{plan.split}").shuffle(order)
    return (next(by_task[task]) for task in order)


def _keys(plan: BuildPlan, source: Source, task: Task, wanted: list[Want], taken: Collection[str]) -> list[str]:
    """A key for every want. If the source has too few records, they are used several times, each time with another
    seed: as few times as possible, at most `plan.reuse`. The key of a later use starts with its number."""
    for uses in range(1, plan.reuse + 1):
        keys = [""] * len(wanted)
        fewer = 0
        try:
            for use in range(uses):
                found = source.assign(task, wanted[use::uses], plan.split, plan.seed + use, taken)
                keys[use::uses] = [f"{use}{USE_SEPARATOR}{key}" if use else key for key in found]
                fewer += source.fewer_ambiguous.get(task, 0)
        except BadInput:
            if uses == plan.reuse:
                raise
            continue
        source.fewer_ambiguous[task] = fewer
        return keys
    raise AssertionError("the last number of uses returns or raises")


def count_reused(jobs: Sequence[Job]) -> dict[Task, int]:
    """Number of jobs, by task, whose record has an earlier job."""
    records = {(task, _MODE_PREFIX.sub("", _use_and_key(key)[1])) for task, key, _ in jobs}
    return dict(Counter(task for task, _, _ in jobs) - Counter(task for task, _ in records))


def _use_and_key(key: str) -> tuple[int, str]:
    """How often the record was used before, and the key that the source gave, which may also have a separator.

    >>> _use_and_key("2~hidden|gsm8k:7"), _use_and_key("messages:a~b")
    ((2, 'hidden|gsm8k:7'), (0, 'messages:a~b'))
    """
    use, mark, rest = key.partition(USE_SEPARATOR)
    return (int(use), rest) if mark and use.isdecimal() else (0, key)


def make_sample(plan: BuildPlan, source: Source, pack: Pack, job: Job) -> Sample:
    task, key, want = job
    use, record = _use_and_key(key)
    seed = plan.seed + use
    item = source.item(task, record, want, seed)
    return item_to_sample(item, pack, plan.tools, plan.split, seed, is_reused=bool(use))


def builtin_samples(n: int, seed: int, **more: Any) -> list[Sample]:
    """Samples of the built-in worlds. `more`: other fields of the plan, such as `split="shadow"` for held-out ones."""
    plan = BuildPlan(**{"n": n, "mix": MIX, "seed": seed, "langs": (), "templates_dir": TEMPLATES, **more})
    source, pack = open_source(plan), load_pack(shipped(TEMPLATES))
    plan = with_languages(plan, source)
    return [make_sample(plan, source, pack, job) for job in make_jobs(plan, source)]


def reference_samples(meta: PoolMeta, n: int, workers: Workers | None = None) -> Iterator[Sample]:
    """The first `n` samples of the pool in the wording of pack v1: same source, mix and seed."""
    return rebuilt_samples(meta, n, PACK_V1, workers)


def rebuilt_samples(meta: PoolMeta, n: int, templates_dir: Path, workers: Workers | None = None) -> Iterator[Sample]:
    """The first `n` samples that the builder gives for a sidecar, in the wording of these templates."""
    plan = msgspec.structs.replace(plan_of(meta), templates_dir=templates_dir)
    source, pack = open_source(plan), load_pack(shipped(templates_dir))
    decoder = msgspec.json.Decoder(Sample)
    for lines in _encoded_samples(plan, source, pack, islice(make_jobs(plan, source), n), n, workers):
        for line in lines:
            yield decoder.decode(line)


def plan_of(meta: PoolMeta) -> BuildPlan:
    shared: dict[str, Any] = {name: getattr(meta, name) for name in BuildPlan.__struct_fields__}
    shared |= {"data_dir": Path(meta.data_dir) if meta.data_dir else None, "templates_dir": Path(meta.templates_dir)}
    return BuildPlan(**shared)


def _meta(plan: BuildPlan, sha256: str, templates: dict[str, str], source: Source, reused: dict[Task, int]) -> PoolMeta:
    shared: dict[str, Any] = msgspec.structs.asdict(plan)
    shared |= {"data_dir": str(plan.data_dir or ""), "templates_dir": str(plan.templates_dir)}
    return PoolMeta(
        kind="pool" if plan.split == "train" else "shadow",
        sha256=sha256,
        templates_sha256=templates,
        sources_sha256=source.fingerprints,
        left_aside=source.left_aside,
        fewer_ambiguous={task: count for task, count in source.fewer_ambiguous.items() if count},
        reused=reused,
        **shared,
    )


def _encoded_samples(
    plan: BuildPlan, source: Source, pack: Pack, jobs: Iterator[Job], n: int, workers: Workers | None
) -> Iterator[list[bytes]]:
    """Samples as JSON lines, a chunk at a time and in order."""
    chunks = iter(lambda: list(islice(jobs, CHUNK)), [])
    workers = workers or local_workers(n >= PARALLEL_FROM, most=16)
    if type(workers) is Workers:
        return (_encode(plan, source, pack, chunk) for chunk in chunks)
    # A worker of a cluster runs in another folder.
    worker_plan = msgspec.structs.replace(
        plan, templates_dir=shipped(plan.templates_dir).absolute(), data_dir=plan.data_dir and plan.data_dir.absolute()
    )
    packed = pickle.dumps(worker_plan)
    return workers.map(_encode_in_worker, ((packed, chunk) for chunk in chunks))


def _encode(plan: BuildPlan, source: Source, pack: Pack, jobs: list[Job]) -> list[bytes]:
    encoder = msgspec.json.Encoder()
    return [encoder.encode(make_sample(plan, source, pack, job)) + b"\n" for job in jobs]


def _encode_in_worker(packed: bytes, jobs: list[Job]) -> list[bytes]:
    return _encode(*_open_plan(packed), jobs)


@lru_cache(maxsize=1)
def _open_plan(packed: bytes) -> tuple[BuildPlan, Source, Pack]:
    """A plan with its source and pack, opened once in each worker."""
    plan: BuildPlan = pickle.loads(packed)
    return plan, open_source(plan), load_pack(plan.templates_dir)
