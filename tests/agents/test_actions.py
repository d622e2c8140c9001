"""A turn is free reasoning followed by one action; parsing never crashes, whatever the model writes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgate_env.actions import TAGS, Action, malformed, parse, say, system
from askgate_env.types import LANGS, Sample, Turn


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("<ask>Which Lund?</ask>", Action("ask", "Which Lund?")),
        ("Two of them.\n<wiki> Lund </wiki>", Action("call", "Lund", "wiki", "Two of them.")),
        ("<calc>1 < 2</calc>", Action("call", "1 < 2", "calc")),
        ("so <answer>42", Action("answer", "42", thought="so")),
        ("<ask>Which?</ask> or <answer>42</answer>", Action("ask", "Which?")),
        ("<ask>Which?<answer>42", Action("ask", "Which?")),
        ("<ask>Which?</answer>", Action("ask", "Which?")),
        (
            "<think>maybe <answer>1</answer></think><answer>2</answer>",
            Action("answer", "2", thought="maybe <answer>1</answer>"),
        ),
        (
            "it opened in the cue <answer>1</think>\n<answer>2",
            Action("answer", "2", thought="it opened in the cue <answer>1"),
        ),
        ("<think>a</think>b<think><ask>c</ask></think><ask>d", Action("ask", "d", thought="ab<ask>c</ask>")),
        ("<answer>2</answer><think>", Action("answer", "2")),
    ],
)
def test_the_first_action_outside_think_blocks_counts(text: str, act: Action) -> None:
    assert parse(text) == act


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The answer is 42.",
        "<answer></answer>",
        "<ask> </ask>",
        "<think><answer>42</answer>",
        "</answer>",
        "<ANSWER>1",
    ],
)
def test_a_turn_without_an_action_is_none(text: str) -> None:
    assert parse(text) == Action("none", text.strip())


def test_a_tool_that_is_not_offered_cannot_be_called() -> None:
    assert parse("<wiki>Lund</wiki>", ("calc",)).kind == "none"
    assert parse("<calc>1</calc>", ("calc",)).kind == "call"


@given(
    st.lists(
        st.one_of(
            st.sampled_from([f"<{tag}>" for tag in TAGS] + ["<think>", "</think>", "</ask>"]), st.text(max_size=5)
        )
    )
)
def test_any_text_parses_and_no_action_is_empty(parts: list[str]) -> None:
    act = parse("".join(parts))
    assert act.kind == "none" or act.text


@pytest.mark.parametrize("close", [True, False])
def test_demonstration_turns_survive_saying_and_parsing(pool: list[Sample], close: bool) -> None:
    for turn in (turn for sample in pool for turn in sample.dialogue if turn.by == "assistant"):
        act = parse(say(turn, close))
        assert (act.kind, act.text, act.tool, act.thought) == (turn.act, turn.text, turn.tool, turn.thought)


def test_only_actions_can_be_said() -> None:
    with pytest.raises(ValueError, match="not an act"):
        say(Turn("user", "say", "Hello"))
    with pytest.raises(ValueError, match="not an act"):
        say(Turn("assistant", "say", "Hello"))


@pytest.mark.parametrize("lang", LANGS)
def test_the_system_prompt_lists_exactly_the_offered_actions(lang: str) -> None:
    for tag in TAGS:
        assert f"<{tag}>" in system(lang)
        assert f"<{tag}>" in malformed(lang)
    assert "<wiki>" not in system(lang, ("calc",)) + malformed(lang, ("calc",))
    assert "\n" not in malformed(lang)
