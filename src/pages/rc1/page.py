"""`reports/rc1/RC1.html`: the RC1 report as one page that opens from disk and asks nobody for anything."""

from __future__ import annotations

from ...eval.compare import Change
from ...eval.metrics import HARD_READING
from ...eval.trial import TrialReport
from ..markup import missing, page, section, text, title
from ..results import FIGURES, curves
from ..style import STYLE
from ..trial_page import MORE_STYLE, everything, pictures, seed_by_seed
from ..trial_page import gates as trial_gates
from ..trial_page import table as trial_table
from . import proof, sections
from .contents import Point, Rc1
from .reading import reading
from .style import STYLE as OWN_STYLE

HEADLINE = ("need_ask_success", "overclar_rate", "success", f"success_{HARD_READING}", "avg_turns")
PARTS = {
    "results": "results 结果",
    "curves": "curves 曲线",
    "weights": "weights 权重",
    "shadow": "shadow run 影子运行",
    "diversity": "diversity 多样性",
    "difficulty": "difficulty 难度",
    "reading": "episodes 对话",
    "gates": "gates 闸门",
    "config": "config 配置",
    "fingerprints": "fingerprints 指纹",
    "reproduce": "reproduce 复现",
}


def rc1_page(found: Rc1) -> bytes:
    trial = found.evaluation
    return page(
        f"AskGate RC1: {found.profile}",
        STYLE + MORE_STYLE + OWN_STYLE,
        _head(found),
        _verdict(found.verdict),
        _links(),
        _results(trial),
        f'<div id="curves">{curves(found.training, found.held_out)}</div>',
        sections.calibration(found.calibration),
        sections.shadow(found.shadow, found.shadow_points),
        sections.ablation(found.ablation),
        sections.diversity(found.pool),
        sections.difficulty(found.difficulty),
        reading(found.reading),
        proof.gates(found.rounds, trial_gates(trial.checks) if trial else ""),
        proof.config(trial.config if trial else {}),
        proof.fingerprints(found.prints, found.models, found.run, found.commit),
        _reproduce(found),
    )


def _head(found: Rc1) -> str:
    colour, words = ("green", "✓ PASSED 通过") if found.passed else ("red", "✗ NOT PASSED 未通过")
    trial = found.evaluation
    told = f"profile {found.profile}, AskGate {found.version}, {found.ts}"
    if trial:
        config = trial.config
        seeds = ", ".join(str(one.seed) for one in trial.seeds)
        told += (
            f"; {config.get('strategy')} on {config.get('engine')} from {config.get('base_model')}, "
            f"{trial.pooled.steps:,} steps of {config.get('batch_size')} episodes, seed {seeds}"
        )
    told += "; signed by the owner" if found.signed else ""
    return (
        f"<header>{title(1, 'AskGate RC1', '候选版本报告')}"
        f'<p class="verdict {colour}">{words}</p></header><p class="facts">{text(told)}</p>'
    )


def _verdict(points: list[Point]) -> str:
    items = "".join(
        f'<li class="{"ok" if one.passed else "no"}"><b>{"✓" if one.passed else "✗"} {text(one.name)}</b>'
        f'<span class="zh" lang="zh">{text(one.name_zh)}</span><small>{text(one.told)}</small></li>'
        for one in points
    )
    return f'<ul class="points">{items}</ul>'


def _links() -> str:
    links = "".join(f'<a href="#{name}">{words}</a>' for name, words in PARTS.items())
    return f"<nav>{links}</nav>"


def _results(trial: TrialReport | None) -> str:
    names = ("results", "Base against trained", "底模与训练后对比")
    if trial is None or trial.pooled.changes is None:
        return section(*names, missing("No trained policy has been evaluated yet.", "尚无训练后的评测。"))
    tiles = "".join(_tile(name, trial.pooled.changes[name]) for name in HEADLINE)
    note = (
        f'<p class="note">{trial.figures["held_out"]:,} held-out samples, the same for all; intervals are 95%, '
        'for changes paired over samples. <span lang="zh">留出样本完全相同；区间为 95%，变化按样本配对。</span></p>'
    )
    return section(
        *names,
        note,
        f'<div class="tiles">{tiles}</div>',
        pictures(trial.pooled),
        trial_table(trial.pooled, trial),
        seed_by_seed(trial.seeds),
        everything(trial.pooled),
    )


def _tile(name: str, change: Change) -> str:
    percent = not name.startswith("avg_")

    def shown(value: float | None, sign: str = "") -> str:
        if value is None:
            return "–"
        return f"{100 * value:{sign}.1f}" if percent else f"{value:{sign}.2f}"

    unit, points = ("%", " points") if percent else ("", "")
    english, chinese = FIGURES[name]
    interval = "" if change.low is None else f" ({shown(change.low, '+')} to {shown(change.high, '+')})"
    return (
        f'<div class="tile"><span>{text(english)}<br><span lang="zh">{text(chinese)}</span></span>'
        f"<b><i>{shown(change.base.value)} →</i> {shown(change.trained.value)}{unit}</b>"
        f"<em>{shown(change.delta, '+')}{points}{interval}</em></div>"
    )


def _reproduce(found: Rc1) -> str:
    commands = "\n".join(text(one) for one in found.reproduce)
    note = (
        '<p class="note"><code>verify --deep</code> checks every sum and derives every gate again; the package is '
        "checked by another machine in seconds, or trained again there. On a CPU with the same torch, instruction set "
        'and thread count the weights come out bit by bit. <span lang="zh"><code>verify --deep</code> '
        "核对全部指纹并重算每道闸门；复现包可在另一台机器上数秒内核验，或重新训练。"
        "相同的 torch、指令集与线程数下，CPU 上的权重逐位一致。</span></p>"
    )
    return section("reproduce", "How to reproduce", "如何复现", note, f'<pre class="commands">{commands}</pre>')
