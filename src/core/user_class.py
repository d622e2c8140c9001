"""Loads a class from the user's own file, named in a config as `package.module:Class`.

The file is `package/module.py` in the project folder; where there is none, the module of an installed package. The
project folder is not put on the import path, so no other file there can stand in for a library. The bytes that are
hashed are the bytes that run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from .errors import BadInput

STARTS = {"src": "python -m src.core.launch", "askgate": "askgate train"}
"""The two names of the package, and the command that starts a process under each."""
PACKAGE_NAME = __name__.partition(".")[0]
OWN_FILE = "a gated run takes classes from files in its folder: write {}, which may import it, and run both rounds"
_OWN = "own_classes."
"""Prefix of the modules made from the user's files, so that none of them replaces a library's."""


def class_file(name: str) -> Path | None:
    """The file of a class in the project folder, whether it is there or not; None for a class of AskGate."""
    module, colon, _ = name.partition(":")
    return Path(*module.split(".")).with_suffix(".py") if colon and module else None


def own_file(name: str) -> Path | None:
    """The user's file of a class, relative to the project folder; None for a built-in or installed one."""
    file = class_file(name)
    return file if file and file.is_file() else None


def own_files(names: Iterable[str]) -> list[Path]:
    """The user's files of these classes, each once."""
    return list(dict.fromkeys(file for name in names if (file := own_file(name))))


def installed_file(file: Path) -> Path | None:
    """The file of the installed module that is loaded if the user's file is not in the project folder."""
    try:
        spec = find_spec(".".join(file.with_suffix("").parts))
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec and spec.origin else None


def own_class_digests(names: Iterable[str]) -> dict[str, str]:
    """SHA-256 of the user's files, by file, as this process has loaded them."""
    return {str(file): vars(_load(file))["sha256"] for file in own_files(names)}


def load_user_class(name: str, where: str, remedy: str) -> type[Any]:
    """The class; `where` is the config key that names it."""
    module, colon, member = name.partition(":")
    if not (module and colon and member):
        raise BadInput(f"unknown {where} {name!r}", where=where, remedy=remedy)
    other = next((one for one in STARTS if one != PACKAGE_NAME), "")
    file = own_file(name)
    try:
        member_class = vars(_load(file) if file else import_module(module)).get(member)
    except ModuleNotFoundError as error:
        if error.name == other and not module.startswith(f"{other}."):
            raise _two_names(module, other, where) from error
        raise BadInput(f"{name}: {error}", where=where, remedy=remedy) from error
    except (ImportError, SyntaxError) as error:
        raise BadInput(f"{name}: {error}", where=where, remedy=f"correct {file or module}") from error
    if _is_this_package(other):
        raise _two_names(module, other, where)
    if not isinstance(member_class, type):
        raise BadInput(f"{module} has no class {member!r}", where=where, remedy=remedy)
    return member_class


def _load(file: Path) -> ModuleType:
    """The module of a file, which is executed once per process."""
    name = _OWN + str(file)
    if name not in sys.modules:
        source = file.read_bytes()
        module = ModuleType(name)
        module.__dict__.update(__file__=str(file.resolve()), sha256=sha256(source).hexdigest())
        sys.modules[name] = module
        try:
            exec(compile(source, str(file), "exec"), module.__dict__)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def require_members(thing: object, members: Sequence[str], name: str, kind: str, where: str) -> None:
    """Refuses a class or an object that lacks a member of its protocol in `core.api`, such as `Engine`."""
    if lacking := [member for member in members if not hasattr(thing, member)]:
        what = f"{name} is not {kind}: it lacks {', '.join(lacking)}"
        raise BadInput(what, where=where, remedy=f"see {kind.split()[1].capitalize()} in src/core/api.py")


def _is_this_package(name: str) -> bool:
    """Whether the loaded package of that name is AskGate, not a package of the user."""
    folders = vars(sys.modules[name]).get("__path__", ()) if name in sys.modules else ()
    return any((Path(folder) / "core" / Path(__file__).name).is_file() for folder in folders)


def _two_names(module: str, other: str, where: str) -> BadInput:
    """Refuses a process with both names: every class would exist twice, and the copies would not match."""
    what = f"{module} imports from {other}, and this process runs as {PACKAGE_NAME}; one process must not load both"
    remedy = f"import from {PACKAGE_NAME} in that file, or start the run with {STARTS[other]}"
    return BadInput(what, where=where, remedy=remedy)
