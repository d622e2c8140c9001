"""Score dialogues in the OpenAI messages format with a live judge, and list them from best to worst.

    export REWARD_LIVE_MODE=1 SCORER_PROVIDER=local     # or custom, with SCORER_BASE_URL and SCORER_MODEL
    python examples/score_file.py examples/dialogues.jsonl --out scores.jsonl

A line is {"id": "...", "messages": [{"role": "user", "content": "..."}, ...]}. Replies are stored in
.askgate/scores.sqlite and calls in reports/rc1/scoring_ledger.jsonl, so a second start pays again
only for calls that were in flight.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from msgspec import Struct

from askgate.config.profile import load_profile, scoring_of
from askgate.scoring.providers import settings_for
from askgate.scoring.score_pool import ScoringJob, score_dialogues
from askgate_env.types import Lang, Turn


class Chat(Struct, frozen=True):
    """What the judge needs of a dialogue."""

    id: str
    lang: Lang
    dialogue: tuple[Turn, ...]


def read_chat(line: str) -> Chat:
    row = json.loads(line)
    *earlier, last = row["messages"]
    turns = [
        Turn(by="assistant" if message["role"] == "assistant" else "user", act="say", text=message["content"])
        for message in earlier
    ]
    return Chat(row["id"], row.get("lang", "en"), (*turns, Turn(by="assistant", act="answer", text=last["content"])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--out", type=Path, default=Path("scores.jsonl"))
    arguments = parser.parse_args()

    chats = [read_chat(line) for line in arguments.file.read_text(encoding="utf-8").splitlines() if line.strip()]
    job = ScoringJob(arguments.file, arguments.out, n=None, seed=0, budget=None)
    settings = settings_for(os.environ, scoring_of(load_profile("rc1")), provider="")
    scores, summary = score_dialogues(chats, job, settings, print, lambda progress: None)

    print(f"{summary.scored} of {summary.samples} scored by {settings.provider.name}, {summary.unstable} unstable")
    for score in sorted(scores.values(), key=lambda one: -(one.overall or 0.0)):
        overall = "no score" if score.overall is None else f"{score.overall:8.2f}"
        print(f"{overall}  {score.id}  {score.scores}")


if __name__ == "__main__":
    main()
