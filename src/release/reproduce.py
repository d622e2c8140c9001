"""A package of somebody else's, checked on this machine in seconds, or run again.

Nothing in it is trusted before its sums were checked, and nothing in it can be written outside the folder that it is
unpacked in.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from gzip import BadGzipFile
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from ..core.errors import BadInput
from ..core.files import sha256_file
from ..core.sealed import Damaged
from ..core.sealed import verify as verify_seal
from ..core.shipped import HOME, PACKAGE
from ..evaluation.record import model_sha256
from ..gates.verify import verify
from .package import CHECKPOINTS, FACTS, GATES, PUBLIC, SUMS, Facts, signature_of, statements
from .signing import verify_model

_AGAIN = "get the package again from its maker"
Tell = Callable[[str], None]


def reproduce(package: Path, tell: Tell, public_key: Path | None = None, rerun: bool = False) -> None:
    """Raises BadInput with the name of the first file that does not fit."""
    with unpacked(package) as folder:
        facts = check(folder, tell, public_key)
        if rerun:
            run_again(folder, facts, tell)


def check(folder: Path, tell: Tell, public_key: Path | None) -> Facts:
    tell(f"files: {check_sums(folder)} as they were packed")
    facts = _facts(folder)
    own = public_key.resolve() if public_key else None
    with chdir(folder):
        rounds = verify(False, tell)
        for name, stated in facts.models.items():
            _check_model(Path(name), stated)
        tell(f"models: {len(facts.models)} as they were trained")
        if GATES.read_bytes() != statements(rounds, facts):
            raise BadInput("does not say what the rounds say", where=GATES.as_posix(), remedy=_AGAIN)
        _check_signatures(facts, own, tell)
    return facts


def check_sums(folder: Path) -> int:
    """Every file is listed with its sum, and every file that is listed is there."""
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8").splitlines(keepends=True)
    except (OSError, UnicodeDecodeError):
        raise BadInput("is missing or was changed", where=SUMS, remedy=_AGAIN) from None
    stated = dict(_sum_line(line) for line in lines)
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {SUMS}
    if len(stated) != len(lines):
        raise BadInput("lists a file twice", where=SUMS, remedy=_AGAIN)
    for name in sorted(there | set(stated)):
        if name not in stated:
            raise BadInput("is not in the list of the package", where=name, remedy=_AGAIN)
        if name not in there:
            raise BadInput("is missing", where=name, remedy=_AGAIN)
        if sha256_file(folder / name) != stated[name]:
            raise BadInput("was changed: its SHA-256 is not the one in the list", where=name, remedy=_AGAIN)
    return len(there)


def run_again(folder: Path, facts: Facts, tell: Tell) -> None:
    """Trains once more behind the same ticket, and compares the weights."""
    import torch

    here = (str(torch.__version__), torch.get_num_threads())
    if here != (facts.torch, facts.threads):
        tell(f"made with torch {facts.torch} on {facts.threads} threads, this is {here[0]} on {here[1]}: may differ")
    (folder / CHECKPOINTS).rename(folder / "checkpoints_of_the_package")
    (folder / "logs").rename(folder / "logs_of_the_package")
    tell(f"training again: ppo_runner --config {facts.config}")
    command = [sys.executable, "-m", f"{PACKAGE.name if PACKAGE.name == 'src' else 'askgate'}.cli"]
    paths = [str(HOME)] if PACKAGE.name == "src" else []
    known = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, *([known] if known else [])])}
    command += ["ppo_runner", "--config", facts.config]
    done = subprocess.run(command, cwd=folder, env=environment, check=False)
    if done.returncode:
        raise BadInput(f"training ended with exit code {done.returncode}", where=facts.config, remedy="see above")
    for name, stated in facts.models.items():
        now = weights_sha256(folder / name)
        then = weights_sha256(folder / "checkpoints_of_the_package" / Path(name).relative_to(CHECKPOINTS))
        if now != then:
            raise BadInput(
                f"the weights came out otherwise (SHA-256 {now[:12]}, the package has {then[:12]})",
                where=name,
                remedy="the same bits take the same torch, instruction set and thread count, on a CPU",
            )
        tell(f"{name}: the same weights, SHA-256 {now}; the folder was {stated[:12]}")


def weights_sha256(folder: Path) -> str:
    files = sorted(folder.glob("*.safetensors"))
    return sha256("".join(f"{sha256_file(file)}  {file.name}\n" for file in files).encode()).hexdigest()


@contextmanager
def unpacked(package: Path) -> Iterator[Path]:
    """The package in a folder of its own, which is gone afterwards."""
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        try:
            with tarfile.open(package, "r:gz") as archive:
                for member in archive:
                    if not member.isfile():
                        raise BadInput("is no plain file", where=f"{package}: {member.name}", remedy=_AGAIN)
                    archive.extract(member, folder, filter="data")
        except (tarfile.TarError, BadGzipFile, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise BadInput(f"is damaged or no package ({error})", where=str(package), remedy=_AGAIN) from None
        except OSError as error:
            raise BadInput(
                f"cannot be read or unpacked ({error.strerror or error})", where=str(package), remedy="check the path"
            ) from None
        yield folder


def _sum_line(line: str) -> tuple[str, str]:
    digest, gap, name = line[:64], line[64:66], line[66:-1]
    if len(digest) != 64 or gap != "  " or not name or not line.endswith("\n"):
        raise BadInput("has a line that is none", where=SUMS, remedy=_AGAIN)
    return name, digest


def _facts(folder: Path) -> Facts:
    try:
        return msgspec.json.decode((folder / FACTS).read_bytes(), type=Facts)
    except (OSError, msgspec.DecodeError) as error:
        raise BadInput(f"is no description of a package ({error})", where=FACTS.as_posix(), remedy=_AGAIN) from None


def _check_model(folder: Path, stated: str) -> None:
    try:
        verify_seal(folder)
    except Damaged as error:
        raise BadInput(str(error), where=folder.as_posix(), remedy=_AGAIN) from None
    if model_sha256(folder) != stated:
        raise BadInput("is not the model of the package", where=folder.as_posix(), remedy=_AGAIN)


def _check_signatures(facts: Facts, public_key: Path | None, tell: Tell) -> None:
    if not PUBLIC.exists():
        if public_key:
            raise BadInput("the models are not signed", where="--public_key", remedy="ask the maker for a signed one")
        tell("models: not signed")
        return
    for name in facts.models:
        verify_model(Path(name), signature_of(name), public_key or PUBLIC)
    whose = "your key" if public_key else f"the key in the package, SHA-256 {sha256_file(PUBLIC)}"
    tell(f"models: signature holds for {whose}")
