"""Recorded episodes: rollouts of a policy on a pool or a shadow set, with seed and model.

    recorded = record(policy, renderer, samples, plan, model_sha256(folder), device)
    write_recorded(path, recorded, facts)

A line has one episode. `scored_episodes.rate` rates these lines later, and needs no model for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from askgate_env.types import Episode, Lang, Record, Sample, Turn

from ..agents.trajectory import Job
from ..config.train_config import RolloutLimits
from ..core.errors import BadInput
from ..core.files import atomic_files, json_bytes, read_json, require_jsonl, sha256_file, sidecar, written
from ..core.jsonl import read_unique, write_records
from ..data.difficulty.metrics import measure_all

if TYPE_CHECKING:
    import torch

    from ..agents.render import Renderer


class RecordedEpisode(Record, frozen=True):
    """One episode, with its source and the model that made it. A judge can score it like a sample."""

    id: str
    source_id: str
    split: Literal["train", "shadow"]
    model: str
    """SHA-256 of the policy's model."""
    episode: Episode

    @property
    def lang(self) -> Lang:
        return self.episode.lang

    @property
    def dialogue(self) -> tuple[Turn, ...]:
        return self.episode.turns


@dataclass(frozen=True)
class RecordPlan:
    """Settings of a recording."""

    seed: int
    limits: RolloutLimits
    """The temperature should be above 0: a greedy policy shows few of its errors."""

    def facts(self) -> dict[str, Any]:
        """The entry `plan` of the sidecar."""
        limits = self.limits.facts()
        return {
            "seed": self.seed,
            "temperature": limits.pop("temperature"),
            "repeats": 1,  # episodes per sample
            **limits,
            "tools": list(self.limits.tools),
        }


def record(
    policy: Any,
    renderer: Renderer,
    samples: Sequence[Sample],
    plan: RecordPlan,
    model: str,
    device: torch.device,
    progress: Callable[[int], None] | None = None,
    dtype: torch.dtype | None = None,
) -> list[RecordedEpisode]:
    """Rolls out an episode for each sample. Raises BadInput if all succeed or all fail."""
    import torch

    from ..rollout.scheduler import generate

    levels = [measured.level for measured in measure_all(list(samples))]
    jobs = [Job(sample, level, plan.seed) for sample, level in zip(samples, levels, strict=True)]
    generator = torch.Generator(device).manual_seed(plan.seed)
    made = generate(
        policy, renderer, jobs, plan.limits, device=device, generator=generator, dtype=dtype, progress=progress
    )
    recorded = []
    for sample, one in zip(samples, made, strict=True):
        origin = sample.provenance
        recorded.append(RecordedEpisode(f"{sample.id}/0", origin.source_id, origin.split, model, one.episode))
    refuse_one_outcome([one.episode.success for one in recorded])
    return recorded


def refuse_one_outcome(success: Collection[float], where: str = "recorded episodes") -> None:
    """Refuses episodes that all succeed or all fail: no score correlates with a constant."""
    right = sum(success)
    if right in (0, len(success)):
        raise BadInput(
            f"all {len(success)} episodes {'succeed' if right else 'fail'}, so no score can be compared with success",
            where=where,
            remedy="record more or harder samples, raise the temperature, or use a base that gets some right",
        )


def write_recorded(path: Path, recorded: Sequence[RecordedEpisode], pool: Path, plan: RecordPlan) -> None:
    """Writes the episodes and their sidecar, which says how they were made: both files or neither."""
    require_jsonl(path, "--episodes")
    with atomic_files() as start:
        episodes, facts = start(path), start(sidecar(path))
        write_records(episodes, recorded)
        made = {
            "sha256": sha256_file(written(episodes)),
            "pool": str(pool),
            "pool_sha256": sha256_file(pool),
            "model_sha256": recorded[0].model,
            "plan": plan.facts(),
            "episodes": len(recorded),
            "successes": sum(one.episode.success for one in recorded),
        }
        facts.write(json_bytes(made))


def recorded_before(
    path: Path, samples: Sequence[Sample], pool: Path, plan: RecordPlan, model: str
) -> list[RecordedEpisode] | None:
    """The stored episodes, if they are of the same seed, model, samples and settings; else None."""
    require_jsonl(path, "--episodes")
    if not (path.is_file() and sidecar(path).is_file()):
        return None
    facts = read_json(sidecar(path), "record the episodes again")
    same = {"sha256": sha256_file(path), "pool_sha256": sha256_file(pool), "model_sha256": model}
    if not isinstance(facts, dict) or any(facts.get(name) != value for name, value in same.items()):
        return None
    then = facts.get("plan")
    # The number of slots does not change the episodes.
    if not isinstance(then, dict) or {**then, "slots": 0} != {**plan.facts(), "slots": 0}:
        return None
    found = list(read_unique(path, RecordedEpisode))
    return found if [one.episode.sample_id for one in found] == [sample.id for sample in samples] else None
