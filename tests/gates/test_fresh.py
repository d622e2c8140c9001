"""A round scores only fresh samples live: no judge has scored their id or their text before."""

from __future__ import annotations

from pathlib import Path

from askgate_env.types import Sample
from src.core.jsonl import read_records, read_unique
from src.gates.checks.scoring import draw_fresh, fresh_findings, score_fresh
from src.scoring.providers import settings_for
from src.scoring.scores import Score, first_request
from src.scoring.store import Store
from src.scoring.types import Reply
from tests.gates.run_folder import current_context, judging

VOTE = '{"logic": 5, "clarity": 5, "naturalness": 5, "educational": 5}'


def test_an_already_scored_dialogue_is_skipped(run: Path) -> None:
    first = draw_fresh(current_context(), 1, lambda one: True)
    again = draw_fresh(current_context(), 1, lambda one: one.id != first[0].id)
    assert again[:-1] == first[1:]
    assert first[0] not in again


def test_votes_of_a_killed_round_do_not_count_as_fresh(run: Path) -> None:
    here = current_context()
    left = {one.id for one in draw_fresh(here, 1, lambda one: True)}
    with judging() as environment:
        provider = settings_for(environment, here.scoring, "").provider
        with Store(here.scoring.cache, here.scoring.ttl_days) as store:
            for number, one in enumerate(read_unique(here.profile.paths.balanced, Sample)):
                if one.id not in left:
                    reply = Reply(VOTE, f"killed-{number}", provider.model, 100, 20, 50.0)
                    store.put(first_request(one, provider), reply, f"killed-{number}")
        score_fresh(here, environment, print, lambda done: None)
    assert {line.id for line in read_records(here.fresh, Score)} == left
    assert all(one.passed for one in fresh_findings(here) if one.name == "fresh_from_cache")
