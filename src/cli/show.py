"""Terminal output of the verbs: reports as tables or JSON, failed checks with their remedies, progress bars."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ..core.check import Check, Report
from ..core.files import sha256_file
from ..core.types import LEVELS, Level, Task
from ..runtime.progress import Reporter

if TYPE_CHECKING:
    from ..eval.compare import Change
    from ..scoring.monitor import Progress as Done

Advance = Callable[[int], None]
"""Reports how many more items are done."""
Counts = dict[Task, dict[Level, int]]


def print_table(table: Table) -> None:
    _console().print(table)


def say(text: str | Text) -> None:
    """Prints one line without wrapping, so that paths and hashes can be copied."""
    _console().print(text, soft_wrap=True)


def complain(text: str) -> None:
    """Prints one line to standard error."""
    _console(stderr=True).print(text, soft_wrap=True)


def _console(stderr: bool = False) -> Console:
    """A console that prints text literally: brackets in a path are not markup, `pool.jsonl:100:` has no emoji."""
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def print_json(value: object) -> None:
    """Prints the value and nothing else to standard output, always in UTF-8."""
    sys.stdout.flush()
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
    sys.stdout.buffer.flush()


def password_of(key: Path | None) -> bytes | None:
    """The password of a private key (PEM), asked for at the terminal. None: there is no key, or it has no password."""
    if key is None or not key.is_file() or b"ENCRYPTED" not in key.read_bytes():
        return None
    return str(typer.prompt("password of the key", hide_input=True, err=True)).encode()


def finish(report: Report, as_json: bool, written: Path | None = None, failed_code: int = 1) -> None:
    """Prints the report and exits with `failed_code` if a gate failed: 1 for quality, 2 for integrity.

    `written`: path of the report.
    """
    if as_json:
        print_json(report)
    else:
        _show_report(report)
        for path in [*report.evidence.outputs, *([written] if written else [])]:
            say(f"wrote {path}")
    if not report.passed:
        raise typer.Exit(failed_code)


def made(
    files: Sequence[Path], as_json: bool, counts: Counts | None = None, left_aside: Mapping[Task, int] | None = None
) -> None:
    """Prints the files that a verb made with their SHA-256, and the number of samples by task and difficulty.

    `left_aside`: number of records of a source that could not be used.
    """
    hashes = {str(path): sha256_file(path) for path in files}
    unused = {task: count for task, count in (left_aside or {}).items() if count}
    if as_json:
        more = {"counts": counts, "left_aside": unused}
        print_json({"outputs": hashes, **{name: value for name, value in more.items() if value}})
        return
    if counts:
        _console().print(_counts(counts))
    for task, count in unused.items():
        say(f"skipped {count} records of {task}: repeated, or without a way to the answer")
    for path, digest in hashes.items():
        say(f"wrote {path}")
        say(f"  sha256 {digest}")


def _show_report(report: Report) -> None:
    failed = [check for check in report.checks if not check.passed]
    if report.passed:
        _console().print(_table(report.checks))
        say(f"PASSED {report.stage}: {len(report.checks)} checks")
    else:
        for check in failed:
            say(f"FAILED {check.name}: {_measured(check)}, must be {_limit(check)}")
            say(f"  What to do: {check.remedy}")
            say(f"  怎么办：{check.remedy_zh}")
        say(f"FAILED {report.stage}: {len(failed)} of {len(report.checks)} checks")


DIVERSITY = ("ttr", "distinct1", "distinct2", "kl3", "kl3_floor", "kl3_excess", "zipf_slope")


def diversity(found: dict[str, Any]) -> None:
    """Prints a diversity report, with a column for the pool and one for each task."""
    scopes = {"all": found["overall"], **found["tasks"]}
    table = Table("figure", box=None, pad_edge=False)
    for scope in scopes:
        table.add_column(scope, justify="right")
    for name in DIVERSITY:
        values = [figures[name] for figures in scopes.values()]
        table.add_row(name, *(cell(value) for value in values))
    for name in ("roles", "registers"):
        table.add_row(name, *(str(len(figures[name])) for figures in scopes.values()))
    _console().print(table)


def _counts(counts: Counts) -> Table:
    table = Table("task", box=None, pad_edge=False)
    for level in LEVELS:
        table.add_column(level, justify="right")
    for task, levels in counts.items():
        table.add_row(task, *(str(levels[level]) for level in LEVELS))
    return table


def _table(checks: list[Check]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("check", overflow="fold")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("must be", no_wrap=True)
    for check in checks:
        table.add_row(Text(check.name), _measured(check), _limit(check))
    return table


def _measured(check: Check) -> str:
    return "not measured" if check.value is None else number(check.value, beside=check.threshold)


def _limit(check: Check) -> str:
    return f"{check.rule} {number(check.threshold)}"


def cell(value: float | None) -> str:
    """A figure in a table; a dash if it was not measured."""
    return "-" if value is None else number(value)


def number(value: float, beside: float | None = None) -> str:
    """A short number, with enough digits not to look equal to a different threshold beside it.

    >>> number(0.123456), number(30000.0), number(0.7)
    ('0.1235', '30000', '0.7')
    >>> number(0.59999, beside=0.6)
    '0.59999'
    """
    short = _short(value)
    return repr(value) if value != beside and beside is not None and short == _short(beside) else short


def _short(value: float) -> str:
    text = f"{value:.4f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


@contextmanager
def progress(label: str, total: int) -> Iterator[Advance]:
    """A progress bar on standard error, if that is a terminal."""
    console = _console(stderr=True)
    if not console.is_terminal:
        yield lambda more: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda more: bar.advance(task, more)


@contextmanager
def scoring_progress(doing: str) -> Iterator[Callable[[Done], None]]:
    """A bar on standard error with samples done, cost and time left. Without a terminal: ten lines over the run."""
    console = _console(stderr=True)
    if not console.is_terminal:
        yield _lines(doing, complain, time.monotonic)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task(doing, total=None)
        yield lambda done: shown.update(
            task, completed=done.done, total=done.total, description=f"{doing}, {_money(done.cost, done.cost_at_end)}"
        )


def _lines(doing: str, say: Callable[[str], None], clock: Callable[[], float]) -> Callable[[Done], None]:
    """Prints one line per tenth of the samples."""
    started, reported = clock(), 0

    def progress(done: Done) -> None:
        nonlocal reported
        if (tenths := done.done * 10 // done.total) <= reported:
            return
        reported = tenths
        left = (clock() - started) / done.done * (done.total - done.done)
        money = _money(done.cost, done.cost_at_end)
        say(f"{doing}: {done.done} of {done.total} samples, {money}, about {left:.0f} s left")

    return progress


def _money(cost: float | None, at_end: float | None) -> str:
    """
    >>> _money(0.5, 2.0), _money(0.0, 0.0), _money(None, None)
    ('$0.5000 of about $2.0000', 'free', 'cost not known')
    """
    if cost == at_end == 0:
        return "free"
    return "cost not known" if cost is None or at_end is None else f"${cost:.4f} of about ${at_end:.4f}"


class Terminal(Reporter):
    """Messages and progress bars of long-running code on standard error."""

    def message(self, text: str) -> None:
        complain(text)

    def progress(self, label: str, total: int) -> AbstractContextManager[Advance]:
        return progress(label, total)


def change_cells(name: str, change: Change) -> list[str]:
    """Base, trained, change and interval of a figure as text; shares in percent."""
    from ..eval.metrics import is_share

    scale, digits = (100, 1) if is_share(name) else (1, 2)

    def shown(value: float | None, sign: str = "") -> str:
        return "-" if value is None else f"{scale * value:{sign}.{digits}f}"

    interval = "-" if change.low is None else f"{shown(change.low, '+')} to {shown(change.high, '+')}"
    return [shown(change.base.value), shown(change.trained.value), shown(change.delta, "+"), interval]
