"""Entry point of `askgate make-min-data`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from src.cli import run_verb

if __name__ == "__main__":
    run_verb("make_min_data")
