"""Actions of a policy: a turn is free reasoning, then one action.

`<ask>question</ask>`, `<wiki>query</wiki>`, `<calc>expression</calc>`, `<answer>text</answer>`. The first action tag
counts. The action ends at its closing tag, at the next action tag, or with the turn. Tags inside `<think>...</think>`
are reasoning, and after a `<think>` that is never closed there is no action.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..core.defaults import TOOLS
from ..core.types import Lang, Turn

TAGS = ("ask", "wiki", "calc", "answer")
THINK, THOUGHT = "<think>", "</think>"

_OPENING = re.compile(rf"<({'|'.join(TAGS)})>")
_END = re.compile(rf"</?(?:{'|'.join(TAGS)})>")

_SYSTEM: dict[Lang, tuple[str, dict[str, str], str]] = {
    "en": (
        "Answer the user's question. You may think first; end every turn with exactly one of these:",
        {
            "ask": "<ask>a question to the user</ask> only if the user left out what you cannot find yourself",
            "wiki": "<wiki>title or words</wiki> looks an article up",
            "calc": "<calc>12 * (3 + 4)</calc> computes; it also compares, as in 1979 > 1962",
            "answer": "<answer>the bare answer</answer> ends the dialogue: a name, a number, or yes/no",
        },
        "Say nothing after it.",
    ),
    "zh": (
        "请回答用户的问题。可以先思考；每一轮最后必须且只能写下面的一种：",
        {
            "ask": "<ask>向用户提的问题</ask> 仅当用户漏说了你自己查不到的内容",
            "wiki": "<wiki>标题或词语</wiki> 查阅条目",
            "calc": "<calc>12 * (3 + 4)</calc> 计算；也可比较，如 1979 > 1962",
            "answer": "<answer>答案本身</answer> 结束对话：一个名称、一个数，或者是/否",
        },
        "其后不要再写任何内容。",
    ),
}
_MALFORMED: dict[Lang, str] = {"en": "error: end with one of {tags}", "zh": "错误：须以其一结尾：{tags}"}


@dataclass(frozen=True)
class Action:
    """A parsed turn of the policy. `none` is a turn without an action; its text is the whole turn."""

    kind: Literal["ask", "call", "answer", "none"]
    text: str
    tool: str = ""
    thought: str = ""


def parse(text: str, tools: Sequence[str] = TOOLS) -> Action:
    """Parses a turn. An empty action, and a call of a tool that is not offered, count as none.

    >>> parse("Two of them. <ask>Which Lund?</ask>")
    Action(kind='ask', text='Which Lund?', tool='', thought='Two of them.')
    >>> parse("<think><calc>1+1</calc></think><answer>2").text
    '2'
    >>> parse("<think><answer>2</answer>").kind
    'none'
    """
    opened = _first_action(text)
    if opened is None:
        return Action("none", text.strip())
    closed = _END.search(text, opened.end())
    said = text[opened.end() : closed.start() if closed else len(text)].strip()
    thought = text[: opened.start()].replace(THINK, "").replace(THOUGHT, "").strip()
    tag = opened[1]
    if not said or not _offered(tag, tools):
        return Action("none", text.strip())
    if tag in TOOLS:
        return Action("call", said, tag, thought)
    return Action("ask" if tag == "ask" else "answer", said, "", thought)


def say(turn: Turn, close: bool = True) -> str:
    """A turn of a demonstration as the policy would say it. Without `close` the end of the turn closes the tag."""
    tag = turn.tool if turn.act == "call" else turn.act
    if turn.by != "assistant" or tag not in TAGS:
        raise ValueError(f"not an action of a policy: {turn}")
    if not close:
        return f"{turn.thought}<{tag}>{turn.text}"
    return f"{turn.thought}\n<{tag}>{turn.text}</{tag}>".lstrip("\n")


def system(lang: Lang, tools: Sequence[str] = TOOLS) -> str:
    """The system prompt that explains the actions to a model."""
    head, acts, foot = _SYSTEM[lang]
    return "\n".join([head, *(f"- {text}" for tag, text in acts.items() if _offered(tag, tools)), foot])


def malformed(lang: Lang, tools: Sequence[str] = TOOLS) -> str:
    """The reply to a turn without an action: one line, because it may come often."""
    return _MALFORMED[lang].format(tags=" ".join(f"<{tag}>" for tag in TAGS if _offered(tag, tools)))


def _offered(tag: str, tools: Sequence[str]) -> bool:
    return tag not in TOOLS or tag in tools


def _first_action(text: str) -> re.Match[str] | None:
    """The first action tag outside think blocks. A cue may open the first block, so `</think>` can come alone."""
    lead = text.find(THOUGHT)
    at = lead + len(THOUGHT) if lead >= 0 and THINK not in text[:lead] else 0
    while act := _OPENING.search(text, at):
        block = text.find(THINK, at, act.start())
        if block < 0:
            return act
        end = text.find(THOUGHT, block)
        if end < 0:
            return None
        at = end + len(THOUGHT)
    return None
