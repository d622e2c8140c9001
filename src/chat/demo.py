"""The demo: base and trained policy on the same held-out samples of the built-in worlds.

    made = run_demo(Path("models/tiny"), Path("models/tiny-trained"), "en", reporter)

Samples and seed are fixed, decoding is greedy, and everything is measured when it runs. The first sample shown is one
that training changed, and it is marked as chosen. The choice of the others does not depend on the policies: for each
task the first incomplete sample and the first complete one.
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
from ..eval.metrics import figures, is_lucky, is_right
from ..pages.render import opened_in, render_page
from ..runtime.progress import Reporter
from .policies import open_policy
from .samples import held_out_samples

SEED = 17
SAMPLES = 40
MAX_TURNS = 6
COUNTED = ("need_ask_success", "overclar_rate")  # figures that are shown as counts


@dataclass(frozen=True)
class Side:
    """One policy and its episodes on all samples."""

    model: Path
    episodes: Sequence[Episode]

    def counts(self) -> dict[str, tuple[int, int]]:
        """By figure, the number of episodes that count and the number that could."""
        found = figures(self.episodes)
        counted = {name: (round((found[name].value or 0.0) * found[name].n), found[name].n) for name in COUNTED}
        return {"right": (sum(map(is_right, self.episodes)), len(self.episodes)), **counted}


@dataclass(frozen=True)
class Demo:
    """Samples, the indices of those that are shown, and what both policies did."""

    lang: Lang
    samples: Sequence[Sample]
    shown: Sequence[int]
    sides: Mapping[str, Side]  # `base` and `trained`
    chosen: int | None = None  # index of the first sample that the trained policy alone solves by asking


def run_demo(base: Path, trained: Path, lang: Lang, reporter: Reporter, n: int = SAMPLES) -> Demo:
    for folder in (base, trained):
        if not shipped(folder).is_dir():
            remedy = "train one with `askgate quickstart`, then `askgate demo --trained checkpoints/rc1/final_model`"
            raise BadInput("no such folder", where=str(folder), remedy=remedy)
    samples = held_out_samples(n, lang, SEED)
    jobs = [Job(sample, seed=SEED) for sample in samples]
    sides: dict[str, Side] = {}
    for name, folder in (("base", base), ("trained", trained)):
        with reporter.progress(str(folder), len(jobs)) as progress, open_policy(str(folder)) as policy:
            sides[name] = Side(folder, policy.rollout(jobs, MAX_TURNS, progress=progress))
    chosen = first_gain(sides["base"].episodes, sides["trained"].episodes)
    shown = [index for index in shown_indices(samples) if index != chosen]
    return Demo(lang, samples, shown if chosen is None else [chosen, *shown], sides, chosen)


def first_gain(base: Sequence[Episode], trained: Sequence[Episode]) -> int | None:
    """Index of the first sample that the trained policy solves by asking and the base does not solve."""
    pairs = enumerate(zip(base, trained, strict=True))
    return next((index for index, (old, new) in pairs if new.need_ask_success and not old.success), None)


def write_page(demo: Demo, out: Path) -> None:
    """Writes the page with the shown samples, the counts, and the SHA-256 of both models."""
    pairs = [
        (demo.samples[index], {name: side.episodes[index] for name, side in demo.sides.items()}) for index in demo.shown
    ]
    page = render_page(
        "demo.html",
        models={name: str(side.model) for name, side in demo.sides.items()},
        pairs=pairs,
        chosen=demo.chosen is not None,
        is_right=is_right,
        is_lucky=is_lucky,
        counts={name: side.counts() for name, side in demo.sides.items()},
        digests={str(side.model): model_sha256(shipped(side.model)) for side in demo.sides.values()},
    )
    with atomic_write(out) as handle:
        handle.write(opened_in(page, demo.lang))


def shown_indices(samples: Sequence[Sample]) -> list[int]:
    """Indices of the samples to show: for each task, the first incomplete sample and the first complete one."""
    kinds = [(sample.task, sample.needs_clarification) for sample in samples]
    return [kinds.index((task, needs)) for task in TASKS for needs in (True, False) if (task, needs) in kinds]
