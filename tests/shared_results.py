"""Results of two slow pure functions of the package, computed once for all test processes of a session.

A round measures the shortcuts of a pool and builds its samples again. Tests of rounds, packages and attacks measure the
same pool dozens of times. The key is the whole input, so a changed pool is measured anew. The tests of these functions
themselves (tests/data) do not use this.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from src.data.pool import build
from src.data.quality import shortcuts


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

    patch.setattr(shortcuts, "_strongest", shared_strongest)
    patch.setattr(build, "_encode", shared_encode)


@pytest.fixture(autouse=True)
def _share_results(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    share_results(monkeypatch, tmp_path_factory)
