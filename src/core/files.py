"""Files: atomic writes (a temporary name, then a rename), JSON, checksums, and the files that come with the package."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from io import BufferedWriter, FileIO
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, TypeVar

import msgspec

import askgate_env

from .defaults import WEIGHTS
from .disk import disk, make_path
from .errors import BadInput

T = TypeVar("T")
_RANDOM_CHARACTERS = 8
"""Random characters at the end of a temporary name."""
_DISK_FAULTS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""Errors that another path on the same disk would not avoid: the caller explains them (`runtime.disk`)."""
PACKAGE = Path(__file__).resolve().parents[1]
HOME = PACKAGE.parent if PACKAGE.name == "src" else PACKAGE
"""In a checkout `templates/` is beside `src/`; in a wheel it is inside the package."""
ENV = Path(askgate_env.__file__).resolve().parent
"""The environment, a distribution of its own (`packages/askgate-env`)."""
FOLDERS = ("configs", "models", "templates")
LAUNCHERS = ("train", "scripts", "ops")
"""Folders of a checkout with scripts that start AskGate."""
Start = Callable[[Path], IO[bytes]]
"""Opens one more file of an atomic group."""


@contextmanager
def explain_read_errors(path: Path, remedy: str = "check the path") -> Iterator[None]:
    """Turns an OSError inside the block into a BadInput that names the file."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror})", where=str(path), remedy=remedy) from None


def real_path(path: Path) -> Path:
    """The path with its links resolved. Unlike `Path.resolve`, a link to itself raises no error before it is read."""
    return Path(os.path.realpath(path))


def sha256_file(path: Path) -> str:
    with explain_read_errors(path), open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


_digests_read: dict[str, set[str]] = {}
_NOTHING_WRITES = "put it back as it was, and start again while nothing else writes there"


def note_read(path: Path, digest: str) -> None:
    """Notes the SHA-256 of the bytes that were parsed: the file may be replaced before its path is hashed again."""
    _digests_read.setdefault(os.path.abspath(path), set()).add(digest)


def digests_read(path: Path) -> set[str]:
    """SHA-256 of a file each time that this process has read it since `forget_reads`; empty if it has not."""
    return _digests_read.get(os.path.abspath(path), set())


def all_reads() -> dict[str, set[str]]:
    """SHA-256 of all files that this process has read since `forget_reads`, by absolute path (see `digests_read`)."""
    return _digests_read


def forget_reads() -> None:
    """Clears the record of reads: each run and each round keeps its own."""
    _digests_read.clear()


def sha256_read(path: Path) -> str:
    """SHA-256 of a file as this process read it, or as it is now. Refuses a file that changed between two reads."""
    digests = digests_read(path) or {sha256_file(path)}
    if len(digests) > 1:
        raise BadInput("changed while it was read", where=str(path), remedy=_NOTHING_WRITES)
    return next(iter(digests))


def read_noted(path: Path) -> bytes:
    """Content of a file, with its SHA-256 noted. Refuses a pipe, which might wait forever."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(errno.EINVAL, "not a regular file")
    data = path.read_bytes()
    note_read(path, hashlib.sha256(data).hexdigest())
    return data


@contextmanager
def pinned(path: Path) -> Iterator[Path]:
    """A path for libraries that open files by name. It leads to this file even if another one gets its name meanwhile.

    Notes the SHA-256. Refuses a file that is written to inside the block.
    """
    with open(path, "rb") as handle:
        before = os.fstat(handle.fileno())
        note_read(path, hashlib.file_digest(handle, "sha256").hexdigest())
        same = Path(f"/proc/self/fd/{handle.fileno()}")
        yield same if same.exists() else path.resolve()
        after = os.fstat(handle.fileno())
        if (before.st_size, before.st_ctime_ns) != (after.st_size, after.st_ctime_ns):
            raise BadInput("changed while it was read", where=str(path), remedy=_NOTHING_WRITES)


def sha256_list(files: Mapping[str, Path], digest: Callable[[Path], str] = sha256_file) -> str:
    """SHA-256 of the list of checksums that `sha256sum` prints for these files, in this order."""
    return hashlib.sha256("".join(f"{digest(file)}  {name}\n" for name, file in files.items()).encode()).hexdigest()


def sha256_folder(folder: Path) -> str:
    """SHA-256 of the names and checksums of all files in a folder, without Python's caches."""
    files = sorted(file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return sha256_list({file.relative_to(folder).as_posix(): file for file in files})


PACKAGE_FACTS = Path("package/package.json")
"""The file that makes a folder an unpacked package."""


def inert(path: Path) -> Path:
    """Name of a code file in a package: `coach.py` -> `coach.py.txt`, so that it cannot be imported or run."""
    return path.with_name(f"{path.name}.txt")


def fingerprint(path: Path) -> str:
    """SHA-256 of a file or folder: the user's own, else the one that came with the package.

    Code in an unpacked package, and only there, has the name that `inert` gives.
    """
    found = shipped(path)
    if path.suffix == ".py" and not found.exists() and PACKAGE_FACTS.is_file():
        found = inert(path)
    return sha256_folder(found) if found.is_dir() else sha256_file(found)


@cache
def code_sha256() -> str:
    """`current_code_sha256` as at the first call in this process."""
    return current_code_sha256()


def current_code_sha256() -> str:
    """SHA-256 of AskGate and its environment: their code and texts, the same in a checkout and installed."""
    files = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*") if path.is_file()}
    files = {name: path for name, path in files.items() if not name.startswith(FOLDERS)}
    files |= {f"askgate_env/{path.relative_to(ENV).as_posix()}": path for path in ENV.rglob("*") if path.is_file()}
    files = {name: path for name, path in files.items() if "__pycache__" not in name}
    texts = (HOME / "templates").rglob("*.[jy]*")
    files |= {path.relative_to(HOME).as_posix(): path for path in texts if path.is_file()}
    return sha256_list(dict(sorted(files.items())))


@cache
def launchers_sha256() -> str:
    """SHA-256 of the Python files and scripts of a checkout that start AskGate or could stand in for a library; empty
    where AskGate is installed, which has no such files."""
    if PACKAGE.name != "src":
        return ""
    on_path, patterns = (HOME, HOME / "packages/askgate-env/src"), ("*.py", "*.so", "*/__init__.py")
    importable = [path for folder in on_path for pattern in patterns for path in folder.glob(pattern)]
    files = {*importable, *(path for folder in LAUNCHERS for path in (HOME / folder).rglob("*.[ps][yh]"))}
    return sha256_list({path.relative_to(HOME).as_posix(): path for path in sorted(files)})


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """A binary file that gets its name only if the block succeeds; otherwise it is removed."""
    with atomic_files() as start:
        yield start(path)


@contextmanager
def atomic_files() -> Iterator[Start]:
    """Files that belong together, such as a pool and its sidecar: all are complete before the first gets its name.

    If the block fails, none appears and the older files stay as they were.
    """
    begun: list[tuple[IO[bytes], Path]] = []

    def start(path: Path) -> IO[bytes]:
        # A link's target is written; a rename onto the link itself would replace the link.
        target = real_path(path)
        handle = _temporary(path, target)
        begun.append((handle, target))
        return handle

    try:
        yield start
        for handle, _ in begun:
            _complete(handle)
        for handle, target in begun:
            disk.rename(Path(handle.name), target)
        for folder in dict.fromkeys(target.parent for _, target in begun):
            disk.sync(folder)  # else a power cut could undo the rename
    except BaseException as error:
        for handle, _ in begun:
            with suppress(OSError):
                handle.close()
            with suppress(OSError):
                disk.remove(Path(handle.name))
        if isinstance(error, OSError) and error.filename is None and begun:
            error.filename = str(begun[-1][1])  # the system does not name a file that was open already
        raise


class _DiskFile(FileIO):
    """An unfinished file whose bytes go through `disk`."""

    def write(self, data: Any) -> int:
        disk.write(self.fileno(), data)
        return memoryview(data).nbytes


def _temporary(path: Path, target: Path) -> IO[bytes]:
    if target.is_dir():
        raise BadInput("is a folder", where=str(path), remedy="name a file")
    name = target.with_name(f".{target.name}.{token_hex(_RANDOM_CHARACTERS // 2)}")
    try:
        make_path(target.parent)
        file = _DiskFile(disk.create(name), "wb")
    except OSError as error:
        if error.errno in _DISK_FAULTS:
            raise
        raise BadInput(f"cannot write here ({error.strerror})", where=str(path), remedy="choose another path") from None
    file.name = str(name)
    return BufferedWriter(file)


def _complete(handle: IO[bytes]) -> None:
    with handle:
        handle.flush()
        disk.sync_file(handle.fileno())


def sweep(path: Path) -> None:
    """Removes temporary files of that file, or of all files in that folder, that a killed process left behind.

    Only for a run that has the folder to itself: it would also remove what another process is writing.
    """
    end = "?" * _RANDOM_CHARACTERS
    for file in [*(path.rglob(f".*.{end}") if path.is_dir() else path.parent.glob(f".{path.name}.{end}"))]:
        file.unlink(missing_ok=True)


def written(handle: IO[bytes]) -> Path:
    """The temporary path of an unfinished file, for code that must read it before it gets its name."""
    handle.flush()
    return Path(handle.name)


def write_json(path: Path, value: Any) -> None:
    with atomic_write(path) as handle:
        handle.write(json_bytes(value))


def json_bytes(value: Any) -> bytes:
    """Indented JSON with a final newline, in the field order of the value."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def read_json(path: Path, remedy: str) -> Any:
    try:
        with explain_read_errors(path, remedy):
            return msgspec.json.decode(read_noted(path))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"not valid JSON ({error})", where=str(path), remedy=remedy) from None


def read_record(path: Path, kind: type[T], remedy: str, what: str = "is not what it should be") -> T:
    """A JSON file decoded as `kind`. Refuses another content with the message `what`."""
    try:
        return msgspec.convert(read_json(path, remedy), kind)
    except msgspec.ValidationError as error:
        raise BadInput(f"{what} ({error})", where=str(path), remedy=remedy) from None


def json_or_none(path: Path) -> Any:
    """Content of a JSON file, or of the last line of a JSONL file; None if it cannot be read."""
    try:
        raw = path.read_bytes()
        return msgspec.json.decode(raw.splitlines()[-1] if path.suffix == ".jsonl" else raw)
    except (OSError, IndexError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def last_bytes(path: Path, count: int) -> bytes:
    """The last `count` bytes of a file; empty if it cannot be read."""
    try:
        with open(path, "rb") as handle:
            handle.seek(max(0, path.stat().st_size - count))
            return handle.read()
    except OSError:
        return b""


def is_plain_json(raw: bytes) -> bool:
    """Whether JSON is formatted as by `write_json`: if a key occurred twice, a person might read another value than the
    decoder."""
    return json_bytes(msgspec.json.decode(raw)) == raw


def sidecar(pool: Path) -> Path:
    """Path of the sidecar of a pool: `rc1_seed.jsonl` -> `rc1_seed.meta.json`."""
    if not pool.name:
        raise BadInput("is a folder", where=str(pool), remedy="name a file")
    return pool.with_suffix(".meta.json")


def require_jsonl(path: Path, flag: str) -> None:
    """Refuses other endings: `c.json` and `c.jsonl` would share one sidecar."""
    if path.suffix != ".jsonl":
        raise BadInput(f"{path} does not end in .jsonl", where=flag, remedy="name a .jsonl file")


def refuse_overlap(outputs: Mapping[str, Path], inputs: Mapping[str, Path]) -> None:
    """Refuses an output that would overwrite an input or another output. Each path comes with its flag.

    Sidecars of inputs and of .jsonl outputs count too; reports have none.
    """
    taken = {real_path(one): flag for flag, path in inputs.items() for one in (path, sidecar(path))}
    for flag, path in outputs.items():
        for one in (path, sidecar(path)) if path.suffix == ".jsonl" else (path,):
            other = taken.setdefault(real_path(one), flag)
            if other != flag:
                raise BadInput(f"{one} would overwrite a file of {other}", where=flag, remedy="name another file")


def shipped(path: Path) -> Path:
    """The user's own file or folder if it exists, else the one of that name that came with the package.

    A run writes its weights into its own folder. Those in a checkout may belong to another run.
    """
    if path.exists() or path.is_absolute() or path == WEIGHTS or path.parts[0] not in FOLDERS:
        return path
    ours = HOME / path
    return ours if ours.exists() else path


def package_json(path: str) -> Any:
    """Content of a JSON file of the package. Unlike `shipped`, it never reads a file of the user's folder."""
    return msgspec.json.decode((HOME / path).read_bytes())


def package_yaml(path: str) -> Any:
    """Content of a YAML file of the package, like `package_json`."""
    import yaml  # takes 15 ms, and most commands read none

    return yaml.load((HOME / path).read_bytes(), yaml.CSafeLoader)


CHECKSUM_FOLDER = Path("reports/rc1")
CHECKSUM_OF = ("data", "configs", "reports")
"""Folders whose files are evidence: training data, settings and measurements."""
_PAGE = ".html"
"""Suffix of pages. They need no checksum: each shows the report of the same name, which has one."""
_REPEATED_NAMES = ("episodes", "gates")
"""Folders whose file names also occur elsewhere: a pool and its loop's profile, a shadow set and its episodes."""


def checksum_path(file: Path, folder: Path = CHECKSUM_FOLDER) -> Path:
    """The file that holds a file's checksum: `rc1_seed.balanced.jsonl` -> `rc1_seed.balanced.sha256`."""
    prefix = f"{file.parent.name}." if file.parent.name in _REPEATED_NAMES else ""
    return folder / f"{prefix}{file.stem}.sha256"


def write_checksums(files: Iterable[Path]) -> list[Path]:
    """Writes one checksum file per existing file, and removes the checksum of a file that is gone."""
    written = []
    for file in files:
        if file.parts[0] not in CHECKSUM_OF or file.suffix == _PAGE:
            continue
        target = checksum_path(file)
        if not file.exists():
            target.unlink(missing_ok=True)
        elif file.is_file():
            with atomic_write(target) as handle:
                handle.write(f"{sha256_file(file)}  {file.as_posix()}\n".encode())
            written.append(target)
    return written
