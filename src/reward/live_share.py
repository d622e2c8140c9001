"""Live judging in a training run: the judge scores a fixed share of the episodes.

The other episodes get the judge's mean scores from the calibration; if the weights file has none, only the dimensions
by rule count, rescaled to the same total.

The choice of the episodes depends on seed and step alone, never on their content. The scores of a step, failed calls
included, are on disk before they are used, and a step that is repeated after an interruption reads them there: a
resumed run pays for nothing twice and ends with the same bits, whatever the service answers today.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from pathlib import Path

from askgate_env.types import Episode, Lang, Record, Turn

from ..core.defaults import RESUME
from ..core.errors import BadInput
from ..core.files import atomic_write
from ..core.jsonl import read_records, write_records
from ..core.paths import step_file
from ..scoring.client import JudgeClient
from ..scoring.judge import Session
from ..scoring.scores import score_key, score_of

PATIENCE = 3
"""Number of consecutive steps without any judge score that stops the run, which would otherwise train on another
reward."""
ROUNDING = 1e-9

log = logging.getLogger(__name__)


class LiveScore(Record, frozen=True):
    """The judge's scores of one episode of a step."""

    row: int
    key: str
    """Key of dialogue, judge and votes."""
    scores: dict[str, float]
    """Scores by the judge's own names; empty if it gave none."""
    weight: float
    """Weight of the episode, lower if the votes disagree."""
    failure: str = ""


@dataclass(frozen=True)
class JudgedDialogue:
    """An episode as the judge sees it."""

    id: str
    lang: Lang
    dialogue: tuple[Turn, ...]


class RunJudge:
    """The judge of a whole run. Its connections and rate limits stay open between the steps."""

    def __init__(self, session: Session, client: JudgeClient, runner: asyncio.Runner) -> None:
        self.session, self._runner = session, runner
        self.judge = session.judge(client)

    def key(self, dialogue: JudgedDialogue) -> str:
        return score_key(dialogue, self.session.provider, self.session.settings.scoring.votes)

    def score(self, dialogues: Mapping[int, JudgedDialogue], keys: Mapping[int, str]) -> list[LiveScore]:
        """Scores of the dialogues. Both arguments are by row of the batch."""

        async def score_all() -> list[LiveScore]:
            entries = await asyncio.gather(*map(self.judge.score, dialogues.values()))
            scores = [score_of(entry, self.session.settings.scoring.votes) for entry in entries]
            return [
                LiveScore(row, keys[row], one.scores, one.weight, one.failure)
                for row, one in zip(dialogues, scores, strict=True)
            ]

        return self._runner.run(score_all())


class LiveShare:
    """Callable `(step, episodes)` that returns the judge scores of the chosen episodes by row, failed ones left out.

    All episodes of a group are judged or none, because episodes of a group are compared with each other.
    """

    def __init__(self, judge: RunJudge, share: float, seed: int, group_size: int, folder: Path) -> None:
        self.judge, self.share, self.seed, self.group_size, self.folder = judge, share, seed, group_size, folder
        self._failed_steps = 0

    def __call__(self, step: int, episodes: Sequence[Episode]) -> dict[int, LiveScore]:
        dialogues = {
            row: JudgedDialogue(
                f"train/{self.seed}/{step + 1}/{row}/{episodes[row].sample_id}", episodes[row].lang, episodes[row].turns
            )
            for row in judged_rows(self.share, self.seed, step, len(episodes), self.group_size)
        }
        keys = {row: self.judge.key(one) for row, one in dialogues.items()}
        file = step_file(self.folder, step + 1)
        stored = list(read_records(file, LiveScore)) if file.exists() else None
        # Stored scores may be by another judge, or of other dialogues.
        if stored is None or {one.row: one.key for one in stored} != keys:
            stored = self.judge.score(dialogues, keys)
            self._refuse_silent_judge(stored)
            with atomic_write(file) as handle:
                write_records(handle, stored)
        return {one.row: one for one in stored if one.scores}

    def _refuse_silent_judge(self, scored: Sequence[LiveScore]) -> None:
        """Raises BadInput after PATIENCE consecutive steps in which the judge scored nothing."""
        if not scored:
            return  # with a small share many steps have no episode to judge
        failed = [one.failure for one in scored if one.failure]
        if failed:
            log.warning(
                "the judge gave no score for %d of %d episodes, which get its means of the calibration, if any: %s",
                len(failed), len(scored), failed[0],
            )  # fmt: skip
        self._failed_steps = self._failed_steps + 1 if len(failed) == len(scored) else 0
        if self._failed_steps >= PATIENCE:
            raise BadInput(
                f"the judge scored nothing in {PATIENCE} steps running: {failed[0]}",
                where="reward.live_share",
                remedy=f"see that `askgate probe-scorer --live` passes, then resume with {RESUME}",
            )


def judged_rows(share: float, seed: int, step: int, episodes: int, group_size: int) -> list[int]:
    """The rows of a step's batch that the judge scores: whole groups, which over many steps add up to the share.

    >>> [len(judged_rows(0.25, seed=7, step=step, episodes=6, group_size=1)) for step in range(4)]
    [1, 2, 1, 2]
    """
    groups = episodes // group_size
    done, due = (floor(number * groups * share + ROUNDING) for number in (step, step + 1))

    def order(group: int) -> bytes:
        return hashlib.blake2b(f"{seed}/{step}/judge {group}".encode(), digest_size=8).digest()

    drawn = sorted(sorted(range(groups), key=order)[: due - done])
    return [group * group_size + place for group in drawn for place in range(group_size)]
