"""How well a crowd worker's question is written: readers choose well-written questions first.

Nothing is corrected. A question has a slip if it has a word that neither the articles nor another question has (mostly
a typing error), a countable noun without an article (`Did mongoose come first?`), a past form after `did` (`did he
played`) or one of the slips in `templates/lexicon/english.yaml`. It is hard to read if it is long or does not start as
questions do (`Titan is a band from what city?`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from ..difficulty.text_features import lexicon, word_set

LONGEST_PLAIN = 24
"""Words of a question that is still easy to read."""
LEAST_COUNTED = 3
COUNTED_SHARE = 0.06
"""Share of a word's uses that come right after `a` or `an`, from which it is a countable noun."""
_AUXILIARY = "Is|Was|Did|Does|Has|Can|Could|Would|Will|Should|is|was|did|does|has|can|could|would|will"
_STARTS = re.compile(
    r"(?:(?:In|On|At|For|From|To|By|Of|With|During|Between) (?:what|which|whom|whose)|Who|Whom|Whose|What|Which|When"
    rf"|Where|Why|How|Are|Were|Do|Have|Had|If|{_AUXILIARY})\b(?!['’])"
)
_WORD = re.compile(r"(?<![\w'’-])[a-z]{3,}(?![\w'’-])")
_COUNTED = re.compile(r"\ban? ([a-z]+)\b")
_NOUN_END = re.compile(r"[^\W\d_][\w.’'-]*|\d[\w,]*|[^\w\s]")
_DETERMINERS = word_set("determiners")
_AFTER_NOUN = word_set("after_noun")
_SLIPS = re.compile("|".join(lexicon("english")["style_slips"]))


class QuestionStyle:
    """Measures questions against all texts of their dataset."""

    def __init__(self, questions: Sequence[str], articles: Iterable[str]) -> None:
        text = "\n".join(articles)
        self.asked = Counter(word for question in questions for word in set(_WORD.findall(question)))
        self.known = Counter(re.findall(r"[a-z]+", text.lower()))
        self.counted = Counter(_COUNTED.findall(text))

    def faults(self, question: str) -> tuple[bool, int]:
        """Whether a question has a slip, and how many things make it hard to read."""
        unknown = any(not self.known[word] and self.asked[word] < 2 for word in _WORD.findall(question))
        is_long = len(question.split()) > LONGEST_PLAIN
        return unknown or self._has_bare_noun(question) or bool(_SLIPS.search(question)), is_long + (
            not _STARTS.match(question)
        )

    def _has_bare_noun(self, question: str) -> bool:
        """Whether none of the three words before a countable noun in the singular is a determiner."""
        parts = [*_NOUN_END.findall(question), "?"]
        for at, word in enumerate(parts[1:-1], start=1):
            ends = at == 1 or parts[at + 1] in _AFTER_NOUN or not parts[at + 1][0].isalnum()
            is_noun = ends and word.islower() and self._is_countable(word)
            if is_noun and not any(map(_determines, parts[max(0, at - 3) : at])):
                return True
        return False

    def _is_countable(self, word: str) -> bool:
        counted = self.counted[word]
        return counted >= LEAST_COUNTED and counted >= COUNTED_SHARE * self.known[word]


def _determines(word: str) -> bool:
    return word.lower() in _DETERMINERS or word[0].isdigit() or word.endswith(("'s", "’s", "s'"))
