"""The judge prompt: how a dialogue is shown to a judge, and the request that asks for one vote. Pure.

The text is in `judge_prompt.yaml`. The rubric comes first and is the same for every dialogue and vote, so that servers
can cache its prefix; the dialogue comes last, between marks, as data. Judges that are too small to write scores get
yes-or-no questions instead (`_questions`).
"""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import msgspec
import yaml

from askgate_env.types import Lang, Turn

from .providers import Provider
from .types import Ask
from .votes import TOP

_TEXT: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("judge_prompt.yaml").read_bytes())
PROMPT_VERSION: str = _TEXT["version"]
DIMENSIONS: tuple[str, ...] = tuple(_TEXT["dimensions"])
RUBRIC: dict[Lang, str] = _TEXT["rubric"]
CANARIES: dict[Lang, dict[str, str]] = _TEXT["canaries"]
_YES_NO: dict[str, Any] = _TEXT["yes_no"]
WORDINGS = len(_YES_NO["leads"]) * len(_YES_NO["questions"][DIMENSIONS[0]])
"""Number of different votes with yes-or-no questions: one per lead and pair of questions."""
LISTED_TOKENS = 10
"""Tokens whose probabilities the server lists. Yes and No, which the examples lead to, are among the first."""
_BENCHMARK_PROMPTS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("benchmark_prompts.yaml").read_bytes())
PROMPTS: dict[str, tuple[tuple[str, ...], dict[Lang, str]]] = dict.fromkeys(
    (PROMPT_VERSION, _YES_NO["version"]), (DIMENSIONS, RUBRIC)
) | {version: (tuple(one["dimensions"]), one["rubric"]) for version, one in _BENCHMARK_PROMPTS.items()}
"""Dimensions and rubric of every prompt by its version. A prompt without dimensions asks for free text."""
_SPEAKERS: dict[Lang, dict[str, str]] = _TEXT["speakers"]
_SENT_AS_IS = {"temperature", "max_tokens", "max_completion_tokens", "reasoning_effort"}
_LINE_BREAK = re.compile("(\r\n|[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029])")
"""Anything that a reader may take for the end of a line."""
_CONTINUATION = r"\1| "
_WORD = re.compile(r"[\w.-]+")


class Dialogue(Protocol):
    """Anything that can be scored: a sample's demonstration, or an episode of a policy."""

    @property
    def id(self) -> str: ...

    @property
    def lang(self) -> Lang: ...

    @property
    def dialogue(self) -> tuple[Turn, ...]: ...


def dialogue_text(sample: Dialogue) -> str:
    """The dialogue as the judge sees it, without the gold answer and the hidden span unless somebody said them.

    Only a message starts a line with its speaker: nobody can speak for another, whatever line breaks they write.
    """
    return "\n".join(line for turn in sample.dialogue for line in _turn_lines(turn, _SPEAKERS[sample.lang]))


def _turn_lines(turn: Turn, speakers: dict[str, str]) -> list[str]:
    if turn.by == "user":
        return [_message(speakers["user"], turn.text)]
    thought = [_message(speakers["thought"], turn.thought)] if turn.thought else []
    return [*thought, _message(speakers[turn.act] + _tool(turn.tool), turn.text)]


def _message(speaker: str, text: str) -> str:
    """
    >>> _message("User", "one\\ntwo")
    'User: one\\n| two'
    """
    return f"{speaker}: {_LINE_BREAK.sub(_CONTINUATION, text)}"


def _tool(name: str) -> str:
    """A tool name that is not a word is quoted, so that it cannot end the line or look like the message."""
    if not name:
        return ""
    return f" {name}" if _WORD.fullmatch(name) else f" {json.dumps(name)}"


def prompt_version(provider: Provider) -> str:
    """The version of the prompt that this judge gets."""
    return str(_YES_NO["version"]) if provider.family.response_format == "yes_no" else PROMPT_VERSION


def ask_for(provider: Provider, lang: Lang, text: str, vote: int, version: str = "") -> Ask:
    """The ask for one vote with the prompt of that version; by default with today's prompt for dialogues."""
    version = version or prompt_version(provider)
    server, dimensions = provider.server, PROMPTS[version][0]
    blank = Ask(provider.name, provider.model, version, dimensions, lang, text="", vote=0, server=server)
    # Everything that is sent beside the dialogue: rubric and all request parameters.
    sent = request(provider, blank, again=0)
    if provider.family.response_format == "yes_no":
        sent["prompt"] = [_questions(blank, number) for number in range(WORDINGS)]
    way = sha256(msgspec.json.encode(sent)).hexdigest()[:16]
    return msgspec.structs.replace(blank, text=text, vote=vote, way=way)


def request(provider: Provider, ask: Ask, again: int) -> dict[str, Any]:
    """The body of a call, by the row of the model's family.

    `again` counts earlier bad replies, so that a seeded judge answers differently.
    """
    family = provider.family
    if family.response_format == "yes_no":
        asked = _questions(ask, ask.vote + 1000 * again)
        return {"model": provider.model, "prompt": asked, "max_tokens": 1, "logprobs": LISTED_TOKENS}
    body: dict[str, Any] = {
        **family.extra_body,
        "model": provider.model,
        "messages": _messages(ask.text, PROMPTS[ask.prompt_version][1][ask.lang]),
        **family.model_dump(include=_SENT_AS_IS, exclude_none=True),
    }
    if family.seed:
        body["seed"] = 1 + ask.vote + 1000 * again
    if not ask.dimensions:
        return body
    if family.response_format == "grammar":
        body["grammar"] = _grammar(ask.dimensions)
    elif family.response_format == "json_schema":
        schema = {"name": "scores", "strict": True, "schema": _schema(ask.dimensions)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif family.response_format:
        body["response_format"] = {"type": family.response_format}
    return body


def _messages(text: str, rubric: str) -> list[dict[str, str]]:
    """System and user message. The marks depend on the text, so that no text can contain its own marks."""
    mark = sha256(text.encode()).hexdigest()[:12]
    return [
        {"role": "system", "content": rubric},
        {"role": "user", "content": f"<dialogue {mark}>\n{text}\n</dialogue {mark}>"},
    ]


def _questions(ask: Ask, vote: int) -> list[str]:
    """The prompts of one vote: a good and a bad question per dimension, after the same examples and dialogue."""
    wording, lead = vote % (WORDINGS // len(_YES_NO["leads"])), vote % len(_YES_NO["leads"])
    shown = f"Dialogue:\n{_without_results(ask.text, ask.lang)}\n{_YES_NO['leads'][lead]}"
    start = f"{_YES_NO['examples']}\n\n{shown}\n"
    return [start + question for name in ask.dimensions for question in _YES_NO["questions"][name][wording]]


def _without_results(text: str, lang: Lang) -> str:
    """The dialogue with the tools' results cut."""
    most, lines, in_result = _YES_NO["tool_chars"], [], False
    for line in text.split("\n"):
        if not line.startswith("| "):
            in_result = line.startswith(_SPEAKERS[lang]["result"])
            lines.append(f"{line[:most]} ..." if in_result and len(line) > most else line)
        elif not in_result:
            lines.append(line)
    return "\n".join(lines)


def _grammar(dimensions: tuple[str, ...]) -> str:
    """llama.cpp grammar: what the schema allows, without white space that a judge would spend tokens on."""
    fields = ' "," '.join(f'"\\"{name}\\":" n' for name in dimensions)
    return f'root ::= "{{" {fields} "}}"\nn ::= "{TOP}" | [0-9]'


def _schema(dimensions: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "integer", "minimum": 0, "maximum": TOP} for name in dimensions},
        "required": list(dimensions),
        "additionalProperties": False,
    }
