"""The texts that come with the package: what the environment says, and the word lists by which it understands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

TEXTS = Path(__file__).parent / "texts"


def package_json(name: str) -> Any:
    """Content of a JSON file in `texts/`."""
    return msgspec.json.decode((TEXTS / name).read_bytes())
