"""Sections of the RC1 page on data and reward, each from the report of its stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.types import LEVELS, TASKS
from ..difficulty import BUCKET_BOUNDS, METRIC_LABELS
from ..difficulty_svg import histograms, share_bar
from ..markup import RULES, between, card, cards, mark, missing, number, section, table, text
from .contents import ShadowPoint
from .svg import Bar, Weight, bars, scatter, weights

Found = Mapping[str, Any]
AGREEMENT = {
    "spearman": ("Spearman", "秩相关"),
    "kendall_tau": ("Kendall tau", "Kendall τ"),
    "top10_overlap": ("Top 10% overlap", "前 10% 重叠"),
    "top20_overlap": ("Top 20% overlap", "前 20% 重叠"),
    "corr_to_success_old": ("Old score with success", "旧评分与成功相关"),
    "corr_to_success_new": ("New score with success", "新评分与成功相关"),
    "corr_improve_pct": ("Gain in percent", "相关提升（%）"),
}
ABLATION = {
    "overclar_change_pct": ("Over-clarification, change in percent", "过度澄清率变化（%）"),
    "turns_change": ("Mean turns, change", "平均轮次变化"),
    "success_drop_points": ("Success, points lost", "成功率下降（百分点）"),
}
PICTURED = ("score", "clue_overlap", "len_tokens", "tool_hops")
MOST_ROLES = 14


def calibration(found: Found | None) -> str:
    names = ("weights", "Reward weights", "奖励权重")
    if found is None:
        return section(*names, missing("The weights have not been calibrated yet.", "尚未校准权重。"))
    figures = found["figures"]
    ordered = sorted(figures["weights"].items(), key=lambda item: -item[1]["value"])
    rows = [Weight(name, one["value"], one["low"], one["high"], one["old"]) for name, one in ordered]
    legend = (
        '<p class="legend"><span><i class="key full"></i>calibrated, with 95% interval 校准后</span>'
        '<span><i class="key ringed"></i>old 旧权重</span></p>'
    )
    measured = [
        ("Rank correlation with success", "与成功的秩相关", figures["rank_corr"]),
        ("Mean error against success", "与成功的平均误差", figures["mae"]),
    ]
    rows_held = [
        [
            f'{text(english)} <span class="zh" lang="zh">{text(chinese)}</span>',
            number(one["old"]),
            number(one["new"]),
            f"{number(one['change_low'])} to {number(one['change_high'])}",
        ]
        for english, chinese, one in measured
    ]
    told = (
        f"{figures['episodes']:,} episodes of the base policy, {figures['live_episodes']:,} judged live; "
        f"{100 * figures['success_rate']:.1f}% succeed. On folds that the weights never saw:"
    )
    side = (
        f'<p class="note">{text(told)}</p>'
        + table(("", "old 旧", "new 新", "change, 95% interval"), rows_held)
        + _checks(found["checks"])
    )
    return section(
        *names,
        cards(
            card("Weight of each dimension", "各维度权重", legend, weights(rows)),
            card("Held-out folds", "留出折", side),
        ),
    )


def shadow(found: Found | None, points: Sequence[ShadowPoint]) -> str:
    names = ("shadow", "Shadow run: old score against new", "影子运行：新旧评分对比")
    if found is None:
        return section(*names, missing("There has been no shadow run yet.", "尚无影子运行。"))
    figures = found["figures"]
    rows = [
        [f'{text(english)} <span class="zh" lang="zh">{text(chinese)}</span>', number(figures[name]),
         between(figures, name)]
        for name, (english, chinese) in AGREEMENT.items()
    ]  # fmt: skip
    parts = {**figures["task"], **figures["difficulty"], "judged live 实评": figures["judged"]}
    split = [
        [text(name), f"{one['episodes']:,}", *(number(one[key]) for key in list(AGREEMENT)[:3:2]),
         number(one["corr_to_success_old"]), number(one["corr_to_success_new"])]
        for name, one in parts.items()
    ]  # fmt: skip
    legend = (
        '<p class="legend"><span><i class="key won"></i>success 成功</span><span>× failure 失败</span>'
        "<span>strong: judged live 深色为实评</span></p>"
    )
    told = f"{figures['episodes']:,} episodes on the shadow set, {figures['live_episodes']:,} judged live."
    return section(
        *names,
        cards(
            card("Every episode under both scores", "每条对话的两种评分", legend, scatter(points)),
            card(
                "Agreement",
                "一致性",
                f'<p class="note">{text(told)}</p>',
                table(("", "value", "95% interval"), rows),
                _checks(found["checks"]),
            ),
        ),
        "<h3>By task and difficulty <span class='zh' lang='zh'>按任务与难度</span></h3>",
        table(("", "episodes", "Spearman", "top 10%", "old with success", "new with success"), split),
    )


def ablation(found: Found | None) -> str:
    names = ("ablation", "Over-clarification penalty: with against without", "过度澄清惩罚消融")
    if found is None:
        return section(*names, missing("The penalty has not been ablated yet.", "尚未做消融。"))
    rows = [
        [
            f'{text(ABLATION.get(one["name"], (one["name"], ""))[0])} <span class="zh" lang="zh">'
            f"{text(ABLATION.get(one['name'], ('', ''))[1])}</span>",
            f"{RULES[one['rule']]} {number(one['threshold'])}",
            f"{mark(one['passed'])} {number(one['value'])}",
        ]
        for one in found["checks"]
    ]
    return section(*names, table(("gate", "must be", "measured"), rows))


def diversity(found: Found | None) -> str:
    names = ("diversity", "Diversity of the pool", "数据多样性")
    if found is None:
        return section(*names, missing("The pool has not been validated yet.", "样本池尚未校验。"))
    measured = found["figures"]["diversity"]
    scopes = {"all": measured["overall"], **measured["tasks"]}
    least = {one["name"]: one["threshold"] for one in found["checks"]}
    whole = measured["overall"]
    roles = sorted(whole["roles"].items(), key=lambda item: -item[1])
    distinct = [Bar(name, one["distinct2"]) for name, one in scopes.items() if one["distinct2"] is not None]
    away = [Bar(name, one["kl3"], one["kl3_floor"]) for name, one in scopes.items() if one["kl3"] is not None]
    shown = f"the {MOST_ROLES} most frequent of {len(roles)}" if len(roles) > MOST_ROLES else f"all {len(roles)}"
    dashed = '<p class="legend"><span><i class="key dash"></i>at least 下限</span></p>'
    inner = '<p class="legend"><span>inner line: noise floor of v1 内线：v1 噪声底</span></p>'
    return section(
        *names,
        cards(
            card("distinct-2, windows of 5,000 tokens", "distinct-2", dashed,
                 bars("distinct-2", distinct, least.get("distinct2"))),
            card("3-gram KL to pack v1", "与 v1 的 3-gram KL", inner, bars("3-gram KL", away)),
            card("Registers", "语体", bars("registers", _sorted(whole["registers"]), percent=True)),
            card(f"Roles, {shown}", "角色", bars("roles", [Bar(*one) for one in roles[:MOST_ROLES]], percent=True)),
        ),
    )  # fmt: skip


def difficulty(found: Found | None) -> str:
    names = ("difficulty", "Difficulty", "数据难度")
    if found is None:
        return section(*names, missing("The difficulty has not been measured yet.", "难度尚未测量。"))
    figures = found["figures"]
    rows = []
    for task in TASKS:
        for which, chinese in (("pool", "种子池"), ("balanced", "平衡后")):
            counts = figures[which]["counts"].get(task)
            if counts:
                bar = f'<div class="bar-cell">{share_bar(counts)}</div>'
                rows.append([f"{task}, {which} <span class='zh' lang='zh'>{chinese}</span>",
                             *(f"{counts[level]:,}" for level in LEVELS), bar])  # fmt: skip
    pictures = [
        card(
            *METRIC_LABELS[metric],
            histograms(
                METRIC_LABELS[metric][0],
                figures["balanced"]["histograms"][metric]["edges"],
                figures["balanced"]["histograms"][metric]["counts"],
                figures["pool"]["histograms"][metric]["counts"],
                BUCKET_BOUNDS.get(metric, ()),
            ),
        )
        for metric in PICTURED
    ]
    legend = (
        '<p class="legend"><span><i class="key medium"></i>bars: balanced pool 平衡后</span>'
        '<span><i class="key poolline"></i>line: seed pool 种子池</span>'
        "<span>dashes: where medium and hard begin 分桶界限</span></p>"
    )
    heads = ("", *(f'<i class="key {level}"></i>{level}' for level in LEVELS), "")
    return section(*names, table(heads, rows), f"<br>{legend}", cards(*pictures, kind="difficulty"))


def _checks(checks: Sequence[Found]) -> str:
    rows = [
        [f"<code>{text(one['name'])}</code>", f"{RULES[one['rule']]} {number(one['threshold'])}",
         f"{mark(one['passed'])} {number(one['value'])}"]
        for one in checks
    ]  # fmt: skip
    return "<br>" + table(("gate", "must be", "measured"), rows)


def _sorted(shares: Mapping[str, float]) -> list[Bar]:
    return [Bar(name, share) for name, share in sorted(shares.items(), key=lambda item: -item[1])]
