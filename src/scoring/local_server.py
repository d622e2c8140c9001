"""The local judge: started when scoring starts, stopped when it ends, gone when AskGate is gone."""

from __future__ import annotations

import http.client
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from ..core.errors import BadInput

LOG = Path("logs/judge_server.log")
START_S = 120.0
STOP_S = 10.0
_TAIL = 300


@dataclass(frozen=True)
class Use:
    """What a server is started for, in the words of a refusal."""

    what: str = "the local judge"
    or_else: str = "choose another SCORER_PROVIDER"
    check: str = "check SCORER_GGUF and the free memory"
    exact: int | None = None
    """Tokens of context of a server that computes as exactly as it can."""


@contextmanager
def serving(weights: Path, log: Path = LOG, use: Use | None = None) -> Iterator[str]:
    """The base URL of a server that has the weights loaded and answers."""
    use = use or Use()
    if find_spec("xllamacpp") is None:
        raise BadInput(f"{use.what} needs the package xllamacpp", remedy=f"pip install xllamacpp, or {use.or_else}")
    with _log(log) as said, _child(weights, said, use.exact) as child:
        deadline = time.monotonic() + START_S
        address = _address(child, deadline, log, use)
        while not _healthy(address):
            if child.poll() is not None or time.monotonic() > deadline:
                raise _did_not_start(log, use)
            time.sleep(0.05)
        yield f"{address}/v1"


@contextmanager
def _log(path: Path) -> Iterator[IO[bytes]]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = open(path, "wb")
    except OSError as error:
        raise BadInput(f"cannot write here ({error.strerror})", where=str(path), remedy="check the path") from None
    with handle:
        yield handle


@contextmanager
def _child(weights: Path, said: IO[bytes], exact: int | None) -> Iterator[subprocess.Popen[bytes]]:
    # -P keeps the script's folder, with its own module `types`, out of the way of the standard library.
    command = [sys.executable, "-P", str(Path(__file__).with_name("serve.py")), str(weights.resolve())]
    command += [str(exact)] if exact else []
    environment = {name: value for name, value in os.environ.items() if name != "SCORER_API_KEY"}
    # Threads that wait for each other spin for a moment, then sleep. Left to itself, OpenMP spins on: no faster where
    # the cores are free, and several times slower where others use them too.
    environment |= {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "1000"}
    child = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=said,
        env=environment,
        # Ctrl-C is for AskGate, which gives up the calls in flight, writes down what it has and closes the server.
        start_new_session=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        yield child
    finally:
        child.stdin.close()
        try:
            child.wait(STOP_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        child.stdout.close()


def _address(child: subprocess.Popen[bytes], deadline: float, log: Path, use: Use) -> str:
    assert child.stdout is not None
    ready, _, _ = select.select([child.stdout], [], [], max(0.0, deadline - time.monotonic()))
    line = child.stdout.readline().decode().strip() if ready else ""
    if not line.startswith("http://127.0.0.1:"):
        raise _did_not_start(log, use)
    return line


def _healthy(address: str) -> bool:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


def _did_not_start(log: Path, use: Use) -> BadInput:
    end = " ".join(log.read_text(encoding="utf-8", errors="replace").split())[-_TAIL:]
    return BadInput(
        f"{use.what} did not start: {end or 'it said nothing'}",
        where=str(log),
        remedy=f"{use.check}, or {use.or_else}",
    )
