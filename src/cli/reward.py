"""Verbs that check the reward: shadow_run, weight_calib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from ..core.errors import BadInput
from ..training import base_episodes as played
from . import options, parse, show

if TYPE_CHECKING:
    from ..core.check import Report
    from ..core.types import Sample
    from ..data.pool.plan import BuildPlan

SHADOW_EPISODES = Path("data/episodes/shadow.jsonl")
CALIBRATION_EPISODES = Path("data/episodes/calibration.jsonl")
BASELINE = Path("configs/weights_baseline.json")
WEIGHTS = Path("configs/weights.json")
FIGURES = (
    "spearman",
    "kendall_tau",
    "top10_overlap",
    "top20_overlap",
    "corr_to_success_old",
    "corr_to_success_new",
    "corr_improve_pct",
)

PARTS = {
    "episodes": "n",
    "success_rate": "success",
    "spearman": "spearman",
    "top10_overlap": "top10",
    "corr_to_success_old": "corr old",
    "corr_to_success_new": "corr new",
}


def shadow_run(
    n: Annotated[int, typer.Option("--n", min=1, help="Number of samples of the shadow set.")] = 245,
    seed: options.Seed = options.SEED,
    stratify: Annotated[bool, typer.Option("--stratify", help="Give every task its exact share.")] = False,
    materialize: Annotated[
        Path | None, typer.Option("--materialize", help="Only write the shadow set to this file.")
    ] = None,
    dump_manifest: Annotated[Path | None, typer.Option("--dump-manifest", help="List of the samples to write.")] = (
        None
    ),
    tag: Annotated[str, typer.Option("--tag", help="Tag in the manifest and the report's file name.")] = "",
    shadow_set: Annotated[
        Path | None,
        typer.Option("--shadow_set", help="The materialized set. Default: data/shadow_eval_<n>.jsonl."),
    ] = None,
    episodes: Annotated[Path, typer.Option("--episodes", help="Episodes of the base policy; recorded if missing.")] = (
        SHADOW_EPISODES
    ),
    config: played.Config = played.POLICY,
    overrides: options.Set = None,
    weights: Annotated[
        Path | None,
        typer.Option("--weights", help="Weights of the new score. Default: configs/weights.json, else the prior."),
    ] = None,
    live_n: played.LiveN = None,
    provider: options.Provider = "",
    source: options.Source = "builtin",
    data_dir: options.DataDir = None,
    mix: options.Mix = options.MIX,
    lang: options.Lang = "",
    templates_dir: options.TemplatesDir = options.TEMPLATES,
    as_json: options.Json = False,
) -> None:
    """Compare the old reward with the new one on the shadow set. With --materialize: only make that set."""
    from ..data.pool.plan import BuildPlan
    from ..data.pool.shadow_set import materialize_shadow

    plan = BuildPlan(
        n=n,
        mix=parse.mix(mix),
        seed=seed,
        langs=parse.langs(lang),
        templates_dir=templates_dir,
        source=source,
        data_dir=data_dir,
        split="shadow",
    )
    if materialize is not None:
        meta = materialize_shadow(plan, stratify, out=materialize, manifest=dump_manifest, tag=tag)
        files = [materialize, *([dump_manifest] if dump_manifest else [])]
        show.made(files, as_json, left_aside=meta.left_aside)
        return
    if dump_manifest is not None:
        raise BadInput("is written with the shadow set", where="--dump-manifest", remedy="add --materialize FILE")
    report, path = _compare(
        plan,
        stratify,
        shadow_set or Path(f"data/shadow_eval_{n}.jsonl"),
        tag=parse.tag(tag),
        episodes=episodes,
        config=config,
        overrides=overrides,
        weights=weights,
        live_n=live_n,
        provider=provider,
    )
    if not as_json:
        _show_agreement(report)
    show.finish(report, as_json, path)


def _compare(
    plan: BuildPlan,
    stratify: bool,
    shadow_set: Path,
    *,
    tag: str,
    episodes: Path,
    config: Path,
    overrides: Sequence[str] | None,
    weights: Path | None,
    live_n: int | None,
    provider: str,
) -> tuple[Report, Path]:
    from ..config.loader import load_train_config
    from ..config.profile import profile_for
    from ..eval.metrics import figures, flat
    from ..reward import shadow_run as reward

    samples = _samples(plan, stratify, shadow_set)
    rated = played.rated_episodes(shadow_set, samples, config, episodes, plan.seed, live_n, provider, overrides)
    measured = figures([one.episode for one in rated.recorded])
    if weights is None and WEIGHTS.exists():
        weights = WEIGHTS
    if weights is None:
        show.complain(f"{WEIGHTS} is not there yet: the new score has the weights that weight_calib starts from")
    return reward.shadow_run(
        rated.scored,
        BASELINE,
        weights,
        {**flat(measured), "policy": measured, "model_sha256": rated.recorded[0].model},
        seed=plan.seed,
        limits=profile_for(load_train_config(config, overrides)).thresholds,
        tag=tag or reward.TAG,
        live_n=live_n,
        made_from=rated.made_from,
    )


def _samples(plan: BuildPlan, stratify: bool, shadow_set: Path) -> list[Sample]:
    """Of the materialized set, which is made where it is not there: these flags say all about it."""
    from ..data.pool.shadow_set import draw_shadow, materialize_shadow, read_set

    if plan.n < played.FEWEST:
        raise BadInput(f"fewer than {played.FEWEST} samples tell nothing", where="--n", remedy="ask for more")
    if not shadow_set.exists():
        materialize_shadow(plan, stratify, out=shadow_set, manifest=None, tag="")
        show.complain(f"made {shadow_set}: {plan.n} held-out samples")
    return draw_shadow(read_set(shadow_set), plan.n, plan.seed, stratify)


def _show_agreement(report: Report) -> None:
    found = report.figures
    table = Table("old score against new", box=None, pad_edge=False)
    for name in ("value", "95% from", "to"):
        table.add_column(name, justify="right")
    for name in FIGURES:
        low, high = found["intervals"].get(name, (None, None))
        table.add_row(name, *(show.cell(value) for value in (found[name], low, high)))
    show.print_table(table)
    by_part = Table("part", box=None, pad_edge=False)
    for title in PARTS.values():
        by_part.add_column(title, justify="right")
    beside = {name: found[name] for name in ("judged", "stable")}
    for part, one in {**found["task"], **found["difficulty"], **beside}.items():
        by_part.add_row(part, *(show.cell(one[name]) for name in PARTS))
    show.print_table(by_part)
    show.say(
        f"{found['live_episodes']} of {found['episodes']} episodes were scored live, {found['unstable_episodes']} of "
        f"them unstable; weights: {found['weights']}"
    )


def weight_calib(
    *,
    cv: Annotated[int, options.threshold("calibration.cv", "Folds of the cross-validation.", min=2, max=100)],
    boot: Annotated[int, options.threshold("calibration.boot", "Bootstrap resamples.", min=0, max=100_000)],
    l2: Annotated[float, options.threshold("calibration.l2", "Strength of the pull towards the baseline.", min=0)],
    seed: Annotated[int, options.threshold("calibration.seed", "Seed of the folds and the bootstrap.", min=0)],
    tag: Annotated[str, typer.Option("--tag", help="Tag in the report's file name.")] = "",
    n: Annotated[int, typer.Option("--n", min=played.FEWEST, help="Number of episodes, sampled at random.")] = 600,
    pool: Annotated[Path, typer.Option("--pool", help="Pool of the samples; none of the shadow set.")] = (
        options.BALANCED
    ),
    episodes: Annotated[Path, typer.Option("--episodes", help="Episodes of the base policy; recorded if missing.")] = (
        CALIBRATION_EPISODES
    ),
    config: played.Config = played.POLICY,
    overrides: options.Set = None,
    live_n: played.LiveN = None,
    provider: options.Provider = "",
    scored: Annotated[
        Path | None, typer.Option("--scored", help="Episodes that are scored already; no rollout, no judge.")
    ] = None,
    baseline: Annotated[Path, typer.Option("--baseline", help="Old weights, names of new dimensions.")] = BASELINE,
    out: Annotated[Path, typer.Option("--out", help="Weights to write; the report goes to reports/.")] = WEIGHTS,
    as_json: options.Json = False,
) -> None:
    """Calibrate the weights of the reward. Least squares on success, judged on held-out folds."""
    from ..config.loader import load_train_config
    from ..config.profile import profile_for
    from ..reward import weight_calib as calib

    name = parse.tag(tag) or calib.TAG
    made_from: list[Path] = []
    if scored is None:
        rated = played.rated_episodes(pool, _drawn(pool, n, seed), config, episodes, seed, live_n, provider, overrides)
        scored, made_from = rated.scored, rated.made_from
    report, path = calib.weight_calib(
        scored,
        baseline,
        cv=cv,
        boot=boot,
        l2=l2,
        seed=seed,
        limits=profile_for(load_train_config(config, overrides)).thresholds,
        out=out,
        tag=name,
        live_n=live_n,
        made_from=made_from,
    )
    if not as_json:
        _show_weights(report)
    show.finish(report, as_json, path)


def _drawn(pool: Path, n: int, seed: int) -> list[Sample]:
    from ..core.jsonl import read_unique
    from ..core.types import Sample
    from ..scoring.batch import choose

    if not pool.is_file():
        raise BadInput(
            f"{pool} is not there, and no --scored episodes were given",
            where="--pool",
            remedy="build it with build_rollout_pool and difficulty_bucketize, or name another pool",
        )
    samples = list(read_unique(pool, Sample))
    if held_out := sum(sample.provenance.split == "shadow" for sample in samples):
        raise BadInput(
            f"{held_out} samples are of a shadow set, which is there to look at weights that never saw it",
            where=str(pool),
            remedy="name a pool of the training split",
        )
    return choose(samples, n, seed)


def _show_weights(report: Report) -> None:
    found = report.figures
    table = Table("dimension", box=None, pad_edge=False)
    for name in ("old", "prior", "weight", "95% from", "to"):
        table.add_column(name, justify="right")
    for name, weight in found["weights"].items():
        values = (weight["old"], weight["prior"], weight["value"], weight["low"], weight["high"])
        table.add_row(name, *map(show.cell, values))
    show.print_table(table)
    for title, figure in (("rank correlation with success", "rank_corr"), ("mean absolute error", "mae")):
        compared: dict[str, Any] = found[figure]
        show.say(
            f"{title}, held out: {show.cell(compared['old'])} by the old weights, {show.cell(compared['new'])} "
            f"by the new (change {show.cell(compared['change_low'])} to {show.cell(compared['change_high'])})"
        )
