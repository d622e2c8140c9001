"""The episode browser: filters, search in the messages, a list; and one episode to read, whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path

from ..core.types import LEVELS, TASKS
from .dialogue import dialogue, facts
from .frame import address, both, figure, marked, options, title
from .indexer import Progress, understood
from .query import ORDERS, PAGE, Filter, counted, listed
from .run_folders import Board, Run
from .sets import KINDS, Kind
from .store import reading
from .where import Outside, open_inside

ANY = ("", "any 不限")
YES_NO = (ANY, ("yes", "yes 是"), ("no", "no 否"))
UNSTABLE = "0.08"
"""Seed plan, week 1: past this variance a judge disagrees with itself."""


def episodes_page(board: Board, run: Run, wanted: Filter) -> str:
    with reading(run.indexer.path) as store:
        sets = set_choices(store)
        found = list_part(run, wanted, store)
    return (
        f"<header>{title(1, 'Episodes', '对话')}</header>{_form(board, run, wanted, sets)}"
        f'<div id="list" data-part="/part/episodes">{found}</div>'
    )


def _form(board: Board, run: Run, wanted: Filter, sets: Sequence[tuple[str, str]]) -> str:
    name = run.name if run.name != board.names[0] else ""
    choices = [
        ("set", "from", "来源", [("", "all 全部"), *sets]),
        ("task", "task", "任务", [ANY, *((one, one) for one in TASKS)]),
        ("level", "difficulty", "难度", [ANY, *zip(LEVELS, ("easy 简单", "medium 中等", "hard 困难"), strict=True)]),
        ("needs", "must ask", "需要提问", YES_NO),
        ("asked", "asked", "提过问", YES_NO),
        ("success", "success", "成功", YES_NO),
        ("lang", "language", "语言", [ANY, ("en", "English"), ("zh", "中文")]),
        ("order", "order", "排序", [(value, f"{one} {zh}") for value, (one, zh, _) in ORDERS.items()]),
    ]
    given = asdict(wanted)
    fields = "".join(
        f"<label><span>{both(english, chinese)}</span>"
        f'<select name="{field}">{options(values, given[field])}</select></label>'
        for field, english, chinese, values in choices
    )
    return (
        f'<form id="filters" method="get" action="/episodes">{_hidden("run", name)}{_hidden("sample", wanted.sample)}'
        f'<label class="wide"><span>{both("search in the messages", "搜索消息")}</span>'
        f'<input type="search" name="q" value="{escape(wanted.q, quote=True)}" autocomplete="off" '
        f'placeholder="words, “as it is”, 中文"></label>{fields}'
        f"<label><span>{both('variance at least', '方差不低于')}</span>"
        f'<input type="number" name="variance" min="0" step="0.01" '
        f'value="{escape(wanted.variance, quote=True)}" placeholder="{UNSTABLE}"></label>'
        f'<label><span>{both("step", "步")}</span><input type="number" name="step" min="0" '
        f'value="{escape(wanted.step, quote=True)}"></label>'
        f'<p class="buttons"><button>{both("Filter", "筛选")}</button> '
        f'<a href="{address("/episodes", run=name)}">{both("clear", "清除")}</a></p></form>'
    )


def _hidden(name: str, value: str) -> str:
    return f'<input type="hidden" name="{name}" value="{escape(value, quote=True)}">' if value else ""


def set_choices(store: sqlite3.Connection) -> list[tuple[str, str]]:
    rows = store.execute(
        "SELECT set_path, min(kind) AS kind, min(seed) AS seed, min(step) AS low, max(step) AS high, "
        "sum(episodes) AS n FROM files GROUP BY set_path ORDER BY min(id)"
    )
    return [(row["set_path"], set_label(row)) for row in rows]


def set_label(row: sqlite3.Row) -> str:
    kind: Kind = row["kind"]
    path: str = row["set_path"]
    parts = [f"{kind} {KINDS[kind]}"]
    if row["seed"] is not None:
        parts.append(f"seed {row['seed']}")
    if kind == "training":
        parts.append(f"steps {row['low']}–{row['high']}")
    elif row["low"] is not None:
        parts.append("step 0, base 底模" if row["low"] == 0 else f"step {row['low']}")
    else:
        parts.append(Path(path).stem if kind != "ablation" else "/".join(Path(path).parts[2:]).removesuffix(".jsonl"))
    if path.startswith("logs/before_"):
        parts.append(path.split("/")[1])
    return f"{', '.join(parts)} ({row['n']:,})"


def list_part(run: Run, wanted: Filter, store: sqlite3.Connection) -> str:
    rows, total = listed(store, wanted), counted(store, wanted)
    items = "".join(_item(run, wanted, row) for row in rows)
    n = int(total["n"])
    said = (
        f"<b>{n:,}</b> episodes; success {figure(total['success'] / n, percent=True)}, asked "
        f"{figure(total['asked'] / n, percent=True)}, mean reward {figure(total['reward'])} "
        f'<span class="zh" lang="zh">共 {n:,} 条</span>'
        if n
        else both("Nothing fits.", "没有符合条件的对话。")
    )
    return (
        f'<p class="soft" id="count" data-n="{n}">{said}{_progress(run.indexer.progress(), run.index.error)}</p>'
        f'<ol class="episodes" start="{wanted.start + 1}">{items}</ol>{_pages(run, wanted, n)}'
    )


def _progress(found: Progress, error: str) -> str:
    said = [error] if error else []
    if found.indexed < found.files:
        said.append(f"reading: {found.indexed:,} of {found.files:,} files 正在读取")
    if found.searchable < found.indexed:
        said.append(f"search covers {found.searchable:,} of {found.indexed:,} files so far 正在建立搜索索引")
    if found.unreadable:
        said.append(f"{found.unreadable:,} lines cannot be read as episodes 行无法读取")
    return f' <span class="busy">{escape("; ".join(said))}</span>' if said else ""


def _item(run: Run, wanted: Filter, row: sqlite3.Row) -> str:
    found = understood(raw_line(run.root, row["path"], row["start"], row["size"]))
    first = found[1].turns[0].text if found and found[1].turns else ""
    link = address("/episode", run=run.name, file=row["path"], line=str(row["line"] + 1), q=wanted.q)
    return (
        f'<li><a href="{link}"><span class="marks">{facts(row)}</span>'
        f'<span class="said">{marked(first, wanted.q)}</span></a></li>'
    )


def _pages(run: Run, wanted: Filter, n: int) -> str:
    last = max(1, -(-n // PAGE))
    here = min(wanted.number, last)
    links = []
    for number, words in ((here - 1, "← previous 上一页"), (here + 1, "next 下一页 →")):
        if 1 <= number <= last:
            query = wanted.address(run.name, page=str(number))
            links.append(f'<a href="/episodes?{escape(query, quote=True)}">{words}</a>')
    return f'<p class="pages">{" ".join([*links, f"<span>{here:,} / {last:,}</span>"])}</p>' if last > 1 else ""


def raw_line(root: Path, path: str, start: int, size: int) -> bytes:
    """The line as it is now. Where the file was replaced meanwhile it is another's, or nothing that can be read."""
    try:
        with open_inside(root, path) as handle:
            handle.seek(start)
            return handle.read(size)
    except Outside:
        return b""


def episode_page(run: Run, file: str, line: str, typed: str) -> str | None:
    """By file and line, which are the same on every machine that has the run."""
    number = int(line) - 1 if line.isascii() and line.isdigit() and len(line) < 10 else -1
    with reading(run.indexer.path) as store:
        row = store.execute(
            "SELECT e.*, f.path, f.episodes FROM episodes e JOIN files f ON f.id = e.file "
            "WHERE f.path = ? AND e.line = ?",
            (file, number),
        ).fetchone()
        same = _same_sample(store, run, row) if row else ""
    found = understood(raw_line(run.root, file, row["start"], row["size"])) if row else None
    if found is None:
        return None
    around = " ".join(
        f'<a href="{address("/episode", run=run.name, file=file, line=str(other + 1))}">{words}</a>'
        for other, words in ((number - 1, "← previous 上一条"), (number + 1, "next 下一条 →"))
        if 0 <= other < row["episodes"]
    )
    return (
        f'<p class="crumbs"><a href="{address("/episodes", run=run.name, set=row["set_path"])}">'
        f"{both('Episodes', '对话')}</a> {around}</p>"
        f"<header>{title(1, row['sample'], '')}</header>"
        f'<p class="soft"><a href="{address("/file", run=run.name, path=file, start=str(row["start"]))}">'
        f"{escape(file)}, line {number + 1}</a></p>"
        f"{dialogue(found[1], row, typed)}{same}"
    )


def _same_sample(store: sqlite3.Connection, run: Run, row: sqlite3.Row) -> str:
    """What else was made of the same sample."""
    others = store.execute(
        "SELECT e.*, f.path FROM episodes e JOIN files f ON f.id = e.file WHERE e.sample = ? AND e.id <> ? LIMIT 40",
        (row["sample"], row["id"]),
    ).fetchall()
    if not others:
        return ""
    items = "".join(
        f'<li><a href="{address("/episode", run=run.name, file=one["path"], line=str(one["line"] + 1))}">'
        f'<span class="marks">{facts(one)}</span><span class="said">{escape(one["path"])}</span></a></li>'
        for one in others
    )
    every = address("/episodes", run=run.name, sample=row["sample"])
    return (
        f"<section>{title(2, 'The same sample elsewhere', '同一样本的其他对话')}"
        f'<ol class="episodes">{items}</ol><p><a href="{every}">{both("all of them", "全部")}</a></p></section>'
    )
