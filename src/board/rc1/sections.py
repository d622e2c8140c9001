"""Sections of the RC1 page on data, reward and gates, each from the report of its stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.types import LEVELS, TASKS
from ...data.difficulty_page import BUCKET_BOUNDS, METRIC_LABELS
from ...data.difficulty_svg import histograms, share_bar
from ...gates.finding import GATES, Finding
from ...gates.report import Print, Round
from .contents import ShadowPoint
from .markup import RULES, between, card, cards, mark, missing, number, section, table, text
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
GATE_NAMES = {
    "pool": ("Pool", "种子池"),
    "difficulty": ("Difficulty", "难度"),
    "weights": ("Weights", "权重"),
    "calibration": ("Calibration", "权重校准"),
    "shadow": ("Shadow run", "影子运行"),
    "penalty": ("Penalty cases", "惩罚用例"),
    "ablation": ("Ablation of the penalty", "惩罚消融"),
    "config": ("Training config", "训练配置"),
    "disk": ("Disk", "磁盘"),
    "fresh": ("Fresh samples, judged live", "抽检实评"),
    "scoring": ("Real scoring", "真实评分"),
    "round1": ("Round 1 before round 2", "第一轮在先"),
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


def gates(rounds: Sequence[Round], evaluation: str) -> str:
    """`evaluation`: the gates after the trial, as the evaluation's page shows them."""
    names = ("gates", "Every gate with its evidence", "全部闸门与证据")
    if not rounds:
        return section(*names, missing("No round has been run yet.", "尚未运行预检。"), evaluation)
    folded = [_round(one) for one in rounds]
    note = (
        '<p class="note">A round takes no report at its word: it measures every gate again from pool, recorded '
        "episodes, stored replies and ledger. Beside each gate stands the SHA-256 of all that it read. "
        '<span lang="zh">每轮都从样本池、录制的对话、已存的评分与台账重新计算每道闸门；'
        "旁列其读取文件的 SHA-256。</span></p>"
    )
    return section(*names, note, *folded, evaluation)


def _round(report: Round) -> str:
    parts = []
    for gate in GATES:
        ours = [one for one in report.findings if one.gate == gate]
        if ours:
            parts.append(_gate(gate, ours))
    judge = ", ".join(value for value in report.environment.values() if value)
    head = (
        f"<h3>{'Round 1' if report.round == 'round1' else 'Round 2'} {mark(report.passed)} "
        f'<span class="zh">{text(report.ts)} · {text(judge)} · ledger {report.ledger.lines:,} lines, head '
        f"{text(report.ledger.hash[:16])}…</span></h3>"
    )
    return head + "".join(parts)


def _gate(gate: str, ours: Sequence[Finding]) -> str:
    failed = [one for one in ours if not one.passed]
    rows = [
        [f"<code>{text(one.name)}</code>", f"{RULES[one.rule]} {number(one.threshold, 6)}",
         f"{mark(one.passed)} {number(one.value, 6)}"]
        for one in ours
    ]  # fmt: skip
    remedies = "".join(f"<li>{text(one.remedy)}<br><span lang='zh'>{text(one.remedy_zh)}</span></li>" for one in failed)
    prints = {path: digest for one in ours for path, digest in one.evidence.items()}
    evidence = "".join(f"<li>{text(path)} <code>{text(digest)}</code></li>" for path, digest in prints.items())
    english, chinese = GATE_NAMES[gate]
    return (
        f'<details class="fold"{" open" if failed else ""}><summary>{mark(not failed)} <b>{text(english)}</b> '
        f'<span class="zh" lang="zh">{text(chinese)}</span> {len(ours) - len(failed)} of {len(ours)}</summary><div>'
        f"{table(('check', 'must be', 'measured'), rows)}{f'<ul>{remedies}</ul>' if remedies else ''}"
        f"{f'<p>Measured on 测量依据:</p><ul>{evidence}</ul>' if evidence else ''}</div></details>"
    )


def fingerprints(prints: Mapping[str, Print], models: Mapping[str, str], run: str, commit: str) -> str:
    rows = [[text(role), text(one.path), text(one.sha256)] for role, one in prints.items()]
    rows += [["trained model", text(folder), text(digest)] for folder, digest in models.items()]
    rows += [[name, "", text(value)] for name, value in (("run", run), ("git commit", commit)) if value]
    return section(
        "fingerprints",
        "Fingerprints",
        "数据指纹（SHA-256）",
        f'<div class="prints">{table(("what", "where", "SHA-256"), rows)}</div>',
    )


def _checks(checks: Sequence[Found]) -> str:
    rows = [
        [f"<code>{text(one['name'])}</code>", f"{RULES[one['rule']]} {number(one['threshold'])}",
         f"{mark(one['passed'])} {number(one['value'])}"]
        for one in checks
    ]  # fmt: skip
    return "<br>" + table(("gate", "must be", "measured"), rows)


def _sorted(shares: Mapping[str, float]) -> list[Bar]:
    return [Bar(name, share) for name, share in sorted(shares.items(), key=lambda item: -item[1])]
