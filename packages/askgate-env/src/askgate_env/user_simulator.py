"""The user simulator: gives the hidden information to a question that asks for it, in whatever words, and no other.

    reply(sample, "Do you mean the botanist or the linguist?")     # 'Sorry, the linguist'

It follows rules, without chance: `quantity_questions.py` for a quantity, `referent_questions.py` for a thing or a year.
A choice among readings gets the right one, a right guess a yes, a wrong guess a no. The words, synonyms and patterns of
both languages are in `texts/user_simulator.json`.

The gold answer is never read. A question that gets nothing gets the same words whether or not something is missing, so
that an ask does not reveal the label.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from .concepts import fold, language, normalize, tokens
from .files import package_json
from .quantity_questions import Quantity, Verdict
from .referent_questions import Referent
from .types import Article, Hidden, Lang, Sample

REPLIES: dict[str, dict[Lang, str]] = package_json("dialogue.json")["user"]
"""Fixed texts of the user, by kind and language."""
_UNINFORMATIVE = {text for kind in ("ask_back", "refusal", "no", "evasive") for text in REPLIES[kind].values()}
MAX_QUESTIONS = 3
MAX_CLAUSES = 6
"""Maximum number of clauses of a question that are read one by one, from its end."""
MAX_WORDS = 60
"""Maximum number of distinct content words of an ask. A longer one counts as asking for everything at once."""
REPEATED = 0.6
"""Share of the prompt's words from which an ask counts as a repetition of the prompt."""


class AskReading(Struct, frozen=True):
    """How the user understands an ask."""

    questions: tuple[tuple[str, Verdict | None], ...]
    """The questions of the ask, each with its verdict; None if it is not about the hidden information."""
    fishing: bool = False
    """Whether it asks for everything at once; then no question has a verdict."""


def read_ask(sample: Sample, ask: str) -> AskReading:
    """How the user understands an ask about a sample."""
    asked = normalize(ask, sample.lang)
    parts = _questions(asked, sample.lang)
    hidden = sample.hidden
    if hidden is None:
        return AskReading(tuple((part, None) for part in parts))
    matcher = _matcher_for(hidden, sample.lang, sample.prompt, sample.question, sample.original, sample.context)
    if matcher.is_fishing(asked, parts):
        return AskReading(tuple((part, None) for part in parts), fishing=True)
    verdicts = [matcher.understand(part) for part in parts]
    if len(verdicts) > 1 and not any(verdicts):
        parts, verdicts = [asked], [matcher.understand(asked)]
    return AskReading(tuple(zip(parts, verdicts, strict=True)))


def reply(sample: Sample, ask: str) -> str:
    """The user's reply to a question. The same question always gets the same reply."""
    lang, questions = sample.lang, read_ask(sample, ask).questions
    found = [verdict for _, verdict in questions if verdict]
    if sample.hidden is not None and found:
        answer = _answer(sample, sample.hidden, "give" if "give" in found else found[0])
        more = any(verdict is None and _asks(part, lang) for part, verdict in questions)
        return REPLIES["rest"][lang].format(said=answer) if more and informs(answer) else answer
    return REPLIES["refusal" if tokens(normalize(ask, lang), lang) else "ask_back"][lang]


def informs(reply_text: str) -> bool:
    """Whether a reply gives information, judged by the reply alone."""
    return reply_text not in _UNINFORMATIVE


def gives(hidden: Hidden, lang: Lang, said: str) -> bool:
    """Whether a text contains the hidden information: its numbers, or words that only the intended reading has."""
    text, span, numbers = fold(said), fold(hidden.span), language(lang).patterns["number"]
    if span in text:
        return True
    if hidden.kind in ("quantity", "condition", "year"):
        return bool(numbers.search(span)) and set(numbers.findall(span)) <= set(numbers.findall(text))
    return 0 in Referent(hidden, lang, "", "", ()).mentions(text)


def _answer(sample: Sample, hidden: Hidden, verdict: Verdict) -> str:
    """The user's words: the hidden information as the demonstration words it, or yes or no."""
    if verdict == "give":
        for turn, after in zip(sample.dialogue, sample.dialogue[1:], strict=False):
            if turn.act == "ask" and after.by == "user" and hidden.span in after.text:
                return after.text
    # With two readings, no to one names the other.
    kind = "no_but" if verdict == "no" and len(hidden.readings) == 2 else verdict
    return REPLIES[kind][sample.lang].format(span=hidden.span)


def _questions(asked: str, lang: Lang) -> list[str]:
    """The questions of an ask; a statement belongs to the question after it."""
    pieces = language(lang).patterns["question_end"].split(asked)
    return [piece for piece in pieces if piece.strip(" ?!.。！")] or [asked]


def _asks(part: str, lang: Lang) -> bool:
    """Whether a part of an ask is a question with content of its own."""
    is_question = language(lang).patterns["question_word"].search(part) is not None
    return is_question and any(not token.soft for token in tokens(part, lang))


class HiddenMatcher:
    """Compares questions with the hidden information of a sample."""

    def __init__(
        self, hidden: Hidden, lang: Lang, prompt: str, question: str, original: str, context: Sequence[Article]
    ) -> None:
        self.hidden, self.lang, self.lists = hidden, lang, language(lang)
        self.missing = normalize(hidden.missing, lang)
        name = fold(hidden.about[0]) if hidden.about else ""
        titles = (fold(article.title) for article in context) if lang == "zh" else ()
        places = (title[:length] for title in titles for length in range(len(title), 2, -1))
        self.place = next((place for place in places if place in fold(prompt)), "")
        """Place of a Chinese word problem: the longest start of an article's title that is also in the prompt."""
        said = {token.concepts for token in tokens(fold(prompt), lang)}
        self.prompt_words = said - {token.concepts for token in tokens(name, lang)}
        self.matcher = (
            Quantity(hidden, lang, prompt, question, original)
            if hidden.kind in ("quantity", "condition")
            else Referent(hidden, lang, prompt, question, context)
        )

    def understand(self, asked: str) -> Verdict | None:
        """The verdict on a question in lower case; None where it is not about the hidden information.

        If no rule matches the whole question, tries its end, then each clause that asks something: `Sorry, bad line;
        how many eggs was it?`, `You never said how many eggs there were, so I cannot tell.`
        """
        if self.missing in asked:
            return "give"
        patterns = self.lists.patterns
        asked = patterns["purpose"].sub(" ", asked)
        ends = [asked[match.end() :] for match in patterns["clause"].finditer(asked)][-MAX_CLAUSES:]
        clauses = list[str]()
        for clause in reversed(patterns["clause"].split(asked)[-MAX_CLAUSES:]):
            if patterns["asks"].search(clause) or not patterns["question_word"].search(asked):
                clauses.append(clause)
            if _asks(clause, self.lang):  # what comes before belongs to this question
                break
        if verdict := self._understand(asked):
            return verdict
        rules = self.matcher
        if isinstance(rules, Referent) and self.hidden.kind != "year" and rules.is_elsewhere(asked):
            # `Which one is it?` may be about something else that was named before.
            ends, clauses = [end for end in ends if rules.mentions(end)], []
        return next((verdict for text in (*ends, *clauses) if (verdict := self._understand(text))), None)

    def _understand(self, asked: str) -> Verdict | None:
        if self.place and isinstance(self.matcher, Quantity):
            asked = asked.replace(self.place, " ")
        return self.matcher.understand(asked)

    def is_fishing(self, asked: str, parts: Sequence[str]) -> bool:
        """Whether an ask is for everything at once: many questions, or the prompt again."""
        said = {token.concepts for token in tokens(asked, self.lang)}
        if len(parts) > MAX_QUESTIONS or len(said) > MAX_WORDS:
            return True
        return len(said) > 8 and len(self.prompt_words & said) > REPEATED * len(self.prompt_words)


_matcher_for = lru_cache(maxsize=4096)(HiddenMatcher)
