"""Commands of live scoring: probe_scorer, assert_not_simulated, score, validate_scores, and the cache of votes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..core.defaults import SEED, ProfileName
from ..core.errors import BadInput
from ..core.paths import LIVE_SCORES, probe_report
from . import options, show

if TYPE_CHECKING:
    from ..core.check import Report
    from ..scoring.judge import Replay
    from ..scoring.score_pool import Summary
    from ..scoring.store import CacheStat, Store

cache = typer.Typer(
    help="Manage the cache of judge replies. The program `scorecache-cli` does the same.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def probe_scorer(
    n: Annotated[int, Option(min=1)] = 8,
    provider: str = "",
    live: Annotated[bool, Option("--live")] = False,
    profile: ProfileName | None = None,
    as_json: options.Json = False,
) -> None:
    """Test the judge with real calls.

    Reports latency, cost, and the scores of worthless answers, which should be low. REWARD_LIVE_MODE need not be set,
    but must not be 0.
    """
    if not live:
        raise BadInput(
            "a probe without calls proves nothing",
            where="--live",
            remedy="add --live; the calls are billed to you, a few hundred tokens each",
        )
    from ..config.profile import load_profile, scoring_of
    from ..core.files import read_json, write_json
    from ..scoring.probe import probe
    from ..scoring.providers import settings_for

    profile = options.chosen_profile(profile, "rc1")
    settings = settings_for(os.environ, scoring_of(load_profile(profile)), provider)
    if not settings.live and os.environ.get("REWARD_LIVE_MODE", "").strip():
        raise BadInput(
            "is off, but --live needs calls of the judge",
            where="REWARD_LIVE_MODE",
            remedy="set REWARD_LIVE_MODE=1, or leave the probe out",
        )
    with show.Terminal().scoring("probing") as progress:
        report = probe(n, secrets.randbelow(2**31), settings, show.note, progress)
    path = probe_report(profile)
    with suppress(BadInput):  # no earlier report, or one that cannot be read
        if not report.passed and read_json(path, "").get("passed"):
            path = path.with_suffix(".failed.json")
            english = f"the report of the probe that passed is kept; this one is in {path}"
            show.note(english, f"已通过的探针报告保持不变；本次报告写入 {path}")
    write_json(path, report)
    show.finish(report, as_json, path, details=_print_probe, failed_code=BadInput.exit_code)


def assert_not_simulated(
    *,
    cache_hit_lt: Annotated[float, options.threshold("cache_hit_lt_round1", min=0, max=1, flag="--cache-hit-lt")],
    profile: ProfileName | None = None,
    as_json: options.Json = False,
) -> None:
    """Check that the last 100 judge scores came from real calls.

    Needs RUN_MODE=prod and REWARD_LIVE_MODE=1. Reads the ledger (log of judge calls). No config in configs/ may have
    `simulate: true`. If $SCORER_PROVIDER is set, all scores must be by that provider.
    """
    from ..gates.anti_simulation import assert_not_simulated as check

    profile = options.chosen_profile(profile, "rc1")
    show.finish(check(cache_hit_lt, os.environ, profile), as_json, failed_code=BadInput.exit_code)


def score(
    pool: options.Pool = options.BALANCED,
    out: Path = LIVE_SCORES,
    n: Annotated[int | None, Option(min=1)] = None,
    seed: options.Seed = SEED,
    samples: Path | None = None,
    budget: Annotated[float | None, Option(min=0)] = None,
    provider: str = "",
    batch: Annotated[bool, Option("--batch")] = False,
    cluster: Annotated[str, Option(metavar="ADDRESS")] = "",
    profile: ProfileName | None = None,
    as_json: options.Json = False,
) -> None:
    """Score the demonstrations of a pool with the judge.

    The judge scores each demonstration several times; each of these scores is a vote. Without REWARD_LIVE_MODE=1 no
    judge is called: the file then has no scores, and no gate accepts it.

    If interrupted, run the same command to resume. Reaching --budget is not a failure: exit code 0.
    """
    from askgate_env.types import Sample

    from ..config.profile import load_profile, scoring_of
    from ..core.files import refuse_overlap
    from ..core.jsonl import read_unique
    from ..data.pool.meta import read_meta, write_part
    from ..scoring.providers import settings_for
    from ..scoring.score_pool import ScoringJob, score_dialogues

    section = scoring_of(load_profile(options.chosen_profile(profile, "rc1")))
    job = ScoringJob(pool, out, n, seed, budget, batch_api=batch, cluster=cluster)
    settings = settings_for(os.environ, section, provider)
    if samples is not None:
        refuse_overlap({"--samples": samples}, {"POOL": pool, "--out": out})
        read_meta(pool)  # refused before a judge is paid
    found = list(read_unique(pool, Sample))
    with show.Terminal().scoring("scoring") as progress:
        scores, summary = score_dialogues(found, job, settings, show.note, progress)
    if samples is not None:
        write_part([one for one in found if one.id in scores and scores[one.id].overall is not None], samples, pool)
    show.result(summary, as_json, _print_summary, *summary.files)


def validate_scores(
    scores: Annotated[Path, Argument(metavar="SCORES")] = LIVE_SCORES,
    least: Annotated[int, Option(min=1)] = 1,
    max_unstable: Annotated[float, Option(min=0, max=1)] = 0.5,
    out: Path = Path("reports/stability_report.json"),
    profile: ProfileName | None = None,
    as_json: options.Json = False,
) -> None:
    """Check that judge scores are real and stable.

    Every score must come from real calls; if one does not, the exit code is 2. The share of samples whose votes
    disagree must not exceed --max-unstable.
    """
    from ..gates.checks.scoring import GENUINE
    from ..gates.checks.scoring import validate_scores as check

    profile = options.chosen_profile(profile, "rc1")
    made = check(scores, least=least, max_unstable=max_unstable, out=out, profile=profile)
    failed = {one.name for one in made.checks if not one.passed}
    show.finish(made, as_json, out, failed_code=BadInput.exit_code if failed & GENUINE else 1)


@cache.command()
def stat(as_json: options.Json = False) -> None:
    """Count cached replies. Groups them by provider, model and prompt version, and counts expired and bad ones."""
    from ..scoring.store import stat as count

    with _store() as store:
        found = count(store)
    show.result(found, as_json, _print_statistics)


@cache.command()
def invalidate(spec: Annotated[str, Option()], as_json: options.Json = False) -> None:
    """Remove replies from the cache. If a removed reply is needed later, the judge is called again, which may be
    billed."""
    from ..scoring.store import invalidate as remove

    with _store() as store:
        removed = remove(store, spec)
    show.result({"removed": removed}, as_json, lambda _: show.say(f"removed {removed} replies"))


@cache.command("forget-batches")
def forget_batches(as_json: options.Json = False) -> None:
    """Stop waiting for votes from the provider's Batch API.

    The next scoring run requests them again, and they are billed again.
    """
    from ..scoring.batch_client import forget_batches as forget

    with _store() as store:
        forgotten = forget(store)
    show.result({"forgotten": forgotten}, as_json, lambda _: show.say(f"gave up {forgotten} votes"))


@cache.command("replay-bad")
def replay_bad(profile: ProfileName | None = None, as_json: options.Json = False) -> None:
    """Parse bad replies again (those without usable scores).

    If that fails, calls the judge again, which may be billed. Needs REWARD_LIVE_MODE=1.
    """
    from ..config.profile import load_profile, scoring_of
    from ..scoring.judge import open_session
    from ..scoring.judge import replay_bad as replay
    from ..scoring.providers import settings_for

    settings = settings_for(os.environ, scoring_of(load_profile(options.chosen_profile(profile, "rc1"))))
    if not settings.live:
        raise BadInput(
            "requesting bad replies again calls the judge", where="REWARD_LIVE_MODE", remedy="set REWARD_LIVE_MODE=1"
        )
    with open_session(settings, show.note) as session:
        done = replay(session)
    show.result(done, as_json, _print_replay)


@contextmanager
def _store() -> Iterator[Store]:
    from ..config.loader import load_config
    from ..scoring.store import Store

    section = load_config().scoring
    if not section.cache.exists():
        raise BadInput(
            "no such file", where=str(section.cache), remedy="run `askgate score POOL` with REWARD_LIVE_MODE=1 first"
        )
    with Store(section.cache, section.ttl_days) as store:
        yield store


def _print_statistics(found: CacheStat) -> None:
    for group in found.groups:
        show.say(f"{group.provider} {group.model} {group.prompt_version}: {group.rows} replies")
    show.say(
        f"{found.rows} replies in {found.bytes} bytes: {found.expired} expired, {found.bad} bad, "
        f"{found.owed} without a ledger line"
    )


def _print_replay(done: Replay) -> None:
    show.say(
        f"{done.bad} requests had bad replies: {done.mended} have a usable reply now, "
        f"{done.other_judge} belong to another judge"
    )
    show.say(f"{done.asked} requested again: {done.votes} usable replies")
    for reason, count in done.failures.items():
        show.say(f"  {count} failed: {reason}")


def _print_summary(done: Summary) -> None:
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


def _print_probe(report: Report) -> None:
    from ..scoring.stub_checks import is_answered

    calls, rows = report.figures["calls"], []
    if not any(is_answered(call["status"]) for call in calls):
        show.say(f"no call succeeded, of {len(calls)}", f"{len(calls)} 次调用无一成功")
        return
    for call in calls:
        latency, cached = f"{call['latency_ms']:.0f}", "hit" if call["cache_hit"] else "-"
        request = call["request_id"][-12:] or "-"
        rows.append([request, str(call["billable_tokens"]), latency, cached, call["status"][:60]])
    show.print_table(("request", "tokens", "latency ms", "cache", "status"), rows, text=("cache", "status"))
    canaries = []
    for one in report.figures["canaries"]:
        scored, good = (("-" if one[name] is None else f"{one[name]:.2f}") for name in ("overall", "good"))
        canaries.append([one["name"], scored, good, "fooled" if one["fooled"] else "-"])
    show.print_table(("canary", "scored", "good answer", "judge"), canaries, text=["judge"])
    cost = report.figures["cost_usd"]
    show.say(
        f"billed: {report.figures['billable_tokens']} tokens, cost {'not known' if cost is None else f'${cost:.4f}'}"
    )
