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
from importlib.util import find_spec
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from ..core.errors import BadInput

LOG = Path("logs/judge_server.log")
START_S = 120.0
STOP_S = 10.0
_TAIL = 300


@contextmanager
def serving(weights: Path, log: Path = LOG) -> Iterator[str]:
    """The base URL of a server that has the weights loaded and answers."""
    if find_spec("xllamacpp") is None:
        raise BadInput(
            "the local judge needs the package xllamacpp",
            remedy="pip install xllamacpp, or choose another SCORER_PROVIDER",
        )
    with _log(log) as said, _child(weights, said) as child:
        deadline = time.monotonic() + START_S
        address = _address(child, deadline, log)
        while not _healthy(address):
            if child.poll() is not None or time.monotonic() > deadline:
                raise _did_not_start(log)
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
def _child(weights: Path, said: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    # -P keeps the script's folder, with its own module `types`, out of the way of the standard library.
    command = [sys.executable, "-P", str(Path(__file__).with_name("serve.py")), str(weights.resolve())]
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


def _address(child: subprocess.Popen[bytes], deadline: float, log: Path) -> str:
    assert child.stdout is not None
    ready, _, _ = select.select([child.stdout], [], [], max(0.0, deadline - time.monotonic()))
    line = child.stdout.readline().decode().strip() if ready else ""
    if not line.startswith("http://127.0.0.1:"):
        raise _did_not_start(log)
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


def _did_not_start(log: Path) -> BadInput:
    end = " ".join(log.read_text(encoding="utf-8", errors="replace").split())[-_TAIL:]
    return BadInput(
        f"the local judge did not start: {end or 'it said nothing'}",
        where=str(log),
        remedy="check SCORER_GGUF and the free memory, or choose another SCORER_PROVIDER",
    )
