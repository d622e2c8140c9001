"""`reports/rc1/RC1.json`: everything that the RC1 page shows. The page is made from this and from nothing else."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ...core.episode import Episode
from ...core.types import Lang, Level, Task
from ...eval.trial import TrialReport
from ...gates.report import Print, Round


class Point(Struct, frozen=True):
    """A part of the verdict. What nobody measured has not passed."""

    name: str
    name_zh: str
    passed: bool
    told: str
    genuine: bool = True
    """False: something is not what it says it is. That is more than a figure that missed its mark."""


class ShadowPoint(Struct, frozen=True):
    """One episode of the shadow run under both scores."""

    old: float
    new: float
    success: bool
    live: bool


class Pair(Struct, frozen=True):
    """Base and trained policy on one held-out sample, and what neither of them was told."""

    sample_id: str
    task: Task
    lang: Lang
    level: Level | None
    group: str
    gold: str
    missing: str
    """What was taken out of the question; empty where nothing is missing."""
    base: Episode
    trained: Episode


class Reading(Struct, frozen=True):
    """Episodes to read, how they were chosen, and of how many."""

    rule: str
    rule_zh: str
    seed: int
    counts: dict[str, int]
    """How many held-out samples there are of each group."""
    pairs: list[Pair]


class Rc1(Struct, frozen=True):
    ts: str
    version: str
    profile: str
    passed: bool
    verdict: list[Point]
    run: str
    """Name of the run folder in its manifest."""
    ticket: str
    """SHA-256; empty where there is none."""
    signed: bool
    models: dict[str, str]
    """Folder and SHA-256 of what was trained."""
    evaluation: TrialReport | None
    training: list[dict[str, Any]]
    """Figures of the steps, thinned out where there are many."""
    held_out: list[dict[str, Any]]
    calibration: dict[str, Any] | None
    """The stages' own reports, as they lie in `reports/`."""
    shadow: dict[str, Any] | None
    shadow_points: list[ShadowPoint]
    ablation: dict[str, Any] | None
    pool: dict[str, Any] | None
    difficulty: dict[str, Any] | None
    rounds: list[Round]
    prints: dict[str, Print]
    """By role: what was trained on, what rewarded it, what it was set to, and the reports shown here."""
    commit: str
    reading: Reading | None
    reproduce: list[str]
