"""Turning a named mention into a vague phrase: `Which cousin of Ada Wong ...` -> `Which cousin of the player ...`.

Only where it reads well. A mention that is part of a longer name, a compound (`Casio products`) or a list of
modifiers is left alone: better fewer vague questions than clumsy ones that show.
"""

from __future__ import annotations

import re

from msgspec import Struct

from ...core.tokenize import words
from .listed import listed
from .nouns import CLASSES, Kind

_BRACKETED_END = re.compile(r"\s*\([^()]*\)$")
_ARTICLES = frozenset({"the", "a", "an"})
_AUXILIARIES = listed("is are was were did does do would could can will should has have had may might must")
_BEFORE_VERBS = listed("did does do would could can will should may might must")
# Words after which `the film` can stand.
_BEFORE = _AUXILIARIES | listed(
    """
    of in on at by for from with to than that which who whom where when while before after during about against over
    under into through without within between among and or both if like near inside around behind as besides because
    including use see find eat read enjoy buy watch visit support recommend celebrate experience know get need cause
    influence worship defeat violate believe prevent admire understand avoid produce wear fit attend marry founded
    first longer older earlier later sang acquired build dedicated hosted hired beat stars drove produced co-produced
    cast operates wrote directed joined featured represented killed using eating watching having named considered
    discovered played starred
    """
)
# Words that can follow a complete noun phrase; after an auxiliary the verb follows, whatever it is.
_AFTER = _AUXILIARIES | listed(
    """
    and or in on at by for from with to of that which who whose whom where when while before after during than as but
    if because also ever both been be being located born known played plays play starred used named published released
    written directed found based part associated considered a an the related made popular likely involved more still
    near about without featured won took wrote lived began opened occurred served attended contain contained includes
    included appeared appear hypothetically first not never between under over into through inside against among like
    required needed safe able close important older younger taller larger worth now today originally always often
    along came come share met does held sold serves provides follows explores features covers writes teaches stars
    contains taught lost following working
    """
)
_VERB_OR_ADVERB = re.compile(r"[a-z]{2,}(?:[^e]ed|ly)")
_NOT_A_MODIFIER = re.compile(r"[a-z]+(?:s|ing)$")


class Mention(Struct, frozen=True):
    """Where a question names a thing that an article is about, and what the vague phrase for it is."""

    span: str
    blurred: str
    """The question with the vague phrase in the mention's place."""
    kind: Kind
    title: str


def bare_title(title: str) -> str:
    """`The Prestige (film)` -> `The Prestige`."""
    return _BRACKETED_END.sub("", title)


def names_of(title: str) -> tuple[str, ...]:
    """How a question may name the article: the title without brackets, also without `, Montana` or a leading `The`."""
    name = bare_title(title)
    return tuple(dict.fromkeys((name, name.split(",")[0], name.removeprefix("The "))))


def find_mention(question: str, title: str, kind: Kind, *, any_case: bool) -> Mention | None:
    """The one mention of `title` in `question`, blurred; `None` where it is not there or would not read well."""
    for name in names_of(title):
        pattern = re.compile(rf"(?<![\w'’-]){re.escape(name)}(?![\w-])", re.IGNORECASE if any_case else 0)
        found = list(pattern.finditer(question))
        if len(found) == 1 and len(name) > 2:
            break
    else:
        return None
    start, end = found[0].span()
    noun, blurred = kind.noun, _blur(question, start, end, kind.noun)
    if blurred is None and question[start].isupper():
        blurred, noun = _drop_after_noun(question, start, end)
    if blurred is None:
        return None
    span = question[start:end]
    if not set(words(span)) - {noun} or f"{noun}s" in words(span) or shares_name(span, blurred, besides=noun):
        return None
    return Mention(span, blurred, Kind(noun, kind.of), title)


def shares_name(span: str, text: str, besides: str = "") -> bool:
    """Whether a telling word of the span (one with a capital or digit, else any of them) is in the text."""
    seen = set(words(text)) - {besides}
    telling = [word for word in re.findall(r"\w+", span) if len(word) > 2 and (not word.islower() or span.islower())]
    return any(word.lower() in seen for word in telling if word.lower() not in _BEFORE | _ARTICLES)


def _blur(question: str, start: int, end: int, noun: str) -> str | None:
    """The vague phrase put in the name's place; an article before the name is swallowed."""
    left, right = _unquoted(question[:start], question[end:])
    words_before = left.split()
    last = words_before[-1] if words_before else ""
    if last.lower() in _ARTICLES:
        left = left[: left.rstrip().rindex(last)]
        before = _word_before(left) if last.lower() == "the" else ""
    elif not last or last.endswith((",", ":", ".", ";", "?", "!")) or last.lower() in _BEFORE:
        before = last.lower()
        if last.endswith(",") and last[:-1].lower() in CLASSES:
            return None
    else:
        return None
    if not _follows_well(right, before):
        return None
    # `Which lake is larger, the lake or Lake Ina?` would puzzle; `this lake` points back at what was being read.
    repeated = bool({noun, f"{noun}s"} & set(words(f"{left} {right}")))
    article = "this" if repeated else "the"
    opening = not left.strip() or left.rstrip().endswith((".", "?", "!"))
    return f"{left}{article.capitalize() if opening else article} {noun}{_possessive(right)}"


def _drop_after_noun(question: str, start: int, end: int) -> tuple[str | None, str]:
    """`of the rock band Titan was` -> `of the rock band was`: the noun is there already, the name just goes."""
    left, right = _unquoted(question[:start], question[end:])
    match = re.search(r"\b(the|a|an)((?: [\w-]+){0,3}?) ([\w-]+)\s+$", left, re.IGNORECASE)
    if match is None or match[3].lower() not in CLASSES:
        return None, ""
    before = _word_before(left[: match.start()])
    if not _follows_well(right, before):
        return None, ""
    article = "The" if match[1][0].isupper() else "the"
    return f"{left[: match.start()]}{article}{match[2]} {match[3]}{_possessive(right)}", match[3].lower()


def _unquoted(left: str, right: str) -> tuple[str, str]:
    if left.endswith(('"', "“", "'", "‘")) and right[:1] in ('"', "”", "'", "’"):
        return left[:-1], right[1:]
    return left, right


def _word_before(text: str) -> str:
    found = text.split()
    return found[-1].lower() if found else ""


def _follows_well(right: str, before: str) -> bool:
    match = re.match(r"\s*([\w-]+)?", right)
    word = match[1] if match else None
    if right[:1] in ("'", "’"):
        return bool(re.match(r"['’]s?\s", right))
    if not word or not right[:1].isspace():
        return right[:1] in ("", "?", ",", ".", ":", ";", "!")
    if word in _AFTER or _VERB_OR_ADVERB.fullmatch(word):
        return True
    if not word.islower():
        return False
    return before in _BEFORE_VERBS and not _NOT_A_MODIFIER.match(word) and len(word) > 2


def _possessive(right: str) -> str:
    """`Linus Torvalds' wife` names somebody in -s; the vague phrase does not end in one."""
    return re.sub(r"^['’]\s", "'s ", right)
