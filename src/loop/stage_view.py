"""Reports on a running loop as plain lines: one when a stage starts, one when it ends, with its figure.

The command line has a live table with the same methods (`cli/stage_table.py`).
"""

from __future__ import annotations

import re
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..core.files import json_or_none
from ..core.paths import LOGS
from ..runtime.language import in_language
from .lights import reasons_of
from .stage import FAILED, PASSED, Stage, in_chinese

TAIL = 15  # lines of a failed stage's output that are shown
_CHECKS = re.compile(r"^(?:PASSED|通过) \S+: (\d+) ", re.MULTILINE)


@dataclass(frozen=True)
class RunningStage:
    """A stage and its process."""

    stage: Stage
    child: subprocess.Popen[bytes]
    began: float  # time of `time.monotonic`


def log_of(stage: Stage) -> Path:
    """The file with the output of a stage."""
    return LOGS / "stages" / f"{stage.name}.log"


class StageView:
    """One line when a stage starts and one when it ends. `resume`: the command that runs the loop again."""

    def __init__(self, say: Callable[[str], None], resume: str = "") -> None:
        self.say, self.resume = say, resume
        self.stages: list[Stage] = []

    @contextmanager
    def showing(self, stages: Sequence[Stage]) -> Iterator[None]:
        """Called with the stages of the loop before the first of them starts."""
        self.stages = list(stages)
        where = f"{LOGS / 'stages'}/"
        self.say(
            in_language(
                f"{len(stages)} stages; the output of each goes to {where}",
                f"共 {len(stages)} 个阶段；各阶段的输出在 {where}",
            )
        )
        yield

    def waits(self, lock: Path) -> None:
        english = f"another run is at work here ({lock}); waiting until it has ended"
        self.say(in_language(english, f"此处已有运行在进行（{lock}），等待其结束"))

    def skipped(self, stage: Stage, why: str) -> None:
        because = in_language(f"skipped, because {why}", f"跳过：{in_chinese(why)}")
        self.say(f"{self._head(stage)}: {because}")

    def kept(self, stage: Stage, code: int) -> None:
        still = in_language("still valid", "仍然有效")
        self.say(f"{self._head(stage)}: {still}{'' if code == PASSED else in_language('; its light is red', '；红灯')}")

    def started(self, one: RunningStage, why: str) -> None:
        doing = in_language(f"{one.stage.title} ({why})", f"{one.stage.title_zh}（{in_chinese(why)}）")
        self.say(f"{self._head(one.stage)}: {doing}")

    def tick(self, running: Sequence[RunningStage]) -> None:
        """Called several times a second while stages are running."""

    def ended(self, one: RunningStage, code: int) -> None:
        words = [verdict(code), f"{time.monotonic() - one.began:.0f} s", figure_of(one.stage, code)]
        self.say(f"{self._head(one.stage)}: {', '.join(filter(None, words))}")
        self.explain(one.stage, code)

    def explain(self, stage: Stage, code: int) -> None:
        """Shows the last lines of a stage that did not pass, where the rest is, and what to type next."""
        if code == PASSED:
            return
        log = log_of(stage)
        for line in tail(log):
            self.say(f"    {line}")
        self.say(f"  {in_language('full output:', '完整输出：')} {log}")
        if code == FAILED:
            self.say("  " + in_language("a gate failed; what to do is in the lines above", "闸门未过，处理办法见上"))
        elif self.resume:
            english = f"fix what the last lines name, then type: {self.resume}"
            self.say("  " + in_language(english, f"按上面的提示处理后重新运行：{self.resume}"))

    def ending(self, left: Sequence[RunningStage]) -> None:
        """Called when the loop is stopped while stages are still running."""
        names = " and ".join(one.stage.name for one in left)
        english = f"stopping {names}, which may take some seconds; Ctrl-C again does not wait"
        self.say(in_language(english, f"正在停止 {names}，可能需要几秒；再按一次 Ctrl-C 立即结束"))

    def _head(self, stage: Stage) -> str:
        return f"[{self.stages.index(stage) + 1}/{len(self.stages)}] {stage.name}"


def verdict(code: int) -> str:
    """An exit code as one word of the table or of a line."""
    return "ok" if code == PASSED else "RED" if code == FAILED else f"STOPPED with exit code {code}"


def tail(log: Path) -> list[str]:
    """The last lines of a log that are not empty."""
    try:
        with open(log, encoding="utf-8", errors="replace") as file:
            return list(deque((line.rstrip() for line in file if line.strip()), TAIL))
    except OSError:
        return []


def figure_of(stage: Stage, code: int) -> str:
    """The figure of a stage that ended: the one in its definition, or else its number of checks. A gate that failed has
    the name of the first failed check. Empty where there is nothing to show."""
    reports = [path for path in stage.outputs if path.suffix == ".json"]
    if code == FAILED:
        failed = [one.name for one in reasons_of(reports)]
        return f"{failed[0]}{f' and {len(failed) - 1} more' if failed[1:] else ''}" if failed else ""
    if code != PASSED:
        return ""
    if stage.number:
        path, form = stage.number
        try:
            return form.format(json_or_none(path))
        except (KeyError, IndexError, TypeError, ValueError):
            pass  # the report lacks the figure, such as the cost of a judge without prices
    found = (report for report in map(json_or_none, reports) if isinstance(report, dict))
    checks = [len(report.get("checks") or report.get("findings") or ()) for report in found]
    said = _CHECKS.findall("\n".join(tail(log_of(stage))))
    count = next(filter(None, checks), 0) or int(said[-1] if said else 0)
    return in_language(f"{count} checks passed", f"{count} 项检查通过") if count else ""
