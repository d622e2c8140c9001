"""The gates `weights`, `calibration` and `shadow`, measured on recorded episodes and stored judge replies."""

from __future__ import annotations

from functools import partial

import numpy as np

from askgate_env.types import Sample

from ...config.profile import CalibrationSettings
from ...core.check import check, remedies
from ...core.defaults import SEED, SUM_TOLERANCE
from ...core.errors import BadInput
from ...core.files import sidecar
from ...core.jsonl import read_unique
from ...data.pool.shadow_set import draw_shadow, read_set
from ...reward.calibration import Calibration, calibrate_weights, calibration_checks, figures
from ...reward.scored_episodes import Scores, columns, live_check, refuse_too_little
from ...reward.shadow_run import agreement_checks, points, shadow_figures
from ...reward.weights import CAP_TOLERANCE, Weights, read_baseline, read_unchecked, read_weights
from ...scoring.score_pool import choose
from ..gate import Finding, RoundContext, evidence_of, findings_of, write_measured
from .provenance import derive_episodes

SAME = 1e-9
"""Maximum difference between weights of the file and of the fit."""


def weights_findings(context: RoundContext) -> list[Finding]:
    path = context.profile.paths.weights
    weights = read_unchecked(path).weights
    most, remedy = context.profile.thresholds.weight_max + CAP_TOLERANCE, remedies("gates")["weights"]
    checks = [
        check("weights_off_one", abs(sum(weights.values()) - 1), "<=", SUM_TOLERANCE, *remedy),
        check("weight_smallest", min(weights.values(), default=None), ">=", 0, *remedy),
        check("weight_largest", max(weights.values(), default=None), "<=", most, *remedy),
    ]
    return findings_of("weights", checks, evidence_of(path))


def calibration_findings(context: RoundContext) -> list[Finding]:
    """Fits the weights again: those in the file must be the same."""
    paths, limits, remedy = context.profile.paths, context.profile.thresholds, remedies("gates")
    baseline, stated = read_baseline(paths.baseline), read_weights(paths.weights, limits.weight_max)
    how = stated.calibrated
    if how is None:
        raise BadInput("these weights were written by hand", where=str(paths.weights), remedy="run weight_calib")
    draw = partial(choose, list(read_unique(paths.balanced, Sample)), seed=how.seed)
    scored, wrong = derive_episodes(
        context, paths.calibration_episodes, paths.calibration_scores, paths.pool, draw, how.seed
    )
    scores = columns(scored, baseline.names, str(paths.calibration_episodes))
    refuse_too_little(scores, str(paths.calibration_episodes))
    fitted = calibrate_weights(
        scores, baseline, l2=how.l2, cv=how.cv, boot=how.boot, seed=how.seed, cap=limits.weight_max
    )
    other_settings = sum(
        getattr(how, name) != getattr(limits.calibration, name) for name in CalibrationSettings.model_fields
    )
    of_shadow_set = sum(one.split == "shadow" for one in scored)
    quality = [*calibration_checks(fitted, limits), live_check(scores, limits.counts.calibration_live)]
    write_measured(context, "calibration", quality, figures(fitted) | {"live_episodes": scores.live})
    checks = [
        *quality,
        check("weights_not_fitted", _distance(fitted, scores, stated), "<=", SAME, *remedy["weights"]),
        check("settings_of_their_own", other_settings, "==", 0, *remedy["settings_of_their_own"]),
        check("episodes", len(scores), ">=", limits.counts.calibration_episodes, *remedy["episodes"]),
        *(check(name, count, "==", 0, *remedy[name]) for name, count in wrong.items()),
        check("episodes_of_shadow_set", of_shadow_set, "==", 0, *remedy["held_out"]),
    ]
    files = (paths.calibration_episodes, sidecar(paths.calibration_episodes), paths.calibration_scores)
    evidence = evidence_of(*files, paths.pool, sidecar(paths.pool), paths.balanced, paths.baseline, paths.weights)
    return findings_of("calibration", checks, evidence)


def shadow_findings(context: RoundContext) -> list[Finding]:
    """Compares old and new score again on the shadow set."""
    paths, limits, remedy = context.profile.paths, context.profile.thresholds, remedies("gates")
    baseline, stated = read_baseline(paths.baseline), read_weights(paths.weights, limits.weight_max)
    draw = partial(draw_shadow, read_set(paths.shadow_set), seed=SEED, stratify=True)
    scored, wrong = derive_episodes(context, paths.shadow_episodes, paths.shadow_scores, paths.shadow_set, draw, SEED)
    scores = columns(scored, baseline.names, str(paths.shadow_episodes), stated.stand_in)
    refuse_too_little(scores, str(paths.shadow_episodes))
    new_D = np.array([stated.weights.get(name, 0.0) for name in baseline.names])
    of_pool = sum(one.split != "shadow" for one in scored)
    old_D = np.array(baseline.old)
    measured, shown = shadow_figures(scores, old_D, new_D, SEED)
    quality = [*agreement_checks(measured, limits), live_check(scores, limits.counts.shadow_live)]
    write_measured(context, "shadow", quality, shown | {"points": points(scores, old_D, new_D)})
    checks = [
        *quality,
        check("episodes", len(scores), ">=", limits.counts.shadow_episodes, *remedy["episodes"]),
        *(check(name, count, "==", 0, *remedy[name]) for name, count in wrong.items()),
        check("episodes_of_pool", of_pool, "==", 0, *remedy["held_out"]),
    ]
    files = (paths.shadow_episodes, sidecar(paths.shadow_episodes), paths.shadow_scores, paths.shadow_set)
    evidence = evidence_of(*files, sidecar(paths.shadow_set), paths.baseline, paths.weights)
    return findings_of("shadow", checks, evidence)


def _distance(fitted: Calibration, scores: Scores, stated: Weights) -> float:
    """Largest difference between file and fit, in the weights and in the stand-in values for the judge."""
    pairs = (
        ({name: one.value for name, one in fitted.weights.items()}, stated.weights),
        (scores.stand_in, stated.stand_in),
    )
    return max(abs(one.get(name, 0.0) - other.get(name, 0.0)) for one, other in pairs for name in {*one, *other})
