"""Sections of the RC1 page that let a reader check it: every gate, every setting, every fingerprint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...gates.finding import GATES, Finding
from ...gates.report import Print, Round
from ..markup import RULES, mark, missing, number, section, table, text

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


def config(found: Mapping[str, Any]) -> str:
    """Every setting that was trained with, the ones nobody wrote included."""
    names = ("config", "Training config", "训练配置")
    if not found:
        return section(*names, missing("Nothing has been trained yet.", "尚未训练。"))
    rows = [[f"<code>{text(key)}</code>", text(value)] for key, value in _flat(found)]
    most = f"{len(rows)} settings, those nobody wrote included 全部 {len(rows)} 项设置，含默认值"
    table_ = f'<div class="prints">{table(("key", "value"), rows)}</div>'
    return section(*names, f'<details class="fold"><summary>{most}</summary><div>{table_}</div></details>')


def _flat(found: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, object]]:
    for key, value in found.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


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
