"""The demo: base and trained policy on the same held-out samples of the built-in worlds.

    made = run_demo(Path("models/tiny"), Path("models/tiny-trained"), "en", reporter)

Samples and seed are fixed, decoding is greedy, and everything is measured when it runs. Which samples are shown does
not depend on the policies: of each task the first that lacks something and the first that is complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from askgate_env.types import TASKS, Episode, Lang, Sample

from ..agents.trajectory import Job
from ..core.errors import BadInput
from ..core.files import atomic_write, shipped
from ..core.model_files import model_sha256
from ..eval.metrics import Figure, figures
from ..pages.render import render_page
from ..runtime.progress import Reporter
from .policies import open_policy
from .samples import held_out_samples

SEED = 17
SAMPLES = 40
MAX_TURNS = 6
COUNTED = ("success", "need_ask_success", "overclar_rate")
"""Figures that are shown as counts."""


@dataclass(frozen=True)
class Side:
    """One policy and its episodes on all samples."""

    model: Path
    episodes: Sequence[Episode]

    def counts(self) -> dict[str, tuple[int, int]]:
        """Episodes that count for each figure, and of how many."""
        found = figures(self.episodes)
        return {name: _count(found[name]) for name in COUNTED}


@dataclass(frozen=True)
class Demo:
    """Samples, the places of those that are shown, and what both policies did."""

    lang: Lang
    samples: Sequence[Sample]
    shown: Sequence[int]
    sides: Mapping[str, Side]
    """`base` and `trained`."""


def run_demo(base: Path, trained: Path, lang: Lang, reporter: Reporter, n: int = SAMPLES) -> Demo:
    for folder in (base, trained):
        _require_model(folder)
    samples = held_out_samples(n, lang, SEED)
    jobs = [Job(sample, seed=SEED, sample_index=place) for place, sample in enumerate(samples)]
    sides: dict[str, Side] = {}
    for name, folder in (("base", base), ("trained", trained)):
        with reporter.progress(str(folder), len(jobs)) as progress, open_policy(str(folder)) as policy:
            sides[name] = Side(folder, policy.rollout(jobs, MAX_TURNS, progress=progress))
    return Demo(lang, samples, shown_places(samples), sides)


def write_page(demo: Demo, out: Path) -> None:
    """Writes the page with the shown samples, the counts, and the SHA-256 of both models."""
    pairs = [
        (demo.samples[place], {name: side.episodes[place] for name, side in demo.sides.items()}) for place in demo.shown
    ]
    page = render_page(
        "demo.html",
        models={name: str(side.model) for name, side in demo.sides.items()},
        pairs=pairs,
        counts={name: side.counts() for name, side in demo.sides.items()},
        digests={str(side.model): model_sha256(shipped(side.model)) for side in demo.sides.values()},
    )
    with atomic_write(out) as handle:
        handle.write(page)


def shown_places(samples: Sequence[Sample]) -> list[int]:
    """Places of the samples to show: for each task, the first incomplete sample and the first complete one."""
    kinds = [(sample.task, sample.needs_clarification) for sample in samples]
    return [kinds.index((task, needs)) for task in TASKS for needs in (True, False) if (task, needs) in kinds]


def _require_model(folder: Path) -> None:
    if not shipped(folder).is_dir():
        raise BadInput(
            "no such folder",
            where=str(folder),
            remedy="train one with `askgate quickstart`, then `askgate demo --trained checkpoints/rc1/final_model`",
        )


def _count(figure: Figure) -> tuple[int, int]:
    return (round(figure.value * figure.n) if figure.value is not None else 0), figure.n
