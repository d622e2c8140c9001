"""Results of five slow pure functions of the package, computed once for the tests of a session.

A round measures shortcuts and difficulty of a pool, builds its samples again and rates episodes; a package replays the
held-out ones. Tests of rounds, packages and attacks do this dozens of times with the same files. The key is the whole
input, so what has changed is measured anew. The tests of these functions themselves are in other folders and do not use
this.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from src.data.difficulty import metrics
from src.data.pool import build
from src.data.quality import shortcuts
from src.eval.replay import Replay
from src.reward import scored_episodes

_KNOWN: dict[bytes, Any] = {}
"""Results of this process; those that take seconds are in a folder that the processes share."""


def _remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*given: Any) -> Any:
        content = msgspec.json.encode((function.__qualname__, given), enc_hook=_contents)
        key = sha256(content).digest()
        if key not in _KNOWN:
            _KNOWN[key] = function(*given)
        return _KNOWN[key]

    return call


def _contents(value: Any) -> Any:
    if isinstance(value, Replay):
        return vars(value)
    text = repr(value)
    assert " at 0x" not in text, "its contents are not in its name"
    return text


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """The folder of this session that all its test processes have in common."""
    base = factory.getbasetemp()
    return base.parent if base.name.startswith("popen-") else base


def share_results(patch: pytest.MonkeyPatch, factory: pytest.TempPathFactory) -> None:
    folder = shared_folder(factory) / "shared_results"
    folder.mkdir(exist_ok=True)
    strongest, encode = shortcuts._strongest, build._encode

    def shared(given: tuple[Any, ...], kind: Any, compute: Callable[[], Any]) -> Any:
        file = folder / sha256(msgspec.json.encode(given, enc_hook=str)).hexdigest()
        if not file.exists():
            making = file.with_suffix(f".{os.getpid()}")
            making.write_bytes(msgspec.msgpack.encode(compute()))
            making.rename(file)
        return msgspec.msgpack.decode(file.read_bytes(), type=kind)

    def shared_strongest(texts: Any, needs: Any, seed: int, features: Any) -> shortcuts.ShortcutAuc:
        given = ("shortcuts", texts, needs.tolist(), seed, list(features))
        found: shortcuts.ShortcutAuc = shared(
            given, shortcuts.ShortcutAuc, lambda: strongest(texts, needs, seed, features)
        )
        return found

    def shared_encode(plan: Any, source: Any, pack: Any, jobs: Any) -> list[bytes]:
        if source.name != "builtin":
            return encode(plan, source, pack, jobs)
        given = ("samples", plan, source.fingerprints, pack, jobs)
        found: list[bytes] = shared(given, list[bytes], lambda: encode(plan, source, pack, jobs))
        return found

    for place, name in ((Replay, "agrees"), (scored_episodes, "_rated"), (metrics, "_record")):
        patch.setattr(place, name, _remembered(getattr(place, name)))
    patch.setattr(shortcuts, "_strongest", shared_strongest)
    patch.setattr(build, "_encode", shared_encode)


@pytest.fixture(autouse=True)
def _share_results(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    share_results(monkeypatch, tmp_path_factory)
