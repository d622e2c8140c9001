"""Verbs that check the reward: shadow_run, weight_calib, overclar_penalty."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from ..core.defaults import MIN_SAMPLES
from ..core.errors import BadInput
from ..core.paths import ABLATION_SIDES
from . import options, parse, show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.check import Report
    from ..core.types import Sample
    from ..training.record_episodes import RatedEpisodes

CONFIG = Path("configs/quickstart.yaml")
SHADOW_EPISODES = Path("data/episodes/shadow.jsonl")
CALIBRATION_EPISODES = Path("data/episodes/calibration.jsonl")
BASELINE = Path("configs/weights_baseline.json")
WEIGHTS = Path("configs/weights.json")

Config = Annotated[Path, typer.Option("--config", help="Training config of the base policy and its rollout settings.")]
Episodes = Annotated[
    Path, typer.Option("--episodes", help="File with the base policy's episodes; recorded there if it is missing.")
]
LiveN = Annotated[
    int | None,
    typer.Option("--live_n", min=MIN_SAMPLES, help="Episodes for the judge to score, a random sample. Default: all."),
]

SHADOW_ROWS = (
    "spearman",
    "kendall_tau",
    "top10_overlap",
    "top20_overlap",
    "corr_to_success_old",
    "corr_to_success_new",
    "corr_improve_pct",
)
SHADOW_COLUMNS = {
    "episodes": "n",
    "success_rate": "success",
    "spearman": "spearman",
    "top10_overlap": "top10",
    "corr_to_success_old": "corr old",
    "corr_to_success_new": "corr new",
}
ABLATION_ROWS = {
    "overclar_rate": "over-clarification",
    "avg_turns": "mean turns",
    "success": "success",
    "need_ask_success": "need-ask success",
}


def shadow_run(
    n: Annotated[int, typer.Option("--n", min=1, help="Number of samples of the shadow set.")] = 245,
    seed: options.Seed = options.SEED,
    stratify: Annotated[bool, typer.Option("--stratify", help="Give every task exactly its share.")] = False,
    materialize: Annotated[
        Path | None, typer.Option("--materialize", help="Write the shadow set to this file and stop.")
    ] = None,
    dump_manifest: Annotated[
        Path | None, typer.Option("--dump-manifest", help="Write the list of samples to this file.")
    ] = None,
    tag: Annotated[str, typer.Option("--tag", help="Part of the manifest and of the report's file name.")] = "",
    shadow_set: Annotated[
        Path | None,
        typer.Option("--shadow_set", help="The materialized set. Default: data/shadow_eval_<n>.jsonl."),
    ] = None,
    episodes: Episodes = SHADOW_EPISODES,
    config: Config = CONFIG,
    overrides: options.Set = None,
    weights: Annotated[
        Path | None,
        typer.Option(
            "--weights", help="Weights of the new score. Default: configs/weights.json, or the prior if it is missing."
        ),
    ] = None,
    live_n: LiveN = None,
    provider: options.Provider = "",
    source: options.Source = "builtin",
    data_dir: options.DataDir = None,
    mix: options.Mix = options.MIX,
    lang: options.Lang = "",
    templates_dir: options.TemplatesDir = options.TEMPLATES,
    as_json: options.Json = False,
) -> None:
    """Compare the old reward with the new one on the shadow set. With --materialize: only make that set."""
    from ..config.loader import load_train_config
    from ..config.profile import profile_for
    from ..data.pool.plan import BuildPlan
    from ..data.pool.shadow_set import materialize_shadow
    from ..eval.metrics import figures, flat
    from ..reward import shadow_run as comparison
    from ..training.record_episodes import shadow_samples

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
    name = parse.tag(tag) or comparison.TAG
    shadow_set = shadow_set or Path(f"data/shadow_eval_{n}.jsonl")
    samples = shadow_samples(plan, stratify, shadow_set, show.Terminal())
    rated = _rated(shadow_set, samples, config, episodes, seed, live_n, provider, overrides)
    measured = figures([one.episode for one in rated.recorded])
    if weights is None and WEIGHTS.exists():
        weights = WEIGHTS
    if weights is None:
        show.complain(f"{WEIGHTS} is missing: the new score uses the prior that weight_calib starts from")
    report, path = comparison.shadow_run(
        rated.scored,
        BASELINE,
        weights,
        {**flat(measured), "policy": measured, "model_sha256": rated.recorded[0].model},
        seed=seed,
        limits=profile_for(load_train_config(config, overrides)).thresholds,
        tag=name,
        live_n=live_n,
        made_from=rated.made_from,
    )
    if not as_json:
        _show_comparison(report)
    show.finish(report, as_json, path)


def weight_calib(
    *,
    cv: Annotated[int, options.threshold("calibration.cv", "Folds of the cross-validation.", min=2, max=100)],
    boot: Annotated[int, options.threshold("calibration.boot", "Bootstrap resamples.", min=0, max=100_000)],
    l2: Annotated[float, options.threshold("calibration.l2", "Strength of the pull towards the baseline.", min=0)],
    seed: Annotated[int, options.threshold("calibration.seed", "Seed of the folds and the bootstrap.", min=0)],
    tag: Annotated[str, typer.Option("--tag", help="Part of the report's file name.")] = "",
    n: Annotated[
        int, typer.Option("--n", min=MIN_SAMPLES, help="Number of episodes to calibrate on, a random sample.")
    ] = 600,
    pool: Annotated[Path, typer.Option("--pool", help="Pool of the samples; none may be of the shadow set.")] = (
        options.BALANCED
    ),
    episodes: Episodes = CALIBRATION_EPISODES,
    config: Config = CONFIG,
    overrides: options.Set = None,
    live_n: LiveN = None,
    provider: options.Provider = "",
    scored: Annotated[
        Path | None, typer.Option("--scored", help="Episodes that are scored already; nothing is recorded or judged.")
    ] = None,
    baseline: Annotated[
        Path, typer.Option("--baseline", help="File with the old weights and the names of the new dimensions.")
    ] = BASELINE,
    out: Annotated[Path, typer.Option("--out", help="Output file of the weights; the report goes to reports/.")] = (
        WEIGHTS
    ),
    as_json: options.Json = False,
) -> None:
    """Calibrate the weights of the reward. Least squares on success, judged on held-out folds."""
    from ..config.loader import load_train_config
    from ..config.profile import profile_for
    from ..reward import weight_calib as calibration

    name = parse.tag(tag) or calibration.TAG
    made_from: list[Path] = []
    if scored is None:
        from ..training.record_episodes import calibration_samples

        samples = calibration_samples(pool, n, seed)
        rated = _rated(pool, samples, config, episodes, seed, live_n, provider, overrides)
        scored, made_from = rated.scored, rated.made_from
    report, path = calibration.weight_calib(
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


def overclar_penalty(
    alpha: Annotated[
        float | None, typer.Option("--alpha", min=0, max=1, help="Penalty per needless ask. Default: the config's.")
    ] = None,
    cap: Annotated[
        int | None, typer.Option("--cap", min=0, max=64, help="Most asks that are counted. Default: the config's.")
    ] = None,
    ablation: Annotated[
        bool, typer.Option("--ablation", help="Train with and without the penalty; compare on held-out samples.")
    ] = False,
    config: Annotated[Path, typer.Option("--config", help="Training config of both ablation runs.")] = CONFIG,
    steps: Annotated[int, typer.Option("--steps", min=1, max=2000, help="Training steps per ablation run.")] = 20,
    seeds: Annotated[str, typer.Option("--seeds", help="Comma-separated seeds, one run each.")] = str(options.SEED),
    n: Annotated[
        int | None, typer.Option("--n", min=1, help="Number of held-out samples of the evaluation. Default: all.")
    ] = None,
    episodes: Annotated[
        Path | None,
        typer.Option("--episodes", help="Folder for the held-out episodes. Default: data/episodes/TAG_ablation."),
    ] = None,
    tag: Annotated[str, typer.Option("--tag", help="Part of the report's file name. Default: the config's name.")] = "",
    overrides: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Show what needless asks cost. With --ablation: train with and without the penalty, on the same seeds."""
    from ..config.loader import load_config, load_train_config
    from ..config.profile import profile_for

    section = load_config().overclar
    alpha, cap = section.alpha if alpha is None else alpha, section.cap if cap is None else cap
    if not ablation:
        _show_penalties(alpha, cap, as_json)
        return
    if not alpha or not cap:
        raise BadInput("the penalty is always 0", where="--alpha, --cap", remedy="give values above 0")
    from ..training.ablation import AblationPlan, ablate

    name = parse.tag(tag) or config.stem
    folder = episodes or Path("data/episodes") / f"{name}_ablation"
    plan = AblationPlan(config, alpha, cap, steps, parse.seeds(seeds), n, folder, name, tuple(overrides or ()))
    limits = profile_for(load_train_config(config, overrides)).thresholds
    report, path = ablate(plan, limits, show.Terminal())
    if not as_json:
        _show_ablation(report)
    show.finish(report, as_json, path)


def _rated(
    pool: Path,
    samples: Sequence[Sample],
    config: Path,
    episodes: Path,
    seed: int,
    live_n: int | None,
    provider: str,
    overrides: list[str] | None,
) -> RatedEpisodes:
    from ..training.record_episodes import rated_episodes

    return rated_episodes(
        pool,
        samples,
        config,
        episodes,
        seed,
        live_n=live_n,
        provider=provider,
        overrides=overrides,
        reporter=show.Terminal(),
        scoring_bar=lambda: show.scoring_progress("scoring"),
    )


def _show_comparison(report: Report) -> None:
    figures = report.figures
    table = Table("old score against new", box=None, pad_edge=False)
    for name in ("value", "95% from", "to"):
        table.add_column(name, justify="right")
    for name in SHADOW_ROWS:
        low, high = figures["intervals"].get(name, (None, None))
        table.add_row(name, *(show.cell(value) for value in (figures[name], low, high)))
    show.print_table(table)
    by_part = Table("part", box=None, pad_edge=False)
    for title in SHADOW_COLUMNS.values():
        by_part.add_column(title, justify="right")
    judged = {name: figures[name] for name in ("judged", "stable")}
    for part, one in {**figures["task"], **figures["difficulty"], **judged}.items():
        by_part.add_row(part, *(show.cell(one[name]) for name in SHADOW_COLUMNS))
    show.print_table(by_part)
    show.say(
        f"{figures['live_episodes']} of {figures['episodes']} episodes were scored live, "
        f"{figures['unstable_episodes']} of them unstable; weights: {figures['weights']}"
    )


def _show_weights(report: Report) -> None:
    table = Table("dimension", box=None, pad_edge=False)
    for name in ("old", "prior", "weight", "95% from", "to"):
        table.add_column(name, justify="right")
    for name, weight in report.figures["weights"].items():
        values = (weight["old"], weight["prior"], weight["value"], weight["low"], weight["high"])
        table.add_row(name, *(show.cell(value) for value in values))
    show.print_table(table)
    for title, figure in (("rank correlation with success", "rank_corr"), ("mean absolute error", "mae")):
        compared: dict[str, Any] = report.figures[figure]
        show.say(
            f"{title}, held out: {show.cell(compared['old'])} by the old weights, {show.cell(compared['new'])} "
            f"by the new (change {show.cell(compared['change_low'])} to {show.cell(compared['change_high'])})"
        )


def _show_penalties(alpha: float, cap: int, as_json: bool) -> None:
    from ..reward.reward import over_clarification_penalty

    penalties = {asks: over_clarification_penalty(False, asks, alpha, cap) for asks in range(cap + 3)}
    if as_json:
        by_asks = {str(asks): penalty for asks, penalty in penalties.items()}
        show.print_json({"alpha": alpha, "cap": cap, "penalty": by_asks})
        return
    table = Table("asks where nothing is missing", "penalty", box=None, pad_edge=False)
    for asks, penalty in penalties.items():
        table.add_row(str(asks), show.number(penalty))
    show.print_table(table)
    show.say("an ask that is needed costs nothing; --ablation trains with and without the penalty")


def _show_ablation(report: Report) -> None:
    figures = report.figures
    table = Table(f"{figures['steps']} steps, {len(figures['seeds'])} seeds", box=None, pad_edge=False)
    for column in (*ABLATION_SIDES, "change", "95% interval"):
        table.add_column(column, justify="right")
    for name, label in ABLATION_ROWS.items():
        table.add_row(label, *show.change_cells(name, figures["changes"][name]))
    show.print_table(table)
    show.say(f"{figures['samples']} held-out samples, the same for all; shares in percent")
