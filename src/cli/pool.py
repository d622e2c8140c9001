"""Verbs that make and judge a pool: build_rollout_pool, diversity_report, validate_pool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..core.defaults import MAX_STEPS, MIN_STEPS, MIN_TURNS
from . import options, parse, show


def build_rollout_pool(
    out: Annotated[Path, typer.Option("--out", help="The pool; its facts go into a .meta.json beside it.")] = (
        options.POOL
    ),
    n: Annotated[int, typer.Option("--n", min=1, help="Samples.")] = 30_000,
    mix: options.Mix = options.MIX,
    max_turns: Annotated[
        int, typer.Option("--max_turns", min=MIN_TURNS, help="Assistant turns of a sample at most.")
    ] = 6,
    clarify_rate: Annotated[
        float, typer.Option("--clarify_rate", min=0, max=1, help="Share of samples that lack something needed.")
    ] = 0.30,
    tools: Annotated[str, typer.Option("--tools", help="Tools that demonstrations may call.")] = options.TOOLS,
    templates_dir: options.TemplatesDir = options.TEMPLATES,
    source: options.Source = "builtin",
    data_dir: options.DataDir = None,
    seed: options.Seed = options.SEED,
    lang: options.Lang = "",
    tool_hops: Annotated[
        int, typer.Option("--tool_hops", min=MIN_STEPS, max=MAX_STEPS, help="Tool calls that a hard sample takes.")
    ] = 4,
    ops_numeric: Annotated[
        int, typer.Option("--ops_numeric", min=MIN_STEPS, max=MAX_STEPS, help="Operations a hard sample takes.")
    ] = 4,
    paraphrase: Annotated[
        float, typer.Option("--paraphrase", min=0, max=1, help="How far a question keeps from its source's wording.")
    ] = 0.5,
    as_json: options.Json = False,
) -> None:
    """Build a pool of samples. A source gives the tasks, a template pack their wording."""
    from ..data.pool.build import build_pool
    from ..data.pool.plan import BuildPlan

    plan = BuildPlan(
        n=n,
        mix=parse.mix(mix),
        max_turns=max_turns,
        clarify_rate=clarify_rate,
        tools=parse.tools(tools),
        templates_dir=templates_dir,
        source=source,
        data_dir=data_dir,
        seed=seed,
        langs=parse.langs(lang),
        tool_hops=tool_hops,
        ops_numeric=ops_numeric,
        paraphrase=paraphrase,
        split="train",
    )
    with show.progress("building", n) as progress:
        meta = build_pool(plan, out, progress)
    show.made([out], as_json, left_aside=meta.left_aside)


def diversity_report(
    pool: Annotated[Path, typer.Argument(metavar="POOL", help="The pool to measure.")] = options.POOL,
    out: Annotated[Path, typer.Option("--out", help="Where the report goes.")] = Path("reports/diversity_report.json"),
    as_json: options.Json = False,
) -> None:
    """Measure how varied a pool is. TTR, distinct-1/2, 3-gram KL to pack_v1, Zipf slope, roles and registers."""
    from ..data.pool.build import reference_samples
    from ..data.quality.diversity import diversity_report as measure

    found = measure(pool, out, reference_samples)
    if as_json:
        show.print_json(found)
    else:
        show.diversity(found)
        show.say(f"wrote {out}")


def validate_pool(
    pool: Annotated[Path, typer.Argument(metavar="POOL", help="The pool to judge.")] = options.POOL,
    *,
    min_distinct2: Annotated[
        float,
        typer.Option(
            "--min_distinct2",
            default_factory=options.rc1("pool.min_distinct2"),
            help="distinct-2 at 5,000 tokens, least.",
        ),
    ],
    kl3_min: Annotated[
        float,
        typer.Option(
            "--kl3_min",
            default_factory=options.rc1("pool.kl3_min"),
            help="3-gram KL to pack_v1 above its noise, least.",
        ),
    ],
    roles_min: Annotated[
        int, typer.Option("--roles_min", default_factory=options.rc1("pool.roles_min"), help="Roles, least.")
    ],
    styles_min: Annotated[
        int, typer.Option("--styles_min", default_factory=options.rc1("pool.styles_min"), help="Registers, least.")
    ],
    max_dup_pct: Annotated[
        float,
        typer.Option(
            "--max_dup_pct", default_factory=options.rc1("pool.max_dup_pct"), help="Percent of near duplicates, most."
        ),
    ],
    max_len: Annotated[
        int, typer.Option("--max_len", default_factory=options.rc1("pool.max_len"), help="Tokens of a sample, most.")
    ],
    min_len: Annotated[
        int, typer.Option("--min_len", default_factory=options.rc1("pool.min_len"), help="Tokens of a sample, least.")
    ],
    leak_check: Annotated[Path, typer.Option("--leak_check", help="The shadow set; none of it may be in the pool.")] = (
        options.SHADOW
    ),
    leak_ngram: Annotated[
        int,
        typer.Option(
            "--leak_ngram",
            min=1,
            default_factory=options.rc1("pool.leak_ngram"),
            help="Tokens of a shingle in the leak check.",
        ),
    ],
    leak_sim: Annotated[
        float,
        typer.Option(
            "--leak_sim",
            min=0,
            max=1,
            default_factory=options.rc1("pool.leak_sim"),
            help="Similarity that counts as a leak.",
        ),
    ],
    by_task: options.ByTask = options.BY_TASK,
    max_shortcut_auc: Annotated[
        float,
        typer.Option(
            "--max_shortcut_auc",
            min=0,
            max=1,
            default_factory=options.rc1("pool.max_shortcut_auc"),
            help="How well words alone may tell who must ask.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Where the report goes.")] = Path("reports/rc1/pool_report.json"),
    as_json: options.Json = False,
) -> None:
    """Judge a pool. Diversity, duplicates, lengths, leaks from the shadow set, task mix, shortcuts."""
    from ..data.pool.build import reference_samples
    from ..data.quality.validate_pool import validate_pool as judge

    report = judge(
        pool,
        reference=reference_samples,
        out=out,
        min_distinct2=min_distinct2,
        kl3_min=kl3_min,
        roles_min=roles_min,
        styles_min=styles_min,
        max_dup_pct=max_dup_pct,
        max_len=max_len,
        min_len=min_len,
        leak_check=leak_check,
        leak_ngram=leak_ngram,
        leak_sim=leak_sim,
        by_task=parse.tasks(by_task),
        max_shortcut_auc=max_shortcut_auc,
    )
    show.finish(report, as_json, written=out)
