"""The dimensions of the old scorer: 7 rules about the surface of an episode. Kept for comparison.

They count words that came up before, numbers, lengths, question marks and polite words; they do not check whether a
step is right. Names and weights (`configs/weights_baseline.json`) are those of the scorer that was in use; its code is
lost, so the rules are written anew. Like every dimension they see nothing but what the policy could see.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from .dimensions import Dimension
from .episode_view import EpisodeView
from .tokenize import CJK, tokens, words
from .types import Turn

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_CONNECTIVE = re.compile(
    r"\b(?:because|since|so|therefore|thus|hence|then|first|next|finally|if|but|which means)\b"
    r"|因为|由于|所以|因此|于是|然后|首先|其次|最后|如果|但是|可见|故"
)
_POLITE = re.compile(
    r"\b(?:please|thanks?|thank you|could|would|may|might|kindly|sorry)\b|请|谢|麻烦|劳驾|您|能否|可否|抱歉"
)
_FOREIGN = {"en": re.compile(f"[{CJK}]"), "zh": re.compile(r"[A-Za-z]{3,}")}
_EMPTY = ("nothing found", "error")
_BROKEN = re.compile(r"�|<[|/]?\w+[|]?>")

LONGEST = 24
"""Tokens at which the clarity of a message falls to 0."""


def logic_rigor(view: EpisodeView) -> float:
    """Share of words that user or tools had used before, and whether there is a connective such as `because`."""
    shares: list[float] = []
    before: set[str] = set()
    for turn in view.turns:
        if turn.by != "assistant":
            before |= _word_set(turn.text)
        elif used := words(turn.text):
            shares.append(sum(word in before for word in used) / len(used))
    repeated = sum(shares) / len(shares) if shares else 0.0
    said = "\n".join(f"{turn.thought}\n{turn.text}" for turn in view.policy_turns)
    return 0.8 * repeated + 0.2 * bool(_CONNECTIVE.search(said.lower()))


def calc_accuracy(view: EpisodeView) -> float:
    """Share of the policy's numbers that user or tools had given before; 0 for a word problem without any number."""
    stated: list[bool] = []
    before: set[str] = set()
    for turn in view.turns:
        if turn.by != "assistant":
            before.update(_NUMBER.findall(turn.text))
        else:
            stated += [number in before for number in _NUMBER.findall(f"{turn.thought} {turn.text}")]
    return _share(stated) if stated or view.task != "gsm8k" else 0.0


def expression_clarity(view: EpisodeView) -> float:
    """Mean clarity of the messages: short, in the user's language and without broken characters."""
    if not view.policy_turns:
        return 0.0
    return sum(_clarity(view, turn) for turn in view.policy_turns) / len(view.policy_turns)


def _clarity(view: EpisodeView, turn: Turn) -> float:
    text = f"{turn.thought} {turn.text}"
    if _BROKEN.search(text) or (_FOREIGN[view.lang].search(text) and turn.tool != "calc"):
        return 0.0
    return max(0.0, 1 - len(tokens(text)) / LONGEST)


def completeness(view: EpisodeView) -> float:
    """Whether there is an answer, after at least one step, and the share of its words that user or tools had used."""
    heard = {word for turn in view.turns if turn.by != "assistant" for word in _word_set(turn.text)}
    found = _share([word in heard for word in words(view.answer)]) if view.answer else 0.0
    return 0.5 * (view.end == "answer") + 0.2 * (len(view.policy_turns) > 1) + 0.3 * found


def clarification(view: EpisodeView) -> float:
    """Share of asks that look like questions, minus a quarter for each ask but the first; 1 without an ask.

    It cannot know whether there was something to ask.
    """
    asks = [turn.text.strip() for turn in view.policy_turns if turn.act == "ask"]
    if not asks:
        return 1.0
    look_like_questions = _share([ask.endswith(("?", "？")) and len(words(ask)) > 2 for ask in asks])
    return max(0.0, look_like_questions - 0.25 * (len(asks) - 1))


def naturalness(view: EpisodeView) -> float:
    """Shares of different messages and of different words, and of the asks that are polite."""
    if not view.policy_turns:
        return 0.0
    messages = [turn.text for turn in view.policy_turns]
    used = [word for text in messages for word in words(text)]
    varied = len(set(used)) / len(used) if used else 0.0
    polite = _share([bool(_POLITE.search(turn.text.lower())) for turn in view.policy_turns if turn.act == "ask"])
    return 0.5 * len(set(messages)) / len(messages) + 0.3 * varied + 0.2 * polite


def educational(view: EpisodeView) -> float:
    """Shares of tool calls with a result, and of turns with an explanation."""
    succeeded = [result is not None and not result.startswith(_EMPTY) for _, result in view.calls]
    explained = _share([bool(turn.thought) for turn in view.policy_turns])
    return 0.7 * (_share(succeeded) if succeeded else 0.0) + 0.3 * explained


OLD: Mapping[str, Dimension] = {
    "logic_rigor": logic_rigor,
    "calc_accuracy": calc_accuracy,
    "expression_clarity": expression_clarity,
    "completeness": completeness,
    "clarification": clarification,
    "naturalness": naturalness,
    "educational": educational,
}
"""Dimensions of the old score, under their names in weights files."""


@lru_cache(maxsize=4096)
def _word_set(text: str) -> frozenset[str]:
    """Different words of a message; cached because all policies get the same prompts and articles."""
    return frozenset(words(text))


def _share(verdicts: Sequence[bool]) -> float:
    """Share of true verdicts; 1 if there are none."""
    return sum(verdicts) / len(verdicts) if verdicts else 1.0
