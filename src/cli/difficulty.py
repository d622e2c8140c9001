"""Verbs of the difficulty stage: difficulty_metrics, difficulty_bucketize, validate_difficulty."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import options, parse, show


def difficulty_metrics(
    in_path: Annotated[Path, typer.Option("--in", help="The pool.")] = options.POOL,
    out: Annotated[Path, typer.Option("--out", help="One line of metrics for every sample.")] = options.METRICS,
    as_json: options.Json = False,
) -> None:
    """Measure how hard every sample is. Length, turns, tool hops, operations, entities, clue overlap."""
    from ..data.difficulty.metrics import difficulty_metrics as measure

    measured = measure(in_path, out)
    show.made([out], as_json, measured.counts)


def difficulty_bucketize(
    metrics: Annotated[Path, typer.Option("--metrics", help="What difficulty_metrics wrote.")] = options.METRICS,
    target: Annotated[str, typer.Option("--target", help="Share of each bucket, for every task.")] = options.TARGET,
    by_task: options.ByTask = options.BY_TASK,
    out: Annotated[Path, typer.Option("--out", help="The balanced pool.")] = options.BALANCED,
    as_json: options.Json = False,
) -> None:
    """Draw a pool with the target difficulty. Every sample is sorted into easy, medium or hard."""
    from ..data.difficulty.bucketize import difficulty_bucketize as bucketize

    balanced = bucketize(metrics, parse.target(target), parse.tasks(by_task), out)
    show.made([out], as_json, balanced.counts)


def validate_difficulty(
    metrics: Annotated[Path, typer.Option("--metrics", help="What difficulty_metrics wrote.")] = options.METRICS,
    balanced: Annotated[Path, typer.Option("--balanced", help="What difficulty_bucketize wrote.")] = options.BALANCED,
    *,
    min_hard_pct: Annotated[
        float,
        typer.Option(
            "--min_hard_pct",
            default_factory=options.rc1("difficulty.min_hard_pct"),
            help="Share of hard, least, per task.",
        ),
    ],
    max_easy_pct: Annotated[
        float,
        typer.Option(
            "--max_easy_pct",
            default_factory=options.rc1("difficulty.max_easy_pct"),
            help="Share of easy, most, per task.",
        ),
    ],
    len_max: Annotated[
        int, typer.Option("--len_max", default_factory=options.rc1("difficulty.len_max"), help="Tokens, most.")
    ],
    turns_max: Annotated[
        int, typer.Option("--turns_max", default_factory=options.rc1("difficulty.turns_max"), help="Turns, most.")
    ],
    tool_hops_max: Annotated[
        int,
        typer.Option(
            "--tool_hops_max", default_factory=options.rc1("difficulty.tool_hops_max"), help="Tool calls, most."
        ),
    ],
    clue_overlap_max_easy: Annotated[
        float,
        typer.Option(
            "--clue_overlap_max_easy",
            default_factory=options.rc1("difficulty.clue_overlap_max_easy"),
            help="Median overlap of easy samples, most.",
        ),
    ],
    clue_overlap_min_hard: Annotated[
        float,
        typer.Option(
            "--clue_overlap_min_hard",
            default_factory=options.rc1("difficulty.clue_overlap_min_hard"),
            help="Median overlap of hard samples, least.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Where the report goes.")] = (
        Path("reports/rc1/difficulty_report.json")
    ),
    as_json: options.Json = False,
) -> None:
    """Judge the balanced pool. Shares of the buckets, limits, clue overlap; histograms beside the report."""
    from ..data.difficulty.validate_difficulty import validate_difficulty as judge

    report = judge(
        metrics=metrics,
        balanced=balanced,
        min_hard_pct=min_hard_pct,
        max_easy_pct=max_easy_pct,
        len_max=len_max,
        turns_max=turns_max,
        tool_hops_max=tool_hops_max,
        clue_overlap_max_easy=clue_overlap_max_easy,
        clue_overlap_min_hard=clue_overlap_min_hard,
        out=out,
    )
    show.finish(report, as_json, out)
