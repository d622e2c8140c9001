"""What a policy could see of a sample: all that a dimension is told.

Correlation with success would be a tautology if a dimension knew the gold answer or the hidden span. So no dimension
is given a `Sample` or an `Episode`; both know more.
"""

from __future__ import annotations

from ...core.types import Article, End, Episode, Lang, Record, Sample, Task, Turn


class Seen(Record, frozen=True):
    """An episode without what only the keeper of the sample knows.

    It has no gold answer, aliases, hidden span, supporting sentences or demonstration, and says neither whether
    something was missing nor whether the answer was right.
    """

    task: Task
    lang: Lang
    prompt: str
    context: tuple[Article, ...]
    """Articles that `wiki` can show."""
    turns: tuple[Turn, ...]
    end: End
    answer: str | None

    @property
    def said(self) -> tuple[Turn, ...]:
        """The policy's own turns."""
        return tuple(turn for turn in self.turns if turn.by == "assistant")

    @property
    def asked(self) -> tuple[tuple[str, str | None], ...]:
        """Every ask with the user's reply; None where the episode ended on it."""
        after = (*self.turns[1:], None)
        return tuple(
            (turn.text, reply.text if reply and reply.by == "user" else None)
            for turn, reply in zip(self.turns, after, strict=True)
            if turn.act == "ask"
        )

    @property
    def calls(self) -> tuple[tuple[Turn, str | None], ...]:
        """Every call of a tool with what it returned; None where the episode ended on it."""
        after = (*self.turns[1:], None)
        return tuple(
            (turn, reply.text if reply and reply.by == "tool" else None)
            for turn, reply in zip(self.turns, after, strict=True)
            if turn.act == "call"
        )

    def told_before(self, place: int) -> str:
        """What user and tools had said before the turn at that place."""
        return "\n".join(turn.text for turn in self.turns[:place] if turn.by != "assistant")

    @property
    def told(self) -> str:
        """What user and tools said in the whole episode."""
        return self.told_before(len(self.turns))

    @property
    def user_words(self) -> str:
        """What the user said, first message and replies."""
        return "\n".join(turn.text for turn in self.turns if turn.by == "user")


def see(episode: Episode, sample: Sample) -> Seen:
    """The one place where the secret parts of a sample are left behind."""
    if episode.sample_id != sample.id:
        raise ValueError(f"episode of {episode.sample_id} with sample {sample.id}")
    return Seen(
        task=sample.task,
        lang=sample.lang,
        prompt=sample.prompt,
        context=sample.context,
        turns=episode.turns,
        end=episode.end,
        answer=episode.answer,
    )
