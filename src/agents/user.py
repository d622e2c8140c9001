"""The user simulator: gives what it held back when it is asked for that, and nothing else.

It never sees a gold answer. Asked to "please clarify", it asks back what is wanted, whether or not something is missing:
otherwise a policy could learn from the reply, at no thought, whether there is something to ask for. What an ask is about
is told by the words of the sample (`Hidden.about`, `Hidden.missing`), and by asking for it: a name alone is no question.
"""

from __future__ import annotations

import re
import unicodedata

from ..core.types import Hidden, Lang, Sample
from ..core.words import CJK, words

_ASK_BACK: dict[Lang, str] = {"en": "What exactly would you like to know?", "zh": "您具体想知道哪一点？"}
_COMPLETE: dict[Lang, str] = {"en": "Nothing is missing; I told you all of it.", "zh": "没有遗漏，我都说全了。"}
_OTHER: dict[Lang, str] = {"en": "I have nothing to add on that.", "zh": "这一点我没有要补充的。"}
_GIVE: dict[Lang, str] = {"en": "I mean this: {span}", "zh": "我补充一下：{span}"}

_IDLE = {"mean", "answer", "指的"}
"""Stand in lists of words to go by and tell nothing alone: `what do you mean?`, `what is the answer?`."""
_COMMON = set(
    """a about again all am an and any anything are as ask at be been before but by can care clarify clarification clear
    clearer clearly come confirm context could detail details did do does each else elaborate every exact exactly explain
    fill for forgot from further further give given got had has have help here how i if in info information into is it
    its just kindly know later leave left let like look make many may me mean meaning meant mention might mind missing
    more much my need of on one or other ought out over pardon per please point precise provide question referring remind
    repeat s say share should so some something sorry specific specifically specify state such supply tell than that the
    their them then there these they thing things this those to too understand unclear up us use want was we were what
    which will with would you your""".split()
)
_COMMON_ZH = re.compile(
    "说清楚|讲清楚|问清楚|搞清楚|是什么意思|什么意思|麻烦|清楚|说明|澄清|解释|明白|明确|确认|具体|详细|补充|信息|内容|细节|"
    "问题|缺少|缺|遗漏|漏|一下|一点|告诉|知道|需要|可以|可否|能否|请问|指的|意思|什么|怎么|哪些|哪个|哪一|哪|何|多少|几|"
    "再|更|请|您|你|我|们|能|的|是|有|没|在|了|吗|呢|吧|么|说|讲|问|指|想|要|点|些|个|位|家|部|一|每|这|那|里|把|给|还|又|也|对|就|会|不|太"
)
_POINTS = re.compile(
    rf"\b(?:which|who|whom|whose|what|mean|meant|named?|called|title)\b|[哪何谁指]|什么|[同重]名|(?<![{CJK}])谁"
)
_TIME = re.compile(
    r"\bwhen\b|\b(?:which|what)\b(?:\W+\w+){0,2}?\W+(?:years?|dates?|times?|periods?)\b"
    r"|(?:哪|何|什么|几|多少)[一个些]{0,2}(?:年|时|日|天|月)|什么时候|具体时间"
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


def is_about(hidden: Hidden, asked: str) -> bool:
    """Whether an ask, in lower case, is about what was held back."""
    used = [word for word in hidden.about if word.casefold() not in _IDLE and _has(asked, word)]
    if not used:
        return False
    if not _content(asked) - set().union(*map(_content_of_about, hidden.about)):
        return True
    if hidden.kind == "year":
        return _TIME.search(asked) is not None
    telling = any(_content_of_about(word) for word in used)
    if hidden.kind in ("entity", "subject"):
        return telling and _POINTS.search(asked) is not None
    wanted = _content(hidden.missing.casefold())
    return telling and 2 * len(wanted & _content(asked)) >= len(wanted)


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


def _content_of_about(word: str) -> set[str]:
    return _content(word.casefold())


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word
