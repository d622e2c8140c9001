"""Is this the pool that its sidecar tells of? The same arguments give the same tasks, so some are made again.

Whoever edits a pool can make the sidecar's hash fit. What they cannot do is make the builder give their samples.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import msgspec

from ...core.types import Sample


def task_hash(sample: Sample) -> int:
    """Of everything that a source made. The wording is the template's, and the reference has another."""
    made = (
        sample.id,
        sample.task,
        sample.lang,
        sample.premise,
        sample.clue,
        sample.question,
        sample.original,
        sample.context,
        sample.support,
        sample.answer,
        sample.aliases,
        sample.hidden,
        sample.provenance.source_id,
    )
    return int.from_bytes(blake2b(msgspec.json.encode(made), digest_size=8).digest())


def differing(pool: Iterable[int], made_again: Iterable[int]) -> int:
    """How many of the tasks that were made again are not what stands in the pool at their place."""
    return sum(ours != theirs for ours, theirs in zip(pool, made_again, strict=False))
