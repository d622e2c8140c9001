"""The voice of the demonstrations: one voice, many variants, and asks that the simulated user understands."""

from __future__ import annotations

from collections import Counter
from functools import cache
from random import Random

import pytest

from askgate_env.types import LANGS, Hidden, Lang, Sample, Turn
from askgate_env.user_simulator import informs, reply
from src.data.pool.voice import voice_in
from src.data.quality.consistency import contradictions
from src.data.worlds.texts import Parts, compiled
from tests.data.build_samples import built, small_plan
from tests.data.samples import changed, pool_meta


def variants(template: str) -> int:
    """Number of texts that a template can become, without its slots."""

    def count(parts: Parts) -> int:
        total = 1
        for part in parts:
            if isinstance(part, tuple) and len(part) == 2:
                total *= sum(map(count, part[0]))
        return total

    return count(compiled(template))


@pytest.mark.parametrize("lang", LANGS)
def test_every_kind_of_thought_and_ask_has_many_variants(lang: Lang) -> None:
    text = voice_in(lang).text
    assert min(sum(map(variants, lines)) for lines in text.thoughts.values()) >= 10
    assert min(sum(map(variants, lines)) for lines in text.asks.values()) >= 20


@pytest.mark.parametrize("lang", LANGS)
def test_asks_are_questions_and_thoughts_are_short(lang: Lang) -> None:
    text = voice_in(lang).text
    for lines in text.asks.values():
        assert all(line.endswith("?" if lang == "en" else "？") for line in lines)
    for lines in text.thoughts.values():
        assert all(len(line.split() if lang == "en" else line) <= (18 if lang == "en" else 34) for line in lines)


def test_options_are_listed_only_if_tools_showed_them_all() -> None:
    readings = (("the opera", "opera"), ("the play", "play"))
    hidden = Hidden("entity", "the opera", "which Salt Road you mean", ("Salt",), readings, subject="Salt Road")
    voice = voice_in("en")
    shown = ["1. Salt Road (opera): It is an opera.\n2. Salt Road (play): It is a play."]
    asks = [voice.ask(hidden, shown, Random(seed))[1] for seed in range(400)]
    listing = [ask for ask in asks if "the opera" in ask]
    assert 0.4 < len(listing) / len(asks) < 0.6
    assert all("the play" in ask for ask in listing)
    first = Counter(ask.index("the opera") < ask.index("the play") for ask in listing)
    assert min(first.values()) > 0.35 * len(listing)
    assert not any("opera" in voice.ask(hidden, shown[:0], Random(seed))[1] for seed in range(50))


def test_options_are_listed_where_an_ask_lacks_a_subject() -> None:
    """Questions of people, where no name is shared: `which version you mean` alone says little."""
    readings = (("the opera", "opera"), ("the play", "play"))
    hidden = Hidden("entity", "the opera", "which version you mean", ("version",), readings)
    shown = ["1. Salt Road (opera): It is an opera.\n2. Salt Road (play): It is a play."]
    asks = [voice_in("en").ask(hidden, shown, Random(seed))[1] for seed in range(50)]
    assert all("the opera" in ask and "the play" in ask for ask in asks)
    unseen = [voice_in("en").ask(hidden, [], Random(seed))[1] for seed in range(50)]
    assert not any("opera" in ask for ask in unseen)


@pytest.mark.parametrize("lang", LANGS)
def test_asks_with_options_say_what_they_are_options_for(lang: Lang) -> None:
    """Two towns are compared: `the one in Selwick or the one in Vesmark?` does not say which of them is meant."""
    spans = ("the opera", "the play") if lang == "en" else ("那部歌剧", "那部话剧")
    for kind in ("entity", "year"):
        hidden = Hidden(kind, spans[0], "MISSING", (), tuple((span,) for span in spans), subject="SUBJECT")  # type: ignore[arg-type]
        asks = [voice_in(lang).ask(hidden, spans, Random(seed))[1] for seed in range(200)]
        assert all("MISSING" in ask or "SUBJECT" in ask for ask in asks)


META = pool_meta(seed=5, clarify_rate=0.5)


@cache
def demonstrations() -> tuple[Sample, ...]:
    return tuple(built(small_plan(400, seed=5, clarify_rate=0.5)))


def test_demonstrations_look_first_then_ask_once_and_are_understood() -> None:
    asking = [sample for sample in demonstrations() if sample.needs_clarification]
    listed = understood = 0
    for sample in asking:
        acts = [(turn.act, turn.tool) for turn in sample.dialogue]
        assert acts.count(("ask", "")) == 1
        assert ("result", "wiki") in acts[: acts.index(("ask", ""))]
        ask = next(turn.text for turn in sample.dialogue if turn.act == "ask")
        assert sample.hidden is not None
        assert bool(sample.hidden.subject) == bool(sample.hidden.readings)
        listed += " or " in ask or "还是" in ask
        understood += informs(reply(sample, ask))
    with_readings = sum(bool(sample.hidden and sample.hidden.readings) for sample in asking)
    assert 0.35 < listed / with_readings < 0.65
    assert understood / len(asking) > 0.97


@pytest.mark.parametrize(
    ("act", "text", "thought"),
    [
        ("ask", "Ahoy, which chart be you readin', matey?", ""),
        ("ask", "Price check: who knows how many bottles a crate holds?", ""),
        ("answer", "", "Rooster crows."),
        ("call", "", "Spin up Salham!"),
    ],
)
def test_persona_voiced_demonstrations_are_refused_by_name(act: str, text: str, thought: str) -> None:
    sample = next(one for one in demonstrations() if one.needs_clarification and one.lang == "en")
    turns = []
    for turn in sample.dialogue:
        hit = turn.by == "assistant" and turn.act == act
        turns.append(changed_turn(turn, text, thought) if hit else turn)
    assert contradictions(sample, META) == []
    assert contradictions(changed(sample, dialogue=tuple(turns)), META) == ["speaks_in_another_voice"]


def changed_turn(turn: Turn, text: str, thought: str) -> Turn:
    return Turn(turn.by, turn.act, text or turn.text, thought or turn.thought, turn.tool)


def test_an_ask_before_any_look_is_refused_by_name() -> None:
    sample = next(one for one in demonstrations() if one.needs_clarification)
    at = next(place for place, turn in enumerate(sample.dialogue) if turn.act == "ask")
    ask, answer = sample.dialogue[at : at + 2]
    rest = (*sample.dialogue[1:at], *sample.dialogue[at + 2 :])
    early = changed(sample, dialogue=(sample.dialogue[0], ask, answer, *rest))
    assert contradictions(early, META) == ["asks_before_looking"]
