"""The dimensions of the reward: pure functions from what a policy could see to a number in 0..1.

- `calculation`: is each stated calculation right?
- `grounding`: does every step start from something that user or tools said?
- `support`: is the answer supported by what the tools returned?
- `asking`: was what was missing asked for, and nothing else?
- `form`: is the answer of the kind that was asked for, and are the turns well-formed?
- `economy`: how many turns were of use?

`RULES` need nothing but the episode; `LIVE` are scored by a judge. No function here takes a `Sample`: an `EpisodeView`
holds neither gold answer nor hidden span.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from .episode_view import EpisodeView
from .mentions import LONGEST, conversions, exact, mentioned, numbers
from .success import number, verdict
from .tokenize import words
from .tools import CalcError, evaluate
from .two_readings import OPERAND, two_readings
from .user_simulator import informs

_EQUATION = re.compile(r"([\d(][\d\s.+\-*/×÷%()]*[+\-*/×÷][\d\s.()]*\d\)?)\s*[=＝]\s*(-?\d+(?:\.\d+)?)(?![\d%])")
_ITSELF = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)\s*(?:-|[<>=!]=?|==)\s*\1(?![\d.])")
_CLOSE = Fraction(1, 100)
"""A result may be rounded: 41.17 for 41.166667 is right."""


def calculation(view: EpisodeView) -> float:
    """The share of calculations that are right: stated equations that hold, and sensible calls of the calculator.

    Without any calculation it is 1, except for a word problem, whose answer must be calculated.
    """
    stated = [
        equation
        for turn in view.policy_turns
        for equation in _EQUATION.findall(f"{turn.thought}\n{turn.text.replace(',', '')}")
    ]
    verdicts = [_holds(left, right) for left, right in stated]
    verdicts += [_worked(turn.text, result or "error") for turn, result in view.calls if turn.tool == "calc"]
    if not verdicts:
        return 0.0 if view.task == "gsm8k" else 1.0
    return sum(verdicts) / len(verdicts)


def _worked(expression: str, result: str) -> bool:
    """Whether a call of the calculator worked. A number compared with itself does not count: `1853 < 1853`."""
    return not result.startswith("error") and not _ITSELF.search(expression)


def _holds(left: str, right: str) -> bool:
    """
    >>> _holds("3 × 4", "12"), _holds("3 * 4", "13")
    (True, False)
    """
    if len(right) > LONGEST:
        return False
    try:
        value = evaluate(left.replace("×", "*").replace("÷", "/"))
    except CalcError:
        return False
    return abs(value - Fraction(right)) <= _CLOSE


def grounding(view: EpisodeView) -> float:
    """The share of names looked up and numbers calculated with that user or tools had mentioned before.

    Factors of unit conversions need no mention. An episode without any step gets 0.
    """
    found = [*known_names(view), *known_numbers(view)]
    return sum(found) / len(found) if found else 0.0


def known_names(view: EpisodeView) -> list[bool]:
    """For every name looked up, whether user or tools had mentioned it. Titles of articles need no mention."""
    titles = {article.title for article in view.context}
    return [
        turn.text in titles or mentioned(turn.text, view.heard_before(place))
        for place, turn in enumerate(view.turns)
        if turn.act == "call" and turn.tool == "wiki"
    ]


def known_numbers(view: EpisodeView) -> list[bool]:
    """For every number calculated with, whether user or tools had given it."""
    found: list[bool] = []
    for place, turn in enumerate(view.turns):
        if turn.act == "call" and turn.tool == "calc":
            heard = (numbers(one.text) for one in view.turns[:place] if one.by != "assistant")
            known = conversions(view.heard_before(place)).union(*heard)
            found += [len(operand) <= LONGEST and exact(operand) in known for operand in OPERAND.findall(turn.text)]
    return found


HALF = 0.5
"""Value of an answer with some support, but not enough."""
LIST = "1. "


def support(view: EpisodeView) -> float:
    """1 where the last result says the answer, 0.5 where another result supports it, 0 where nothing does."""
    if view.answer is None:
        return 0.0
    if view.task == "gsm8k":
        return _computed(view, view.answer)
    if view.task == "strategyqa":
        return _decided(view, view.answer)
    return _read(view, view.answer)


def _computed(view: EpisodeView, answer: str) -> float:
    """Support of a number: it is the result of the last calculation."""
    given = number(answer)
    results = [number(result or "") for turn, result in view.calls if turn.tool == "calc"]
    if given is None or given not in results:
        return 0.0
    return 1.0 if given == results[-1] else HALF


def _decided(view: EpisodeView, answer: str) -> float:
    """Support of yes or no: the last comparison says so. Without one, something must at least have been read."""
    given = verdict(answer)
    compared = [found for turn, result in view.calls if (found := verdict(result or "")) is not None]
    if given is None:
        return 0.0
    if compared:
        return float(given == compared[-1])
    return HALF if any(turn.tool == "wiki" and result for turn, result in view.calls) else 0.0


def _read(view: EpisodeView, answer: str) -> float:
    """Support of a name or year: an opened article mentions it. A list of hits shows only how articles begin.

    An answer that the question itself names is a choice between the options it offers; reading about it is not enough.
    What decides may be about the other option, and in a list.
    """
    results = [result for turn, result in view.calls if turn.tool == "wiki" and result]
    opened = [result for result in results if not result.startswith(LIST)]
    offered = mentioned(answer, view.prompt)
    if not offered and any(mentioned(answer, article) for article in opened):
        return 1.0
    shown = any(mentioned(answer, text) for text in (*results, *(reply or "" for _, reply in view.asked)))
    return HALF if shown or (offered and results) else 0.0


def asking(view: EpisodeView) -> float:
    """The share of asks that brought something new; without an ask, whether no sign of a gap was passed over.

    An ask that the user answers with "nothing is missing", with a question or with an earlier reply was useless. A
    policy that continues although two readings were shown and none was chosen, or that calculates with a number that
    nobody gave, has not asked for what was missing.
    """
    if view.asked:
        known: set[str] = set()
        useful = 0
        for _, reply in view.asked:
            useful += reply is not None and informs(reply) and reply not in known
            known.add(reply or "")
        return useful / len(view.asked)
    return float(all(known_numbers(view)) and not two_readings(view))


MOST_WORDS = 16
"""Longest answer in words. A name or a title is shorter."""
_BROKEN = re.compile(r"�|</?(?:ask|wiki|calc|answer|think)>|<\|")
_YEAR_WANTED = re.compile(
    r"\b(?:what|which) year\b|\bin what year\b|(?:[何哪]年|哪一年|什么年份)(?!.*(?:谁|哪(?!年|一年)))", re.DOTALL
)
"""The Chinese words may also lead to a choice: 查一下甲和乙是哪年去世的，谁早一些？"""


def form(view: EpisodeView) -> float:
    """0 without an answer or with one of the wrong kind; else the share of turns that were well-formed."""
    if view.end != "answer" or view.answer is None or not _of_the_kind(view, view.answer):
        return 0.0
    whole = [turn.act != "say" and not _BROKEN.search(turn.text) for turn in view.policy_turns]
    return sum(whole) / len(whole)


def _of_the_kind(view: EpisodeView, answer: str) -> bool:
    if _BROKEN.search(answer):
        return False
    if view.task == "gsm8k":
        return number(answer) is not None
    if view.task == "strategyqa":
        return verdict(answer) is not None
    if verdict(answer) is not None or "\n" in answer:
        return False
    if _YEAR_WANTED.search(view.prompt.casefold()) and not re.search(r"\d", answer):
        return False
    return 0 < len(words(answer)) <= MOST_WORDS


NOTHING = "nothing found"


def economy(view: EpisodeView) -> float:
    """The share of useful turns.

    Useless are a turn without an act, a call that finds nothing, fails or returns an earlier result, an ask that brings
    nothing new, and the turn on which an episode ran out.
    """
    if not view.policy_turns:
        return 0.0
    known: set[str] = set()
    useful = 0
    replies = (*view.turns[1:], None)
    for turn, reply in zip(view.turns, replies, strict=True):
        if turn.by != "assistant":
            continue
        if turn.act == "answer":
            useful += 1
        elif reply is not None and reply.text not in known and turn.act != "say":
            found = reply.text != NOTHING and not reply.text.startswith("error")
            useful += found if turn.act == "call" else informs(reply.text)
        known.add(reply.text if reply else "")
    return useful / len(view.policy_turns)


Dimension = Callable[[EpisodeView], float]

RULES: Mapping[str, Dimension] = {
    "calculation": calculation,
    "grounding": grounding,
    "support": support,
    "asking": asking,
    "form": form,
    "economy": economy,
}
"""Dimensions by rules, under their names in weights files."""
LIVE: Mapping[str, str] = {f"live_{name}": name for name in ("logic", "clarity", "naturalness", "educational")}
"""The judge's name of each live dimension. Naturalness and educational value are also rated by the old rules."""
