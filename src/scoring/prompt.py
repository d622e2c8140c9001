"""The judge prompt: the dialogue as the judge sees it, and the HTTP body that asks for one vote. Pure.

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
from .types import VoteRequest
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
PROMPTS: dict[str, tuple[tuple[str, ...], dict[Lang, str]]] = {
    PROMPT_VERSION: (DIMENSIONS, RUBRIC),
    _YES_NO["version"]: (DIMENSIONS, RUBRIC),
    **{version: (tuple(one["dimensions"]), one["rubric"]) for version, one in _BENCHMARK_PROMPTS.items()},
}
"""Dimensions and rubric of every prompt by its version. A prompt without dimensions asks for free text."""
_SPEAKERS: dict[Lang, dict[str, str]] = _TEXT["speakers"]
_SENT_AS_IS = {"temperature", "max_tokens", "max_completion_tokens", "reasoning_effort"}
_LINE_BREAK = re.compile("(\r\n|[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029])")
"""Every character that some program takes for the end of a line."""
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
    """The dialogue as the judge sees it. Gold answer and hidden span are in it only if a message contains them.

    Lines that continue a message start with `| `, so no text can imitate another speaker by a line break.
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
    """The name of a tool, quoted if it is not a word, so that it cannot end the line or look like the message."""
    if not name:
        return ""
    return f" {name}" if _WORD.fullmatch(name) else f" {json.dumps(name)}"


def prompt_version(provider: Provider) -> str:
    """The version of the prompt that this judge gets."""
    return str(_YES_NO["version"]) if provider.family.response_format == "yes_no" else PROMPT_VERSION


def vote_request(provider: Provider, lang: Lang, text: str, vote: int, version: str = "") -> VoteRequest:
    """A request for one vote with the prompt of that version; by default with today's prompt for dialogues."""
    version = version or prompt_version(provider)
    server, dimensions = provider.server, PROMPTS[version][0]
    without_dialogue = VoteRequest(
        provider.name, provider.model, version, dimensions, lang, text="", vote=0, server=server
    )
    # Rubric and all request parameters: everything that is sent but the dialogue.
    body = request_body(provider, without_dialogue, bad_replies=0)
    if provider.family.response_format == "yes_no":
        body["prompt"] = [_questions(without_dialogue, number) for number in range(WORDINGS)]
    way = sha256(msgspec.json.encode(body)).hexdigest()[:16]
    return msgspec.structs.replace(without_dialogue, text=text, vote=vote, way=way)


def request_body(provider: Provider, request: VoteRequest, bad_replies: int) -> dict[str, Any]:
    """The HTTP body of a call, with the parameters of the model's family.

    `bad_replies`: number of earlier bad replies to this request. It changes the seed, so that the judge answers
    differently.
    """
    family = provider.family
    if family.response_format == "yes_no":
        prompts = _questions(request, request.vote + 1000 * bad_replies)
        return {"model": provider.model, "prompt": prompts, "max_tokens": 1, "logprobs": LISTED_TOKENS}
    body: dict[str, Any] = {
        **family.extra_body,
        "model": provider.model,
        "messages": _messages(request.text, PROMPTS[request.prompt_version][1][request.lang]),
        **family.model_dump(include=_SENT_AS_IS, exclude_none=True),
    }
    if family.seed:
        body["seed"] = 1 + request.vote + 1000 * bad_replies
    if not request.dimensions:
        return body
    if family.response_format == "grammar":
        body["grammar"] = _grammar(request.dimensions)
    elif family.response_format == "json_schema":
        schema = {"name": "scores", "strict": True, "schema": _schema(request.dimensions)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif family.response_format:
        body["response_format"] = {"type": family.response_format}
    return body


def _messages(text: str, rubric: str) -> list[dict[str, str]]:
    """System and user message. The marks contain a hash of the text, so that no text can contain its own marks."""
    mark = sha256(text.encode()).hexdigest()[:12]
    return [
        {"role": "system", "content": rubric},
        {"role": "user", "content": f"<dialogue {mark}>\n{text}\n</dialogue {mark}>"},
    ]


def _questions(request: VoteRequest, vote: int) -> list[str]:
    """The prompts of one vote: a good and a bad question per dimension, after the same examples and dialogue."""
    wording, lead = vote % (WORDINGS // len(_YES_NO["leads"])), vote % len(_YES_NO["leads"])
    dialogue = f"Dialogue:\n{_without_results(request.text, request.lang)}\n{_YES_NO['leads'][lead]}"
    start = f"{_YES_NO['examples']}\n\n{dialogue}\n"
    return [start + question for name in request.dimensions for question in _YES_NO["questions"][name][wording]]


def _without_results(text: str, lang: Lang) -> str:
    """The dialogue with only the first `tool_chars` characters of each tool result."""
    limit, lines, in_result = _YES_NO["tool_chars"], [], False
    for line in text.split("\n"):
        if not line.startswith("| "):
            in_result = line.startswith(_SPEAKERS[lang]["result"])
            lines.append(f"{line[:limit]} ..." if in_result and len(line) > limit else line)
        elif not in_result:
            lines.append(line)
    return "\n".join(lines)


def _grammar(dimensions: tuple[str, ...]) -> str:
    """A llama.cpp grammar for the same JSON as `_schema`, without white space, which would cost tokens."""
    fields = ' "," '.join(f'"\\"{name}\\":" n' for name in dimensions)
    return f'root ::= "{{" {fields} "}}"\nn ::= "{TOP}" | [0-9]'


def _schema(dimensions: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "integer", "minimum": 0, "maximum": TOP} for name in dimensions},
        "required": list(dimensions),
        "additionalProperties": False,
    }
