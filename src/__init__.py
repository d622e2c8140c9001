"""AskGate: train a model that asks a clarifying question only when it must."""

import os
import sys
from pathlib import Path

__version__ = "0.1.0"

# Threads of torch that wait for each other sleep. By default they spin, and beside another busy process the same work
# then takes 40 times as long. OpenMP reads this when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# The environment of a checkout that was not installed. Last, so that nothing there stands in for a library.
_ENV = Path(__file__).resolve().parents[1] / "packages/askgate-env/src"
if _ENV.is_dir() and str(_ENV) not in sys.path:
    sys.path.append(str(_ENV))
