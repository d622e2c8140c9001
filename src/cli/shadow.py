"""The verb shadow_run: it materializes the shadow set, or compares the old score with the new one on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ..core.errors import BadInput
from ..training import base_episodes as played
from . import options, parse, show
from .scoring import Provider

if TYPE_CHECKING:
    from ..core.check import Report
    from ..core.types import Sample
    from ..data.pool.plan import BuildPlan

EPISODES = Path("data/episodes/shadow.jsonl")
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
    n: Annotated[int, typer.Option("--n", min=1, help="Samples of the shadow set.")] = 245,
    seed: options.Seed = options.SEED,
    stratify: Annotated[bool, typer.Option("--stratify", help="Give every task exactly its share.")] = False,
    materialize: Annotated[
        Path | None, typer.Option("--materialize", help="Write the shadow set here, and do no more.")
    ] = None,
    dump_manifest: Annotated[Path | None, typer.Option("--dump-manifest", help="Write the list of samples here.")] = (
        None
    ),
    tag: Annotated[str, typer.Option("--tag", help="In the manifest, and in the report's name.")] = "",
    shadow_set: Annotated[
        Path | None,
        typer.Option("--shadow_set", help="The materialized set; left out: data/shadow_eval_<n>.jsonl."),
    ] = None,
    episodes: Annotated[Path, typer.Option("--episodes", help="Where the base policy's episodes are, or go.")] = (
        EPISODES
    ),
    config: played.Config = played.POLICY,
    overrides: options.Set = None,
    weights: Annotated[
        Path | None,
        typer.Option("--weights", help="Of the new score; left out: configs/weights.json, or the prior before that."),
    ] = None,
    live_n: played.LiveN = None,
    provider: Provider = "",
    source: options.Source = "builtin",
    data_dir: options.DataDir = None,
    mix: options.Mix = options.MIX,
    lang: options.Lang = "",
    templates_dir: options.TemplatesDir = options.TEMPLATES,
    as_json: options.Json = False,
) -> None:
    """Compare the old score with the new one. On the shadow set; with --materialize: make that set, and no more."""
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
        _show(report)
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


def _show(report: Report) -> None:
    found = report.figures
    table = Table("old score against new", box=None, pad_edge=False)
    for name in ("value", "95% from", "to"):
        table.add_column(name, justify="right")
    for name in FIGURES:
        low, high = found["intervals"].get(name, (None, None))
        table.add_row(name, *("-" if value is None else show.number(value) for value in (found[name], low, high)))
    show.print_table(table)
    by_part = Table("part", box=None, pad_edge=False)
    for title in PARTS.values():
        by_part.add_column(title, justify="right")
    beside = {name: found[name] for name in ("judged", "stable")}
    for part, one in {**found["task"], **found["difficulty"], **beside}.items():
        by_part.add_row(part, *("-" if one[name] is None else show.number(one[name]) for name in PARTS))
    show.print_table(by_part)
    show.say(
        f"{found['live_episodes']} of {found['episodes']} episodes were scored live, {found['unstable_episodes']} of "
        f"them unstable; weights: {found['weights']}"
    )
