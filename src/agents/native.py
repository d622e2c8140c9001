"""Native tool calls instead of tags (`rollout.actions: native`), for models whose chat template has `<tool_call>`.

    <think>Two people have this name.</think>
    <tool_call>
    {"name": "ask_user", "arguments": {"question": "Which Vera Lindqvist?"}}
    </tool_call>

The template lists the tools (`wiki`, `calc`, `ask_user`) in the layout that the model was trained on, as Qwen and
Hermes models are. A reply without a call is the answer. Replies of the user and of tools are results of the call.
Environment, reward and records use tags only: `decode` converts a call to the tags of its action, `policy` an action to
a call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import yaml

from askgate_env.actions import TAGS, THINK, THOUGHT, TOOLS, malformed, parse

from ..core.errors import BadInput
from ..core.files import read_json
from .render import CJK_TEXT, ChatRenderer, Renderer, renderer_for

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

CALL, CALLED = "<tool_call>", "</tool_call>"
TOOLS_FILE = "tools.json"
"""File with the functions of a saved policy, in the format of chat servers. A policy that writes tags has none."""
_DUMMY = "dummy argument"
_CALL = re.compile(rf"{CALL}\s*(.*?)\s*(?:{CALLED}|$)", re.DOTALL)
_TAG = re.compile(rf"<(/?(?:{'|'.join(TAGS)}|think)>)")


@cache
def _texts() -> dict[str, Any]:
    texts: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("native_tools.yaml").read_bytes())
    return texts


class NativeRenderer(ChatRenderer):
    """The chat template of a model, with its tool calls as actions."""

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, stop_ids: frozenset[int] = frozenset(), tools: Sequence[str] = TOOLS
    ) -> None:
        self.tools = tuple(tools)
        self._calls = {one["tag"]: one for one in _texts()["tools"] if one["tag"] in ("ask", *tools)}
        self._by_name = {one["name"]: one for one in self._calls.values()}
        self._offered = functions(tools)
        super().__init__(tokenizer, stop_ids)
        self._spoken = re.compile(f"({THINK}|{THOUGHT}|{CALL}|{CALLED})")
        if self._replies["tool"] is self._replies["user"]:
            raise _no_calls("it has no role for the result of a tool")
        self._frames = {tag: self._call_frame(one) for tag, one in self._calls.items()}

    def opening(self, prompt: str, system: str | None = None) -> list[int]:
        """The opening with the tools. The system prompt for tags is replaced by ours, in the language of the prompt."""
        language = "zh" if CJK_TEXT.search(prompt) else "en"
        return super().opening(prompt, None if system is None else _texts()["system"][language])

    def reply(self, by: str, text: str) -> list[int]:
        for lang in ("en", "zh"):
            if text == malformed(lang, self.tools):  # names tags
                text = _texts()["malformed"][lang]
        return super().reply("tool", text)

    def policy(self, text: str) -> list[int]:
        """The turn of a demonstration. Its thought goes into a think block. For a model without think blocks it goes
        before a call; before an answer it is left out, because it would be part of the answer."""
        action = parse(text, self.tools)
        tag = action.tool if action.kind == "call" else action.kind
        turn = action.text
        if tag in self._frames:
            before, after = self._frames[tag]
            turn = before + json.dumps(action.text, ensure_ascii=False)[1:-1] + after
        if action.thought and self.think is not None:
            turn = f"{THINK}\n{action.thought}\n{THOUGHT}\n\n{turn}"
            if self.think.is_open:
                turn = turn.removeprefix(f"{THINK}\n")
        elif action.thought and tag in self._frames:
            turn = f"{action.thought}\n{turn}"
        return super().policy(turn)

    def decode(self, ids: Sequence[int]) -> str:
        """The turn in tags, for `actions.parse`: a thought, and the action of the call, or an answer without one."""
        text = super().decode(ids)
        if THOUGHT not in text and text.startswith(THINK):
            return text  # a thought without end
        head, close, rest = text.rpartition(THOUGHT)
        head += close
        found = _CALL.search(rest)
        if found is None:
            answer = _without_tags(rest.strip())
            return f"{head}<answer>{answer}</answer>" if answer else head
        head += _without_tags(rest[: found.start()])
        tag, argument = self._read_call(found[1])
        return f"{head}<{tag}>{_without_tags(argument)}</{tag}>" if tag else head + _without_tags(rest)

    def _read_call(self, text: str) -> tuple[str, str]:
        """Tag and argument of a call; an empty tag if it is not a valid call of one of the tools."""
        try:
            call = json.loads(text)
            tool, given = self._by_name[call["name"]], call["arguments"]
            argument = (json.loads(given) if isinstance(given, str) else given)[tool["argument"]]
        except (ValueError, LookupError, TypeError, RecursionError):
            return "", ""
        return (tool["tag"], argument) if isinstance(argument, str) else ("", "")

    def _rendered(self, messages: list[dict[str, Any]], cue: bool = True, **more: Any) -> str:
        return super()._rendered(messages, cue, tools=self._offered)

    def _call_frame(self, tool: dict[str, str]) -> tuple[str, str]:
        """The text that the template writes before and after the argument of a call."""
        call = {"type": "function", "function": {"name": tool["name"], "arguments": {tool["argument"]: _DUMMY}}}
        messages: list[dict[str, Any]] = [
            {"role": "user", "content": "dummy"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
        ]
        text = self._rendered(messages, cue=False)
        start = text.rfind(CALL)
        parts = text[start : text.find(CALLED, start) + len(CALLED)].split(_DUMMY) if start >= 0 else []
        if len(parts) != 2 or self._read_call(f"{parts[0]}x{parts[1]}"[len(CALL) : -len(CALLED)]) != (tool["tag"], "x"):
            raise _no_calls(f"it does not write a call as JSON between {CALL} and {CALLED}")
        return parts[0], parts[1]


def make_renderer(
    tokenizer: PreTrainedTokenizerBase, stop_ids: frozenset[int], actions: str, tools: Sequence[str]
) -> Renderer:
    """The renderer of a tokenizer; `actions` and `tools` as in `RolloutLimits`."""
    return NativeRenderer(tokenizer, stop_ids, tools) if actions == "native" else renderer_for(tokenizer, stop_ids)


def system_prompts() -> dict[str, str]:
    """The system prompt by language."""
    return dict(_texts()["system"])


def functions(tools: Sequence[str]) -> list[dict[str, Any]]:
    """`ask_user` and these tools, in the layout of chat templates and of the OpenAI protocol."""
    made = []
    for tool in (one for one in _texts()["tools"] if one["tag"] in ("ask", *tools)):
        properties = {tool["argument"]: {"type": "string"}}
        parameters = {"type": "object", "properties": properties, "required": [tool["argument"]]}
        about = {"name": tool["name"], "description": tool["description"], "parameters": parameters}
        made.append({"type": "function", "function": about})
    return made


def saved_functions(folder: Path) -> list[str]:
    """Names of the functions that the policy in this folder calls; none if it writes tags."""
    file, remedy = folder / TOOLS_FILE, "restore the file that the run wrote"
    if not file.exists():
        return []
    try:
        return [one["function"]["name"] for one in read_json(file, remedy)]
    except (LookupError, TypeError):
        raise BadInput("is not a list of functions", where=str(file), remedy=remedy) from None


def action_format(names: Sequence[str]) -> tuple[Literal["tags", "native"], tuple[str, ...]]:
    """`actions` and `tools` of `RolloutLimits` for a policy that calls functions of these names, or none."""
    if not names:
        return "tags", TOOLS
    return "native", tuple(one["tag"] for one in _texts()["tools"] if one["name"] in names and one["tag"] in TOOLS)


def _without_tags(text: str) -> str:
    """The text with its tags broken (`< ask>`), so that they are not parsed as actions."""
    return _TAG.sub(r"< \1", text)


def _no_calls(why: str) -> BadInput:
    return BadInput(
        f"the chat template has no tool calls that AskGate can read: {why}",
        where="rollout.actions",
        remedy="use a model such as Qwen3 or Hermes, or set rollout.actions: tags",
    )
