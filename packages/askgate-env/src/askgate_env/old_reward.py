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
"""Words after which a message is no longer read at a glance."""


def logic_rigor(view: EpisodeView) -> float:
    """How far messages repeat words of earlier messages, and use connectives such as `because`."""
    shares: list[float] = []
    before: set[str] = set()
    for turn in view.turns:
        if turn.by != "assistant":
            before |= _word_set(turn.text)
        elif used := words(turn.text):
            shares.append(sum(word in before for word in used) / len(used))
    taken_up = sum(shares) / len(shares) if shares else 0.0
    said = "\n".join(f"{turn.thought}\n{turn.text}" for turn in view.policy_turns)
    return 0.8 * taken_up + 0.2 * bool(_CONNECTIVE.search(said.lower()))


def calc_accuracy(view: EpisodeView) -> float:
    """Numbers that the policy says have been seen before; a word problem without any number is not calculated."""
    stated: list[bool] = []
    before: set[str] = set()
    for turn in view.turns:
        if turn.by != "assistant":
            before.update(_NUMBER.findall(turn.text))
        else:
            stated += [number in before for number in _NUMBER.findall(f"{turn.thought} {turn.text}")]
    return _share(stated) if stated or view.task != "gsm8k" else 0.0


def expression_clarity(view: EpisodeView) -> float:
    """Messages that are short, in the user's language and without broken characters."""
    return sum(_clear(view, turn) for turn in view.policy_turns) / len(view.policy_turns) if view.policy_turns else 0.0


def _clear(view: EpisodeView, turn: Turn) -> float:
    text = f"{turn.thought} {turn.text}"
    if _BROKEN.search(text) or (_FOREIGN[view.lang].search(text) and turn.tool != "calc"):
        return 0.0
    return max(0.0, 1 - len(tokens(text)) / LONGEST)


def completeness(view: EpisodeView) -> float:
    """An answer is there, after some step, in words that had come up."""
    read = {word for turn in view.turns if turn.by != "assistant" for word in _word_set(turn.text)}
    found = _share([word in read for word in words(view.answer)]) if view.answer else 0.0
    return 0.5 * (view.end == "answer") + 0.2 * (len(view.policy_turns) > 1) + 0.3 * found


def clarification(view: EpisodeView) -> float:
    """Questions look like questions, and one is enough. It cannot know whether there was something to ask."""
    asks = [turn.text.strip() for turn in view.policy_turns if turn.act == "ask"]
    if not asks:
        return 1.0
    looks = _share([ask.endswith(("?", "？")) and len(words(ask)) > 2 for ask in asks])
    return max(0.0, looks - 0.25 * (len(asks) - 1))


def naturalness(view: EpisodeView) -> float:
    """Nothing said twice, varied words, a polite tone where the user is spoken to."""
    if not view.policy_turns:
        return 0.0
    spoken = [turn.text for turn in view.policy_turns]
    used = [word for text in spoken for word in words(text)]
    varied = len(set(used)) / len(used) if used else 0.0
    polite = _share([bool(_POLITE.search(turn.text.lower())) for turn in view.policy_turns if turn.act == "ask"])
    return 0.5 * len(set(spoken)) / len(spoken) + 0.3 * varied + 0.2 * polite


def educational(view: EpisodeView) -> float:
    """Steps with a result to follow them by, and a word of explanation."""
    calls = [result is not None and not result.startswith(_EMPTY) for _, result in view.calls]
    explained = _share([bool(turn.thought) for turn in view.policy_turns])
    return 0.7 * (_share(calls) if calls else 0.0) + 0.3 * explained


OLD: Mapping[str, Dimension] = {
    "logic_rigor": logic_rigor,
    "calc_accuracy": calc_accuracy,
    "expression_clarity": expression_clarity,
    "completeness": completeness,
    "clarification": clarification,
    "naturalness": naturalness,
    "educational": educational,
}
"""Dimensions of the old reward, under their names in weights files."""


@lru_cache(maxsize=4096)
def _word_set(text: str) -> frozenset[str]:
    """Different words of a message. All policies hear the same prompts and articles."""
    return frozenset(words(text))


def _share(verdicts: Sequence[bool]) -> float:
    """Share of true verdicts; 1 if there are none."""
    return sum(verdicts) / len(verdicts) if verdicts else 1.0
