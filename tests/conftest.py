"""What tests share: the official dataset files, when this machine has them."""

from __future__ import annotations

from pathlib import Path

import pytest

OFFICIAL = Path(__file__).resolve().parents[1].parent / "shared" / "data"


@pytest.fixture(scope="session")
def official_data() -> Path:
    """Folder of the official HotpotQA, StrategyQA and GSM8K files. They are never part of the repository."""
    if not OFFICIAL.is_dir():
        pytest.skip("the official dataset files are not on this machine (../shared/data beside the checkout)")
    return OFFICIAL
