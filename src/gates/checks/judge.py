"""The gate `judge`: whether the judge reads what it scores.

    judge_noise       share of the variance of scores that is within repeats of one dialogue, not between dialogues
    canaries_fooled   share of canaries (worthless answers) that score at least as high as the good dialogue

The repeats are of recorded episodes whose scores the run uses, half from the calibration and half from the shadow run.
If a stub gave either the earlier scores or those of this round, they contradict each other, which shows as noise. Good
dialogues are demonstrations of the pool; each has one canary, of the next kind in turn. The seed fixes the draw, so a
repeated round finds all votes in the cache.
With n = `counts.judge_samples`: n repeats, n good dialogues and n canaries, K votes each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, variance
from typing import Literal

from msgspec.structs import replace

from askgate_env.types import Sample

from ...core.check import Check, check, remedies
from ...core.defaults import SEED
from ...core.jsonl import read_records, read_unique
from ...reward.recorded_episodes import RecordedEpisode
from ...runtime.progress import Tell
from ...scoring.judge import Tally
from ...scoring.probe import canary_samples
from ...scoring.prompt import Dialogue
from ...scoring.providers import settings_for
from ...scoring.score_pool import ScoringJob, choose, score_dialogues
from ...scoring.scores import Score
from ..gate import Finding, RoundContext, evidence_of, findings_of
from .provenance import proved

_REPEAT = re.compile(r"(?P<id>.+)-repeat-(?P<stage>calibration|shadow)")
_CANARY = re.compile(r"(?P<id>.+)-canary-\d+")


def judge_exam(context: RoundContext) -> tuple[list[Dialogue], frozenset[str]]:
    """Dialogues that show whether a judge reads: good ones, canaries and repeats; and the ids of the repeats."""
    paths, n = context.profile.paths, context.profile.thresholds.counts.judge_samples
    good = choose(list(read_unique(paths.balanced, Sample)), n, SEED)
    all_canaries = [list(canary_samples(one).values()) for one in good]
    repeats = []
    for stage, episodes, scores, size in (
        ("calibration", paths.calibration_episodes, paths.calibration_scores, (n + 1) // 2),
        ("shadow", paths.shadow_episodes, paths.shadow_scores, n // 2),
    ):
        scored = {line.id for line in read_records(scores, Score)}
        recorded = [one for one in read_unique(episodes, RecordedEpisode) if one.id in scored]
        repeats += [replace(one, id=f"{one.id}-repeat-{stage}") for one in choose(recorded, size, SEED)]
    canaries = [kinds[place % len(kinds)] for place, kinds in enumerate(all_canaries)]
    return [*good, *canaries, *repeats], frozenset(one.id for one in repeats)


def score_exam(
    context: RoundContext, environment: Mapping[str, str], tell: Tell, progress: Callable[[Tally], None]
) -> None:
    """Scores the exam. Votes that an earlier round paid for come from the cache."""
    context.exam.unlink(missing_ok=True)
    dialogues, repeats = judge_exam(context)
    job = ScoringJob(context.profile.paths.balanced, context.exam, None, SEED, repeats=repeats)
    score_dialogues(dialogues, job, settings_for(environment, context.scoring), tell, progress)


def judge_findings(context: RoundContext) -> list[Finding]:
    """The findings of the gate. If the profile does not require a judge that reads, the two shares are only ambers."""
    paths, limits = context.profile.paths, context.profile.thresholds
    stated = {line.id: line for line in read_unique(context.exam, Score)}
    dialogues, _ = judge_exam(context)
    known = proved(context, dialogues, stated)
    scored = len(known) - len(stated.keys() - known)
    checks = [check("judge_scored", scored, "==", len(dialogues), *remedies("gates")["fresh_scored"])]
    if limits.judge.required:
        checks += exam_checks(context, "gates")
    evidence = evidence_of(context.exam, paths.calibration_scores, paths.shadow_scores)
    return findings_of("judge", checks, evidence)


def exam_checks(context: RoundContext, remedy: Literal["gates", "ambers"]) -> list[Check]:
    """Checks of both shares, from the scores alone. The check `judge_scored` is on whether the judge gave them."""
    paths, limits, texts = context.profile.paths, context.profile.thresholds.judge, remedies(remedy)
    first_scores = {
        stage: {line.id: line.overall for line in read_records(path, Score)}
        for stage, path in (("calibration", paths.calibration_scores), ("shadow", paths.shadow_scores))
    }
    scores = {line.id: line.overall for line in read_unique(context.exam, Score)}
    repeats = [
        (first_scores[match["stage"]].get(match["id"]), score)
        for name, score in scores.items()
        if (match := _REPEAT.fullmatch(name))
    ]
    canaries = [
        (scores.get(match["id"]), score) for name, score in scores.items() if (match := _CANARY.fullmatch(name))
    ]
    fooled = [canary >= good for good, canary in _scored(canaries)]
    share = fmean(fooled) if fooled else None
    return [
        check("judge_noise", noise(_scored(repeats)), "<", limits.noise_max, *texts["judge_noise"]),
        check("canaries_fooled", share, "<=", limits.canaries_fooled_max, *texts["canaries_fooled"]),
    ]


def _scored(pairs: Sequence[tuple[float | None, float | None]]) -> list[tuple[float, float]]:
    """The pairs with two scores."""
    return [(one, other) for one, other in pairs if one is not None and other is not None]


def noise(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Variance within the pairs as a share of all variance: 1 - ICC(1), one-way, of two scores of each dialogue.

    Below 0.5 the variance between dialogues is larger. None if all scores are the same: no dialogues were told apart.

    >>> noise([(0.2, 0.2), (0.9, 0.9)]), noise([(0.2, 0.9), (0.9, 0.2)]), noise([(0.7, 0.7), (0.7, 0.7)])
    (0.0, 1.0, None)
    """
    if len(pairs) < 2:
        return None
    within = fmean((one - other) ** 2 / 2 for one, other in pairs)
    # The mean of two scores still has half of the variance within pairs.
    between = max(0.0, variance((one + other) / 2 for one, other in pairs) - within / 2)
    return within / (between + within) if between + within else None
