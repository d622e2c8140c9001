"""How long-running code reports to its caller: lines of text and progress bars.

The command line passes a `Reporter` that writes to the terminal; this one, the default, writes to the log.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

log = logging.getLogger(__name__)


class Reporter:
    def message(self, text: str) -> None:
        log.info("%s", text)

    def progress(self, label: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        """A progress bar; the function that it yields takes how many more are done."""
        return nullcontext(lambda more: None)

    def scoring(self, label: str) -> AbstractContextManager[Callable[[Any], None]]:
        """A progress bar of live scoring; the function that it yields takes a `scoring.judge.Tally`."""
        return nullcontext(lambda tally: None)


TO_LOG = Reporter()
