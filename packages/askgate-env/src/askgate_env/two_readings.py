"""Signs of a gap that a policy without an ask passed over: the tools showed two readings of the question.

Two articles share a name that the user gave without saying which, or a fact is listed for several years and the user
named none of them. Not every such list is a gap. Nothing was missing where

- the namesakes are of different kinds, so that only one of them can be meant: an engineer, and a novel of that name;
- what the policy took from one reading is said of the others too: the same publisher, the same mayor again;
- the comparison that the policy made has the same result with the numbers of the others, or, if it compared without
  the calculator, no number that it read about anything else lies between theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from .concepts import Concepts, concepts_of, language, normalize
from .episode_view import EpisodeView
from .mentions import mentioned
from .success import verdict
from .tools import CalcError, evaluate
from .types import Article, Lang, Turn

OPERAND = re.compile(r"\d+(?:\.\d+)?")
_HIT = re.compile(r"^\d+\. (?P<title>(?P<name>.+?) ?[(（](?P<which>[^()（）]+)[)）]): ", re.MULTILINE)
_COMMA = re.compile("[,，]")
_YEAR = re.compile(r"(?<!\d)(?:1\d|20)\d{2}(?!\d)")
_ONE_LIFE = re.compile(r"\b(?:born|died|lived)\b|\d{4}\s?[-–]\s?\d{4}|\bfrom \d{4} to\b|生于|逝|卒")
"""In such a sentence two years are the two ends of a period, not two readings."""
_LIVED = re.compile(r"\b(?:born|died|lived)\b|生于|逝|卒")
_LIFE = frozenset({"=birth", "=death"})
_FIRST = re.compile(r"\bfirst\b")
"""Said of works and of events alike: *first published*, *first held*."""
_AGAIN = re.compile(r"\bagain\b|再次|连任|仍")
"""In such a sentence the value of both years is the same."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")


def two_readings(view: EpisodeView) -> bool:
    """Whether the policy continued although tools showed two readings that matter and the user chose neither."""
    return _shared_name(view) or _no_year(view)


def _shared_name(view: EpisodeView) -> bool:
    user = view.user_text.casefold()
    for place, turn in enumerate(view.turns):
        if turn.by != "tool":
            continue
        for tagged in _namesakes(view, turn.text):
            tags = [set(_COMMA.split(which.casefold().replace(" ", ""))) for which, _ in tagged]
            telling = {tag for own in tags for tag in own if not all(tag in others for others in tags)}
            chosen = any(tag in user.replace(" ", "") for tag in telling)
            if not chosen and not _same_for_all(view, place, [article for _, article in tagged]):
                return True
    return False


def _namesakes(view: EpisodeView, hits: str) -> Iterator[list[tuple[str, Article]]]:
    """Groups of listed articles of one kind that share a name of the prompt, each with the brackets of its title."""
    articles = {article.title: article for article in view.context}
    groups: list[tuple[str, Concepts, list[tuple[str, Article]]]] = []
    for hit in _HIT.finditer(hits):
        name, article = hit["name"], articles.get(hit["title"])
        if article is None or name.strip("《》") not in view.prompt:
            continue
        kind = _attributes(article.sentences[0].replace(name, ""), view.lang)
        for other, its_kind, group in groups:
            if other == name and (kind & its_kind or kind == its_kind):
                group.append((hit["which"], article))
                break
        else:
            groups.append((name, kind, [(hit["which"], article)]))
    return (group for _, _, group in groups if len(group) > 1)


@lru_cache(maxsize=4096)
def _attributes(sentence: str, lang: Lang) -> Concepts:
    """Facts that a sentence states: a birth, a founding. First sentences of articles of one kind state the same."""
    found = concepts_of([normalize(_FIRST.sub("", sentence), lang)], lang) & language(lang).attributes
    return found | _LIFE if _LIVED.search(sentence) and len(_YEAR.findall(sentence)) > 1 else found


def _same_for_all(view: EpisodeView, place: int, namesakes: Sequence[Article]) -> bool:
    """Whether what the policy took from one of the namesakes after that place holds for all of them.

    A policy that took nothing has compared, and must have read about all of them.
    """
    titles = {article.title for article in namesakes}
    later = [turn for turn in view.turns[place + 1 :] if turn.by == "assistant"]
    took_any = False
    for turn in later:
        for value in _values(turn):
            said_of = [mentioned(value, article.text) for article in namesakes]
            if value in titles or mentioned(value, view.user_text) or not any(said_of):
                continue
            took_any = True
            if not all(said_of) and not _same_result(turn, value, namesakes, view.lang):
                return False
    return took_any or titles <= {turn.text for turn in later} or _nothing_between(view, namesakes)


def _same_result(turn: Turn, value: str, namesakes: Sequence[Article], lang: Lang) -> bool:
    """Whether a comparison with a number of one namesake has the same result with the numbers of the others."""
    if turn.tool != "calc":
        return False
    sentences = [one for article in namesakes for one in article.sentences]
    stated = next((one for one in sentences if value in OPERAND.findall(one)), "")
    fact, own = _attributes(stated, lang), sorted(OPERAND.findall(stated), key=float)
    for article in namesakes:
        numbers = [one for one in article.sentences if OPERAND.search(one)]
        alike = [one for one in numbers if _attributes(one, lang) & fact or _attributes(one, lang) == fact]
        likest = max(alike, key=lambda one: len(_attributes(one, lang) & fact), default="")
        others = sorted(OPERAND.findall(likest), key=float)
        if own and len(others) == len(own):
            others = [others[own.index(value)]]
        if not others or not _compares_alike(turn.text, value, others):
            return False
    return True


def _nothing_between(view: EpisodeView, namesakes: Sequence[Article]) -> bool:
    """Whether a choice between things that the prompt names is the same for all namesakes, by their first sentences."""
    if view.answer is None or not mentioned(view.answer, view.prompt):
        return False
    firsts = [article.sentences[0] for article in namesakes]
    fact = _attributes(firsts[0], view.lang)
    own = [sorted(map(float, OPERAND.findall(one))) for one in firsts]
    about = {article.title for article in namesakes}
    heard = [
        sentence
        for turn in view.turns
        if turn.by != "assistant"
        for sentence in _SENTENCE.split(turn.text)
        if sentence not in firsts and not any(f"{title}: " in sentence for title in about)
    ]
    others = [float(one) for text in heard if _attributes(text, view.lang) & fact for one in OPERAND.findall(text)]
    if not others or not own[0] or len({len(one) for one in own}) > 1:
        return False
    return not any(min(rank) <= other <= max(rank) for rank in zip(*own, strict=True) for other in others)


def _compares_alike(expression: str, value: str, others: Sequence[str]) -> bool:
    """
    >>> _compares_alike("1879 < 1878", "1879", ["1885"]), _compares_alike("1879 < 1882", "1879", ["1885"])
    (True, False)
    """
    number = re.compile(rf"(?<![\d.]){re.escape(value)}(?![\d.])")
    try:
        results = {evaluate(number.sub(one, expression)) for one in (value, *others)}
    except CalcError:
        return False
    return results in ({True}, {False})


def _no_year(view: EpisodeView) -> bool:
    """Whether the policy took a value from a list by years, one that neither user nor article title had named."""
    user = view.user_text
    named = set(_YEAR.findall(user))
    for place, turn in enumerate(view.turns):
        if turn.tool != "wiki" or turn.by != "tool":
            continue
        given = f"{user}\n{turn.text.partition(':')[0]}"
        for sentence in _SENTENCE.split(turn.text):
            years = set(_YEAR.findall(sentence))
            if len(years) < 2 or years & named or _ONE_LIFE.search(sentence) or _AGAIN.search(sentence):
                continue
            amounts = [one for one in OPERAND.findall(sentence) if one not in years]
            for later in view.turns[place + 1 :]:
                taken = [one for one in _values(later) if one not in years and not mentioned(one, given)]
                for value in taken:
                    if mentioned(value, sentence) and not _compares_alike(later.text, value, amounts):
                        return True
    return False


def _values(turn: Turn) -> list[str]:
    """Values that a turn of the policy used."""
    if turn.act == "answer":
        return [turn.text] if verdict(turn.text) is None else []
    if turn.act == "call" and turn.tool == "wiki":
        return [turn.text]
    return OPERAND.findall(turn.text) if turn.act == "call" else []
