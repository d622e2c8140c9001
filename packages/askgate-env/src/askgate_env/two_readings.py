"""Signs of a gap that a policy without an ask ignored: the tools showed two readings of the question.

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
_HIT = re.compile(r"^\d+\. (?P<title>(?P<name>.+?) ?[(（](?P<brackets>[^()（）]+)[)）]): ", re.MULTILINE)
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
    return _namesake_not_chosen(view) or _year_not_chosen(view)


def _namesake_not_chosen(view: EpisodeView) -> bool:
    """Whether the policy took a value from one of several namesakes, none of which the user had chosen."""
    user = view.user_text.casefold()
    for index, turn in enumerate(view.turns):
        if turn.by != "tool":
            continue
        for namesakes in _namesakes(view, turn.text):
            tags = [set(_COMMA.split(brackets.casefold().replace(" ", ""))) for brackets, _ in namesakes]
            distinctive = set.union(*tags) - set.intersection(*tags)
            chosen = any(tag in user.replace(" ", "") for tag in distinctive)
            if not chosen and not _same_for_all(view, index, [article for _, article in namesakes]):
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
        for group_name, group_kind, group in groups:
            if group_name == name and (kind & group_kind or kind == group_kind):
                group.append((hit["brackets"], article))
                break
        else:
            groups.append((name, kind, [(hit["brackets"], article)]))
    return (group for _, _, group in groups if len(group) > 1)


@lru_cache(maxsize=4096)
def _attributes(sentence: str, lang: Lang) -> Concepts:
    """Facts that a sentence states: a birth, a founding. First sentences of articles of one kind state the same."""
    found = concepts_of([normalize(_FIRST.sub("", sentence), lang)], lang) & language(lang).attributes
    return found | _LIFE if _LIVED.search(sentence) and len(_YEAR.findall(sentence)) > 1 else found


def _same_for_all(view: EpisodeView, index: int, namesakes: Sequence[Article]) -> bool:
    """Whether the values that the policy took from one of the namesakes, after turn `index`, hold for all of them.

    If it took none, it must have opened all of them, or have made a choice that is the same for all.
    """
    titles = {article.title for article in namesakes}
    later = [turn for turn in view.turns[index + 1 :] if turn.by == "assistant"]
    took_any = False
    for turn in later:
        for value in _values_used(turn):
            states = [mentioned(value, article.text) for article in namesakes]
            if value in titles or mentioned(value, view.user_text) or not any(states):
                continue
            took_any = True
            if not all(states) and not _same_result(turn, value, namesakes, view.lang):
                return False
    return took_any or titles <= {turn.text for turn in later} or _choice_is_the_same(view, namesakes)


def _same_result(turn: Turn, value: str, namesakes: Sequence[Article], lang: Lang) -> bool:
    """Whether a comparison with a number of one namesake has the same result with the numbers of the others."""
    if turn.tool != "calc":
        return False
    sentences = [sentence for article in namesakes for sentence in article.sentences]
    source = next((sentence for sentence in sentences if value in OPERAND.findall(sentence)), "")
    fact, numbers = _attributes(source, lang), sorted(OPERAND.findall(source), key=float)
    for article in namesakes:
        numeric = [
            (sentence, _attributes(sentence, lang)) for sentence in article.sentences if OPERAND.search(sentence)
        ]
        alike = [(sentence, stated) for sentence, stated in numeric if stated & fact or stated == fact]
        nearest, _ = max(alike, key=lambda pair: len(pair[1] & fact), default=("", fact))
        others = sorted(OPERAND.findall(nearest), key=float)
        if numbers and len(others) == len(numbers):
            others = [others[numbers.index(value)]]
        if not others or not _compares_alike(turn.text, value, others):
            return False
    return True


def _choice_is_the_same(view: EpisodeView, namesakes: Sequence[Article]) -> bool:
    """Whether a choice between things that the prompt names is the same for all namesakes.

    It is if no number that was read about anything else is between the numbers in their first sentences.
    """
    if view.answer is None or not mentioned(view.answer, view.prompt):
        return False
    firsts = [article.sentences[0] for article in namesakes]
    fact = _attributes(firsts[0], view.lang)
    numbers = [sorted(map(float, OPERAND.findall(sentence))) for sentence in firsts]
    titles = {article.title for article in namesakes}
    other_sentences = [
        sentence
        for turn in view.turns
        if turn.by != "assistant"
        for sentence in _SENTENCE.split(turn.text)
        if sentence not in firsts and not any(f"{title}: " in sentence for title in titles)
    ]
    comparable = [sentence for sentence in other_sentences if _attributes(sentence, view.lang) & fact]
    others = [float(number) for sentence in comparable for number in OPERAND.findall(sentence)]
    if not others or not numbers[0] or len(set(map(len, numbers))) > 1:
        return False
    return not any(min(same) <= other <= max(same) for same in zip(*numbers, strict=True) for other in others)


def _compares_alike(expression: str, value: str, others: Sequence[str]) -> bool:
    """Whether a comparison has the same result with each of the other numbers in place of `value`.

    >>> _compares_alike("1879 < 1878", "1879", ["1885"]), _compares_alike("1879 < 1882", "1879", ["1885"])
    (True, False)
    """
    number = re.compile(rf"(?<![\d.]){re.escape(value)}(?![\d.])")
    try:
        results = {evaluate(number.sub(other, expression)) for other in (value, *others)}
    except CalcError:
        return False
    return results in ({True}, {False})


def _year_not_chosen(view: EpisodeView) -> bool:
    """Whether the policy took a value from a list by years, one that neither user nor article title had named."""
    user = view.user_text
    user_years = set(_YEAR.findall(user))
    for index, turn in enumerate(view.turns):
        if turn.tool != "wiki" or turn.by != "tool":
            continue
        given = f"{user}\n{turn.text.partition(':')[0]}"
        for sentence in _SENTENCE.split(turn.text):
            years = set(_YEAR.findall(sentence))
            if len(years) < 2 or years & user_years or _ONE_LIFE.search(sentence) or _AGAIN.search(sentence):
                continue
            amounts = [number for number in OPERAND.findall(sentence) if number not in years]
            for later in view.turns[index + 1 :]:
                for value in _values_used(later):
                    is_taken = value not in years and not mentioned(value, given) and mentioned(value, sentence)
                    if is_taken and not _compares_alike(later.text, value, amounts):
                        return True
    return False


def _values_used(turn: Turn) -> list[str]:
    """Values that a turn of the policy used: its answer unless yes or no, its query, or the numbers that it calculates
    with."""
    if turn.act == "answer":
        return [turn.text] if verdict(turn.text) is None else []
    if turn.act == "call" and turn.tool == "wiki":
        return [turn.text]
    return OPERAND.findall(turn.text) if turn.act == "call" else []
