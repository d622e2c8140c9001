"""What the gates of one round look at: the profile, the settings of live scoring, and where derived reports go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..config.judge_config import ScoringSection
from ..config.loader import load_config
from ..config.profile import Profile
from ..core.errors import BadInput

PREFLIGHT = Path("reports/preflight")


@dataclass(frozen=True)
class Look:
    profile: Profile
    scoring: ScoringSection
    round: int
    work: Path
    """Folder of the reports that the gates write on their way."""
    fresh: Path
    """The scores of the samples that this round drew."""
    ledger: Path
    """The ledger as it was, which may be a part of the one that lies there now."""

    @property
    def cache_hit_lt(self) -> float:
        limits = self.profile.thresholds
        return limits.cache_hit_lt_round1 if self.round == 1 else limits.cache_hit_lt_round2


def work_folder(number: int) -> Path:
    return PREFLIGHT / f"round{number}"


def look_at(profile: Profile, number: int) -> Look:
    scoring = load_config().scoring
    if scoring.ledger != profile.paths.ledger:
        raise BadInput(
            f"the scoring ledger is {scoring.ledger}, and profile {profile.name} looks at {profile.paths.ledger}",
            where="configs/default.yaml: scoring.ledger",
            remedy="give both the same path",
        )
    work = work_folder(number)
    return Look(profile, scoring, number, work, work / "fresh_scores.jsonl", scoring.ledger)
