"""Verbs that check a reward: weight_calib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from ..core.errors import BadInput
from ..training import base_episodes as played
from . import options, parse, show
from .scoring import Provider

if TYPE_CHECKING:
    from ..core.check import Report
    from ..core.types import Sample

EPISODES = Path("data/episodes/calibration.jsonl")
BASELINE = Path("configs/weights_baseline.json")
WEIGHTS = Path("configs/weights.json")


def weight_calib(
    *,
    cv: Annotated[
        int,
        typer.Option(
            "--cv", min=2, max=100, default_factory=options.rc1("calibration.cv"), help="Folds of the cross-validation."
        ),
    ],
    boot: Annotated[
        int,
        typer.Option(
            "--boot", min=0, max=100_000, default_factory=options.rc1("calibration.boot"), help="Bootstrap resamples."
        ),
    ],
    l2: Annotated[
        float,
        typer.Option(
            "--l2",
            min=0,
            default_factory=options.rc1("calibration.l2"),
            help="How strongly the weights are pulled to the baseline.",
        ),
    ],
    seed: Annotated[
        int,
        typer.Option(
            "--seed", min=0, default_factory=options.rc1("calibration.seed"), help="Of the folds and the resamples."
        ),
    ],
    tag: Annotated[str, typer.Option("--tag", help="In the report's name.")] = "",
    n: Annotated[int, typer.Option("--n", min=played.FEWEST, help="Episodes to calibrate on, by lot.")] = 600,
    pool: Annotated[Path, typer.Option("--pool", help="Samples that they are of, none of the shadow set.")] = (
        options.BALANCED
    ),
    episodes: Annotated[Path, typer.Option("--episodes", help="Where the base policy's episodes are, or go.")] = (
        EPISODES
    ),
    config: played.Config = played.POLICY,
    overrides: options.Set = None,
    live_n: played.LiveN = None,
    provider: Provider = "",
    scored: Annotated[
        Path | None, typer.Option("--scored", help="Episodes that are scored already; nothing is played or asked.")
    ] = None,
    baseline: Annotated[Path, typer.Option("--baseline", help="Old weights and names of new dimensions.")] = BASELINE,
    out: Annotated[Path, typer.Option("--out", help="Where the weights go; the report goes to reports/.")] = WEIGHTS,
    as_json: options.Json = False,
) -> None:
    """Calibrate the weights of the reward. Least squares against success, judged on held-out folds."""
    from ..config.loader import load_train_config
    from ..config.profile import profile_for
    from ..reward import weight_calib as calib

    name = parse.tag(tag) or calib.TAG
    made_from: list[Path] = []
    if scored is None:
        rated = played.rated_episodes(pool, _drawn(pool, n, seed), config, episodes, seed, live_n, provider, overrides)
        scored, made_from = rated.scored, rated.made_from
    report, path = calib.weight_calib(
        scored,
        baseline,
        cv=cv,
        boot=boot,
        l2=l2,
        seed=seed,
        limits=profile_for(load_train_config(config, overrides)).thresholds,
        out=out,
        tag=name,
        live_n=live_n,
        made_from=made_from,
    )
    if not as_json:
        _show_weights(report)
    show.finish(report, as_json, path)


def _drawn(pool: Path, n: int, seed: int) -> list[Sample]:
    from ..core.jsonl import read_unique
    from ..core.types import Sample
    from ..scoring.batch import choose

    if not pool.is_file():
        raise BadInput(
            f"{pool} is not there, and no --scored episodes were given",
            where="--pool",
            remedy="build it with build_rollout_pool and difficulty_bucketize, or name another pool",
        )
    samples = list(read_unique(pool, Sample))
    if held_out := sum(sample.provenance.split == "shadow" for sample in samples):
        raise BadInput(
            f"{held_out} samples are of a shadow set, which is there to look at weights that never saw it",
            where=str(pool),
            remedy="name a pool of the training split",
        )
    return choose(samples, n, seed)


def _show_weights(report: Report) -> None:
    found = report.figures
    table = Table("dimension", box=None, pad_edge=False)
    for name in ("old", "prior", "weight", "95% from", "to"):
        table.add_column(name, justify="right")
    for name, weight in found["weights"].items():
        values = (weight["old"], weight["prior"], weight["value"], weight["low"], weight["high"])
        table.add_row(name, *(_number(value) for value in values))
    show.print_table(table)
    for title, figure in (("rank correlation with success", "rank_corr"), ("mean absolute error", "mae")):
        compared: dict[str, Any] = found[figure]
        show.say(
            f"{title}, held out: {_number(compared['old'])} by the old weights, {_number(compared['new'])} by the new "
            f"(change {_number(compared['change_low'])} to {_number(compared['change_high'])})"
        )


def _number(value: float | None) -> str:
    return "-" if value is None else show.number(value)
