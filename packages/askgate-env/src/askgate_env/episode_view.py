"""The part of an episode that the policy could see: all that a dimension is given.

Correlation with success would be a tautology if a dimension knew the gold answer or the hidden span. So no dimension
is given a `Sample` or an `Episode`; both know more.
"""

from __future__ import annotations

from .types import Article, End, Episode, Lang, Record, Sample, Task, Turn


class EpisodeView(Record, frozen=True):
    """An episode without what only the environment knows.

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
    def policy_turns(self) -> tuple[Turn, ...]:
        """The policy's own turns."""
        return tuple(turn for turn in self.turns if turn.by == "assistant")

    @property
    def asked(self) -> tuple[tuple[Turn, str | None], ...]:
        """Every ask with the user's reply; None where the episode ended on it."""
        return self._with_replies("ask", "user")

    @property
    def calls(self) -> tuple[tuple[Turn, str | None], ...]:
        """Every call of a tool with what it returned; None where the episode ended on it."""
        return self._with_replies("call", "tool")

    def _with_replies(self, act: str, by: str) -> tuple[tuple[Turn, str | None], ...]:
        return tuple(
            (turn, reply.text if reply and reply.by == by else None)
            for turn, reply in zip(self.turns, (*self.turns[1:], None), strict=True)
            if turn.act == act
        )

    def text_before(self, index: int) -> str:
        """Messages of user and tools before the turn with that index."""
        return "\n".join(turn.text for turn in self.turns[:index] if turn.by != "assistant")

    @property
    def user_text(self) -> str:
        """All messages of the user."""
        return "\n".join(turn.text for turn in self.turns if turn.by == "user")


def view_episode(episode: Episode, sample: Sample) -> EpisodeView:
    """The view of an episode. Only here are the secret parts of a sample left out."""
    if episode.sample_id != sample.id:
        raise ValueError(f"episode of {episode.sample_id} with sample {sample.id}")
    return EpisodeView(
        sample.task, sample.lang, sample.prompt, sample.context, episode.turns, episode.end, episode.answer
    )
