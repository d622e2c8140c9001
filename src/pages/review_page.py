"""The weekly review for people: Markdown for a message, HTML with pictures. Text from reports is escaped in both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

from ..loop.lights import Reason
from .curves import curve
from .markup import level, page, title
from .results import FIGURES as NAMES
from .review import FIGURES, Evaluation, Event, Review
from .style import STYLE

PICTURED = ("need_ask_success", "overclar_rate", "success", "avg_turns")


def markdown(found: Review) -> bytes:
    lines = [
        f"# Review {found.since[:10]} to {found.until[:10]} 每周复盘",
        "",
        _summary(found),
        "",
        "## Gates 闸门",
        "",
        *_table(
            ("when (UTC)", "stage", "verdict", "checks", "failed"),
            [
                (_when(one.at), one.stage, _word(one.passed), str(one.checks), "; ".join(map(_reason, one.failed)))
                for one in found.events
            ],
        ),
        "",
        "## Base against trained 底模与训练后",
        "",
        *_table(
            ("when (UTC)", "verdict", *(NAMES[name][0] for name in FIGURES)),
            [
                (
                    _when(one.at),
                    _word(one.passed) + ("" if one.gated else ", ungated"),
                    *(_both(one, name) for name in FIGURES),
                )
                for one in found.evaluations
            ],
        ),
        "",
        "## What moved 变化",
        "",
        _compared(found),
        "",
        *([*_moves(found), ""] if found.compared_with else []),
        "## KPIs",
        "",
        *_table(
            ("KPI", "value", "alarm 警报"),
            [(name, _number(value), "ALARM" if name in found.alarms else "") for name, value in found.kpis.items()],
        ),
        *(["", "## Errors 错误", "", *(f"- `{name}`" for name in found.errors)] if found.errors else []),
        "",
    ]
    return "\n".join(lines).encode()


def review_page(found: Review) -> bytes:
    red = any(not one.passed for one in found.events) or any(not one.passed for one in found.evaluations)
    colour = "red" if red else "green" if found.events else "grey"
    words = {"red": "a gate failed 有闸门未过", "green": "every gate passed 全部通过", "grey": "no runs 无运行"}[colour]
    return page(
        f"AskGate review {found.until[:10]}",
        STYLE,
        f"<header>{title(1, f'Review {found.since[:10]} to {found.until[:10]}', '每周复盘')}"
        f'<p class="verdict {colour}">{words}</p></header>',
        f'<div class="next"><p>{escape(_summary(found))}</p></div>',
        _section(
            "Base against trained, run by run", "各次训练", _pictures(found.evaluations), _runs(found.evaluations)
        ),
        _section("Gates", "闸门", _gates(found.events)),
        _section(
            "What moved",
            "变化",
            f"<p>{escape(_compared(found))}</p>",
            _rows(
                ("KPI", "before 此前", "now 现在", "change 变化"),
                [
                    (one.name, _number(one.before), _number(one.now), f"{one.now - one.before:+.4g}")
                    for one in found.moved
                ],
            )
            if found.compared_with
            else "",
        ),
        _section(
            "KPIs",
            "",
            _rows(
                ("KPI", "value", "alarm 警报"),
                [(name, _number(value), "ALARM" if name in found.alarms else "") for name, value in found.kpis.items()],
            ),
        ),
        _section(
            "Errors", "错误", "".join(f"<p><code>{escape(name)}</code></p>" for name in found.errors) or "<p>–</p>"
        ),
    )


def _moves(found: Review) -> list[str]:
    rows = [(one.name, _number(one.before), _number(one.now)) for one in found.moved]
    return _table(("KPI", "before 此前", "now 现在"), rows)


def _summary(found: Review) -> str:
    passed = sum(one.passed for one in found.events)
    best = found.evaluations[-1] if found.evaluations else None
    told = (
        f"Stages measured: {len(found.events)}, failed: {len(found.events) - passed}; trained policies evaluated: "
        f"{len(found.evaluations)}; errors: {len(found.errors)}; alarms: {', '.join(found.alarms) or 'none'}."
    )
    return f"{told} Last policy: need-ask success {_both(best, 'need_ask_success')}." if best else told


def _pictures(runs: Sequence[Evaluation]) -> str:
    """A dot a run, by the hours since the first of them; the line is the base."""
    if not runs:
        return "<p>No trained policy was evaluated in these days. 期间无训练评测。</p>"
    first = datetime.fromisoformat(runs[0].at)
    cards = []
    for name in PICTURED:
        hours = [(datetime.fromisoformat(one.at) - first).total_seconds() / 3600 for one in runs]
        base, trained = (
            [(x, value) for x, one in zip(hours, side, strict=True) if (value := one[name]) is not None]
            for side in ([one.base for one in runs], [one.trained for one in runs])
        )
        if len(base) == 1:
            # One point makes no line, and with one run there is still a base to see.
            base.append((base[0][0] + 1, base[0][1]))
        english, chinese = NAMES[name]
        picture = curve(english, [base], [trained], percent=not name.startswith("avg_"))
        cards.append(f"<article>{title(3, english, chinese)}{picture}</article>")
    legend = (
        '<p class="legend"><span><i></i>base 底模</span><span><i class="held"></i>trained 训练后</span>'
        "<span>hours since the first run 距首次训练的小时数</span></p>"
    )
    return f'{legend}<div class="cards">{"".join(cards)}</div><br>'


def _runs(runs: Sequence[Evaluation]) -> str:
    rows = [
        (
            _when(one.at),
            one.report,
            _word(one.passed) + ("" if one.gated else ", ungated"),
            *(_both(one, name) for name in FIGURES),
        )
        for one in runs
    ]
    return _rows(("when (UTC)", "report", "verdict", *(NAMES[name][0] for name in FIGURES)), rows) if rows else ""


def _gates(events: Sequence[Event]) -> str:
    rows = [
        (_when(one.at), one.stage, one.report, _word(one.passed), str(one.checks), "; ".join(map(_reason, one.failed)))
        for one in events
    ]
    return _rows(("when (UTC)", "stage", "report", "verdict", "checks", "failed"), rows)


def _when(at: str) -> str:
    """
    >>> _when("2026-11-15T20:50:59+01:00")
    '2026-11-15 19:50'
    """
    return datetime.fromisoformat(at).astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def _reason(one: Reason) -> str:
    value = "–" if one.value is None else f"{one.value:.6g}"
    return f"{one.name} is {value}, must be {one.rule} {one.threshold:.6g}"


def _compared(found: Review) -> str:
    if not found.compared_with:
        return "This is the first review: there is nothing to compare with. 首次复盘，尚无对比。"
    return f"Against the review of {found.compared_with}, what moved most first. 与 {found.compared_with} 的复盘相比。"


def _both(one: Evaluation, name: str) -> str:
    percent = not name.startswith("avg_")
    return f"{level(one.base[name], percent)} → {level(one.trained[name], percent)}"


def _word(passed: bool) -> str:
    return "passed 通过" if passed else "FAILED 未通过"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return ["Nothing in these days. 无。"]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return [*lines, *(f"| {' | '.join(map(_plain, row))} |" for row in rows)]


def _plain(cell: str) -> str:
    """A cell of a Markdown table: no HTML, no new column, no new line."""
    return re.sub(r"\s+", " ", escape(cell, quote=False)).replace("|", "\\|").replace("`", "'")


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return "<p>Nothing in these days. 无。</p>"
    columns = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    table = f'<table class="words"><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div class="scroll">{table}</div>'


def _section(english: str, chinese: str, *parts: str) -> str:
    return f"<section>{title(2, english, chinese)}{''.join(parts)}</section>"
