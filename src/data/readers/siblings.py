"""Records that tell a held-out record again.

Datasets hold variants of one another: GSM8K asks of the same cookie jar what was in it and what is left in it. With
one of the two in the shadow set and the other in a pool, the pool leaks, although their ids differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..quality.leaks import similar_samples
from ..quality.tokenstream import token_stream
from .gsm8k import Problem
from .reading import Reading

SHINGLE = 5
LIKE = 0.70
"""Stricter than the gate's 0.85: a left-out sentence or a template makes two prompts more alike than their records."""


def without_siblings(
    ids: Sequence[str], held_out: Sequence[str], records: Mapping[str, Reading | Problem]
) -> list[str]:
    """The ids whose records are like none of those held out."""
    if not ids or not held_out:
        return list(ids)
    ours = token_stream([_told(records[one]) for one in ids])
    theirs = token_stream([_told(records[one]) for one in held_out])
    like = similar_samples((ours,), (theirs,), SHINGLE, LIKE).matches
    return [one for place, one in enumerate(ids) if place not in like]


def _told(record: Reading | Problem) -> str:
    return " ".join((*record.premise, record.question)) if isinstance(record, Problem) else record.question
