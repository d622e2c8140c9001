"""`python -m src.evaluation.weight_calib --cv 5 --boot 200 --l2 0.1 --seed 42`: weights calibrated on scored episodes.

In: scored episodes of samples outside the shadow set, and the fixed baseline. Out: `configs/weights.json`, and
`reports/calibration_report_<tag>.json` with folds, intervals and gates. Weights whose gates failed are written too, for
they are the optimum; the file and the report say that the gates failed.

Where no judge was asked at all, the weights are over the dimensions of the rules alone, and the gate on live scores
fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from .. import __version__
from ..config.profile import Thresholds
from ..core.check import Check, Report, check, evidence, now, report
from ..core.errors import BadInput
from ..core.files import atomic_files, json_bytes, refuse_overlap, sha256_file, shipped
from ..core.paths import REPORTS
from ..core.remedies import remedies
from .calibration import Calibration, calibrate_weights
from .rank_statistics import DIGITS, gain_check, gain_pct
from .scored_episodes import live_check, read_columns
from .weights import Calibrated, Weights, read_baseline

TAG = "calibration"


def weight_calib(
    episodes: Path,
    baseline: Path,
    *,
    cv: int,
    boot: int,
    l2: float,
    seed: int,
    limits: Thresholds,
    out: Path,
    tag: str = TAG,
    live_n: int | None = None,
    made_from: Sequence[Path] = (),
    reports: Path = REPORTS,
) -> tuple[Report, Path]:
    """The report and its path. `episodes` is a file of scored episodes.

    `live_n`: about how many of them the judge was to be asked; None: all. `made_from`: files that the scored episodes
    were derived from; their SHA-256 go into the evidence.
    """
    started = now()
    if not 0 <= l2 < inf:
        raise BadInput(f"{l2} is no strength", where="--l2", remedy="give a number of at least 0, such as 0.1")
    fixed = shipped(baseline)
    path = reports / f"calibration_report_{tag}.json"
    read = {"--episodes": episodes, "--baseline": fixed, **{str(one): one for one in made_from}}
    refuse_overlap({"--out": out, "the report": path}, read)
    known = read_baseline(baseline)
    scores = read_columns(episodes, known.names, "train")
    result = calibrate_weights(
        scores, known.only(scores.names), l2=l2, cv=cv, boot=boot, seed=seed, cap=limits.weight_max
    )
    checks = [*calibration_checks(result, limits), live_check(scores, live_n)]
    passed = all(one.passed for one in checks)
    facts = Calibrated(
        sha256_file(episodes),
        sha256_file(fixed),
        cv=cv,
        boot=boot,
        l2=l2,
        seed=seed,
        passed=passed,
        version=__version__,
    )
    values = {name: weight.value for name, weight in result.weights.items()}
    weights = json_bytes(Weights(values, facts, scores.stand_in))
    arguments = {"cv": cv, "boot": boot, "l2": l2, "seed": seed, "cap": limits.weight_max, "live_n": live_n}
    arguments |= limits.model_dump(include={"rank_corr_gain_pct_min", "mae_change_pct_max"})
    proof = evidence([episodes, fixed, *made_from], [], arguments, started)
    proof = replace(proof, outputs={str(out): sha256(weights).hexdigest()})
    whole = report("weight_calib", checks, {**figures(result), "live_episodes": scores.live}, proof)
    with atomic_files() as start:
        start(out).write(weights)
        start(path).write(json_bytes(whole))
    return whole, path


def calibration_checks(found: Calibration, limits: Thresholds) -> list[Check]:
    """On held-out folds, against the old weights."""
    return [
        gain_check(
            "rank_corr_gain_pct",
            "rank_corr_gain",
            found.rank_corr.old,
            found.rank_corr.new,
            limits.rank_corr_gain_pct_min,
            *remedies("reward")["rank_corr"],
        ),
        check("mae_change_pct", _mae_change_pct(found), "<=", limits.mae_change_pct_max, *remedies("reward")["mae"]),
    ]


def figures(found: Calibration) -> dict[str, Any]:
    return {
        **msgspec.to_builtins(found),
        "rank_corr_gain_pct": gain_pct(found.rank_corr.old, found.rank_corr.new),
        "mae_change_pct": _mae_change_pct(found),
    }


def _mae_change_pct(found: Calibration) -> float | None:
    """Old weights without any error leave nothing to fall."""
    return round(100 * (found.mae.new - found.mae.old) / found.mae.old, DIGITS) if found.mae.old else None
