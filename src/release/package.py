"""Packs a finished run into one tarball with everything needed to verify it and to run it again (`askgate package`).

    SHA256SUMS                    checksums of all files but this one and its signature
    SHA256SUMS.sig                signature of that list, and so of the whole package, if a key was given
    package/package.json          config, machine, and the models that were trained
    package/gates.intoto.jsonl    both rounds as in-toto test results
    package/*.sig, package/model.pub   a signature per model, and the public key
    ...                           the project folder: configs, templates, data, evidence, ledger, episodes, models

A package has only kinds of file that a run writes (`may_be_packed`): no code that could run, no hidden file, no link.
Own classes, which are evidence, are in it as text (`coach.py.txt`). A file with a secret in it is refused. The same run
gives the same bytes, except for signatures.
"""

from __future__ import annotations

import gzip
import os
import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from askgate_env.types import Record

from .. import __version__
from ..config.loader import config_files
from ..config.profile import NAMES, Profile, load_profile
from ..config.train_config import TrainConfig
from ..core import paths
from ..core.check import NOT_FOR_SIGNING, remedies
from ..core.errors import BadInput
from ..core.files import (
    PACKAGE_FACTS,
    atomic_write,
    code_sha256,
    inert,
    json_bytes,
    sha256_file,
    shipped,
    sweep,
)
from ..core.model_files import WEIGHTS, model_files, model_sha256
from ..eval.trial import TrialReport
from ..gates.ambers import amber_files, ambers, open_ambers
from ..gates.anchor import ANCHORS
from ..gates.final_models import final_models, trained_config, warm_start_of
from ..gates.gate import GATES as GATE_NAMES
from ..gates.manifest import MANIFEST, Manifest, newest_evaluation
from ..gates.ticket import ENVELOPE, ROUND1, TICKET, evidence, read_round
from ..gates.verify import verify
from ..pages.rc1_report import RC1_JSON, RC1_PAGE, gather_run, rc1_page
from ..runtime.progress import Tell
from ..runtime.secrets import find_secret
from ..training.results import results_page
from ..training.verify_results import verify_results
from .signing import sign_model, signing_key, statements

SUMS, SUMS_SIGNATURE = "SHA256SUMS", "SHA256SUMS.sig"
OWN = PACKAGE_FACTS.parent
FACTS, GATES, PUBLIC = PACKAGE_FACTS, OWN / "gates.intoto.jsonl", OWN / "model.pub"
STORE = (".askgate/scores.sqlite", ".askgate/scores.sqlite-wal")
"""The judge's replies. After a killed run the newest are still in the -wal file."""
_TEXTS = ".json .jsonl .yaml .yml .md .txt .html .sha256 .sig .pub .pub.pem"
KINDS = tuple(f"{_TEXTS} {WEIGHTS} .model .tiktoken .jinja /COMPLETE".split())
"""Endings of the names of files that a run writes, and of the files of a model and its tokenizer."""
_RECORDED = re.compile(
    rf"reports/(preflight/(round1|round2_(pass|fail)|amber_({'|'.join(remedies('ambers'))})(\.\d+)?)\.json"
    rf"|preflight/round[12]/(({'|'.join(GATE_NAMES)})_report\.json|scoring_monitor\.json|(fresh_scores|unstable_samples)\.jsonl)"
    r"|rc1/anchors\.jsonl|ppo_eval_[^/]*\.json)"
)
"""Reports that rounds, sign-offs and anchors record; earlier versions recorded evaluations too."""


class PackageFacts(Record, frozen=True):
    """`package/package.json`."""

    version: str
    code: str
    """SHA-256 of the code that made it. The same code makes the same pages."""
    run: str
    config: str
    models: dict[str, str]
    ambers: dict[str, str]
    """The ambers by name, each with the names of those who signed it off."""
    machine: dict[str, str]
    """Machine on which it was packed. A CPU run gives the same weights with the same torch, instruction set and thread
    count."""
    commit: str = ""
    """Git commit of the code that measured the rounds and trained; empty if it was no checkout."""


class NotForRelease(BadInput):
    """Raised if the evidence is valid, but a gate or a sign-off is missing (exit code 1)."""

    exit_code = 1


def make_package(out: Path, key: Path | None, password: bytes | None, tell: Tell) -> Path:
    """Verifies all evidence, then packs the run. Refuses a run that does not verify or whose results did not pass."""
    if key is not None:
        signing_key(key, password)  # refuses a key that cannot sign before the verification, which takes a minute
    rounds = verify(False, tell)
    if not any(one.round == "round2" and one.passed for one in rounds):
        raise BadInput("there is no ticket", where=str(TICKET), remedy="pass both rounds, train, then pack")
    report, trained = verify_results(False, tell), trained_config()
    if report is None or trained is None:
        where, remedy = str(paths.GATED_CHECKPOINTS), "train to the end with the ticket, then pack"
        raise BadInput("there is no finished run to pack", where=where, remedy=remedy)
    for failed in (one for one in report.checks if not one.passed):
        raise NotForRelease(f"{failed.name} has not passed", where="release", remedy=failed.remedy)
    config, settings = trained
    ticket = read_round(TICKET)
    profile = load_profile(ticket.profile)
    if left := [one.name for one in open_ambers(profile)]:
        more = f" (also {', '.join(left[1:])})" if left[1:] else ""
        can = left[0] != NOT_FOR_SIGNING
        remedy = f"`askgate sign-off --amber {left[0]}`" if can else "put the shipped thresholds back"
        what = f"{left[0]} is amber, and nobody has signed it off{more}"
        raise NotForRelease(what, where="release", remedy=remedy)
    folders = final_models(settings)
    models = {folder.as_posix(): model_sha256(folder) for folder in folders}
    signed = {one.name: one.signed for one in ambers(profile)}
    run, machine = Manifest().run, this_machine()
    facts = PackageFacts(__version__, code_sha256(), run, config.as_posix(), models, signed, machine, ticket.commit)
    made = {FACTS.as_posix(): json_bytes(facts), GATES.as_posix(): statements(rounds, list(models))}
    made |= pages(profile, settings, report)
    files = {name: path for name, path in sorted(contents(config, settings, folders)) if name not in made}
    texts = ((name, path.read_bytes()) for name, path in files.items() if path.suffix != WEIGHTS)
    refuse_secrets(texts, "it is not packed")
    if key is not None:
        for folder in folders:
            name = signature_of(folder.as_posix()).as_posix()
            made[name], made[PUBLIC.as_posix()] = sign_model(folder, key, password)
    checksums = {name: sha256_file(path) for name, path in files.items()}
    checksums |= {name: sha256(content).hexdigest() for name, content in made.items()}
    made[SUMS] = "".join(f"{checksums[name]}  {name}\n" for name in sorted(checksums)).encode()
    if key is not None:
        # The signature of a model does not cover the evidence beside it; that of the list covers everything.
        with TemporaryDirectory() as work:
            listed = Path(work) / SUMS
            listed.write_bytes(made[SUMS])
            made[SUMS_SIGNATURE], _ = sign_model(listed, key, password)
    write_package(out, files, made)
    tell(f"packed {len(files) + len(made)} files, {sum(path.stat().st_size for path in files.values()) / 1e6:.1f} MB")
    return out


def pages(profile: Profile, config: TrainConfig, report: TrialReport) -> dict[str, bytes]:
    """The pages of a release, made again from the verified evidence, with their paths."""
    path = newest_evaluation()
    assert path is not None
    found = replace(gather_run(profile), ts=report.ts)
    page = paths.evaluation_report(path.stem.removeprefix(paths.EVALUATION))[1]
    made = {RC1_JSON: json_bytes(found), RC1_PAGE: rc1_page(found), page: results_page(config, report)}
    return {path.as_posix(): content for path, content in made.items()}


def this_machine() -> dict[str, str]:
    from ..engines.base import machine

    return {name: str(value) for name, value in machine().items()}


def signature_of(folder: str) -> Path:
    """`checkpoints/rc1/seed_1/final_model` -> `package/checkpoints_rc1_seed_1_final_model.sig`."""
    return OWN / f"{folder.replace('/', '_')}.sig"


def may_be_packed(name: str) -> bool:
    """Whether a package may have a file of that name.

    >>> [may_be_packed(name) for name in ("configs/quickstart.yaml", "torch.py", "configs/.env", "owner.pem")]
    [True, False, False, False]
    """
    # The fingerprint of a folder leaves out caches of Python, so nothing proves the files in them.
    unproved = any(part.startswith(".") or part == "__pycache__" for part in Path(name).parts)
    return name in STORE or (name.endswith(KINDS) and not unproved)


def refuse_secrets(files: Iterable[tuple[str, bytes]], outcome: str) -> None:
    """Refuses files (name and content) if one contains a secret. `outcome`: the consequence, for the message."""
    for name, content in files:
        if found := find_secret(content, os.environ):
            line, kind = found
            where, remedy = f"{name}:{line}", "take it out of the file; where it is no secret, say it in other words"
            raise BadInput(f"contains {kind}, so {outcome}", where=where, remedy=remedy)


def contents(config: Path, settings: TrainConfig, models: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Name in the package and path of each file, which is in this folder or comes with AskGate.

    In an unpacked package: the files that it may have.
    """
    run = paths.run_of(paths.GATED_CHECKPOINTS)
    recorded = [Path(path) for path, entry in Manifest().newest().items() if entry.kind in ("file", "ledger")]
    recorded = [path for path in recorded if paths.run_folder(path) is None]  # the run's files are added below
    _refuse_recorded_by_hand(recorded)
    # Without the owner's key sign-offs are in the manifest, and signed files prove nothing.
    profile = load_profile(read_round(TICKET).profile)
    of_ambers = (path for one in ambers(profile) for path in amber_files(one.name, signed=True))
    signed = [ENVELOPE, *of_ambers] if profile.owner_key else []
    needed = [*recorded, MANIFEST, ANCHORS, ROUND1, TICKET, *signed, *config_files(config)]
    base = Path(settings.base_model)
    wanted = [*(base / file.name for file in model_files(shipped(base))), *map(Path, STORE)]
    for path in (*wanted, *needed, *models, *map(warm_start_of, models)):
        # Own classes are evidence. Under this name they cannot be imported.
        name = inert(path) if path.suffix == ".py" and path in recorded else path
        here = shipped(path) if shipped(path).exists() else name
        if not here.exists():
            continue
        if path.is_absolute() or ".." in path.parts:
            remedy = "copy it into the project folder and name it by a relative path, then run both rounds again"
            raise BadInput("is outside the project folder, so it cannot be packed", where=str(path), remedy=remedy)
        yield from _files(name, here, needed=path not in wanted)
    report = newest_evaluation()
    logs = [name for name in Manifest().of_run(run) if name.is_relative_to(paths.LOGS)]
    for path in (*logs, paths.EFFECTIVE_CONFIG, *([report.relative_to(run)] if report else [])):
        if (run / path).exists():
            yield from _files(path, run / path)


def _refuse_recorded_by_hand(recorded: Iterable[Path]) -> None:
    """Refuses a report in the manifest that neither a round nor a run records: nothing proves its content."""
    known = {name for path in (ROUND1, TICKET) if path.exists() for name, _ in evidence(read_round(path))}
    known |= {str(path) for name in NAMES for _, path in load_profile(name).paths}
    for path in recorded:
        if path.is_relative_to(paths.REPORTS) and str(path) not in known and not _RECORDED.fullmatch(path.as_posix()):
            what, remedy = "was recorded by hand", "put the manifest back as the rounds and the run left it"
            raise BadInput(f"{what}: no round and no run writes it", where=path.as_posix(), remedy=remedy)


def _files(path: Path, here: Path, needed: bool = False) -> Iterator[tuple[str, Path]]:
    """Name in the package and path of a file, or of all files in a folder.

    `needed`: these files are evidence, so one that a package may not have is refused; otherwise it is left out.
    """
    for file in sorted(here.rglob("*")) if here.is_dir() else [here]:
        name = (path / file.relative_to(here) if here.is_dir() else path).as_posix()
        if not may_be_packed(name):
            if needed and file.is_file() and "__pycache__" not in file.parts:
                what = "is part of the evidence, and no kind of file that a package holds"
                raise BadInput(what, where=name, remedy=f"give it a name that ends with one of {' '.join(KINDS)}")
            continue
        if file.resolve() != here.resolve() / file.relative_to(here):
            raise BadInput("is a link", where=name, remedy="put the file itself there, or remove the link")
        if file.is_file():
            yield name, file


def write_package(out: Path, files: Mapping[str, Path], made: Mapping[str, bytes]) -> None:
    """Writes files in order of their names, without owner and time, so that the bytes depend on the run only."""
    sweep(out)  # temporary files of a killed command
    with (
        atomic_write(out) as handle,
        gzip.GzipFile(fileobj=handle, mode="wb", filename="", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in sorted([*files, *made]):
            member = tarfile.TarInfo(name)
            member.mode = 0o644
            if name in made:
                member.size = len(made[name])
                archive.addfile(member, BytesIO(made[name]))
            else:
                member.size = files[name].stat().st_size
                with open(files[name], "rb") as source:
                    archive.addfile(member, source)
