"""Episodes of the base policy, recorded, scored by the judge and rated: the input of shadow_run and weight_calib.

data/episodes/shadow.jsonl            episodes; shadow.meta.json has the settings that they were made with
data/episodes/shadow.scores.jsonl     judge scores; an interrupted scoring is resumed
data/episodes/shadow.scored.jsonl     every dimension of every episode, derived from the first two
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from askgate_env.types import Sample

from ..config.judge_config import ScoringSection
from ..config.loader import load_train_config, naming_keys
from ..config.profile import scoring_for
from ..config.train_config import TrainConfig
from ..core.defaults import MIN_SAMPLES
from ..core.errors import BadInput
from ..core.files import atomic_write, refuse_overlap, shipped
from ..core.jsonl import read_unique, write_records
from ..core.model_files import find_model, model_sha256
from ..data.pool.meta import read_meta
from ..data.pool.plan import BuildPlan
from ..data.pool.shadow_set import draw_shadow, materialize_shadow, read_set
from ..reward import recorded_episodes as recording
from ..reward.recorded_episodes import RecordedEpisode, RecordPlan
from ..reward.scored_episodes import rate
from ..runtime.progress import Reporter
from ..scoring.providers import live_mode, settings_for
from ..scoring.score_pool import ScoringJob, choose, score_dialogues
from ..scoring.scores import Score


@dataclass(frozen=True)
class RatedEpisodes:
    recorded: list[RecordedEpisode]
    scored: Path
    """File with every dimension of every episode."""
    made_from: list[Path]


def shadow_samples(plan: BuildPlan, stratify: bool, shadow_set: Path, reporter: Reporter) -> list[Sample]:
    """`plan.n` samples of the materialized shadow set, which is made first if it is missing."""
    if plan.n < MIN_SAMPLES:
        raise BadInput(f"fewer than {MIN_SAMPLES} samples show nothing", where="--n", remedy="ask for more")
    if not shadow_set.exists():
        materialize_shadow(plan, stratify, out=shadow_set, manifest=None, tag="")
        reporter.message(f"made {shadow_set}: {plan.n} held-out samples")
    return draw_shadow(read_set(shadow_set), plan.n, plan.seed, stratify)


def calibration_samples(pool: Path, n: int, seed: int) -> list[Sample]:
    """A random sample of a training pool. Refuses held-out samples: weights are checked on those."""
    if not pool.is_file():
        raise BadInput(
            f"{pool} is not there, and no --scored episodes were given",
            where="--pool",
            remedy="build it with build-rollout-pool and difficulty-bucketize, or name another pool",
        )
    samples = list(read_unique(pool, Sample))
    if held_out := sum(sample.provenance.split == "shadow" for sample in samples):
        raise BadInput(
            f"{held_out} samples are of a shadow set, which must stay unseen by the weights that it checks",
            where=str(pool),
            remedy="name a pool of the training split",
        )
    return choose(samples, n, seed)


def rated_episodes(
    pool: Path,
    samples: Sequence[Sample],
    config: Path,
    out: Path,
    seed: int,
    overrides: Sequence[str] | None,
    reporter: Reporter,
    *,
    live_n: int | None,
    provider: str,
) -> RatedEpisodes:
    """One rated episode per sample. `pool`: the file that the samples were drawn from. `live_n`: size of the random
    sample of episodes that the judge scores (None: all)."""
    scores_file, scored = out.with_suffix(".scores.jsonl"), out.with_suffix(".scored.jsonl")
    made = {"--episodes": out, "scores beside --episodes": scores_file, "ratings beside --episodes": scored}
    refuse_overlap(made, {str(pool): pool, "--config": shipped(config)})
    recorded = _recorded(pool, samples, config, out, seed, overrides, reporter)
    if live_n is not None and live_n > len(recorded):
        raise BadInput(f"there are {len(recorded)} episodes, not {live_n}", where="--live-n", remedy="ask for fewer")
    job = ScoringJob(out, scores_file, live_n, seed)
    scoring = scoring_for(load_train_config(config, overrides), config)
    scores = _judge_scores(recorded, job, scoring, provider, reporter)
    # Ids of the episodes that were sent to the judge: only these can lack a score.
    judged = {one.id for one in choose(recorded, live_n, seed)} if scores is not None else None
    with atomic_write(scored) as file:
        write_records(file, rate(recorded, samples, scores, judged))
    return RatedEpisodes(recorded, scored, [pool, out, *([scores_file] if scores is not None else [])])


def _recorded(
    pool: Path,
    samples: Sequence[Sample],
    path: Path,
    out: Path,
    seed: int,
    overrides: Sequence[str] | None,
    reporter: Reporter,
) -> list[RecordedEpisode]:
    """Episodes of an earlier call with the same model, samples and settings, or new ones."""
    config = load_train_config(path, overrides)
    with naming_keys(path, config):
        folder = find_model(config.base_model)
        plan = RecordPlan(seed, config.rollout_limits(read_meta(pool).tools))
        model = model_sha256(folder)
        earlier = recording.recorded_before(out, samples, pool, plan, model)
        if earlier is None:
            recorded = _rollout(config, folder, samples, plan, model, reporter)
            recording.write_recorded(out, recorded, pool, plan)
            successes = sum(one.episode.success for one in recorded)
            reporter.message(f"made {out}: {len(recorded)} episodes, {successes} of them right")
            return recorded
    recording.refuse_one_outcome([one.episode.success for one in earlier])
    reporter.message(f"{out} has the {len(earlier)} episodes of this policy on these samples; they are not made again")
    return earlier


def _rollout(
    config: TrainConfig, folder: Path, samples: Sequence[Sample], plan: RecordPlan, model: str, reporter: Reporter
) -> list[RecordedEpisode]:
    # Episodes that were recorded before need no model, and torch and transformers take seconds to import.
    from ..engines.models import load_policy
    from ..runtime.device import get_device, get_dtype, lora_targets, memory_gb, prepare_device
    from .components import open_renderer

    device = get_device(config.device_pref)
    prepare_device(device)
    dtype = get_dtype(device, config.precision)
    targets = lora_targets(config.finetune.targets, memory_gb(device))
    policy = load_policy(str(folder), config.finetune, targets, device, dtype)
    renderer = open_renderer(str(folder), plan.limits.actions, plan.limits.tools)
    with reporter.progress(f"rollout of {len(samples)} samples", len(samples)) as progress:
        return recording.record(policy, renderer, samples, plan, model, device, progress, dtype)


def _judge_scores(
    recorded: Sequence[RecordedEpisode], job: ScoringJob, section: ScoringSection, provider: str, reporter: Reporter
) -> dict[str, Score] | None:
    """Judge scores by episode id; None where REWARD_LIVE_MODE is off."""
    if not live_mode(os.environ):
        reporter.message(
            "REWARD_LIVE_MODE is off: no judge is called, every line says live: false, and no gate can pass"
        )
        return None
    settings = settings_for(os.environ, section, provider)
    count = len(recorded) if job.n is None else job.n
    reporter.message(
        f"{settings.provider.name} scores {count} of {len(recorded)} episodes: {count * section.votes.k} votes, up to "
        f"{section.votes.k_max} on an episode where they disagree, less those that are in the cache"
    )
    with reporter.scoring("scoring") as progress:
        scores, _ = score_dialogues(list(recorded), job, settings, reporter.message, progress)
    return scores
