"""AskGate: train a model that asks a clarifying question only when it must."""

import sys
from pathlib import Path

__version__ = "0.1.0"

# The environment of a checkout that was not installed. Last, so that nothing there stands in for a library.
_ENV = Path(__file__).resolve().parents[1] / "packages/askgate-env/src"
if _ENV.is_dir() and str(_ENV) not in sys.path:
    sys.path.append(str(_ENV))
