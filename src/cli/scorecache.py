"""`askgate scorecache`, also called `scorecache-cli`: what lies in the cache of votes, and taking it out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from ..core.errors import BadInput
from . import options, show

if TYPE_CHECKING:
    from ..scoring.store import Store

app = typer.Typer(
    help="Look after the cache of votes. Counts, invalidation, replies that are no votes.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def stat(as_json: options.Json = False) -> None:
    """Count what is stored. By provider, model and prompt version; expired, bad, and not yet in the ledger."""
    from ..scoring.upkeep import stat as count

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


@app.command()
def invalidate(
    spec: Annotated[
        str,
        typer.Option("--spec", help="Like provider=deepseek_r1,prompt_version=judge-1,older_than=7d; all must hold."),
    ],
    as_json: options.Json = False,
) -> None:
    """Remove votes from the cache. They are asked and paid for again when they are needed."""
    from ..scoring.upkeep import invalidate as remove

    with _store() as store:
        removed = remove(store, spec)
    if as_json:
        show.print_json({"removed": removed})
    else:
        show.say(f"removed {removed} replies")


@app.command("replay-bad")
def replay_bad(as_json: options.Json = False) -> None:
    """Parse stored bad replies again. Those that are still bad are asked for anew, which is billed."""
    from ..config.loader import load_config
    from ..scoring.providers import settings_from_env
    from ..scoring.replay import replay_bad as replay
    from ..scoring.session import open_session

    section = load_config().scoring
    settings = settings_from_env(os.environ, section)
    if not settings.live:
        raise BadInput(
            "asking for bad replies anew calls the judge", where="REWARD_LIVE_MODE", remedy="set REWARD_LIVE_MODE=1"
        )
    with open_session(settings, section, os.environ, show.complain) as session:
        done = replay(session)
    if as_json:
        show.print_json(done)
        return
    show.say(
        f"{done.bad} asks had bad replies, {done.mended} have a vote since, {done.other_judge} are another judge's"
    )
    show.say(f"{done.asked} asked anew: {done.votes} votes")
    for reason, count in done.failures.items():
        show.say(f"  {count} failed: {reason}")


@contextmanager
def _store() -> Iterator[Store]:
    from ..config.loader import load_config
    from ..scoring.session import DAY_S
    from ..scoring.store import Store

    section = load_config().scoring
    if not section.cache.exists():
        raise BadInput("no such file", where=str(section.cache), remedy="score something live first")
    with Store(section.cache, ttl=section.ttl_days * DAY_S) as store:
        yield store
