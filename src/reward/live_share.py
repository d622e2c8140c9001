"""The judge's part in a training run: a fixed share of the episodes is scored live, the rest by the rules alone.

Which episodes are scored depends on seed and step alone, never on their content. The scores of a step, failed calls
included, are written to disk before they are used, and a step that is repeated after an interruption reads them there:
a resumed run pays nothing twice and ends with the same bits, whatever the service answers today.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from pathlib import Path

from ..core.defaults import RESUME
from ..core.errors import BadInput
from ..core.files import atomic_write
from ..core.jsonl import read_records, write_records
from ..core.paths import step_file
from ..core.types import Episode, Lang, Record, Turn
from ..scoring.client import JudgeClient
from ..scoring.judge import Judge, Session
from ..scoring.scores import score_key, score_of

PATIENCE = 3
"""Number of consecutive steps without any judge score that stops the run, which would otherwise train on another
reward."""
ROUNDING = 1e-9

log = logging.getLogger(__name__)


class Verdict(Record, frozen=True):
    """What the judge said of one episode of a step."""

    row: int
    key: str
    """Of dialogue, judge and votes."""
    scores: dict[str, float]
    """By the judge's own names; empty where it gave none."""
    weight: float
    """How much the episode counts: less where the votes disagree."""
    failure: str = ""


@dataclass(frozen=True)
class Spoken:
    """An episode as a judge is shown it."""

    id: str
    lang: Lang
    dialogue: tuple[Turn, ...]


class LiveShare:
    """`judge(step, episodes)`: the verdicts by row, of those that were chosen and could be scored.

    All episodes of a group are judged or none, so that nobody is compared with one who was rated otherwise.
    """

    def __init__(self, room: CourtRoom, share: float, seed: int, group_size: int, folder: Path) -> None:
        self.room, self.share, self.seed, self.group_size, self.folder = room, share, seed, group_size, folder
        self._failed_steps = 0

    def __call__(self, step: int, episodes: Sequence[Episode]) -> dict[int, Verdict]:
        rows = chosen(self.share, self.seed, step, len(episodes), self.group_size)
        spoken = {row: _spoken(self.seed, step, row, episodes[row]) for row in rows}
        keys = {row: self.room.key(one) for row, one in spoken.items()}
        file = step_file(self.folder, step + 1)
        verdicts = _on_record(file, keys)
        if verdicts is None:
            verdicts = self.room.judge(spoken, keys)
            self._refuse_silence(verdicts)
            with atomic_write(file) as handle:
                write_records(handle, verdicts)
        return {one.row: one for one in verdicts if one.scores}

    def _refuse_silence(self, verdicts: Sequence[Verdict]) -> None:
        if not verdicts:
            return  # of a small share many steps have none; they tell nothing of the judge
        failed = [one.failure for one in verdicts if one.failure]
        if failed:
            log.warning(
                "the judge gave no score for %d of %d episodes, which go by the rules alone: %s",
                len(failed), len(verdicts), failed[0],
            )  # fmt: skip
        self._failed_steps = self._failed_steps + 1 if len(failed) == len(verdicts) else 0
        if self._failed_steps >= PATIENCE:
            raise BadInput(
                f"the judge scored nothing in {PATIENCE} steps running: {failed[0]}",
                where="reward.live_share",
                remedy=f"see that `askgate probe_scorer --live` passes, then go on with {RESUME}",
            )


class CourtRoom:
    """One judge for a whole run: its connections and its pace outlive the steps."""

    def __init__(self, session: Session, client: JudgeClient, runner: asyncio.Runner) -> None:
        self.session, self._runner = session, runner
        self._judge = session.judge(client)

    @property
    def bench(self) -> Judge:
        return self._judge

    def key(self, spoken: Spoken) -> str:
        return score_key(spoken, self.session.provider, self.session.settings.scoring.votes)

    def judge(self, spoken: dict[int, Spoken], keys: dict[int, str]) -> list[Verdict]:
        return self._runner.run(self._all(spoken, keys))

    async def _all(self, spoken: dict[int, Spoken], keys: dict[int, str]) -> list[Verdict]:
        entries = await asyncio.gather(*(self._judge.score(one) for one in spoken.values()))
        scores = [score_of(entry, self.session.settings.scoring.votes) for entry in entries]
        return [
            Verdict(row, keys[row], score.scores, score.weight, score.failure)
            for row, score in zip(spoken, scores, strict=True)
        ]


def chosen(share: float, seed: int, step: int, episodes: int, group_size: int) -> list[int]:
    """The rows of a step's batch that the judge sees: whole groups, and over any stretch of steps just the share.

    >>> [len(chosen(0.25, seed=7, step=step, episodes=6, group_size=1)) for step in range(4)]
    [1, 2, 1, 2]
    """
    groups = episodes // group_size
    done, due = (floor(number * groups * share + ROUNDING) for number in (step, step + 1))

    def lot(group: int) -> bytes:
        return hashlib.blake2b(f"{seed}/{step}/judge {group}".encode(), digest_size=8).digest()

    drawn = sorted(sorted(range(groups), key=lot)[: due - done])
    return [group * group_size + place for group in drawn for place in range(group_size)]


def _spoken(seed: int, step: int, row: int, episode: Episode) -> Spoken:
    return Spoken(f"train/{seed}/{step + 1}/{row}/{episode.sample_id}", episode.lang, episode.turns)


def _on_record(file: Path, keys: dict[int, str]) -> list[Verdict] | None:
    """None where nothing is written down, or another judge's word on another dialogue."""
    if not file.exists():
        return None
    found = list(read_records(file, Verdict))
    return found if {one.row: one.key for one in found} == keys else None
