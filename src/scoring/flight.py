"""One vote, paid for once: from the cache, or from the judge, or from whoever is asking the judge already."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from math import inf

from ..runtime.lock import POLL_SECONDS
from .store import Store, Stored
from .types import Ask, CallFailed, Reply

_HANGS = (
    "another process has been asking for this vote, and for {:g} s no reply came. What to do: see whether an askgate"
    " is stopped (`ps` shows it with T), end it or let it go on, then run the same command again"
)


async def fetch(
    store: Store,
    ask: Ask,
    scoring: str,
    call: Callable[[Ask], Awaitable[Reply]],
    patience: float = inf,
) -> tuple[Stored, bool]:
    """The reply to `ask`, and whether this call paid for it.

    A reply that was paid for may be bad: call again to ask again. A bad reply is never answered from the cache.

    `patience` is the seconds that a call takes at most, with its retries. Where somebody else holds the claim, and for
    so long no reply has come to anybody, that process hangs: a stopped one keeps what it claimed.
    """
    newest, deadline = None, time.monotonic() + patience
    while True:
        if (known := store.get(ask)) is not None:
            return known, False
        if store.claim(ask.key):
            break
        if time.monotonic() > deadline:
            # The call may wait for its turn in the other process. As long as replies come, that turn will come too.
            last, newest = newest, store.newest()
            if newest == last:
                raise CallFailed("timeout", _HANGS.format(patience))
            deadline = time.monotonic() + patience
        await asyncio.sleep(POLL_SECONDS)
    try:
        # It may have come between the look and the claim.
        if (known := store.get(ask)) is not None:
            store.release(ask.key)
            return known, False
        reply = await call(ask)
    except BaseException:
        store.release(ask.key)
        raise
    # The sync takes milliseconds: in a thread, so that other calls go on. Shielded, and no task of its own, so that a
    # reply that has arrived is kept also when everything is being cancelled.
    kept = asyncio.get_running_loop().run_in_executor(None, _keep, store, ask, reply, scoring)
    return await asyncio.shield(kept), True


def _keep(store: Store, ask: Ask, reply: Reply, scoring: str) -> Stored:
    try:
        return store.put(ask, reply, scoring)
    finally:
        store.release(ask.key)
