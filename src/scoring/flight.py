"""One vote, paid for once: from the cache, or from the judge, or from whoever is asking the judge already."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from .claims import POLL_SECONDS
from .store import Store, Stored
from .types import Ask, CallFailed, Reply

PATIENCE_SECONDS = 600.0
"""Longer than any call with its retries. Past it the process that asks hangs (a stopped one holds its claim)."""


async def fetch(
    store: Store,
    ask: Ask,
    scoring: str,
    call: Callable[[Ask], Awaitable[Reply]],
    patience: float = PATIENCE_SECONDS,
) -> tuple[Stored, bool]:
    """The reply to `ask`, and whether this call paid for it.

    A reply that was paid for may be bad: call again to ask again. A bad reply is never answered from the cache.
    """
    deadline = time.monotonic() + patience
    while True:
        if (known := store.get(ask)) is not None:
            return known, False
        if store.claim(ask.key):
            break
        if time.monotonic() > deadline:
            raise CallFailed("timeout", f"another process has been asking for this vote for over {patience:g} s")
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
