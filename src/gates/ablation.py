"""The ablation of the penalty: its gates counted again from the held-out episodes of both arms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..agents.replay import follows
from ..core.check import Check, check
from ..core.defaults import SEED
from ..core.errors import BadInput
from ..core.files import sidecar
from ..core.jsonl import read_records
from ..core.paths import ABLATION_SIDES, ablation_file
from ..core.types import Episode, Sample
from ..data.pool.meta import read_meta
from ..data.pool.shadow_set import evenly_apart, read_set
from ..eval.ablation import Arms, ablation_checks, ablation_figures
from .finding import Finding, found, read
from .look import Look

_RUN = "run overclar_penalty --ablation with the profile's sizes"
_AGAIN = (_RUN, "请按 profile 的规模运行 overclar_penalty --ablation")
_PLAYED = (
    f"these records do not follow from the shadow set's samples, so nobody played them; {_RUN}",
    "这些记录与影子集样本不符，不是真实对话；请重新运行 overclar_penalty --ablation",
)
_LOT = (
    f"these are not the samples of the shadow set that an evaluation plays: some were left out or repeated; {_RUN}",
    "所用样本并非评测应取的影子集样本（有遗漏或重复）；请重新运行 overclar_penalty --ablation",
)
_SAME = (
    f"both arms must play the same samples; {_RUN}",
    "两组必须针对相同样本；请重新运行 overclar_penalty --ablation",
)


def ablation_findings(look: Look) -> list[Finding]:
    paths, limits = look.profile.paths, look.profile.thresholds
    arms = read_arms(paths.ablation_episodes)
    samples = read_set(paths.shadow_set)
    checks = [*_whole(look, arms), _drawn(samples, arms), _played(samples, read_meta(paths.shadow_set).tools, arms)]
    evidence = read(paths.ablation_episodes, paths.shadow_set, sidecar(paths.shadow_set))
    if any(_apart(one) for one in arms):
        # Policies on different samples cannot be compared; that has failed already.
        return found("ablation", checks, evidence)
    changes, _ = ablation_figures(arms, SEED)
    return found("ablation", [*ablation_checks(changes, limits), *checks], evidence)


def read_arms(folder: Path) -> list[Arms]:
    seeds = sorted(folder.glob("seed_*"))
    if not seeds:
        raise BadInput("there is no ablation", where=str(folder), remedy=_RUN)
    arms = []
    for one in seeds:
        seed = int(one.name.removeprefix("seed_"))
        without, with_penalty = (
            list(read_records(ablation_file(folder, seed, side), Episode)) for side in ABLATION_SIDES
        )
        if not (without and with_penalty):
            raise BadInput("an arm is empty", where=str(one), remedy=_RUN)
        arms.append(Arms(seed, without, with_penalty))
    return arms


def _whole(look: Look, arms: Sequence[Arms]) -> list[Check]:
    counts = look.profile.thresholds.counts
    fewest = min(len(episodes) for one in arms for episodes in (one.without, one.with_penalty))
    apart = sum(_apart(one) for one in arms)
    return [
        check("ablation_seeds", len(arms), ">=", counts.ablation_seeds, *_AGAIN),
        check("ablation_episodes", fewest, ">=", counts.ablation_episodes, *_AGAIN),
        check("arms_on_other_samples", apart, "==", 0, *_SAME),
    ]


def _drawn(samples: Sequence[Sample], arms: Sequence[Arms]) -> Check:
    """Who may leave out samples can leave out those on which the penalty does harm."""
    chosen = sum(
        sorted(one.sample_id for one in played) != sorted(one.id for one in evenly_apart(samples, len(played)))
        for one in arms
        for played in (one.without, one.with_penalty)
    )
    return check("samples_chosen_by_hand", chosen, "==", 0, *_LOT)


def _played(samples: Sequence[Sample], tools: Sequence[str], arms: Sequence[Arms]) -> Check:
    known = {sample.id: sample for sample in samples}
    strange = sum(
        episode.sample_id not in known or not follows(episode, known[episode.sample_id], tools)
        for one in arms
        for episode in (*one.without, *one.with_penalty)
    )
    return check("episodes_not_played", strange, "==", 0, *_PLAYED)


def _apart(arms: Arms) -> bool:
    """Whether the two arms have played other samples."""
    without, with_penalty = (
        sorted(episode.sample_id for episode in episodes) for episodes in (arms.without, arms.with_penalty)
    )
    return without != with_penalty
