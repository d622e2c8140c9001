"""Dialogues for the tests of the reward, by a scripted policy in the real environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from askgate_env.actions import say
from askgate_env.env import Env
from askgate_env.episode_view import EpisodeView, view_episode
from askgate_env.types import Article, Episode, Hidden, Lang, Level, Sample, Task
from tests.data.samples import make_sample

LUND = Article("Lund", ("Lund lies on the river Arve.", "Lund was founded in 1246.", "Ada Berg was born in Lund."))
MAYORS = Article("Vell", ("Vell elected Ada Berg as its mayor in 1868 and Nils Sand in 1889.",))
BERGS = (
    Article("Ada Berg (potter)", ("Ada Berg was a potter born in Lund.",)),
    Article("Ada Berg (mapmaker)", ("Ada Berg was a mapmaker born in Oslo.",)),
)
WHICH = Hidden(
    "entity",
    "the potter",
    "which Ada Berg you mean",
    ("Ada Berg", "person", "profession"),
    (("the potter", "potter"), ("the mapmaker", "mapmaker")),
)


def run_episode(
    sample: Sample, said: Sequence[str], max_turns: int = 6, seed: int = 7, level: Level | None = None
) -> Episode:
    """The episode of a policy that says these turns; it runs out of tokens if it has no more turns."""
    env = Env(sample, max_turns)
    for text in said:
        env.step(text)
        if env.end:
            break
    else:
        env.finish("length")
    return env.episode(seed, level)


def demonstration_episode(sample: Sample) -> Episode:
    """The episode of a policy that follows the demonstration."""
    return run_episode(sample, [say(turn) for turn in sample.dialogue if turn.by == "assistant"], max_turns=12)


def by(policy: Callable[[Sample], str], samples: Sequence[Sample]) -> list[Episode]:
    """Episodes of a policy that always says the same on a sample."""
    return [run_episode(sample, [policy(sample)] * 6) for sample in samples]


def seen(
    task: Task,
    prompt: str,
    *said: str,
    context: tuple[Article, ...] = (LUND, MAYORS, *BERGS),
    hidden: Hidden | None = None,
    lang: Lang = "en",
) -> EpisodeView:
    sample = make_sample("one", prompt, task=task, lang=lang, context=context, hidden=hidden)
    return view_episode(run_episode(sample, said), sample)
