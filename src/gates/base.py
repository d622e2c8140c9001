"""Which model a training config starts from, by SHA-256, as far as it is on this machine."""

from __future__ import annotations

from pathlib import Path

from ..core.errors import BadInput
from ..core.shipped import shipped
from ..reward.record import model_sha256


def base_sha256(base_model: str) -> str:
    """Of a folder, or of a model of the hub that was loaded here before. Nothing is downloaded."""
    folder = shipped(Path(base_model))
    if folder.is_dir():
        return model_sha256(folder)
    # Importing transformers takes seconds, and the embedded loop does without.
    from transformers.utils.hub import cached_file

    try:
        found = cached_file(base_model, "config.json", local_files_only=True)
    except OSError:
        found = None
    if found is None:
        raise BadInput(
            f"{base_model} is not on this machine", where="base_model", remedy="load it once, or name a folder"
        )
    return model_sha256(Path(found).parent)
