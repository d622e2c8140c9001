"""`askgate VERB`. Exit codes: 0 passed, 1 a gate failed, 2 bad input or usage.

Any other exception is a bug or a failing machine: exit code 2 as well, with its traceback. Exit code 1 is kept for
measured verdicts, because the loop does not repeat a stage that has one. Verbs import what they need when they run, so
that `askgate --help` is fast.
"""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import __version__
from ..core.errors import BadInput
from ..runtime.disk import explain_disk_errors
from ..runtime.secrets import masker
from . import chat, data, loop, release, reward, scoring, show, train

VERBS: dict[str, list[Callable[..., None]]] = {
    "Start here": [chat.demo, loop.quickstart, chat.chat, loop.status, release.board, loop.init],
    "Data": [
        data.build_rollout_pool,
        data.diversity_report,
        data.validate_pool,
        data.difficulty_metrics,
        data.difficulty_bucketize,
        data.validate_difficulty,
        data.make_min_data,
    ],
    "Judge and scores": [scoring.probe_scorer, scoring.assert_not_simulated, scoring.score, scoring.validate_scores],
    "Reward": [reward.weight_calib, reward.shadow_run, reward.overclar_penalty],
    "Training": [train.train, train.sft, train.ppo_runner, train.evaluate],
    "Gates": [train.run_round, train.verify, train.sign_off],
    "Whole loop": [loop.rc1, loop.scale, loop.kpi, loop.sync, release.report, release.review],
    "Release": [release.export_gguf, release.eval_model, release.package, release.reproduce],
}
"""Verbs by job, as `askgate --help` lists them."""
NAMES = {"run_round": "round", "sign_off": "sign-off", "eval_model": "eval"}
"""Verbs whose function has another name, because Python or a module uses theirs."""


class VerbGroup(TyperGroup):
    """Lists verbs by job in plain help. Rich help would cut long default values off at 80 columns."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            panel = str(getattr(command, "rich_help_panel", None) or "Commands")
            panels.setdefault(panel, []).append((name, command.get_short_help_str(formatter.width)))
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)


app = typer.Typer(
    name="askgate", cls=VerbGroup, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None
)
for panel, verbs in VERBS.items():
    for verb in verbs:
        app.command(NAMES.get(verb.__name__, verb.__name__), rich_help_panel=panel)(verb)
    if panel == "Judge and scores":
        app.add_typer(scoring.cache, name="scorecache", rich_help_panel=panel)


def _say_version(wanted: bool) -> None:
    if wanted:
        show.say(f"askgate {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_say_version, help="Show the version and exit.")
    ] = False,
) -> None:
    """Train a language model that asks a clarifying question only when it must.

    Exit codes: 0 passed; 1 a gate failed; 2 bad input, or scores or evidence that are not genuine; 130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show Chinese must not crash on a remedy in Chinese.
            stream.reconfigure(errors="replace")
    try:
        with explain_disk_errors(Path(), "run the command again; no file is left half-written", only_full=True):
            app(arguments, prog_name="askgate")
    except BadInput as error:
        show.complain(f"askgate: {error}")
        sys.exit(error.exit_code)
    except SystemExit as left:
        # The reader of our output is gone. Libraries exit with 1 then, which would be a verdict.
        if isinstance(left.__context__, BrokenPipeError):
            sys.exit(BadInput.exit_code)
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            show.complain(f"askgate: {BadInput('a path is too long', remedy='choose shorter names')}")
        else:
            sys.stderr.write(masker(os.environ)(traceback.format_exc()))
        sys.exit(BadInput.exit_code)


def scorecache_cli() -> None:
    """`scorecache-cli`, the name of `askgate scorecache` in the work order."""
    run_verb("scorecache")


def run_verb(verb: str) -> None:
    """Entry point of a script: passes its arguments to the verb."""
    main([verb, *sys.argv[1:]])
