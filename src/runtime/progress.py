"""Reports of long-running code to its caller: lines of text, durations and progress bars.

The command line passes a `Reporter` that writes to the terminal; the one here, the default, writes to the log.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

log = logging.getLogger(__name__)

Tell = Callable[[str], None]
"""Takes a line of text for the user."""


class Reporter:
    """Reports to the log. Subclasses report elsewhere."""

    def message(self, text: str) -> None:
        log.info("%s", text)

    def progress(self, label: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        """A progress bar. Yields a function to call with the number of further items that are done."""
        return nullcontext(lambda more: None)

    def scoring(self, label: str) -> AbstractContextManager[Callable[[Any], None]]:
        """A progress bar of live scoring. Yields a function to call with a `scoring.judge.Tally`."""
        return nullcontext(lambda tally: None)


TO_LOG = Reporter()


def duration(seconds: float) -> str:
    """
    >>> duration(0.25), duration(75), duration(300), duration(5400), duration(400_000)
    ('0.2 s', '75 s', '5 min', '1.5 h', '4.6 days')
    """
    for unit, size in (("days", 86_400), ("h", 3600)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.{int(seconds < 10)}f} s"
