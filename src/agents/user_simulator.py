"""The user simulator: gives what it held back when it is asked for that, and nothing else.

It never looks at the gold answer. Asked to "please clarify", it asks back what is wanted, whether or not something is
missing: otherwise a policy could find out, without a thought, whether there is something to ask for. What an ask is
about is told by the words of the sample (`Hidden.about`, `Hidden.missing`) and by asking: a name alone is no question.
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
ROOM = 6
"""Words that an ask may have beside three times those that say what is wanted: politeness, not the whole question."""
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
"""Words of every question, and of asking for nothing in particular."""
_POINTS = re.compile(r"\b(?:which|who|whom|whose|what|mean|meant|named?|called|title)\b|[哪何谁指]|什么|[同重]名")
_TIME = re.compile(
    r"\bwhen\b|\b(?:which|what)\b(?:\W+\w+){0,2}?\W+(?:years?|dates?|times?|periods?)\b"
    r"|(?:哪|何|什么|几|多少)[一个些]{0,2}[年时日天月]|具体时间"
)


def reply(sample: Sample, ask: str) -> str:
    """What the user says to an ask. The same ask is always answered the same way."""
    asked = unicodedata.normalize("NFKC", ask).casefold()
    hidden = sample.hidden
    if hidden is not None and is_about(hidden, asked):
        return _given(sample, hidden)
    if not _content(asked):
        return _ASK_BACK[sample.lang]
    return _COMPLETE[sample.lang] if hidden is None else _OTHER[sample.lang]


def informs(said: str) -> bool:
    """Whether a reply gives something, told by the reply alone: whoever hears it knows as much."""
    return said not in _EMPTY


def is_about(hidden: Hidden, asked: str) -> bool:
    """Whether an ask, in lower case, is about what was held back.

    It uses a word of it, and either speaks of nothing else, or asks for a time, points at a name, or names most of what
    makes up the quantity. So a price is not given to who asks for another price, nothing is given to who asks "which
    one?" of everything, and nothing to who repeats the whole question.
    """
    used = [word for word in hidden.about if _has(asked, word)]
    said, wanted = _content(asked), _content(hidden.missing.casefold())
    if len(said) > 3 * len(wanted) + ROOM:
        return False
    if not any(_content(word.casefold()) & said for word in used):
        return False
    if said <= _content(" ".join(hidden.about).casefold()):
        return True
    if hidden.kind == "year":
        return _TIME.search(asked) is not None
    if hidden.kind in ("entity", "subject"):
        # Half a name will do, unless it is a time that is asked for: `partner, which year?`
        named = wanted <= said or (2 * len(wanted & said) >= len(wanted) and not _TIME.search(asked))
        return named and _POINTS.search(asked) is not None
    return len(wanted) < 2 * len(wanted & said)


def _given(sample: Sample, hidden: Hidden) -> str:
    """In the words of the demonstration where it has some."""
    for turn, after in zip(sample.dialogue, sample.dialogue[1:], strict=False):
        if turn.act == "ask" and after.by == "user" and hidden.span in after.text:
            return after.text
    return _GIVE[sample.lang].format(span=hidden.span)


def _has(asked: str, word: str) -> bool:
    """Chinese is written without blanks, so a word may stand anywhere; others count as whole words."""
    if re.search(f"[{CJK}]", word):
        return word.casefold() in asked
    wanted, given = [_stem(part) for part in words(word)], [_stem(part) for part in words(asked)]
    return any(given[at : at + len(wanted)] == wanted for at in range(len(given) - len(wanted) + 1)) and bool(wanted)


def _content(text: str) -> set[str]:
    """Words that say what a text is about, Chinese by the character; what every question has is left out."""
    return {_stem(word) for word in words(_COMMON_ZH.sub("", text)) if word not in _COMMON}


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word
