"""The ledger detects every change, and repairs and notes lines torn by a crash."""

from __future__ import annotations

import io
import re
import threading
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from src.core.errors import BadInput
from src.core.jsonl import MAX_LINE_BYTES
from src.scoring import ledger as ledger_module
from src.scoring.judge import paid_entry, record, recover
from src.scoring.ledger import (
    EMPTY,
    START,
    Forged,
    Head,
    Ledger,
    LedgerBroken,
    Line,
    lines,
    newest_scorings,
    seal,
    verify,
)
from src.scoring.store import Store
from src.scoring.types import CallEntry, Entry, RepairEntry, Reply, ScoringEntry
from tests.scoring.crash_run import ask_for, reply_with

AT = "2025-01-01T00:00:00.000+00:00"


def call(scoring: str, request_id: str = "req-1", *, ok: bool = True) -> CallEntry:
    scores = {"logic": 0.7} if ok else {}
    status = "ok" if ok else "failed: timeout"
    return CallEntry(
        scoring, "k" * 64, request_id, "local", "tiny", "judge-1", 110, 12.5, False, status, scores, True, AT
    )


def scoring(name: str, votes: int = 1, *, live: bool = True) -> ScoringEntry:
    return ScoringEntry(name, "s", "local", "tiny", votes, 0.7, {"logic": 0.7}, 0.0, True, 0, 110, live, "", AT)


def chain_of(entries: list[Entry]) -> bytes:
    head, made = EMPTY, []
    for entry in entries:
        line, head = seal(entry, head)
        made.append(line)
    return b"".join(made)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "reports" / "ledger.jsonl"


def test_every_line_has_number_previous_hash_and_own_hash(path: Path) -> None:
    head = Ledger(path).append([call("a"), scoring("a")])
    raw = path.read_bytes().splitlines()
    first, second = (msgspec.json.decode(line, type=Line) for line in raw)
    assert (first.seq, first.prev, second.seq, second.prev) == (1, START, 2, first.hash)
    assert sha256(re.sub(rb',"hash":"\w+"', b"", raw[1])).hexdigest() == second.hash
    assert verify(path) == head == Head(2, second.hash)
    assert [line.entry for line in lines(path)] == [call("a"), scoring("a")]


def test_appends_of_two_writers_make_one_chain(path: Path) -> None:
    one, other = Ledger(path), Ledger(path)

    def write(ledger: Ledger, name: str) -> None:
        for n in range(20):
            ledger.append([call(f"{name}{n}"), scoring(f"{name}{n}")])

    threads = [threading.Thread(target=write, args=(ledger, name)) for ledger, name in ((one, "a"), (other, "b"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verify(path).lines == 80
    names = [line.entry.scoring for line in lines(path) if not isinstance(line.entry, RepairEntry)]
    assert names[::2] == names[1::2], "an append is never split"


LINES = st.lists(
    st.sampled_from([call("a"), call("b", ok=False), scoring("a"), RepairEntry("n", AT)]), min_size=1, max_size=6
)


@given(LINES, st.data())
@settings(max_examples=150, deadline=None)
def test_any_single_byte_changed_is_detected(
    tmp_path_factory: pytest.TempPathFactory, entries: list[Entry], data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "changed.jsonl"
    good = chain_of(entries)
    place = data.draw(st.integers(0, len(good) - 1))
    value = data.draw(st.integers(0, 255).filter(lambda byte: byte != good[place]))
    path.write_bytes(good[:place] + bytes([value]) + good[place + 1 :])
    with pytest.raises(LedgerBroken) as broken:
        verify(path)
    assert broken.value.where == f"{path}:{good[:place].count(10) + 1}"


@given(LINES, st.data())
@settings(max_examples=60, deadline=None)
def test_a_line_taken_out_doubled_or_moved_is_detected(
    tmp_path_factory: pytest.TempPathFactory, entries: list[Entry], data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "moved.jsonl"
    good = chain_of([*entries, call("z")]).splitlines(keepends=True)
    place = data.draw(st.integers(0, len(good) - 2))
    changed = data.draw(
        st.sampled_from(
            [
                good[:place] + good[place + 1 :],
                [*good[: place + 1], *good[place:]],
                [*good[:place], good[place + 1], good[place], *good[place + 2 :]],
                [*good[:place], b"\n", *good[place:]],
            ]
        )
    )
    path.write_bytes(b"".join(changed))
    with pytest.raises(LedgerBroken):
        verify(path)


def test_every_byte_of_a_ledger_matters(path: Path) -> None:
    path.parent.mkdir()
    good = chain_of([RepairEntry("n", AT), scoring("a")])
    for place in range(len(good)):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(LedgerBroken):
            verify(path)


def test_lines_cut_off_at_the_end_show_in_the_head(path: Path) -> None:
    head = Ledger(path).append([call("a"), scoring("a")])
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    assert verify(path) != head


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_a_torn_end_at_any_byte_is_cut_and_noted(path: Path, kept: int) -> None:
    path.parent.mkdir()
    whole = chain_of([call("a"), scoring("a")][:kept])
    complete = chain_of([call("a"), scoring("a"), call("b")])
    torn = complete[len(whole) :].splitlines(keepends=True)[0]
    for length in [1, 2, 10, 200, len(torn) - 2, len(torn) - 1]:
        path.write_bytes(whole + torn[:length])
        with pytest.raises(LedgerBroken, match="torn"):
            verify(path)
        Ledger(path).append([call("c")])
        assert path.read_bytes().startswith(whole)
        *before, repair, last = [line.entry for line in lines(path)]
        assert (len(before), last) == (kept, call("c"))
        assert isinstance(repair, RepairEntry)
        assert f"line {kept + 1} was torn and cut off: {length} bytes" in repair.note


@pytest.mark.parametrize("rubbish", [b"\0" * 4096, b"\n", b"{\n", b"\xff\xfe\n", b"\0" * 70_000 + b"\n"])
def test_a_last_line_that_is_no_json_counts_as_torn(path: Path, rubbish: bytes) -> None:
    Ledger(path).append([call("a")])
    path.write_bytes(path.read_bytes() + rubbish)
    Ledger(path)
    assert [type(line.entry) for line in lines(path)] == [CallEntry, RepairEntry]


def test_a_writer_repairs_what_another_tore_meanwhile(path: Path) -> None:
    ledger = Ledger(path)
    ledger.append([call("a")])
    path.write_bytes(path.read_bytes() + b'{"seq":2,"pr')
    ledger.append([call("b")])
    assert [type(line.entry) for line in lines(path)] == [CallEntry, RepairEntry, CallEntry]


@pytest.mark.parametrize("line", [1, 2, 3])
@pytest.mark.parametrize("change", [(b"0.7", b"0.9"), (b'"kind"', b'"kimd"'), (b'{"seq"', b'x"seq"')])
def test_a_wrong_line_is_never_repaired(path: Path, line: int, change: tuple[bytes, bytes]) -> None:
    Ledger(path).append([call("a"), scoring("a"), call("b")])
    raw = path.read_bytes().splitlines(keepends=True)
    raw[line - 1] = raw[line - 1].replace(*change, 1)
    path.write_bytes(b"".join(raw))
    before = path.read_bytes()
    if line == 3 and change[1] == b'x"seq"':
        Ledger(path)  # no JSON at the very end: that is what a crash leaves
        return
    with pytest.raises(LedgerBroken, match=rf"ledger\.jsonl:{line}: .*What to do: put back the ledger"):
        Ledger(path)
    assert path.read_bytes() == before


def test_two_broken_last_lines_are_forgery(path: Path) -> None:
    Ledger(path).append([call("a"), call("b"), call("c")])
    before = path.read_bytes().replace(b"0.7", b"0.9")[:-20]
    path.write_bytes(before)
    with pytest.raises(LedgerBroken, match=r"ledger\.jsonl:2: "):
        Ledger(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_an_unreadable_entry_is_not_written(path: Path, value: float) -> None:
    ledger = Ledger(path)
    with pytest.raises(Forged):
        ledger.append([call("a"), msgspec.structs.replace(call("b"), latency_ms=value)])
    assert verify(path) == EMPTY


def test_an_endless_line_is_refused_without_reading_it_all(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.parent.mkdir()
    with open(path, "wb") as handle:
        handle.truncate(3 * 2**30)
    read = []

    class Counted(io.BufferedReader):
        def readline(self, size: int | None = -1, /) -> bytes:
            read.append(super().readline(size))
            return read[-1]

    monkeypatch.setattr(ledger_module, "open", lambda file, *_, **__: Counted(io.FileIO(file)), raising=False)
    with pytest.raises(LedgerBroken, match="too long"):
        verify(path)
    assert [len(line) for line in read] == [MAX_LINE_BYTES]


def test_missing_ledger_and_unwritable_folder_have_remedies(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.jsonl: no such file\. What to do: run `askgate score POOL`"):
        verify(tmp_path / "none.jsonl")
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="choose another path"):
        Ledger(tmp_path / "file" / "ledger.jsonl")
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadInput, match="name a file"):
        Ledger(tmp_path / "folder")


def test_verifying_a_copy_creates_no_lock_file(path: Path, tmp_path: Path) -> None:
    head = Ledger(path).append([call("a")])
    copy = tmp_path / "package" / "ledger.jsonl"
    copy.parent.mkdir()
    copy.write_bytes(path.read_bytes())
    assert verify(copy) == head
    assert [file.name for file in copy.parent.iterdir()] == ["ledger.jsonl"]


def test_checking_and_reading_scorings_hash_each_line_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`bench/scoring.py` measures the time; this test counts the work."""
    path.parent.mkdir()
    path.write_bytes(chain_of([entry for n in range(1500) for entry in (*[call(f"{n}")] * 3, scoring(f"{n}", 3))]))
    hashed: list[int] = []
    monkeypatch.setattr(ledger_module, "sha256", lambda data: hashed.append(len(data)) or sha256(data))
    assert verify(path).lines == 6000
    assert len(hashed) == 6000
    assert sum(hashed) <= path.stat().st_size
    assert [one.entry.scoring for one in newest_scorings(path, 100)] == [f"{n}" for n in range(1400, 1500)]
    assert len(hashed) == 12000


def test_newest_scorings_are_live_and_have_all_their_calls(path: Path) -> None:
    ledger = Ledger(path)
    ledger.append([call("old", "o1"), scoring("old")])
    # Two scorings at once, a failed call, a scoring that was not live, a note.
    ledger.append([call("a", "a1", ok=False), call("b", "b1"), call("a", "a2"), RepairEntry("n", AT)])
    ledger.append([call("b", "b2"), scoring("b", 2), call("off", "x"), scoring("off", live=False)])
    ledger.append([call("a", "a3"), scoring("a", 2)])
    found = newest_scorings(path, 2)
    assert [(one.entry.scoring, [each.request_id for each in one.calls]) for one in found] == [
        ("b", ["b1", "b2"]),
        ("a", ["a1", "a2", "a3"]),
    ]
    assert [one.entry.scoring for one in newest_scorings(path, 99)] == ["old", "b", "a"]


def test_newest_scorings_of_a_broken_ledger_are_refused(path: Path) -> None:
    Ledger(path).append([entry for n in range(12) for entry in (call(f"{n}"), scoring(f"{n}"))])
    path.write_bytes(path.read_bytes().replace(b"0.7", b"0.9", 1))
    with pytest.raises(LedgerBroken, match=r"ledger\.jsonl:1: "):
        newest_scorings(path, 5)


def test_the_last_line_is_found_across_block_boundaries(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(path)
    for appended, block in enumerate((1, 7, 64, 419, 420, 421, 1000), start=1):
        monkeypatch.setattr(ledger_module, "BLOCK", block)
        assert ledger.append([call("a"), scoring("a")]).lines == 2 * appended
    assert verify(path).lines == 14


def books(folder: Path) -> tuple[Store, Ledger]:
    return Store(folder / "scores.sqlite3", 14), Ledger(folder / "ledger.jsonl")


def test_unledgered_replies_of_a_dead_process_are_recovered_once(tmp_path: Path) -> None:
    store, ledger = books(tmp_path)
    written = store.put(ask_for(1), reply_with('{"logic": 7, "clarity": 8}', "req-1"), "scoring-1")
    store.put(ask_for(2), reply_with('{"logic": 7, "clarity": 8}', "req-2"), "scoring-1")
    store.put(ask_for(2), reply_with("no", "req-3"), "scoring-1")
    ledger.append([paid_entry(written)])  # and no mark: the crash came between
    store.close()
    for expected in (2, 0):
        store, ledger = books(tmp_path)
        assert recover(store, ledger) == expected
        store.close()
    found = [line.entry for line in lines(ledger.path)]
    assert all(isinstance(entry, CallEntry) for entry in found)
    assert [(entry.request_id, entry.status.split(":")[0], bool(entry.scores)) for entry in found] == [
        ("req-1", "ok", True),
        ("req-2", "ok (recovered)", True),
        ("req-3", "bad_reply", False),
    ]
    assert found[2].status.endswith("(recovered)")


def test_replies_without_request_ids_are_distinguished(tmp_path: Path) -> None:
    store, ledger = books(tmp_path)
    first = store.put(ask_for(1), reply_with("no", "", latency_ms=11.25), "scoring-1")
    store.put(ask_for(1), reply_with("no", "", latency_ms=11.5), "scoring-1")
    record(store, ledger, [paid_entry(first)], [first])
    store.close()
    store, ledger = books(tmp_path)
    assert recover(store, ledger) == 1
    assert [line.entry.latency_ms for line in lines(ledger.path)] == [11.25, 11.5]
    store.close()


def test_the_strangest_reply_has_a_line(tmp_path: Path) -> None:
    store, ledger = books(tmp_path)
    store.put(
        ask_for(1), Reply("\ud800", "\udfff", "\ud800", tokens_in=10**30, tokens_out=0, latency_ms=1.0), "scoring-1"
    )
    store.close()
    store, ledger = books(tmp_path)
    assert recover(store, ledger) == 1
    store.close()
    assert verify(ledger.path).lines == 1


def test_two_processes_do_not_recover_the_same_lines(tmp_path: Path) -> None:
    store, ledger = books(tmp_path)
    store.put(ask_for(1), reply_with("no"), "scoring-1")
    store.close()
    store, ledger = books(tmp_path)
    other = Store(store.path, 14)
    second = threading.Thread(target=recover, args=(other, ledger))
    with store.recovering():
        second.start()
        second.join(0.2)
        assert second.is_alive(), "it did not wait for the one that recovers already"
        assert verify(ledger.path).lines == 0
    second.join()
    assert verify(ledger.path).lines == 1
    other.close()
    store.close()
