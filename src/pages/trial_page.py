"""`reports/ppo_eval_<tag>.html`: base, control and trained policy on one page that needs no network.

Verdict and gates first, then pictures, then every figure with its interval. Every text in it is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ..core.check import Check
from ..core.types import LEVELS, TASKS
from ..eval.compare import Change
from ..eval.metrics import HARD_READING, MEASURES, Figure
from ..eval.trial import Changes, Compared, TrialReport
from .curves import Points, curve
from .intervals import Dot, Group, intervals
from .markup import RULES, delta, level, page, title
from .results import FIGURES
from .style import STYLE

MORE_STYLE = """
:root{--control:#8a8f98;--base:#3b76c4;--trained:#c2600a}
@media (prefers-color-scheme:dark){:root{--control:#a3aab4;--base:#7fb0ea;--trained:#f2a65a}}
.reach{stroke-width:2.5;opacity:.55;stroke-linecap:round}
.reach.base{stroke:var(--base)}.reach.control{stroke:var(--control)}.reach.trained{stroke:var(--trained)}
.dot{stroke:var(--card);stroke-width:1.5}
.dot.base{fill:var(--base)}.dot.control{fill:var(--control)}.dot.trained{fill:var(--trained)}
.legend i.base{background:var(--base)}.legend i.control{background:var(--control)}
.legend i.trained{background:var(--trained)}
td.ok{color:var(--pass);font-weight:600}td.no{background:var(--fail-bg);color:var(--fail);font-weight:600}
header .verdict{white-space:nowrap}
.facts{color:var(--soft);margin:10px 0 0}
h3{margin-top:18px}article h3{margin-top:0}
details summary{cursor:pointer;margin:12px 0;color:var(--soft)}
@media (max-width:560px){main{padding:18px 12px 36px}h1{font-size:23px}th,td{padding:7px 9px}}
"""
CHECKS = {
    "need_ask_success_pp": ("Need-ask success, points gained", "需问类成功率提升（百分点）"),
    "overclar_relative": ("Over-clarification, relative change", "过度澄清率相对变化"),
    "overclar_rate": ("Over-clarification, trained", "训练后过度澄清率"),
    "avg_turns_change": ("Mean turns, change", "平均轮次变化"),
    "success_hard_pp": ("Success, hard (HotpotQA + StrategyQA), points gained", "Hard 桶成功率提升（百分点）"),
}
SCOPES: dict[str, tuple[str, str]] = {
    "": ("all", "全部"),
    **{task: (task, "") for task in TASKS},
    "easy": ("easy", "简单"),
    "medium": ("medium", "中等"),
    "hard": ("hard", "困难"),
    HARD_READING: ("hard, HotpotQA + StrategyQA", "困难（合并口径）"),
}
CURVED = ("need_ask_success", "overclar_rate", "success", "avg_turns")
Lines = Sequence[Mapping[str, Any]]


def trial_page(report: TrialReport, held_out: Lines) -> bytes:
    """`held_out`: the lines of `logs/eval.jsonl`, a point of the curves each."""
    pooled = report.pooled
    return page(
        f"Evaluation: {report.profile}",
        STYLE + MORE_STYLE,
        _head(report),
        gates(report.checks),
        pictures(pooled),
        _curves(held_out, report),
        table(pooled, report),
        seed_by_seed(report.seeds),
        everything(pooled),
        _foot(report),
    )


def _head(report: TrialReport) -> str:
    colour, words = ("green", "✓ PASSED 通过") if report.passed else ("red", "✗ FAILED 未通过")
    seeds = ", ".join(str(one.seed) for one in report.seeds)
    gate = "behind a ticket" if report.gated else "ungated: no ticket was asked for"
    facts = (
        f"profile {report.profile}, {gate}; {report.config.get('strategy', '')} from "
        f"{report.config.get('base_model', '')}; {report.pooled.steps:,} steps, seeds {seeds}; "
        f"{report.figures['held_out']:,} held-out samples, the same for all"
    )
    return (
        f"<header>{title(1, 'Base against trained', '底模与训练后对比')}"
        f'<p class="verdict {colour}">{words}</p></header><p class="facts">{escape(facts)}</p>'
    )


def gates(checks: Sequence[Check]) -> str:
    failed = any(not one.passed for one in checks)
    rows = "".join(_gate(one, failed) for one in checks)
    remedy = "<th>what to do 怎么办</th>" if failed else ""
    head = f"<thead><tr><th>gate</th><th>must be</th><th>measured</th>{remedy}</tr></thead>"
    table = f'<div class="scroll"><table>{head}<tbody>{rows}</tbody></table></div>'
    return f"<section>{title(2, 'Gates after the trial', '试跑后闸门')}{table}</section>"


def _gate(one: Check, remedies: bool) -> str:
    english, chinese = CHECKS[one.name]
    cell, mark = ("ok", "✓") if one.passed else ("no", "✗")
    measured = "not measured 未测得" if one.value is None else _mark(one.name, one.value)
    what = "" if one.passed else f'{escape(one.remedy)}<br><span class="zh" lang="zh">{escape(one.remedy_zh)}</span>'
    last = f'<td class="wrap">{what}</td>' if remedies else ""
    return (
        f'<tr><td>{escape(english)} <span class="zh" lang="zh">{escape(chinese)}</span></td>'
        f'<td>{escape(RULES[one.rule])} {_mark(one.name, one.threshold)}</td><td class="{cell}">{mark} {measured}</td>'
        f"{last}</tr>"
    )


def _mark(name: str, value: float) -> str:
    """With digits enough that a value just past its threshold does not look like it."""
    return f"{100 * value:.4g}%" if name in ("overclar_relative", "overclar_rate") else f"{value:.4g}"


def pictures(pooled: Compared) -> str:
    if pooled.changes is None:
        return "<section><p>Nobody looked at base and trained policy. 没有评测数据。</p></section>"
    asking = ("need_ask_success", "overclar_rate", "ask_precision", "ask_recall")
    by_level = {name: [(f"{name}_{level}", level) for level in LEVELS] for name in MEASURES}
    tasks = [(f"success_{task}", task) for task in TASKS]
    hard = (f"success_{HARD_READING}", "hard, read")
    cards = [
        _card(pooled, "Asking", "提问", [(name, FIGURES[name][0]) for name in asking]),
        _card(pooled, "Success by task", "各任务成功率", [("success", "all"), *tasks]),
        _card(pooled, "Success by difficulty", "各难度成功率", [*by_level["success"], hard]),
        _card(pooled, "Over-clarification by difficulty", "各难度过度澄清率", by_level["overclar_rate"]),
        _card(pooled, "Need-ask success by difficulty", "各难度需问类成功率", by_level["need_ask_success"]),
        _card(pooled, "Mean turns by difficulty", "各难度平均轮次", [("avg_turns", "all"), *by_level["avg_turns"]]),
    ]
    control = '<span><i class="control"></i>SFT control 对照</span>' if pooled.control_changes else ""
    legend = (
        f'<p class="legend"><span><i class="base"></i>base 底模</span>{control}'
        '<span><i class="trained"></i>trained 训练后</span><span>lines: 95% intervals 置信区间</span></p>'
    )
    return f'<section>{title(2, "Pictures", "图")}{legend}<div class="cards">{"".join(cards)}</div></section>'


def _card(pooled: Compared, english: str, chinese: str, figures: Sequence[tuple[str, str]]) -> str:
    groups = [Group(label, _dots(pooled, name)) for name, label in figures]
    percent = not figures[0][0].startswith("avg_")
    return f"<article>{title(3, english, chinese)}{intervals(english, groups, percent)}</article>"


def _dots(pooled: Compared, name: str) -> list[Dot]:
    assert pooled.changes is not None
    found: list[tuple[str, Figure]] = [("base", pooled.changes[name].base)]
    if pooled.control_changes is not None:
        found.append(("control", pooled.control_changes[name].trained))
    found.append(("trained", pooled.changes[name].trained))
    return [Dot(who, figure.value, figure.low, figure.high) for who, figure in found]


def _curves(held_out: Lines, report: TrialReport) -> str:
    wanted = {one.seed for one in report.seeds}
    cards = []
    for name in CURVED:
        by_seed: dict[Any, list[tuple[float, float]]] = {}
        for line in held_out:
            if line["seed"] in wanted and isinstance(line.get(name), int | float):
                by_seed.setdefault(line["seed"], []).append((float(line["step"]), float(line[name])))
        series: list[Points] = list(by_seed.values())
        english, chinese = FIGURES[name]
        picture = curve(english, [], series, not name.startswith("avg_"))
        cards.append(f"<article>{title(3, english, chinese)}{picture}</article>")
    heading = title(2, "Held-out samples while it trained", "训练过程中的留出样本")
    return f'<section>{heading}<div class="cards">{"".join(cards)}</div></section>'


def table(pooled: Compared, report: TrialReport) -> str:
    if pooled.changes is None:
        return ""
    several = len(report.seeds) > 1
    heading = title(2, "All seeds together" if several else "Figures", "全部种子合计" if several else "指标")
    names = [name for name in FIGURES if name in pooled.changes]
    return f"<section>{heading}{_figures(pooled, names)}</section>"


def _figures(found: Compared, names: Sequence[str]) -> str:
    assert found.changes is not None
    rows = "".join(_row(name, found.changes[name], found) for name in names)
    control = "<th>SFT control</th>" if found.control_changes else ""
    over = "<th>over control</th><th>95% interval</th>" if found.over_control else ""
    head = f"<tr><th></th><th>base</th>{control}<th>trained</th><th>change</th><th>95% interval</th>{over}</tr>"
    return f'<div class="scroll"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>'


def _row(name: str, change: Change, found: Compared) -> str:
    percent = change.delta_pp is not None or not name.startswith("avg_")
    cells = [level(change.base.value, percent)]
    if found.control_changes:
        cells.append(level(found.control_changes[name].trained.value, percent))
    cells += [level(change.trained.value, percent), delta(change.delta, percent), _between(change, percent)]
    if found.over_control:
        over = found.over_control[name]
        cells += [delta(over.delta, percent), _between(over, percent)]
    return f"<tr><td>{_label(name)}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _label(name: str) -> str:
    if name in FIGURES:
        english, chinese = FIGURES[name]
        return f'{escape(english)} <span class="zh" lang="zh">{escape(chinese)}</span>'
    return f"<code>{escape(name)}</code>"


def seed_by_seed(seeds: Sequence[Compared]) -> str:
    """One table: a row a seed, the figures of the gates in columns."""
    if len(seeds) < 2:
        return ""
    names = ("need_ask_success", "overclar_rate", "avg_turns", "success", f"success_{HARD_READING}")
    head = "".join(f"<th>{escape(FIGURES[name][0])}</th>" for name in names)
    rows = []
    for one in seeds:
        cells = "".join(f"<td>{_moved(one.changes, name)}</td>" for name in names)
        rows.append(f"<tr><td>seed {one.seed}</td>{cells}</tr>")
    table = f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    heading = title(2, "Seed by seed: base → trained (change)", "逐个种子：底模 → 训练后（变化）")
    return f'<section>{heading}<div class="scroll">{table}</div></section>'


def _moved(changes: Changes | None, name: str) -> str:
    if changes is None:
        return "–"
    change, percent = changes[name], not name.startswith("avg_")
    base, trained = level(change.base.value, percent), level(change.trained.value, percent)
    return f"{base} → {trained} ({delta(change.delta, percent)})"


def everything(pooled: Compared) -> str:
    """Every figure by task and difficulty; folded, because there are many."""
    if pooled.changes is None:
        return ""
    parts = []
    for scope, (english, chinese) in SCOPES.items():
        names = [f"{measure}_{scope}".rstrip("_") for measure in MEASURES]
        measured = [name for name in names if pooled.changes[name].base.n or pooled.changes[name].trained.n]
        parts.append(f"{title(3, english, chinese)}{_figures(pooled, measured)}")
    told = "Every figure by task and difficulty 按任务与难度的全部指标"
    return f"<details><summary>{told}</summary>{''.join(parts)}</details>"


def _foot(report: TrialReport) -> str:
    prints = {**report.evidence.inputs, **({"ticket": report.ticket} if report.ticket else {})}
    rows = "".join(f"<li>{escape(name)} <code>{escape(digest)}</code></li>" for name, digest in prints.items())
    note = (
        "Gates go by point estimates; intervals are paired bootstraps over samples for changes, Wilson's for shares. "
        "闸门看点估计；变化的区间为按样本配对自助法，比例的区间为 Wilson 区间。"
    )
    heading = title(2, "Computed from", "数据指纹（SHA-256）")
    return f"<footer>{heading}<p>{note}</p><ul>{rows}</ul><p>{escape(report.ts)}</p></footer>"


def _between(change: Change, percent: bool) -> str:
    if change.low is None or change.high is None:
        return "–"
    return f"{delta(change.low, percent)} to {delta(change.high, percent)}"
