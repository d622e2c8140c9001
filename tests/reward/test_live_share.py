"""The judge's share of a training run: a random sample, stored before use; a silent judge stops the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from src.core.errors import BadInput
from src.reward.live_share import JudgedDialogue, LiveScore, LiveShare, RunJudge, judged_rows
from tests.eval.episodes import episode

BATCH = [episode(f"s{number}") for number in range(4)]


class FakeJudge(RunJudge):
    """A judge without a service, which can be made silent."""

    def __init__(self) -> None:
        self.silent = False
        self.asked = 0

    def key(self, spoken: JudgedDialogue) -> str:
        return f"key of {spoken.id}"

    def score(self, spoken: dict[int, JudgedDialogue], keys: dict[int, str]) -> list[LiveScore]:
        self.asked += len(spoken)
        if self.silent:
            return [LiveScore(row, keys[row], {}, 0.0, "no answer") for row in spoken]
        return [LiveScore(row, keys[row], {"logic": 0.5}, 1.0) for row in spoken]


def many_steps(judge: LiveShare) -> None:
    for step in range(20):
        judge(step, BATCH)


def share(fake: FakeJudge, folder: Path, part: float) -> LiveShare:
    return LiveShare(fake, part, seed=7, group_size=1, folder=folder)


@pytest.mark.parametrize("part", [1.0, 0.25, 0.1])
def test_a_silent_judge_stops_the_run_at_any_share(tmp_path: Path, part: float) -> None:
    """With a tenth of four episodes, the judge is called in two steps of five; the other steps do not count."""
    fake = FakeJudge()
    judge = share(fake, tmp_path, part)
    fake.silent = True
    with pytest.raises(BadInput, match="scored nothing in 3 steps running: no answer"):
        many_steps(judge)


def test_one_scored_step_resets_the_count_of_silent_steps(tmp_path: Path) -> None:
    fake = FakeJudge()
    judge = share(fake, tmp_path, 1.0)
    for step in range(12):
        fake.silent = step % 3 > 0
        assert len(judge(step, BATCH)) == (0 if fake.silent else 4)


def test_a_repeated_step_reads_stored_scores_and_calls_no_judge(tmp_path: Path) -> None:
    fake = FakeJudge()
    first = share(fake, tmp_path, 0.5)(3, BATCH)
    asked, fake.silent = fake.asked, True
    assert share(fake, tmp_path, 0.5)(3, BATCH) == first
    assert fake.asked == asked == 2


def test_stored_scores_of_another_dialogue_are_not_used(tmp_path: Path) -> None:
    fake = FakeJudge()
    share(fake, tmp_path, 1.0)(3, BATCH)
    share(fake, tmp_path, 1.0)(3, [episode("another"), *BATCH[1:]])
    assert fake.asked == 8


def test_the_exact_share_is_judged_in_whole_groups() -> None:
    drawn = [judged_rows(0.3, seed=7, step=step, episodes=8, group_size=4) for step in range(50)]
    assert sum(map(len, drawn)) == 0.3 * 8 * 50
    assert all(rows in ([], [0, 1, 2, 3], [4, 5, 6, 7], [*range(8)]) for rows in drawn)
    assert len({tuple(rows) for rows in drawn}) > 2
