"""`python -m train.ppo_runner --config configs/ppo_scale.yaml [--resume-from checkpoints/rc1/latest]`.

Training behind the gates. Without a ticket that fits the files as they are now it exits with code 2 and the reason.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from src.cli import run_verb

if __name__ == "__main__":
    run_verb("ppo_runner")
