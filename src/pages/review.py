"""The weekly review: what the runs of the last days showed. Gates, KPIs, and what moved since the review before.

Everything is read from reports that stages have written, each with the time at which it was measured. A report that was
written over counts once, as it is now. KPIs have no history of their own, so every review keeps them for the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ..core.paths import EVAL_EPISODES
from ..core.types import Record
from ..loop.kpi import Kpi
from ..loop.lights import Reason, reasons_in

FOLDER = Path("reports/review")
WHERE = ("reports/*.json", "reports/rc1/*.json", "reports/preflight/*.json")
FIGURES = ("need_ask_success", "overclar_rate", "success", "avg_turns", "success_hard_hotpotqa_strategyqa")
NAME = "%Y-%m-%d"


class Event(Struct, frozen=True):
    """A stage that was measured in these days."""

    at: str
    stage: str
    report: str
    passed: bool
    checks: int
    failed: list[Reason]


class Evaluation(Struct, frozen=True):
    """A trained policy against its base."""

    at: str
    report: str
    gated: bool
    passed: bool
    base: dict[str, float | None]
    trained: dict[str, float | None]


class Move(Struct, frozen=True):
    name: str
    before: float
    now: float


class Review(Record, frozen=True):
    """`reports/review/<date>.json`."""

    since: str
    until: str
    events: list[Event]
    evaluations: list[Evaluation]
    errors: list[str]
    kpis: dict[str, float | None]
    alarms: list[str]
    compared_with: str
    """The review before, by its date; empty: there was none."""
    moved: list[Move]


def review(
    until: datetime, days: int, kpis: Mapping[str, Mapping[str, Kpi]], root: Path = Path(), folder: Path = FOLDER
) -> Review:
    since = until - timedelta(days=days)
    found = sorted(_reports(root, since, until), key=lambda item: item[0])
    values = {name: one.value for part in kpis.values() for name, one in part.items()}
    before = _before(root / folder, until)
    return Review(
        since=since.isoformat(timespec="seconds"),
        until=until.isoformat(timespec="seconds"),
        events=[_event(at, path, report) for at, path, report in found if "seeds" not in report],
        evaluations=_evaluations([item for item in found if "seeds" in item[2]]),
        errors=sorted(_errors(root, since, until)),
        kpis=values,
        alarms=[name for part in kpis.values() for name, one in part.items() if one.alarm and one.alarm.on],
        compared_with=before[0] if before else "",
        moved=_moved(before[1], values) if before else [],
    )


def _reports(root: Path, since: datetime, until: datetime) -> Iterable[tuple[str, str, dict[str, Any]]]:
    for path in sorted(path for pattern in WHERE for path in root.glob(pattern)):
        try:
            report = msgspec.json.decode(path.read_bytes())
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            continue
        at = _measured(report)
        if at and since < at <= until:
            yield at.isoformat(timespec="seconds"), path.relative_to(root).as_posix(), report


def _measured(report: Any) -> datetime | None:
    """When; None for what is no report with checks."""
    if not isinstance(report, dict) or not (report.get("checks") or report.get("findings")):
        return None
    said = report.get("ts") or (report.get("evidence") or {}).get("ended")
    try:
        found = datetime.fromisoformat(str(said))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _event(at: str, path: str, report: dict[str, Any]) -> Event:
    checks = report.get("checks") or report["findings"]
    failed = reasons_in(report)
    return Event(at, str(report.get("stage") or report.get("round")), path, not failed, len(checks), failed)


def _evaluations(found: list[tuple[str, str, dict[str, Any]]]) -> list[Evaluation]:
    """A run reports on itself when it ends, and `evaluate` judges the same episodes again: the last word counts."""
    last: dict[str, Evaluation] = {}
    for at, path, report in found:
        read = (report.get("evidence") or {}).get("inputs") or {}
        episodes = sorted(str(digest) for name, digest in read.items() if EVAL_EPISODES in Path(name).parents)
        last[" ".join(episodes) or path] = _evaluation(at, path, report)
    return sorted(last.values(), key=lambda one: one.at)


def _evaluation(at: str, path: str, report: dict[str, Any]) -> Evaluation:
    changes = (report.get("pooled") or {}).get("changes") or {}
    sides = {
        who: {name: (changes.get(name) or {}).get(who, {}).get("value") for name in FIGURES}
        for who in ("base", "trained")
    }
    passed = not reasons_in(report)
    return Evaluation(at, path, bool(report.get("gated")), passed, sides["base"], sides["trained"])


def _errors(root: Path, since: datetime, until: datetime) -> Iterable[str]:
    for path in [*root.glob("reports/ERROR_*.json"), *root.glob("reports/rc1/FAIL_*.tgz")]:
        if since.timestamp() < path.stat().st_mtime <= until.timestamp():
            yield path.relative_to(root).as_posix()


def _before(folder: Path, until: datetime) -> tuple[str, dict[str, float | None]] | None:
    """The newest review of an earlier day."""
    for path in sorted(folder.glob("????-??-??.json"), reverse=True):
        if path.stem < until.strftime(NAME):
            try:
                return path.stem, msgspec.json.decode(path.read_bytes(), type=Review).kpis
            except (msgspec.DecodeError, OSError):
                continue
    return None


def _moved(before: Mapping[str, float | None], now: Mapping[str, float | None]) -> list[Move]:
    """What moved most, by its own size, first."""
    moves = []
    for name, value in now.items():
        was = before.get(name)
        if was is not None and value is not None and was != value:
            moves.append(Move(name, was, value))
    return sorted(moves, key=lambda one: -abs(one.now - one.before) / max(abs(one.before), 1e-9))
