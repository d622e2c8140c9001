"""Verifies somebody else's package on this machine in seconds, or trains it again (`askgate reproduce`).

The package is unpacked into a temporary folder; nothing is written elsewhere, whatever names and links it contains. It
is not trusted before its checksums were verified. It cannot make AskGate read a file outside of it, or build a class
that its config names, unless the caller names that class too.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from gzip import BadGzipFile, GzipFile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import msgspec

from ..config.loader import DEFAULT, config_files, load_train_config
from ..config.profile import NAMES, load_profile, profile_path
from ..config.schema import dotted
from ..config.train_config import TrainConfig
from ..core.errors import BadInput
from ..core.files import PACKAGE_FACTS as FACTS
from ..core.files import code_sha256, is_plain_json, launchers_sha256, real_path, sha256_file, sha256_list
from ..core.model_files import model_sha256
from ..core.paths import GATED_CHECKPOINTS, LOGS, RUNS
from ..gates.ambers import ambers
from ..gates.anchor import verify_anchors
from ..gates.final_models import final_models, trained_config
from ..gates.manifest import MANIFEST, Manifest
from ..gates.ticket import DIRTY, REFUSAL, ROUND1, TICKET, Round, read_round
from ..gates.verify import refuse_other_owner, verify
from ..loop.runner import verb, with_package
from ..pages.rc1_report import RC1_JSON
from ..runtime.progress import Tell
from ..training.verify_results import verify_results
from .package import (
    GATES,
    PUBLIC,
    SUMS,
    SUMS_SIGNATURE,
    PackageFacts,
    contents,
    may_be_packed,
    pages,
    signature_of,
    this_machine,
)
from .signing import can_sign, statements, verify_model

GZIP = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
"""First bytes of a package: a gzip header without name and time."""
SMALL, RATIO = 2**30, 200
"""Limits of the unpacked size: this many bytes, or this many times the packed size, whichever is more. Logs compress
20-fold; 1,000-fold is a decompression bomb."""
CHUNK = 2**20
AGAIN = "get the package again from its maker"


def reproduce(
    package: Path,
    tell: Tell,
    public_key: Path | None = None,
    rerun: bool = False,
    classes: Sequence[str] = (),
    owner_key: str = "",
    tsa_root: str = "",
) -> PackageFacts:
    """The description of the verified package. Raises BadInput that names the first file that does not match.

    `classes`: own classes that a rerun may build. `owner_key`: fingerprint of the key that must have signed the ticket.
    `tsa_root`: that of the root certificate below which the manifest must have been anchored.
    """
    with unpacked(package) as folder:
        facts = check(folder, tell, public_key)
        with chdir(folder):
            refuse_other_owner(read_round(TICKET), owner_key)
            if tsa_root:
                verify_anchors(Manifest(), tell, tsa_root)
        if rerun:
            run_again(folder, facts, tell, classes)
    return facts


def check(folder: Path, tell: Tell, public_key: Path | None) -> PackageFacts:
    """Verifies an unpacked package: checksums, signatures, evidence, models, results and pages."""
    tell(f"files: {verify_checksums(folder)} as they were packed")
    own = real_path(public_key) if public_key else None
    with chdir(folder):
        try:
            facts = msgspec.json.decode(FACTS.read_bytes(), type=PackageFacts)
        except (OSError, msgspec.DecodeError) as error:
            what = f"is not a description of a package ({error})"
            raise BadInput(what, where=FACTS.as_posix(), remedy=AGAIN) from None
        _refuse_outside(facts)
        _check_signatures(facts, own, tell)
        if not is_plain_json(FACTS.read_bytes()):
            raise BadInput("is not written as AskGate writes it", where=FACTS.as_posix(), remedy=AGAIN)
        rounds = verify(False, tell)
        config = _check_models(facts)
        report = verify_results(False, tell)
        if report is None or not report.passed:
            raise BadInput("has no results that passed", where=FACTS.as_posix(), remedy=AGAIN)
        tell(f"models: {len(facts.models)}, unchanged, trained with this ticket")
        profile = load_profile(read_round(TICKET).profile)
        signed = {one.name: one.signed for one in ambers(profile)}
        if facts.ambers != signed or not all(signed.values()):
            raise BadInput("does not say what the evidence says about ambers", where=FACTS.as_posix(), remedy=AGAIN)
        if signed:
            tell("ambers: " + ", ".join(f"{name} signed off by {who}" for name, who in signed.items()))
        if facts.commit != read_round(TICKET).commit:
            raise BadInput("does not name the commit of the ticket", where=FACTS.as_posix(), remedy=AGAIN)
        if GATES.read_bytes() != statements(rounds, list(facts.models)):
            raise BadInput("does not say what the rounds say", where=GATES.as_posix(), remedy=AGAIN)
        made = pages(profile, config, report)
        _refuse_unexplained(facts, config, made)
        for name, content in made.items():
            if pages_not_compared(facts):
                same = name != RC1_JSON.as_posix() or _shown(Path(name).read_bytes()) == _shown(content)
            else:
                same = Path(name).read_bytes() == content
            if not same:
                raise BadInput("does not say what the evidence says", where=name, remedy=AGAIN)
    return facts


def pages_not_compared(facts: PackageFacts) -> bool:
    """Whether another version of AskGate made the pages: then only the figures in `RC1.json` are compared."""
    return facts.code != code_sha256()


def _shown(report: bytes) -> list[Any]:
    """Results and models that `RC1.json` shows."""
    try:
        found: dict[str, Any] = msgspec.json.decode(report, type=dict)
        return [found.get(key) for key in ("run", "ticket", "models", "passed")] + [
            found["evaluation"].get(key) for key in ("figures", "pooled", "checks", "seeds")
        ]
    except (msgspec.DecodeError, KeyError, AttributeError, TypeError):
        return []


def _refuse_unexplained(facts: PackageFacts, config: TrainConfig, made: Mapping[str, bytes]) -> None:
    """Refuses files that no run, round or signature explains, such as a page with invented figures."""
    models = [Path(name) for name in facts.models]
    known = {name for name, _ in contents(Path(facts.config), config, models)} | set(made)
    known |= {one.as_posix() for one in (FACTS, GATES, PUBLIC)} | {SUMS, SUMS_SIGNATURE}
    known |= {signature_of(name).as_posix() for name in facts.models}
    for file in sorted(file.as_posix() for file in Path().rglob("*") if file.is_file()):
        if file not in known:
            raise BadInput("is no file of the run that was packed", where=file, remedy=AGAIN)


def verify_checksums(folder: Path) -> int:
    """Checks that the list and the files match one to one. Returns the number of files."""
    try:
        text = (folder / SUMS).read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        raise BadInput("is missing or was changed", where=SUMS, remedy=AGAIN) from None
    *lines, rest = text.split("\n")
    if rest or not lines:
        raise BadInput("does not end with a newline", where=SUMS, remedy=AGAIN)
    if any(line[64:66] != "  " or not line[66:] for line in lines):
        raise BadInput("has a line that is not a checksum", where=SUMS, remedy=AGAIN)
    stated = {line[66:]: line[:64] for line in lines}
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    there -= {SUMS, SUMS_SIGNATURE}
    if len(stated) != len(lines):
        raise BadInput("lists a file twice", where=SUMS, remedy=AGAIN)
    for name in sorted(there | set(stated)):
        if not may_be_packed(name):
            raise BadInput("is no kind of file that a package holds", where=name, remedy=AGAIN)
        if name not in stated:
            raise BadInput("is not in the list of the package", where=name, remedy=AGAIN)
        if name not in there:
            raise BadInput("is missing", where=name, remedy=AGAIN)
        if sha256_file(folder / name) != stated[name]:
            raise BadInput("was changed: its SHA-256 is not the one in the list", where=name, remedy=AGAIN)
    return len(there)


def run_again(folder: Path, facts: PackageFacts, tell: Tell, classes: Sequence[str] = ()) -> None:
    """Trains again with the same ticket and compares the weights."""
    with chdir(folder):
        _refuse_classes(facts.config, classes)
        _refuse_other_code(read_round(TICKET))
    if (here := this_machine()) != facts.machine:
        tell(f"made with {facts.machine}; this is {here}: the weights may differ")
    # A checkpoint among these would be resumed instead of trained again.
    for moved in (GATED_CHECKPOINTS, LOGS, RUNS):
        if (folder / moved).is_dir():
            (folder / moved).rename(folder / f"{moved.parts[0]}_of_the_package")
    tell(f"training again: ppo-runner --config {facts.config}")
    command, environment = training_again(facts.config)
    done = subprocess.run(command, cwd=folder, env=environment, check=False)
    if done.returncode:
        raise BadInput(f"training ended with exit code {done.returncode}", where=facts.config, remedy="see above")
    for name, stated in facts.models.items():
        now = weights_sha256(folder / name)
        then = weights_sha256(folder / "checkpoints_of_the_package" / Path(name).relative_to(GATED_CHECKPOINTS))
        if now != then:
            what = f"the weights are different (SHA-256 {now[:12]}, the package has {then[:12]})"
            remedy = "identical weights need the same torch, instruction set and thread count, on a CPU"
            raise BadInput(what, where=name, remedy=remedy)
        tell(f"{name}: the same weights, SHA-256 {now}; the folder was {stated[:12]}")


def training_again(config: str) -> tuple[list[str], dict[str, str]]:
    """Command and environment of a training with the package's config.

    -P: Python must not import from the working folder, which is the package. No SCORER_API_KEY, because the package
    names the address of the judge. No mirror, because it is outside of the package.
    """
    environment = {name: value for name, value in os.environ.items() if name != "SCORER_API_KEY"}
    command = verb("ppo_runner", "--config", config, "--set", "checkpoint.mirror=null")
    return [sys.executable, "-P", *command], with_package(environment)


def _refuse_classes(config: str, allowed: Sequence[str]) -> None:
    """Refuses a config with classes that are not built in and not allowed: it may name any installed class."""
    for name in load_train_config(Path(config)).own_classes:
        if ":" in name and name not in allowed:
            what = f"the package would run {name}, which is not part of AskGate"
            raise BadInput(what, where=config, remedy=f"read that class; to run it, add --allow-class {name}")


def _refuse_other_code(ticket: Round) -> None:
    """Refuses to train with other code than that which measured the rounds; the trainer would refuse the ticket."""
    if (ticket.code, ticket.launchers) == (code_sha256(), launchers_sha256()):
        return
    commit = ticket.commit.removesuffix(DIRTY)
    if re.fullmatch("[0-9a-f]{40}", commit):  # from the package, and shown in a command that people copy
        more = ", with the maker's local changes" if ticket.commit.endswith(DIRTY) else ""
        remedy = f"in a clone of AskGate: git checkout {commit}{more}; make setup; then run this command there"
    else:
        remedy = f"ask its maker for that AskGate (version {ticket.version}, code with SHA-256 {ticket.code})"
    raise BadInput("the package was made with another AskGate than this one", where="--rerun", remedy=remedy)


def weights_sha256(folder: Path) -> str:
    return sha256_list({file.name: file for file in sorted(folder.glob("*.safetensors"))})


def _refuse_outside(facts: PackageFacts) -> None:
    """Refuses paths that lead out of the package. `make_package` writes none."""
    named = [(FACTS, name) for name in (facts.config, *facts.models)]
    named += [(MANIFEST, entry.path) for entry in Manifest().entries]
    for path in (one for one in (ROUND1, TICKET, REFUSAL) if one.exists()):
        report = read_round(path)
        named += [(path, fingerprint.path) for fingerprint in report.files.values()]
        named += [(path, name) for finding in report.findings for name in finding.evidence]
    for where, name in named:
        _refuse_path(where, name)
    for config in (Path(facts.config), DEFAULT, *map(profile_path, NAMES)):
        config_files(config, inside=True)
    for key, value in dotted(load_train_config(Path(facts.config)).model_dump()):
        if (isinstance(value, Path) and key != "checkpoint.mirror") or key == "base_model":
            _refuse_path(Path(facts.config), str(value))


def _refuse_path(where: Path, name: str) -> None:
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise BadInput(f"names {name}, which is outside the package", where=where.as_posix(), remedy=AGAIN)


def _check_models(facts: PackageFacts) -> TrainConfig:
    """Checks that the models are those that the config trains, and no others. Returns the config."""
    trained = trained_config()
    if trained is None or trained[0] != Path(facts.config):
        raise BadInput(f"names {facts.config}, which was not trained", where=FACTS.as_posix(), remedy=AGAIN)
    folders = final_models(trained[1], AGAIN)
    if [folder.as_posix() for folder in folders] != list(facts.models):
        raise BadInput(f"does not name the models of {facts.config}", where=FACTS.as_posix(), remedy=AGAIN)
    for folder in folders:
        if model_sha256(folder) != facts.models[folder.as_posix()]:
            raise BadInput("is not the model that was packed", where=folder.as_posix(), remedy=AGAIN)
    return trained[1]


def _check_signatures(facts: PackageFacts, public_key: Path | None, tell: Tell) -> None:
    """Checks the signatures of the list of checksums, which covers everything, and of each model."""
    listed = Path(SUMS_SIGNATURE)
    if not listed.exists() and (public_key or not PUBLIC.exists()):
        if public_key:
            raise BadInput("the package is not signed", where="--public-key", remedy="ask the maker for a signed one")
        tell("signature: none")
        return
    if not public_key and not can_sign():
        # With the key from the package itself a signature shows no more than the checksums.
        tell("signature: not checked (pip install 'askgate[sign]', and give the maker's key with --public-key)")
        return
    key = public_key or PUBLIC
    verify_model(Path(SUMS), listed, key)
    for name in facts.models:
        verify_model(Path(name), signature_of(name), key)
    whose = "your key" if public_key else f"the key in the package, SHA-256 {sha256_file(PUBLIC)}"
    tell(f"signature: valid for {whose}")


@contextmanager
def unpacked(package: Path) -> Iterator[Path]:
    """Unpacks the package into a temporary folder and yields it."""
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        if package.exists() and not package.is_file():  # such as a pipe, which would block
            raise BadInput("is not a file", where=str(package), remedy="check the path")
        try:
            with open(package, "rb") as handle:
                _unpack(handle, package, folder)
        except (tarfile.TarError, BadGzipFile, EOFError, zlib.error, ValueError) as error:
            raise BadInput(f"is damaged or not a package ({error})", where=str(package), remedy=AGAIN) from None
        except OSError as error:
            what = f"cannot be read or unpacked ({error.strerror or error})"
            raise BadInput(what, where=str(package), remedy="check the path") from None
        yield folder


def _unpack(handle: IO[bytes], package: Path, folder: Path) -> None:
    if handle.read(len(GZIP)) != GZIP:
        raise BadInput("is not a package", where=str(package), remedy=AGAIN)
    handle.seek(0)
    reader = _Bounded(handle, package)
    seen: set[str] = set()
    with tarfile.open(fileobj=reader, mode="r|") as archive:
        for member in archive:
            if not member.isfile() or member.issparse() or not member.name.isprintable():
                raise BadInput("is not a plain file", where=f"{package}: {member.name!r}", remedy=AGAIN)
            name = os.path.normpath(member.name).casefold()  # some file systems ignore case
            if name in seen:
                raise BadInput("is there twice", where=f"{package}: {member.name}", remedy=AGAIN)
            seen.add(name)
            archive.extract(member, folder, filter="data")
    while rest := reader.read(CHUNK):  # reads to the end, so that gzip checks its checksum
        if rest.strip(b"\0"):
            raise BadInput("has more behind its last file", where=str(package), remedy=AGAIN)


class _Bounded(GzipFile):
    """A gzip reader that stops at the limits above, so that a small file cannot fill the disk."""

    def __init__(self, handle: IO[bytes], package: Path) -> None:
        super().__init__(fileobj=handle, mode="rb")
        self._package = package
        self._left = max(SMALL, RATIO * os.fstat(handle.fileno()).st_size)

    def read(self, size: int | None = -1) -> bytes:
        found = super().read(size)
        self._left -= len(found)
        if self._left < 0:
            raise BadInput("unpacks to far more than a run contains", where=str(self._package), remedy=AGAIN)
        return found
