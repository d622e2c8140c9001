"""Episodes of the base policy, recorded where they are not yet, shown to the judge, and rated: what both checks of a
reward begin with.

    data/episodes/shadow.jsonl            what the policy did, with the facts in shadow.meta.json
    data/episodes/shadow.scores.jsonl     what the judge said; a run that was broken off is gone on with
    data/episodes/shadow.scored.jsonl     every dimension of every episode, derived from the two
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..cli import show
from ..cli.show import scoring_progress
from ..core.errors import BadInput
from ..core.files import shipped
from .parts import open_renderer, told_by

if TYPE_CHECKING:
    from ..config.train_config import TrainConfig
    from ..core.types import Sample
    from ..reward.record import RecordedEpisode, RecordPlan
    from ..scoring.scores import Score

POLICY = Path("configs/quickstart.yaml")
FEWEST = 30
"""As in `evaluation.scored`, which must not be imported before it is needed."""

Config = Annotated[Path, typer.Option("--config", help="Training config whose base policy plays, as it plays there.")]
LiveN = Annotated[
    int | None,
    typer.Option("--live_n", min=FEWEST, help="So many episodes go to the judge, drawn by lot; left out: all."),
]


@dataclass(frozen=True)
class Rated:
    recorded: list[RecordedEpisode]
    scored: Path
    made_from: list[Path]


def rated_episodes(
    pool: Path,
    samples: Sequence[Sample],
    config: Path,
    out: Path,
    seed: int,
    live_n: int | None,
    provider: str,
    overrides: Sequence[str] | None = None,
) -> Rated:
    """An episode of each sample. `pool` is the file that the samples were drawn from."""
    from ..core.files import atomic_write, refuse_overlap
    from ..core.jsonl import write_records
    from ..reward.rate import rate

    scores_file, scored = out.with_suffix(".scores.jsonl"), out.with_suffix(".scored.jsonl")
    made = {"--episodes": out, "scores beside --episodes": scores_file, "ratings beside --episodes": scored}
    refuse_overlap(made, {str(pool): pool, "--config": shipped(config)})
    recorded = _recorded(pool, samples, config, out, seed, overrides)
    if live_n is not None and live_n > len(recorded):
        raise BadInput(f"there are {len(recorded)} episodes, not {live_n}", where="--live_n", remedy="ask for fewer")
    scores = _judged(recorded, out, scores_file, seed, live_n, provider)
    rated = rate(recorded, samples, scores, _asked(recorded, live_n, seed) if scores is not None else None)
    with atomic_write(scored) as file:
        write_records(file, rated)
    return Rated(recorded, scored, [pool, out, *([scores_file] if scores is not None else [])])


def _recorded(
    pool: Path, samples: Sequence[Sample], path: Path, out: Path, seed: int, overrides: Sequence[str] | None
) -> list[RecordedEpisode]:
    from ..config.loader import load_train_config
    from ..core.model_files import model_sha256
    from ..data.pool.meta import read_meta
    from ..reward.record import RecordPlan, recorded_before, refuse_one_outcome

    config = load_train_config(path, overrides)
    with told_by(path, config):
        folder = _model_folder(config.base_model)
        plan = RecordPlan(seed, config.rollout_limits(read_meta(pool).tools))
        model = model_sha256(folder)
        found = recorded_before(out, samples, pool, plan, model)
        if found is None:
            return _play(config, folder, pool, samples, plan, model, out)
    refuse_one_outcome([one.episode for one in found])
    show.complain(f"{out} holds the {len(found)} episodes of this policy on these samples; they are not played again")
    return found


def _play(
    config: TrainConfig, folder: Path, pool: Path, samples: Sequence[Sample], plan: RecordPlan, model: str, out: Path
) -> list[RecordedEpisode]:
    from transformers.utils import logging as transformers_logging

    from ..engines.models import load_policy
    from ..reward.record import record, write_recorded
    from ..runtime.device import get_device, get_dtype, lora_targets, memory_gb, prepare_device

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    device = get_device(config.device_pref)
    prepare_device(device)
    dtype = get_dtype(device, config.precision)
    targets = lora_targets(config.finetune.targets, memory_gb(device))
    policy = load_policy(str(folder), config.finetune, targets, device, dtype)
    renderer = open_renderer(str(folder))
    with show.progress(f"playing {len(samples)} samples", len(samples)) as progress:
        recorded = record(policy, renderer, samples, plan, model, device, progress, dtype)
    write_recorded(out, recorded, pool, plan)
    right = sum(one.episode.success for one in recorded)
    show.complain(f"made {out}: {len(recorded)} episodes, {right} of them right")
    return recorded


def _model_folder(name: str) -> Path:
    """Where the files of a model lie: a folder of ours, or what this machine has of the hub under that name."""
    path = shipped(Path(name))
    if path.is_dir():
        return path
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    from ..core.model_files import PATTERNS as PARTS

    refusal = BadInput(
        f"no model can be read from {name}",
        where="base_model",
        remedy="name a folder with config.json and safetensors, or a model on the hub that this machine can reach",
    )
    if len(path.parts) != 2 or path.parts[0] == "models":
        raise refusal  # no `owner/name` of the hub; asking there takes half a minute
    try:
        return Path(snapshot_download(name, allow_patterns=list(PARTS)))
    except (OSError, ValueError, HfHubHTTPError) as error:
        raise refusal from error


def _asked(recorded: Sequence[RecordedEpisode], live_n: int | None, seed: int) -> set[str]:
    """The lot that `_judged` draws. An episode of it that came back without a score is missed, not taken for one that
    nobody asked about."""
    from ..scoring.batch import choose

    return {one.id for one in choose(list(recorded), live_n, seed)}


def _judged(
    recorded: Sequence[RecordedEpisode], pool: Path, out: Path, seed: int, live_n: int | None, provider: str
) -> dict[str, Score] | None:
    """The judge's scores of the episodes that it was asked about; None where REWARD_LIVE_MODE is off."""
    from ..scoring.providers import live_mode

    if not live_mode(os.environ):
        show.complain("REWARD_LIVE_MODE is off: no judge is asked, every line says live: false, and no gate can pass")
        return None
    from ..config.loader import load_config
    from ..reward.rate import ask_judge
    from ..scoring.batch import BatchJob
    from ..scoring.providers import settings_for

    section = load_config().scoring
    settings = settings_for(os.environ, section, provider)
    asked = len(recorded) if live_n is None else live_n
    show.complain(
        f"{settings.provider.name} is asked about {asked} of {len(recorded)} episodes: {asked * section.votes.k} "
        f"votes, up to {section.votes.k_max} on an episode where they disagree, less those that are in the cache"
    )
    order = BatchJob(pool, out, live_n, seed, section.votes, None)
    with scoring_progress("scoring") as progress:
        scores, _ = ask_judge(recorded, order, settings, section, os.environ, show.complain, progress)
    return scores
