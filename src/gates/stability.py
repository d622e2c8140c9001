"""Whether live scores can be built on: all there, all from live calls that the ledger tells of, and a judge that agrees
with itself.

askgate validate_scores reports/rc1/scores.jsonl --least 1000
"""

from __future__ import annotations

from pathlib import Path

from ..config.judge_config import ScoringSection
from ..config.loader import load_config
from ..core.check import Check, Report, check, evidence, now, report
from ..core.files import write_json
from ..core.jsonl import read_unique
from ..scoring.scores import Score
from .stored import on_record

AGAIN = (
    "run the same `askgate score` again: what was paid for is kept",
    "请再次运行同一条 `askgate score` 命令，已付费的结果会保留",
)
UNSTABLE = (
    "the judge disagrees with itself too often: choose a better one, or raise scoring.votes in configs/default.yaml",
    "评委自相矛盾过多：请更换评委，或提高 configs/default.yaml 中的 scoring.votes",
)


def validate_scores(path: Path, *, least: int, max_unstable: float, out: Path) -> Report:
    started = now()
    scores, scoring = list(read_unique(path, Score)), load_config().scoring
    arguments = {"least": least, "max_unstable": max_unstable}
    checks = [*stability_checks(scores, least, max_unstable), ledger_check(scores, scoring)]
    figures = {"scores": len(scores), "unstable": sum(not one.stable for one in _settled(scores))}
    made = report("validate_scores", checks, figures, evidence([path], [], arguments, started))
    write_json(out, made)
    return made


def stability_checks(scores: list[Score], least: int, max_unstable: float) -> list[Check]:
    settled = _settled(scores)
    share = sum(not one.stable for one in settled) / len(settled) if settled else None
    return [
        check("scored", float(len(settled)), ">=", float(least), *AGAIN),
        check("not_live", float(sum(not one.live for one in scores)), "==", 0.0, *AGAIN),
        check("without_score", float(len(scores) - len(settled)), "==", 0.0, *AGAIN),
        check("unstable_share", share, "<=", max_unstable, *UNSTABLE),
    ]


def ledger_check(scores: list[Score], scoring: ScoringSection) -> Check:
    """A line that the ledger does not know proves nothing, whoever wrote it."""
    settled = _settled(scores)
    known = on_record(scoring.ledger, scoring.votes, settled) if scoring.ledger.exists() else {}
    return check("not_in_ledger", float(len(settled) - len(known)), "==", 0.0, *AGAIN)


def _settled(scores: list[Score]) -> list[Score]:
    return [one for one in scores if one.live and one.overall is not None]
