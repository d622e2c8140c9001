"""The weekly review: gates, evaluations and KPIs of the last days, and what changed since the review before.

Everything is read from the reports of the stages, by the time at which each was measured. A report that was overwritten
counts once, with its last contents. Red lights and ambers are those that `askgate status` shows now. KPIs have no
history of their own, so every review stores them for the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from pathlib import Path
from typing import Any

import msgspec
from markupsafe import Markup
from msgspec import Struct

from askgate_env.types import Record

from ..core.check import Check, amber_label
from ..core.files import atomic_files, json_bytes
from ..core.paths import EVAL_EPISODES
from ..eval.metrics import HARD_READING
from ..loop.kpi import Kpi, alarms
from ..loop.lights import Colour, Light, ambers_of, reasons_in
from .render import environment, opened_in, render_page
from .results import Points

FOLDER = Path("reports/review")
NAME = "%Y-%m-%d"  # name of a review's files, without the ending
REPORTS = ("reports/*.json", "reports/rc1/*.json", "reports/preflight/*.json")
ERRORS = ("reports/ERROR_*.json", "reports/rc1/FAIL_*.tgz")
SHOWN = ("need_ask_success", "overclar_rate", "success", "avg_turns", f"success_{HARD_READING}")
PICTURED = SHOWN[:4]


class Event(Struct, frozen=True):
    """A stage that was measured in these days."""

    at: str
    stage: str
    report: str
    passed: bool
    checks: int
    failed: list[Check]


class Evaluation(Struct, frozen=True):
    """A trained policy against its base."""

    at: str
    report: str
    gated: bool
    passed: bool
    base: dict[str, float | None]
    trained: dict[str, float | None]


class Move(Struct, frozen=True):
    """A KPI that changed since the review before."""

    name: str
    before: float
    now: float


class ReviewAmber(Struct, frozen=True):
    """An amber as it is now, with its label in both languages."""

    name: str
    en: str
    zh: str
    signed: str  # name and reason of the sign-off; empty if there is none


class Review(Record, frozen=True):
    """`reports/review/<date>.json`."""

    since: str
    until: str
    events: list[Event]
    evaluations: list[Evaluation]
    errors: list[str]
    kpis: dict[str, float | None]
    alarms: list[str]
    compared_with: str  # date of the review before; empty where there is none
    moved: list[Move]
    red: tuple[str, ...] = ()  # titles of the lights that are red now
    ambers: tuple[ReviewAmber, ...] = ()

    @property
    def colour(self) -> Colour:
        if self.red or not all([*(one.passed for one in self.events), *(one.passed for one in self.evaluations)]):
            return "red"
        return "amber" if self.ambers else "green" if self.events else "grey"


def write_review(
    days: int, kpis: Mapping[str, Mapping[str, Kpi]], lights: Sequence[Light], is_kept: bool = True
) -> tuple[Review, list[Path]]:
    """Review the last days, and write it as Markdown, as a page and as JSON: all or none, without `is_kept` none."""
    now = datetime.now(UTC)
    found = review(now, days, kpis, lights)
    if not is_kept:
        return found, []
    contents = {".md": markdown(found), ".html": opened_in(review_page(found)), ".json": json_bytes(found)}
    made = {(FOLDER / now.strftime(NAME)).with_suffix(ending): content for ending, content in contents.items()}
    with atomic_files() as start:
        for path, content in made.items():
            start(path).write(content)
    return found, list(made)


def review(until: datetime, days: int, kpis: Mapping[str, Mapping[str, Kpi]], lights: Sequence[Light] = ()) -> Review:
    """Review the reports of the project folder that were measured in the last `days` days before `until`."""
    since = until - timedelta(days=days)
    reports = sorted(_reports(since, until), key=lambda item: item[0])
    values = {name: one.value for group in kpis.values() for name, one in group.items()}
    before, values_before = _review_before(until)
    errors = [path for pattern in ERRORS for path in Path().glob(pattern)]
    return Review(
        since=since.isoformat(timespec="seconds"),
        until=until.isoformat(timespec="seconds"),
        events=[_event(*item) for item in reports if "seeds" not in item[2]],
        evaluations=_evaluations([item for item in reports if "seeds" in item[2]]),
        errors=sorted(
            path.as_posix() for path in errors if since.timestamp() < path.stat().st_mtime <= until.timestamp()
        ),
        kpis=values,
        alarms=alarms(kpis),
        compared_with=before,
        moved=_moved(values_before, values),
        red=tuple(light.title for light in lights if light.colour == "red"),
        ambers=tuple(ReviewAmber(name, *amber_label(name), signed) for name, signed in ambers_of(lights).items()),
    )


def _reports(since: datetime, until: datetime) -> Iterable[tuple[str, str, dict[str, Any]]]:
    """Time, path and contents of every report with checks."""
    for path in sorted(path for pattern in REPORTS for path in Path().glob(pattern)):
        try:
            report = msgspec.json.decode(path.read_bytes())
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            continue
        if isinstance(report, dict) and (report.get("checks") or report.get("findings")):
            at = _measured_at(report)
            if at and since < at <= until:
                yield at.isoformat(timespec="seconds"), path.as_posix(), report


def _measured_at(report: dict[str, Any]) -> datetime | None:
    """Time at which a report was measured; None if it has none. A time without a zone is UTC."""
    stated = report.get("ts") or (report.get("evidence") or {}).get("ended")
    try:
        at = datetime.fromisoformat(str(stated))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _event(at: str, path: str, report: dict[str, Any]) -> Event:
    checks = report.get("checks") or report["findings"]
    failed = reasons_in(report)
    return Event(at, str(report.get("stage") or report.get("round")), path, not failed, len(checks), failed)


def _evaluations(reports: Sequence[tuple[str, str, dict[str, Any]]]) -> list[Evaluation]:
    """One evaluation per set of episodes: `evaluate` writes a newer report on the episodes of a run, which counts."""
    newest: dict[str, Evaluation] = {}
    for at, path, report in reports:
        inputs = (report.get("evidence") or {}).get("inputs") or {}
        episodes = sorted(str(digest) for name, digest in inputs.items() if EVAL_EPISODES in Path(name).parents)
        changes = {name: ((report.get("pooled") or {}).get("changes") or {}).get(name) or {} for name in SHOWN}
        base, trained = (
            {name: change.get(side, {}).get("value") for name, change in changes.items()}
            for side in ("base", "trained")
        )
        found = Evaluation(at, path, bool(report.get("gated")), not reasons_in(report), base, trained)
        newest[" ".join(episodes) or path] = found
    return sorted(newest.values(), key=lambda one: one.at)


def _review_before(until: datetime) -> tuple[str, dict[str, float | None]]:
    """Date and KPIs of the newest review of an earlier day; empty where there is none."""
    for path in sorted(FOLDER.glob("????-??-??.json"), reverse=True):
        if path.stem < until.strftime(NAME):
            try:
                return path.stem, msgspec.json.decode(path.read_bytes(), type=Review).kpis
            except (msgspec.DecodeError, OSError):
                continue
    return "", {}


def _moved(before: Mapping[str, float | None], now: Mapping[str, float | None]) -> list[Move]:
    """KPIs that changed, the largest relative change first."""
    moves = []
    for name, value in now.items():
        old = before.get(name)
        if old is not None and value is not None and old != value:
            moves.append(Move(name, old, value))
    return sorted(moves, key=lambda one: -abs(one.now - one.before) / max(abs(one.before), 1e-9))


def markdown(review: Review) -> bytes:
    """The review as Markdown, for a message."""
    pages = environment()
    pages.filters["cell"] = _markdown_cell
    return (pages.get_template("review.md").render(review=review, shown=SHOWN, minute=_minute).strip() + "\n").encode()


def review_page(review: Review) -> bytes:
    """The review as a page with pictures."""
    pictures = _pictures(review.evaluations)
    return render_page("review.html", review=review, shown=SHOWN, minute=_minute, pictures=pictures)


def _pictures(runs: Sequence[Evaluation]) -> dict[str, list[Points]]:
    """By figure: base and trained policy over the hours since the first run."""
    times = [datetime.fromisoformat(one.at) for one in runs]
    hours = [(time - times[0]).total_seconds() / 3600 for time in times]
    pictures = {}
    for name in PICTURED if runs else ():
        values = [one.base[name] for one in runs], [one.trained[name] for one in runs]
        base, trained = (
            [(hour, value) for hour, value in zip(hours, side, strict=True) if value is not None] for side in values
        )
        if len(base) == 1:
            # One point makes no line, and with one run there is still a base to see.
            base.append((base[0][0] + 1, base[0][1]))
        pictures[name] = [base, trained]
    return pictures


def _minute(at: str) -> str:
    """A time in UTC, without seconds.

    >>> _minute("2026-11-15T20:50:59+01:00")
    '2026-11-15 19:50'
    """
    return datetime.fromisoformat(at).astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def _markdown_cell(cell: object) -> Markup:
    """A cell of a Markdown table: no HTML, no new column, no new line."""
    plain = cell.unescape() if isinstance(cell, Markup) else str(cell)
    text = escape(plain, quote=False).replace("|", "\\|").replace("`", "'")
    return Markup(re.sub(r"\s+", " ", text))
