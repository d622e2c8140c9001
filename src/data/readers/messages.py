"""Your own dialogues: one JSON object a line, OpenAI messages or ShareGPT, with an optional field `hidden`.

    {"messages": [{"role": "user", "content": "When does the shop open?"}, {"role": "assistant", "content": "At 9."}]}
    {"conversations": [{"from": "human", "value": "..."}, {"from": "gpt", "value": "..."}],
     "hidden": {"span": "the shop in Lyon", "missing": "which shop you mean", "options": ["the shop in Nice"]}}

The first user message is the question and the last assistant message the answer. With `hidden`, the question lacks
`span`, and the user says it when asked. Rows without an answer are for detection only: whether the policy asks.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from ...agents.success import number, verdict
from ...core.errors import BadInput
from ...core.jsonl import read_lines
from ...core.tokenize import CJK, occurs, words
from ...core.types import Article, Hidden, Lang, Task
from ..difficulty.text_features import FUNCTION_WORDS
from ..pool.source import Item, Step
from .natural_records import NATURAL, decode_line

USERS, ASSISTANTS = frozenset({"user", "human"}), frozenset({"assistant", "gpt"})
LONGEST_ANSWER = 12
"""Words of an answer that an exact match can judge."""


class Message(Struct, frozen=True):
    role: str = ""
    content: str = ""
    speaker: str = field(default="", name="from")
    value: str = ""


class HiddenInfo(Struct, frozen=True):
    """The information that the first message lacks."""

    span: str
    missing: str = ""
    """What to ask for: `which shop you mean`."""
    options: tuple[str, ...] = ()
    """Other readings, where there are some."""


class Page(Struct, frozen=True):
    title: str
    text: str


class MessagesRow(Struct, frozen=True):
    messages: tuple[Message, ...] = ()
    conversations: tuple[Message, ...] = ()
    hidden: HiddenInfo | None = None
    articles: tuple[Page, ...] = ()
    """Pages that the `wiki` tool can show."""
    answer: str | None = None
    """The bare answer, where the last message has more than that."""
    id: str = ""


def read(files: list[Path]) -> tuple[list[Item], int]:
    rows = [
        (f"{path}:{at}", decode_line(line, MessagesRow, f"{path}:{at}"))
        for path in files
        for at, line in read_lines(path)
    ]
    items = [_item(row, where) for where, row in rows]
    answers = [item.answer for item in items]
    task = _task(answers)
    if task == "detect":
        items = [_with(item, task, NATURAL["detect_answer"]) for item in items]
    else:
        items = [_with(item, task, item.answer) for item in items if item.answer]
    return items, len(rows)


def _task(answers: list[str]) -> Task:
    """The rule of success that fits the answers: numbers, yes or no, short texts, else none."""
    known = [answer for answer in answers if answer]
    if len(known) < len(answers) / 2:
        return "detect"
    if all(number(answer) is not None for answer in known):
        return "gsm8k"
    return "strategyqa" if all(verdict(answer) is not None for answer in known) else "hotpotqa"


def _item(row: MessagesRow, where: str) -> Item:
    turns = [(one.role or one.speaker, (one.content or one.value).strip()) for one in row.messages or row.conversations]
    question = next((text for role, text in turns if role in USERS and text), "")
    if not question:
        raise BadInput(
            "no message of a user", where=where, remedy="give `messages` with role and content, or `conversations`"
        )
    last = next((text for role, text in reversed(turns) if role in ASSISTANTS), "")
    answer = row.answer if row.answer is not None else last if len(words(last)) <= LONGEST_ANSWER else ""
    hidden = _hidden(row.hidden, question, where) if row.hidden else None
    context = tuple(
        Article(one.title, tuple(filter(None, [one.text.strip()]))) for one in row.articles if one.text.strip()
    )
    steps = tuple(Step("wiki", one.title) for one in context[:2])
    return Item(
        task="detect",
        lang=_lang(question),
        source_id=f"messages:{row.id or hashlib.sha256(question.encode()).hexdigest()[:16]}",
        premise="",
        clue="",
        question=question,
        original=f"{question} {hidden.span}" if hidden else question,
        context=context,
        support=tuple(article.text for article in context) or (question,),
        answer=answer,
        steps=steps,
        hidden=hidden,
        ask_after=len(steps[:1]),
        ambiguity=("own-data",) if hidden else (),
    )


def _hidden(info: HiddenInfo, question: str, where: str) -> Hidden:
    if not words(info.span) or occurs(info.span, question):
        raise BadInput(
            f"hidden.span {info.span!r} is empty or already in the question",
            where=where,
            remedy="take the span out of the first user message, or leave `hidden` out",
        )
    zh = _lang(question) == "zh"
    listed = ("、" if zh else ", ").join(sorted((info.span, *info.options)))
    choice = f"您指的是哪一个：{listed}" if zh else f"which you mean: {listed}"
    missing = info.missing or (choice if info.options else "您具体指什么" if zh else "what exactly you mean")
    about = [word for word in words(f"{missing} {info.span}") if word not in FUNCTION_WORDS and (zh or len(word) > 2)]
    is_number = number(info.span) is not None and not info.options
    return Hidden(
        "quantity" if is_number else "sense",
        info.span,
        missing,
        tuple(dict.fromkeys(about)),
        ((info.span,), *((one,) for one in info.options)),
    )


def _with(item: Item, task: Task, answer: str) -> Item:
    return replace(item, task=task, answer=answer)


def _lang(text: str) -> Lang:
    return "zh" if len(re.findall(f"[{CJK}]", text)) > len(text) / 4 else "en"
