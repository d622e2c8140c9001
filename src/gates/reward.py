"""The gates of the reward: weights, calibration and shadow run, derived again from stored episodes and replies."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from ..config.loader import load_train_config
from ..core.check import Check, check
from ..core.defaults import SEED, SUM_TOLERANCE
from ..core.errors import BadInput
from ..core.files import read_json, shipped, sidecar
from ..core.jsonl import read_unique
from ..core.model_files import base_sha256
from ..core.types import Sample
from ..data.pool.shadow_set import draw_shadow, read_set
from ..reward.agreement import agreement_checks, of_scores
from ..reward.calibration import Calibration, calibrate_weights
from ..reward.scored import Scores, columns, live_check, refuse_too_little
from ..reward.weight_calib import calibration_checks
from ..reward.weights import CAP_TOLERANCE, Calibrated, Weights, read_baseline, read_weights
from ..scoring.batch import choose
from .finding import Finding, found, read
from .look import Look
from .stored import Rated, rated_again

SAME = 1e-9
_CALIBRATE = ("run weight_calib again; weights are not edited by hand", "请重新运行 weight_calib；权重不可手工修改")
_SETTINGS = (
    "run weight_calib with the folds, resamples, L2 and seed of `calibration` in configs/gates/; who needs another L2 "
    "sets it there, where the ticket shows it",
    "请按 configs/gates/ 中 calibration 规定的折数、重采样次数、L2 与随机种子运行 weight_calib；"
    "需要其他 L2 时请在那里修改，训练票会留下记录",
)
_MORE = ("record and score more episodes", "请录制并打分更多对话")
_APART = (
    "weights are looked at on samples that they never saw: calibrate on the pool, look on the shadow set",
    "权重必须在未参与校准的样本上检验：用样本池校准，用影子集做影子运行",
)
_BASE = (
    "these are episodes of another model than the config's base_model; record them again with --config and that config",
    "这些对话不是由配置中的 base_model 产生的；请加 --config 指定该配置重新录制",
)


def weights_findings(look: Look) -> list[Finding]:
    path = look.profile.paths.weights
    try:
        weights = msgspec.convert(read_json(shipped(path), "run weight_calib"), Weights).weights
    except msgspec.ValidationError as error:
        raise BadInput(str(error), where=str(path), remedy="run weight_calib") from None
    checks = [
        check("weights_off_one", abs(sum(weights.values()) - 1), "<=", SUM_TOLERANCE, *_CALIBRATE),
        check("weight_smallest", min(weights.values(), default=None), ">=", 0, *_CALIBRATE),
        check(
            "weight_largest",
            max(weights.values(), default=None),
            "<=",
            look.profile.thresholds.weight_max + CAP_TOLERANCE,
            *_CALIBRATE,
        ),
    ]
    return found("weights", checks, read(path))


def calibration_findings(look: Look) -> list[Finding]:
    """The weights are fitted again; the file must hold what the fit gives."""
    paths, limits = look.profile.paths, look.profile.thresholds
    baseline, stated = read_baseline(paths.baseline), read_weights(paths.weights)
    how = stated.calibrated
    if how is None:
        raise BadInput("somebody wrote these weights by hand", where=str(paths.weights), remedy="run weight_calib")
    rated = rated_again(
        look,
        paths.calibration_episodes,
        paths.calibration_scores,
        paths.pool,
        lambda n: choose(list(read_unique(paths.balanced, Sample)), n, how.seed),
        how.seed,
    )
    scores = columns(rated.scored, baseline.names, str(paths.calibration_episodes))
    refuse_too_little(scores, str(paths.calibration_episodes))
    fitted = calibrate_weights(scores, baseline, l2=how.l2, cv=how.cv, boot=how.boot, seed=how.seed)
    checks = [
        *calibration_checks(fitted, limits),
        live_check(scores, limits.counts.calibration_live),
        check("weights_not_fitted", _off(fitted, scores, stated), "<=", SAME, *_CALIBRATE),
        check("settings_of_their_own", _other_settings(look, how), "==", 0, *_SETTINGS),
        check("episodes", len(scores), ">=", limits.counts.calibration_episodes, *_MORE),
        *rated.checks(),
        _base_check(look, rated),
        check("episodes_of_shadow_set", sum(one.split == "shadow" for one in rated.scored), "==", 0, *_APART),
    ]
    evidence = _files(paths.calibration_episodes, paths.calibration_scores, paths.pool)
    return found("calibration", checks, evidence | read(paths.balanced, paths.baseline, paths.weights))


def shadow_findings(look: Look) -> list[Finding]:
    paths, limits = look.profile.paths, look.profile.thresholds
    baseline, stated = read_baseline(paths.baseline), read_weights(paths.weights)
    rated = rated_again(
        look,
        paths.shadow_episodes,
        paths.shadow_scores,
        paths.shadow_set,
        lambda n: draw_shadow(read_set(paths.shadow_set), n, SEED, stratify=True),
        SEED,
    )
    scores = columns(rated.scored, baseline.names, str(paths.shadow_episodes), stated.stand_in)
    refuse_too_little(scores, str(paths.shadow_episodes))
    new_D = np.array([stated.weights.get(name, 0.0) for name in baseline.names])
    figures = of_scores(scores, baseline.old_D, new_D, SEED)
    checks = [
        *agreement_checks(figures, limits),
        live_check(scores, limits.counts.shadow_live),
        check("episodes", len(scores), ">=", limits.counts.shadow_episodes, *_MORE),
        *rated.checks(),
        _base_check(look, rated),
        check("episodes_of_pool", sum(one.split != "shadow" for one in rated.scored), "==", 0, *_APART),
    ]
    evidence = _files(paths.shadow_episodes, paths.shadow_scores, paths.shadow_set)
    return found("shadow", checks, evidence | read(paths.baseline, paths.weights))


def _other_settings(look: Look, how: Calibrated) -> int:
    wanted = look.profile.thresholds.calibration
    return sum(
        one != other
        for one, other in zip(
            (how.cv, how.boot, how.l2, how.seed), (wanted.cv, wanted.boot, wanted.l2, wanted.seed), strict=True
        )
    )


def _off(fitted: Calibration, scores: Scores, stated: Weights) -> float:
    """How far the file is from what the episodes give, in its weights and in what stands in for the judge."""
    pairs = (
        ({name: one.value for name, one in fitted.weights.items()}, stated.weights),
        (scores.stand_in, stated.stand_in),
    )
    return max(abs(one.get(name, 0.0) - other.get(name, 0.0)) for one, other in pairs for name in {*one, *other})


def _base_check(look: Look, rated: Rated) -> Check:
    base = base_sha256(load_train_config(look.profile.paths.config).base_model)
    return check("episodes_of_another_model", sum(one.model != base for one in rated.recorded), "==", 0, *_BASE)


def _files(episodes: Path, scores: Path, pool: Path) -> dict[str, str]:
    return read(episodes, sidecar(episodes), scores, pool, sidecar(pool))
