"""The user simulator: gives the hidden information when it is asked for exactly that, and nothing else.

It never reads the gold answer. Asked to "please clarify", it asks back what is wanted, whether or not something is
missing: otherwise a policy could find out without thinking whether there is something to ask for. What a question is
about is decided by the words of the sample (`Hidden.about`, `Hidden.missing`) and by question words: a name alone is
not a question.
"""

from __future__ import annotations

import re
import unicodedata

from ..core.files import package_json
from ..core.tokenize import CJK, words
from ..core.types import Hidden, Lang, Sample

_TEXTS = package_json("templates/dialogue.json")
_REPLIES: dict[str, dict[Lang, str]] = _TEXTS["user"]
_UNINFORMATIVE = {text for kind in ("ask_back", "complete", "other") for text in _REPLIES[kind].values()}
_COMMON = set(" ".join(_TEXTS["common_words"]["en"]).split())
_COMMON_ZH = re.compile("|".join(_TEXTS["common_words"]["zh"]))
"""Words of every question, and of questions about nothing in particular."""
EXTRA_WORDS = 6
"""Content words that a question may have beyond three times those of the missing information. This leaves room for
politeness, but not for repeating the whole prompt."""
_POINTS = re.compile(r"\b(?:which|who|whom|whose|what|mean|meant|named?|called|title)\b|[哪何谁指]|什么|[同重]名")
_TIME = re.compile(
    r"\bwhen\b|\b(?:which|what)\b(?:\W+\w+){0,2}?\W+(?:years?|dates?|times?|periods?)\b"
    r"|(?:哪|何|什么|几|多少)[一个些]{0,2}[年时日天月]|具体时间"
)


def reply(sample: Sample, ask: str) -> str:
    """The user's reply to a question. The same question always gets the same reply."""
    asked = unicodedata.normalize("NFKC", ask).casefold()
    hidden = sample.hidden
    if hidden is not None and is_about(hidden, asked):
        return _given(sample, hidden)
    if not _content(asked):
        return _REPLIES["ask_back"][sample.lang]
    return _REPLIES["complete" if hidden is None else "other"][sample.lang]


def informs(said: str) -> bool:
    """Whether a reply gives information, judged by the reply alone."""
    return said not in _UNINFORMATIVE


def is_about(hidden: Hidden, asked: str) -> bool:
    """Whether a question, in lower case, is about the hidden information.

    It must use a word of it, and either mention nothing else, or ask for a time, point at a name, or name most of what
    makes up the quantity. So one price is not given in reply to a question about another, and neither "which one?" nor
    a repetition of the whole prompt gets anything.
    """
    used = [word for word in hidden.about if _has(asked, word)]
    said, wanted = _content(asked), _content(hidden.missing.casefold())
    if len(said) > 3 * len(wanted) + EXTRA_WORDS:
        return False
    if not any(_content(word.casefold()) & said for word in used):
        return False
    if said <= _content(" ".join(hidden.about).casefold()):
        return True
    if hidden.kind == "year":
        return _TIME.search(asked) is not None
    if hidden.kind in ("entity", "subject"):
        # Half a name is enough, unless the question asks for a time: `partner, which year?`
        named = wanted <= said or (2 * len(wanted & said) >= len(wanted) and not _TIME.search(asked))
        return named and _POINTS.search(asked) is not None
    return len(wanted) < 2 * len(wanted & said)


def _given(sample: Sample, hidden: Hidden) -> str:
    """The hidden information, in the words of the demonstration where it has some."""
    for turn, after in zip(sample.dialogue, sample.dialogue[1:], strict=False):
        if turn.act == "ask" and after.by == "user" and hidden.span in after.text:
            return after.text
    return _REPLIES["give"][sample.lang].format(span=hidden.span)


def _has(asked: str, word: str) -> bool:
    """Whether a question contains a word: Chinese anywhere, because it has no spaces; others as whole words."""
    if re.search(f"[{CJK}]", word):
        return word.casefold() in asked
    wanted, given = [_stem(part) for part in words(word)], [_stem(part) for part in words(asked)]
    return any(given[at : at + len(wanted)] == wanted for at in range(len(given) - len(wanted) + 1)) and bool(wanted)


def _content(text: str) -> set[str]:
    """Content words of a text, Chinese by character, without the words of every question."""
    return {_stem(word) for word in words(_COMMON_ZH.sub("", text)) if word not in _COMMON}


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word
