"""The first page: the owner's lights of both rounds, the loop, curves and KPIs. Its parts renew themselves."""

from __future__ import annotations

import time
from collections.abc import Sequence
from html import escape
from pathlib import Path

from ..loop.kpi import Kpi
from ..pages.curves import curve
from ..pages.results import FIGURES
from .curves import HELD_OUT, SHOWN
from .frame import address, both, figure, lamp, table, title
from .owner import KINDS, OwnerLight, RoundLights
from .run_folders import Board, Kpis, Run

WAIT = 0.4
"""Seconds that a first view gives to what takes time; what is not there by then comes later by itself."""
PAGES = ("reports/rc1/*.html", "reports/*.html", "reports/review/*.html")
KPI_NAMES = {
    **FIGURES,
    "distinct2": ("distinct-2", "生成多样性"),
    "kl3_excess": ("3-gram KL to v1", "与 v1 的 3-gram KL"),
    "roles": ("Roles", "角色数"),
    "registers": ("Registers", "语体数"),
    "spearman": ("Spearman, new against old reward", "新旧奖励 Spearman"),
    "kendall_tau": ("Kendall tau", "Kendall τ"),
    "top10_overlap": ("Top-10% overlap", "Top-10% 重合"),
    "top20_overlap": ("Top-20% overlap", "Top-20% 重合"),
    "corr_improve_pct": ("Correlation with success, gain in %", "与任务成功相关性的相对提升（%）"),
    "unstable_share": ("Scorings past the variance limit", "评分方差超阈占比"),
    "cache_hit_rate": ("Cache hit rate", "缓存命中率"),
    "429_rate": ("429 rate", "429 比率"),
    "avg_latency": ("Mean latency, s", "平均延迟（秒）"),
    "log_completeness": ("Logs complete", "日志完备率"),
    "checkpoint_completeness": ("Checkpoints complete", "检查点完备率"),
    "fingerprint_coverage": ("Fingerprints cover", "数据指纹覆盖率"),
}
PLAIN = ("distinct2", "kl3_excess", "roles", "registers", "spearman", "kendall_tau", "corr_improve_pct", "avg_latency")
"""KPIs that are no shares."""
PARTS = {"quality": ("Quality KPIs", "核心 KPI"), "engineering": ("Engineering KPIs", "工程 KPI")}


def overview(board: Board) -> str:
    board.look(WAIT)
    parts = {"lights": lights_part(board), "curves": curves_part(board), "kpis": kpis_part(board)}
    return "".join(f'<div data-live="/part/{name}">{html}</div>' for name, html in parts.items())


def lights_part(board: Board) -> str:
    rounds, loop = board.rounds.get(), board.loop.get()
    return "".join(
        [
            _verdict(rounds, board.names[0]),
            _owner(rounds, board.rounds.error),
            _next(loop.next_step) if loop else "",
            _loop(board),
            _reports(board.run("").root),
        ]
    )


def _verdict(rounds: Sequence[RoundLights] | None, name: str) -> str:
    colour, words = "grey", ("measuring …", "正在测量")
    if rounds:
        every = [light for one in rounds for light in one.lights]
        red = sum(light.colour == "red" for light in every)
        green = sum(light.colour == "green" for light in every)
        if red:
            colour, words = "red", (f"{red} red: do not train", "有红灯：禁止开跑")
        elif green == len(every):
            colour, words = "green", ("all green: may train", "全部绿灯：可以开训")
        else:
            words = (f"{green} of {len(every)} green", "未完成")
    return f'<header>{title(1, name, "看灯")}<p class="verdict {colour}">{both(*words)}</p></header>'


def _owner(rounds: Sequence[RoundLights] | None, error: str) -> str:
    if rounds is None:
        return f'<p class="soft">{escape(error) if error else both("measuring …", "正在测量")}</p>'
    head = "".join(
        f'<th scope="col">{both(f"Round {one.number}", "第一轮" if one.number == 1 else "第二轮")}{_when(one)}</th>'
        for one in rounds
    )
    rows = "".join(
        f'<tr><th scope="row">{both(kind.title, kind.title_zh)}</th>'
        f"{''.join(_cell(one.lights[row]) for one in rounds)}</tr>"
        for row, kind in enumerate(KINDS)
    )
    return f'<table class="owner"><thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _when(one: RoundLights) -> str:
    return f"<small>{escape(one.profile)}, {escape(one.ts[:16].replace('T', ' '))}</small>" if one.report else ""


def _cell(light: OwnerLight) -> str:
    link = address("/light", round=str(light.round), of=light.kind.name)
    said = f'<span class="why">{escape(light.why)}<br><span class="zh" lang="zh">{escape(light.why_zh)}</span></span>'
    return f'<td><a class="cell" href="{link}">{lamp(light.colour)}{said}</a></td>'


def _next(step: tuple[str, str]) -> str:
    english, chinese = step
    translated = f'<p class="zh" lang="zh">下一步：{escape(chinese)}</p>'
    return f'<div class="next"><p><b>Next:</b> {escape(english)}</p>{translated}</div>'


def _loop(board: Board) -> str:
    loop = board.loop.value
    if loop is None:
        return f'<p class="soft">{escape(board.loop.error)}</p>' if board.loop.error else ""
    items = "".join(
        f'<li><a href="{address("/stage", name=light.stage)}">{lamp(light.colour)}<span>'
        f"<b>{escape(light.title)}</b><small>{escape(light.title_zh)}"
        f"{'<br>' + escape(light.why) if light.why else ''}</small></span></a></li>"
        for light in loop.lights
    )
    green = sum(light.colour == "green" for light in loop.lights)
    heading = title(
        2, f"The loop, stage by stage: {green} of {len(loop.lights)} green", f"闭环各阶段（{loop.profile}）"
    )
    return f'<section>{heading}<ul class="lights">{items}</ul></section>'


def _reports(root: Path) -> str:
    """Pages that stages have written, to read as they are."""
    found = [file.relative_to(root).as_posix() for pattern in PAGES for file in sorted(root.glob(pattern))]
    links = "".join(f'<a href="{address("/report", path=name)}">{escape(name)}</a>' for name in found)
    return f'<section>{title(2, "Reports", "报告")}<p class="tabs">{links}</p></section>' if links else ""


def curves_part(board: Board) -> str:
    run = board.run("")
    run.metrics.look()
    run.held_out.look()
    cards = []
    for name, (english, chinese, percent) in SHOWN.items():
        picture = curve(english, run.metrics.series(name), run.held_out.series(HELD_OUT.get(name, name)), percent)
        cards.append(f"<article>{title(3, english, chinese)}{picture}</article>")
    legend = (
        '<p class="legend"><span><i></i>training, every step 训练每步</span>'
        '<span><i class="held"></i>held-out samples 留出样本</span></p>'
    )
    return (
        f"<section>{title(2, 'Curves', '曲线')}{_steps(run)}{legend}"
        f'<div class="cards" id="curves">{"".join(cards)}</div></section>'
    )


def _steps(run: Run) -> str:
    if not run.metrics.last:
        return f'<p class="soft" id="steps">{both("No training step is on record yet.", "尚无训练步。")}</p>'
    said = ", ".join(f"seed {seed}: step {step:,}" for seed, step in run.metrics.last.items())
    return f'<p class="soft" id="steps">{escape(said)}</p>'


def kpis_part(board: Board) -> str:
    found = board.kpis.get()
    if found is None:
        return f'<p class="soft">{escape(board.kpis.error)}</p>' if board.kpis.error else ""
    at = time.strftime("%H:%M:%S", time.localtime(board.kpis.at))
    parts = "".join(f"<section>{title(2, *PARTS[part])}{_kpi_table(part, found)}</section>" for part in PARTS)
    return f'<div class="kpis">{parts}</div><p class="soft">{both(f"measured {at}", "测量时间")}</p>'


def _kpi_table(part: str, kpis: Kpis) -> str:
    """What is known of base and trained policy stands in one row."""
    found = dict(kpis[part])
    rows = []
    for name in list(found):
        stem = name.removesuffix("_base")
        if name != stem and f"{stem}_trained" in found:
            base, trained = found[name], found[f"{stem}_trained"]
            rows.append([_kpi_name(stem), f"{_kpi(stem, base)} → {_kpi(stem, trained)}", _source(trained)])
        elif not (name.endswith("_trained") and f"{name.removesuffix('_trained')}_base" in found):
            rows.append([_kpi_name(name), _kpi(name, found[name]), _source(found[name])])
    return table((), rows, "kpi")


def _kpi_name(name: str) -> str:
    return both(*KPI_NAMES[name]) if name in KPI_NAMES else escape(name)


def _kpi(name: str, one: Kpi) -> str:
    share = name not in PLAIN and not name.startswith("avg_")
    alarm = ""
    if one.alarm:
        words = f"alarm at {one.alarm.rule} {one.alarm.limit:g}"
        alarm = f' <span class="alarm">ALARM 警报: {words}</span>' if one.alarm.on else f" <small>{words}</small>"
    return f"{figure(one.value, percent=share)}{alarm}"


def _source(one: Kpi) -> str:
    linked = one.source.endswith((".json", ".jsonl"))
    name = escape(Path(one.source).name) or "–"
    whole = escape(one.source, quote=True)
    return f'<a href="{address("/file", path=one.source)}" title="{whole}">{name}</a>' if linked else name
