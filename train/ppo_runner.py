"""`python -m train.ppo_runner --config configs/ppo_scale.yaml [--resume-from checkpoints/rc1/latest]`.

Gated training. Without a ticket that fits the files as they are now it exits with code 2 and the reason.
"""

from __future__ import annotations

import os
import sys

# The checkout is last on the path and the project folder is not on it, so that no file there stands in for a library.
_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:] = [*(path for path in sys.path if os.path.abspath(path) not in (_HOME, os.getcwd())), _HOME]

from src.cli import run_verb

if __name__ == "__main__":
    run_verb("ppo_runner")
