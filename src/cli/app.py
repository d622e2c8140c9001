"""`askgate COMMAND`. Exit codes: 0 passed, 1 a gate failed, 2 bad input or usage.

Any other exception is a bug or a failing machine: exit code 2 as well, with its traceback. Exit code 1 is kept for
measured verdicts, because the loop does not repeat a stage that has one. Commands import what they need when they run,
so that `askgate --help` is fast.
"""

from __future__ import annotations

import errno
import io
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from shutil import which
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperGroup

from askgate_env.types import LANGS

from .. import __version__
from ..core.defaults import SourceName
from ..core.errors import BadInput
from ..core.files import package_yaml
from ..runtime.disk import explain_disk_errors
from ..runtime.language import VARIABLE, language_of, terminal_language
from ..runtime.secrets import masker
from . import chat, data, doctor, evaluate, gates, loop, options, release, reward, scoring, show, train
from .chinese_help import context_class

GROUPS: dict[str, Sequence[Callable[..., None]]] = {
    "Start": [chat.demo, loop.quickstart, chat.chat, release.board, loop.status, doctor.doctor, loop.init],
    "Data": [
        data.build_rollout_pool,
        data.samples,
        data.validate_pool,
        data.diversity_report,
        data.difficulty_metrics,
        data.difficulty_bucketize,
        data.validate_difficulty,
        data.make_min_data,
        data.export,
    ],
    "Judge": [scoring.probe_scorer, scoring.score, scoring.validate_scores, scoring.assert_not_simulated],
    "Reward": [reward.weight_calib, reward.shadow_run, reward.overclar_penalty],
    "Train": [train.train, train.sft, train.ppo_runner, train.runs, release.export_gguf],
    "Eval": [evaluate.eval_model, loop.kpi],
    "Gate": [gates.run_round, gates.verify],
    "Owner": [
        loop.rc1,
        release.report,
        gates.sign_off,
        gates.anchor,
        release.package,
        release.reproduce,
        release.push,
        release.review,
        loop.sync,
        loop.scale,
    ],
}
"""Commands of each job, as `askgate --help` lists them; `help.yaml` has titles and examples."""
NAMES = {"run_round": "round", "eval_model": "eval"}
"""Commands whose function has another name, because Python or a module uses theirs."""
OLD_NAMES = {"evaluate": "eval"}
"""Old names of commands. They work as before, and the help does not list them."""


def hyphens(name: str) -> str:
    """A command or flag as the help shows it. `--max_turns` is accepted for `--max-turns`."""
    return name.replace("_", "-")


VALUES: dict[str, str] = {hyphens(name): name for name in (*get_args(SourceName), *get_args(release.GgufType))}
"""Values of flags by their spelling with hyphens."""


def spelling(token: str) -> str:
    """The spelling of a token in help and messages: hyphens in commands and flags, a value of a flag as it is defined.

    >>> spelling("max_turns"), spelling("abg-coqa"), spelling("q4_k_m")
    ('max-turns', 'abg_coqa', 'q4_k_m')
    """
    return VALUES.get(hyphens(token), hyphens(token))


SPELLINGS = {"token_normalize_func": spelling}


class VerbGroup(TyperGroup):
    """Lists commands by group in plain help. Rich help would cut long default values off at 80 columns."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        commands: dict[str, Any] = {**self.commands}
        for name, command in commands.items():
            if not command.hidden:
                row = name, command.get_short_help_str(formatter.width)
                panels.setdefault(command.rich_help_panel, []).append(row)
        for panel, rows in panels.items():
            group = help_texts()["groups"][panel]
            with formatter.section(group[terminal_language()]):
                formatter.write_dl(rows)
                formatter.write(f"    $ {group['example']}\n")


app = typer.Typer(
    name="askgate",
    cls=VerbGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=SPELLINGS,
)
for panel, verbs in GROUPS.items():
    for verb in verbs:
        name = NAMES.get(verb.__name__, hyphens(verb.__name__))
        app.command(name, rich_help_panel=panel, context_settings=SPELLINGS)(verb)
        for old in [old for old, new in OLD_NAMES.items() if new == name]:
            app.command(old, hidden=True, context_settings=SPELLINGS)(verb)
    if panel == "Judge":
        app.add_typer(scoring.cache, name="scorecache", rich_help_panel=panel)


def _say_version(wanted: bool) -> None:
    if wanted:
        show.say(f"askgate {__version__}")
        raise typer.Exit


@app.callback()
def common(version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_say_version)] = False) -> None:
    """Train a language model that asks a clarifying question only when it must.

    New here? Try `askgate demo`, then `askgate quickstart`. `askgate COMMAND --help` explains a command and its
    flags. In names of commands and flags, _ and - are the same.

    \b
    Exit codes:
      0    passed or done
      1    a gate or check failed, a stage is not done, a callback stopped training
           (such as for reward hacking), results of `eval --compare` differ, or
           `report` or `package` found an amber that is not signed off
      2    bad input or environment; scores or evidence that are not genuine; in a
           round, a failed gate `fresh`, `scoring` or `judge`, or a gate that could
           not be measured; or a defect in AskGate
      130  you pressed Ctrl-C
    """


@cache
def help_texts() -> dict[str, dict[str, Any]]:
    """Help of flags in both languages, and of commands in Chinese; that in English is the docstring of the command."""
    found: dict[str, dict[str, Any]] = package_yaml(str(Path(__file__).with_name("help.yaml")))
    return found


def with_help(command: Any, language: str, path: str = "askgate") -> Any:
    """The command with the help of all its flags and commands in this language."""
    texts, place = help_texts(), LANGS.index(language)
    own_help_option = command.get_help_option

    def help_option(context: Any) -> Any:
        if option := own_help_option(context):
            option.help = texts["flags"]["--help"][place]
        return option

    command.get_help_option = help_option
    for one in command.params:
        names = [*(f"{path} {name}" for name in one.opts), *one.opts]
        one.help = next((texts["flags"][name][place] for name in names if name in texts["flags"]), None)
        if one.show_default in texts["defaults"]:
            described = texts["defaults"][one.show_default][place]
            if one.show_default == options.FROM_PROFILE:
                show_value(one, described)
            else:
                one.show_default = described
    if language == "zh":
        command.help = texts["verbs"].get(path, command.help)
        command.context_class = context_class(command.context_class, texts["words"])
    for name, verb in getattr(command, "commands", {}).items():
        known = OLD_NAMES.get(name, name)
        with_help(verb, language, known if path == "askgate" else f"{path} {known}")
    return command


def show_value(option: Any, described: str) -> None:
    """Shows the value of a threshold as its default. The profile is read only when the help is shown."""
    record = option.get_help_record

    def with_value(context: Any) -> Any:
        with suppress(BadInput):  # the folder has a profile of its own that cannot be read
            option.show_default = described.format(show.number(option.get_default(context)))
        return record(context)

    option.get_help_record = with_value


@cache
def command(language: str) -> Any:
    """All commands with help in this language. Made once: reading all flags takes a tenth of a second."""
    return with_help(typer.main.get_command(app), language)


def main(arguments: Sequence[str] | None = None) -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show Chinese must not crash on a remedy in Chinese.
            stream.reconfigure(errors="replace")
    if (language := language_of(os.environ.get(VARIABLE, ""))) in LANGS:
        os.environ[VARIABLE] = language  # typer takes `zh` for --lang, and not `zh_CN`
    try:
        with explain_disk_errors(Path(), "run the command again; no file is left half-written", only_full=True):
            command(terminal_language())(arguments, prog_name="askgate")
    except BadInput as error:
        show.note(show.explain(error))
        sys.exit(error.exit_code)
    except SystemExit as left:
        # The reader of our output is gone (`| head`). Libraries then exit with 1, which would mean that a gate failed.
        if isinstance(left.__context__, BrokenPipeError):
            sys.exit(BadInput.exit_code)
        raise
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and (extra := extra_with(error.name or "")):
            remedy = f"pip install 'askgate[{extra}]' (in a checkout: make setup)"
            show.note(show.explain(BadInput(f"{error.name} is not installed", remedy=remedy)))
        elif isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            show.note(show.explain(BadInput("a path is too long", remedy="choose shorter names")))
        else:
            sys.stderr.write(masker(os.environ)(traceback.format_exc()))
        sys.exit(BadInput.exit_code)
    finally:
        say_activate(sys.argv[1:] if arguments is None else arguments)


FIRST_VERBS = {"demo", "quickstart", "init"}
"""Commands that a new user begins with. After others the hint about the path would be noise."""


def say_activate(arguments: Sequence[str]) -> None:
    """Says how to put `askgate`, which all messages name, on the path. A user of `make` may not have it there."""
    if not FIRST_VERBS & {*arguments[:1]} or "--help" in arguments:
        return
    activate = Path(sys.prefix) / "bin" / "activate"
    if Path(sys.argv[0]).name == "askgate" and which("askgate") is None and activate.exists():
        shown = activate.relative_to(Path.cwd()) if activate.is_relative_to(Path.cwd()) else activate
        english = f"to type `askgate` without its path, first run: . {shown}"
        show.note(english, f"要直接输入 `askgate`，请先运行：. {shown}")


def extra_with(module: str) -> str:
    """The first extra of AskGate that installs a module; empty if none does.

    >>> extra_with("torch.nn"), extra_with("trl"), extra_with("no_such_module")
    ('train', 'trl', '')
    """
    with suppress(PackageNotFoundError):
        for requirement in requires("askgate") or ():
            name, extra = re.split(r"[^\w-]", requirement, maxsplit=1)[0], re.search(r"extra == .(\w+)", requirement)
            if extra and name.replace("-", "_") == module.partition(".")[0]:
                return extra[1]
    return ""


def scorecache_cli() -> None:
    """`scorecache-cli`: another name of `askgate scorecache`, from the original requirements."""
    run_verb("scorecache")


def run_verb(verb: str, *defaults: str) -> None:
    """Entry point of a script: passes its arguments to the command, after flags that they may override."""
    main([verb, *defaults, *sys.argv[1:]])
