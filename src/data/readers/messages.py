"""Your own dialogues: one JSON object a line, OpenAI messages, ShareGPT, Alpaca, or question and answer (also as CSV),
with an optional field `hidden`.

    {"messages": [{"role": "user", "content": "When does the shop open?"}, {"role": "assistant", "content": "At 9."}]}
    {"conversations": [{"from": "human", "value": "..."}, {"from": "gpt", "value": "..."}],
     "hidden": {"span": "the shop in Lyon", "missing": "which shop you mean", "options": ["the shop in Nice"]}}
    {"instruction": "When does the shop open?", "input": "", "output": "At 9."}
    {"question": "When does the shop open?", "answer": "At 9."}

The first user message is the question and the last assistant message the answer (Alpaca: `instruction` with `input`,
and `output`). With `hidden`, the question lacks `span`, and the user says it when asked. A row in which the assistant
asks the user something needs `hidden`, null if nothing is missing: whether the question was needed cannot be read off
the dialogue. Rows without an answer are for detection only. A row that breaks a rule is skipped and named.

    question,answer,id,hidden,missing,options                      (CSV; only `question` is required)
    When does the shop open?,at 9 am,17,the shop in Lyon,which shop you mean,the shop in Nice|the shop in Metz
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from askgate_env.success import number, verdict
from askgate_env.tokenize import CJK, occurs, words
from askgate_env.tools import search
from askgate_env.types import Article, Hidden, Lang, Task

from ...core.errors import BadInput
from ...core.files import explain_read_errors
from ...core.jsonl import decode, grouped, listed, read_all, read_lines, refuse_other_encoding
from ..difficulty.text_features import FUNCTION_WORDS, content_words
from ..pool.source import Item, Step
from .articles import split_sentences
from .natural_records import NATURAL

USERS, ASSISTANTS = frozenset({"user", "human"}), frozenset({"assistant", "gpt", "chatgpt"})
_ARTICLE = re.compile(r"^(?:the|an?) ", re.I)
_CHINESE_STOP = re.compile(r"(?<=[。！？])")
LONGEST_ANSWER = 12
"""Words of an answer that an exact match can judge. Two Chinese characters count as one word."""
_CHINESE = re.compile(f"[{CJK}]")
SHOWN = 60
"""Characters of a message that an error shows."""
HIDDEN_FORMAT = (
    'give the words that the question lacks, "hidden": {"span": "the shop in Lyon", "missing": "which shop you mean"}, '
    'or "hidden": null if nothing is missing'
)
ROW_FORMAT = (
    'a row is {"messages": [{"role": "user", "content": ...}, ...]}, conversations, instruction with output, or '
    '{"question": ..., "answer": ...}; docs/tutorial.md has the formats'
)

CSV = (".csv", ".tsv")
_BARE_NUMBER = re.compile(r"[-+]?[$€£¥￥]?\s?\d[\d,]*(\.\d+)?\s?[%$€£¥]?")
"""A number with at most a sign of currency or percent."""
KNOWN_COLUMNS = ("question", "answer", "id", "hidden", "missing", "options")
CLOSE = 0.75
"""Similarity from which an unknown field is taken for a misspelt one."""
COLUMNS = "name the columns question and answer; optional are id, hidden, missing and options"


class Part(Struct, frozen=True):
    """A part of an OpenAI message with several parts; only its text is read."""

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
    """The missing information as a question asks for it: `which shop you mean`."""
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
    question: str = ""
    hidden: HiddenInfo | str | UnsetType | None = UNSET
    """Text is the span alone. None says that nothing is missing, even where the assistant asks something."""
    missing: str = ""
    options: tuple[str, ...] = ()
    """`missing` and `options` belong to a `hidden` that is text."""
    articles: tuple[Page, ...] = ()
    """Pages that the `wiki` tool can show."""
    answer: str | None = None
    """The answer alone, where the last message says more; in a row with `question` it is the last message."""
    id: str = ""

    @property
    def turns(self) -> list[tuple[str, str]]:
        """Role and text of each message."""
        if said := self.messages or self.conversations:
            return [(one.role or one.speaker, one.text) for one in said]
        asked, answer = f"{self.instruction}\n\n{self.input}", self.output
        if not self.instruction:
            asked, answer = self.question, self.answer or ""
        return [("user", asked.strip()), ("assistant", answer.strip())] if asked.strip() else []


FIELDS = [one.encode_name for one in msgspec.structs.fields(MessagesRow)]
_ROWS, _RAW_ROWS = msgspec.json.Decoder(MessagesRow), msgspec.json.Decoder(dict[str, Any])


def read(files: list[Path]) -> tuple[list[Item], int]:
    """Items of the rows that can be used, and the number of rows."""
    items, skipped, rows = _read(files)
    if skipped and not items:
        what = "none of the rows can be used:" + listed([row.removesuffix(".") for row in grouped(skipped)])
        raise BadInput(what, remedy=f"correct the rows: {ROW_FORMAT}")
    if not rows:
        raise BadInput("has no rows", where=", ".join(map(str, files)), remedy=ROW_FORMAT)
    return list(items.values()), rows


def skipped_rows(data_dir: Path) -> list[str]:
    """Messages about the rows of a folder that gave no sample: `own/chats.jsonl:7: skipped: ...`."""
    return _read(row_files(data_dir))[1]


def remarks(data_dir: Path) -> list[str]:
    """Remarks about used rows without pages, and about pages of readings that the search does not find."""
    items = _read(row_files(data_dir))[0]
    without_pages = sum(not item.context for item in items.values())
    found = []
    if without_pages:
        found.append(f"{without_pages} of {len(items)} rows have no `articles`: nothing can be looked up for them")
    for where, item in items.items():
        phrases = [phrase for reading in item.hidden.readings for phrase in reading] if item.hidden else []
        pages = [page for page in item.context if any(occurs(page.title, phrase) for phrase in phrases)]
        hits = search(item.context, item.steps[0].input) if len(item.steps) > 1 else ()
        if missed := [page.title for page in pages if page not in hits]:
            found.append(f"{where}: the search does not find {missed[0]!r}: use a word of the question in that page")
    return found


def _read(files: list[Path]) -> tuple[dict[str, Item], list[str], int]:
    """The item of each row (`FILE:LINE`), messages about the rows that gave none, and the number of rows."""
    lines = [(f"{path}:{line_number}", line) for path in files for line_number, line in row_lines(path)]
    items: dict[str, tuple[str, Item, MessagesRow]] = {}
    skipped: list[str] = []
    for (where, _), (row, raw) in zip(lines, read_all(_row, lines), strict=True):
        made = _item(row, raw)
        if isinstance(made, str):  # the rule that the row breaks
            skipped.append(f"{where}: skipped: {made}.")
        elif made.source_id in items:
            skipped.append(f"{where}: skipped: its question or id is that of {items[made.source_id][0]}.")
        else:
            items[made.source_id] = where, made, row
    used = {where: item for where, item, _ in items.values()}
    task = _task([item.answer for item in used.values()])
    if task == "detect":
        stand_ins = NATURAL["detect_answer"]
        for where, item in used.items():
            used[where] = replace(item, answer=stand_ins[item.lang], answer_why="nothing")
        return used, skipped, len(lines)
    for where, item, row in items.values():
        if not item.answer:
            skipped.append(
                f"{where}: skipped: {_why_no_answer(row)}, and most rows have a short answer: give `answer`."
            )
    return {where: replace(item, task=task) for where, item in used.items() if item.answer}, skipped, len(lines)


def _why_no_answer(row: MessagesRow) -> str:
    """The reason why a row has no short answer."""
    if any(role in ASSISTANTS and text for role, text in row.turns):
        return (
            f"the last assistant message has more than {LONGEST_ANSWER} words ({2 * LONGEST_ANSWER} Chinese characters)"
        )
    return "there is no message of the assistant" if row.messages or row.conversations else "the row has no answer"


def _row(where: str, line: bytes) -> tuple[MessagesRow, dict[str, Any]]:
    """A row, and all of its fields. Refuses one that is no row, or has a misspelt field."""
    try:
        row = decode(_ROWS, line, where)
    except BadInput as error:
        raise BadInput(error.what, where=where, remedy=HIDDEN_FORMAT) if "$.hidden" in error.what else error from None
    raw = decode(_RAW_ROWS, line, where)
    refuse_misspelt(raw, FIELDS, where)
    if isinstance(row.hidden, HiddenInfo):
        refuse_misspelt(raw["hidden"], [one.name for one in msgspec.structs.fields(HiddenInfo)], f"{where}: hidden")
    return row, raw


def _task(answers: list[str]) -> Task:
    """The rule of success that fits the answers: numbers, yes or no, short texts, else none."""
    known = [answer for answer in answers if answer]
    if len(known) < len(answers) / 2:
        return "detect"
    # `8 am` is a text: compared as a number it would equal `8 pm`.
    if all(_BARE_NUMBER.fullmatch(answer.strip().rstrip(".")) and number(answer) is not None for answer in known):
        return "gsm8k"
    return "strategyqa" if all(verdict(answer) is not None for answer in known) else "hotpotqa"


def _item(row: MessagesRow, fields: Collection[str]) -> Item | str:
    """The item of a row, or the rule that it breaks. `fields`: names of all fields of the row."""
    turns = row.turns
    given = row.answer if row.messages or row.conversations or row.instruction else None
    question = next((text for role, text in turns if role in USERS and text), "")
    if not question and turns:
        roles = ", ".join(dict.fromkeys(role or "none" for role, _ in turns))
        known = f"known are {', '.join(sorted(USERS))} for the user and {', '.join(sorted(ASSISTANTS))} for the model"
        return f"no message of a user: its roles are {roles}; {known}"
    if not question and (named := [name for name in ("messages", "conversations") if name in fields]):
        return f"`{named[0]}` is empty"
    if not question:
        has = ", ".join(sorted(fields)) or "no fields"
        return f"the row has {has}: give `messages` with role and content, `conversations`, or `instruction`"
    if (row.missing or row.options) and not isinstance(row.hidden, str):
        return "`missing` and `options` belong in `hidden`, beside its `span`"
    info = HiddenInfo(row.hidden, row.missing, row.options) if isinstance(row.hidden, str) else row.hidden or None
    if info and (broken := _broken_rule(info, question)):
        return broken
    if row.hidden is UNSET and (asked := _unmarked_ask(turns)):
        return f"{asked}, and the row has no `hidden`: {HIDDEN_FORMAT}"
    last = next((text for role, text in reversed(turns) if role in ASSISTANTS), "")
    answer = given if given is not None else last if answer_length(last) <= LONGEST_ANSWER else ""
    hidden = _hidden(info, question) if info else None
    context = tuple(Article(one.title, _sentences(one.text)) for one in row.articles if one.text.strip())
    steps = _steps(context, question, hidden, answer)
    return Item(
        task="detect",
        lang=_lang(question),
        source_id=f"messages:{row.id or hashlib.sha256(question.encode()).hexdigest()[:16]}",
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


def _unmarked_ask(turns: list[tuple[str, str]]) -> str:
    """The question that the assistant asks the user before it answers, or instead of an answer; empty if none.

    >>> _unmarked_ask([("user", "When do you open?"), ("assistant", "Which shop?"), ("user", "Lyon"), ("gpt", "At 9.")])
    "the assistant asks 'Which shop?' and is told 'Lyon'"
    >>> _unmarked_ask([("gpt", "How can I help?"), ("user", "When do you open?"), ("gpt", "At 9. Anything else?")])
    ''
    """
    first = next(index for index, (role, text) in enumerate(turns) if role in USERS and text)
    for index, (role, text) in enumerate(turns[first:], first):
        if role not in ASSISTANTS or not text.endswith(("?", "？")):
            continue
        later = [(by, said) for by, said in turns[index + 1 :] if said]
        reply = next((said for by, said in later if by in USERS), "")
        answered = reply and any(by in ASSISTANTS for by, _ in later)
        if answered or len(_sentences(text)) == 1:  # an answer may end in "Anything else?"
            told = f" and is told {reply[:SHOWN]!r}" if reply else ""
            return f"the assistant asks {text[-SHOWN:]!r}{told}"
    return ""


def answer_length(answer: str) -> float:
    """Length of an answer in words. Two Chinese characters are about one word.

    >>> answer_length("at 9 in the morning"), answer_length("早上九点在北门")
    (5, 3.5)
    """
    tokens = words(answer)
    chinese = sum(_CHINESE.fullmatch(token) is not None for token in tokens)
    return len(tokens) - chinese / 2 if chinese else len(tokens)


def _steps(context: tuple[Article, ...], question: str, hidden: Hidden | None, answer: str) -> tuple[Step, ...]:
    """A search with the words of the question, then the page of the hidden reading or, without one, of the answer."""
    if not context:
        return ()
    query = question.rstrip("？?。.！! ")
    if _lang(question) == "en":
        query = " ".join(word for word in words(question) if word not in FUNCTION_WORDS) or query
    hits = search(context, query)
    span = hidden.span if hidden else ""
    meant = [page for page in context if span and (occurs(page.title, span) or occurs(span, page.title))]
    answering = [page for page in context if answer and occurs(answer, page.text)]
    opened = Step("wiki", [*meant, *answering, *hits, *context][0].title)
    return (Step("wiki", query), opened) if hits else (opened,)


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
    about = content_words(f"{missing} {info.span}", shortest=1 if zh else 3)
    is_number = number(info.span) is not None and not info.options
    return Hidden(
        "quantity" if is_number else "sense",
        info.span,
        missing,
        tuple(about),
        tuple(tuple(dict.fromkeys((one, _ARTICLE.sub("", one)))) for one in (info.span, *info.options)),
    )


def _lang(text: str) -> Lang:
    return "zh" if len(re.findall(f"[{CJK}]", text)) > len(text) / 4 else "en"


# --- Files ---


def row_files(folder: Path) -> list[Path]:
    """Files of a folder that have rows."""
    found = sorted(path for path in folder.glob("*") if path.suffix.lower() in (".jsonl", *CSV))
    if not found and (others := sorted(folder.glob("*.json"))):
        lines = others[0].with_suffix(".jsonl")
        remedy = f"convert it: jq -c '.[]' {others[0]} > {lines}; then use {lines}"
        raise BadInput(f"found {others[0].name}; *.jsonl or *.csv is needed", where=str(folder), remedy=remedy)
    return found


def row_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Line numbers (from 1) and rows, each as one JSON object."""
    if path.suffix.lower() in CSV:
        yield from _csv_rows(path)
        return
    for index, (line_number, line) in enumerate(read_lines(path)):
        if index == 0 and line.lstrip()[:1] == b"[":
            lines = path.with_suffix(".lines.jsonl").name
            remedy = f"convert it: jq -c '.[]' {path} > {lines}; then use {lines}"
            raise BadInput("is a JSON array; one JSON object a line is needed", where=str(path), remedy=remedy)
        yield line_number, line


def refuse_misspelt(fields: Collection[str], known: Collection[str], where: str) -> None:
    """Refuses an unknown field whose name is nearly that of a known one: its content would be lost. Other unknown
    fields, such as `metadata` or `conversation_id`, are those of the program that exported the row."""
    for name in fields:
        plain = name.strip().lower()
        if name in known or "_" in plain or len(plain) < 4:
            continue
        if close := get_close_matches(plain, known, n=1, cutoff=CLOSE):
            remedy = f"rename the field in every row, or remove it; known fields: {', '.join(known)}"
            raise BadInput(f"unknown field {name!r} (did you mean {close[0]!r}?)", where=where, remedy=remedy)


def _csv_rows(path: Path) -> Iterator[tuple[int, bytes]]:
    with explain_read_errors(path):
        content = path.read_bytes()
    refuse_other_encoding(content, str(path))
    text = content.decode("utf-8-sig")
    header = text.partition("\n")[0]
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=header.count))
    reader.fieldnames = [name.strip().lower() for name in reader.fieldnames or ()]
    if not any(reader.fieldnames):
        raise BadInput("its first line is empty", where=f"{path}:1", remedy=COLUMNS)
    if "question" not in reader.fieldnames:
        raise BadInput(f"the header has {', '.join(reader.fieldnames)}", where=f"{path}:1", remedy=COLUMNS)
    refuse_misspelt(reader.fieldnames, KNOWN_COLUMNS, f"{path}:1")
    unknown = [name for name in reader.fieldnames if name and name not in KNOWN_COLUMNS]
    if unknown and "answer" not in reader.fieldnames:
        what = f"there is no column answer, and {', '.join(unknown)} would not be read"
        remedy = "rename the column of the answers to answer; if there are none, remove the other columns"
        raise BadInput(what, where=f"{path}:1", remedy=remedy)
    start = reader.line_num + 1
    try:
        for record in reader:
            yield start, msgspec.json.encode(_csv_row(record))
            start = reader.line_num + 1
    except csv.Error as error:  # a quote that is not closed makes one cell of all that follows it
        what = f"is no row of a CSV file ({error})"
        raise BadInput(what, where=f"{path}:{start}", remedy="close the quotes of its cells") from None


def _csv_row(record: dict[str, Any]) -> dict[str, Any]:
    cells = {name: (value or "").strip() for name, value in record.items() if name and isinstance(value, str)}
    row: dict[str, Any] = {name: cells[name] for name in ("question", "answer", "id") if cells.get(name)}
    if span := cells.get("hidden"):
        options = [one.strip() for one in cells.get("options", "").split("|") if one.strip()]
        row["hidden"] = {"span": span, "missing": cells.get("missing", ""), "options": options}
    return row
