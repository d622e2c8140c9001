"""A scoring run inside a Ray task, with the judge of the cluster, and the audit of several such runs."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from askgate_env.types import Sample
from src.config.loader import load_config
from src.scoring.ledger import lines, verify
from src.scoring.providers import settings_for
from src.scoring.score_pool import ScoringJob, Summary, score_dialogues
from src.scoring.types import CallEntry, ScoringEntry
from tests.scoring.crash_run import note


def score_part(folder: Path, name: str, url: str, samples: list[Sample]) -> Summary:
    """Scores these samples. `started` in the folder of the run says which process does it."""
    here = folder / name
    here.mkdir(exist_ok=True)
    os.chdir(here)
    note(here / "started", str(os.getpid()))
    scoring = load_config().scoring
    files = {"cache": folder / "scores.sqlite3", "ledger": folder / "ledger.jsonl"}
    environment = {
        "SCORER_PROVIDER": "custom",
        "SCORER_BASE_URL": url,
        "SCORER_MODEL": "tiny",
        "REWARD_LIVE_MODE": "1",
    }
    settings = settings_for(environment, scoring.model_copy(update=files))
    job = ScoringJob(folder / "pool.jsonl", here / "scores.jsonl", None, 0, cluster="auto")
    return score_dialogues(samples, job, settings, print, lambda tally: None)[1]


def audit(folder: Path) -> tuple[list[CallEntry], list[ScoringEntry]]:
    """Paid calls and scorings of one whole chain in which no vote is paid for twice."""
    verify(folder / "ledger.jsonl")
    entries = [line.entry for line in lines(folder / "ledger.jsonl")]
    paid = [one for one in entries if isinstance(one, CallEntry) and not one.cache_hit and one.status == "ok"]
    twice = [key for key, times in Counter(call.key for call in paid).items() if times > 1]
    assert not twice, f"{len(twice)} votes are paid for twice"
    return paid, [one for one in entries if isinstance(one, ScoringEntry)]
