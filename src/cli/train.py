"""Verbs that train and evaluate: train, ppo_runner, evaluate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ..core.api import Stop
from . import options, parse, show

if TYPE_CHECKING:
    from ..eval.trial import Compared, TrialReport

ROWS = {
    "need_ask_success": "need-ask success",
    "overclar_rate": "over-clarification",
    "success": "success",
    "avg_turns": "mean turns",
}
"""Figures that a run shows when it ends."""
MORE_ROWS = {
    "success_hard_hotpotqa_strategyqa": "success, hard reading",
    "ask_precision": "ask precision",
    "ask_recall": "ask recall",
}


def train(
    config: Annotated[Path, typer.Option("--config", help="A training config with profile: local.")] = (
        Path("configs/train_local.yaml")
    ),
    overrides: options.Set = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume from the newest undamaged checkpoint; start if there is none.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Train a policy locally. At most 2,000 steps; no gate sees it, so its checkpoints are for this machine only."""
    from ..training.run import run

    _run(lambda: run(config, resume, overrides=overrides, reporter=show.Terminal()), as_json)


def ppo_runner(
    config: Annotated[Path, typer.Option("--config", help="The training config that the ticket is for.")] = (
        Path("configs/ppo_scale.yaml")
    ),
    overrides: options.Set = None,
    resume_from: Annotated[
        Path | None,
        typer.Option("--resume-from", help="Resume from the newest undamaged checkpoint: give checkpoints/rc1/latest."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Train behind the gates. Refused, with the reason, unless both rounds passed on the files as they are now."""
    from ..training.run import run_gated

    _run(lambda: run_gated(config, resume_from, overrides, show.Terminal()), as_json)


def evaluate(
    config: Annotated[Path, typer.Option("--config", help="The training config of a finished run.")] = (
        Path("configs/quickstart.yaml")
    ),
    tag: Annotated[str, typer.Option("--tag", help="Part of the report's file name. Default: the config's name.")] = "",
    overrides: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Evaluate a finished run. Base, control and trained policy on the same held-out samples; JSON and a page."""
    from ..config.loader import load_train_config
    from ..training import results

    report, (json_path, page) = results.evaluate(load_train_config(config, overrides), parse.tag(tag) or config.stem)
    if not as_json:
        show_results(report)
        show.say(f"wrote {page}")
    show.finish(report, as_json, json_path)


def _run(start: Callable[[], TrialReport], as_json: bool) -> None:
    """Runs a training and prints its results. A run that a callback stopped exits with code 1."""
    try:
        report = start()
    except Stop:
        raise typer.Exit(1) from None
    if as_json:
        fields = ("seed", "steps", "changes", "over_control")
        show.print_json([{name: getattr(seed, name) for name in fields} for seed in report.seeds])
        return
    for seed in report.seeds:
        if seed.changes is None:
            show.say(f"seed {seed.seed}: {seed.steps} steps; no evaluation of base and trained policy")
            continue
        table = _table(f"seed {seed.seed}, {seed.steps} steps", seed)
        for name, label in ROWS.items():
            _add_row(table, label, name, seed)
        show.print_table(table)
        show.say(f"{seed.changes['success'].base.n} held-out samples, the same for all; shares in percent")


def show_results(report: TrialReport) -> None:
    """One table: every figure of all seeds together and, where there are several, of each seed."""
    pooled = report.pooled
    if pooled.changes is None:
        show.say("no evaluation of base and trained policy")
        return
    several = len(report.seeds) > 1
    title = f"{len(report.seeds)} seeds" if several else f"seed {report.seeds[0].seed}"
    table = _table(f"{title}, {pooled.steps} steps", pooled)
    for name, label in {**ROWS, **MORE_ROWS}.items():
        _add_row(table, label, name, pooled)
        if several:
            for one in report.seeds:
                _add_row(table, f"  seed {one.seed}", name, one)
    show.print_table(table)
    show.say(f"{report.figures['held_out']} held-out samples, the same for all; shares in percent")


def _table(title: str, compared: Compared) -> Table:
    table = Table(title, box=None, pad_edge=False)
    control = ["SFT control"] if compared.over_control else []
    for column in ("base", *control, "trained", "change", "95% interval"):
        table.add_column(column, justify="right")
    return table


def _add_row(table: Table, label: str, name: str, compared: Compared) -> None:
    if compared.changes is None:
        return
    base, *rest = show.change_cells(name, compared.changes[name])
    control = show.change_cells(name, compared.over_control[name])[:1] if compared.over_control else []
    table.add_row(label, base, *control, *rest)
