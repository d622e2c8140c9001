"""Your own dialogues: one JSON object a line, OpenAI messages, ShareGPT or Alpaca, with an optional field `hidden`.

    {"messages": [{"role": "user", "content": "When does the shop open?"}, {"role": "assistant", "content": "At 9."}]}
    {"conversations": [{"from": "human", "value": "..."}, {"from": "gpt", "value": "..."}],
     "hidden": {"span": "the shop in Lyon", "missing": "which shop you mean", "options": ["the shop in Nice"]}}
    {"instruction": "When does the shop open?", "input": "", "output": "At 9."}

The first user message is the question and the last assistant message the answer; in Alpaca's format these are
`instruction` with `input`, and `output`. With `hidden`, the question lacks
`span`, and the user says it when asked. Rows without an answer are for detection only: whether the policy asks. A row
that breaks a rule is skipped, and `skipped_rows` says which row and which rule.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from askgate_env.success import number, verdict
from askgate_env.tokenize import CJK, occurs, words
from askgate_env.tools import search
from askgate_env.types import Article, Hidden, Lang, Task

from ...core.errors import BadInput
from ...core.jsonl import decode, read_lines
from ..difficulty.text_features import FUNCTION_WORDS
from ..pool.source import Item, Step
from .articles import split_sentences
from .natural_records import NATURAL

USERS, ASSISTANTS = frozenset({"user", "human"}), frozenset({"assistant", "gpt", "chatgpt"})
_ARTICLE = re.compile(r"^(?:the|an?) ", re.I)
_CHINESE_STOP = re.compile(r"(?<=[。！？])")
LONGEST_ANSWER = 12
"""Words of an answer that an exact match can judge."""


class Part(Struct, frozen=True):
    """A part of a message; only its text is read."""

    text: str = ""


class Message(Struct, frozen=True):
    """A message of OpenAI (`role`, `content`) or of ShareGPT (`from`, `value`)."""

    role: str = ""
    content: str | tuple[Part, ...] | None = ""
    """None in a message that only calls tools."""
    speaker: str = field(default="", name="from")
    value: str = ""

    @property
    def text(self) -> str:
        parts = self.content if isinstance(self.content, tuple) else (Part(self.content or self.value),)
        return "\n".join(part.text for part in parts if part.text).strip()


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
    instruction: str = ""
    input: str = ""
    output: str = ""
    hidden: HiddenInfo | None = None
    articles: tuple[Page, ...] = ()
    """Pages that the `wiki` tool can show."""
    answer: str | None = None
    """The bare answer, where the last message has more than that."""
    id: str = ""


def read(files: list[Path]) -> tuple[list[Item], int]:
    """Items of the rows that can be used, and the number of rows."""
    items, skipped, rows = _read(files)
    if skipped and not items:
        raise BadInput(skipped[0].removesuffix("."), remedy="correct the rows; docs/data.md has the format")
    return items, rows


def skipped_rows(data_dir: Path) -> list[str]:
    """Why rows of the files in a folder gave no sample: `own/chats.jsonl:7: skipped: ...`."""
    return _read(sorted(data_dir.glob(NATURAL["files"]["messages"])))[1]


def _read(files: list[Path]) -> tuple[list[Item], list[str], int]:
    lines = [(f"{path}:{at}", line) for path in files for at, line in read_lines(path)]
    items: dict[str, tuple[str, Item]] = {}
    skipped: list[str] = []
    decoder = msgspec.json.Decoder(MessagesRow)
    for where, line in lines:
        made = _item(decode(decoder, line, where))
        if isinstance(made, str):
            skipped.append(f"{where}: skipped: {made}.")
        elif made.source_id in items:
            skipped.append(f"{where}: skipped: its question or id is that of {items[made.source_id][0]}.")
        else:
            items[made.source_id] = where, made
    task = _task([item.answer for _, item in items.values()])
    if task == "detect":
        return [_with(item, task, NATURAL["detect_answer"]) for _, item in items.values()], skipped, len(lines)
    skipped += [
        f"{where}: skipped: the last assistant message has more than {LONGEST_ANSWER} words or is missing, and most "
        "rows have a short answer: give `answer`."
        for where, item in items.values()
        if not item.answer
    ]
    return [_with(item, task, item.answer) for _, item in items.values() if item.answer], skipped, len(lines)


def _task(answers: list[str]) -> Task:
    """The rule of success that fits the answers: numbers, yes or no, short texts, else none."""
    known = [answer for answer in answers if answer]
    if len(known) < len(answers) / 2:
        return "detect"
    if all(number(answer) is not None for answer in known):
        return "gsm8k"
    return "strategyqa" if all(verdict(answer) is not None for answer in known) else "hotpotqa"


def _item(row: MessagesRow) -> Item | str:
    """The item of a row, or the rule that it breaks."""
    turns = [(one.role or one.speaker, one.text) for one in row.messages or row.conversations]
    if row.instruction and not turns:
        turns = [("user", f"{row.instruction}\n\n{row.input}".strip()), ("assistant", row.output.strip())]
    question = next((text for role, text in turns if role in USERS and text), "")
    if not question:
        return "no message of a user: give `messages` with role and content, `conversations`, or `instruction`"
    if row.hidden and (broken := _broken_rule(row.hidden, question)):
        return broken
    last = next((text for role, text in reversed(turns) if role in ASSISTANTS), "")
    answer = row.answer if row.answer is not None else last if len(words(last)) <= LONGEST_ANSWER else ""
    hidden = _hidden(row.hidden, question) if row.hidden else None
    context = tuple(Article(one.title, _sentences(one.text)) for one in row.articles if one.text.strip())
    steps = _steps(context, question, hidden, answer)
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


def _steps(context: tuple[Article, ...], question: str, hidden: Hidden | None, answer: str) -> tuple[Step, ...]:
    """A search with the words of the question, then the page that is meant or, without it, the one with the answer."""
    if not context:
        return ()
    query = question.rstrip("？?。.！! ")
    if _lang(question) == "en":
        query = " ".join(word for word in words(question) if word not in FUNCTION_WORDS) or query
    found = search(context, query)
    meant = [one for one in context if hidden and (occurs(one.title, hidden.span) or occurs(hidden.span, one.title))]
    answering = [one for one in context if answer and occurs(answer, one.text)]
    page = [*meant, *answering, *found, *context][0]
    return (Step("wiki", query), Step("wiki", page.title)) if found else (Step("wiki", page.title),)


def _sentences(text: str) -> tuple[str, ...]:
    return tuple(part for one in split_sentences(text) for part in _CHINESE_STOP.split(one) if part)


def _broken_rule(info: HiddenInfo, question: str) -> str:
    """The rule that the hidden information breaks, if any."""
    if not words(info.span):
        return "`hidden.span` is empty: give the words that the first user message lacks, or leave `hidden` out"
    for option in (info.span, *info.options):
        if occurs(option, question):
            what = "hidden.span" if option == info.span else "hidden.options"
            return f"`{what}` {option!r} is already in the question: take it out of the first user message"
    if info.span in info.options:
        return f"`hidden.options` has the span {info.span!r} itself: list the other readings only"
    return ""


def _hidden(info: HiddenInfo, question: str) -> Hidden:
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
        tuple(tuple(dict.fromkeys((one, _ARTICLE.sub("", one)))) for one in (info.span, *info.options)),
    )


def _with(item: Item, task: Task, answer: str) -> Item:
    return replace(item, task=task, answer=answer)


def _lang(text: str) -> Lang:
    return "zh" if len(re.findall(f"[{CJK}]", text)) > len(text) / 4 else "en"
