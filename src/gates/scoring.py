"""The anti-simulation gate of a round: environment and configs as they are now, scorings as the ledger has them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..config.loader import DEFAULT
from ..core.check import Check
from ..scoring.ledger import LedgerBroken, tail, verify
from .anti_simulation import WINDOW, assert_not_simulated, chain_check, scoring_checks
from .finding import Finding, found, read
from .look import Look


def scoring_findings(look: Look, environment: Mapping[str, str]) -> list[Finding]:
    """In a round: all that `assert_not_simulated` looks at."""
    return found("scoring", assert_not_simulated(look.cache_hit_lt, environment).checks, read(DEFAULT))


def scoring_again(look: Look, provider: str) -> list[Finding]:
    """Later: the part that the ledger alone tells."""
    return found("scoring", _of_ledger(look, provider), read(DEFAULT))


def _of_ledger(look: Look, provider: str) -> list[Check]:
    try:
        verify(look.ledger)
        scorings = tail(look.ledger, WINDOW)
    except LedgerBroken as broken:
        return [chain_check(broken)]
    return [chain_check(None), *scoring_checks(scorings, provider, look.cache_hit_lt, look.scoring)]


def first_lines(ledger: Path, count: int, out: Path) -> Path:
    """The ledger as it was when it had so many lines."""
    with open(ledger, "rb") as handle, open(out, "wb") as copy:
        for _ in range(count):
            copy.write(handle.readline())
    return out
