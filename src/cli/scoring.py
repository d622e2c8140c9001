"""Verbs of live scoring: probe_scorer, assert_not_simulated, score."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ..core.errors import BadInput
from . import options, show

if TYPE_CHECKING:
    from ..core.check import Report
    from ..scoring.batch import Summary
    from ..scoring.monitor import Progress as Done

Provider = Annotated[str, typer.Option("--provider", help="The judge; left out: what SCORER_PROVIDER says.")]


def probe_scorer(
    n: Annotated[int, typer.Option("--n", min=1, help="Samples to score; their votes cannot be in the cache.")] = 8,
    provider: Provider = "",
    live: Annotated[bool, typer.Option("--live", help="Really call the judge. Without it nothing is done.")] = False,
    as_json: options.Json = False,
) -> None:
    """Call the judge for real. Latency and bill of every call, and how it takes answers that deserve nothing."""
    if not live:
        raise BadInput(
            "a probe that calls nobody proves nothing",
            where="--live",
            remedy="add --live; the calls are billed to you, a few hundred tokens each",
        )
    from ..config.loader import load_config
    from ..scoring.probe import probe
    from ..scoring.session import settings_for

    section = load_config().scoring
    settings = settings_for(os.environ, section, provider)
    if not settings.live and os.environ.get("REWARD_LIVE_MODE", "").strip():
        raise BadInput(
            "is off, and --live wants the judge called",
            where="REWARD_LIVE_MODE",
            remedy="set REWARD_LIVE_MODE=1, or leave the probe out",
        )
    with bar("probing") as progress:
        report = probe(n, secrets.randbelow(2**31), settings, section, os.environ, show.complain, progress)
    if not as_json:
        _show_probe(report)
    show.finish(report, as_json, failed_code=BadInput.exit_code)


def assert_not_simulated(
    *,
    cache_hit_lt: Annotated[
        float,
        typer.Option(
            "--cache_hit_lt",
            min=0,
            max=1,
            default_factory=options.rc1("cache_hit_lt_round1"),
            help="Share of votes from the cache, must be below.",
        ),
    ],
    as_json: options.Json = False,
) -> None:
    """Prove that the last 100 scorings are real. Bills, latencies, cache hits, ledger chain, environment."""
    from ..gates.anti_simulation import assert_not_simulated as judge

    show.finish(judge(cache_hit_lt, os.environ), as_json, failed_code=BadInput.exit_code)


def score(
    pool: Annotated[Path, typer.Argument(metavar="POOL", help="The pool to score.")] = options.BALANCED,
    out: Annotated[Path, typer.Option("--out", help="One line for every sample; an earlier run is gone on with.")] = (
        Path("reports/rc1/scores.jsonl")
    ),
    n: Annotated[
        int | None, typer.Option("--n", min=1, help="So many samples, drawn by --seed; left out: all.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Which samples --n draws.")] = options.SEED,
    budget: Annotated[
        float | None, typer.Option("--budget", min=0, help="US dollars that this run may spend; then it stops cleanly.")
    ] = None,
    provider: Provider = "",
    k: Annotated[
        int | None, typer.Option("--k", min=1, max=101, help="Votes on a sample; left out: the config's.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Score a pool with live votes. Resumable; exit code 0 also when the budget ended it, which it says."""
    from ..config.loader import load_config
    from ..config.schema import VotesSection
    from ..scoring.batch import Order, score_pool
    from ..scoring.session import settings_for

    section = load_config().scoring
    votes = section.votes
    if k is not None:
        votes = VotesSection(k=k, k_max=max(k, votes.k_max), variance_max=votes.variance_max)
    order = Order(pool, out, n, seed, votes, budget)
    settings = settings_for(os.environ, section, provider)
    with bar("scoring") as progress:
        summary = score_pool(order, settings, section, os.environ, show.complain, progress)
    if as_json:
        show.print_json(summary)
    else:
        _show_summary(summary)


@contextmanager
def bar(doing: str) -> Iterator[Callable[[Done], None]]:
    """On standard error: samples done, cost so far, cost at the end, time left. In a log, a line now and then."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(doing, show.complain, time.monotonic)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task(doing, total=None)
        yield lambda done: shown.update(
            task, completed=done.done, total=done.total, description=f"{doing}, {_money(done.cost, done.cost_at_end)}"
        )


def _lines(doing: str, say: Callable[[str], None], clock: Callable[[], float]) -> Callable[[Done], None]:
    """One line for every tenth of the samples."""
    started, told = clock(), 0

    def progress(done: Done) -> None:
        nonlocal told
        if (tenths := done.done * 10 // done.total) <= told:
            return
        told = tenths
        left = (clock() - started) / done.done * (done.total - done.done)
        money = _money(done.cost, done.cost_at_end)
        say(f"{doing}: {done.done} of {done.total} samples, {money}, about {left:.0f} s left")

    return progress


def _money(cost: float | None, at_end: float | None) -> str:
    """
    >>> _money(0.5, 2.0), _money(0.0, 0.0), _money(None, None)
    ('$0.5000 of about $2.0000', 'free', 'cost not known')
    """
    if cost == at_end == 0:
        return "free"
    return "cost not known" if cost is None or at_end is None else f"${cost:.4f} of about ${at_end:.4f}"


def _show_summary(done: Summary) -> None:
    show.say(
        f"scored {done.scored} of {done.samples} samples ({done.reused} from an earlier run), "
        f"{done.failed} failed, {done.unstable} unstable"
    )
    if not done.live:
        show.say("REWARD_LIVE_MODE is off: nobody was called, every line says live: false and has no scores")
    elif not done.complete:
        show.say(f"stopped at the budget, {done.not_started} samples not started; run again to go on")
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
    console = Console(markup=False, highlight=False, emoji=False)  # brackets in a server's words are no markup
    console.print(calls)
    canaries = Table("canary", "scored", "good answer", "judge", box=None, pad_edge=False)
    for one in report.figures["canaries"]:
        scored, good = (("-" if one[name] is None else f"{one[name]:.2f}") for name in ("overall", "good"))
        canaries.add_row(one["name"], scored, good, "fooled" if one["fooled"] else "-")
    console.print(canaries)
    cost = report.figures["cost_usd"]
    show.say(
        f"billed: {report.figures['billable_tokens']} tokens, cost {'not known' if cost is None else f'${cost:.4f}'}"
    )
