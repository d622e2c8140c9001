"""Verbs that make and judge data: build_rollout_pool, diversity_report, validate_pool, difficulty_metrics,
difficulty_bucketize, validate_difficulty, make_min_data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..core.defaults import MAX_STEPS, MIN_STEPS, MIN_TURNS
from . import options, parse, show


def build_rollout_pool(
    out: Annotated[Path, typer.Option("--out", help="Pool to write; its facts go to a .meta.json beside it.")] = (
        options.POOL
    ),
    n: Annotated[int, typer.Option("--n", min=1, help="Number of samples.")] = 30_000,
    mix: options.Mix = options.MIX,
    max_turns: Annotated[
        int, typer.Option("--max_turns", min=MIN_TURNS, help="Maximum number of assistant turns in a sample.")
    ] = 6,
    clarify_rate: Annotated[
        float, typer.Option("--clarify_rate", min=0, max=1, help="Share of samples that lack needed information.")
    ] = 0.30,
    tools: Annotated[str, typer.Option("--tools", help="Tools that demonstrations may call, comma-separated.")] = (
        options.TOOLS
    ),
    templates_dir: options.TemplatesDir = options.TEMPLATES,
    source: options.Source = "builtin",
    data_dir: options.DataDir = None,
    seed: options.Seed = options.SEED,
    lang: options.Lang = "",
    tool_hops: Annotated[
        int, typer.Option("--tool_hops", min=MIN_STEPS, max=MAX_STEPS, help="Tool calls in a hard sample.")
    ] = 4,
    ops_numeric: Annotated[
        int, typer.Option("--ops_numeric", min=MIN_STEPS, max=MAX_STEPS, help="Arithmetic operations in a hard sample.")
    ] = 4,
    paraphrase: Annotated[
        float, typer.Option("--paraphrase", min=0, max=1, help="How far questions depart from the source's wording.")
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
    pool: Annotated[Path, typer.Argument(metavar="POOL", help="Pool to measure.")] = options.POOL,
    out: Annotated[Path, typer.Option("--out", help="Report to write.")] = Path("reports/diversity_report.json"),
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
    pool: Annotated[Path, typer.Argument(metavar="POOL", help="Pool to judge.")] = options.POOL,
    *,
    min_distinct2: Annotated[float, options.threshold("pool.min_distinct2", "Minimum distinct-2 at 5,000 tokens.")],
    kl3_min: Annotated[float, options.threshold("pool.kl3_min", "Minimum 3-gram KL to pack_v1, above its noise.")],
    roles_min: Annotated[int, options.threshold("pool.roles_min", "Minimum number of roles.")],
    styles_min: Annotated[int, options.threshold("pool.styles_min", "Minimum number of registers.")],
    max_dup_pct: Annotated[float, options.threshold("pool.max_dup_pct", "Maximum percentage of near-duplicates.")],
    max_len: Annotated[int, options.threshold("pool.max_len", "Maximum tokens of a sample.")],
    min_len: Annotated[int, options.threshold("pool.min_len", "Minimum tokens of a sample.")],
    leak_check: Annotated[Path, typer.Option("--leak_check", help="Shadow set that must not leak into the pool.")] = (
        options.SHADOW
    ),
    leak_ngram: Annotated[int, options.threshold("pool.leak_ngram", "Tokens per shingle in the leak check.", min=1)],
    leak_sim: Annotated[float, options.threshold("pool.leak_sim", "Similarity that counts as a leak.", min=0, max=1)],
    by_task: options.ByTask = options.BY_TASK,
    max_shortcut_auc: Annotated[
        float,
        options.threshold(
            "pool.max_shortcut_auc", "Maximum AUC of words alone at telling which samples need an ask.", min=0, max=1
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Report to write.")] = Path("reports/rc1/pool_report.json"),
    as_json: options.Json = False,
) -> None:
    """Judge a pool. Diversity, duplicates, lengths, leaks from the shadow set, task mix, shortcuts."""
    from ..data.pool.build import reference_samples
    from ..data.quality.validate_pool import PoolLimits
    from ..data.quality.validate_pool import validate_pool as judge

    limits = PoolLimits(
        min_distinct2=min_distinct2,
        kl3_min=kl3_min,
        roles_min=roles_min,
        styles_min=styles_min,
        max_dup_pct=max_dup_pct,
        max_len=max_len,
        min_len=min_len,
        leak_ngram=leak_ngram,
        leak_sim=leak_sim,
        max_shortcut_auc=max_shortcut_auc,
    )
    report = judge(
        pool, limits, leak_check=leak_check, by_task=parse.tasks(by_task), reference=reference_samples, out=out
    )
    show.finish(report, as_json, written=out)


def difficulty_metrics(
    in_path: Annotated[Path, typer.Option("--in", help="Pool to measure.")] = options.POOL,
    out: Annotated[Path, typer.Option("--out", help="Metrics to write, one line per sample.")] = options.METRICS,
    as_json: options.Json = False,
) -> None:
    """Measure how hard every sample is. Length, turns, tool hops, operations, entities, clue overlap."""
    from ..data.difficulty.metrics import difficulty_metrics as measure

    measured = measure(in_path, out)
    show.made([out], as_json, measured.counts)


def difficulty_bucketize(
    metrics: Annotated[Path, typer.Option("--metrics", help="Output of difficulty_metrics.")] = options.METRICS,
    target: Annotated[str, typer.Option("--target", help="Share of each difficulty, the same for every task.")] = (
        options.TARGET
    ),
    by_task: options.ByTask = options.BY_TASK,
    out: Annotated[Path, typer.Option("--out", help="Balanced pool to write.")] = options.BALANCED,
    as_json: options.Json = False,
) -> None:
    """Draw a pool with the target difficulty. Every sample is sorted into easy, medium or hard."""
    from ..data.difficulty.bucketize import difficulty_bucketize as bucketize

    balanced = bucketize(metrics, parse.target(target), parse.tasks(by_task), out)
    show.made([out], as_json, balanced.counts)


def validate_difficulty(
    metrics: Annotated[Path, typer.Option("--metrics", help="Output of difficulty_metrics.")] = options.METRICS,
    balanced: Annotated[Path, typer.Option("--balanced", help="Output of difficulty_bucketize.")] = options.BALANCED,
    *,
    min_hard_pct: Annotated[float, options.threshold("difficulty.min_hard_pct", "Minimum share of hard, per task.")],
    max_easy_pct: Annotated[float, options.threshold("difficulty.max_easy_pct", "Maximum share of easy, per task.")],
    len_max: Annotated[int, options.threshold("difficulty.len_max", "Maximum tokens.")],
    turns_max: Annotated[int, options.threshold("difficulty.turns_max", "Maximum turns.")],
    tool_hops_max: Annotated[int, options.threshold("difficulty.tool_hops_max", "Maximum tool calls.")],
    clue_overlap_max_easy: Annotated[
        float, options.threshold("difficulty.clue_overlap_max_easy", "Maximum median clue overlap of easy samples.")
    ],
    clue_overlap_min_hard: Annotated[
        float, options.threshold("difficulty.clue_overlap_min_hard", "Minimum median clue overlap of hard samples.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Report to write.")] = Path("reports/rc1/difficulty_report.json"),
    as_json: options.Json = False,
) -> None:
    """Judge the balanced pool. Shares of each difficulty, limits, clue overlap; histograms beside the report."""
    from hashlib import sha256

    from msgspec.structs import replace

    from ..core.files import atomic_files, json_bytes
    from ..data.difficulty.validate_difficulty import DifficultyLimits
    from ..data.difficulty.validate_difficulty import validate_difficulty as judge
    from ..pages.difficulty import difficulty_page

    limits = DifficultyLimits(
        min_hard_pct, max_easy_pct, len_max, turns_max, tool_hops_max, clue_overlap_max_easy, clue_overlap_min_hard
    )
    page = out.with_suffix(".html")
    report = judge(metrics, balanced, limits, {"the report's page": page, "--out": out})
    inputs = {path.name: report.evidence.inputs[str(path)] for path in (metrics, balanced)}
    content = difficulty_page(report.checks, report.figures, inputs)
    report = replace(report, evidence=replace(report.evidence, outputs={str(page): sha256(content).hexdigest()}))
    with atomic_files() as start:
        start(page).write(content)
        start(out).write(json_bytes(report))
    show.finish(report, as_json, out)


def make_min_data(as_json: options.Json = False) -> None:
    """Make the smallest training and evaluation data. data/train_min.jsonl and data/eval_min.jsonl."""
    from ..data.pool.build import make_minimal

    show.made(make_minimal(Path("data")), as_json)
