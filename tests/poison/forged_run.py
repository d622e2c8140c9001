"""A copy of a finished honest run, changed as a careful forger would, and the checks that detect it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from src.core.jsonl import read_records, write_records
from src.gates.gate import measure
from src.gates.rounds import FILE_GATES
from src.reward.recorded_episodes import RecordedEpisode
from src.scoring.scores import Score
from tests.gates.run_folder import current_context

EPISODES = {
    "calibration": Path("data/episodes/quickstart_calibration.jsonl"),
    "shadow": Path("data/episodes/quickstart_shadow.jsonl"),
}


def caught(gate: str) -> set[str]:
    """Names of the gate's checks that fail in the working folder, without their scope."""
    return {one.name.split("[")[0] for one in measure({gate: FILE_GATES[gate]}, current_context()) if not one.passed}


def asked(gate: str) -> set[str]:
    """Ids of the episodes that the judge scored."""
    return {line.id for line in read_records(EPISODES[gate].with_suffix(".scores.jsonl"), Score)}


def change_episodes(gate: str, change: Callable[[RecordedEpisode], RecordedEpisode], only: int | None = None) -> None:
    """Changes the first `only` recorded episodes that the judge did not score, or all of them."""
    recorded = list(read_records(EPISODES[gate], RecordedEpisode))
    before_the_judge = asked(gate)
    free = [one.id for one in recorded if one.id not in before_the_judge][:only]
    keep(gate, [change(one) if one.id in free else one for one in recorded])


def keep(gate: str, recorded: list[RecordedEpisode]) -> None:
    with open(EPISODES[gate], "wb") as handle:
        write_records(handle, recorded)
