"""Dialogues in the terminal: turns with a label at the left, what a person types, and how an episode ended."""

from __future__ import annotations

import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from rich.cells import cell_len
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from askgate_env.dimensions import NO_HITS
from askgate_env.types import Episode, Lang, Sample, Turn

from ..eval.metrics import is_lucky, is_right
from ..pages.render import LABELS, asking
from . import show

LABEL_WIDTH = 8
CHECK_S = 0.1  # seconds after which `input` looks for signals again
CHAT = LABELS["chat"]
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Characters that could move the cursor or change the terminal; what a model says is not trusted with them."""
STYLES = {"ask": "bold yellow", "call": "cyan", "answer": "bold green", "say": "red"}
GOOD, BAD, HEADING = "bold green", "bold red", "bold magenta"

Row = tuple[str, Text]  # a label and the text beside it


class DialoguePrinter:
    """Prints a dialogue turn by turn, and reads what a person types. `you`: a person plays the user."""

    def __init__(self, lang: Lang, you: bool = False) -> None:
        self.lang, self.you, self.console = lang, you, show.console()
        self._waiting = self.console.status(self.text("waiting"))

    def text(self, key: str, **values: object) -> str:
        return self.label("chat", key).format(**values)

    def say(self, key: str, **values: object) -> None:
        self.console.print(Text(printable(self.text(key, **values)), "dim"), soft_wrap=not self.console.is_terminal)

    def label(self, section: str, key: str) -> str:
        """A label of labels.yaml."""
        return pick(LABELS[section][key], self.lang)

    def headline(self, text: str) -> None:
        """A line across the terminal with a text in it."""
        self.console.print(Rule(Text(text, "bold"), align="left", style="dim") if self.console.is_terminal else text)

    def turn(self, turn: Turn) -> None:
        self.rows(turn_rows(turn, self.lang, self.you))

    def ended(self, episode: Episode) -> None:
        """Says why a dialogue ended without an answer."""
        self.rows([("", Text(pick(LABELS["endings"][episode.end], self.lang), BAD))])

    def result(self, sample: Sample, episode: Episode, reward: Mapping[str, float]) -> None:
        """Gold answer, right or wrong, what was missing, and the reward."""
        rows = result_rows(episode, self.lang) + sample_rows(sample, self.lang)
        rows.append(("", Text(f"{self.text('reward')} {reward_text(reward, self.lang)}", "dim")))
        self.rows(rows)
        self.console.print()

    def rows(self, rows: list[Row]) -> None:
        """Wrapped beside their labels in a terminal; one line each elsewhere."""
        if self.console.is_terminal:
            self.console.print(grid(rows))
            return
        for label, text in rows:
            lines = text.plain.split("\n")
            self.console.print(padded(label) + lines[0], soft_wrap=True)
            for line in lines[1:]:
                self.console.print(" " * LABEL_WIDTH + line, soft_wrap=True)

    def wait_for(self, work: Callable[[], list[Episode]]) -> Episode:
        """The episode that `work` makes, with a spinner meanwhile."""
        with self._waiting:
            return work()[0]

    def typed(self, sample: Sample, ask: str, before: object) -> str:
        """The user of an environment whom a person plays: reads the reply to a question."""
        self._waiting.stop()
        said = self.read()
        if self.console.is_terminal:
            self._waiting.start()
        return said

    def read(self, empty: bool = False) -> str:
        """A line that a person types; with `empty` it may be. Raises EOFError at the end of the input."""
        label = padded(self.text("you")) if not empty else ""
        while True:
            if sys.stdin.isatty():
                with suppress(ImportError):
                    import readline  # noqa: F401  # `input` edits lines with it
                with interruptible():
                    line = input(label)
            elif line := sys.stdin.readline():
                if not empty and line.strip():
                    self.console.print(label + printable(line.strip()), soft_wrap=True)
            else:
                raise EOFError
            if line.strip() or empty:
                return line.strip()


@contextmanager
def interruptible() -> Iterator[None]:
    """Within it, Ctrl-C always ends `input`.

    `input` looks for signals only when one interrupts its wait, so one that comes just before the wait would go
    unnoticed until the next key. A timer interrupts the wait again and again.
    """
    if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
        yield
        return
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    try:
        signal.setitimer(signal.ITIMER_REAL, CHECK_S, CHECK_S)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def turn_rows(turn: Turn, lang: Lang, you: bool = False) -> list[Row]:
    """A turn as rows: the thought dimmed, then the action or the message."""
    speaker = CHAT["you"] if you and turn.by == "user" else LABELS["speakers"][turn.by]
    rows: list[Row] = []
    if turn.thought:
        rows.append((pick(speaker, lang), Text(printable(turn.thought), "dim italic")))
    text = Text(printable(turn.text))
    if turn.by == "tool":
        if lang == "zh" and turn.text == NO_HITS:
            text = Text(pick(CHAT["nothing_found"], lang))
        text.stylize("dim")
    elif turn.by == "assistant":
        act = CHAT["no_action"] if turn.act == "say" else LABELS["acts"][turn.act]
        name = turn.tool if turn.act == "call" else pick(act, lang)
        text = Text.assemble((f"{name} ", STYLES[turn.act]), text)
    return [*rows, ("" if rows else pick(speaker, lang), text)]


def result_rows(episode: Episode, lang: Lang) -> list[Row]:
    """How an episode ended: right or wrong, asked or not."""
    kind = asking(episode.needs_clarification, episode.asks, episode.received_info)
    asked = Text(pick(LABELS["asking"][kind], lang), {"informed": GOOD, "quiet": ""}.get(kind, BAD))
    mark = ("✓", "right", GOOD) if is_right(episode) else ("✗", "wrong", BAD)
    found = [Text(f"{mark[0]} {pick(CHAT[mark[1]], lang)}", mark[2])]
    found += [Text(pick(CHAT["lucky"], lang), BAD)] if is_lucky(episode) else []
    found.append(asked)
    if episode.end != "answer":
        found.append(Text(pick(LABELS["endings"][episode.end], lang), BAD))
    return [("", Text(" · ").join(found))]


def sample_rows(sample: Sample, lang: Lang) -> list[Row]:
    """Facts that the policy is not told: the gold answer if one is checked, and the missing information."""
    facts = [("gold", sample.answer)] if sample.task != "detect" else []
    facts += [("missing", sample.hidden.missing)] if sample.hidden else []
    parts = [f"{pick(CHAT[key], lang)}: {printable(fact)}" for key, fact in facts]
    parts = parts if sample.task != "detect" else [pick(CHAT["unchecked"], lang), *parts]
    return [("", Text(" · ".join(parts), "dim"))]


def reward_text(reward: Mapping[str, float], lang: Lang = "en") -> str:
    """The reward and its terms in one line.

    >>> reward_text({"outcome": 1.0, "overclar": -0.07})
    '+0.93 = outcome +1.00, overclar -0.07'
    """
    names = {name: name if lang == "en" else LABELS["reward_terms"].get(name, (name, name))[1] for name in reward}
    terms = pick((", ", "；"), lang).join(f"{names[name]} {value + 0.0:+.2f}" for name, value in reward.items())
    return f"{sum(reward.values()) + 0.0:+.2f} = {terms}"


def grid(rows: list[Row]) -> Table:
    """Rows as a table without borders, with the labels in a narrow first column."""
    made = Table.grid(padding=0)
    made.add_column(width=LABEL_WIDTH, no_wrap=True, style="bold")
    made.add_column(overflow="fold")
    for label, text in rows:
        made.add_row(label, text)
    return made


def pick(both: Any, lang: Lang) -> str:
    """The text in one language, of a pair in English and Chinese."""
    return str(both[lang == "zh"])


def padded(label: str) -> str:
    """A label filled up with spaces to `LABEL_WIDTH` columns; a Chinese character takes two."""
    return label + " " * (LABEL_WIDTH - cell_len(label))


def printable(text: str) -> str:
    """The text without control characters."""
    return _CONTROL.sub("", text)
