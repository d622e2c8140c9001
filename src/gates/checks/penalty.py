"""The gates `penalty` and `ablation`.

The penalty is computed for a few known cases. Its ablation is measured again from the held-out episodes of the two
policies, one trained with the penalty and one without.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...agents.env import matches_replay
from ...core.check import Check, check
from ...core.defaults import SEED
from ...core.errors import BadInput
from ...core.files import sidecar
from ...core.jsonl import read_records
from ...core.paths import ABLATION_SIDES, ablation_file
from ...core.remedies import remedies
from ...core.types import Episode, Sample
from ...data.pool.meta import read_meta
from ...data.pool.shadow_set import evenly_spaced, read_set
from ...eval.ablation import Arms, ablation_checks, ablation_figures
from ...reward.reward import ALPHA, CAP, over_clarification_penalty
from ..gate import Finding, RoundContext, evidence_of, findings_of

CASES = (
    (False, 0, 0.0),
    (False, 1, ALPHA),
    (False, 2, 2 * ALPHA),
    (False, 5, CAP * ALPHA),
    (True, 1, 0.0),
    (True, 5, 0.0),
)
"""needs_clarification, asks, and the penalty: no ask; 1, 2 and 5 needless asks; needed asks."""


def penalty_findings(context: RoundContext) -> list[Finding]:
    wrong = sum(abs(over_clarification_penalty(needs, asks) - cost) > 1e-12 for needs, asks, cost in CASES)
    remedy = remedies("gates")["penalty_cases_wrong"]
    return findings_of("penalty", [check("penalty_cases_wrong", wrong, "==", 0, *remedy)], {})


def ablation_findings(context: RoundContext) -> list[Finding]:
    paths, limits = context.profile.paths, context.profile.thresholds
    arms = read_arms(paths.ablation_episodes)
    samples = read_set(paths.shadow_set)
    checks = [
        *_size_checks(context, arms),
        _drawn_check(samples, arms),
        _played_check(samples, read_meta(paths.shadow_set).tools, arms),
    ]
    evidence = evidence_of(paths.ablation_episodes, paths.shadow_set, sidecar(paths.shadow_set))
    if any(_differ(one) for one in arms):
        # Policies on different samples cannot be compared; that check has failed already.
        return findings_of("ablation", checks, evidence)
    changes, _ = ablation_figures(arms, SEED)
    return findings_of("ablation", [*ablation_checks(changes, limits), *checks], evidence)


def read_arms(folder: Path) -> list[Arms]:
    """Held-out episodes of both policies, one entry a seed."""
    remedy, _ = remedies("gates")["ablation_episodes"]
    seeds = sorted(folder.glob("seed_*"))
    if not seeds:
        raise BadInput("there is no ablation", where=str(folder), remedy=remedy)
    arms = []
    for one in seeds:
        seed = int(one.name.removeprefix("seed_"))
        without, with_penalty = (
            list(read_records(ablation_file(folder, seed, side), Episode)) for side in ABLATION_SIDES
        )
        if not (without and with_penalty):
            raise BadInput("an arm is empty", where=str(one), remedy=remedy)
        arms.append(Arms(seed, without, with_penalty))
    return arms


def _size_checks(context: RoundContext, arms: Sequence[Arms]) -> list[Check]:
    counts, remedy = context.profile.thresholds.counts, remedies("gates")
    fewest = min(len(episodes) for one in arms for episodes in (one.without, one.with_penalty))
    differing = sum(_differ(one) for one in arms)
    return [
        check("ablation_seeds", len(arms), ">=", counts.ablation_seeds, *remedy["ablation_episodes"]),
        check("ablation_episodes", fewest, ">=", counts.ablation_episodes, *remedy["ablation_episodes"]),
        check("arms_on_other_samples", differing, "==", 0, *remedy["arms_on_other_samples"]),
    ]


def _drawn_check(samples: Sequence[Sample], arms: Sequence[Arms]) -> Check:
    """Leaving out samples could leave out those on which the penalty does harm."""
    chosen = sum(
        sorted(one.sample_id for one in played) != sorted(one.id for one in evenly_spaced(samples, len(played)))
        for one in arms
        for played in (one.without, one.with_penalty)
    )
    return check("samples_chosen_by_hand", chosen, "==", 0, *remedies("gates")["samples_chosen_by_hand"])


def _played_check(samples: Sequence[Sample], tools: Sequence[str], arms: Sequence[Arms]) -> Check:
    known = {sample.id: sample for sample in samples}
    not_played = sum(
        episode.sample_id not in known or not matches_replay(episode, known[episode.sample_id], tools)
        for one in arms
        for episode in (*one.without, *one.with_penalty)
    )
    return check("episodes_not_played", not_played, "==", 0, *remedies("gates")["ablation_not_played"])


def _differ(arms: Arms) -> bool:
    """Whether the two policies ran on different samples."""
    without, with_penalty = (
        sorted(episode.sample_id for episode in episodes) for episodes in (arms.without, arms.with_penalty)
    )
    return without != with_penalty
