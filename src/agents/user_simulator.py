"""The user simulator: gives the hidden information when it is asked for exactly that, and nothing else.

It never reads the gold answer. Asked to "please clarify", it asks back what is wanted, whether or not something is
missing: otherwise a policy could find out without thinking whether there is something to ask for. What a question is
about is decided by the words of the sample (`Hidden.about`, `Hidden.missing`) and by question words: a name alone is
not a question.
"""

from __future__ import annotations

import re
import unicodedata

from ..core.tokenize import CJK, words
from ..core.types import Hidden, Lang, Sample

_ASK_BACK: dict[Lang, str] = {"en": "What exactly would you like to know?", "zh": "您具体想知道哪一点？"}
_COMPLETE: dict[Lang, str] = {"en": "Nothing is missing; I told you all of it.", "zh": "没有遗漏，我都说全了。"}
_OTHER: dict[Lang, str] = {"en": "I have nothing to add on that.", "zh": "这一点我没有要补充的。"}
_GIVE: dict[Lang, str] = {"en": "I mean this: {span}", "zh": "我补充一下：{span}"}
EXTRA_WORDS = 6
"""Content words that a question may have beyond three times those of the missing information. This leaves room for
politeness, but not for repeating the whole prompt."""
_EMPTY = frozenset(text for said in (_ASK_BACK, _COMPLETE, _OTHER) for text in said.values())

_COMMON = set(
    """
    a about again all am an and answer any anything are as ask at be been before but by can care clarification clarify
    clear clearer clearly come confirm context could detail details did do does each elaborate else every exact
    exactly explain fill for forgot from further give given got had has have help here how i if in info
    information into is it its just kindly know later leave left let like look make many may me mean meaning
    meant mention might mind missing more much my need of on one or other ought out over pardon per please point
    precise provide question referring remind repeat s say share should so some something sorry specific
    specifically specify state such supply tell than that the their them then there these they thing things this
    those to too unclear understand up us use want was we were what which who whom whose will with would you
    your
    """.split()
)
_COMMON_ZH = re.compile(
    "说清楚|讲清楚|答案|指的|什么意思|麻烦|清楚|说明|澄清|解释|明白|明确|确认|具体|详细|补充|信息|内容|细节|问题|"
    "缺少|缺|遗漏|漏|一下|一点|告诉|知道|需要|可以|可否|能否|意思|什么|怎么|多少|[哪何几谁再更请您你我们能的是有没在了吗呢吧么]|"
    "[说讲问指想要点些个位家部一每这那里把给还又也对就会不太得]"
)
"""Words of every question, and of questions about nothing in particular."""
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
        return _ASK_BACK[sample.lang]
    return _COMPLETE[sample.lang] if hidden is None else _OTHER[sample.lang]


def informs(said: str) -> bool:
    """Whether a reply gives information, judged by the reply alone."""
    return said not in _EMPTY


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
    return _GIVE[sample.lang].format(span=hidden.span)


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
