"""Commands that check the reward: shadow_run, weight_calib, overclar_penalty."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ..core.defaults import BASELINE, MIN_SAMPLES, SEED, TEMPLATES, WEIGHTS, SourceName
from ..core.errors import BadInput
from ..core.paths import ABLATION_SIDES
from . import options, parse, show
from .data import naming_skipped_rows, own_rows

if TYPE_CHECKING:
    from ..core.check import Report

SHADOW_EPISODES = Path("data/episodes/shadow.jsonl")
CALIBRATION_EPISODES = Path("data/episodes/calibration.jsonl")
SHADOW_ROWS = (
    "spearman kendall_tau top10_overlap top20_overlap corr_to_success_old corr_to_success_new corr_improve_pct"
).split()
SHADOW_COLUMNS = {
    "episodes": "n",
    "success_rate": "success",
    "spearman": "spearman",
    "top10_overlap": "top10",
    "corr_to_success_old": "corr old",
    "corr_to_success_new": "corr new",
}


def shadow_run(
    n: Annotated[int, Option(min=1)] = 245,
    seed: options.Seed = SEED,
    stratify: Annotated[bool, Option("--stratify")] = False,
    materialize: Path | None = None,
    dump_manifest: Path | None = None,
    tag: str = "",
    shadow_set: Path | None = None,
    episodes: Path = SHADOW_EPISODES,
    config: Path = options.QUICKSTART,
    overrides: options.Set = None,
    weights: Path | None = None,
    live_n: options.LiveN = None,
    provider: str = "",
    source: SourceName = "builtin",
    data_dir: Path | None = None,
    mix: str = options.MIX,
    lang: str = "",
    templates_dir: Path = TEMPLATES,
    as_json: options.Json = False,
) -> None:
    """Compare the new score with the old score on the shadow set (held-out samples).

    A score is the weighted sum of a dialogue's dimensions, and part of the reward (docs/reward.md). The old score
    (`old` in the tables) comes with AskGate; its weights are in configs/weights_baseline.json. The new score has the
    weights of weight-calib. Without REWARD_LIVE_MODE=1 no judge is called, and no gate accepts the result.

    With --materialize, only writes the shadow set.
    """
    from ..config.loader import load_train_config
    from ..config.profile import profile_for
    from ..data.pool.plan import BuildPlan
    from ..data.pool.shadow_set import materialize_shadow
    from ..eval.metrics import figures, flat
    from ..reward import shadow_run as comparison
    from ..training.record_episodes import rated_episodes, shadow_samples

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
        with naming_skipped_rows(plan):
            meta = materialize_shadow(plan, stratify, out=materialize, manifest=dump_manifest, tag=tag)
        options.say_tasks(source, meta.mix, mix)
        files = [materialize, *([dump_manifest] if dump_manifest else [])]
        skipped, counts = own_rows(plan)
        show.print_outputs(files, as_json, left_aside=meta.left_aside, skipped_rows=skipped, row_counts=counts)
        return
    if dump_manifest is not None:
        raise BadInput("is written with the shadow set", where="--dump-manifest", remedy="add --materialize FILE")
    profile = profile_for(load_train_config(config, overrides))
    options.say_profile(profile.name)
    name = parse.tag(tag) or comparison.TAG
    shadow_set = shadow_set or Path(f"data/shadow_eval_{n}.jsonl")
    samples = shadow_samples(plan, stratify, shadow_set, show.Terminal())
    rated = rated_episodes(
        shadow_set, samples, config, episodes, seed, overrides, show.Terminal(), live_n=live_n, provider=provider
    )
    measured = figures([one.episode for one in rated.recorded])
    if weights is None and WEIGHTS.exists():
        weights = WEIGHTS
    elif weights is None:
        show.note(f"{WEIGHTS} is missing: the new score uses the prior that weight-calib starts from")
    report, path = comparison.shadow_run(
        rated.scored,
        BASELINE,
        weights,
        {**flat(measured), "policy": measured, "model_sha256": rated.recorded[0].model},
        seed=seed,
        limits=profile.thresholds,
        tag=name,
        live_n=live_n,
        made_from=rated.made_from,
    )
    show.finish(report, as_json, path, _print_comparison)


def weight_calib(
    cv: Annotated[int | None, Option(min=2, max=100)] = None,
    boot: Annotated[int | None, Option(min=0, max=100_000)] = None,
    l2: Annotated[float | None, Option(min=0)] = None,
    seed: Annotated[int | None, Option(min=0)] = None,
    tag: str = "",
    n: Annotated[int, Option(min=MIN_SAMPLES)] = 600,
    pool: Path = options.BALANCED,
    episodes: Path = CALIBRATION_EPISODES,
    config: Path = options.QUICKSTART,
    overrides: options.Set = None,
    live_n: options.LiveN = None,
    provider: str = "",
    scored: Path | None = None,
    baseline: Path = BASELINE,
    out: Path = WEIGHTS,
    as_json: options.Json = False,
) -> None:
    """Calibrate the weights of the reward's dimensions.

    A dimension is a number from 0 to 1 for each dialogue, such as support or economy. This command fits a weight per
    dimension so that the weighted sum, called the score, best predicts whether a dialogue succeeds. On held-out folds
    it compares this with the old score (`old` in the tables; weights in configs/weights_baseline.json). In training
    the score is part of the reward (docs/reward.md). Without REWARD_LIVE_MODE=1 no judge is called, and no gate accepts
    the result.
    """
    from ..config.loader import load_train_config
    from ..config.profile import load_profile, profile_for
    from ..reward import calibration
    from ..training.record_episodes import calibration_samples, rated_episodes

    profile = load_profile("rc1") if scored else profile_for(load_train_config(config, overrides))
    options.say_profile(profile.name)
    given = {"cv": cv, "boot": boot, "l2": l2, "seed": seed}
    known = {flag: value for flag, value in given.items() if value is not None}
    settings = profile.thresholds.calibration.model_copy(update=known)
    name = parse.tag(tag) or calibration.TAG
    made_from: list[Path] = []
    if scored is None:
        samples = calibration_samples(pool, n, settings.seed)
        rated = rated_episodes(
            pool, samples, config, episodes, settings.seed, overrides, show.Terminal(), live_n=live_n, provider=provider
        )
        scored, made_from = rated.scored, rated.made_from
    report, path = calibration.weight_calib(
        scored,
        baseline,
        **settings.model_dump(),
        limits=profile.thresholds,
        out=out,
        tag=name,
        live_n=live_n,
        made_from=made_from,
    )
    show.finish(report, as_json, path, _print_weights)


def overclar_penalty(
    alpha: Annotated[float | None, Option(min=0, max=1)] = None,
    cap: Annotated[int | None, Option(min=0, max=64)] = None,
    ablation: Annotated[bool, Option("--ablation")] = False,
    config: Path = options.QUICKSTART,
    steps: Annotated[int, Option(min=1, max=2000)] = 20,
    seeds: str = str(SEED),
    n: Annotated[int | None, Option(min=1)] = None,
    episodes: Path | None = None,
    tag: str = "",
    overrides: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Show the penalty for needless clarifying questions. With --ablation, measure its effect by training."""
    from ..config.loader import load_config, load_train_config
    from ..config.profile import profile_for

    section = load_train_config(config, overrides).reward if ablation else load_config().overclar
    alpha, cap = section.alpha if alpha is None else alpha, section.cap if cap is None else cap
    if not ablation:
        _print_penalties(alpha, cap, as_json)
        return
    if not alpha or not cap:
        raise BadInput("the penalty is always 0", where="--alpha, --cap", remedy="give values above 0")
    from ..eval.ablation import AblationPlan
    from ..training.ablation import ablate

    name = parse.tag(tag) or config.stem
    folder = episodes or Path("data/episodes") / f"{name}_ablation"
    plan = AblationPlan(config, alpha, cap, steps, parse.seeds(seeds), n, folder, name, tuple(overrides or ()))
    profile = profile_for(load_train_config(config, overrides))
    options.say_profile(profile.name)
    report, path = ablate(plan, profile.thresholds, show.Terminal())
    show.finish(report, as_json, path, _print_ablation)


def _print_comparison(report: Report) -> None:
    figures = report.figures
    intervals = {name: figures["intervals"].get(name, (None, None)) for name in SHADOW_ROWS}
    rows = ([name, *map(show.cell, (figures[name], *interval))] for name, interval in intervals.items())
    show.print_table(("old score against new", "value", "95% from", "to"), rows)
    parts = {**figures["task"], **figures["difficulty"], "judged": figures["judged"], "stable": figures["stable"]}
    by_part = ([part, *(show.cell(one[name]) for name in SHADOW_COLUMNS)] for part, one in parts.items())
    show.print_table(("part", *SHADOW_COLUMNS.values()), by_part)
    show.say(
        f"{figures['live_episodes']} of {figures['episodes']} episodes were scored live, "
        f"{figures['unstable_episodes']} of them unstable; weights: {figures['weights']}"
    )


def _print_weights(report: Report) -> None:
    columns = {"old": "old", "prior": "prior", "value": "weight", "low": "95% from", "high": "to"}
    weights = report.figures["weights"].items()
    rows = ([dimension, *(show.cell(weight[name]) for name in columns)] for dimension, weight in weights)
    show.print_table(("dimension", *columns.values()), rows)
    for title, figure in (("rank correlation with success", "rank_corr"), ("mean absolute error", "mae")):
        compared: dict[str, Any] = report.figures[figure]
        show.say(
            f"{title}, held out: {show.cell(compared['old'])} by the old weights, {show.cell(compared['new'])} "
            f"by the new (change {show.cell(compared['change_low'])} to {show.cell(compared['change_high'])})"
        )
    if found := report.figures["judge_auc"]:
        from ..reward.rank_statistics import CHANCE

        shown = ", ".join(f"{name} {auc:.2f} ({low:.2f} to {high:.2f})" for name, (auc, low, high) in found.items())
        show.say(f"AUC of the judge's scores against success, {report.figures['live_episodes']} episodes: {shown}")
        if all(low <= CHANCE for _, low, _ in found.values()):
            show.say(f"none is above chance ({CHANCE}): these scores do not tell successes from failures")


def _print_penalties(alpha: float, cap: int, as_json: bool) -> None:
    from askgate_env.reward import over_clarification_penalty

    penalties = {str(asks): over_clarification_penalty(False, asks, alpha, cap) for asks in range(cap + 3)}
    if as_json:
        show.print_json({"alpha": alpha, "cap": cap, "penalty": penalties})
        return
    rows = ([asks, show.number(penalty)] for asks, penalty in penalties.items())
    show.print_table(("asks where nothing is missing", "penalty"), rows)
    show.say("an ask that is needed costs nothing; --ablation trains with and without the penalty")


def _print_ablation(report: Report) -> None:
    figures = report.figures
    title = f"{figures['steps']} steps, {len(figures['seeds'])} seeds"
    rows = ([label, *show.change_cells(name, figures["changes"][name])] for name, label in show.FIGURES.items())
    show.print_table((title, *ABLATION_SIDES, "change", "95% interval"), rows)
    show.say_held_out(figures["samples"])
