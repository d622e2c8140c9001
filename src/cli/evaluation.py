"""Verbs that check a reward: weight_calib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from . import options, show

if TYPE_CHECKING:
    from ..core.check import Report

EPISODES = Path("data/calibration_episodes.jsonl")
BASELINE = Path("configs/weights_baseline.json")
WEIGHTS = Path("configs/weights.json")


def weight_calib(
    cv: Annotated[int, typer.Option("--cv", min=2, max=100, help="Folds of the cross-validation.")] = 5,
    boot: Annotated[int, typer.Option("--boot", min=0, max=100_000, help="Bootstrap resamples.")] = 200,
    l2: Annotated[
        float, typer.Option("--l2", min=0, help="How strongly the weights are pulled to the baseline.")
    ] = 0.1,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the folds and the resamples.")] = 42,
    episodes: Annotated[Path, typer.Option("--episodes", help="Scored episodes, none of the shadow set.")] = EPISODES,
    baseline: Annotated[Path, typer.Option("--baseline", help="Old weights and names of new dimensions.")] = BASELINE,
    out: Annotated[Path, typer.Option("--out", help="Where the weights go; the report goes to reports/.")] = WEIGHTS,
    as_json: options.Json = False,
) -> None:
    """Calibrate the weights of the reward. Least squares against success, judged on held-out folds."""
    from ..config.loader import load_config
    from ..evaluation.weight_calib import Limits
    from ..evaluation.weight_calib import weight_calib as calibrate

    section = load_config().calibration
    limits = Limits(section.rank_corr_gain_pct_min, section.mae_change_pct_max)
    report, path = calibrate(episodes, baseline, cv=cv, boot=boot, l2=l2, seed=seed, limits=limits, out=out)
    if not as_json:
        _show_weights(report)
    show.finish(report, as_json, path)


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
