"""Native tool calls: written and read through a Qwen3 template, and in the environment they are the same actions."""

from __future__ import annotations

import json

import pytest
from transformers import PreTrainedTokenizerFast

from askgate_env.actions import parse, say
from askgate_env.types import Sample, Turn
from src.agents.native import NativeRenderer
from src.agents.trajectory import Job
from src.config.loader import load_train_config
from src.config.train_config import RolloutLimits
from src.core.errors import BadInput
from src.core.files import HOME
from src.data.collate import demo_tokens
from src.rollout.scheduler import Dialogue
from tests.agents.test_chat import PLAIN_TEMPLATE, trl_template, with_template


def tokenizer(template: str) -> PreTrainedTokenizerFast:
    made = with_template(template)
    made.add_tokens(["<tool_call>", "</tool_call>"])
    return made


@pytest.fixture(scope="module")
def qwen3() -> PreTrainedTokenizerFast:
    return tokenizer(trl_template("qwen3"))


@pytest.fixture(scope="module")
def native(qwen3: PreTrainedTokenizerFast) -> NativeRenderer:
    return NativeRenderer(qwen3)


def call(name: str, **arguments: str) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments}, ensure_ascii=False)}\n</tool_call>"


def ids(renderer: NativeRenderer, text: str) -> list[int]:
    return list(renderer.tokenizer.encode(text, add_special_tokens=False))


TURNS = [
    Turn("assistant", "ask", 'Which "Vera"?\nThe chemist?', "Two of them."),
    Turn("assistant", "call", "7 * (3 + 4)", "I compute.", "calc"),
    Turn("assistant", "call", "价目表", "", "wiki"),
    Turn("assistant", "answer", "forty-two", "Sure."),
]


@pytest.mark.parametrize("turn", TURNS)
def test_what_a_demonstration_says_is_read_as_the_same_action(native: NativeRenderer, turn: Turn) -> None:
    said = native.policy(say(turn))
    assert said[-1] in native.stop_ids
    action = parse(native.decode(said))
    assert (action.kind, action.text, action.tool) == (turn.act, turn.text, turn.tool)
    assert action.thought == turn.thought
    marks = native.tokenizer.convert_tokens_to_ids(["<tool_call>", "</tool_call>"])
    assert [token in said for token in marks] == [turn.act != "answer"] * 2


def test_a_call_is_written_as_the_template_writes_it(qwen3: PreTrainedTokenizerFast, native: NativeRenderer) -> None:
    function = {"name": "ask_user", "arguments": {"question": 'Which "Vera"?'}}
    messages = [
        {"role": "user", "content": "Where was Vera born?"},
        {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]},
        {"role": "tool", "content": "The chemist."},
    ]
    whole = qwen3.apply_chat_template(messages, tools=native._offered, tokenize=False, add_generation_prompt=True)
    ours = [
        *native.opening("Where was Vera born?"),
        *native.policy('<ask>Which "Vera"?</ask>'),
        *native.reply("user", "The chemist."),
    ]
    assert qwen3.decode(ours) == whole
    assert '"name": "ask_user"' in whole


READ = {
    "call with a thought": ("<think>Hm.</think>\n\n" + call("wiki", query="Lund"), ("call", "Lund", "wiki")),
    "words before a call": ("Let me look. " + call("calc", expression="1+1"), ("call", "1+1", "calc")),
    "arguments as a string": (
        '<tool_call>{"name": "ask_user", "arguments": "{\\"question\\": \\"Which?\\"}"}</tool_call>',
        ("ask", "Which?", ""),
    ),
    "the first of two calls": (call("calc", expression="1") + call("calc", expression="2"), ("call", "1", "calc")),
    "not closed": (call("wiki", query="Lund").removesuffix("</tool_call>"), ("call", "Lund", "wiki")),
    "an answer": ("<think>\nDone.\n</think>\n\n42", ("answer", "42", "")),
    "tags are words here": ("The tag <ask>is text</ask>", ("answer", "The tag < ask>is text< /ask>", "")),
    "a tag inside an argument": (call("wiki", query="<answer>9</answer>"), ("call", "< answer>9< /answer>", "wiki")),
}
NOT_READ = {
    "no JSON": "<tool_call>\nask_user(question)\n</tool_call>",
    "an unknown tool": call("shell", command="ls"),
    "another argument": call("ask_user", text="Which?"),
    "a number": '<tool_call>{"name": "calc", "arguments": {"expression": 7}}</tool_call>',
    "a list": "<tool_call>[1, 2]</tool_call>",
    "tags in a call that is none": "<tool_call>nothing</tool_call><answer>9</answer>",
    "a thought without end": "<think>I will <answer>9</answer>",
    "nothing": "",
}


@pytest.mark.parametrize("name", READ)
def test_calls_and_answers_are_read(native: NativeRenderer, name: str) -> None:
    text, expected = READ[name]
    action = parse(native.decode(ids(native, text)))
    assert (action.kind, action.text, action.tool) == expected


@pytest.mark.parametrize("name", NOT_READ)
def test_what_is_no_call_is_no_action(native: NativeRenderer, name: str) -> None:
    assert parse(native.decode(ids(native, NOT_READ[name]))).kind == "none"


def test_a_tool_missing_from_the_pool_is_not_offered(qwen3: PreTrainedTokenizerFast) -> None:
    without = NativeRenderer(qwen3, tools=("calc",))
    shown = qwen3.decode(without.opening("How many?", "any system prompt"))
    assert "ask_user" in shown
    assert "wiki" not in shown
    assert parse(without.decode(ids(without, call("wiki", query="Lund")))).kind == "none"


@pytest.mark.parametrize(
    ("prompt", "said"), [("How many?", "Answer the user's question."), ("多少钱？", "请回答用户的问题")]
)
def test_the_system_prompt_speaks_of_tools_and_not_of_tags(native: NativeRenderer, prompt: str, said: str) -> None:
    shown = native.tokenizer.decode(native.opening(prompt, "any system prompt"))
    assert said in shown
    assert "<ask>" not in shown


def test_an_episode_runs_on_native_calls(native: NativeRenderer, pool: list[Sample]) -> None:
    sample = next(one for one in pool if one.needs_clarification)
    limits = RolloutLimits(max_turns=4, max_new_tokens=200, max_tokens=4000, actions="native")
    one = Dialogue(Job(sample), 0, native, limits)
    question = next(turn.text for turn in sample.dialogue if turn.act == "ask")
    for text in (call("ask_user", question=question), "<tool_call>nonsense</tool_call>", f"{sample.answer}"):
        for token in [*ids(native, text), native.policy("<answer>x</answer>")[-1]]:
            one.take(token, -1.0)
    episode = one.trajectory(None).episode
    assert [turn.act for turn in episode.turns if turn.by == "assistant"] == ["ask", "say", "answer"]
    assert episode.received_info
    assert episode.success
    shown = native.tokenizer.decode(one.tokens)
    assert shown.count("<tool_response>") == 2
    assert "error: call one tool" in shown or "错误：请调用一个工具" in shown


def test_demonstrations_of_a_pool_are_native_too(native: NativeRenderer, pool: list[Sample]) -> None:
    sample = next(one for one in pool if one.needs_clarification)
    tokens, policy = demo_tokens(sample, native, thoughts=True, system="tags")
    shown = native.tokenizer.decode([token for token, mine in zip(tokens, policy, strict=True) if mine])
    assert shown.count("<tool_call>") == sum(turn.act in ("ask", "call") for turn in sample.dialogue[1:])
    assert "<ask>" not in shown


@pytest.mark.parametrize("name", ["qwen3_5_think", "plain"])
def test_a_template_without_such_calls_is_refused(name: str) -> None:
    template = PLAIN_TEMPLATE if name == "plain" else trl_template(name)
    with pytest.raises(BadInput, match=r"rollout\.actions: the chat template has no tool calls"):
        NativeRenderer(tokenizer(template))


def test_the_config_says_which_actions() -> None:
    config = HOME / "configs/ppo_scale.yaml"
    assert load_train_config(config).rollout.actions == "tags"
    limits = load_train_config(config, ["rollout.actions=native"]).rollout_limits(("calc",))
    assert limits.facts()["actions"] == "native"
    with pytest.raises(BadInput, match="thoughts"):
        load_train_config(config, ["rollout.actions=native", "rollout.thoughts=drop"])
