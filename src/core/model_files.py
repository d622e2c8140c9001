"""Files of a model and their SHA-256: a folder of the user, one that came with the package, or a model of the hub."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches
from os.path import isfile
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from .errors import BadInput
from .files import pinned, read_json, sha256_file, sha256_list, shipped
from .paths import CHECKPOINTS, FINAL_MODEL, newest_final_model

PATTERNS = ("*.safetensors", "*.json", "*.jinja", "*.model", "*.txt")
"""Files of a model folder that change what the model says."""
WEIGHTS = ".safetensors"
ADAPTER = "adapter_config.json"
CONFIG, TOKENIZER = "config.json", "tokenizer.json"
VOCABULARIES = (TOKENIZER, "tokenizer.model", "vocab.json", "vocab.txt")
"""A tokenizer needs one of these files."""


def model_sha256(folder: Path, digest: Callable[[Path], str] = sha256_file) -> str:
    """SHA-256 of weights, config and tokenizer together: each file's name and SHA-256, in the order of the names."""
    require_weights(folder)
    return sha256_list({file.name: file for file in model_files(folder)}, digest)


def policy_sha256(folder: Path, adapter: Path | None = None) -> str:
    """SHA-256 of a model, followed by that of its adapters if it has any."""
    return model_sha256(folder) + (f"+{model_sha256(adapter)}" if adapter is not None else "")


def base_sha256(base_model: str, digest: Callable[[Path], str] = sha256_file) -> str:
    """SHA-256 of a config's base model: a folder, or a hub model that was loaded here before. Downloads nothing."""
    return model_sha256(find_model(base_model, download=False), digest)


@contextmanager
def read_once(folder: Path, weights: bool = True) -> Iterator[Path]:
    """A private folder with the files of a model, for libraries that open them by name.

    The library reads exactly the bytes whose SHA-256 is noted (`files.sha256_read`), even if the files are replaced
    meanwhile. Nothing is copied. `weights`: whether weight files are included.
    """
    with ExitStack() as stack:
        private = Path(stack.enter_context(TemporaryDirectory(prefix="askgate-")))
        for file in model_files(folder):
            if weights or file.suffix != WEIGHTS:
                (private / file.name).symlink_to(stack.enter_context(pinned(file)))
        yield private


def model_files(folder: Path) -> list[Path]:
    """Weights, config and tokenizer of a model: the files that its SHA-256 covers."""
    return sorted({file for pattern in PATTERNS for file in folder.glob(pattern) if file.is_file()})


def find_model(base_model: str, download: bool = True) -> Path:
    """Folder with the files of a model. A hub model is downloaded, unless `download` is False."""
    folder = shipped(Path(base_model))
    if folder.is_dir():
        return folder
    # Imported here, because it takes time, and a model in a folder does not need it.
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    if not may_be_on_hub(folder):
        raise unreadable(base_model)
    here_only = not download or is_hub_unknown()
    try:
        return Path(snapshot_download(base_model, allow_patterns=list(PATTERNS), local_files_only=here_only))
    except (OSError, ValueError, HfHubHTTPError) as error:
        if download:
            raise unreadable(base_model) from error
        what = f"{base_model} is not on this machine"
        raise BadInput(what, where="base_model", remedy="load it once, or name a folder") from error


def find_policy(model: str, adapter: Path | None = None) -> tuple[Path, Path | None]:
    """Folder of a model, and folder of its adapters if `model` or `adapter` is one."""
    folder = shipped(Path(model))
    if adapter is not None:
        if not (adapter / ADAPTER).exists():
            raise BadInput(f"there is no {ADAPTER}", where=str(adapter), remedy="name a folder that PEFT has saved")
        if (folder / ADAPTER).exists():
            raise BadInput("these are adapters, not a model", where=model, remedy="name their base instead")
    elif (folder / ADAPTER).exists():
        return _base_of(folder), folder
    found = find_model(model)
    require_config(found)
    return found, adapter


def _base_of(adapter: Path) -> Path:
    """Folder of the base of adapters. Their config names it relative to the folder in which they were trained: the
    project folder, or one above the adapters."""
    file = adapter / ADAPTER
    base = str(read_json(file, "name a folder that PEFT has saved").get("base_model_name_or_path"))
    places = [Path(), *adapter.absolute().parents, *adapter.resolve().parents]
    for place in places:
        if (place / base / CONFIG).is_file():
            return place / base
    try:
        found = find_model(base)
    except BadInput as error:
        remedy = f"name the base: --model BASE --adapter {adapter} (askgate chat: BASE --adapter {adapter})"
        raise BadInput(f"the base model {base} is not here", where=str(file), remedy=remedy) from error
    require_config(found)
    return found


def require_config(folder: Path) -> None:
    """Refuses a folder without `config.json`."""
    if not (folder / CONFIG).is_file():
        remedy = f"copy it from where the model came from, or name a folder with {CONFIG}, {TOKENIZER} and *{WEIGHTS}"
        final = sorted(folder.glob(f"**/{FINAL_MODEL}/{CONFIG}"))
        remedy = f"name {final[0].parent}" if final else remedy
        raise BadInput(f"has no model: {CONFIG} is missing", where=str(folder), remedy=remedy)


def require_weights(folder: Path) -> None:
    """Refuses a folder without weights."""
    if not any(file.suffix == WEIGHTS for file in model_files(folder)):
        remedy = f"copy them from where the model came from, or name a folder with {CONFIG}, {TOKENIZER} and *{WEIGHTS}"
        raise BadInput(f"has no weights: *{WEIGHTS} is missing", where=str(folder), remedy=remedy)


@contextmanager
def explain_tokenizer_errors(folder: Path) -> Iterator[None]:
    """Turns the errors of a library about a missing or unreadable tokenizer into BadInput."""
    remedy = f"copy {TOKENIZER} and tokenizer_config.json from where the model came from"
    # Without any, transformers makes an empty tokenizer.
    if not any((folder / name).is_file() for name in VOCABULARIES):
        raise BadInput(f"has no tokenizer: {TOKENIZER} is missing", where=str(folder), remedy=remedy)
    try:
        yield
    except (OSError, ValueError, KeyError) as error:
        what = f"the tokenizer cannot be read ({str(error).splitlines()[0]})"
        raise BadInput(what, where=str(folder), remedy=remedy) from error


def may_be_on_hub(path: Path) -> bool:
    """Whether a path that does not exist may be `owner/name` on the hub: a request to the hub takes half a minute."""
    return len(path.parts) == 2 and path.parts[0] not in ("models", path.anchor) and not path.parent.exists()


def is_hub_unknown() -> bool:
    """Whether the host name of the hub does not resolve: a request would fail too, after 46 s of retries."""
    from urllib.request import getproxies  # takes 10 ms

    from huggingface_hub.constants import ENDPOINT

    if getproxies():
        return False  # the proxy resolves names
    try:
        socket.getaddrinfo(urlsplit(ENDPOINT).hostname, None)
    except OSError:
        return True
    return False


def name_model(given: str | Path, otherwise: str) -> str:
    """Remedy for a model that is not there. For one in `checkpoints/`, which link to the newest run, finished or not:
    the final model of the newest finished run."""
    newest = newest_final_model() if CHECKPOINTS.name in Path(given).parts else None
    return f"name {newest}, the newest finished model" if newest else otherwise


def unreadable(base_model: str) -> BadInput:
    remedy = "name a folder with config.json and safetensors"
    if not Path(base_model).is_absolute():
        remedy += ", or a model on the hub that this machine can reach"
    # Not `is_file`: that fails on a folder which this user may not open.
    folders = {folder.name.lower(): folder.name for folder in Path().iterdir() if isfile(folder / CONFIG)}
    alike = get_close_matches(Path(base_model).name.lower(), folders, n=1)
    if alike:
        remedy = f"did you mean ./{folders[alike[0]]}? Else {remedy}"
    what = f"no model can be read from {base_model}"
    return BadInput(what, where="base_model", remedy=name_model(base_model, remedy))
