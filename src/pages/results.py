"""`reports/rc1/index.html`: what a run came to, on one page that needs no network. Every text in it is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import msgspec

from ..config.profile import Profile
from ..core.files import atomic_write, write_json
from ..core.paths import EVAL_METRICS, METRICS, newest_evaluation
from ..loop.kpi import KPIS, Kpi, key_files, measure
from ..loop.lights import COMMANDS, WORDS, Light, lights, next_step
from ..loop.stage import Stage, State, fingerprints
from .curves import Points, curve, shown
from .markup import delta, level, page, title
from .style import STYLE

FIGURES = {
    "need_ask_success": ("Need-ask success", "需问类成功率"),
    "overclar_rate": ("Over-clarification", "过度澄清率"),
    "success": ("Success", "成功率"),
    "avg_turns": ("Mean turns", "平均轮次"),
    "success_hard_hotpotqa_strategyqa": ("Success, hard (HotpotQA + StrategyQA)", "Hard 桶成功率（合并口径）"),
    "ask_precision": ("Ask precision", "提问精确率"),
    "ask_recall": ("Ask recall", "提问召回率"),
    "lucky_guess_rate": ("Lucky guesses", "侥幸猜中"),
    "success_hotpotqa": ("Success, HotpotQA", "HotpotQA 成功率"),
    "success_strategyqa": ("Success, StrategyQA", "StrategyQA 成功率"),
    "success_gsm8k": ("Success, GSM8K", "GSM8K 成功率"),
    "success_easy": ("Success, easy", "简单桶成功率"),
    "success_medium": ("Success, medium", "中等桶成功率"),
    "success_hard": ("Success, hard", "困难桶成功率"),
}
CURVES = {
    "reward": ("Reward", "奖励", False),
    "success": ("Success", "成功率", True),
    "kl": ("KL to the base", "与底模的 KL", False),
    "overclar_rate": ("Over-clarification", "过度澄清率", True),
}
Lines = Sequence[Mapping[str, Any]]
PAGE = Path("reports/rc1/index.html")


def write_results(profile: Profile, stages: Sequence[Stage], state: State) -> list[Light]:
    """Write the KPIs and the results page from the files of the run, and return the lights that the page shows."""
    found = lights(stages, state)
    evaluation = newest_evaluation()
    kpis = measure(profile, evaluation)
    write_json(KPIS, kpis)
    page = results_page(
        profile.name,
        found,
        next_step(found, COMMANDS[profile.name]),
        msgspec.json.decode(evaluation.read_bytes(), type=dict[str, Any]) if evaluation else None,
        log_lines(METRICS),
        log_lines(EVAL_METRICS),
        kpis,
        {path: digest for path, digest in fingerprints(key_files(profile)).items() if digest},
    )
    with atomic_write(PAGE) as file:
        file.write(page)
    return found


def log_lines(path: Path) -> list[dict[str, Any]]:
    """Lines of a log. A last line that is still being written is left out."""
    if not path.exists():
        return []
    found = []
    for line in path.read_bytes().splitlines():
        try:
            found.append(msgspec.json.decode(line, type=dict[str, Any]))
        except msgspec.DecodeError:
            continue
    return found


def results_page(
    profile: str,
    lights: Sequence[Light],
    next_step: tuple[str, str],
    evaluation: Mapping[str, Any] | None,
    metrics: Lines,
    held_out: Lines,
    kpis: Mapping[str, Mapping[str, Kpi]],
    prints: Mapping[str, str],
) -> bytes:
    """`evaluation` is the report of base against trained; `metrics` and `held_out` are the lines of the run's logs."""
    return page(
        f"AskGate: {profile}",
        STYLE,
        _head(profile, lights),
        _next(next_step),
        _lights(lights),
        _reasons(lights),
        _comparison(evaluation),
        curves(metrics, held_out),
        _kpis(kpis),
        _foot(prints),
    )


def _head(profile: str, lights: Sequence[Light]) -> str:
    green = sum(light.colour == "green" for light in lights)
    red = any(light.colour == "red" for light in lights)
    colour = "red" if red else "green" if lights and green == len(lights) else "grey"
    words = {"red": "a light is red 有红灯", "green": "all green 全部绿灯", "grey": "not finished 未完成"}[colour]
    verdict = f"{green} of {len(lights)} green; {words}"
    return f'<header>{title(1, f"AskGate, {profile}", "结果")}<p class="verdict {colour}">{verdict}</p></header>'


def _next(step: tuple[str, str]) -> str:
    english, chinese = step
    translated = f'<p class="zh" lang="zh">下一步：{escape(chinese)}</p>'
    return f'<div class="next"><p><b>Next:</b> {escape(english)}</p>{translated}</div>'


def _lights(lights: Sequence[Light]) -> str:
    items = "".join(
        f'<li><span class="lamp {light.colour}">{WORDS[light.colour][0]}</span><span><b>{escape(light.title)}</b>'
        f"<small>{escape(light.title_zh)}{'<br>' + escape(light.why) if light.why else ''}</small></span></li>"
        for light in lights
    )
    return f'<section>{title(2, "Lights", "看灯")}<ul class="lights">{items}</ul></section>'


def _reasons(lights: Sequence[Light]) -> str:
    items = "".join(
        f"<li><p><code>{escape(one.name)}</code> is {_plain(one.value)}, must be {escape(one.rule)} "
        f'{_plain(one.threshold)} <span class="zh">({escape(light.title)})</span></p><p>{escape(one.remedy)}</p>'
        f'<p class="zh" lang="zh">{escape(one.remedy_zh)}</p></li>'
        for light in lights
        for one in light.reasons
    )
    return f'<section>{title(2, "Why red", "红灯原因")}<ul class="reasons">{items}</ul></section>' if items else ""


def _comparison(evaluation: Mapping[str, Any] | None) -> str:
    head = title(2, "Base against trained", "底模与训练后对比")
    found = evaluation or {}
    every = found.get("seeds", ())
    # Several seeds: all of them together come first, for the gates go by that.
    together = [found["pooled"]] if len(every) > 1 and found.get("pooled") else []
    seeds = [one for one in (*together, *every) if one.get("changes")]
    if not seeds:
        return f"<section>{head}<p>No trained policy has been evaluated yet. 尚无训练后的评测。</p></section>"
    return f"<section>{head}{''.join(_seed(one) for one in seeds)}</section>"


def _seed(found: Mapping[str, Any]) -> str:
    changes, control = found["changes"], found.get("over_control")
    rows = "".join(_row(name, changes[name], (control or {}).get(name)) for name in FIGURES if name in changes)
    columns = ["base", *(["SFT control"] if control else []), "trained", "change", "95% interval"]
    head = "".join(f"<th>{column}</th>" for column in columns)
    n = changes["success"]["base"]["n"] if "success" in changes else 0
    who = "all seeds together" if found.get("seed") is None else f"seed {found['seed']}"
    told = f"{who}, {found.get('steps', 0):,} steps, {n:,} held-out episodes"
    table = f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<h3>{escape(told)}</h3><div class="scroll">{table}</div>'


def _row(name: str, change: Mapping[str, Any], control: Mapping[str, Any] | None) -> str:
    english, chinese = FIGURES[name]
    percent = not name.startswith("avg_")
    cells = [level(change["base"]["value"], percent)]
    if control is not None:
        cells.append(level(control["base"]["value"], percent))
    low, high = delta(change["low"], percent), delta(change["high"], percent)
    cells += [level(change["trained"]["value"], percent), delta(change["delta"], percent)]
    cells.append("–" if change["low"] is None else f"{low} to {high}")
    name_cell = f'<td>{escape(english)} <span class="zh" lang="zh">{escape(chinese)}</span></td>'
    return f"<tr>{name_cell}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _plain(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.6g}"


def curves(metrics: Lines, held_out: Lines) -> str:
    cards = []
    for name, (english, chinese, percent) in CURVES.items():
        picture = curve(english, _series(metrics, name), _series(held_out, name), percent)
        cards.append(f"<article>{title(3, english, chinese)}{picture}</article>")
    legend = (
        '<p class="legend"><span><i></i>training, every step 训练每步</span>'
        '<span><i class="held"></i>held-out samples 留出样本</span></p>'
    )
    return f'<section>{title(2, "Curves", "曲线")}{legend}<div class="cards">{"".join(cards)}</div></section>'


def _series(lines: Lines, name: str) -> list[Points]:
    by_seed: dict[Any, list[tuple[float, float]]] = {}
    for line in lines:
        if isinstance(line.get(name), int | float):
            by_seed.setdefault(line["seed"], []).append((float(line["step"]), float(line[name])))
    return list(by_seed.values())


def _kpis(kpis: Mapping[str, Mapping[str, Kpi]]) -> str:
    names = {"quality": ("Quality KPIs", "核心 KPI"), "engineering": ("Engineering KPIs", "工程 KPI")}
    return "".join(
        f'<section>{title(2, *names[part])}<div class="scroll"><table><tbody>'
        f"{''.join(_kpi(name, one) for name, one in found.items())}</tbody></table></div></section>"
        for part, found in kpis.items()
    )


def _kpi(name: str, one: Kpi) -> str:
    value = "–" if one.value is None else shown(one.value, percent=False)
    alarm = ""
    if one.alarm:
        words = f"alarm at {one.alarm.rule} {one.alarm.limit:g}"
        alarm = f'<span class="alarm">ALARM 警报: {words}</span>' if one.alarm.on else words
    return f"<tr><td>{escape(name)}</td><td>{value}</td><td>{alarm}</td><td>{escape(one.source) or '–'}</td></tr>"


def _foot(prints: Mapping[str, str]) -> str:
    rows = "".join(f"<li>{escape(name)} <code>{escape(digest)}</code></li>" for name, digest in prints.items())
    return f"<footer>{title(2, 'Fingerprints', '数据指纹（SHA-256）')}<ul>{rows}</ul></footer>"
