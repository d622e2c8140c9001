"""The gates `penalty` and `ablation`.

The penalty is computed for a few known cases. Its ablation is measured again from the held-out episodes of the two
policies, one trained with the penalty and one without. Replies, success and rewards are computed again from the
policy's messages, and the seals of both final models must be of runs with the profile's settings, seeds and files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from askgate_env.reward import OVERCLAR_ALPHA, OVERCLAR_CAP, over_clarification_penalty
from askgate_env.types import Episode, Sample

from ...config.loader import config_files, load_train_config, source_files
from ...config.train_config import TrainConfig
from ...core.check import check, remedies
from ...core.defaults import SEED
from ...core.errors import BadInput
from ...core.files import real_path, sha256_file, sidecar
from ...core.jsonl import read_plain
from ...core.model_files import base_sha256
from ...core.paths import ABLATION_SIDES, ablation_file
from ...data.pool.shadow_set import evenly_spaced, read_set
from ...eval.ablation import AblationPlan, is_sealed_as, profile_plan, read_seal_of, side_config
from ...eval.compare import SeedPair, ablation_checks, ablation_figures
from ...eval.replay import Replay
from ...utils.processes import usable_cores
from ..gate import Finding, RoundContext, evidence_of, findings_of, write_measured

CASES = (
    (False, 0, 0.0),
    (False, 1, OVERCLAR_ALPHA),
    (False, 2, 2 * OVERCLAR_ALPHA),
    (False, 5, OVERCLAR_CAP * OVERCLAR_ALPHA),
    (True, 1, 0.0),
    (True, 5, 0.0),
)
"""Cases with a known penalty: `needs_clarification`, number of asks, penalty. Only the last two need an ask."""


def penalty_findings(context: RoundContext) -> list[Finding]:
    wrong = sum(abs(over_clarification_penalty(needs, asks) - cost) > 1e-12 for needs, asks, cost in CASES)
    remedy = remedies("gates")["penalty_cases_wrong"]
    return findings_of("penalty", [check("penalty_cases_wrong", wrong, "==", 0, *remedy)], {})


def ablation_findings(context: RoundContext) -> list[Finding]:
    paths, limits, remedy = context.profile.paths, context.profile.thresholds, remedies("gates")
    config = load_train_config(paths.ablation_config)
    pairs, samples = read_pairs(paths.ablation_episodes), read_set(paths.shadow_set)
    runs = [run for pair in pairs for run in (pair.without, pair.with_penalty)]
    differing = sum(_sample_ids(pair.without) != _sample_ids(pair.with_penalty) for pair in pairs)
    plan = profile_plan(context.profile)
    # Leaving out samples could leave out those on which the penalty does harm.
    held_out = evenly_spaced(samples, plan.n)
    chosen = sum(_sample_ids(run) != sorted(one.id for one in held_out) for run in runs)
    not_sealed, not_replayed = _unproved(context, config, plan, pairs, held_out)
    fewest, counts = min(map(len, runs)), limits.counts
    checks = [
        check("ablation_seeds", len(pairs), ">=", counts.ablation_seeds, *remedy["ablation_episodes"]),
        check("ablation_episodes", fewest, ">=", counts.ablation_episodes, *remedy["ablation_episodes"]),
        check("runs_on_other_samples", differing, "==", 0, *remedy["runs_on_other_samples"]),
        check("samples_chosen_by_hand", chosen, "==", 0, *remedy["samples_chosen_by_hand"]),
        check("runs_not_sealed", not_sealed, "==", 0, *remedy["runs_not_sealed"]),
        check("episodes_not_played", not_replayed, "==", 0, *remedy["ablation_not_played"]),
    ]
    if not differing:  # policies on different samples cannot be compared
        changes, figures = ablation_figures(pairs, SEED)
        write_measured(context, "ablation", ablation_checks(changes, limits), figures)
        checks = [*ablation_checks(changes, limits), *checks]
    named = [path for path in (config.reward.weights, config.reward.unstable_list) if path]
    read = [paths.shadow_set, sidecar(paths.shadow_set), config.seed_pool, sidecar(config.seed_pool), *named]
    evidence = evidence_of(paths.ablation_episodes, *read, *config_files(paths.ablation_config))
    return findings_of("ablation", checks, evidence)


def _unproved(
    context: RoundContext,
    config: TrainConfig,
    plan: AblationPlan,
    pairs: Sequence[SeedPair],
    held_out: Sequence[Sample],
) -> tuple[int, int | None]:
    """Number of runs that are not sealed with these settings, files and seeds, and number of episodes that do not
    follow from the policy's messages (None if the seeds are not those of the profile)."""
    paths = context.profile.paths
    if sorted(plan.seeds) != sorted(pair.seed for pair in pairs):
        return 2 * len(pairs), None
    sources = source_files(config) | {"shadow_set": sha256_file(paths.shadow_set)}
    # An ablation of another model, or on other samples, says nothing about this run.
    same_model = sources["base_model"] == base_sha256(load_train_config(paths.config).base_model)
    same_pool = real_path(config.seed_pool) in (real_path(paths.pool), real_path(paths.balanced))
    known = {one.id: one for one in held_out}
    started: list[Callable[[], list[list[bool]]]] = []
    not_sealed = count = 0
    for side in ABLATION_SIDES:
        own = side_config(config, plan, penalty=side == "with")
        replay = Replay(own)
        for pair in pairs:
            seal = read_seal_of(paths.ablation_episodes, pair.seed, side)
            if not (same_model and same_pool and is_sealed_as(seal, own, sources)):
                not_sealed += 1
            episodes = pair.with_penalty if side == "with" else pair.without
            played = [(known[one.sample_id], [(pair.seed, one)]) for one in episodes if one.sample_id in known]
            started.append(replay.start(played if replay.is_complete else [], usable_cores(most=16)))
            count += len(episodes)
    agreeing = sum(agrees for verdicts in started for row in verdicts() for agrees in row)
    return not_sealed, count - agreeing


def read_pairs(folder: Path) -> list[SeedPair]:
    """Held-out episodes of both policies by seed."""
    remedy, _ = remedies("gates")["ablation_episodes"]
    pairs = []
    for one in sorted(folder.glob("seed_*")):
        if not re.fullmatch(r"seed_(0|[1-9]\d*)", one.name):
            raise BadInput("is not the folder of a seed", where=str(one), remedy=remedy)
        seed = int(one.name.removeprefix("seed_"))
        runs = [list(read_plain(ablation_file(folder, seed, side), Episode)) for side in ABLATION_SIDES]
        if not all(runs):
            raise BadInput("a run has no episodes", where=str(one), remedy=remedy)
        pairs.append(SeedPair(seed, *runs))
    if not pairs:
        raise BadInput("there is no ablation", where=str(folder), remedy=remedy)
    return pairs


def _sample_ids(episodes: Sequence[Episode]) -> list[str]:
    return sorted(episode.sample_id for episode in episodes)
