"""The difficulty report as a page: one file, no network, light and dark, wide and narrow."""

from __future__ import annotations

from html import escape
from typing import Any

from ..core.check import Check
from ..core.types import LEVELS, TASKS
from ..data.difficulty import metrics as bounds
from .difficulty_style import STYLE
from .difficulty_svg import histograms, number, share_bar

METRIC_LABELS = {
    "score": ("Difficulty score", "难度得分"),
    "len_tokens": ("Length in tokens", "长度（词元）"),
    "turns": ("Assistant turns", "对话轮次"),
    "tool_hops": ("Tool calls", "工具调用次数"),
    "ops_numeric": ("Arithmetic operations", "算术操作数"),
    "entities": ("Entities", "实体数"),
    "connector_density": ("Connectors in 100 words", "每百词连接词"),
    "clue_overlap": ("Clue overlap", "线索重叠率"),
    "coref_pronouns": ("Pronouns", "指代词数"),
}
CHECK_LABELS = {
    "hard_share": ("Hard share", "困难占比"),
    "easy_share": ("Easy share", "简单占比"),
    "clue_overlap_hard_max": ("Clue overlap of hard, median, at most", "困难桶线索重叠中位数上限"),
    "clue_overlap_hard_min": ("Clue overlap of hard, median, at least", "困难桶线索重叠中位数下限"),
    "clue_overlap_easy_min": ("Clue overlap of easy, median, at least", "简单桶线索重叠中位数下限"),
    "clue_overlap_easy_max": ("Clue overlap of easy, median, at most", "简单桶线索重叠中位数上限"),
    "len_tokens_past_limit": ("Samples longer than {len_max:,} tokens", "长度越界样本数"),
    "turns_past_limit": ("Samples of more than {turns_max} turns", "轮次越界样本数"),
    "tool_hops_past_limit": ("Samples of more than {tool_hops_max} tool calls", "工具调用越界样本数"),
    "mix": ("Points by which a task's share is off the mix", "任务占比与配比之差（百分点）"),
    "copied_unchanged": ("Samples that differ from the measured pool's", "与原样本池不一致的样本数"),
    "copies": ("Samples taken twice", "重复样本数"),
    "metrics_match": ("Records that differ from their sample", "与样本不符的指标条数"),
    "metrics_edited": ("Metrics file changed since it was written", "指标文件被改动"),
}
# Where medium begins and where hard begins: the dashed lines.
BUCKET_BOUNDS: dict[str, tuple[float, float]] = {
    "len_tokens": (bounds.LEN_TOKENS[0] + 1, bounds.LEN_TOKENS[1] + 1),
    "turns": (bounds.TURNS[0] + 1, bounds.TURNS[1] + 1),
    "tool_hops": (bounds.TOOL_HOPS[0] + 1, bounds.TOOL_HOPS[1] + 1),
    "ops_numeric": (bounds.OPS_NUMERIC[0] + 1, bounds.OPS_NUMERIC[1] + 1),
    "entities": (bounds.ENTITIES[0] + 1, bounds.ENTITIES[1] + 1),
    "connector_density": bounds.CONNECTOR_DENSITY_MEDIUM,
    "clue_overlap": bounds.CLUE_OVERLAP_MEDIUM,
    "score": (bounds.EASY_MAX_SCORE + 1, bounds.HARD_MIN_SCORE),
}
RULES = {">=": "≥", "<=": "≤", "==": "=", ">": ">", "<": "<"}


def difficulty_page(checks: list[Check], figures: dict[str, Any], inputs: dict[str, str]) -> bytes:
    failed = [one for one in checks if not one.passed]
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Difficulty report</title><style>{STYLE}</style></head><body><main>",
        _head(failed, len(checks), figures),
        _checks(checks, figures["limits"]),
        _remedies(failed),
        _buckets(figures),
        _metrics(figures),
        _flags(figures),
        _foot(inputs),
        "</main></body></html>\n",
    ]
    return "".join(parts).encode()


def _title(level: int, english: str, chinese: str) -> str:
    return f'<h{level}>{escape(english)} <span class="zh" lang="zh">{escape(chinese)}</span></h{level}>'


def _head(failed: list[Check], total: int, figures: dict[str, Any]) -> str:
    verdict, mark = ("pass", "✓ PASSED 通过") if not failed else ("fail", "✗ FAILED 未通过")
    balanced = figures["balanced"]
    tiles = [
        ("Samples in the pool", "种子池样本", number(figures["pool"]["n"])),
        ("Samples balanced", "平衡后样本", number(balanced["n"])),
        ("Hard, balanced", "困难占比", _percent(balanced["shares"]["all"]["hard"])),
        ("Easy, balanced", "简单占比", _percent(balanced["shares"]["all"]["easy"])),
        ("Checks passed", "通过的检查", f"{total - len(failed)} / {total}"),
    ]
    cells = "".join(
        f'<div class="tile"><b>{escape(value)}</b><span>{escape(english)}<br><span lang="zh">{escape(chinese)}</span>'
        "</span></div>"
        for english, chinese, value in tiles
    )
    return (
        f"<header>{_title(1, 'Difficulty report', '难度体检')}"
        f'<p class="verdict {verdict}">{mark}</p></header><section class="tiles">{cells}</section>'
    )


def _percent(share: float) -> str:
    return "–" if share != share else f"{share:.1%}"


def _checks(checks: list[Check], limits: dict[str, float]) -> str:
    """A row a check, a column a scope: one look shows where it fails."""
    by_name: dict[str, dict[str, Check]] = {}
    for one in checks:
        name, _, scope = one.name.partition("[")
        by_name.setdefault(name, {})[scope.rstrip("]")] = one
    scopes = ["", *(task for task in TASKS if any(task in row for row in by_name.values()))]
    head = "".join(f"<th>{escape(scope or 'overall')}</th>" for scope in scopes)
    rows = []
    for name, row in by_name.items():
        english, chinese = CHECK_LABELS[name]
        some = next(iter(row.values()))
        rows.append(
            f'<tr><th scope="row">{escape(english.format(**limits))}<span class="zh" lang="zh">{escape(chinese)}</span>'
            f'</th><td class="limit">{escape(RULES[some.rule])} {_value(name, some.threshold)}</td>'
            f"{''.join(_cell(name, row.get(scope)) for scope in scopes)}</tr>"
        )
    return (
        f'<section>{_title(2, "Checks", "检查项")}<div class="scroll"><table class="checks"><thead><tr>'
        f"<th>check</th><th>limit</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></section>"
    )


def _cell(name: str, one: Check | None) -> str:
    if one is None:
        return '<td class="empty"></td>'
    verdict, mark = ("pass", "✓") if one.passed else ("fail", "✗")
    return f'<td class="{verdict}"><span>{mark}</span> {_value(name, one.value)}</td>'


def _value(name: str, value: float | None) -> str:
    """Enough digits to tell a value just past its threshold from the threshold."""
    if value is None:
        return "–"
    if name.endswith("_share"):
        return f"{value:.2%}"
    return f"{value:.3f}" if name.startswith("clue_overlap") or name == "mix" else f"{value:,.0f}"


def _remedies(failed: list[Check]) -> str:
    if not failed:
        return ""
    by_remedy: dict[tuple[str, str], list[str]] = {}
    for one in failed:
        by_remedy.setdefault((one.remedy, one.remedy_zh), []).append(one.name)
    items = "".join(
        f"<li><p>{' '.join(f'<code>{escape(name)}</code>' for name in names)}</p><p>{escape(english)}</p>"
        f'<p class="zh" lang="zh">{escape(chinese)}</p></li>'
        for (english, chinese), names in by_remedy.items()
    )
    return f'<section class="remedies">{_title(2, "What to do", "如何处理")}<ul>{items}</ul></section>'


def _buckets(figures: dict[str, Any]) -> str:
    rows = []
    tasks = [task for task in TASKS if task in figures["pool"]["counts"] or task in figures["balanced"]["counts"]]
    for task in tasks:
        for which, chinese in (("pool", "种子池"), ("balanced", "平衡后")):
            counts = figures[which]["counts"].get(task, dict.fromkeys(LEVELS, 0))
            name = f'<th scope="rowgroup" rowspan="2">{escape(task)}</th>' if which == "pool" else ""
            numbers = "".join(f"<td>{counts[level]:,}</td>" for level in LEVELS)
            rows.append(
                f'<tr class="{which}">{name}<td class="which">{which} <span class="zh" lang="zh">{chinese}</span></td>'
                f'{numbers}<td>{sum(counts.values()):,}</td><td class="wide">{share_bar(counts)}</td></tr>'
            )
    head = "".join(f'<th><i class="key {level}"></i>{level}</th>' for level in LEVELS)
    return (
        f'<section>{_title(2, "Buckets by task", "各任务的难度分桶")}<div class="scroll"><table class="buckets">'
        f"<thead><tr><th>task</th><th></th>{head}<th>all</th><th></th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div></section>"
    )


def _metrics(figures: dict[str, Any]) -> str:
    cards = []
    for metric, (english, chinese) in METRIC_LABELS.items():
        balanced, pool = figures["balanced"]["histograms"][metric], figures["pool"]["histograms"][metric]
        picture = histograms(
            english, balanced["edges"], balanced["counts"], pool["counts"], BUCKET_BOUNDS.get(metric, ())
        )
        cards.append(
            f"<article>{_title(3, english, chinese)}{picture}{_quantiles(figures['balanced'], metric)}</article>"
        )
    legend = (
        '<p class="legend"><span><i class="key medium"></i>bars: balanced pool 平衡后</span>'
        '<span><i class="line"></i>line: seed pool 种子池</span>'
        '<span><i class="dash"></i>dashes: where medium and hard begin 分桶界限</span></p>'
    )
    title = _title(2, "Metrics by bucket", "各桶的指标分布")
    return f'<section>{title}{legend}<div class="cards">{"".join(cards)}</div></section>'


def _quantiles(figures: dict[str, Any], metric: str) -> str:
    rows = "".join(
        f'<tr><th scope="row">{level}</th>'
        + "".join(f"<td>{number(value)}</td>" for value in found[metric].values())
        + "</tr>"
        for level in LEVELS
        if (found := figures["quantiles"].get(level))
    )
    head = "<thead><tr><th></th><th>p10</th><th>p50</th><th>p90</th></tr></thead>"
    return f'<table class="quantiles">{head}<tbody>{rows}</tbody></table>'


def _flags(figures: dict[str, Any]) -> str:
    names = sorted(set(figures["pool"]["ambiguity_flags"]) | set(figures["balanced"]["ambiguity_flags"]))
    if not names:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f"<td>{figures[which]['ambiguity_flags'].get(name, 0):,}</td>" for which in ("pool", "balanced"))
        + "</tr>"
        for name in names
    )
    return (
        f'<section>{_title(2, "Ambiguity flags", "歧义标记")}<div class="scroll"><table>'
        "<thead><tr><th>flag</th><th>pool</th><th>balanced</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></div></section>"
    )


def _foot(inputs: dict[str, str]) -> str:
    rows = "".join(f"<li>{escape(name)} <code>{escape(digest)}</code></li>" for name, digest in inputs.items())
    return f"<footer>{_title(2, 'Computed from', '数据指纹（SHA-256）')}<ul>{rows}</ul></footer>"
