"""The verb `train`: a local run, ungated, small, and never releasable."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import options, show


def train(
    config: Annotated[Path, typer.Option("--config", help="A training config with profile: local.")] = (
        Path("configs/train_local.yaml")
    ),
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the newest whole checkpoint; there is none: start.")
    ] = False,
    overrides: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Train a policy locally. At most 2,000 steps; no gate sees it, so its checkpoints are for this machine only."""
    from ..training.outcome import tell
    from ..training.run import run

    outcomes = run(config, resume, overrides=overrides)
    if as_json:
        show.print_json([outcome.summary() for outcome in outcomes])
    else:
        for outcome in outcomes:
            tell(outcome)
