"""Terminal output of the verbs: reports as tables or JSON, failed checks with their remedies, progress bars."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from askgate_env.types import LEVELS, Level, Task

from ..core.check import Check, Report
from ..core.files import sha256_file
from ..runtime.language import in_language as both
from ..runtime.progress import Reporter

if TYPE_CHECKING:
    from ..eval.compare import Change
    from ..gates.gate import Finding
    from ..scoring.judge import Tally

T = TypeVar("T")
ROWS_SHOWN = 20
"""Number of skipped rows that are named in the terminal."""
FIGURES = {
    "need_ask_success": both("need-ask success", "需问成功率"),
    "overclar_rate": both("over-clarification", "过度澄清率"),
    "success": both("success", "成功率"),
    "avg_turns": both("mean turns", "平均轮数"),
}
"""Headline figures of a policy and their labels."""


def say(text: str | Text) -> None:
    """Prints one line without wrapping, so that paths and hashes can be copied."""
    console().print(text, soft_wrap=True)


def complain(text: str) -> None:
    """Prints one line to standard error."""
    console(stderr=True).print(text, soft_wrap=True)


def wrote(*paths: Path | str) -> None:
    for path in paths:
        say(both(f"wrote {path}", f"已写入 {path}"))


def console(stderr: bool = False) -> Console:
    """A console that prints text literally: brackets in a path are not markup, `pool.jsonl:100:` has no emoji."""
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], text: Collection[str] = ()) -> None:
    """Prints rows without borders. Numbers are flush right; the first column and those named in `text` flush left."""
    table = Table(box=None, pad_edge=False)
    for column in columns:
        if column == columns[0] or column in text:
            table.add_column(column, overflow="fold")
        else:
            table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console().print(table)


def result(value: T, as_json: bool, details: Callable[[T], None], *paths: Path | str) -> None:
    """Prints what a verb measured: as JSON, or by `details` and with the files that it wrote."""
    if as_json:
        print_json(value)
    else:
        details(value)
        wrote(*paths)


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


def finish(
    report: Report,
    as_json: bool,
    path: Path | None = None,
    details: Callable[[Report], None] | None = None,
    failed_code: int = 1,
) -> None:
    """Prints a report and exits with `failed_code` if a check failed: 1 for quality, 2 for integrity.

    `path`: file of the report. `details`: prints what the verb measured, ahead of the checks.
    """
    if as_json:
        print_json(report)
    else:
        if details:
            details(report)
        _print_checks(report)
        print_ambers(report.ambers)
        wrote(*report.evidence.outputs, *([path] if path else []))
    if not report.passed:
        raise typer.Exit(failed_code)


def made(
    files: Sequence[Path],
    as_json: bool,
    counts: dict[Task, dict[Level, int]] | None = None,
    left_aside: Mapping[Task, int] | None = None,
    fewer_ambiguous: Mapping[Task, int] | None = None,
    skipped_rows: Sequence[str] = (),
) -> None:
    """Prints the files that a verb made with their SHA-256, and the number of samples by task and difficulty.

    `left_aside`: number of records of a source that could not be used. `fewer_ambiguous`: number of ambiguous samples
    that it could not give. `skipped_rows`: rows of the user's own file that could not be used, each with its rule.
    """
    hashes = {str(path): sha256_file(path) for path in files}
    unused = {task: count for task, count in (left_aside or {}).items() if count}
    if as_json:
        more: dict[str, object] = {"counts": counts, "left_aside": unused, "fewer_ambiguous": fewer_ambiguous}
        more["skipped_rows"] = list(skipped_rows)
        print_json({"outputs": hashes, **{name: value for name, value in more.items() if value}})
        return
    if counts:
        print_table(
            (both("task", "任务"), *LEVELS),
            ([task, *(str(by[level]) for level in LEVELS)] for task, by in counts.items()),
        )
    for row in skipped_rows[:ROWS_SHOWN]:
        say(row)
    for task, count in unused.items():
        english = f"skipped {count} records of {task}: repeated, or without a way to the answer"
        say(both(english, f"{task}：跳过 {count} 条，因重复或无法推出答案"))
    for task, count in (fewer_ambiguous or {}).items():
        english = f"{count} fewer ambiguous samples of {task} than asked for: complete ones take their place"
        say(both(english, f"{task}：缺信息的样本比要求少 {count} 条，由完整样本补足"))
    for path, digest in hashes.items():
        wrote(path)
        say(f"  sha256 {digest}")


def _print_checks(report: Report) -> None:
    if report.passed:
        rows = ([check.name, measured(check), limit(check)] for check in report.checks)
        columns = (both("check", "检查"), both("value", "实测"), both("must be", "要求"))
        print_table(columns, rows, text=columns[2:])
        say(f"PASSED {report.stage}: {len(report.checks)} " + both("checks", "项检查"))
        return
    failed = [check for check in report.checks if not check.passed]
    for check in failed:
        print_failure(f"{check.name}: {measured(check)}, {both('must be', '要求')} {limit(check)}", check)
    say(
        f"FAILED {report.stage}: {len(failed)} " + both(f"of {len(report.checks)} checks", f"/ {len(report.checks)} 项")
    )


def print_failure(what: str, check: Check | Finding, write: Callable[[str], None] = say) -> None:
    """Prints a failed check with its remedy."""
    write(f"FAILED {what}")
    write("  " + both(f"What to do: {check.remedy}", f"怎么办：{check.remedy_zh}"))


def print_ambers(ambers: Sequence[Check]) -> None:
    """Prints facts that the owner must know though nothing failed."""
    for one in ambers:
        say(f"{both('AMBER', '黄灯')} {one.name}: {measured(one)}, {both('should be', '应为')} {limit(one)}")
        say(f"  {both(one.remedy, one.remedy_zh)}")


def measured(check: Check | Finding) -> str:
    return both("not measured", "未测量") if check.value is None else number(check.value, beside=check.threshold)


def limit(check: Check | Finding) -> str:
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
    return f"{value:.4f}".rstrip("0").rstrip(".")


def figure(name: str, value: float | None, sign: str = "") -> str:
    """A figure of a policy: shares in percent, others with two digits. `sign`: "+" shows the sign of a change."""
    from ..eval.metrics import is_share

    if value is None:
        return "-"
    return f"{100 * value:{sign}.1f}" if is_share(name) else f"{value:{sign}.2f}"


def change_cells(name: str, change: Change) -> list[str]:
    """Base, trained, change and 95% interval of a figure."""
    low, high = figure(name, change.low, "+"), figure(name, change.high, "+")
    interval = "-" if change.low is None else f"{low} to {high}"
    return [
        figure(name, change.base.value),
        figure(name, change.trained.value),
        figure(name, change.delta, "+"),
        interval,
    ]


class Terminal(Reporter):
    """Messages and progress bars of long-running code on standard error."""

    def message(self, text: str) -> None:
        complain(text)

    @contextmanager
    def progress(self, label: str, total: int) -> Iterator[Callable[[int], None]]:
        """A progress bar. Without a terminal: ten lines over the run."""
        with _bar(label, total) as update:
            if update is None:
                yield _tenths(label, total)
            else:
                yield lambda more: update(advance=more)

    @contextmanager
    def scoring(self, label: str) -> Iterator[Callable[[Tally], None]]:
        """A bar with samples done, cost and time left. Without a terminal: ten lines over the run."""
        with _bar(label, None) as update:
            if update is None:
                yield _lines(label, complain, time.monotonic)
            else:
                yield lambda tally: update(
                    completed=tally.done, total=tally.total, description=f"{label}, {tally.waits_for or _money(tally)}"
                )


@contextmanager
def _bar(label: str, total: int | None) -> Iterator[Callable[..., None] | None]:
    """Yields the function that updates the bar; None if standard error is not a terminal."""
    terminal = console(stderr=True)
    if not terminal.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=terminal, transient=True) as bar:
        yield partial(bar.update, bar.add_task(label, total=total))


def _tenths(label: str, total: int) -> Callable[[int], None]:
    """Prints one line per tenth of the items, but none at the end."""
    done = 0

    def progress(more: int) -> None:
        nonlocal done
        before, done = done, done + more
        if done < total and done * 10 // total > before * 10 // total:
            complain(f"{label}: {done} of {total}")

    return progress


WAITS_EVERY_S = 300.0
"""Without a terminal the state of a batch is printed this often."""


def _lines(doing: str, say: Callable[[str], None], clock: Callable[[], float]) -> Callable[[Tally], None]:
    """Prints one line per tenth of the samples."""
    started, reported, waited_at = clock(), 0, -WAITS_EVERY_S

    def progress(tally: Tally) -> None:
        nonlocal reported, waited_at
        if tally.waits_for and clock() - waited_at >= WAITS_EVERY_S:
            waited_at = clock()
            say(f"{doing}: {tally.waits_for}")
        if (tenths := tally.done * 10 // tally.total) <= reported:
            return
        reported = tenths
        left = (clock() - started) / tally.done * (tally.total - tally.done)
        say(f"{doing}: {tally.done} of {tally.total} samples, {_money(tally)}, about {left:.0f} s left")

    return progress


def _money(tally: Tally) -> str:
    """Cost so far and at the end, after at least one sample has ended."""
    if tally.cost is None:
        return "cost not known"
    return f"${tally.cost:.4f} of about ${tally.cost / tally.done * tally.total:.4f}" if tally.cost else "free"
