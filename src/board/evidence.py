"""Behind a light: every check with its value and threshold, the files that it was measured on, and whether they are
still the same. Behind a stage: its command, what it read and wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

from ..loop.lights import WORDS, Reason
from ..pages.markup import RULES
from .frame import address, both, figure, lamp, table, title
from .owner import KINDS, Kind, OwnerLight, evidence_of
from .run_folders import Board
from .where import is_inside

WAIT = 30.0
"""Seconds to give to a measurement that nobody has made yet: this page has nothing else to show."""
SAME = f'<b class="ok">✓</b> {both("as measured", "未变")}'
CHANGED = f'<b class="no">✗</b> {both("changed since", "已变")}'


def light_page(board: Board, number: str, name: str) -> str | None:
    rounds = board.rounds.get(WAIT)
    every = [light for one in rounds or () for light in one.lights]
    light = next((one for one in every if str(one.round) == number and one.kind.name == name), None)
    if light is None:
        return None
    kind = light.kind
    beside = "".join(_beside(one, light) for one in KINDS)
    heading = f"{kind.title}, round {light.round}", f"{kind.title_zh}，第{'一二'[light.round - 1]}轮"
    parts = [
        f'<p class="crumbs"><a href="/">{both("Lights", "看灯")}</a></p>',
        f'<header>{title(1, *heading)}<p class="verdict {light.colour}">{both(*WORDS[light.colour])}</p></header>',
        f'<p class="tabs">{beside}</p>',
        f'<div class="next"><p>{escape(light.why)}</p><p class="zh" lang="zh">{escape(light.why_zh)}</p></div>',
        _findings(light),
        _files(board, light),
    ]
    return "".join(parts)


def _beside(kind: Kind, light: OwnerLight) -> str:
    mark = ' aria-current="page"' if kind == light.kind else ""
    link = address("/light", round=str(light.round), of=kind.name)
    return f'<a href="{link}"{mark}>{both(kind.title, kind.title_zh)}</a>'


def _findings(light: OwnerLight) -> str:
    if not light.findings:
        return ""
    ordered = sorted(light.findings, key=lambda one: one.holds)
    rows = [
        [
            f"<code>{escape(one.gate)}: {escape(one.name)}</code>{_remedy(one.holds, one.remedy, one.remedy_zh)}",
            figure(one.value),
            f"{escape(RULES[one.rule])} {figure(one.threshold)}",
            '<b class="ok">✓</b>' if one.holds else '<b class="no">✗</b>',
        ]
        for one in ordered
    ]
    head = (both("check", "检查"), both("measured", "实测"), both("must be", "门槛"), "")
    return f"<section>{title(2, 'Checks', '检查项')}{table(head, rows, 'checks')}</section>"


def _remedy(holds: bool, remedy: str, remedy_zh: str) -> str:
    if holds:
        return ""
    return f'<p>{escape(remedy)}</p><p class="zh" lang="zh">{escape(remedy_zh)}</p>'


def _files(board: Board, light: OwnerLight) -> str:
    """The report itself, then what it was measured on."""
    root = board.run("").root
    rows = [[_linked(root, light.report), both("the round's report", "本轮报告"), ""]] if light.report else []
    for name, stated in sorted(evidence_of(light.findings).items()):
        same = name not in light.changed
        rows.append([_linked(root, name), f"<code>{escape(stated)}</code>", SAME if same else CHANGED])
    return (
        f"<section>{title(2, 'Evidence', '证据')}{table(('', 'SHA-256', ''), rows, 'files')}</section>" if rows else ""
    )


def _linked(root: Path, name: str) -> str:
    shown = escape(name)
    return f'<a href="{address("/file", path=name)}">{shown}</a>' if is_inside(root, name) else shown


def stage_page(board: Board, name: str) -> str | None:
    loop = board.loop.get(WAIT)
    light = next((one for one in loop.lights if one.stage == name), None) if loop else None
    if loop is None or light is None:
        return None
    stage = next(one for one in loop.stages if one.name == name)
    entry = loop.state.entries.get(name)
    root = board.run("").root
    parts = [
        f'<p class="crumbs"><a href="/">{both("Lights", "看灯")}</a></p>',
        f"<header>{title(1, light.title, light.title_zh)}{lamp(light.colour)}</header>",
        f'<div class="next"><p>{escape(light.why or "as it was recorded 与记录一致")}</p></div>',
        f"<section>{title(2, 'Command', '命令')}<pre>{escape(loop.commands[name])}</pre></section>",
        _reasons(light.reasons),
        _recorded(root, "Read", "输入", entry.inputs if entry else dict.fromkeys(map(str, stage.inputs))),
        _recorded(root, "Wrote", "输出", entry.outputs if entry else dict.fromkeys(map(str, stage.outputs))),
    ]
    if entry:
        parts.append(f'<p class="soft">{escape(entry.started)} – {escape(entry.ended)}</p>')
    return "".join(parts)


def _reasons(reasons: Iterable[Reason]) -> str:
    items = "".join(
        f"<li><p><code>{escape(one.name)}</code> is {figure(one.value)}, must be {escape(one.rule)} "
        f"{figure(one.threshold)}</p>{_remedy(False, one.remedy, one.remedy_zh)}</li>"
        for one in reasons
    )
    return f'<section>{title(2, "Why red", "红灯原因")}<ul class="reasons">{items}</ul></section>' if items else ""


def _recorded(root: Path, english: str, chinese: str, files: Mapping[str, str | None]) -> str:
    if not files:
        return ""
    rows = [[_linked(root, name), f"<code>{escape(digest or '–')}</code>"] for name, digest in files.items()]
    return f"<section>{title(2, english, chinese)}{table(('', 'SHA-256'), rows, 'files')}</section>"
