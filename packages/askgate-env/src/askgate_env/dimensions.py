"""The dimensions of the reward: pure functions from what a policy could see to a number in 0..1.

- `calculation`: is each stated calculation right?
- `grounding`: does every step start from something that user or tools said?
- `support`: is the answer supported by what the tools returned?
- `asking`: did the policy ask for the missing information, and for nothing else?
- `form`: is the answer of the kind that was asked for, and are the turns well-formed?
- `economy`: which share of the turns was useful?

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
_SELF_COMPARISON = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)\s*(?:-|[<>=!]=?|==)\s*\1(?![\d.])")
_TOLERANCE = Fraction(1, 100)
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
    verdicts = [_equation_holds(left, right) for left, right in stated]
    verdicts += [_is_sensible_call(turn.text, result or "error") for turn, result in view.calls if turn.tool == "calc"]
    if not verdicts:
        return 0.0 if view.task == "gsm8k" else 1.0
    return sum(verdicts) / len(verdicts)


def _is_sensible_call(expression: str, result: str) -> bool:
    """Whether a calculator call has a result and does not compare a number with itself: `1853 < 1853`."""
    return not result.startswith("error") and not _SELF_COMPARISON.search(expression)


def _equation_holds(left: str, right: str) -> bool:
    """Whether a stated equation is right.

    >>> _equation_holds("3 × 4", "12"), _equation_holds("3 * 4", "13")
    (True, False)
    """
    if len(right) > LONGEST:
        return False
    try:
        value = evaluate(left.replace("×", "*").replace("÷", "/"))
    except CalcError:
        return False
    return abs(value - Fraction(right)) <= _TOLERANCE


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
        turn.text in titles or mentioned(turn.text, view.text_before(index))
        for index, turn in enumerate(view.turns)
        if turn.act == "call" and turn.tool == "wiki"
    ]


def known_numbers(view: EpisodeView) -> list[bool]:
    """For every number calculated with, whether user or tools had given it."""
    found: list[bool] = []
    for index, turn in enumerate(view.turns):
        if turn.act == "call" and turn.tool == "calc":
            given = (numbers(earlier.text) for earlier in view.turns[:index] if earlier.by != "assistant")
            known = conversions(view.text_before(index)).union(*given)
            found += [len(operand) <= LONGEST and exact(operand) in known for operand in OPERAND.findall(turn.text)]
    return found


PARTIAL_SUPPORT = 0.5
"""Value of `support` for an answer with some support, but not enough."""
HIT_LIST = "1. "
"""Start of a `wiki` result that lists search hits instead of an article."""


def support(view: EpisodeView) -> float:
    """Support of the answer: 1 by the last result, 0.5 by another result, 0 without any. Details depend on the task."""
    if view.answer is None:
        return 0.0
    if view.task == "gsm8k":
        return _number_support(view, view.answer)
    if view.task == "strategyqa":
        return _verdict_support(view, view.answer)
    return _text_support(view, view.answer)


def _number_support(view: EpisodeView, answer: str) -> float:
    """Support of a number: it is the result of the last calculation."""
    given = number(answer)
    results = [number(result or "") for turn, result in view.calls if turn.tool == "calc"]
    if given is None or given not in results:
        return 0.0
    return 1.0 if given == results[-1] else PARTIAL_SUPPORT


def _verdict_support(view: EpisodeView, answer: str) -> float:
    """Support of yes or no: the last comparison has that result. Without one, 0.5 if anything was looked up."""
    given = verdict(answer)
    comparisons = [found for _, result in view.calls if (found := verdict(result or "")) is not None]
    if given is None:
        return 0.0
    if comparisons:
        return float(given == comparisons[-1])
    return PARTIAL_SUPPORT if any(turn.tool == "wiki" and result for turn, result in view.calls) else 0.0


def _text_support(view: EpisodeView, answer: str) -> float:
    """Support of a name or year: 1 if an opened article mentions it, not only a list of hits or a reply of the user.

    An answer that the question itself names is a choice between the options it offers. That an article mentions it
    proves nothing, and what decides may be about the other option; such an answer gets 0.5 after any look-up.
    """
    results = [result for turn, result in view.calls if turn.tool == "wiki" and result]
    opened = [result for result in results if not result.startswith(HIT_LIST)]
    offered = mentioned(answer, view.prompt)
    if not offered and any(mentioned(answer, article) for article in opened):
        return 1.0
    shown = any(mentioned(answer, text) for text in (*results, *(reply or "" for _, reply in view.asked)))
    return PARTIAL_SUPPORT if shown or (offered and results) else 0.0


def asking(view: EpisodeView) -> float:
    """The share of asks that brought new information; without an ask, 1 if the policy ignored no sign of a gap, else 0.

    An ask is useless if the user answers it with "nothing is missing", with a question or with an earlier reply. Signs
    of a gap are two readings shown by the tools (`two_readings`), and a calculation with a number that nobody gave.
    """
    if view.asked:
        known: set[str] = set()
        useful = 0
        for _, reply in view.asked:
            useful += reply is not None and informs(reply) and reply not in known
            known.add(reply or "")
        return useful / len(view.asked)
    return float(all(known_numbers(view)) and not two_readings(view))


MAX_ANSWER_WORDS = 16
"""Longest answer in words. A name or a title is shorter."""
_BROKEN = re.compile(r"�|</?(?:ask|wiki|calc|answer|think)>|<\|")
_YEAR_WANTED = re.compile(
    r"\b(?:what|which) year\b|\bin what year\b|(?:[何哪]年|哪一年|什么年份)(?!.*(?:谁|哪(?!年|一年)))", re.DOTALL
)
"""Questions for a year. In Chinese the same words may lead to a choice: 查一下甲和乙是哪年去世的，谁早一些？"""


def form(view: EpisodeView) -> float:
    """0 without an answer or with one of the wrong kind; else the share of turns that were well-formed."""
    if view.end != "answer" or view.answer is None or not _has_right_form(view, view.answer):
        return 0.0
    well_formed = [turn.act != "say" and not _BROKEN.search(turn.text) for turn in view.policy_turns]
    return sum(well_formed) / len(well_formed)


def _has_right_form(view: EpisodeView, answer: str) -> bool:
    """Whether an answer is a number, yes or no, or a short text, as its task asks for."""
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
    return 0 < len(words(answer)) <= MAX_ANSWER_WORDS


NO_HITS = "nothing found"


def economy(view: EpisodeView) -> float:
    """The share of useful turns.

    These are useless: a turn without an action, a call that finds nothing, fails or returns an earlier result, an ask
    that brings nothing new, and the turn at which the episode ran out of turns or tokens.
    """
    if not view.policy_turns:
        return 0.0
    known: set[str] = set()
    useful = 0
    for turn, reply in zip(view.turns, (*view.turns[1:], None), strict=True):
        if turn.by != "assistant":
            continue
        if turn.act == "answer":
            useful += 1
        elif reply is not None and reply.text not in known and turn.act != "say":
            found = reply.text != NO_HITS and not reply.text.startswith("error")
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
