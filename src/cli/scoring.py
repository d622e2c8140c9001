"""Verbs of live scoring: probe_scorer, assert_not_simulated, score, validate_scores, and the cache of votes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ..core.errors import BadInput
from ..core.paths import LIVE_SCORES
from . import options, show

if TYPE_CHECKING:
    from ..core.check import Report
    from ..scoring.batch import Summary
    from ..scoring.store import Store

cache = typer.Typer(
    help="Manage the cache of judge votes. Statistics, invalidation, replies that could not be parsed.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def probe_scorer(
    n: Annotated[int, typer.Option("--n", min=1, help="Number of samples to score, none of them cached.")] = 8,
    provider: options.Provider = "",
    live: Annotated[bool, typer.Option("--live", help="Call the judge. Required: the calls are billed.")] = False,
    as_json: options.Json = False,
) -> None:
    """Call the judge for real. Reports latency and cost of every call, and its scores of worthless answers."""
    if not live:
        raise BadInput(
            "a probe without calls proves nothing",
            where="--live",
            remedy="add --live; the calls are billed to you, a few hundred tokens each",
        )
    from ..config.loader import load_config
    from ..scoring.probe import probe
    from ..scoring.providers import settings_for

    section = load_config().scoring
    settings = settings_for(os.environ, section, provider)
    if not settings.live and os.environ.get("REWARD_LIVE_MODE", "").strip():
        raise BadInput(
            "is off, and --live wants the judge called",
            where="REWARD_LIVE_MODE",
            remedy="set REWARD_LIVE_MODE=1, or leave the probe out",
        )
    with show.scoring_progress("probing") as progress:
        report = probe(n, secrets.randbelow(2**31), settings, section, os.environ, show.complain, progress)
    if not as_json:
        _show_probe(report)
    show.finish(report, as_json, failed_code=BadInput.exit_code)


def assert_not_simulated(
    *,
    cache_hit_lt: Annotated[
        float,
        options.threshold(
            "cache_hit_lt_round1", "Limit on the share of votes from the cache.", min=0, max=1, flag="--cache_hit_lt"
        ),
    ],
    as_json: options.Json = False,
) -> None:
    """Prove that the last 100 scorings are real. Checks bills, latencies, cache hits, ledger and environment."""
    from ..gates.anti_simulation import assert_not_simulated as judge

    show.finish(judge(cache_hit_lt, os.environ), as_json, failed_code=BadInput.exit_code)


def score(
    pool: Annotated[Path, typer.Argument(metavar="POOL", help="Pool to score.")] = options.BALANCED,
    out: Annotated[Path, typer.Option("--out", help="Scores to write, one line per sample; resumed if there.")] = (
        LIVE_SCORES
    ),
    n: Annotated[
        int | None, typer.Option("--n", min=1, help="Number of samples, drawn by --seed. Default: all.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the draw of --n samples.")] = options.SEED,
    budget: Annotated[
        float | None,
        typer.Option("--budget", min=0, help="US dollars that the run may spend before it stops."),
    ] = None,
    provider: options.Provider = "",
    k: Annotated[
        int | None, typer.Option("--k", min=1, max=101, help="Votes per sample. Default: from configs/default.yaml.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Score a pool with live votes. Resumable; exit code 0 even if the budget ran out, which is reported."""
    from ..config.judge_config import VotesSection
    from ..config.loader import load_config
    from ..scoring.batch import BatchJob, score_pool
    from ..scoring.providers import settings_for

    section = load_config().scoring
    votes = section.votes
    if k is not None:
        votes = VotesSection(k=k, k_max=max(k, votes.k_max), variance_max=votes.variance_max)
    order = BatchJob(pool, out, n, seed, votes, budget)
    settings = settings_for(os.environ, section, provider)
    with show.scoring_progress("scoring") as progress:
        summary = score_pool(order, settings, section, os.environ, show.complain, progress)
    if as_json:
        show.print_json(summary)
    else:
        _show_summary(summary)


def validate_scores(
    scores: Annotated[Path, typer.Argument(metavar="SCORES", help="Output of `askgate score`.")] = LIVE_SCORES,
    least: Annotated[int, typer.Option("--least", min=1, help="Minimum number of samples with a live score.")] = 1,
    max_unstable: Annotated[
        float, typer.Option("--max_unstable", min=0, max=1, help="Maximum share of samples with disagreeing votes.")
    ] = 0.5,
    out: Annotated[Path, typer.Option("--out", help="Report to write.")] = Path("reports/stability_report.json"),
    as_json: options.Json = False,
) -> None:
    """Judge live scores. Complete, from live calls only, and stable."""
    from ..gates.checks.scoring import validate_scores as judge

    show.finish(judge(scores, least=least, max_unstable=max_unstable, out=out), as_json, out)


@cache.command()
def stat(as_json: options.Json = False) -> None:
    """Count stored replies. By provider, model and prompt version; expired, bad, and not yet in the ledger."""
    from ..scoring.store import stat as count

    with _store() as store:
        found = count(store)
    if as_json:
        show.print_json(found)
        return
    for group in found.groups:
        show.say(f"{group.provider} {group.model} {group.prompt_version}: {group.rows} replies")
    show.say(
        f"{found.rows} replies in {found.bytes} bytes: {found.expired} expired, {found.bad} bad, "
        f"{found.owed} without a ledger line"
    )


@cache.command()
def invalidate(
    spec: Annotated[
        str,
        typer.Option(
            "--spec",
            help="Filter like provider=deepseek_r1,prompt_version=judge-1,older_than=7d; all conditions must match.",
        ),
    ],
    as_json: options.Json = False,
) -> None:
    """Remove votes from the cache. They are requested and billed again when needed."""
    from ..scoring.store import invalidate as remove

    with _store() as store:
        removed = remove(store, spec)
    if as_json:
        show.print_json({"removed": removed})
    else:
        show.say(f"removed {removed} replies")


@cache.command("replay-bad")
def replay_bad(as_json: options.Json = False) -> None:
    """Parse bad replies again. Those that are still bad are requested again, which is billed."""
    from ..config.loader import load_config
    from ..scoring.judge import open_session
    from ..scoring.judge import replay_bad as replay
    from ..scoring.providers import settings_from_env

    section = load_config().scoring
    settings = settings_from_env(os.environ, section)
    if not settings.live:
        raise BadInput(
            "requesting bad replies again calls the judge", where="REWARD_LIVE_MODE", remedy="set REWARD_LIVE_MODE=1"
        )
    with open_session(settings, section, os.environ, show.complain) as session:
        done = replay(session)
    if as_json:
        show.print_json(done)
        return
    show.say(
        f"{done.bad} requests had bad replies: {done.mended} have a vote by now, {done.other_judge} are another judge's"
    )
    show.say(f"{done.asked} requested again: {done.votes} votes")
    for reason, count in done.failures.items():
        show.say(f"  {count} failed: {reason}")


@contextmanager
def _store() -> Iterator[Store]:
    from ..config.loader import load_config
    from ..scoring.judge import DAY_S
    from ..scoring.store import Store

    section = load_config().scoring
    if not section.cache.exists():
        raise BadInput("no such file", where=str(section.cache), remedy="score something live first")
    with Store(section.cache, ttl=section.ttl_days * DAY_S) as store:
        yield store


def _show_summary(done: Summary) -> None:
    show.say(
        f"scored {done.scored} of {done.samples} samples ({done.reused} from an earlier run), "
        f"{done.failed} failed, {done.unstable} unstable"
    )
    if not done.live:
        show.say("REWARD_LIVE_MODE is off: no judge was called, and every line says live: false and has no scores")
    elif not done.complete:
        show.say(f"stopped at the budget, {done.not_started} samples not started; run the command again to resume")
    found = done.figures
    price = "not known" if found["cost_usd"] is None else f"${found['cost_usd']:.4f}"
    show.say(
        f"{found['seconds']:.1f} s, {found['rps']:.2f} requests/s, 429 rate {found['429_rate']:.3f}, average latency "
        f"{found['avg_latency']:.2f} s, cache hit rate {found['cache_hit_rate']:.3f}, cost {price}"
    )
    show.say(f"tokens: {found['tokens_in']} in, {found['tokens_out']} out")
    for path in done.files:
        show.say(f"wrote {path}")


def _show_probe(report: Report) -> None:
    calls = Table("request", "tokens", "latency ms", "cache", "status", box=None, pad_edge=False)
    for call in report.figures["calls"]:
        cached = "hit" if call["cache_hit"] else "-"
        row = (call["request_id"][-12:] or "-", str(call["billable_tokens"]), f"{call['latency_ms']:.0f}")
        calls.add_row(*row, cached, call["status"][:60])
    show.print_table(calls)
    canaries = Table("canary", "scored", "good answer", "judge", box=None, pad_edge=False)
    for one in report.figures["canaries"]:
        scored, good = (("-" if one[name] is None else f"{one[name]:.2f}") for name in ("overall", "good"))
        canaries.add_row(one["name"], scored, good, "fooled" if one["fooled"] else "-")
    show.print_table(canaries)
    cost = report.figures["cost_usd"]
    show.say(
        f"billed: {report.figures['billable_tokens']} tokens, cost {'not known' if cost is None else f'${cost:.4f}'}"
    )
