"""Terminal output of the commands: reports as tables or JSON, failed checks with their remedies, progress bars."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from askgate_env.types import LEVELS, Level, Sample, Task

from ..core.check import Check, Report
from ..core.errors import BadInput
from ..core.files import package_yaml, sha256_file
from ..core.jsonl import grouped, read_records
from ..runtime.language import in_language as both
from ..runtime.language import terminal_language
from ..runtime.progress import Reporter

if TYPE_CHECKING:
    from ..data.pool.source import RowCounts
    from ..eval.compare import Change
    from ..gates.gate import Finding
    from ..scoring.judge import Tally

T = TypeVar("T")
LABEL_GROUPS = ("trial_checks", "difficulty_checks", "agreement", "ablation")
"""Groups of labels of the pages that name checks."""
ROWS_SHOWN = 20  # number of skipped rows that are named in the terminal
FEW_HELD_OUT = 30  # with fewer samples the figures of a comparison are hardly more than chance
TALLY_EVERY_S = 300.0  # without a terminal the state of a batch is printed this often
FIGURES = {
    "need_ask_success": both("need-ask success", "需问成功率"),
    "overclar_rate": both("over-clarification", "过度澄清率"),
    "success": both("success", "成功率"),
    "avg_turns": both("mean turns", "平均轮数"),
}
"""Headline figures of a policy and their labels."""


def say(text: str | Text, chinese: str = "", stderr: bool = False) -> None:
    """Prints one line in the language of the terminal, without wrapping, so that paths and hashes can be copied."""
    console(stderr).print(both(text, chinese) if isinstance(text, str) else text, soft_wrap=True)


def say_translated(text: str) -> None:
    """Prints a line of the evidence in the language of the terminal, if `errors_zh.yaml` has it."""
    say(translated(text))


def note(text: str, chinese: str = "") -> None:
    """Prints one line to standard error."""
    say(text, chinese, stderr=True)


def explain(error: BadInput) -> str:
    """An error in the language of the terminal. Texts that `errors_zh.yaml` does not have stay in English."""
    if terminal_language() == "en":
        return f"askgate: {error}"
    what, remedy = translated(error.what.rstrip(".")), translated(error.remedy.rstrip("."))
    end = f"。怎么办：{remedy}。" if remedy else "。"
    return f"askgate: {error.where}: {what}{end}" if error.where else f"askgate: {what}{end}"


def translated(text: str) -> str:
    """The text of an error, a skipped row or a forecast in the language of the terminal.

    It stays in English if `errors_zh.yaml` does not have it. A row keeps its place: `my.jsonl:7: skipped: ...`.
    """
    if terminal_language() == "en":
        return text
    if "\n" in text:
        return "\n".join(map(translated, text.split("\n")))
    if row := re.fullmatch(r"(.+?:\d+: (?:hidden: )?)((?:'.*' )?)(skipped: )?(.+?)\.?", text):
        return f"{row[1]}{row[2]}{'跳过：' if row[3] else ''}{translated(row[4])}"
    if rows := re.fullmatch(r"(.+?): (\d+) rows skipped: (.+) \(lines (.+)\)", text):
        return f"{rows[1]}: 跳过 {rows[2]} 行：{translated(rows[3])}（第 {rows[4].replace(', ', '、')} 行）"
    if memory := re.fullmatch(r"(\S+ of \S+ GiB on \w+: )(.+)", text):
        text = memory[1] + "、".join(map(translated, memory[2].split(", ")))
    for pattern, chinese in _chinese_texts():
        if found := pattern.fullmatch(text):
            return found.expand(chinese)
    return text


@cache
def _chinese_texts() -> list[tuple[re.Pattern[str], str]]:
    """Patterns of English texts, with the Chinese ones: those of errors, and remedies of checks, which errors name."""
    import yaml

    found: list[tuple[str, str]] = []
    for one in (one for group in package_yaml("templates/remedies.yaml").values() for one in group.values()):
        # `{least}` stands for a value; an amber ends with its facts.
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(one["en"])) + "(?P<facts>: .+)?"
        found.append((pattern, re.sub(r"{(\w+)}", r"\\g<\1>", one["zh"]) + r"\g<facts>"))
    found += yaml.safe_load(Path(__file__).with_name("errors_zh.yaml").read_bytes())
    return [(re.compile(pattern), chinese) for pattern, chinese in found]


def say_held_out(samples: int) -> None:
    """The line below a table that compares policies."""
    english = f"{samples} held-out samples, the same for all; shares in percent"
    say(english, f"{samples} 条留出样本，各模型相同；比例以百分数表示")
    if samples < FEW_HELD_OUT:
        english = "so few samples say little about a policy: evaluate on more, or add rows to a file of your own"
        say(english, "样本太少，说明不了模型的好坏：请用更多样本评测；自己的数据请增加行数")


def wrote(*paths: Path | str) -> None:
    """Names the files that a command wrote, one per line."""
    for path in paths:
        say(f"wrote {path}", f"已写入 {path}")


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
    """Prints what a command measured: as JSON, or by `details` and with the files that it wrote."""
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
    return str(typer.prompt(both("password of the key", "密钥的口令"), hide_input=True, err=True)).encode()


def ask(english: str, chinese: str) -> str:
    """An answer typed at the terminal; empty if standard input is not one."""
    return str(typer.prompt(both(english, chinese), err=True)).strip() if sys.stdin.isatty() else ""


def finish(
    report: Report,
    as_json: bool,
    path: Path | None = None,
    details: Callable[[Report], None] | None = None,
    failed_code: int = 1,
) -> None:
    """Prints a report and exits with `failed_code` if a check failed: 1 for quality, 2 for integrity.

    `path`: file of the report. `details`: prints what the command measured, ahead of the checks.
    """
    if as_json:
        print_json(report)
    else:
        if details:
            details(report)
        _print_checks(report)
        print_ambers(report.ambers, signable=getattr(report, "gated", False))
        wrote(*report.evidence.outputs, *([path] if path else []))
    if not report.passed:
        raise typer.Exit(failed_code)


def print_outputs(
    files: Sequence[Path],
    as_json: bool,
    counts: dict[Task, dict[Level, int]] | None = None,
    left_aside: Mapping[Task, int] | None = None,
    fewer_ambiguous: Mapping[Task, int] | None = None,
    skipped_rows: Sequence[str] = (),
    row_counts: RowCounts | None = None,
) -> None:
    """Prints the files that a command wrote with their SHA-256, and the number of samples by task and difficulty.

    `left_aside`: number of records of a source that could not be used. `fewer_ambiguous`: number of ambiguous samples
    that it could not give. `skipped_rows`: rows of the user's own file that could not be used, each with its rule.
    `row_counts`: what became of the rows of the user's own files.
    """
    hashes = {str(path): sha256_file(path) for path in files}
    unused = {task: count for task, count in (left_aside or {}).items() if count}
    if as_json:
        more: dict[str, object] = {"counts": counts, "left_aside": unused, "fewer_ambiguous": fewer_ambiguous}
        more |= {"skipped_rows": list(skipped_rows), "row_counts": row_counts}
        print_json({"outputs": hashes, **{name: value for name, value in more.items() if value}})
        return
    if counts:
        print_table(
            (both("task", "任务"), *LEVELS),
            ([task, *(str(by[level]) for level in LEVELS)] for task, by in counts.items()),
        )
    say_rows(skipped_rows)
    for task, count in unused.items() if row_counts is None else ():
        english = f"skipped {count} records of {task}: repeated, or without a way to the answer"
        say(english, f"{task}：跳过 {count} 条（原因：重复，或推不出答案）")
    for task, count in (fewer_ambiguous or {}).items():
        english = f"{count} fewer ambiguous samples of {task} than asked for: complete ones take their place"
        say(english, f"{task}：缺信息的样本比要求少 {count} 条，由信息完整的样本补足")
    if row_counts:
        # By row: --reuse may make several samples of one.
        rows = {one.provenance.source_id: one for one in read_records(files[0], Sample)}
        split = next(iter(rows.values())).provenance.split
        say(rows_used(row_counts, split, len(rows), sum(one.hidden is not None for one in rows.values())))
    for path, digest in hashes.items():
        wrote(path)
        say(f"  sha256 {digest}")


def say_rows(rows: Iterable[str], stderr: bool = False) -> None:
    """Prints remarks on rows of the user's own files, one line for all rows that break the same rule."""
    for row in grouped(rows)[:ROWS_SHOWN]:
        say(translated(row), stderr=stderr)


def rows_used(counts: RowCounts, split: str, used: int, need_ask: int, held_out: int | None = None) -> str:
    """One line that accounts for every row of the user's files.

    `used`: number of rows of this split that samples are made of. `held_out`: number of held-out samples, if they are
    made as well; else all rows of the other split are named.
    """
    train = split == "train"
    other = held_out if held_out is not None else counts.shadow if train else counts.train + counts.alike
    alike = counts.alike if train else 0
    rest = counts.rows - counts.skipped - used - other - alike
    said = [
        both(f"{used} used ({need_ask} need a question)", f"使用 {used} 条（其中 {need_ask} 条需要提问）"),
        both(f"{other} held out for evaluation", f"{other} 条留作评测")
        if train
        else both(f"{other} in the training part", f"{other} 条属于训练部分"),
        both(f"{counts.skipped} skipped", f"跳过 {counts.skipped} 行"),
    ]
    if alike:
        said.append(both(f"{alike} too much like a held-out row", f"{alike} 条与留出样本过于相似而不用"))
    if rest and held_out is None:
        english = f"{rest} not needed for this --n and --clarify-rate"
        said.append(both(english, f"{rest} 条超出所要求的样本数或提问比例而未用"))
    elif rest:
        english = f"{rest} left out: more that need a question take more complete rows"
        said.append(both(english, f"{rest} 条未用：信息完整的行太少，不能再加需要提问的行"))
    return both(f"{counts.rows} rows read: ", f"读入 {counts.rows} 行：") + both(", ", "，").join(said)


def _print_checks(report: Report) -> None:
    if report.passed:
        rows = ([label(check), measured(check), limit(check)] for check in report.checks)
        columns = (both("check", "检查"), both("value", "实测"), both("must be", "要求"))
        print_table(columns, rows, text=columns[2:])
        say(f"{both('PASSED', '通过')} {report.stage}: {len(report.checks)} " + both("checks", "项检查"))
        return
    failed = [check for check in report.checks if not check.passed]
    for check in failed:
        value = "" if check.value is None else f": {measured(check)}"
        print_failure(f"{label(check)}{value}{both(', must be', '，要求')} {limit(check)}", check)
    say(
        f"{both('FAILED', '未通过')} {report.stage}: {len(failed)} "
        + both(f"of {len(report.checks)} checks", f"/ {len(report.checks)} 项")
    )


def print_failure(what: str, check: Check | Finding, write: Callable[[str], None] = say) -> None:
    """Prints a failed check, or one that could not be measured, with its remedy."""
    verdict = both("FAILED", "未通过") if check.value is not None else both("NOT MEASURED", "未测量")
    write(f"{verdict} {what}")
    write("  " + both(f"What to do: {check.remedy}", f"怎么办：{check.remedy_zh}"))


def print_ambers(ambers: Sequence[Check], signable: bool = False) -> None:
    """Prints facts that the owner must know though nothing failed. `signable`: the owner may sign them off."""
    for one in ambers:
        say(f"{both('AMBER', '黄灯')} {one.name}: {measured(one)}{both(', should be', '，应为')} {limit(one)}")
        chinese = re.sub(r" \(95% (\S+) to (\S+) points\)", r"（95% 区间 \1 至 \2 个百分点）", one.remedy_zh)
        say(f"  {both(one.remedy, chinese)}")
        if signable:
            say(f"  {both('or sign it off', '或由负责人签字确认')}: askgate sign-off --amber {one.name}")


def label(check: Check) -> str:
    """Name of a check; in Chinese the label that the pages use, if there is one."""
    from ..pages.render import LABELS

    name, bracket, scope = check.name.partition("[")
    if name in ("clarify_rate", "mix"):
        return check.name + both(" (points off)", "（相差百分点）")
    found = [LABELS[group][name][1] for group in LABEL_GROUPS if name in LABELS[group]]
    return both(check.name, f"{found[0]}{bracket}{scope}" if found else "")


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
    interval = "-" if change.low is None else both(f"{low} to {high}", f"{low} 至 {high}")
    return [
        figure(name, change.base.value),
        figure(name, change.trained.value),
        figure(name, change.delta, "+"),
        interval,
    ]


class Terminal(Reporter):
    """Messages and progress bars of long-running code on standard error."""

    def message(self, text: str) -> None:
        note(translated(text))

    @contextmanager
    def progress(self, label: str, total: int) -> Iterator[Callable[[int], None]]:
        """A progress bar. Without a terminal: ten lines over the run."""
        with _bar(label, total) as update:
            if update is None:
                yield _tenth_lines(label, total)
            else:
                yield lambda more: update(advance=more)

    @contextmanager
    def scoring(self, label: str) -> Iterator[Callable[[Tally], None]]:
        """A bar with samples done, cost and time left. Without a terminal: ten lines over the run."""
        with _bar(label, None) as update:
            if update is None:
                yield _tally_lines(label, note, time.monotonic)
            else:
                yield lambda tally: update(
                    completed=tally.done,
                    total=tally.total,
                    description=f"{label}, {tally.waits_for or _cost_text(tally)}",
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


def _tenth_lines(label: str, total: int) -> Callable[[int], None]:
    """Prints one line per tenth of the items, but none at the end."""
    done = 0

    def progress(more: int) -> None:
        nonlocal done
        before, done = done, done + more
        if done < total and done * 10 // total > before * 10 // total:
            note(f"{label}: {done} of {total}")

    return progress


def _tally_lines(doing: str, say: Callable[[str], None], clock: Callable[[], float]) -> Callable[[Tally], None]:
    """Prints one line per tenth of the samples."""
    started, reported, waited_at = clock(), 0, -TALLY_EVERY_S

    def progress(tally: Tally) -> None:
        nonlocal reported, waited_at
        if tally.waits_for and clock() - waited_at >= TALLY_EVERY_S:
            waited_at = clock()
            say(f"{doing}: {tally.waits_for}")
        if (tenths := tally.done * 10 // tally.total) <= reported:
            return
        reported = tenths
        left = (clock() - started) / tally.done * (tally.total - tally.done)
        english = f"{doing}: {tally.done} of {tally.total} samples, {_cost_text(tally)}, about {left:.0f} s left"
        say(both(english, f"{doing}: {tally.done}/{tally.total} 条样本，{_cost_text(tally)}，约剩 {left:.0f} 秒"))

    return progress


def _cost_text(tally: Tally) -> str:
    """Cost so far and at the end, after at least one sample has ended."""
    if tally.cost is None:
        return both("cost not known", "费用未知")
    if not tally.cost:
        return both("free", "免费")
    now, end = f"${tally.cost:.4f}", f"${tally.cost / tally.done * tally.total:.4f}"
    return both(f"{now} of about {end}", f"已用 {now}，预计共 {end}")
