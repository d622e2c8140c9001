"""Store and ledger together: every reply that was paid for has exactly one line, whenever the process dies.

The order is: reply into the store, lines into the ledger, mark in the store. A crash between two of them leaves replies
without a mark; `recover` writes the lines that are truly missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from .ledger import Ledger, lines
from .store import Store, Stored
from .types import CallEntry, Entry, printable

_Call = tuple[str, str, str, float]


def paid_entry(stored: Stored) -> CallEntry:
    """The ledger line of a call that brought this reply."""
    ask, reply = stored.ask, stored.reply
    return CallEntry(
        scoring=stored.scoring,
        key=ask.key,
        request_id=printable(reply.request_id),
        provider=ask.provider,
        model=printable(reply.model),
        prompt_version=ask.prompt_version,
        billable_tokens=reply.tokens_in + reply.tokens_out,
        latency_ms=reply.latency_ms,
        cache_hit=False,
        status=f"bad_reply: {stored.why_bad}" if stored.why_bad else "ok",
        scores=stored.scores,
        live=True,
        at=datetime.fromtimestamp(stored.at, UTC).isoformat(timespec="milliseconds"),
        server=ask.server,
    )


def write_down(store: Store, ledger: Ledger, entries: Sequence[Entry], paid: Sequence[Stored]) -> None:
    """Appends the entries and marks the paid replies whose lines are among them."""
    ledger.append(entries)
    store.mark_ledgered(one.id for one in paid)


def recover(store: Store, ledger: Ledger) -> int:
    """Adds the lines that a crash left missing, and says how many. To be called once, after opening both."""
    with store.recovering():
        owed = store.owed()
        if not owed:
            return 0
        wanted = {_identity(paid_entry(stored)) for stored in owed}
        # The lines may be there already: the crash can have come after the append and before the mark.
        written = {
            call
            for line in lines(ledger.path)
            if isinstance(line.entry, CallEntry)
            and not line.entry.cache_hit
            and (call := _identity(line.entry)) in wanted
        }
        missing = [entry for stored in owed if _identity(entry := paid_entry(stored)) not in written]
        recovered = [msgspec.structs.replace(entry, status=f"{entry.status} (recovered)") for entry in missing]
        write_down(store, ledger, recovered, owed)
        return len(recovered)


def _identity(entry: CallEntry) -> _Call:
    """A server may give all its replies one request id, or none; the latency tells them apart."""
    return entry.scoring, entry.key, entry.request_id, entry.latency_ms
