"""The part of the RC1 page that is read: base and trained policy side by side, and each reward taken apart by term."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.episode import Episode
from ...core.types import Turn
from ...reward.reward import achieved
from ..markup import mark, missing, section, text, title
from .contents import Pair, Reading
from .pairs import GROUPS

TITLES = {
    "gained": ("Wrong before, right now", "由错变对"),
    "lost": ("Right before, wrong now", "由对变错"),
    "both_right": ("Right both times", "前后都对"),
    "both_wrong": ("Wrong both times", "前后都错"),
}
WHO = {"user": ("user", "用户"), "assistant": ("policy", "策略"), "tool": ("tool", "工具")}
ACTS = {"say": "", "ask": "asks 提问", "call": "calls 调用", "answer": "answers 作答", "result": ""}
ENDS = {"answer": "", "turns": "ran out of turns 轮次用尽", "length": "ran out of tokens 长度用尽"}


def reading(found: Reading | None) -> str:
    names = ("reading", "Episodes to read", "对话样例：底模与训练后并排")
    if found is None:
        return section(*names, missing("There are no held-out episodes yet.", "尚无留出对话。"))
    counts = ", ".join(f"{TITLES[name][0].lower()} {found.counts[name]:,}" for name in GROUPS)
    told = (
        f'<p class="note">{text(found.rule)} Seed {found.seed}. Of all held-out samples: {text(counts)}. '
        f'<span lang="zh">{text(found.rule_zh)}</span></p>'
    )
    groups = []
    place = 0
    for name in GROUPS:
        ours = [one for one in found.pairs if one.group == name]
        if not ours:
            continue
        shown = "".join(_pair(place + number, one, unfold=number == 1) for number, one in enumerate(ours, 1))
        groups.append(title(3, f"{TITLES[name][0]}: {len(ours)} of {found.counts[name]:,}", TITLES[name][1]) + shown)
        place += len(ours)
    return section(*names, told, *groups)


def _pair(place: int, one: Pair, unfold: bool) -> str:
    needs = "something is missing 有缺失" if one.base.needs_clarification else "nothing is missing 无缺失"
    tags = "".join(f'<span class="tag">{text(tag)}</span>' for tag in (one.task, one.level or "?", one.lang, needs))
    summary = (
        f"<b>{place}.</b> base {mark(achieved(one.base))} trained {mark(achieved(one.trained))} {tags}"
        f"{text(_short(_question(one.base)))}"
    )
    known = f"<b>Gold answer 标准答案:</b> {text(one.gold)}"
    if one.missing:
        known += f" · <b>What only the user knows 仅用户知道:</b> {text(one.missing)}"
    body = (
        f'<div><p class="asked">{text(_question(one.base))}</p><p class="known">{known} · <code>{text(one.sample_id)}'
        f'</code></p><div class="pair">{_side("base", "base 底模", one.base)}'
        f"{_side('trained', 'trained 训练后', one.trained)}</div></div>"
    )
    return f'<details class="fold"{" open" if unfold else ""}><summary>{summary}</summary>{body}</details>'


def _question(episode: Episode) -> str:
    return episode.turns[0].text if episode.turns else ""


def _short(words: str, most: int = 90) -> str:
    line = " ".join(words.split())
    return line if len(line) <= most else f"{line[:most].rstrip()}…"


def _side(who: str, name: str, episode: Episode) -> str:
    turns = "".join(_turn(one) for one in episode.turns[1:])
    why = []
    if episode.success and not achieved(episode):
        why.append("a right answer without having been told what was missing: a lucky guess 侥幸猜中")
    if ENDS[episode.end]:
        why.append(ENDS[episode.end])
    told = f" <small>{text('; '.join(why))}</small>" if why else ""
    return (
        f'<div class="side {who}"><h4>{mark(achieved(episode))} {text(name)}{told}</h4>{turns}{_terms(episode)}</div>'
    )


def _turn(turn: Turn) -> str:
    english, chinese = WHO[turn.by]
    act = " ".join(part for part in (ACTS[turn.act], turn.tool) if part)
    thought = f'<p class="thought">{text(turn.thought)}</p>' if turn.thought else ""
    said = text(turn.text) or "<i>(nothing 空)</i>"
    return (
        f'<div class="turn {turn.by}"><small>{english} {chinese}{" · " + text(act) if act else ""}</small>{thought}'
        f"<p>{said}</p></div>"
    )


def _terms(episode: Episode) -> str:
    rows: Sequence[tuple[str, float]] = [*episode.reward.items(), ("sum 合计", sum(episode.reward.values()))]
    cells = "".join(f"<tr><td>{text(name)}</td><td>{value + 0.0:+.3f}</td></tr>" for name, value in rows)
    head = "<thead><tr><th>reward by term 奖励分解</th><th></th></tr></thead>"
    return f'<div class="scroll terms"><table>{head}<tbody>{cells}</tbody></table></div>'
