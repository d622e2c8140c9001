"""The official records as their files have them. `msgspec` checks every field and names the one that does not fit."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field


class HotpotRecord(Struct, frozen=True):
    """HotpotQA, distractor setting. Answerless test files have no `answer` and are not read."""

    id: str = field(name="_id")
    question: str
    answer: str
    supporting_facts: tuple[tuple[str, int], ...]
    context: tuple[tuple[str, tuple[str, ...]], ...]


class StrategyRecord(Struct, frozen=True):
    qid: str
    term: str
    description: str
    question: str
    answer: bool
    facts: tuple[str, ...]
    decomposition: tuple[str, ...]
    evidence: tuple[Any, ...]
    """One entry an annotator, in it one a step: lists of paragraph ids beside the words `operation`, `no_evidence`."""


class Paragraph(Struct, frozen=True):
    title: str
    content: str
    para_index: int


class GsmRecord(Struct, frozen=True):
    question: str
    answer: str
