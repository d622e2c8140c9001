"""An episode as people read it: every message in full, what it was worth term by term, and the facts in a line."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from html import escape
from typing import Any

from ..core.episode import Episode
from ..core.types import Turn
from .frame import both, figure, marked, table, title

WHO = {"user": ("user", "用户"), "assistant": ("policy", "策略"), "tool": ("tool", "工具")}
ACTS = {
    "ask": ("asks", "提问"),
    "call": ("calls", "调用"),
    "answer": ("answers", "作答"),
    "result": ("returns", "返回"),
}
ENDS = {"answer": ("it answered", "已作答"), "turns": ("out of turns", "轮次用完"), "length": ("out of tokens", "超长")}


def facts(row: sqlite3.Row) -> str:
    """Chips of a row of the index."""
    chips = [
        '<b class="chip right">✓ right 对</b>' if row["success"] else '<b class="chip wrong">✗ wrong 错</b>',
        f'<span class="chip">{escape(row["task"])}</span>',
        f'<span class="chip">{escape(row["level"] or "–")}</span>',
        _asking(bool(row["needs"]), int(row["asks"]), bool(row["told"])),
        f'<span class="num">{row["turns"]} turns 轮</span>',
        f'<span class="num">reward 奖励 {figure(row["reward"])}</span>',
    ]
    if row["variance"] is not None:
        chips.append(f'<span class="num">variance 方差 {figure(row["variance"])}</span>')
    if row["step"] is not None:
        chips.append(f'<span class="num">step 步 {row["step"]:,}</span>')
    return "".join(chips)


def _asking(needs: bool, asks: int, told: bool) -> str:
    """Whether it asked, beside whether it had to."""
    if needs:
        words = ("asked, as it must", "该问且问对") if told else ("asked beside the point", "没问到点上")
        return _chip("right" if told else "wrong", *words) if asks else _chip("wrong", "must ask, did not", "该问未问")
    return _chip("wrong", "asked needlessly", "不该问却问") if asks else _chip("", "no need to ask", "无需提问")


def _chip(kind: str, english: str, chinese: str) -> str:
    return f'<span class="chip {kind}">{escape(english)} {escape(chinese)}</span>'


def dialogue(episode: Episode, row: sqlite3.Row, typed: str = "") -> str:
    turns = "".join(_turn(turn, typed) for turn in episode.turns)
    return (
        f'<p class="marks">{facts(row)}</p><div class="talk">{turns}</div>'
        f'<div class="worth">{_ending(episode)}{_reward(episode.reward)}{_score(row)}</div>'
    )


def _turn(turn: Turn, typed: str) -> str:
    english, chinese = WHO[turn.by]
    act = f' <span class="act">{both(*ACTS[turn.act])}</span>' if turn.act in ACTS else ""
    tool = f" <code>{escape(turn.tool)}</code>" if turn.tool else ""
    thought = f'<p class="thought">{marked(turn.thought, typed)}</p>' if turn.thought else ""
    return (
        f'<article class="turn {turn.by} {turn.act}"><h3>{both(english, chinese)}{act}{tool}</h3>'
        f"{thought}<p>{marked(turn.text, typed)}</p></article>"
    )


def _ending(episode: Episode) -> str:
    answer = escape(episode.answer) if episode.answer is not None else "–"
    rows = [
        [both("end", "结束"), both(*ENDS[episode.end])],
        [both("answer", "答案"), answer],
        [both("something was missing", "缺少信息"), _yes(episode.needs_clarification)],
        [both("the user told it", "用户已告知"), _yes(episode.told)],
        [both("seed", "种子"), str(episode.seed)],
    ]
    return f"<section>{title(3, 'How it ended', '结果')}{table((), rows)}</section>"


def _reward(terms: Mapping[str, float]) -> str:
    rows = [[f"<code>{escape(name)}</code>", figure(value, sign="+")] for name, value in terms.items()]
    rows.append([f"<b>{both('sum', '合计')}</b>", f"<b>{figure(sum(terms.values()), sign='+')}</b>"])
    return f"<section>{title(3, 'Reward, term by term', '奖励分解')}{table((), rows)}</section>"


def _score(row: sqlite3.Row) -> str:
    if row["score"] is None:
        return ""
    rows: list[list[Any]] = [
        [both("score", "得分"), figure(row["score"])],
        [both("variance of the votes", "投票方差"), figure(row["variance"])],
    ]
    return f"<section>{title(3, 'The judge', '评分')}{table((), rows)}</section>"


def _yes(value: bool) -> str:
    return both("yes", "是") if value else both("no", "否")
