"""`askgate VERB`. Exit codes: 0 passed, 1 a gate failed, 2 bad input or usage.

Any other exception is a defect, or a machine that failed: 2 as well, with its traceback. 1 is kept for what was
measured, since a verdict that stands is not reached again. Verbs import what they need when they run, so that
`askgate --help` answers at once.
"""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from ..core.errors import BadInput
from ..runtime.disk import explain_disk_errors
from ..runtime.secrets import masker
from ..training import ablation, evaluate
from ..training import gated as train_gated
from . import (
    board,
    difficulty,
    evaluation,
    gates,
    init,
    pool,
    quickstart,
    release,
    report,
    reproduction,
    review,
    scale,
    scorecache,
    scoring,
    sets,
    shadow,
    show,
    sync,
    train,
)

app = typer.Typer(
    name="askgate",
    help="From sources to a trained policy. Exit codes: 0 passed, 1 gate failed, 2 bad input or not genuine.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain help: the boxed one cuts long default values off at 80 columns.
    rich_markup_mode=None,
)
for verb in (
    shadow.shadow_run,
    pool.build_rollout_pool,
    pool.diversity_report,
    pool.validate_pool,
    difficulty.difficulty_metrics,
    difficulty.difficulty_bucketize,
    difficulty.validate_difficulty,
    sets.make_min_data,
    scoring.probe_scorer,
    scoring.assert_not_simulated,
    scoring.score,
    evaluation.weight_calib,
    ablation.overclar_penalty,
    train.train,
    evaluate.evaluate,
    train_gated.ppo_runner,
    gates.verify,
    quickstart.quickstart,
    quickstart.rc1,
    quickstart.status,
    board.board,
    quickstart.kpi,
    sync.sync,
    scale.scale,
    scale.validate_scores,
    report.report,
    review.review,
    init.init,
    release.export_gguf,
    reproduction.package,
    reproduction.reproduce,
):
    app.command(verb.__name__)(verb)
app.command("round")(gates.run_round)
app.command("sign-off")(gates.sign_off)
# A function of that name would hide Python's own.
app.command("eval")(release.eval_model)
app.add_typer(scorecache.app, name="scorecache")


def _say_version(wanted: bool) -> None:
    if wanted:
        show.say(f"askgate {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_say_version, help="Show the version and leave.")
    ] = False,
) -> None:
    """From sources to a trained policy. Exit codes: 0 passed, 1 gate failed, 2 bad input or not genuine."""


def main(arguments: Sequence[str] | None = None) -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A remedy in Chinese must not crash a terminal that cannot show it.
            stream.reconfigure(errors="replace")
    try:
        with explain_disk_errors(Path(), "run the command again; nothing is left half-written", only_full=True):
            app(arguments, prog_name="askgate")
    except BadInput as error:
        show.complain(f"askgate: {error}")
        sys.exit(error.exit_code)
    except SystemExit as left:
        # Nobody reads what we say any more. Libraries leave with 1 then, which would be a verdict.
        if isinstance(left.__context__, BrokenPipeError):
            sys.exit(BadInput.exit_code)
        raise
    except Exception:
        sys.stderr.write(masker(os.environ)(traceback.format_exc()))
        sys.exit(BadInput.exit_code)


def scorecache_cli() -> None:
    """`scorecache-cli`: the name that the work order gives to `askgate scorecache`."""
    door("scorecache")


def door(verb: str) -> None:
    """A script's way in: its arguments go to the verb of that name."""
    main([verb, *sys.argv[1:]])
