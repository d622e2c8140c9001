"""The live table of `askgate quickstart` and `askgate rc1` on a terminal; plain lines where there is none."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ..core.files import last_bytes
from ..core.paths import LOGS
from ..loop.stage import FAILED, PASSED, Stage, in_chinese
from ..loop.stage_view import RunningStage, StageView, figure_of, log_of, verdict
from ..runtime.language import in_language

REFRESH_S = 0.5
WIDE = 120  # columns from which there is room for the titles in full
NAMES, TITLES, FIGURES, TIMES = 15, 16, 33, 7  # columns of a terminal of 80, less one for the state and the gaps
BAR = 6
DONE = ("ok", "kept", "RED")  # states of a stage that ended with a verdict
READ_BYTES = 4096
COLOURS = {"ok": "green", "kept": "green", "RED": "bold red", "stop": "bold red", "run": "bold cyan", "skip": "yellow"}
_PROGRESS = re.compile(r"^(?:.*: )?([\w ]+): (\d+)(?: of |/)(\d+)\b|\b(step) (\d+)/(\d+)\b", re.MULTILINE)


class Progress(NamedTuple):
    label: str
    done: int
    total: int


def progress_in(output: str) -> Progress | None:
    """The last count in the output of a stage.

    >>> progress_in("made it: 600 episodes\\nscoring: 3 of 30 samples, free, about 9 s left\\n")
    Progress(label='scoring', done=3, total=30)
    >>> progress_in("第 1 轮预检: 评分: 3/30 条样本，免费，约剩 9 秒")
    Progress(label='评分', done=3, total=30)
    >>> progress_in("step 7/24 reward 0.3100")
    Progress(label='step', done=7, total=24)
    """
    found = _PROGRESS.findall(output)
    if not found:
        return None
    label, done, total = filter(None, found[-1])
    return Progress(label.strip(), int(done), int(total))


@dataclass
class Row:
    """What the table shows of a stage, and what its time left is computed from."""

    state: str = ""
    figure: str = ""
    seconds: float | None = None
    progress: Progress | None = None
    first: tuple[Progress, float] | None = None  # first count with the present label, and when it was seen

    def count(self, found: Progress | None) -> None:
        """Notes the present count; a new label, or a lower count, starts a new measurement of the pace."""
        if found and (self.first is None or self.first[0].label != found.label or found.done < self.first[0].done):
            self.first = (found, time.monotonic())
        self.progress = found


class StageTable(StageView):
    """A row per stage: state, progress or figure, time. Below it what is running now."""

    def __init__(self, console: Console, resume: str) -> None:
        super().__init__(lambda line: console.print(line, soft_wrap=True), resume)
        self.console = console
        self.rows: dict[str, Row] = {}
        self.running: list[RunningStage] = []
        self._live = Live(console=console, auto_refresh=False, get_renderable=self.render)
        self._drawn = 0.0

    @contextmanager
    def showing(self, stages: Sequence[Stage]) -> Iterator[None]:
        self.stages, self.rows = list(stages), {stage.name: Row() for stage in stages}
        with self._live:
            try:
                yield
            finally:
                self.running = []
                for row in self.rows.values():
                    if row.state == "run":
                        row.state, row.figure = "stop", in_language("interrupted", "已中断")

    def skipped(self, stage: Stage, why: str) -> None:
        self.rows[stage.name] = Row("skip", in_language(why, in_chinese(why)))

    def kept(self, stage: Stage, code: int) -> None:
        self.rows[stage.name] = Row("kept" if code == PASSED else verdict(code), figure_of(stage, code))

    def started(self, one: RunningStage, why: str) -> None:
        self.rows[one.stage.name] = Row("run")

    def tick(self, running: Sequence[RunningStage]) -> None:
        self.running = list(running)
        if time.monotonic() - self._drawn >= REFRESH_S:
            for one in running:
                output = last_bytes(log_of(one.stage), READ_BYTES).decode("utf-8", "replace")
                self.rows[one.stage.name].count(progress_in(output))
            self._draw()

    def ended(self, one: RunningStage, code: int) -> None:
        self.running = [other for other in self.running if other is not one]
        state = verdict(code) if code in (PASSED, FAILED) else "stop"
        stopped = in_language(f"exit code {code}", f"退出码 {code}")
        figure = figure_of(one.stage, code) if code in (PASSED, FAILED) else stopped
        self.rows[one.stage.name] = Row(state, figure, time.monotonic() - one.began)
        if code != PASSED:
            last = in_language("Its last lines:", "最后几行输出：")
            self.say(f"{one.stage.name}: {verdict(code)}. {last}")
        self.explain(one.stage, code)
        self._draw()

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        self._live.refresh()

    def render(self) -> Group:
        wide = self.console.width >= WIDE
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), show_header=False, expand=wide)
        table.add_column(width=4, no_wrap=True)
        table.add_column(width=NAMES, no_wrap=True)
        if wide:
            table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        table.add_column(width=FIGURES if wide else TITLES + FIGURES + 1, no_wrap=True, overflow="ellipsis")
        table.add_column(width=TIMES, no_wrap=True, justify="right")
        for stage in self.stages:
            row = self.rows[stage.name]
            running = next((one for one in self.running if one.stage is stage), None)
            title = in_language(stage.title, stage.title_zh)
            figure = (
                self._bar(stage, row.progress)
                if running and row.progress
                else Text(row.figure or ("" if wide else title))
            )
            took = time.monotonic() - running.began if running else row.seconds
            style = "" if row.state else "dim"
            state = Text(row.state, style=COLOURS.get(row.state, "dim"))
            cells = (title, figure) if wide else (figure,)
            table.add_row(state, stage.name, *cells, "" if took is None else clock(took), style=style)
        return Group(self._summary(), table, *self._footer())

    def _summary(self) -> Text:
        done = sum(row.state in DONE for row in self.rows.values())
        left = self.seconds_left()
        ending = in_language(f", about {clock(left)} left", f"，约剩 {clock(left)}") if left else ""
        english = f"{done} of {len(self.stages)} stages done{ending}; output of each: {LOGS / 'stages'}/NAME.log"
        chinese = f"已完成 {done}/{len(self.stages)} 个阶段{ending}；各阶段输出：{LOGS / 'stages'}/NAME.log"
        return Text(in_language(english, chinese))

    def _footer(self) -> list[Text]:
        if not self.running:
            return []
        titles = ((one.stage.name, in_language(one.stage.title, one.stage.title_zh)) for one in self.running)
        now = [Text(f"{name}: {title}", no_wrap=True, overflow="ellipsis") for name, title in titles]
        keys = in_language(f"Ctrl-C stops; `{self.resume}` resumes", f"Ctrl-C 停止；`{self.resume}` 继续")
        return [Text(), *now, Text(keys, style="dim")]

    def _bar(self, stage: Stage, found: Progress) -> Text:
        full = round(BAR * min(1.0, found.done / max(1, found.total)))
        count = f"{found.done}/{found.total}"
        bar = Text.assemble(("━" * full, "cyan"), ("━" * (BAR - full), "dim"))
        left = self._stage_left(stage)
        ending = in_language(f" {clock(left)} left", f" 剩 {clock(left)}") if left else ""
        room = FIGURES - BAR - len(count) - len(ending) - 2
        return Text.assemble(f"{found.label[:room]} {count} ", bar, ending)

    def seconds_left(self) -> float | None:
        """Length of the longest chain of stages that wait for each other. None where nothing is known about a stage."""
        if any(stage.seconds is None for stage in self.stages):
            return None

        @cache
        def chain(place: int) -> float:
            later = range(place + 1, len(self.stages))
            own = self._stage_left(self.stages[place]) or 0.0
            return own + max((chain(at) for at in later if self.stages[at].waits_for(self.stages[place])), default=0.0)

        return max(map(chain, range(len(self.stages))), default=0.0)

    def _stage_left(self, stage: Stage) -> float | None:
        """Seconds until a stage ends: by its typical duration or by its count, whichever is longer."""
        row = self.rows[stage.name]
        if row.state not in ("", "run"):
            return 0.0
        one = next((one for one in self.running if one.stage is stage), None)
        took = time.monotonic() - one.began if one else 0.0
        typical = max(0.0, stage.seconds * self._slowness() - took) if stage.seconds else None
        counted = None
        if row.progress and row.first and row.progress.done > row.first[0].done:
            first, at = row.first
            pace = (time.monotonic() - at) / (row.progress.done - first.done)
            counted = pace * (row.progress.total - row.progress.done)
        return max((left for left in (typical, counted) if left is not None), default=None)

    def _slowness(self) -> float:
        """How much slower this machine is than the typical durations, by the stages that have ended here."""
        ended = [(row.seconds, stage.seconds) for stage in self.stages if (row := self.rows[stage.name]).seconds]
        known = [(took, typical) for took, typical in ended if took and typical]
        # A minute at the typical pace is added to both sums, so that one slow first stage does not decide alone.
        return (60 + sum(took for took, _ in known)) / (60 + sum(typical for _, typical in known))


def clock(seconds: float) -> str:
    """A duration: seconds below a minute, else minutes and seconds.

    >>> clock(14.4), clock(151)
    ('14 s', '2:31')
    """
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60}:{whole % 60:02d}"
