"""The reproduction package: one tarball with all that a stranger needs to check a run, and to run it again.

    SHA256SUMS                    every file but itself and its signature
    SHA256SUMS.sig                signature of that list, and so of the whole package, where a key was given
    package/package.json          what was run, where, with which command; the weights that came of it
    package/gates.intoto.jsonl    both rounds as in-toto test results
    package/*.sig, package/model.pub   each model signed for itself, and the key to check all of it with
    ...                           the run folder: configs, templates, data, evidence, ledger, episodes, models

The same run gives the same bytes, signatures aside.
"""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from .. import __version__
from ..config.loader import config_files, load_train_config
from ..config.train import TrainConfig
from ..core import paths
from ..core.errors import BadInput
from ..core.files import atomic_write, json_bytes, sha256_file, shipped
from ..core.model_files import model_sha256
from ..core.types import Record
from ..gates.final_models import final_models
from ..gates.manifest import MANIFEST, Manifest
from ..gates.report import ROUND1, TICKET, Round
from ..gates.signoff import ENVELOPE
from ..gates.verify import verify
from . import intoto
from .signing import sign_model

OUT = Path("reports/rc1/package.tgz")
SUMS, SUMS_SIGNATURE = "SHA256SUMS", "SHA256SUMS.sig"
OWN = Path("package")
FACTS, GATES, PUBLIC = OWN / "package.json", OWN / "gates.intoto.jsonl", OWN / "model.pub"
BESIDE: tuple[str | Path, ...] = (
    paths.METRICS, paths.EVAL_METRICS, paths.EPISODES, paths.EVAL_EPISODES, "reports/config_effective.yaml",
    "reports/kpi.json", "reports/rc1", "configs", "templates", ".askgate/scores.sqlite", ".askgate/scores.sqlite-wal",
)  # fmt: skip
"""What the manifest does not list and a reader wants: curves, episodes, pages; and the judge's replies, the
newest of which a run that was killed leaves in a file beside the others."""


class Facts(Record, frozen=True):
    """`package/package.json`."""

    version: str
    run: str
    config: str
    models: dict[str, str]
    """Folder and SHA-256 of each model that was trained."""
    machine: dict[str, str]
    """Where it was packed: with the same torch, instruction set and thread count a CPU run gives the same weights."""


def make_package(
    config: Path, out: Path, key: Path | None, password: bytes | None, tell: Callable[[str], None]
) -> Path:
    """Checks all evidence first: what does not verify here is not packed."""
    rounds = verify(False, tell)
    if not any(one.round == "round2" and one.passed for one in rounds):
        raise BadInput("there is no ticket", where=str(TICKET), remedy="a run is packed after both rounds passed")
    settings = load_train_config(config)
    folders = final_models(settings)
    models = {folder.as_posix(): model_sha256(folder) for folder in folders}
    facts = Facts(__version__, Manifest().run, config.as_posix(), models, this_machine())
    files = dict(sorted(_contents(config, settings, folders, out)))
    with TemporaryDirectory() as folder:
        work = Path(folder)
        made = {FACTS.as_posix(): json_bytes(facts), GATES.as_posix(): statements(rounds, facts)}
        if key is not None:
            made |= _signatures(folders, key, password, work)
        made[SUMS] = _sums(files, made)
        if key is not None:
            made[SUMS_SIGNATURE] = _signed_list(made[SUMS], key, password, work)
        with atomic_write(out) as handle:
            _write(handle, files, made)
    tell(f"packed {len(files) + len(made)} files, {sum(path.stat().st_size for path in files.values()) / 1e6:.1f} MB")
    return out


def this_machine() -> dict[str, str]:
    from ..engines.base import machine

    return {name: str(value) for name, value in machine().items()}


def statements(rounds: Sequence[Round], facts: Facts) -> bytes:
    return intoto.lines(rounds, list(facts.models))


def signature_of(folder: str) -> Path:
    """`checkpoints/rc1/seed_1/final_model` -> `package/checkpoints_rc1_seed_1_final_model.sig`."""
    return OWN / f"{folder.replace('/', '_')}.sig"


def _contents(config: Path, settings: TrainConfig, models: Sequence[Path], out: Path) -> Iterator[tuple[str, Path]]:
    """Name in the package, and where the file lies: here, or with AskGate itself."""
    held = [Path(path) for path, entry in Manifest().newest().items() if entry.kind in ("file", "ledger")]
    packages = {out.resolve(), OUT.resolve()}
    wanted = [
        *held,
        MANIFEST,
        ROUND1,
        TICKET,
        ENVELOPE,
        *config_files(config),
        Path(settings.base_model),
        *map(Path, BESIDE),
        *models,
    ]
    for path in wanted:
        here = shipped(path)
        if not here.exists():
            continue
        if path.is_absolute() or ".." in path.parts:
            raise BadInput(
                "lies outside the run folder, so it cannot go along",
                where=str(path),
                remedy="copy it into the run folder and name it by a relative path, then run both rounds again",
            )
        for file in sorted(here.rglob("*")) if here.is_dir() else [here]:
            name = path / file.relative_to(here) if here.is_dir() else path
            if file.is_file() and "__pycache__" not in file.parts and file.resolve() not in packages:
                yield name.as_posix(), file


def _signatures(folders: Sequence[Path], key: Path, password: bytes | None, work: Path) -> dict[str, bytes]:
    made: dict[str, bytes] = {}
    for folder in folders:
        signature, public = work / "signature", work / "public"
        sign_model(folder, key, password, signature, public)
        made[signature_of(folder.as_posix()).as_posix()] = signature.read_bytes()
        made[PUBLIC.as_posix()] = public.read_bytes()
    return made


def _signed_list(sums: bytes, key: Path, password: bytes | None, work: Path) -> bytes:
    """A model's signature says nothing of the evidence beside it; that of the list does."""
    listed, signature = work / SUMS, work / "signature"
    listed.write_bytes(sums)
    sign_model(listed, key, password, signature, work / "public")
    return signature.read_bytes()


def _sums(files: dict[str, Path], made: dict[str, bytes]) -> bytes:
    sums = {name: sha256_file(path) for name, path in files.items()}
    sums |= {name: sha256(content).hexdigest() for name, content in made.items()}
    return "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()


def _write(handle: IO[bytes], files: dict[str, Path], made: dict[str, bytes]) -> None:
    """Names in order, no owner and no time: the bytes depend on the run alone."""
    with (
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
