"""A file of the run folder as text, a piece at a time, and the finished report pages as pages. Nothing in them runs."""

from __future__ import annotations

import os
from html import escape

from ..runtime.secrets import masker
from .frame import address, both, title
from .run_folders import Run
from .where import Outside, open_inside

PIECE = 256 * 1024
TEXT = (".json", ".jsonl", ".yaml", ".yml", ".log", ".txt", ".md", ".sha256", ".csv")
"""What is shown. Weights and the like are no reading matter."""
REPORTS = "reports/"


def file_page(run: Run, path: str, start: str) -> str | None:
    """None where there is no such file in the run folder, or none to read."""
    if not path.endswith(TEXT):
        return None
    try:
        handle = open_inside(run.root, path)
    except Outside:
        return None
    with handle:
        size = os.fstat(handle.fileno()).st_size
        begin = min(int(start), size) if start.isascii() and start.isdigit() and len(start) < 16 else 0
        handle.seek(begin)
        text = handle.read(PIECE).decode("utf-8", errors="replace")
    end = min(begin + PIECE, size)
    around = " ".join(
        f'<a href="{address("/file", run=run.name, path=path, start=str(place))}">{words}</a>'
        for place, words, there in (
            (max(0, begin - PIECE), "← before 前一段", begin > 0),
            (end, "after 后一段 →", end < size),
        )
        if there
    )
    place = f"{begin:,}–{end:,} / {size:,} bytes 字节" if around else f"{size:,} bytes 字节"
    return (
        f'<p class="crumbs"><a href="/">{both("Lights", "看灯")}</a></p><header>{title(1, path, "")}</header>'
        f'<p class="soft">{place} {around}</p><pre class="file">{escape(masker(os.environ)(text))}</pre>'
    )


def report_page(run: Run, path: str) -> bytes | None:
    """A page that a stage wrote into `reports/`. It is sent with leave to have a style and nothing else."""
    if not (path.startswith(REPORTS) and path.endswith(".html")):
        return None
    try:
        with open_inside(run.root, path) as handle:
            return handle.read()
    except Outside:
        return None
