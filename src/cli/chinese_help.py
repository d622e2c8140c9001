"""Layout of help pages in Chinese: the fixed words of typer in Chinese, and lines of at most 78 columns.

typer breaks lines at spaces and counts characters. But Chinese has no spaces, and a Chinese character is two columns
wide. So typer would cut a file name inside a Chinese sentence, and its lines would be too long for a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unicodedata import east_asian_width

import typer

UNITS = re.compile(r"`[^`]{1,40}`|\[[^ -~]+|\s+|[!-~]+|.")
"""Parts of a text that stay whole: a short quoted command, `[默认：`, spaces, a run of ASCII such as a path, and any
other character."""
OPENING, CLOSING = "（《「『“", "，。；：、！？）》」』”%"
"""A line neither ends with an opening mark nor starts with a closing one."""
EXTRAS = re.compile(r"(.*?)(?:^|  )\[([^\[\]]+)\]")
"""Help of a flag, and what typer adds to it in brackets: its default, its range, whether it is required."""


def columns(text: str) -> int:
    """Width of a text in a terminal.

    >>> columns("样本池 POOL")
    11
    """
    return sum(2 if east_asian_width(one) in "WF" else 1 for one in text)


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a text, broken between Chinese characters or at spaces. A longer run of ASCII is not broken.

    >>> wrapped("默认：data/shadow_eval_<n>.jsonl。", 24)
    ['默认：', 'data/shadow_eval_<n>.jsonl。']
    """
    lines = [""]
    for unit in _units(text):
        if columns(lines[-1] + unit.rstrip()) > width and lines[-1]:
            lines[-1] = lines[-1].rstrip()
            lines.append(unit.lstrip())
        else:
            lines[-1] += unit
    return [line.rstrip() for line in lines]


def _units(text: str) -> Iterator[str]:
    """Parts of a text between which a line may be broken."""
    held = ""
    for unit in UNITS.findall(text):
        if held and held[-1] not in OPENING and unit[0] not in CLOSING:
            yield held
            held = ""
        held += unit
    yield held


HelpFormatter: Any = typer.Context.formatter_class


class ChineseFormatter(HelpFormatter):  # type: ignore[misc]
    """Writes a help page in Chinese. Subclasses have `words`: the fixed words of typer and what stands for them."""

    words: Mapping[str, str] = {}

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        for english, chinese in self.words.items():
            args = args.replace(english, chinese)
        super().write_usage(prog, args, self.words["Usage"] + "：")

    def write_heading(self, heading: str) -> None:
        self.write(" " * self.current_indent + self.words.get(heading, heading) + "：\n")

    def write_text(self, text: str) -> None:
        indent = " " * self.current_indent
        paragraphs = []
        for paragraph in re.split(r"\n{2,}", text):
            first, *lines = paragraph.split("\n")
            if first != "\b":  # which marks a paragraph whose lines stay as they are
                lines = wrapped("".join([first, *lines]), self.width - self.current_indent)
            paragraphs.append("\n".join(indent + line for line in lines))
        self.write("\n\n".join(paragraphs) + "\n")

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        start = min(max(columns(first) for first, _ in rows), col_max) + col_spacing
        margin, gap = " " * self.current_indent, " " * (self.current_indent + start)
        for first, second in rows:
            lines = wrapped(self._in_chinese(second), self.width - len(gap))
            if columns(first) + col_spacing > start:
                lines = ["", *lines]
            shown = [margin + first + " " * (start - columns(first)) + lines[0], *(gap + line for line in lines[1:])]
            self.write("".join(f"{line.rstrip()}\n" for line in shown))

    def _in_chinese(self, text: str) -> str:
        """Help of a flag with what typer adds to it in Chinese: `[默认：245；x>=1]`."""
        found = EXTRAS.fullmatch(text)
        if not found:
            return text
        extras = []
        for extra in found[2].split("; "):
            name, colon, value = extra.partition(": ")
            value = value[1:-1] if value.startswith("(") and value.endswith(")") else value
            extras.append(self.words.get(name, name) + ("：" if colon else "") + value)
        return f"{found[1]}  [{'；'.join(extras)}]".lstrip()


def context_class(base: type[Any], words: Mapping[str, str]) -> type[Any]:
    """A subclass of a command's context whose help pages are in Chinese."""
    formatter = type("Formatter", (ChineseFormatter,), {"words": words})
    return type("ChineseContext", (base,), {"formatter_class": formatter})
