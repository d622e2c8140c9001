"""`python -m src.evaluation.shadow_run --n 245 --seed 20250820 --stratify`: old and new score on the same episodes.

In: scored episodes of the base policy on the shadow set, the fixed baseline with the old weights, and the calibrated
ones. Out: `reports/shadow_run_<tag>.json` with the agreement of the two scores, over all episodes, by task, by
difficulty, over those that the judge saw and over all but those on which its votes disagree; how the policy did; and
the gates, which leave nothing out.

The weights never saw these episodes: calibration takes none of the shadow set, and this takes none of any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..config.profile import Thresholds
from ..core.check import Report, evidence, now, report
from ..core.errors import BadInput
from ..core.files import refuse_overlap, shipped, write_json
from .agreement import agreement_checks, of_scores, split
from .scored import ScoredEpisode, columns, live_check, read_scored, refuse_too_little
from .unasked import measurable
from .weights import Baseline, Weights, read_baseline, read_weights

F64 = NDArray[np.float64]

REPORTS = Path("reports")
TAG = "shadow"


def shadow_run(
    episodes: Path,
    baseline: Path,
    weights: Path | None,
    policy: Mapping[str, Any],
    *,
    seed: int,
    limits: Thresholds,
    tag: str = TAG,
    live_n: int | None = None,
    made_from: Sequence[Path] = (),
    reports: Path = REPORTS,
) -> tuple[Report, Path]:
    """The report, and where it lies. `episodes` are scored.

    `weights`: None before any calibration; the new score then has the weights that a calibration starts from.
    `policy`: how the policy did, for the report. `live_n`: about how many episodes the judge was to be asked; None:
    about all.
    `made_from`: files that the scored episodes were derived from; their SHA-256 go into the evidence.
    """
    started = now()
    path = reports / f"shadow_run_{tag}.json"
    read = [episodes, shipped(baseline), *([shipped(weights)] if weights else [])]
    refuse_overlap({"the report": path}, {str(one): one for one in [*read, *made_from]})
    known = read_baseline(baseline)
    chosen = read_weights(weights) if weights else _prior(known)
    found = read_scored(episodes)
    _refuse_others(found, str(episodes))
    names = measurable(found, known.names, chosen.stand_in)
    scores = columns(found, names, str(episodes), chosen.stand_in)
    refuse_too_little(scores, str(episodes))
    old, new = known.only(names).old_D, weights_over(names, known, chosen, str(weights))
    whole = of_scores(scores, old, new, seed)
    judged = of_scores(scores, old, new, seed, scores.live_N)
    stable_N = scores.weight_N >= 1
    figures = {
        **msgspec.to_builtins(whole),
        **msgspec.to_builtins(split(scores, old, new, seed)),
        "judged": msgspec.to_builtins(judged),
        "stable": msgspec.to_builtins(of_scores(scores, old, new, seed, stable_N)),
        "unstable_episodes": int((~stable_N).sum()),
        "live": scores.live > 0,
        "live_episodes": scores.live,
        "weights": str(weights) if weights else "prior",
        "weights_without": sorted(set(known.names) - set(names)),
        **policy,
    }
    checks = [*agreement_checks(whole, limits), live_check(scores, live_n)]
    arguments = {"seed": seed, "tag": tag, "live_n": live_n}
    arguments |= limits.model_dump(include={"spearman_min", "top10_min", "corr_improve_pct_min"})
    done = report("shadow_run", checks, figures, evidence([*read, *made_from], [], arguments, started))
    write_json(path, done)
    return done, path


def _prior(known: Baseline) -> Weights:
    return Weights(dict(zip(known.names, known.prior_D.tolist(), strict=True)))


def weights_over(names: Sequence[str], known: Baseline, chosen: Weights, where: str) -> F64:
    """The weights of these dimensions, scaled to 1 where those of the judge are not among them."""
    strange = sorted(set(chosen.weights) - set(known.names))
    if strange:
        raise BadInput(
            f"the baseline does not know {', '.join(strange)}",
            where=where,
            remedy="run weight_calib with this baseline, or name the dimension in it",
        )
    found = np.array([chosen.weights.get(name, 0.0) for name in names])
    if not found.sum():
        raise BadInput(
            "only the judge's dimensions have a weight, and no judge was asked",
            where=where,
            remedy="set REWARD_LIVE_MODE=1, or run weight_calib",
        )
    scaled: F64 = found / found.sum()
    return scaled


def _refuse_others(episodes: Sequence[ScoredEpisode], where: str) -> None:
    strange = sum(one.split != "shadow" for one in episodes)
    if strange:
        raise BadInput(
            f"{strange} episodes are not of a shadow set, and the weights may have been calibrated on them",
            where=where,
            remedy="record episodes on the set that shadow_run --materialize writes",
        )
