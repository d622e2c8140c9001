"""Files of a model and their SHA-256: a folder of the user's, one that came with the package, or a model of the hub."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from .errors import BadInput
from .files import pinned, sha256_file, shipped

PATTERNS = ("*.safetensors", "*.json", "*.jinja", "*.model", "*.txt")
"""Files of a model folder that change what the model says."""
WEIGHTS = ".safetensors"
ADAPTER = "adapter_config.json"
"""File of a folder that PEFT has saved."""


def model_sha256(folder: Path, digest: Callable[[Path], str] = sha256_file) -> str:
    """SHA-256 of weights, config and tokenizer together: each file's name and SHA-256, in the order of the names."""
    files = model_files(folder)
    if not any(file.suffix == WEIGHTS for file in files):
        raise BadInput("has no weights (*.safetensors)", where=str(folder), remedy="name the folder of a model")
    lines = "".join(f"{digest(file)}  {file.name}\n" for file in files)
    return hashlib.sha256(lines.encode()).hexdigest()


def base_sha256(base_model: str, digest: Callable[[Path], str] = sha256_file) -> str:
    """SHA-256 of a config's base model: a folder, or a hub model that was loaded here before. Downloads nothing."""
    return model_sha256(find_model(base_model, download=False), digest)


@contextmanager
def read_once(folder: Path, weights: bool = True) -> Iterator[Path]:
    """A private folder with the files of a model, for libraries that open them by name.

    What they read there are the bytes whose SHA-256 is noted (`files.sha256_read`), whatever has the names of the
    files meanwhile. Nothing is copied. Without `weights` those are left out.
    """
    with ExitStack() as stack:
        private = Path(stack.enter_context(TemporaryDirectory(prefix="askgate-")))
        for file in model_files(folder):
            if weights or file.suffix != WEIGHTS:
                (private / file.name).symlink_to(stack.enter_context(pinned(file)))
        yield private


def model_files(folder: Path) -> list[Path]:
    """Weights, config and tokenizer of a model: what its SHA-256 covers."""
    return sorted({file for pattern in PATTERNS for file in folder.glob(pattern) if file.is_file()})


def find_model(base_model: str, download: bool = True) -> Path:
    """Folder with the files of a model; those of a hub model are downloaded, unless they must be here already."""
    folder = shipped(Path(base_model))
    if folder.is_dir():
        return folder
    # Importing it takes time, and a model in a folder does without.
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    if not may_be_on_hub(folder):
        raise unreadable(base_model)
    try:
        return Path(snapshot_download(base_model, allow_patterns=list(PATTERNS), local_files_only=not download))
    except (OSError, ValueError, HfHubHTTPError) as error:
        if download:
            raise unreadable(base_model) from error
        raise BadInput(
            f"{base_model} is not on this machine", where="base_model", remedy="load it once, or name a folder"
        ) from error


def may_be_on_hub(path: Path) -> bool:
    """Whether a path that is not here may be an `owner/name` of the hub; asking the hub takes half a minute."""
    return len(path.parts) == 2 and path.parts[0] != "models" and not path.parent.exists()


def unreadable(base_model: str) -> BadInput:
    return BadInput(
        f"no model can be read from {base_model}",
        where="base_model",
        remedy="name a folder with config.json and safetensors, or a model on the hub that this machine can reach",
    )
