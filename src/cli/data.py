"""Commands that make, check and export data: build_rollout_pool, diversity_report, validate_pool, difficulty_metrics,
difficulty_bucketize, validate_difficulty, samples, make_min_data, export."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Context, Option

from ..core.defaults import MAX_STEPS, MIN_STEPS, MIN_TURNS, SEED, TEMPLATES, SourceName
from ..core.errors import BadInput
from . import options, parse, show

if TYPE_CHECKING:
    from ..core.check import Report
    from ..data.export import ExportFacts
    from ..data.pool.plan import BuildPlan
    from ..data.pool.source import RowCounts

DIVERSITY = ("ttr", "distinct1", "distinct2", "kl3", "kl3_floor", "kl3_excess", "zipf_slope")


def build_rollout_pool(
    out: Path = options.POOL,
    n: Annotated[int, Option(min=1)] = 30_000,
    mix: str = options.MIX,
    max_turns: Annotated[int, Option(min=MIN_TURNS)] = 6,
    clarify_rate: Annotated[float, Option(min=0, max=1)] = 0.30,
    tools: str = options.TOOLS,
    templates_dir: Path = TEMPLATES,
    source: SourceName = "builtin",
    data_dir: Path | None = None,
    reuse: Annotated[int, Option(min=1)] = 1,
    seed: options.Seed = SEED,
    lang: str = "",
    tool_hops: Annotated[int, Option(min=MIN_STEPS, max=MAX_STEPS)] = 4,
    ops_numeric: Annotated[int, Option(min=MIN_STEPS, max=MAX_STEPS)] = 4,
    paraphrase: Annotated[float, Option(min=0, max=1)] = 0.5,
    cluster: options.Cluster = "",
    as_json: options.Json = False,
) -> None:
    """Build a pool of samples: generated problems, datasets or your own dialogues."""
    from ..data.pool.build import build_pool
    from ..data.pool.plan import BuildPlan
    from ..runtime.workers import open_workers

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
        reuse=reuse,
        split="train",
    )
    with (
        naming_skipped_rows(plan),
        open_workers(cluster) as workers,
        show.Terminal().progress("building", n) as progress,
    ):
        meta = build_pool(plan, out, progress, workers)
    skipped, counts = own_rows(plan)
    options.say_tasks(source, meta.mix, mix)
    show.say_rows(own_remarks(plan, out), stderr=True)
    for task, count in meta.reused.items():
        show.note(f"{task}: {count:,} samples use a record that another sample uses too")
    show.print_outputs(
        [out],
        as_json,
        left_aside=meta.left_aside,
        fewer_ambiguous=meta.fewer_ambiguous,
        skipped_rows=skipped,
        row_counts=counts,
    )


def own_rows(plan: BuildPlan) -> tuple[list[str], RowCounts | None]:
    """Rows of the user's own files that were skipped, and what becomes of the others."""
    from ..data.readers.natural import NaturalSource
    from ..data.readers.official import OfficialSource
    from ..data.readers.official_files import skipped_rows

    counts = None
    if plan.source == "messages":
        counts = NaturalSource(plan.source, plan.data_dir).row_counts()
    elif plan.source == "dir" and list(plan.mix) == ["gsm8k"]:
        counts = OfficialSource(plan.data_dir).row_counts("gsm8k")
    return skipped_rows(plan.source, plan.data_dir) if _has_own_rows(plan) else [], counts


def _has_own_rows(plan: BuildPlan) -> bool:
    return plan.source == "messages" or (plan.source == "dir" and "gsm8k" in plan.mix)


def own_remarks(plan: BuildPlan, pool: Path) -> list[str]:
    """Remarks on the rows of the user's own files that are used."""
    from askgate_env.types import Sample

    from ..core.jsonl import read_records
    from ..data.readers.official_files import remarks, why_no_asks

    if not _has_own_rows(plan):
        return []
    said = remarks(plan.source, plan.data_dir)
    if plan.clarify_rate and not any(one.hidden for one in read_records(pool, Sample)):
        said += why_no_asks(plan.source, plan.data_dir)
    return said


@contextmanager
def naming_skipped_rows(plan: BuildPlan) -> Iterator[None]:
    """Names the skipped rows of the user's own files if too few are left for a command."""
    from ..data.pool.source import TooFewRecords

    try:
        yield
    except TooFewRecords:
        show.say_rows(own_rows(plan)[0], stderr=True)
        raise


def diversity_report(
    pool: options.Pool = options.POOL, out: Path = Path("reports/diversity_report.json"), as_json: options.Json = False
) -> None:
    """Measure the diversity of a pool.

    Reports type-token ratio (TTR), distinct-1 and distinct-2, 3-gram KL divergence between the pool and the same
    problems in the wording of templates/pack_v1, Zipf slope, roles, and registers (styles of speech).
    """
    from ..data.pool.build import reference_samples
    from ..data.quality.diversity import diversity_report as measure

    found = measure(pool, out, reference_samples)
    show.result(found, as_json, _print_diversity, out)


def validate_pool(
    context: Context,
    pool: options.Pool = options.POOL,
    *,
    min_distinct2: Annotated[float, options.threshold("pool.min_distinct2")],
    kl3_min: Annotated[float, options.threshold("pool.kl3_min")],
    roles_min: Annotated[int, options.threshold("pool.roles_min")],
    styles_min: Annotated[int, options.threshold("pool.styles_min")],
    max_dup_pct: Annotated[float, options.threshold("pool.max_dup_pct")],
    max_len: Annotated[int, options.threshold("pool.max_len")],
    min_len: Annotated[int, options.threshold("pool.min_len")],
    leak_check: Path = options.SHADOW,
    leak_ngram: Annotated[int, options.threshold("pool.leak_ngram", min=1)],
    leak_sim: Annotated[float, options.threshold("pool.leak_sim", min=0, max=1)],
    by_task: str = options.BY_TASK,
    max_shortcut_auc: Annotated[float, options.threshold("pool.max_shortcut_auc", min=0, max=1)],
    out: Path = Path("reports/rc1/pool_report.json"),
    cluster: options.Cluster = "",
    as_json: options.Json = False,
) -> None:
    """Check the quality of a pool.

    Measures diversity, duplicates, lengths, task mix, leaks from the shadow set (held-out samples), and shortcuts
    (wording that reveals which samples need a clarifying question).
    """
    from functools import partial

    from ..config.profile import PoolThresholds
    from ..data.pool.build import reference_samples
    from ..data.quality.validate_pool import validate_pool as check
    from ..runtime.workers import open_workers

    limits = options.thresholds(context, PoolThresholds)
    with open_workers(cluster) as workers:
        report = check(
            pool,
            limits,
            leak_check=leak_check,
            by_task=parse.tasks(by_task),
            reference=partial(reference_samples, workers=workers),
            out=out,
            workers=workers,
        )
    show.finish(report, as_json, out, _print_exempt)


def _print_exempt(report: Report) -> None:
    """Names the checks that do not apply to the source of a pool, one line for each reason."""
    from ..data.quality.validate_pool import in_chinese

    for reason in dict.fromkeys(report.figures["exempt"].values()):
        names = [name for name, its in report.figures["exempt"].items() if its == reason]
        show.say(f"exempt: {', '.join(names)}: {reason}", f"豁免：{'、'.join(names)}：{in_chinese(reason)}")


def difficulty_metrics(
    in_path: Annotated[Path, Option("--in")] = options.POOL,
    out: Path = options.METRICS,
    cluster: options.Cluster = "",
    as_json: options.Json = False,
) -> None:
    """Measure the difficulty of every sample.

    Counts tokens, turns, tool calls, operations and entities, and measures clue overlap: the similarity of the
    question and its supporting text, 0 to 1.
    """
    from ..data.difficulty.metrics import difficulty_metrics as measure
    from ..runtime.workers import open_workers

    with open_workers(cluster) as workers:
        counts = measure(in_path, out, workers)
    show.print_outputs([out], as_json, counts)


def difficulty_bucketize(
    metrics: Path = options.METRICS,
    target: str = options.TARGET,
    by_task: str = options.BY_TASK,
    out: Path = options.BALANCED,
    as_json: options.Json = False,
) -> None:
    """Draw a balanced pool: one with a target mix of difficulties.

    Every task gets the same shares of easy, medium and hard samples. The pool is the one that --metrics was measured on
    (named in NAME.metrics.meta.json).
    """
    from ..data.difficulty.bucketize import difficulty_bucketize as bucketize

    counts = bucketize(metrics, parse.target(target), parse.tasks(by_task), out)
    show.print_outputs([out], as_json, counts)


def validate_difficulty(
    context: Context,
    metrics: Path = options.METRICS,
    balanced: Path = options.BALANCED,
    *,
    min_hard_pct: Annotated[float, options.threshold("difficulty.min_hard_pct")],
    max_easy_pct: Annotated[float, options.threshold("difficulty.max_easy_pct")],
    len_max: Annotated[int, options.threshold("difficulty.len_max")],
    turns_max: Annotated[int, options.threshold("difficulty.turns_max")],
    tool_hops_max: Annotated[int, options.threshold("difficulty.tool_hops_max")],
    clue_overlap_max_easy: Annotated[float, options.threshold("difficulty.clue_overlap_max_easy")],
    clue_overlap_min_hard: Annotated[float, options.threshold("difficulty.clue_overlap_min_hard")],
    out: Path = Path("reports/rc1/difficulty_report.json"),
    cluster: options.Cluster = "",
    as_json: options.Json = False,
) -> None:
    """Check the difficulty of the balanced pool.

    Difficulty shares, sizes and clue overlap must be within their limits. Clue overlap is the similarity of question
    and supporting text. A page with charts is written beside the report.
    """
    from ..config.profile import DifficultyThresholds
    from ..data.difficulty.validate_difficulty import validate_difficulty as check
    from ..pages.difficulty import write_difficulty
    from ..runtime.workers import open_workers

    limits = options.thresholds(context, DifficultyThresholds)
    page = out.with_suffix(".html")
    with open_workers(cluster) as workers:
        report = check(metrics, balanced, limits, {"the report's page": page, "--out": out}, workers)
    show.finish(write_difficulty(report, (metrics, balanced), page, out), as_json, out)


def samples(
    pool: options.Pool = options.POOL,
    n: Annotated[int, Option(min=1)] = 3,
    need_ask: Annotated[bool, Option("--need-ask")] = False,
) -> None:
    """Print samples: question, demonstration, gold answer and what is missing."""
    from itertools import islice

    from askgate_env.types import Sample

    from ..core.jsonl import read_records
    from ..runtime.language import terminal_language
    from .dialogue import DialoguePrinter, sample_rows, turn_rows

    printer = DialoguePrinter(lang := terminal_language())
    try:
        chosen = list(islice((one for one in read_records(pool, Sample) if one.hidden is not None or not need_ask), n))
    except BadInput:
        from ..training.own_data import refuse_rows  # a slow import

        refuse_rows(pool)
        raise
    if not chosen:
        show.note(f"{pool}: no sample needs a clarifying question", f"{pool}：没有需要提问的样本")
    for one in chosen:
        printer.headline(f"{one.id} · {one.task}")
        printer.rows([row for turn in one.dialogue for row in turn_rows(turn, lang)] + sample_rows(one, lang))


def make_min_data(as_json: options.Json = False) -> None:
    """Make the small data sets of configs/train_local.yaml. Writes data/train_min.jsonl and data/eval_min.jsonl."""
    from ..data.pool.build import make_minimal

    show.print_outputs(make_minimal(Path("data")), as_json)


def export(
    pool: options.Pool,
    form: Annotated[Literal["messages", "sharegpt", "dpo"], Option("--format")],
    out: Annotated[Path, Option()],
    episodes: Path | None = None,
    as_json: options.Json = False,
) -> None:
    """Export a pool or recorded episodes for other trainers.

    The formats messages and sharegpt export the demonstrations of the pool. With --episodes, they export the successful
    episodes instead, without lucky guesses.

    The format dpo exports pairs of turns. It takes the best and the worst episode of a sample, and the first turn where
    they differ. If no episode succeeded, the demonstration takes the place of the best one.
    """
    from ..data.export import export as write_rows
    from ..data.export import facts_path

    facts = write_rows(pool, form, out, episodes)
    if held_out := facts.splits.get("shadow"):
        show.note(f"{held_out} of {facts.rows} rows are of held-out samples: evaluate with them, do not train")
    show.result(facts, as_json, _print_export, out, facts_path(out))


def _print_export(facts: ExportFacts) -> None:
    show.say(f"{facts.rows} rows; by source: {', '.join(f'{name} {n}' for name, n in facts.sources.items())}")
    for reason, count in facts.left_out.items():
        show.say(f"left out: {count} {reason}")


def _print_diversity(found: dict[str, Any]) -> None:
    """Prints a column for the pool and one for each task."""
    scopes = {"all": found["overall"], **found["tasks"]}
    rows = [[name, *(show.cell(scope[name]) for scope in scopes.values())] for name in DIVERSITY]
    rows += [[name, *(str(len(scope[name])) for scope in scopes.values())] for name in ("roles", "registers")]
    show.print_table(["figure", *scopes], rows)
