"""Valid samples with given fields, and pools of them on disk, for the tests of the data gates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from askgate_env.tools import wiki
from askgate_env.types import Article, Hidden, Lang, Provenance, Sample, Task, Turn
from src.core.files import atomic_write, sha256_file, sidecar, write_json
from src.core.jsonl import write_records
from src.data.difficulty.metrics import DifficultyRecord, measure_all
from src.data.pool.meta import PoolMeta

MIX: dict[Task, float] = {"hotpotqa": 0.45, "strategyqa": 0.30, "gsm8k": 0.25}


def write_meta(pool: Path, meta: PoolMeta) -> None:
    write_json(sidecar(pool), meta)


def measure(sample: Sample) -> DifficultyRecord:
    return measure_all([sample])[0]


def slots_of(template: str) -> set[str]:
    """Names of all slots of a template, those in choices included."""
    return set(re.findall(r"\{([^}]*)\}", template))


def make_sample(
    identity: str,
    prompt: str,
    *,
    task: Task = "gsm8k",
    lang: Lang = "en",
    original: str | None = None,
    answer: str = "42",
    thought: str = "",
    context: tuple[Article, ...] = (),
    hidden: Hidden | None = None,
    source_id: str | None = None,
    role: str = "student",
    register: str = "plain",
) -> Sample:
    """A sample whose demonstration asks if something is hidden (after a look at an article), computes, and answers."""
    turns = [Turn("user", "say", prompt)]
    if context:
        title = context[0].title
        turns.append(Turn("assistant", "call", title, tool="wiki"))
        turns.append(Turn("tool", "result", wiki(context, title), tool="wiki"))
    if hidden:
        ask = f"Could you tell me {hidden.missing}?" if lang == "en" else f"请问{hidden.missing}？"
        turns += [Turn("assistant", "ask", ask), Turn("user", "say", hidden.span)]
    turns += [
        Turn("assistant", "call", "6*7", thought=thought, tool="calc"),
        Turn("tool", "result", "42", tool="calc"),
        Turn("assistant", "answer", answer),
    ]
    return Sample(
        id=identity,
        task=task,
        lang=lang,
        prompt=prompt,
        premise="",
        clue="",
        question=prompt,
        original=(f"{prompt} {hidden.span}" if hidden else prompt) if original is None else original,
        context=context,
        support=(),
        answer=answer,
        aliases=(),
        needs_clarification=hidden is not None,
        dialogue=tuple(turns),
        provenance=Provenance(
            source="builtin",
            split="train",
            source_id=source_id or f"source-{identity}",
            template_id="t",
            role=role,
            register=register,
            seed=7,
        ),
        hidden=hidden,
    )


def changed(sample: Sample, **fields: object) -> Sample:
    return msgspec.structs.replace(sample, **fields)


def pool_meta(sha256: str = "", n: int = 0, **fields: object) -> PoolMeta:
    """Metadata of a pool as the builder writes it, except for `fields`."""
    facts = PoolMeta(
        kind="pool",
        sha256=sha256,
        n=n,
        seed=7,
        split="train",
        source="builtin",
        data_dir="",
        langs=("en", "zh"),
        mix=MIX,
        max_turns=6,
        clarify_rate=0.3,
        tools=("wiki", "calc"),
        tool_hops=4,
        ops_numeric=4,
        paraphrase=0.5,
        templates_dir="templates/pack_v2",
        templates_sha256={},
        sources_sha256={},
    )
    return msgspec.structs.replace(facts, **fields)


def write_pool(path: Path, samples: Sequence[Sample], **fields: object) -> Path:
    write_lines(path, samples)
    write_meta(path, pool_meta(sha256_file(path), len(samples), **fields))
    return path


def write_lines(path: Path, samples: Iterable[Sample]) -> Path:
    with atomic_write(path) as handle:
        write_records(handle, samples)
    return path
